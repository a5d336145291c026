"""`harness memory <verb>` and `harness guard <verb>`, as the table `verbs.txt` describes them.

    family: group of `--help`
      verb [action]  module.function  what it is for
        [attribute:] NAMES VALUE  an option or argument, and what it means
        @name                     the options of a row of the family "shared"
        > a line of a longer description
        $ an example
        text only                 it has no --json

The first action of a verb is its default. Without a name it is an argument, without a value a flag. VALUE is one of:

    X    [X]  may be left out    X...  several, or repeatable    X=1  with a default    X!  required    a|b  a choice

Exit codes: 0 done, 1 problems found, 2 could not be done.
"""

from __future__ import annotations

import difflib
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from .. import __version__
from . import output

_FAMILIES = ("memory", "guard")


class Row(NamedTuple):
    """A verb, or an action of one: then `name` is two words."""

    name: str
    function: str
    what: str
    details: list[str]

    def lines(self, sign: str) -> list[str]:
        """The details that begin with a sign."""
        return [detail[2:] for detail in self.details if detail.startswith(sign)]


def _load() -> dict[str, dict[str, list[Row]]]:
    families: dict[str, dict[str, list[Row]]] = {}
    for text in (Path(__file__).parent / "verbs.txt").read_text("utf-8").splitlines():
        if not text.startswith(" "):
            family, _, title = text.partition(": ")
            group = families.setdefault(family, {}).setdefault(title, [])
        elif text.startswith("    "):
            group[-1].details.append(text.strip())
        else:
            name, function, what = [*re.split("  +", text.strip()), "", ""][:3]
            group.append(Row(name, function, what, []))
    return families


GROUPS = _load()
SHARED = {"@" + row.name: row.details for row in GROUPS.pop("shared")["options"]}


def verbs(family: str) -> list[Row]:
    return [row for rows in GROUPS[family].values() for row in rows if " " not in row.name]


def rows(family: str, verb: str) -> list[Row]:
    """A verb, and its actions if it has any, with all their options."""
    own = [row for group in GROUPS[family].values() for row in group if row.name.split()[0] == verb]
    return [row._replace(details=[line for each in row.details for line in SHARED.get(each, [each])]) for row in own]


def main(argv: list[str]) -> int:
    hint = "See: harness memory doctor"
    return output.run(lambda: _dispatch(argv), "harness", refused="", failed=hint, stopped="", code=output.COULD_NOT)


def _dispatch(argv: list[str]) -> int:
    family, rest = (argv[0], argv[1:]) if argv and argv[0] in _FAMILIES else ("", argv)
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
    commands = {each: "harness %s --help" % each for each in _FAMILIES}
    for each in GROUPS:
        commands.update((row.name, " ".join(filter(None, ("harness", each, row.name)))) for row in verbs(each))
    close = difflib.get_close_matches(word, commands, 1)
    hint = "Did you mean: %s" % commands[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def guide(family: str) -> str:
    about, *end = [line[2:] for line in SHARED["@" + family]]
    lines = ["usage: harness %s <verb> [options]" % family, "", about, ""]
    for title, group in GROUPS[family].items():
        lines += [title + ":", *("  %-11s  %s" % (row.name, row.what) for row in group if " " not in row.name), ""]
    return "\n".join([*lines, *end, ""])
