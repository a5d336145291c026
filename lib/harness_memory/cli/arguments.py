"""What the verbs' parsers share, and which memory the arguments mean."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import NoReturn

from ..base import clock, files, settings
from ..project import Project, identity, relative_path
from ..session import sessions
from . import FAMILIES, output
from .output import Refusal


class Parser(argparse.ArgumentParser):
    """A parser that prints an unknown argument safely."""

    def error(self, message: str) -> NoReturn:
        super().error(output.passage(message))


def _verb(verb: str, about: str, examples: str, family: str) -> Parser:
    words = " ".join(filter(None, ("harness", family)))
    style = argparse.RawDescriptionHelpFormatter
    row = next(what for name, _, what in FAMILIES[family][0] if name == verb)
    epilog = "\n".join(["examples:", *("  %s %s" % (words, each) for each in (examples or verb).splitlines())])
    return Parser(
        prog="%s %s" % (words, verb), description=about or row, epilog=epilog, formatter_class=style, allow_abbrev=False
    )


def parser(
    verb: str, about: str = "", examples: str = "", family: str = "memory", **options: bool
) -> argparse.ArgumentParser:
    """The parser of a verb without actions, by default with the words of the table of verbs."""
    return _with_common(_verb(verb, about, examples, family), **options)


def _with_common(
    made: argparse.ArgumentParser,
    has_json: bool = True,
    has_all: bool = False,
    has_preview: bool = False,
    is_import: bool = False,
) -> argparse.ArgumentParser:
    which = made.add_mutually_exclusive_group()
    default = "that of an export, else the current one" if is_import else "the current one"
    which.add_argument("--project", metavar="DIR", help="the project in this directory (default: %s)" % default)
    if has_all:
        which.add_argument("--all-projects", action="store_true", help="every project in the store")
    if has_preview:
        made.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    if has_json:
        made.add_argument("--json", action="store_true", help="print JSON, for scripts")
    return made


class Actions:
    """The parser of a verb with actions: each has its own options and refuses those of the others."""

    def __init__(self, verb: str, about: str, examples: str) -> None:
        self._parser = _verb(verb, about, examples, "memory")
        self._subparsers = self._parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def add(self, action: str, about: str) -> argparse.ArgumentParser:
        made = self._subparsers.add_parser(action, help=about, description=about, allow_abbrev=False)
        return _with_common(made)

    def parse(self, argv: list[str], default: str = "") -> argparse.Namespace:
        """`default` is the action when none is named."""
        is_bare = not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help"))
        return self._parser.parse_args([default, *argv] if default and is_bare else argv)


def is_person() -> bool:
    """Whether a person runs this in a terminal, and not the model through a tool."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)) and not is_in_session()


def is_in_session() -> bool:
    """Whether Claude Code runs this."""
    return any(os.environ.get(name) for name in settings.ENV_CLIENT)


def root() -> str:
    path = files.root_from(os.environ)
    files.confine(path)
    files.check_owner(path)
    return path


def private_root(project: Project | None = None) -> str:
    """The store, made and closed to others if need be, with the record of a project that is to be written."""
    path = root()
    opened = files.ensure_private(path)
    if opened:
        output.complain(opened)
    if project:
        identity.record(project, clock.iso(time.time()))
    return path


def directory(args: argparse.Namespace) -> str:
    if args.project is not None:
        path: str = os.path.abspath(os.path.expanduser(args.project))
        if not os.path.isdir(path):
            raise Refusal("--project %s: no such directory" % args.project)
        return path
    present = os.environ.get(settings.ENV_SESSION_ID, "")  # a session acts on its own project, wherever its shell went
    launch = sessions.find_marker(root(), present)[1].get("launch") if present else ""
    return str(launch or os.environ.get(settings.ENV_PROJECT_DIR) or working_directory())


def working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Refusal("the current directory is gone. Go to another and try again.") from None


def relative(file: str, root: str) -> str:
    """A path as it is recorded: below the project's root, with forward slashes."""
    path = os.path.normpath(os.path.join(root, os.path.expanduser(file)))
    roots = (root, os.path.realpath(root))
    inside = relative_path(path, roots) or relative_path(os.path.realpath(path), roots)
    if not inside or (os.name != "nt" and file[1:3] in (":\\", ":/")):
        raise Refusal("--file %s is not in the project %s. Nothing was recorded." % (file, output.short(root)))
    return inside


def locate(args: argparse.Namespace) -> Project:
    path = directory(args)
    return identity.locate(root(), path, path)


def project_dirs(args: argparse.Namespace) -> list[str]:
    """The store directories that are meant: one, or all with --all-projects."""
    return all_dirs() if args.all_projects else [locate(args).dir]


def all_dirs() -> list[str]:
    paths = [os.path.join(root(), name) for name in files.names(root()) if identity.is_project_id(name)]
    return [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]


def project_name(project_dir: str) -> str:
    return os.path.basename(project_dir).rpartition("-")[0]


def positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError("%r is not a positive number" % text)
    return int(text)


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
