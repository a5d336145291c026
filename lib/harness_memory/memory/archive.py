"""Archived sessions: compressed tar files outside the live tree, which are their own index.

    <root>/archive/<project id>/sessions-<instant>.tar.gz   files of sessions, by path below the project

An archive is on disk and read back before it takes its name; only then are the live files deleted. The files of a
session are adjacent. Version 0.1 wrote an index (`*.jsonl`) beside each archive, which is ignored.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import tarfile
import time
import zlib

from ..base import clock, files, jsontext, settings, yaml
from ..base.lock import Lock
from ..base.sha256 import hexdigest
from ..session import episode, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

ENDING = ".tar.gz"

_OLD_INDEX = ".jsonl"
_LEVEL = 4  # half the time of the default, a few percent larger
_CHUNK_BYTES = 1024 * 1024
_LOCK_SECONDS = 2.0
_STAMP_CHARS = len("sessions-2026-11-16T060048Z")
_BUSY = "another command is working on the archives. Run this again"
_DAMAGED = "is damaged and may hold other sessions too. Restore those, then delete it; everything else is done"


class Archived:
    """A session in an archive: its files by path, and what its META.yaml and its episode say."""

    __slots__ = ("archive", "ended", "episode", "files", "headline", "id", "session_id", "started")

    def __init__(self, archive: str, contents: dict[str, bytes]) -> None:
        self.archive = archive
        self.files = contents
        meta: dict[str, Any] = {}
        self.episode: dict[str, Any] = {}
        for path, data in contents.items():
            with contextlib.suppress(ValueError):
                if path.startswith(settings.EPISODES_DIR):
                    value = jsontext.loads(data)
                    self.episode = value if episode.problem(value) == "" else {}
                elif path.endswith("/" + settings.META_FILE):
                    meta = dict(yaml.load(data.decode("utf-8")))
        self.id = _owner(next(iter(contents))).partition("/")[2]
        self.session_id = str(meta.get("claude_session") or self.episode.get("session_id") or self.id)
        self.started = str(meta.get("started") or self.episode.get("started") or "")
        self.ended = str(meta.get("ended") or self.episode.get("ended") or self.started)
        summary = str(meta.get("summary") or "")[: settings.SUMMARY_LINE_CHARS]
        self.headline = episode.headline(self.episode) if self.episode else summary

    def brief(self) -> dict[str, str]:
        """One line of `restore --json`."""
        return {key: getattr(self, key) for key in ("archive", "id", "session_id", "started", "ended", "headline")}


def folder(root: str, project_dir: str) -> str:
    return os.path.join(root, settings.ARCHIVE_DIR, os.path.basename(project_dir))


def lock(root: str, project_dir: str) -> contextlib.AbstractContextManager[object]:
    """Held by a command that archives, restores or forgets; nothing is created where nothing is remembered."""
    if not os.path.isdir(project_dir) and not os.path.isdir(folder(root, project_dir)):
        return contextlib.nullcontext()
    return Lock(os.path.join(project_dir, settings.STATE_DIR, settings.ARCHIVE_LOCK), _LOCK_SECONDS, _BUSY)


# Reading ------------------------------------------------------------------------------------------


def names(root: str, project_dir: str) -> list[str]:
    """The archives of a project, oldest first; those of one second are numbered."""
    listed = files.names(folder(root, project_dir))
    stems = [name[: -len(ENDING)] for name in listed if name.endswith(ENDING) and not name.startswith(".")]
    return sorted(stems, key=lambda stem: (stem[:_STAMP_CHARS], len(stem), stem))


def load(root: str, project_dir: str, name: str) -> Iterator[Archived]:
    """The sessions in an archive; Unreadable, after those that can be read, when it is damaged."""
    owner = ""
    contents: dict[str, bytes] = {}
    for path, data in members(os.path.join(folder(root, project_dir), name + ENDING)):
        if contents and _owner(path) != owner:
            yield Archived(name, contents)
            contents = {}
        owner, contents[path] = _owner(path), data
    if contents:
        yield Archived(name, contents)


def load_all(root: str, project_dir: str, troubles: list[OSError]) -> Iterator[Archived]:
    """The sessions in every archive, oldest archive first; damaged archives are added to `troubles`."""
    for name in names(root, project_dir):
        try:
            yield from load(root, project_dir, name)
        except files.Unreadable as error:
            troubles.append(error)


def texts(root: str, project_dir: str, troubles: list[OSError]) -> Iterator[tuple[Archived, str, str]]:
    """(session, path, text) of what `search --archived` searches: episodes, summaries and records."""
    for session in load_all(root, project_dir, troubles):
        for path, data in session.files.items():
            if path.startswith(settings.EPISODES_DIR) or path.endswith((settings.SUMMARY_FILE, settings.META_FILE)):
                yield session, path, data.decode("utf-8", "replace")


def members(path: str) -> Iterator[tuple[str, bytes]]:
    with os.fdopen(files.open_plain(path), "rb") as raw:
        try:
            with gzip.GzipFile(fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isreg() and is_ours(member.name) else None
                    if content is not None:
                        yield member.name, content.read(settings.FILE_MAX_BYTES)
                while packed.read(_CHUNK_BYTES):
                    pass  # tarfile takes a garbled header for the end: only the checksum shows the damage
        except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise files.Unreadable(errno.EINVAL, "is damaged (%s)" % error, path) from None


def is_ours(path: str) -> bool:
    """Whether a member may be written below a project's directory: an episode, or a file in a session's directory."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        return False
    if parts[0] == settings.EPISODES_DIR:
        return len(parts) == 2 and sessions.is_episode_name(parts[1])
    is_work = parts[0] == settings.WORK_DIR and len(parts) > 3
    return is_work and clock.is_day(parts[1]) and sessions.safe_id(parts[2]) == parts[2]


def _owner(path: str) -> str:
    """`<day>/<id>` of the session that a file belongs to."""
    parts = path.split("/")
    return "/".join(parts[1:3] if parts[0] == settings.WORK_DIR else sessions.day_and_id(parts[-1]))


# Writing ------------------------------------------------------------------------------------------


def write(root: str, project_dir: str, groups: Iterable[dict[str, bytes]], now: float, name: str = "") -> str:
    """Write one new archive of the sessions' files, or replace `name`; its name, "" when there is nothing to write."""
    directory = folder(root, project_dir)
    files.ensure_dir(directory)
    temporary = os.path.join(directory, ".sessions.%d.%x%s" % (os.getpid(), time.time_ns(), settings.TEMP_SUFFIX))
    try:
        prints = _pack(temporary, groups, now)
        if not prints:
            return ""
        if {path: hexdigest(data) for path, data in members(temporary)} != prints:
            raise OSError(errno.EIO, "cannot read back what was written; nothing was deleted", directory)
        name = name or _free_name(directory, now)
        files.move(temporary, os.path.join(directory, name + ENDING))
        return name
    finally:
        files.remove(temporary)


def _pack(path: str, groups: Iterable[dict[str, bytes]], now: float) -> dict[str, str]:
    """The digests of what was packed, by path; the file is on disk."""
    prints = {}
    with os.fdopen(os.open(path, files.O_CREATE, settings.FILE_MODE), "wb") as raw:
        with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=_LEVEL) as archive:
            for group in groups:
                for member, data in group.items():
                    info = tarfile.TarInfo(member)
                    info.size, info.mode, info.mtime = len(data), settings.FILE_MODE, max(0, int(now))
                    archive.addfile(info, io.BytesIO(data))
                    prints[member] = hexdigest(data)
        raw.flush()
        os.fsync(raw.fileno())
    return prints


def _free_name(directory: str, now: float) -> str:
    stem = name = "sessions-" + clock.stamp(clock.iso(now))
    number = 1
    while os.path.lexists(os.path.join(directory, name + ENDING)):
        number += 1
        name = "%s-%d" % (stem, number)
    return name


def rewrite(root: str, project_dir: str, change: Callable[[Archived], dict[str, bytes]], now: float) -> None:
    """Replace the files of every archived session by what `change` returns; {} drops the session.

    The caller holds the lock. Unreadable, after all others, for a damaged archive."""
    troubles: list[OSError] = []
    for name in names(root, project_dir):
        try:
            if all(change(session) == session.files for session in load(root, project_dir, name)):
                continue
            if not write(root, project_dir, map(change, load(root, project_dir, name)), now, name):
                files.erase(os.path.join(folder(root, project_dir), name + ENDING))
        except files.Unreadable as error:
            troubles.append(error)
        files.erase(os.path.join(folder(root, project_dir), name + _OLD_INDEX))
    for trouble in troubles:
        raise files.Unreadable(errno.EINVAL, _DAMAGED, trouble.filename)
