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
from . import archive, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .archive import Archived

    Reasons = dict[str, str]  # short id to why the session stays; "" when it does not

# What becomes of a session, in a plan and in a restore.
KEEP, THIN, RETIRE, WHOLE = "keep", "thin", "retire", "whole"
RESTORED, PRESENT, WENT_ON, FORGOTTEN = "restored", "present", "went on", "forgotten"

_LOCK_SECONDS = 5.0
_STATE_FILES = {settings.META_FILE, settings.CAPTURE_FILE}
_ARTIFACTS = {settings.ARTIFACTS_DIR, settings.LOCAL_DIR}


class Aged:
    """A session by its directory and episode name (either may be ""), and when it last did something.

    `last_seen` lies in the future for a running session, and for one without a readable record or `claude_id`."""

    __slots__ = ("claude_id", "directory", "episode", "id", "last_seen")

    def __init__(self, directory: str, episode_name: str, claude_id: str, last_seen: float = 0.0) -> None:
        self.directory = directory
        self.episode = episode_name
        self.claude_id = claude_id
        self.last_seen = last_seen
        self.id = os.path.basename(directory) if directory else sessions.day_and_id(episode_name)[1]

    def removable(self, kind: str) -> set[str]:
        """The names in the directory that go when the session is thinned or retired."""
        names = {*files.names(self.directory)} if self.directory else set()
        return names & _ARTIFACTS if kind == THIN else names - _STATE_FILES if self.episode else names


def plan(project_dir: str, now: float, whole_days: float, days: float) -> dict[str, list[Aged]]:
    """What `prune` would do: sessions that stay, that lose their artifacts, and that are archived or deleted."""
    result: dict[str, list[Aged]] = {KEEP: [], THIN: [], RETIRE: []}
    for aged in _every(project_dir):
        age = (now - aged.last_seen) / settings.DAY_SECONDS
        kind = RETIRE if age > days else THIN if age > whole_days else KEEP
        if aged.directory:
            result[kind if kind != KEEP and aged.removable(kind) else KEEP].append(aged)
    return result


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Aged], int]:
    """Sessions that last did something before an instant, and how many stay because their thread is open."""
    open_threads = [thread for thread in threads.load(project_dir) if thread.is_open and not with_open]
    still_open = {session for thread in open_threads for session in thread.sessions}
    old = [aged for aged in _every(project_dir) if aged.last_seen < instant]
    closed = [aged for aged in old if aged.id not in still_open]
    return closed, len(old) - len(closed)


def _every(project_dir: str) -> Iterator[Aged]:
    names = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    for directory in sessions.all_directories(project_dir):
        day, short_id = directory.split(os.sep)[-2:]
        yield _aged(directory, names.pop((day, short_id), ""))
    for name in names.values():
        value = episode.load(project_dir, name)
        if value:
            yield Aged("", name, str(value.get("session_id") or ""), clock.parse(value["ended"]) or 0.0)


def _aged(directory: str, episode_name: str) -> Aged:
    session = sessions.load(directory)
    if session is None:
        return Aged(directory, episode_name, "", float("inf"))
    last_seen = max(clock.parse(session.meta.get("ended")) or 0.0, clock.parse(session.started) or 0.0)
    if session.meta["status"] == settings.ACTIVE:  # it died, and no session has started since
        last_seen = max(last_seen, files.modified(os.path.join(directory, settings.META_FILE)))
    if sessions.read_marker(sessions.project_of(directory), session.claude_id):
        last_seen = float("inf")  # it is running
    return Aged(directory, episode_name, session.claude_id, last_seen)


# Removing -----------------------------------------------------------------------------------------


def archive_sessions(
    root: str, project_dir: str, retired: list[Aged], kind: str, now: float, done: Callable[[], None]
) -> tuple[str, Reasons]:
    """Archive sessions, then remove them as `remove` does; the archive. The caller holds the archive's lock."""
    unread: Reasons = {}

    def contents(aged: Aged) -> dict[str, bytes]:
        paths = [os.path.join(folder, name) for folder, _, names in os.walk(aged.directory) for name in sorted(names)]
        paths += [episode.path_of(project_dir, aged.episode)] if aged.episode else []
        paths = [path for path in paths if not path.endswith(settings.TEMP_SUFFIX)]
        names = {path: os.path.relpath(path, project_dir).replace(os.sep, "/") for path in paths}
        try:
            for path, name in names.items():
                if not archive.owner(name):
                    raise OSError(errno.EINVAL, "a file of this name cannot be restored", path)
            return {name: files.read(path) or b"" for path, name in names.items()}
        except OSError as error:
            unread[aged.id] = "%s: %s" % (os.path.basename(error.filename or aged.directory), error.strerror)
            return {}

    name = archive.write(root, project_dir, map(contents, retired), now)
    reasons = remove(project_dir, [aged for aged in retired if aged.id not in unread], kind, done)
    return name, {**unread, **reasons}


def remove(project_dir: str, selected: list[Aged], kind: str, done: Callable[[], None]) -> Reasons:
    """THIN takes artifacts, RETIRE all that a resumed session does not need, WHOLE also the episode."""
    reasons = {}
    for aged in selected:
        done()
        reasons[aged.id] = "it went on"
        lock = sessions.lock(project_dir, aged.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            current = _aged(aged.directory, aged.episode) if aged.directory else aged
            is_running = not held or sessions.read_marker(project_dir, aged.claude_id)
            if is_running or current.last_seen != aged.last_seen:
                continue
            for name in aged.removable(kind) if kind != WHOLE else ():
                files.remove_tree(os.path.join(aged.directory, name))
                files.remove(os.path.join(aged.directory, name))
            if aged.directory and (kind == WHOLE or (kind == RETIRE and not aged.episode)):
                files.remove_tree(aged.directory, last=settings.META_FILE)
            if aged.episode and kind == WHOLE:
                files.remove(episode.path_of(project_dir, aged.episode))
            lock.discard()
        files.remove_if_empty(os.path.dirname(aged.directory))
        reasons[aged.id] = ""
    views.refresh(project_dir)
    return reasons


# Restoring ----------------------------------------------------------------------------------------


def restore(root: str, project_dir: str, is_wanted: Callable[[Archived], bool]) -> dict[str, str]:
    """Bring sessions back from the archives, which stay; what became of each, by short id.

    The newest copy of a session wins, older ones fill gaps: a killed run may have archived it in two parts."""
    tombstones.refuse_if_damaged(project_dir)
    outcome: dict[str, str] = {}
    with archive.lock(root, project_dir):
        forgotten = tombstones.forgotten_sessions(project_dir)
        for name in reversed(archive.names(root, project_dir)):
            with contextlib.suppress(files.Unreadable):  # what can be read before the damage is restored
                for session in filter(is_wanted, archive.load(root, project_dir, name)):
                    is_forgotten = tombstones.covers(forgotten, session.session_id, max(session.started, session.ended))
                    kind = FORGOTTEN if is_forgotten else _put_back(project_dir, session)
                    outcome[session.id] = kind if kind != PRESENT else outcome.get(session.id, kind)
    views.refresh(project_dir)
    return outcome


def _put_back(project_dir: str, session: Archived) -> str:
    kind = PRESENT
    lock = sessions.lock(project_dir, session.session_id, _LOCK_SECONDS)
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
    return bool(sessions.read_marker(project_dir, session.session_id) or starts - {session.started})
