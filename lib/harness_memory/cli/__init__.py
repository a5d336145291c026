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
    ("show", "show:show", "one session in full: asked, done, still open, files; or a note"),
    ("search", "search:search", "sessions and notes about some words, best first"),
    ("related", "search:related", "sessions that changed a file, and notes about it"),
    ("transcript", "show:transcript", "what was said in a session, while the client keeps it"),
    ("why", "usage:why", "what a session was given of the past, from which files, how much"),
    ("stats", "usage:stats", "what sessions were given, what of it was used, what it cost"),
    ("checkpoint", "checkpoint:checkpoint", "record what was done and what remains, for the current session"),
    ("remember", "notes:remember", "keep a fact for later sessions, in the note it belongs to"),
    ("note", "notes:note", "notes, one topic a file: add, edit, show, list, remove, promote, supersede"),
    ("lint", "lint:lint", "problems of the notes and their remedies; --fix does what is safe"),
    ("compact", "lint:compact", "merge what notes say twice, drop what is superseded"),
    ("edit", "notes:edit", "a note, the briefing or a profile in your editor"),
    ("forget", "forget:forget", "remove sessions, notes or a text from everywhere, after a preview"),
    ("briefing", "pages:briefing", "the page every session here starts with: show, set, rollback, history"),
    ("profile", "pages:profile", "what to know when a skill starts: list, show, set"),
    ("consolidate", "pages:consolidate", "what is new since the last consolidation"),
    ("open", "work:open_work", "what is still open across sessions: threads and tasks, next steps, blockers"),
    ("thread", "work:thread", "a thread of work: list, close, reopen, rename"),
    ("task", "work:task", "a task that spans sessions: start, checkpoint, done, list"),
    ("rate", "usage:rate", "say how well a skill did, 1 to 5"),
    ("signals", "usage:signals", "how well skills did: ratings, mean and trend"),
    ("backfill", "retention:backfill", "make episodes of earlier sessions, from the transcripts still there"),
    ("prune", "retention:prune", "thin out, then archive or delete old work directories; episodes stay"),
    ("archive", "retention:archive", "move old sessions into a compressed archive"),
    ("restore", "retention:restore", "bring archived sessions back, or list them"),
    ("sync", "sync:sync", "one memory on several machines, through a git repository: init, status, exclude, off"),
    ("share", "team:share", "a note into the repository, for everybody who works in it"),
    ("team", "team:team", "the notes of this checkout: list, show, unshare"),
    ("export", "transfer:export", "a project's memory as one file, on standard output"),
    ("import", "transfer:import_", "take over an export, Claude Code's own notes, or a claude-mem database"),
    ("audit", "audit:audit", "what the guard stopped or asked about: show, verify, stats"),
    ("rebuild", "doctor:rebuild", "regenerate INDEX.md and the other views, and lost episodes, from the facts"),
    ("verify", "doctor:verify", "check every file of a memory against the rules of the store"),
    ("doctor", "doctor:doctor", "installs, last runs, failures, damaged files, and what to do"),
)
GUARD_VERBS = (
    ("check", "guard:check", "would this call be stopped, by which rule, and how is it understood"),
    ("rules", "guard:rules", "every rule: how firm it is here, why, and what to do instead"),
    ("test", "guard:test", "does the installed guard answer: sample calls, none of them run"),
    ("allow-once", "guard:allow_once", "let Claude make one stopped call, once; for a person in a terminal"),
)
_MEMORY_END = """\
A project is the git repository (or folder) you are in; --project DIR names another.
The guard has its own verbs: harness guard --help
"""
_GUARD_END = """\
Your own rules: guard.json in the memory folder; a project's, which may only tighten: .claude/guard.json
"""
FAMILIES = {
    "memory": (VERBS, "What Claude Code remembers across sessions, in plain files.", _MEMORY_END),
    "guard": (GUARD_VERBS, "What Claude Code may not do, and what it has to ask first.", _GUARD_END),
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
    is_family = family in FAMILIES
    family, word = (family, verb) if is_family else ("memory", family)
    targets = {name: target for name, target, _ in FAMILIES[family][0]}
    if is_family and word in targets:
        module, _, function = targets[word].partition(":")
        code: int = getattr(import_module("." + module, __name__), function)(rest)
        return code
    if word in ("", "help", "-h", "--help"):
        print(guide(family), end="")
        return 0
    commands = {name: "harness %s %s" % (each, name) for each in FAMILIES for name, _, _ in FAMILIES[each][0]}
    commands.update((each, "harness %s --help" % each) for each in FAMILIES)
    close = difflib.get_close_matches(word, commands, 1)
    hint = "Did you mean: %s" % commands[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def guide(family: str) -> str:
    verbs, about, end = FAMILIES[family]
    rows = output.table([["  " + name, what] for name, _, what in verbs])
    return "usage: harness %s <verb> [options]\n\n%s\n\n%s\n\n%s" % (family, about, "\n".join(rows), end)
