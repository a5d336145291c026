"""`harness memory <verb>` and `harness guard <verb>`: one table row a verb, with the module that declares it.

Exit codes: 0 done, 1 problems found, 2 could not be done.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from .. import __version__
from . import output
from .verbs import GROUPS, verbs

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


def _dispatch(argv: list[str]) -> int:
    family, rest = (argv[0], argv[1:]) if argv and argv[0] in _ABOUT else ("", argv)
    word, rest = (rest[0], rest[1:]) if rest else ("", [])
    if word == "help" and rest:
        word, rest = rest[0], ["--help"]
    if word in [row.name for row in verbs(family)]:
        arguments = import_module(".arguments", __name__)
        return int(arguments.run(family, word, rest))
    if word == "--version":
        print("harness-memory %s" % __version__)
        return 0
    family = family or "memory"
    if word in ("", "help", "-h", "--help"):
        print(guide(family), end="")
        return 0
    commands = {each: "harness %s --help" % each for each in _ABOUT}
    for each in GROUPS:
        commands.update((row.name, " ".join(filter(None, ("harness", each, row.name)))) for row in verbs(each))
    close = difflib.get_close_matches(word, commands, 1)
    hint = "Did you mean: %s" % commands[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def guide(family: str) -> str:
    about, end = _ABOUT[family]
    lines = iter(output.table([["  " + row.name, row.what] for row in verbs(family)]))
    groups = [[row for row in rows if " " not in row.name] for rows in GROUPS[family].values()]
    shown = ["\n".join([title + ":", *(next(lines) for _ in group)]) for title, group in zip(GROUPS[family], groups)]
    return "\n\n".join(["usage: harness %s <verb> [options]" % family, about, *shown, end])
