"""What the verbs' parsers have in common, and which memory the arguments mean."""

from __future__ import annotations

import argparse
import os
import time

from ..base import files, modes, settings
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


def parser(
    verb: str, about: str, examples: str, family: str = "memory", *, has_json: bool = True
) -> argparse.ArgumentParser:
    wide = _columns() - 2

    def helper(prog: str, **more: Any) -> argparse.HelpFormatter:
        # Told the width, it need not load `shutil` to find it, which it does for every option.
        return argparse.RawDescriptionHelpFormatter(prog, **{"width": wide, **more})

    made = Parser(
        prog="harness %s %s" % (family, verb),
        description=about,
        epilog="examples:\n" + "".join("  harness %s %s\n" % (family, example) for example in examples.splitlines()),
        formatter_class=helper,
        allow_abbrev=False,
    )
    made.add_argument("--project", metavar="DIR", help="the project in this directory (default: the present one)")
    if has_json:
        made.add_argument("--json", action="store_true", help="print JSON, for scripts")
    return made


def add_all_projects(made: argparse.ArgumentParser) -> None:
    made.add_argument("--all-projects", action="store_true", help="every project in the store")


def root() -> str:
    found = files.root_from(os.environ)
    files.confine(found)
    files.check_owner(found)
    return found


def private_root() -> str:
    """The store, made where there is none; what others could look into is closed, and that is said."""
    found = root()
    files.ensure_private(found)
    told = modes.repair(found, time.monotonic() + settings.CLOSING_SECONDS)
    if told:
        output.complain(told)
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
