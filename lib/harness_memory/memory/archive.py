"""Archived sessions: compressed tar files outside the live tree, which are their own index.

    <root>/archive/<project id>/sessions-<instant>.tar.gz   files of sessions, by path below the project

An archive is on disk and read back before the live files are deleted. The files of a session are adjacent.
Version 0.1 wrote an index (`*.jsonl`) beside each archive, which is ignored.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import itertools
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..base import clock, files, jsontext, settings, shape, yaml
from ..base.lock import Lock
from ..base.text import hexdigest
from ..session import episode, sessions

ENDING = ".tar.gz"

_LEVEL = 4  # half the time of the default, a few percent larger
_BUSY = "another command is working on the archives. Run this again"
_DAMAGED = "is damaged and may hold other sessions too. Restore those, then delete it; everything else is done"


class Archived:
    """A session in an archive: its files by path, and what its META.yaml and its episode say."""

    def __init__(self, archive: str, contents: dict[str, bytes]) -> None:
        self.archive = os.path.basename(archive)[: -len(ENDING)]
        self.files = contents
        meta: dict[str, Any] = {}
        self.episode: dict[str, Any] = {}
        for path, data in contents.items():
            with contextlib.suppress(ValueError):
                if path.startswith(settings.EPISODES_DIR):
                    value = jsontext.loads(data)
                    self.episode = {} if shape.problem(value, episode.SPEC) else value
                elif path.endswith("/" + settings.META_FILE):
                    meta = yaml.load(data.decode("utf-8"))
        self.id = owner(next(iter(contents))).partition("/")[2]
        self.claude_id = str(meta.get("claude_session") or self.episode.get("session_id") or self.id)
        self.started = str(meta.get("started") or self.episode.get("started") or "")
        self.ended = str(meta.get("ended") or self.episode.get("ended") or self.started)
        self.episode_name = sessions.episode_name(self.started, self.id)
        self.headline = episode.headline(self.episode) if self.episode else str(meta.get("summary") or "")

    def brief(self) -> dict[str, str]:
        about = {key: getattr(self, key) for key in ("archive", "id", "started", "ended", "headline")}
        return {**about, "session_id": self.claude_id}


def folder(project_dir: str) -> str:
    return os.path.join(os.path.dirname(project_dir), settings.ARCHIVE_DIR, os.path.basename(project_dir))


def lock(project_dir: str) -> contextlib.AbstractContextManager[object]:
    """Held by a command that archives, restores or forgets; nothing is created where nothing is remembered."""
    if not os.path.isdir(project_dir) and not os.path.isdir(folder(project_dir)):
        return contextlib.nullcontext()
    return Lock(os.path.join(project_dir, settings.STATE_DIR, "archive.lock"), 2.0, _BUSY)


def paths(project_dir: str) -> list[str]:
    """The archives of a project, oldest first."""
    stems = [name[: -len(ENDING)] for name in files.names(folder(project_dir)) if name.endswith(ENDING)]
    return [os.path.join(folder(project_dir), stem + ENDING) for stem in sorted(stems)]


def load(path: str) -> Iterator[Archived]:
    """The sessions in an archive; Unreadable, after those that can be read, when it is damaged."""
    for _, group in itertools.groupby(_contents(path), lambda content: owner(content[0])):
        yield Archived(path, dict(group))


def _contents(path: str) -> Iterator[tuple[str, bytes]]:
    with os.fdopen(files.open_plain(path), "rb") as raw:
        try:
            with gzip.GzipFile(fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isreg() and owner(member.name) else None
                    if content:
                        yield member.name, content.read(settings.FILE_MAX_BYTES)
                while packed.read(1024 * 1024):
                    pass  # tarfile takes a garbled header for the end: only the checksum shows the damage
        except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise files.Unreadable(errno.EINVAL, "is damaged (%s)" % error, path) from None


def load_all(project_dir: str, troubles: list[OSError]) -> Iterator[Archived]:
    """The sessions in every archive, oldest archive first; damaged archives are added to `troubles`."""
    for path in paths(project_dir):
        try:
            yield from load(path)
        except files.Unreadable as error:
            troubles.append(error)


def owner(path: str) -> str:
    """`<day>/<id>` of the session that a file belongs to; "" for a path that no archive may bring back."""
    kind, *parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        return ""
    if kind == settings.EPISODES_DIR:
        is_episode = len(parts) == 1 and sessions.is_episode_name(parts[0])
        return "/".join(sessions.day_and_id(parts[0])) if is_episode else ""
    is_work = kind == settings.WORK_DIR and len(parts) > 2
    return "/".join(parts[:2]) if is_work and clock.is_day(parts[0]) and sessions.safe_id(parts[1]) == parts[1] else ""


def write(project_dir: str, groups: Iterable[dict[str, bytes]], now: float, path: str = "") -> str:
    """Write a new archive of the sessions' files, or replace that at `path`; its path, "" when there is nothing."""
    stem = os.path.join(folder(project_dir), "sessions-" + clock.stamp(clock.iso(now)))
    names = (stem + ("-%d" % number if number > 1 else "") + ENDING for number in itertools.count(1))
    path = path or next(name for name in names if not files.exists(name))
    packed, digests = io.BytesIO(), {}
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=_LEVEL) as archive:
        for name, data in (content for group in groups for content in group.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(data), settings.FILE_MODE, max(0, int(now))
            archive.addfile(info, io.BytesIO(data))
            digests[name] = hexdigest(data)
    if not digests:
        return ""
    files.write(path, packed.getvalue(), durable=True)
    if {name: hexdigest(data) for name, data in _contents(path)} != digests:
        raise OSError(errno.EIO, "cannot read back what was written; nothing was deleted", path)
    return path


def rewrite(project_dir: str, change: Callable[[Archived], dict[str, bytes]], now: float) -> None:
    """Replace the files of every archived session by what `change` returns; {} drops the session.

    The caller holds the lock. Unreadable, after all others, for a damaged archive."""
    damaged = []
    for path in paths(project_dir):
        try:
            is_changed = any(change(session) != session.files for session in load(path))
            if is_changed and not write(project_dir, map(change, load(path)), now, path):
                files.erase(path)
        except files.Unreadable:
            damaged.append(path)
        files.erase(path[: -len(ENDING)] + ".jsonl")
    if damaged:
        raise files.Unreadable(errno.EINVAL, _DAMAGED, damaged[0])
