"""The parser of a verb, from the table of verbs, and the kinds of values that options take."""

from __future__ import annotations

import argparse
import re
import shlex
import time
from importlib import import_module
from typing import Any, NoReturn

from ..base import settings
from . import Row, output, rows
from .call import Call

# [attribute:] names [kind=default...]! and help
_OPTION = re.compile(
    r"(?:(\w+): )?((?:-\S+ ?)*)(\[?)([^\s\[\]=.!]*)(?:=([^\s\]]*))?(\.\.\.)?\]?(!?)(?: +(.+))?",
)


class Parser(argparse.ArgumentParser):
    """A parser that prints an unknown argument safely."""

    def error(self, message: str) -> NoReturn:
        super().error(output.passage(message))


def run(family: str, verb: str, argv: list[str]) -> int:
    """Parse the arguments of a verb, and run it."""
    every, words = rows(family, verb), "harness %s " % family if family else "harness "
    head, *actions = every
    examples = [line for row in every for line in row.lines("$ ")] or [verb]
    parser = Parser(
        prog=words + verb,
        description="\n".join(head.lines(">")) or head.what,
        epilog="\n".join(["examples:", *("  " + words + each for each in examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if actions:
        subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        names = [row.name.split()[1] for row in actions]
        for name, row in zip(names, actions):
            _fill(subparsers.add_parser(name, help=row.what, allow_abbrev=False), row)
        is_bare = not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))
        argv = [*names[:1] * is_bare, *argv]
    else:
        _fill(parser, head)
    call, unknown = parser.parse_known_args(argv, Call())
    if unknown:
        hint = ". A command is one argument, in quotes: %s" % shlex.quote(" ".join(argv)) if family == "guard" else ""
        parser.error("unrecognized arguments: %s%s" % (" ".join(unknown), hint))
    module, _, function = call.run.partition(".")
    return int(getattr(import_module("." + module, __package__), function)(call))


def _fill(parser: argparse.ArgumentParser, row: Row) -> None:
    where = parser.add_mutually_exclusive_group()
    about = "the project in this directory (default: the current one)"
    where.add_argument("--project", metavar="DIR", dest="folder", help=about)
    for names, keywords in options(row):
        (where if keywords["dest"] == "all_projects" else parser).add_argument(*names, **keywords)
    if "text only" not in row.details:
        parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.set_defaults(run=row.function)


def options(row: Row) -> list[tuple[list[str], dict[str, Any]]]:
    """Its options as for `add_argument`."""
    return [_option(line) for line in row.details if line[0] not in ">$" and line != "text only"]


def _option(line: str) -> tuple[list[str], dict[str, Any]]:
    match = _OPTION.fullmatch(line)
    if not match:
        raise ValueError(line)
    attribute, names, is_optional, kind, default, is_many, is_required, about = match.groups()
    keywords: dict[str, Any] = {"help": about, "dest": attribute or (None if names else kind.lower())}
    if not kind:
        keywords.update({"action": "count", "default": 0} if is_many else {"action": "store_true"})
        return names.split(), keywords
    keywords.update({"choices": kind.split("|")} if "|" in kind else _KINDS.get(kind, {"metavar": kind}))
    if not names:
        keywords["nargs"] = ("*" if is_many else "?") if is_optional else "+" if is_many else None
    elif is_many:
        keywords["action"] = "append"
    elif is_optional:
        keywords.update(nargs="?", const=default)
    else:
        keywords.update(default=default, required=bool(is_required))
    return names.split(), keywords


def positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError("%r is not a positive number" % text)
    return int(text)


def words_in(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def instant(text: str) -> float:
    """The beginning of a local day, or a number of hours, days or weeks back from now."""
    now, days, seconds = time.time(), {"today": 0, "yesterday": 1}, {"h": 3600, "d": 86400, "w": 7 * 86400}
    if text in days:
        text = time.strftime("%Y-%m-%d", time.localtime(now - days[text] * 86400))
    if text[:-1].isdecimal() and text[-1:] in seconds and len(text) < 8:
        return now - int(text[:-1]) * seconds[text[-1]]
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("%r is not a date like 2026-11-16, today, 36h or 7d" % text) from None


_KINDS: dict[str, dict[str, Any]] = {  # of values, by their names in the table
    "N": {"type": positive, "metavar": "N"},
    "DATE": {"type": instant, "metavar": "DATE"},
    "1-5": {"type": int, "metavar": "1-5", "choices": range(1, 6)},
    "TYPE": {"choices": settings.NOTE_TYPES},
    "SCOPE": {"choices": settings.NOTE_SCOPES},
    "HOW": {"choices": (*settings.ENFORCE, "off")},
    **{name: {"type": words_in, "metavar": name} for name in ("FACT", "QUERY", "TASK", "TITLE", "WORDS")},
}
