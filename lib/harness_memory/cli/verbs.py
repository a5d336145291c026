"""The table of verbs, `verbs.txt`: what each is for, the function that runs it, its options and examples.

    family: group of `--help`
      verb [action]  module.function  what it is for
        [attribute:] NAMES VALUE  an option or argument, and what it means
        @name                     the options of a row of the family "shared"
        > a line of a longer description
        $ an example
        text only                 it has no --json

The first action of a verb is its default. Without a name it is an argument, without a value a flag. VALUE is one of:

    X    [X]  may be left out    X...  several, or repeatable    X=1  with a default    X!  required    a|b  a choice
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


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
    for text in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
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
_SHARED = {"@" + row.name: row.details for row in GROUPS.pop("shared")["options"]}


def verbs(family: str) -> list[Row]:
    return [row for rows in GROUPS[family].values() for row in rows if " " not in row.name]


def rows(family: str, verb: str) -> list[Row]:
    """A verb, and its actions if it has any, with all their options."""
    own = [row for group in GROUPS[family].values() for row in group if row.name.split()[0] == verb]
    return [row._replace(details=[line for each in row.details for line in _SHARED.get(each, [each])]) for row in own]
