"""`harness memory <verb>` and `harness guard <verb>`: from the words of a command line to a function, by `verbs.txt`.

Exit codes: 0 done, 1 problems found, 2 could not be done.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shlex
import time
from importlib import import_module
from typing import Any, NamedTuple

from .. import __version__
from ..base import settings, tables
from . import output

_FAMILIES = ("memory", "guard")
_TABLE = tables.read(__file__.replace("__init__.py", "verbs.txt"))


class Row(NamedTuple):
    """A verb, or an action of one."""

    name: str
    function: str
    what: str
    details: list[list[str]]
    actions: list[Row]

    def lines(self, sign: str) -> list[str]:
        """The details that begin with a sign."""
        return [detail[2:] for detail, *_ in self.details if detail[0] == sign]


def _load() -> dict[str, dict[str, list[Row]]]:
    families: dict[str, dict[str, list[Row]]] = {}
    for head, lines in _TABLE.items():
        family, is_group, title = head.partition(": ")
        verbs: list[Row] = families.setdefault(family, {}).setdefault(title, []) if is_group else []
        for name, *fields in lines if is_group else ():
            verb, _, action = name.partition(" ")
            if name:
                row = Row(action or verb, fields[0], fields[1], [], [])
                (verbs[-1].actions if action else verbs).append(row)
            else:
                row.details.extend(_TABLE.get(fields[0], [fields]))
    return families


GROUPS = _load()


def verbs(family: str) -> dict[str, Row]:
    return {row.name: row for rows in GROUPS[family].values() for row in rows}


def main(argv: list[str]) -> int:
    return output.run(lambda: _dispatch(argv), "harness")


def _dispatch(argv: list[str]) -> int:
    family, words = (argv[0], argv[1:]) if argv and argv[0] in _FAMILIES else ("", argv)
    word, *words = words or [""]
    if word in verbs(family):
        return _run(family, verbs(family)[word], words)
    if word == "--version":
        print("harness-memory %s" % __version__)
        return 0
    family = family or "memory"
    if word in ("", "help", "-h", "--help"):
        print(guide(family), end="")
        return 0
    calls = {verb: " ".join(filter(None, ("harness", each, verb))) for each in GROUPS for verb in verbs(each)}
    close = difflib.get_close_matches(word, calls, 1)
    hint = "Did you mean: " + calls[close[0]] if close else "See: harness %s --help" % family
    raise output.Refusal('unknown verb "%s". %s' % (output.line(word), hint))


def guide(family: str) -> str:
    (about,), *end = _TABLE["@" + family]
    lines = ["usage: harness %s <verb> [options]" % family, "", about, ""]
    for title, group in GROUPS[family].items():
        lines += [title + ":", *("  %-11s  %s" % (row.name, row.what) for row in group), ""]
    return "\n".join([*lines, *(line for (line,) in end), ""])


def _run(family: str, head: Row, argv: list[str]) -> int:
    """Parse the arguments of a verb, and run it."""
    words, actions = "harness %s " % family if family else "harness ", head.actions
    examples = [line for row in (head, *actions) for line in row.lines("$")] or [head.name]
    parser = argparse.ArgumentParser(
        prog=words + head.name,
        description="\n".join(head.lines(">")) or head.what,
        epilog="\n".join(["examples:", *("  " + words + each for each in examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if actions:
        subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        parser.description = "%s. Without an action: %s" % (parser.description, actions[0].name)
        for row in actions:
            _fill(subparsers.add_parser(row.name, help=row.what, description=row.what, allow_abbrev=False), row)
        if not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help")):
            argv = [actions[0].name, *argv]
    else:
        _fill(parser, head)
    call, unknown = parser.parse_known_args(argv, import_module(".call", __name__).Call())
    if unknown:
        hint = ". A command is one argument, in quotes: %s" % shlex.quote(" ".join(argv)) if family == "guard" else ""
        chosen = subparsers.choices[call.action] if actions else parser  # whose usage names the options there are
        chosen.error(output.line("unrecognized arguments: %s%s" % (" ".join(unknown), hint)))
    module, _, function = call.run.partition(".")
    return int(getattr(import_module("." + module, __name__), function)(call))


def _fill(parser: argparse.ArgumentParser, row: Row) -> None:
    where = parser.add_mutually_exclusive_group()
    about = "the project in this directory (default: the current one)"
    where.add_argument("--project", metavar="DIR", dest="folder", help=about)
    for names, keywords in options(row.details):
        (where if keywords.get("dest") == "all_projects" else parser).add_argument(*names, **keywords)
    if not row.lines("!"):
        parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.set_defaults(run=row.function)


def options(details: list[list[str]] | None = None) -> list[tuple[list[str], dict[str, Any]]]:
    """Options as for `add_argument`; those of install.py unless others are given."""
    details = _TABLE["@install"] if details is None else details
    return [_option(*detail) for detail in details if detail[0][0] not in ">$!"]


def _option(names: str, keywords: str, about: str | None = None) -> tuple[list[str], dict[str, Any]]:
    own = json.loads(keywords)
    return names.split(), {**_KINDS.get(own.pop("kind", ""), {}), **own, "help": about}


def positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError("%r is not a positive number" % text)
    return int(text)


def words_in(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def instant(text: str, *, is_whole: bool = False) -> float:
    """The beginning of a local day, or a number of hours, days or weeks back from now, or from a day's beginning."""
    back = {"today": "0d", "yesterday": "1d"}.get(text, text)
    seconds = {"h": 3600, "d": 86400, "w": 7 * 86400}.get(back[-1:])
    if seconds and back[:-1].isdecimal() and len(back) < 8:
        then = time.time() - int(back[:-1]) * seconds
        if back == text and not is_whole:
            return then
        text = time.strftime("%Y-%m-%d", time.localtime(then))
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("%r is not a date like 2026-11-16, today, 36h or 7d" % text) from None


_KINDS: dict[str, dict[str, Any]] = {  # of values
    "N": {"type": positive, "metavar": "N"},
    "DATE": {"type": instant, "metavar": "DATE"},
    "1-5": {"type": int, "metavar": "1-5", "choices": range(1, 6)},
    "TYPE": {"choices": settings.NOTE_TYPES},
    "SCOPE": {"choices": settings.NOTE_SCOPES},
    "HOW": {"choices": (*settings.ENFORCE, "off")},
    "WORDS": {"type": words_in, "metavar": "WORDS"},
}
