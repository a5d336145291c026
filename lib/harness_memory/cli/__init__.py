"""`harness memory <verb>` and `harness guard <verb>`: one table row a verb, with the module that declares it.

Exit codes: 0 done, 1 problems found, 2 could not be done.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Dict, Tuple

from .. import __version__
from . import output

# (verb, its module, what it is for), in the groups of `--help`.
EVERY_DAY = (
    ("status", "status", "what is remembered here, what is in progress, are the hooks on"),
    ("list", "show", "past sessions, newest first, one a line; or notes"),
    ("show", "show", "one session in full: asked, done, open, files; or a note"),
    ("search", "search", "sessions and notes about some words, best first"),
    ("open", "work", "what is still open: threads and tasks, next steps, blockers"),
    ("remember", "notes", "keep a fact; it goes into the note it belongs to"),
    ("forget", "forget", "remove sessions, notes or a text everywhere, after a preview"),
    ("review", "review", "rules you stated, decisions, lessons: accept, edit, reject"),
    ("why", "usage", "what one session was given of the past, and from where"),
    ("doctor", "doctor", "is it installed, does it run, what is damaged, what to do"),
)
LOOK_CLOSER = (
    ("view", "view", "the whole memory as one HTML page, for a browser"),
    ("digest", "digest", "what was done, decided and left open, by day; for a stand-up"),
    ("related", "search", "sessions that changed a file, and notes about it"),
    ("transcript", "show", "what was said in a session, while Claude Code keeps it"),
    ("stats", "usage", "what all sessions were given, what of it they used, its cost"),
    ("signals", "usage", "how well skills did: ratings, mean and trend"),
    ("audit", "audit", "what the guard stopped or asked about: show, verify"),
)
CURATE = (
    ("note", "notes", "one note: add, edit, show, list, remove, supersede"),
    ("edit", "notes", "a note, the briefing or a profile in your editor"),
    ("rules", "review", "every rule: how it binds, when it came up, was it followed"),
    ("lint", "lint", "problems in what notes say (verify: in files); --fix"),
    ("compact", "lint", "merge what notes say twice (consolidate: sessions into notes)"),
    ("briefing", "pages", "the page sessions here start with: show, set, rollback"),
    ("profile", "pages", "what to know when a skill starts: list, show, set"),
    ("consolidate", "pages", "what sessions left since the last time, for /harness-consolidate"),
    ("checkpoint", "checkpoint", "what this session did and what remains, in your words"),
    ("thread", "work", "work that sessions left open: close, reopen, rename"),
    ("task", "work", "work you name yourself: start, checkpoint, done"),
    ("rate", "usage", "say how well a skill did, 1 to 5"),
)
KEEP = (
    ("backfill", "retention", "remember earlier sessions from transcripts that are still there"),
    ("adopt", "retention", "let this folder join the memory of its remote"),
    ("prune", "retention", "thin out old sessions' folders; what was done stays in recall"),
    ("archive", "retention", "move whole old sessions into a compressed archive"),
    ("restore", "retention", "bring archived sessions back, or list them"),
)
REPAIR = (
    ("verify", "doctor", "check every file against its format (doctor: the install too)"),
    ("rebuild", "doctor", "regenerate INDEX.md, the other views and lost episodes"),
)
SHARE = (
    ("share", "share", "a note into the repository, for everyone who works in it"),
    ("team", "share", "the notes of this checkout: list, show, unshare"),
    ("sync", "sync", "one memory on several machines, through a git repository of yours"),
    ("export", "share", "a project's memory as one file, on standard output"),
    ("import", "share", "an export, Claude Code's own notes, or a claude-mem database"),
)
GUARD = (
    ("check", "guard", "would this call be stopped, by which rule, and how is it understood"),
    ("rules", "guard", "every rule: how firm it is here, why, and what to do instead"),
    ("test", "guard", "does the installed guard answer: sample calls, none of them run"),
    ("allow-once", "guard", "let Claude make one stopped call, once; for a person in a terminal"),
)
OWN = (
    ("upgrade", "own", "fetch the newest version and install it again"),
    ("statusline", "own", "one line for the status line of Claude Code"),
    ("completion", "own", "completion of verbs and options for bash, zsh or fish"),
)
Groups = Dict[str, Tuple[Tuple[str, str, str], ...]]
_MEMORY: Groups = {"Every day": EVERY_DAY, "Look closer": LOOK_CLOSER, "Curate": CURATE, "Keep": KEEP}
_MEMORY.update({"Repair": REPAIR, "Share": SHARE})
GROUPS: dict[str, Groups] = {"memory": _MEMORY, "guard": {"Verbs": GUARD}, "": {"Harness itself": OWN}}
_ABOUT = {
    "memory": (
        "What Claude Code remembers across sessions, in plain files.",
        "A project is the repository or folder you are in; --project DIR names another.\n"
        "Also: harness guard, harness upgrade, harness statusline, harness completion\n",
    ),
    "guard": (
        "What Claude Code may not do, and what it has to ask first.",
        "Your own rules: guard.json in the memory folder.\nA project's, which may only tighten: .claude/guard.json\n",
    ),
}


def main(argv: list[str]) -> int:
    hint = "See: harness memory doctor"
    return output.run(lambda: _dispatch(argv), "harness", refused="", failed=hint, stopped="", code=output.COULD_NOT)


def verbs(family: str) -> list[tuple[str, str, str]]:
    return [row for rows in GROUPS[family].values() for row in rows]


def _dispatch(argv: list[str]) -> int:
    family, rest = (argv[0], argv[1:]) if argv and argv[0] in _ABOUT else ("", argv)
    word, rest = (rest[0], rest[1:]) if rest else ("", [])
    if word == "help" and rest:
        word, rest = rest[0], ["--help"]
    for verb, module, what in verbs(family):
        if verb == word:
            import_module("." + module, __name__)
            arguments = import_module(".arguments", __name__)
            return int(arguments.run(family, verb, what, rest))
    if word == "--version":
        print("harness-memory %s" % __version__)
        return 0
    family = family or "memory"
    if word in ("", "help", "-h", "--help"):
        print(guide(family), end="")
        return 0
    commands = {each: "harness %s --help" % each for each in _ABOUT}
    for each in GROUPS:
        commands.update((verb, " ".join(filter(None, ("harness", each, verb)))) for verb, _, _ in verbs(each))
    close = difflib.get_close_matches(word, commands, 1)
    hint = "Did you mean: %s" % commands[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def guide(family: str) -> str:
    about, end = _ABOUT[family]
    rows = iter(output.table([["  " + verb, what] for verb, _, what in verbs(family)]))
    groups = ["\n".join(["%s:" % title, *(next(rows) for _ in group)]) for title, group in GROUPS[family].items()]
    return "\n\n".join(["usage: harness %s <verb> [options]" % family, about, *groups, end])
