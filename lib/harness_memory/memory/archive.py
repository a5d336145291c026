"""How long sessions stay: whole for a week, without artifacts for a month, then archived or deleted.

An archive is a compressed tar file outside the live tree, which is its own index:

    <root>/archive/<project id>/sessions-<instant>-<hash>.tar.gz   files of sessions, by path below the project
    <root>/archive/<project id>/session-<start>-<id>.json        an episode that retention moved there

An archive is on disk and read back before the live files are deleted, META.yaml last. The files of a session are
adjacent. A session whose episode stays keeps META.yaml and capture.json: it is the same when it is resumed.
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
from typing import IO, Dict

from ..base import clock, files, jsontext, settings, shape, yaml
from ..base.lock import Lock
from ..base.text import hexdigest
from ..base.typing import Fields
from ..session import episode, sessions, tombstones
from . import records, threads, views
from .housekeeping import archive_folder
from .records import Record

# What becomes of a session, in a plan and in a restore.
KEEP, THIN, RETIRE, WHOLE = "keep", "thin", "retire", "whole"
RESTORED, PRESENT, WENT_ON, FORGOTTEN = "restored", "present", "went on", "forgotten"

Contents = Dict[str, bytes]  # of files, by path
_BUSY = "another command is working on the archives. Run this again"
_DAMAGED = "is damaged and may hold other sessions too. Restore those, then delete it; everything else is done"


class Archived:
    """A session in an archive: its files by path, and what its META.yaml and its episode say."""

    def __init__(self, archive: str, contents: Contents) -> None:
        self.path, self.files = archive, contents
        self.archive = os.path.basename(archive).partition(".")[0]
        meta: Fields = {}
        self.episode: Fields = {}
        for path, data in contents.items():
            with contextlib.suppress(ValueError):
                if path.startswith(settings.EPISODES_DIR):
                    value = jsontext.loads(data)
                    self.episode = {} if shape.problem(value, episode.SPEC) else value
                elif path.endswith("/" + settings.META_FILE):
                    meta = yaml.load(data.decode("utf-8"))
        self.owner = owner(next(iter(contents)))
        self.id = self.owner.partition("/")[2]
        self.claude_id = str(meta.get("claude_session") or self.episode.get("session_id") or self.id)
        self.started = str(meta.get("started") or self.episode.get("started") or "")
        self.ended = str(meta.get("ended") or self.episode.get("ended") or self.started)
        self.episode_name = sessions.episode_name(self.started, self.id)
        self.headline = episode.headline(self.episode) if self.episode else str(meta.get("summary") or "")

    def brief(self) -> dict[str, str]:
        about = {key: getattr(self, key) for key in ("archive", "id", "started", "ended", "headline")}
        return {**about, "session_id": self.claude_id}


def lock(project_dir: str) -> contextlib.AbstractContextManager[object]:
    """Held by a command that archives, restores or forgets; nothing is created where nothing is remembered."""
    if not os.path.isdir(project_dir) and not os.path.isdir(archive_folder(project_dir)):
        return contextlib.nullcontext()
    return Lock(os.path.join(project_dir, settings.STATE_DIR, "archive.lock"), 2.0, _BUSY)


def paths(project_dir: str) -> list[str]:
    """The archives of a project, then the episodes that retention moved there, each oldest first."""
    folder = archive_folder(project_dir)
    names = files.names(folder)
    archives = [name for name in names if name.endswith(settings.ARCHIVE_SUFFIX)]
    return [os.path.join(folder, name) for name in (*archives, *filter(sessions.is_episode_name, names))]


def load(path: str) -> Iterator[Archived]:
    """The sessions in an archive; Unreadable, after those that can be read, when it is damaged."""
    if not path.endswith(settings.ARCHIVE_SUFFIX):
        yield Archived(path, {settings.EPISODES_DIR + "/" + os.path.basename(path): files.read(path) or b""})
        return
    with os.fdopen(files.open_plain(path), "rb") as raw:
        for _, group in itertools.groupby(unpack(raw, path, owner), lambda content: owner(content[0])):
            yield Archived(path, dict(group))


def pack(out: IO[bytes], contents: Iterable[tuple[str, bytes]], now: float) -> None:
    """Write a compressed tar file."""
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=4) as packed:  # half the time of 9
        for name, data in contents:
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = len(data), settings.FILE_MODE, max(0, int(now))
            packed.addfile(info, io.BytesIO(data))


def unpack(raw: IO[bytes], path: str, is_wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """The contents of a compressed tar file; Unreadable, after those that can be read, when it is damaged."""
    try:
        with gzip.GzipFile(fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isreg() and is_wanted(member.name) else None
                if content and member.size <= settings.ARCHIVE_MAX_BYTES:
                    yield member.name, content.read()
            while packed.read(1024 * 1024):
                pass  # tarfile takes a garbled header for the end: only the checksum shows the damage
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise files.Unreadable(errno.EINVAL, "is not an archive, or is damaged (%s)" % error, path) from None


def walk(path: str, skipped: tuple[str, ...] = ()) -> Iterator[str]:
    """Every file below a directory but for `skipped` folders in it; OSError when one could not be listed for now."""
    folders = files.folders(path)
    yield from (each for each in (os.path.join(path, name) for name in files.names(path)) if each not in folders)
    for folder in folders:
        yield from walk(folder, skipped) if os.path.basename(folder) not in skipped else ()


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


def _write(path: str, contents: Contents, now: float) -> None:
    """Replace what is at a path of `paths`; it goes when nothing is left."""
    packed = io.BytesIO()
    if not contents:
        files.erase(path)
    elif not path.endswith(settings.ARCHIVE_SUFFIX):
        files.write(path, next(iter(contents.values())), durable=True)
    else:
        pack(packed, contents.items(), now)
        files.write(path, packed.getvalue(), durable=True)
        if {name: data for session in load(path) for name, data in session.files.items()} != contents:
            raise OSError(errno.EIO, "cannot read back what was written; nothing was deleted", path)


def rewrite(project_dir: str, change: Callable[[Archived], Contents], now: float) -> None:
    """Replace the files of every archived session by what `change` returns; {} drops the session.

    The caller holds the lock. Unreadable, after all others, for a damaged archive."""
    damaged, folder = [], archive_folder(project_dir)
    for name in [name for name in files.names(folder) if name.endswith(".jsonl")]:
        files.erase(os.path.join(folder, name))  # an index, which version 0.1 wrote
    for path in paths(project_dir):
        try:
            pairs = [(session.files, change(session)) for session in load(path)]
            if any(before != after for before, after in pairs):
                _write(path, {name: data for _, after in pairs for name, data in after.items()}, now)
        except files.Unreadable:
            damaged.append(path)
    if damaged:
        raise files.Unreadable(errno.EINVAL, _DAMAGED, damaged[0])


def plan(project_dir: str, now: float, whole_days: float, days: float) -> dict[str, list[Record]]:
    """What `prune` would do: sessions that stay, that lose their artifacts, and that are archived or deleted."""
    result: dict[str, list[Record]] = {KEEP: [], THIN: [], RETIRE: []}
    for record in [record for record in records.load_all(project_dir) if record.meta]:
        age = (now - _last_seen(record)) / settings.DAY_SECONDS
        kind = RETIRE if age > days else THIN if age > whole_days else KEEP
        result[kind if kind == KEEP or _leaving(record, kind) else KEEP].append(record)
    return result


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Record], int]:
    """Sessions that last did something before an instant, and how many stay because their thread is open."""
    still_open = {id for thread in threads.load(project_dir) if thread.is_open for id in thread.sessions}
    old = [record for record in records.load_all(project_dir) if _last_seen(record) < instant]
    closed = [record for record in old if with_open or record.id not in still_open]
    return closed, len(old) - len(closed)


def _last_seen(record: Record) -> float:
    """When a session last did something; in the future for one that runs, or whose META cannot be read."""
    is_unread = record.directory and not record.meta
    return float("inf") if is_unread or sessions.read_marker(record.project_dir, record.claude_id) else record.seen


def _leaving(record: Record, kind: str) -> list[str]:
    """The paths that go, META.yaml behind the others: artifacts, all that a resumed session does not need, or all."""
    names = {*files.names(record.directory)}
    if kind == THIN:
        names &= {settings.ARTIFACTS_DIR, settings.LOCAL_DIR}
    elif kind == RETIRE and record.episode_name:
        names -= {settings.META_FILE, settings.CAPTURE_FILE}
    listed = sorted(names, key=lambda name: name == settings.META_FILE)
    paths = [os.path.join(record.directory, name) for name in listed]
    return [*paths, record.episode_path] if kind == WHOLE and record.episode_path else paths


def retire(project_dir: str, selected: list[Record], kind: str, now: float, to_archive: bool = True) -> list[str]:
    """Archive sessions, then remove what `kind` says; the archives that were made.

    The caller holds the archive's lock."""
    archived: Contents = {}
    made = []
    for record in selected if to_archive and kind != THIN else ():
        for path in (*walk(record.directory), *filter(None, [record.episode_path])):
            archived[os.path.relpath(path, project_dir).replace(os.sep, "/")] = files.read(path) or b""
    if archived:  # another machine may archive others at the same time
        name = "sessions-%s-%s" % (clock.stamp(clock.iso(now)), hexdigest("\n".join(archived))[:8])
        made = [os.path.join(archive_folder(project_dir), name + settings.ARCHIVE_SUFFIX)]
        _write(made[0], archived, now)
    for record in selected:
        for path in _leaving(record, kind):
            files.remove_tree(path)
        files.remove_if_empty(record.directory)
        files.remove_if_empty(os.path.dirname(record.directory))
    views.refresh(project_dir)
    return made


def restore(project_dir: str, selected: list[Archived]) -> dict[str, str]:
    """Bring sessions back from the archives, whose lock the caller holds; what became of each, by short id."""
    # The newest copy of a session comes first, older ones fill gaps: a killed run may have archived it in two parts.
    starts = {record.id: record.started for record in records.load_all(project_dir)}
    outcome: dict[str, str] = {}
    for session in selected:
        kind, is_other = outcome.get(session.id, PRESENT), starts.get(session.id, session.started) != session.started
        forgotten = (files.load_json(tombstones.path(project_dir), tombstones.SPEC) or {}).get("sessions") or {}
        if max(session.started, session.ended) < str(forgotten.get(session.claude_id, "")):
            kind = FORGOTTEN
        elif is_other or sessions.read_marker(project_dir, session.claude_id):
            kind = WENT_ON
        # The episode comes last: a session that has one is whole.
        for path in sorted(session.files, key=lambda path: path.startswith(settings.EPISODES_DIR)):
            target, data = os.path.join(project_dir, *path.split("/")), session.files[path]
            if kind in (PRESENT, RESTORED) and not files.read_part(target, 1) and not files.is_same(target, data):
                files.write(target, data)
                kind = RESTORED
        outcome[session.id] = kind
    views.refresh(project_dir)
    return outcome
