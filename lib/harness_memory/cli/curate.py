"""Files that people keep in a memory: `briefing` and `profile`."""

from __future__ import annotations

import difflib
import os
import sys
import time

from ..base import clock, files, settings
from ..base.lock import Lock
from ..base.redact import redact
from ..inject import sections
from ..memory import briefing as curated
from ..memory import file_rules
from ..project import identity
from . import arguments, versions
from .output import columns, count, cut, emit_json, emit_stored, line, local, passage, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..project.identity import Project

_LOCK_SECONDS = 5.0
_BRIEFING_VERSIONS = 2
_PROFILE_VERSIONS = 1


class Page:
    """A kept file: at most `limit` lines of it are told, `kept` former versions stay."""

    __slots__ = ("kept", "limit", "path", "setting")

    def __init__(self, path: str, setting: str, limit: int, kept: int) -> None:
        self.path = path
        self.setting = "harness memory " + setting  # how to write it, for hints
        self.limit = limit
        self.kept = kept

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


def briefing(argv: list[str]) -> int:
    about = (
        "The page every session in this project starts with (briefing.md, up to %d lines).\n"
        "set reads it from standard input and shows what changes; the last two versions are kept.\n"
        "rollback changes places with the version before; once more undoes that."
    ) % settings.BRIEFING_LINES
    examples = "briefing\nbriefing set < page.md\nbriefing history\nbriefing rollback"
    parser = arguments.parser("briefing", about, examples)
    actions = {"show": _show, "set": _set, "rollback": _rollback, "history": _history}
    parser.add_argument("action", nargs="?", choices=list(actions), default="show")
    _add_force(parser)
    args = parser.parse_args(argv)
    there = arguments.locate(args)
    path = os.path.join(there.dir, settings.BRIEFING_FILE)
    actions[args.action](Page(path, "briefing set", settings.BRIEFING_LINES, _BRIEFING_VERSIONS), there, args)
    return 0


def profile(argv: list[str]) -> int:
    about = (
        "What a session is told when a skill starts (profiles/<skill>.md, up to %d lines).\n"
        "set reads it from standard input and shows what changes; the version before is kept."
    ) % settings.PROFILE_LINES
    parser = arguments.parser("profile", about, "profile list\nprofile show melt\nprofile set melt < page.md")
    parser.add_argument("action", nargs="?", choices=("list", "show", "set"), default="list")
    parser.add_argument("skill", nargs="?", metavar="SKILL", help="the name of the skill, as typed after the slash")
    _add_force(parser)
    args = parser.parse_args(argv)
    there = arguments.locate(args)
    folder = os.path.join(there.dir, settings.PROFILES_DIR)
    if args.action == "list":
        _list_profiles(folder, args)
        return 0
    name = sections.skill_name(args.skill or "")
    if not name:
        what = '"%s" cannot be the name of a skill.' % line(args.skill) if args.skill else "which skill?"
        raise Refusal("%s Give its name: harness memory profile %s SKILL" % (what, args.action))
    path = os.path.join(folder, name + ".md")
    act = _show if args.action == "show" else _set
    act(Page(path, "profile set " + name, settings.PROFILE_LINES, _PROFILE_VERSIONS), there, args)
    return 0


def _add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="set: take more lines than a session is told")


# Looking -------------------------------------------------------------------------------------------


def _show(page: Page, there: Project, args: argparse.Namespace) -> None:
    data = files.read(page.path)
    if data is None:
        raise Refusal("there is no %s here yet. Write one: %s < FILE" % (page.name, page.setting))
    if args.json:
        text = "".join(row + "\n" for row in curated.read(page.path).lines)
        emit_json({**_facts(page.path), "text": text})
    else:
        emit_stored(data)


def _history(page: Page, there: Project, args: argparse.Namespace) -> None:
    numbers = range(1, page.kept + 1)
    paths = [path for path in (page.path, *(versions.former(page.path, n) for n in numbers)) if os.path.lexists(path)]
    found = [_facts(path) for path in paths]
    if args.json:
        emit_json(found)
    elif found:
        print("\n".join(_listing("VERSION", [os.path.basename(path) for path in paths], found)))
    else:
        print("No %s has been written here yet." % page.name)


def _list_profiles(folder: str, args: argparse.Namespace) -> None:
    names = [name[: -len(".md")] for name in files.names(folder) if name.endswith(".md")]
    names = [name for name in names if sections.skill_name(name) == name]
    found = [{"skill": name, **_facts(os.path.join(folder, name + ".md"))} for name in names]
    if args.json:
        emit_json(found)
    elif found:
        print("\n".join(_listing("SKILL", names, found)))
    else:
        print("No profiles here yet. Write one: harness memory profile set SKILL < FILE")


def _listing(what: str, names: list[str], found: list[dict[str, Any]]) -> list[str]:
    rows = [[what, "CHANGED", "LINES", "BEGINS"]]
    for name, facts in zip(names, found):
        begins = facts["problem"] or facts["first"]
        rows.append([line(name), local(facts["changed"]), str(facts["lines"]), cut(line(begins), columns())])
    return table(rows, right=(2,), is_cut=True)


def _facts(path: str) -> dict[str, Any]:
    found = curated.read(path)
    first = next((row.strip() for row in found.lines if row.strip()), "")
    changed = clock.iso(files.modified(path))
    return {"file": path, "changed": changed, "lines": len(found.lines), "first": first, "problem": found.problem}


# Writing -------------------------------------------------------------------------------------------


def _set(page: Page, there: Project, args: argparse.Namespace) -> None:
    given = _given(page)
    text = redact(given)
    lines = text.count("\n")
    if lines > page.limit and not args.force:
        what = "%d lines, and a session is told the first %d" % (lines, page.limit)
        raise Refusal("%s; nothing was changed. Shorten it, or take it all the same: --force" % what)
    with _Writing(page, there):
        versions.settle(page.path)
        before = _text(page.path)
        is_changed = text != before or not os.path.lexists(page.path)
        if is_changed:
            versions.replace(page.path, text.encode("utf-8"), page.kept)
    _report(page, args, before, text, is_changed, redacted=text != given)


def _rollback(page: Page, there: Project, args: argparse.Namespace) -> None:
    if not os.path.lexists(versions.former(page.path)) and not os.path.lexists(versions.former(page.path, 0)):
        raise Refusal("there is no version before this one: %s is not there" % short(versions.former(page.path)))
    with _Writing(page, there):
        versions.settle(page.path)
        before = _text(page.path)
        versions.swap(page.path)
        text = _text(page.path)
    _report(page, args, before, text, True, redacted=False)


class _Writing:
    """The lock on a kept file, in a memory that is on record."""

    __slots__ = ("lock", "page", "there")

    def __init__(self, page: Page, there: Project) -> None:
        self.page = page
        self.there = there
        self.lock = Lock(page.path + settings.LOCK_SUFFIX, _LOCK_SECONDS)

    def __enter__(self) -> None:
        arguments.private_root()
        identity.record(self.there, clock.iso(time.time()))
        if not self.lock.__enter__():
            raise Refusal("%s is being written by another process; nothing was changed. Try again" % self.page.name)

    def __exit__(self, *exc: object) -> None:
        self.lock.discard()
        self.lock.__exit__()


def _given(page: Page) -> str:
    """The text on standard input, its lines ended alike."""
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal("the text is read from standard input: %s < FILE" % page.setting)
    data = sys.stdin.buffer.read(settings.CURATED_MAX_BYTES + 1)
    if len(data) > settings.CURATED_MAX_BYTES:
        raise _refused("is larger than %d bytes" % settings.CURATED_MAX_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused("is not UTF-8 at byte %d" % error.start) from None
    text = _plain(text)
    if not text.strip():
        raise _refused("is empty")
    try:
        file_rules.check_text(text)
    except file_rules.Unfit as unfit:
        raise _refused(str(unfit)) from None
    return text


def _refused(what: str) -> Refusal:
    return Refusal("standard input %s; nothing was changed" % what)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"


def _text(path: str) -> str:
    """What is there now, as it would be written; "" when it cannot be read."""
    lines = curated.read(path).lines
    return _plain("\n".join(lines)) if lines else ""


def _report(page: Page, args: argparse.Namespace, before: str, text: str, is_changed: bool, *, redacted: bool) -> None:
    lines = text.count("\n")
    names = (page.name + " (before)", page.name)
    diff = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), *names, lineterm=""))
    if args.json:
        told = {"file": page.path, "changed": is_changed, "lines": lines, "redacted": redacted}
        emit_json({**told, "diff": diff})
        return
    if redacted:
        print("Secrets in it were redacted.")
    if not is_changed:
        print("Nothing changed: %s is this already." % short(page.path))
        return
    print(passage(diff))
    kept = versions.former(page.path)
    more = "; the one before is %s" % os.path.basename(kept) if os.path.lexists(kept) else ""
    print("\nWritten: %s (%s)%s" % (short(page.path), count(lines, "line"), more))
    if lines > page.limit:
        print("A session is told the first %d lines." % page.limit)
