"""What the verbs' parsers have in common, and which memory the arguments mean."""

from __future__ import annotations

import argparse
import os
import time

from ..base import files, settings
from ..project import identity
from . import output
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..project.identity import Project


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 20:
        return int(told)
    try:
        return max(40, os.get_terminal_size(1).columns)
    except (OSError, ValueError):
        return 80


class Parser(argparse.ArgumentParser):
    """One that shows an argument it does not know as safely as all else is shown."""

    def error(self, message: str) -> NoReturn:
        super().error(output.passage(message))


def _formatter(prog: str, **more: Any) -> argparse.HelpFormatter:
    # Given the width, it does not load `shutil` to find it, which it would do for every option.
    return argparse.RawDescriptionHelpFormatter(prog, **{"width": _columns() - 2, **more})


def parser(verb: str, about: str, examples: str, family: str = "memory", *, has_json: bool = True) -> Parser:
    """The parser of a verb without actions."""
    made = Parser(**_page("harness %s %s" % (family, verb), about, examples, family))
    _add_common(made, has_json)
    return made


class Actions:
    """The parser of a verb with actions: each has options of its own, and refuses those of the others."""

    __slots__ = ("_parser", "_subparsers")

    def __init__(self, verb: str, about: str, examples: str, family: str = "memory") -> None:
        self._parser = Parser(**_page("harness %s %s" % (family, verb), about, examples, family))
        self._subparsers = self._parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(self, action: str, about: str, *, has_json: bool = True) -> argparse.ArgumentParser:
        made = self._subparsers.add_parser(
            action, help=about, description=about, formatter_class=_formatter, allow_abbrev=False
        )
        _add_common(made, has_json)
        return made

    def parse(self, argv: list[str], default: str = "") -> argparse.Namespace:
        """`default` is the action when none is named."""
        is_bare = not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))
        return self._parser.parse_args([default, *argv] if default and is_bare else argv)


def _page(prog: str, about: str, examples: str, family: str) -> dict[str, Any]:
    epilog = "examples:\n" + "".join("  harness %s %s\n" % (family, example) for example in examples.splitlines())
    return {
        "prog": prog,
        "description": about,
        "epilog": epilog,
        "formatter_class": _formatter,
        "allow_abbrev": False,
    }


def _add_common(made: argparse.ArgumentParser, has_json: bool) -> None:
    made.add_argument("--project", metavar="DIR", help="the project in this directory (default: the current one)")
    if has_json:
        made.add_argument("--json", action="store_true", help="print JSON, for scripts")


def add_all_projects(made: argparse.ArgumentParser) -> None:
    made.add_argument("--all-projects", action="store_true", help="every project in the store")


def root() -> str:
    found = files.root_from(os.environ)
    files.confine(found)
    files.check_owner(found)
    return found


def private_root() -> str:
    """The store, made if it is missing; one that was open to others is closed, and the person is told."""
    found = root()
    opened = files.ensure_private(found)
    if opened:
        output.complain(opened)
    return found


def directory(args: argparse.Namespace) -> str:
    """The directory whose memory is meant."""
    if args.project is None:
        return os.environ.get(settings.ENV_PROJECT_DIR) or _present()
    path: str = os.path.abspath(os.path.expanduser(args.project))
    if not os.path.isdir(path):
        raise Refusal("--project %s: no such directory" % args.project)
    return path


def _present() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Refusal("the present directory is gone. Go to another, or name one: --project DIR") from None


def locate(args: argparse.Namespace) -> Project:
    place = directory(args)
    return identity.locate(root(), place, place)


def project_dirs(args: argparse.Namespace) -> list[str]:
    """The store directories that are meant: one, or with --all-projects every one there is."""
    if not args.all_projects:
        return [locate(args).dir]
    if args.project is not None:
        raise Refusal("--project and --all-projects exclude each other")
    return all_dirs()


def all_dirs() -> list[str]:
    found = [os.path.join(root(), name) for name in files.names(root()) if identity.is_project_id(name)]
    return [path for path in found if os.path.isdir(path) and not os.path.islink(path)]


def project_name(project_dir: str) -> str:
    return os.path.basename(project_dir).rpartition("-")[0]


def positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError("%r is no positive number" % text)
    return int(text)


def instant(text: str) -> float:
    """The beginning of a local day, or a number of hours or days back from now."""
    now = time.time()
    days = {"today": 0, "yesterday": 1}
    if text in days:
        text = time.strftime("%Y-%m-%d", time.localtime(now - days[text] * 86400))
    if text[:-1].isdecimal() and text[-1:] in ("h", "d") and len(text) < 8:
        return now - int(text[:-1]) * (3600 if text[-1] == "h" else 86400)
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("%r is no date like 2026-11-16, today, 36h or 7d" % text) from None
