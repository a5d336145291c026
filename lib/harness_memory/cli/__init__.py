"""`harness memory <verb>` and `harness guard <verb>`: one table row a verb, whose function turns arguments into an exit
code: 0 done, 1 problems found, 2 could not be done.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from .. import __version__
from . import output

VERBS = (
    ("status", "status:status", "what is remembered here, what is in progress, are the hooks on"),
    ("list", "show:list_all", "past sessions, newest first, one a line; or notes"),
    ("show", "show:show", "one session in full: asked, done, open, files; or a note"),
    ("search", "search:search", "sessions and notes about some words, best first"),
    ("related", "search:related", "sessions that changed a file, and notes about it"),
    ("transcript", "show:transcript", "what was said in a session, while Claude Code keeps it"),
    ("why", "usage:why", "what one session was given of the past, and from where"),
    ("stats", "usage:stats", "what all sessions were given, what of it they used, its cost"),
    ("checkpoint", "checkpoint:checkpoint", "what this session did and what remains, in your words"),
    ("remember", "notes:remember", "keep a fact; it goes into the note it belongs to"),
    ("note", "notes:note", "one note: add, edit, show, list, remove, promote, supersede"),
    ("review", "review:waiting", "rules you stated, decisions, lessons: accept, edit, reject"),
    ("rules", "review:rules", "every rule: how it binds, when it came up, was it followed"),
    ("lint", "lint:lint", "problems in what notes say (verify: in files); --fix"),
    ("compact", "lint:compact", "merge what notes say twice (consolidate: sessions into notes)"),
    ("edit", "notes:edit", "a note, the briefing or a profile in your editor"),
    ("forget", "forget:forget", "remove sessions, notes or a text everywhere, after a preview"),
    ("briefing", "pages:briefing", "the page sessions here start with: show, set, rollback, history"),
    ("profile", "pages:profile", "what to know when a skill starts: list, show, set"),
    ("consolidate", "pages:consolidate", "what sessions left since the last time, for /harness-consolidate"),
    ("open", "work:open_work", "what is still open: threads and tasks, next steps, blockers"),
    ("thread", "work:thread", "work that sessions left open: list, close, reopen, rename"),
    ("task", "work:task", "work you name yourself: start, checkpoint, done, list"),
    ("rate", "usage:rate", "say how well a skill did, 1 to 5"),
    ("signals", "usage:signals", "how well skills did: ratings, mean and trend"),
    ("backfill", "retention:backfill", "remember earlier sessions from transcripts that are still there"),
    ("prune", "retention:prune", "thin out old sessions' folders; what was done stays in recall"),
    ("archive", "retention:archive", "move whole old sessions into a compressed archive"),
    ("restore", "retention:restore", "bring archived sessions back, or list them"),
    ("adopt", "adopt:adopt", "let this folder join the memory of its remote"),
    ("sync", "sync:sync", "one memory on several machines, through a git repository of yours"),
    ("share", "team:share", "a note into the repository, for everyone who works in it"),
    ("team", "team:team", "the notes of this checkout: list, show, unshare"),
    ("export", "transfer:export", "a project's memory as one file, on standard output"),
    ("import", "transfer:import_", "an export, Claude Code's own notes, or a claude-mem database"),
    ("audit", "audit:audit", "what the guard stopped or asked about: show, verify, stats"),
    ("rebuild", "doctor:rebuild", "regenerate INDEX.md, the other views and lost episodes"),
    ("verify", "doctor:verify", "check every file against its format (doctor: the install too)"),
    ("view", "view:view", "the whole memory as one HTML page, for a browser"),
    ("digest", "digest:digest", "what was done, decided and left open, by day; for a stand-up"),
    ("doctor", "doctor:doctor", "is it installed, does it run, what is damaged, what to do"),
)
GUARD_VERBS = (
    ("check", "guard:check", "would this call be stopped, by which rule, and how is it understood"),
    ("rules", "guard:rules", "every rule: how firm it is here, why, and what to do instead"),
    ("test", "guard:test", "does the installed guard answer: sample calls, none of them run"),
    ("allow-once", "guard:allow_once", "let Claude make one stopped call, once; for a person in a terminal"),
)
OWN_VERBS = (
    ("upgrade", "upgrade:upgrade", "fetch the newest version and install it again"),
    ("statusline", "statusline:statusline", "one line for the status line of Claude Code"),
    ("completion", "completion:completion", "completion of verbs and options for bash, zsh or fish"),
)
# How `--help` groups the verbs; those it does not know come last.
GROUPS = (
    ("Every day", "status list show search open remember forget review why doctor"),
    ("Look closer", "view digest related transcript stats signals audit"),
    ("Curate", "note edit rules lint compact briefing profile consolidate checkpoint thread task rate"),
    ("Keep", "backfill adopt prune archive restore"),
    ("Repair", "verify rebuild"),
    ("Share", "share team sync export import"),
)
_MEMORY_END = """\
A project is the repository or folder you are in; --project DIR names another.
Also: harness guard, harness upgrade, harness statusline, harness completion
"""
_GUARD_END = """\
Your own rules: guard.json in the memory folder.
A project's, which may only tighten: .claude/guard.json
"""
FAMILIES = {
    "memory": (VERBS, "What Claude Code remembers across sessions, in plain files.", _MEMORY_END),
    "guard": (GUARD_VERBS, "What Claude Code may not do, and what it has to ask first.", _GUARD_END),
    "": (OWN_VERBS, "Harness Memory itself.", ""),
}


def main(argv: list[str]) -> int:
    hint = "See: harness memory doctor"
    return output.run(lambda: _dispatch(argv), "harness", refused="", failed=hint, stopped="", code=output.COULD_NOT)


def _dispatch(argv: list[str]) -> int:
    family, verb, *rest = [*argv, "", ""][: max(2, len(argv))]
    if "--version" in (family, verb):
        print("harness-memory %s" % __version__)
        return 0
    if verb == "help" and rest:
        verb, rest = rest[0], ["--help"]
    if family in dict.fromkeys(name for name, _, _ in OWN_VERBS):
        family, verb, rest = "", family, argv[1:]
    is_family = family in FAMILIES
    family, word = (family, verb) if is_family else ("memory", family)
    targets = {name: target for name, target, _ in FAMILIES[family][0]}
    if is_family and word in targets:
        module, _, function = targets[word].partition(":")
        code: int = getattr(import_module("." + module, __name__), function)(rest)
        return code
    family = family or "memory"
    if word in ("", "help", "-h", "--help"):
        print(guide(family), end="")
        return 0
    commands = {name: _words(each, name) for each in FAMILIES for name, _, _ in FAMILIES[each][0]}
    commands.update((each, "harness %s --help" % each) for each in FAMILIES if each)
    close = difflib.get_close_matches(word, commands, 1)
    hint = "Did you mean: %s" % commands[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def _words(family: str, verb: str) -> str:
    return " ".join(filter(None, ("harness", family, verb)))


def guide(family: str) -> str:
    verbs, about, end = FAMILIES[family]
    rows = dict(zip((name for name, _, _ in verbs), output.table([["  " + name, what] for name, _, what in verbs])))
    parts = [about]
    for title, names in GROUPS if family == "memory" else ():
        group = [rows.pop(name) for name in names.split() if name in rows]
        parts += ["\n".join(["%s:" % title, *group])] if group else []
    parts += ["\n".join(rows.values())] if rows else []
    return "\n\n".join(["usage: harness %s <verb> [options]" % family, *parts, end])
