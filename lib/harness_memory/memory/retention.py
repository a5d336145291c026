"""How long sessions stay: whole for a week, without artifacts for a month, then archived or deleted.

A run may be stopped anywhere: an archive is on disk before the live files go, and META.yaml goes last. A session
whose episode stays keeps META.yaml and capture.json, so that it is the same session when it is resumed.
"""

from __future__ import annotations

import contextlib
import errno
import os

from ..base import clock, files, settings
from ..session import episode, sessions, tombstones
from . import archive, records, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .archive import Archived
    from .records import Record

    Reasons = dict[str, str]  # short id to why the session stays; "" when it does not

# What becomes of a session, in a plan and in a restore.
KEEP, THIN, RETIRE, WHOLE = "keep", "thin", "retire", "whole"
RESTORED, PRESENT, WENT_ON, FORGOTTEN = "restored", "present", "went on", "forgotten"

_LOCK_SECONDS = 5.0
_STATE_FILES = {settings.META_FILE, settings.CAPTURE_FILE}
_ARTIFACTS = {settings.ARTIFACTS_DIR, settings.LOCAL_DIR}


def plan(project_dir: str, now: float, whole_days: float, days: float) -> dict[str, list[Record]]:
    """What `prune` would do: sessions that stay, that lose their artifacts, and that are archived or deleted."""
    result: dict[str, list[Record]] = {KEEP: [], THIN: [], RETIRE: []}
    for record in records.load_all(project_dir):
        age = (now - _last_seen(record)) / settings.DAY_SECONDS
        kind = RETIRE if age > days else THIN if age > whole_days else KEEP
        if record.session:
            result[kind if kind != KEEP and _removable(record, kind) else KEEP].append(record)
    return result


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Record], int]:
    """Sessions that last did something before an instant, and how many stay because their thread is open."""
    open_threads = [thread for thread in threads.load(project_dir) if thread.is_open and not with_open]
    still_open = {session for thread in open_threads for session in thread.sessions}
    old = [record for record in records.load_all(project_dir) if _last_seen(record) < instant]
    closed = [record for record in old if record.id not in still_open]
    return closed, len(old) - len(closed)


def _last_seen(record: Record) -> float:
    """When a session last did something; in the future for one that runs, or whose META cannot be read."""
    is_unread = record.session is None and record.directory
    return float("inf") if is_unread or sessions.read_marker(record.project_dir, record.claude_id) else record.seen


def _removable(record: Record, kind: str) -> set[str]:
    """The names in its directory that go: a session whose episode stays keeps its state."""
    names = {*files.names(record.directory)}
    return names & _ARTIFACTS if kind == THIN else names - _STATE_FILES if record.episode_name else names


def archive_sessions(
    root: str, project_dir: str, retired: list[Record], kind: str, now: float, done: Callable[[], None]
) -> tuple[str, Reasons]:
    """Archive sessions, then remove them as `remove` does; the archive. The caller holds the archive's lock."""
    unread: Reasons = {}

    def contents(record: Record) -> dict[str, bytes]:
        walk = os.walk(record.directory)
        paths = [os.path.join(folder, name) for folder, _, names in walk for name in sorted(names)]
        paths += [episode.path_of(project_dir, record.episode_name)] if record.episode_name else []
        names = {path: os.path.relpath(path, project_dir).replace(os.sep, "/") for path in paths}
        try:
            for path, name in names.items():
                if not archive.owner(name):
                    raise OSError(errno.EINVAL, "a file of this name cannot be restored", path)
            return {name: files.read(path) or b"" for path, name in names.items()}
        except OSError as error:
            unread[record.id] = "%s: %s" % (os.path.basename(error.filename or record.directory), error.strerror)
            return {}

    name = archive.write(root, project_dir, map(contents, retired), now)
    reasons = remove(project_dir, [record for record in retired if record.id not in unread], kind, done)
    return name, {**unread, **reasons}


def remove(project_dir: str, selected: list[Record], kind: str, done: Callable[[], None]) -> Reasons:
    """THIN takes artifacts, RETIRE all that a resumed session does not need, WHOLE also the episode."""
    reasons = {}
    for record in selected:
        done()
        reasons[record.id] = "it went on"
        lock = sessions.lock(project_dir, record.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            current = sessions.load(record.directory) if record.directory else None
            is_running = not held or sessions.read_marker(project_dir, record.claude_id)
            if is_running or (current.meta if current else {}) != record.meta:
                continue
            if kind == WHOLE or (kind == RETIRE and not record.episode_name):
                files.remove_tree(record.directory, last=settings.META_FILE)
            else:
                for name in _removable(record, kind):
                    files.remove_tree(os.path.join(record.directory, name))
                    files.remove(os.path.join(record.directory, name))
            if kind == WHOLE and record.episode_name:
                files.remove(episode.path_of(project_dir, record.episode_name))
            lock.discard()
        files.remove_if_empty(os.path.dirname(record.directory))
        reasons[record.id] = ""
    views.refresh(project_dir)
    return reasons


def restore(root: str, project_dir: str, is_wanted: Callable[[Archived], bool]) -> dict[str, str]:
    """Bring sessions back from the archives, which stay; what became of each, by short id.

    The newest copy of a session wins, older ones fill gaps: a killed run may have archived it in two parts."""
    tombstones.refuse_if_damaged(project_dir)
    outcome: dict[str, str] = {}
    with archive.lock(root, project_dir):
        for name in reversed(archive.names(root, project_dir)):
            with contextlib.suppress(files.Unreadable):  # what can be read before the damage is restored
                for session in filter(is_wanted, archive.load(root, project_dir, name)):
                    last = max(session.started, session.ended)
                    is_forgotten = tombstones.is_forgotten(project_dir, session.claude_id, last)
                    kind = FORGOTTEN if is_forgotten else _put_back(project_dir, session)
                    outcome[session.id] = kind if kind != PRESENT else outcome.get(session.id, kind)
    views.refresh(project_dir)
    return outcome


def _put_back(project_dir: str, session: Archived) -> str:
    kind = PRESENT
    lock = sessions.lock(project_dir, session.claude_id, _LOCK_SECONDS)
    with lock as held:
        if not held or _went_on(project_dir, session):
            return WENT_ON
        # The episode comes last: a session that has one is whole.
        for path in sorted(session.files, key=lambda path: (path.startswith(settings.EPISODES_DIR), path)):
            target = os.path.join(project_dir, *path.split("/"))
            if not files.read_part(target, 1) and not files.is_same(target, session.files[path]):
                files.write(target, session.files[path])
                kind = RESTORED
        lock.discard()
    return kind


def _went_on(project_dir: str, session: Archived) -> bool:
    """Whether a session of this id runs here, or began here at another time."""
    directories = [path for path in sessions.all_directories(project_dir) if os.path.basename(path) == session.id]
    starts = {other.started for other in map(sessions.load, directories) if other}
    names = [name for name in episode.names(project_dir) if sessions.day_and_id(name)[1] == session.id]
    starts |= {clock.unstamp(name[len(settings.EPISODE_PREFIX) :]) for name in names}
    return bool(sessions.read_marker(project_dir, session.claude_id) or starts - {session.started})
