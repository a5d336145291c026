"""How a verb declares what it takes, and what the verbs' options share.

    @verb("thread close", THREAD, about="what is open will not be done", examples="thread close a1b2c3d4")
    def close(call: Call) -> int: ...

The second word is an action; the first action that is declared is the default. An option belongs to the verb or action
that declares it, and all have --project and --json.
"""

from __future__ import annotations

import argparse
import shlex
import time
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Tuple

from . import output
from .call import Call

Option = Tuple[List[str], Dict[str, Any]]  # as for `add_argument`
Run = Callable[[Call], int]


class Declaration(NamedTuple):
    run: Run
    options: tuple[Option, ...]
    about: str
    examples: str
    has_json: bool


_declared: dict[tuple[str, str], dict[str, Declaration]] = {}  # by family and verb, then by action or ""


class Parser(argparse.ArgumentParser):
    """A parser that prints an unknown argument safely."""

    def error(self, message: str) -> NoReturn:
        super().error(output.passage(message))


def verb(
    name: str, *options: Option, about: str = "", examples: str = "", family: str = "memory", has_json: bool = True
) -> Callable[[Run], Run]:
    """Declare a verb, or an action of one; without `about` it has the words of the table of verbs."""

    def declare(run: Run) -> Run:
        word, _, action = name.partition(" ")
        actions = _declared.setdefault((family, word), {})
        actions[action] = Declaration(run, options, about, examples, has_json)
        return run

    return declare


def option(names: str, metavar: str | None = None, help: str = "", **keywords: Any) -> Option:
    return names.split(), {"metavar": metavar, "help": help, **keywords}


def flag(names: str, help: str, **keywords: Any) -> Option:
    return names.split(), {"action": "store_true", "help": help, **keywords}


def run(family: str, verb: str, what: str, argv: list[str]) -> int:
    """Parse the arguments of a verb, and run it."""
    actions, words = _declared[family, verb], "harness %s " % family if family else "harness "
    examples = "\n".join(filter(None, (each.examples for each in actions.values()))) or verb
    parser = Parser(
        prog=words + verb,
        description=actions[""].about or what if "" in actions else what,
        epilog="\n".join(["examples:", *("  " + words + each for each in examples.splitlines())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if "" in actions:
        _fill(parser, actions[""])
    else:
        subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        for action, declared in actions.items():
            _fill(subparsers.add_parser(action, help=declared.about, allow_abbrev=False), declared)
        is_bare = not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))
        argv = [*[next(iter(actions))] * is_bare, *argv]
    call, unknown = parser.parse_known_args(argv, Call())
    if unknown:
        hint = ". A command is one argument, in quotes: %s" % shlex.quote(" ".join(argv)) if family == "guard" else ""
        parser.error("unrecognized arguments: %s%s" % (" ".join(unknown), hint))
    return int(call.run(call))


def _fill(parser: argparse.ArgumentParser, declared: Declaration) -> None:
    where = parser.add_mutually_exclusive_group()
    about = "the project in this directory (default: the current one)"
    where.add_argument("--project", metavar="DIR", dest="folder", help=about)
    for names, keywords in declared.options:
        (where if keywords.get("dest") == ALL_PROJECTS[1]["dest"] else parser).add_argument(*names, **keywords)
    if declared.has_json:
        parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.set_defaults(run=declared.run)


def words(family: str, verb: str) -> list[str]:
    """The actions and options of a declared verb, for completion."""
    actions = _declared[family, verb]
    options = [names for each in actions.values() for names, _ in each.options]
    named = [name for names in options for name in names if name.startswith("--")]
    common = ["--project", *["--json"] * any(each.has_json for each in actions.values())]
    return [*filter(None, actions), *dict.fromkeys(named), *common]


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


ALL_PROJECTS = flag("--all-projects", "every project in the store", dest="all_projects")
DRY_RUN = flag("--dry-run", "show what would be done, do nothing")
SINCE = option("--since", "DATE", "since 2026-11-16, today, yesterday, 36h or 7d", type=instant)
YES = flag("--yes", "do it")
ALL = flag("--all", "all of them")


def limit(number: int) -> Option:
    return option("-k -n --limit", "N", "at most N (default: %d)" % number, type=positive, default=number)
