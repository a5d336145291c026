"""Every file of the store that breaks a rule. Reads; never writes, never stops at garbage.

What each file must hold is in `rules`. Here, for all of them: plain files in plain directories,
private to their owner, no leftovers of killed writers, and views that are what `rebuild` would write.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

from ..audit import verify as chain
from ..base import clock, files, settings
from ..base.lock import Lock
from ..notes import shelf as notebook
from ..project import identity
from . import remake, views
from .file_rules import DAMAGED, REMAKE, RULE, STRAY, Unfit, accept, checker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..notes.shelf import Shelf

MODE = "mode"
VIEW = "view"
AUDIT_REMEDY = "trust only the events before it; compare with a backup, and leave the file as it is"

_MAX_DEPTH = 12
_FOREIGN = (".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes", ".git", ".stfolder", ".stignore")


class Finding:
    __slots__ = ("kind", "line", "path", "remedy", "what")

    def __init__(self, path: str, what: str, remedy: str, kind: str = RULE, line: int = 0) -> None:
        self.path = path
        self.what = what
        self.remedy = remedy
        self.kind = kind
        self.line = line

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.path,
            "line": self.line or None,
            "what": self.what,
            "remedy": self.remedy,
            "kind": self.kind,
        }


def check_store(root: str) -> Iterator[Finding]:
    """The files that belong to no project."""
    if not os.path.lexists(root):
        return
    top = os.path.realpath(root)  # the store itself may be a link
    yield from _check_directory(top, top, 0, _is_common)
    yield from _check_notes_index(notebook.user_shelf(root))


def check_project(project_dir: str) -> Iterator[Finding]:
    yield from check_files(project_dir)
    try:
        if os.path.isdir(project_dir):
            yield from check_views(project_dir)
    except OSError as error:
        what = "cannot be compared with the views (%s)" % error.strerror
        yield Finding(str(error.filename or project_dir), what, "run it again; the disk may be failing", DAMAGED)


def _check_notes_index(shelf: Shelf) -> Iterator[Finding]:
    wanted = notebook.expected_index(shelf)
    if wanted is not None and not files.is_same(shelf.index, wanted) and (wanted or os.path.lexists(shelf.index)):
        what = "is stale" if os.path.lexists(shelf.index) else "is missing"
        yield Finding(shelf.index, what, REMAKE, VIEW)


def check_files(project_dir: str) -> Iterator[Finding]:
    if os.path.lexists(project_dir):
        yield from _check_episodes(project_dir, _check_directory(project_dir, project_dir, 0, lambda name: True))
        yield from check_audit(project_dir)


def _check_episodes(project_dir: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """The findings, with a better remedy for the episodes that can be made again, and those that are missing."""
    try:
        paths = {os.path.join(project_dir, settings.EPISODES_DIR, name) for name in remake.lost(project_dir)}
    except OSError:
        paths = set()  # what cannot be read is among the findings
    for finding in findings:
        if finding.path in paths:
            finding.remedy = REMAKE
            paths.discard(finding.path)
        yield finding
    for path in sorted(paths):
        yield Finding(path, "is missing, though its session is there", REMAKE, DAMAGED)


def check_audit(project_dir: str) -> Iterator[Finding]:
    try:
        broken = chain.verify(project_dir).broken
    except OSError as error:
        path = error.filename or os.path.join(project_dir, settings.SECURITY_DIR)
        yield Finding(path, "cannot be read (%s)" % error.strerror, "make it a plain file that you may read", DAMAGED)
        return
    if broken:
        yield Finding(broken.path, broken.what, AUDIT_REMEDY, DAMAGED, broken.line)


def check_views(project_dir: str) -> Iterator[Finding]:
    stale = views.stale(project_dir)
    if stale:  # a session may just have been writing them
        with _still(os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK)):
            stale = views.stale(project_dir)
    for name, what in stale:
        yield Finding(os.path.join(project_dir, name), what, REMAKE, VIEW)
    yield from _check_notes_index(notebook.project_shelf(project_dir))


def _still(path: str) -> Lock | contextlib.nullcontext[bool]:
    """While whoever writes under a lock waits; nothing is made where there is no lock."""
    return Lock(path) if os.access(path, os.W_OK) else contextlib.nullcontext(False)


# Walking -------------------------------------------------------------------------------------------


def _is_common(name: str) -> bool:
    return not identity.is_project_id(name)


def _check_directory(path: str, top: str, depth: int, wanted: Callable[[str], bool]) -> Iterator[Finding]:
    try:
        info = os.lstat(path)
        if not stat.S_ISDIR(info.st_mode):
            yield Finding(path, "is a %s, not a directory" % _kind(info.st_mode), "move it away", DAMAGED)
            return
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        yield Finding(path, "cannot be read (%s)" % error.strerror, "make it readable for you", DAMAGED)
        return
    yield from _check_mode(path, info)
    parts = () if path == top else tuple(os.path.relpath(path, top).split(os.sep))
    yield from _check_session_directory(path, parts, info, [entry.name for entry in entries])
    for entry in entries:
        if entry.name in _FOREIGN or not wanted(entry.name):
            continue
        yield from _check_entry(entry, parts, top, depth)


def _check_entry(entry: os.DirEntry[str], parts: tuple[str, ...], top: str, depth: int) -> Iterator[Finding]:
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError as error:
        if os.path.lexists(entry.path):  # not just removed by a session at work
            yield Finding(entry.path, "cannot be read (%s)" % error.strerror, "make it readable for you", DAMAGED)
        return
    is_lock = entry.name.endswith(settings.LOCK_SUFFIX)
    if stat.S_ISDIR(info.st_mode) and not is_lock and checker((*parts, entry.name)) in (None, accept):
        if depth > _MAX_DEPTH:
            yield Finding(entry.path, "is nested deeper than anything of ours", "move it out of the store", STRAY)
        else:
            yield from _check_directory(entry.path, top, depth + 1, lambda name: True)
    elif not stat.S_ISREG(info.st_mode):
        what = "is a %s, not a plain file" % _kind(info.st_mode)
        yield Finding(entry.path, what, "move it out of the store", DAMAGED)
    else:
        yield from _check_mode(entry.path, info)
        yield from _check_file(entry.path, (*parts, entry.name), info)


def _check_mode(path: str, info: os.stat_result) -> Iterator[Finding]:
    if os.name == "posix" and info.st_mode & 0o077:
        what = "can be read by others (mode %04o)" % stat.S_IMODE(info.st_mode)
        yield Finding(path, what, "close it to others: chmod go-rwx (with -R for the whole store)", MODE)


def _check_session_directory(
    path: str, parts: tuple[str, ...], info: os.stat_result, names: list[str]
) -> Iterator[Finding]:
    if len(parts) == 2 and parts[0] == settings.WORK_DIR and not clock.is_day(parts[1]):
        yield Finding(path, "is not named after a day", "move it out of the store")
    is_settled = info.st_mtime < time.time() - settings.STRAY_FILE_SECONDS  # a hook may be just about to write it
    if len(parts) == 3 and parts[0] == settings.WORK_DIR and settings.META_FILE not in names and is_settled:
        yield Finding(path, "has no %s" % settings.META_FILE, "move it away; its episode, if any, stays")


def _check_file(path: str, parts: tuple[str, ...], info: os.stat_result) -> Iterator[Finding]:
    name = parts[-1]
    if name.startswith(".") and name.endswith(settings.TEMP_SUFFIX):
        if info.st_mtime < time.time() - settings.STRAY_FILE_SECONDS:
            yield Finding(path, "is a temporary file nobody writes any more", "delete it", STRAY)
        return
    check = _check_security(parts) if parts[0] == settings.SECURITY_DIR else checker(parts)
    if check is None:
        yield Finding(path, "is no file of the store", "move it elsewhere", STRAY)
        return
    try:
        check(path)
    except Unfit as unfit:
        yield Finding(path, str(unfit), unfit.remedy, unfit.kind, unfit.line)
    except OSError as error:
        if os.path.lexists(path):
            yield Finding(
                path, "cannot be read (%s)" % error.strerror, "make it a plain file that you may read", DAMAGED
            )


def _check_security(parts: tuple[str, ...]) -> Callable[[str], object] | None:
    """The lines of the trail are looked at together, by `check_audit`."""
    is_trail = len(parts) == 4 and parts[-1] == settings.AUDIT_FILE
    return accept if is_trail or parts[1:] == (settings.AUDIT_LOCK,) else None


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISFIFO, "pipe"),
        (stat.S_ISSOCK, "socket"),
    )
    return next((name for test, name in kinds if test(mode)), "plain file" if stat.S_ISREG(mode) else "device")
