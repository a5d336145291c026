"""How long sessions stay: whole for a week, without artifacts for a month, then archived or deleted.

A run may be stopped anywhere: an archive is on disk before the live files go, and META.yaml goes last. A session
whose episode stays keeps META.yaml and capture.json, so that it is the same session when it is resumed.
"""

from __future__ import annotations

import errno
import os
from functools import partial

from ..base import clock, files, settings
from ..base.sha256 import hexdigest
from ..session import episode, sessions, tombstones
from . import archive, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .archive import Archived

_LOCK_SECONDS = 5.0
_RESUMED = "it was resumed in between"
_STATE_FILES = (settings.META_FILE, settings.CAPTURE_FILE)


class Aged:
    """A session's directory and episode name (either may be ""), and when the session last did something."""

    __slots__ = ("claude_id", "directory", "episode", "id", "last_seen")

    def __init__(self, directory: str, episode_name: str, claude_id: str, last_seen: float) -> None:
        self.directory = directory
        self.episode = episode_name
        self.claude_id = claude_id
        self.last_seen = last_seen
        self.id = os.path.basename(directory) if directory else sessions.day_and_id(episode_name)[1]


class Plan:
    """What `prune` would do: `thinned` lose their artifacts, `retired` are archived or deleted."""

    __slots__ = ("kept", "retired", "thinned", "unreadable")

    def __init__(self) -> None:
        self.kept = 0
        self.thinned: list[Aged] = []
        self.retired: list[Aged] = []
        self.unreadable: list[str] = []


class Outcome:
    """The new archive, if any, how many sessions were archived or deleted, and why others stay."""

    __slots__ = ("archive", "left", "number")

    def __init__(self) -> None:
        self.archive = ""
        self.left: dict[str, str] = {}
        self.number = 0

    def note(self, aged: Aged, reason: str) -> None:
        if reason:
            self.left[aged.id] = reason
        else:
            self.number += 1


def plan(project_dir: str, now: float, whole_days: float, days: float) -> Plan:
    made = Plan()
    running = _running(project_dir)
    whole_days = min(whole_days, days)
    episodes = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    for directory in sessions.all_directories(project_dir):
        day, short_id = directory.split(os.sep)[-2:]
        aged = _aged(directory, episodes.get((day, short_id), ""))
        age = (now - aged.last_seen) / settings.DAY_SECONDS if aged else 0.0
        if aged is None:
            made.unreadable.append(directory)
        elif aged.claude_id in running or age <= whole_days or not _removable(aged):
            made.kept += 1
        elif age > days:
            made.retired.append(aged)
        elif _has_artifacts(directory):
            made.thinned.append(aged)
        else:
            made.kept += 1
    return made


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Aged], int]:
    """Sessions that last did something before an instant, and how many stay because their thread is open."""
    running = _running(project_dir)
    open_threads = [thread for thread in threads.load(project_dir) if thread.is_open and not with_open]
    kept = {session for thread in open_threads for session in thread.sessions}
    old = [aged for aged in _everything(project_dir) if aged.last_seen < instant and aged.claude_id not in running]
    chosen = [aged for aged in old if aged.id not in kept]
    return chosen, len(old) - len(chosen)


def thin(project_dir: str, aged: Aged) -> str:
    """Delete the artifacts of a session; why not, "" when it is done."""

    def act() -> None:
        for name in (settings.ARTIFACTS_DIR, settings.LOCAL_DIR):
            files.remove_tree(os.path.join(aged.directory, name))

    return _undisturbed(project_dir, aged, act)


def delete(project_dir: str, retired: list[Aged], done: Callable[[], None]) -> Outcome:
    outcome = Outcome()
    for aged in retired:
        outcome.note(aged, _undisturbed(project_dir, aged, partial(_remove, project_dir, aged, with_episode=False)))
        done()
    return outcome


def archive_sessions(
    root: str, project_dir: str, retired: list[Aged], now: float, done: Callable[[], None], *, with_episodes: bool
) -> Outcome:
    """Archive sessions, then remove those that are still as they were packed. The caller holds the archive's lock."""
    outcome = Outcome()
    packed: list[tuple[Aged, dict[str, str]]] = []
    groups = _groups(project_dir, retired, packed, outcome)
    outcome.archive = archive.write(root, project_dir, groups, now)
    for aged, prints in packed:
        remove = partial(_remove, project_dir, aged, with_episode=with_episodes)
        outcome.note(aged, _undisturbed(project_dir, aged, remove, prints))
        done()
    if with_episodes:
        views.refresh(project_dir, changed=[aged.episode for aged, _ in packed if aged.episode])
    return outcome


def _groups(
    project_dir: str, retired: list[Aged], packed: list[tuple[Aged, dict[str, str]]], outcome: Outcome
) -> Iterator[dict[str, bytes]]:
    forgotten = tombstones.forgotten_sessions(project_dir)
    for aged in retired:
        try:
            group = _contents(project_dir, aged)
        except OSError as error:
            outcome.note(aged, "%s: %s" % (os.path.basename(error.filename or aged.directory), error.strerror))
            continue
        if tombstones.covers(forgotten, aged.claude_id, clock.iso(aged.last_seen)):
            outcome.note(aged, "it was forgotten")
        else:
            packed.append((aged, _prints(group)))
            yield group


def _contents(project_dir: str, aged: Aged) -> dict[str, bytes]:
    """A session's files by path; OSError for one that could not be restored: that session stays."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(aged.directory) for name in sorted(names)]
    paths += [os.path.join(project_dir, settings.EPISODES_DIR, aged.episode)] if aged.episode else []
    contents = {}
    for path in paths:
        name = os.path.relpath(path, project_dir).replace(os.sep, "/")
        if not archive.is_ours(name):
            raise OSError(errno.EINVAL, "a file of this name cannot be restored", path)
        data = files.read(path)
        if data is not None and not name.endswith(settings.TEMP_SUFFIX):
            contents[name] = data
    return contents


def _prints(group: dict[str, bytes]) -> dict[str, str]:
    return {path: hexdigest(data) for path, data in group.items()}


def _remove(project_dir: str, aged: Aged, *, with_episode: bool) -> None:
    """The directory, and the episode too; or all but the state files of a session whose episode stays."""
    if aged.directory and (with_episode or not aged.episode):
        files.remove_tree(aged.directory, last=settings.META_FILE)
    elif aged.directory:
        for path in _removable(aged):
            files.remove_tree(path)
            files.remove(path)
    if with_episode and aged.episode:
        files.remove(os.path.join(project_dir, settings.EPISODES_DIR, aged.episode))


def _removable(aged: Aged) -> list[str]:
    kept = _STATE_FILES if aged.episode else ()
    return [os.path.join(aged.directory, name) for name in files.names(aged.directory) if name not in kept]


def _undisturbed(project_dir: str, aged: Aged, act: Callable[[], None], prints: dict[str, str] | None = None) -> str:
    """Act while no hook works on the session, if it did not go on; why not, "" when it is done."""
    lock = sessions.lock(project_dir, aged.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held or sessions.read_marker(project_dir, aged.claude_id):
            return "it is running"
        now = _aged(aged.directory, aged.episode) if aged.directory else aged
        if now is None or now.last_seen != aged.last_seen:
            return _RESUMED
        if prints is not None and _prints(_contents(project_dir, aged)) != prints:
            return _RESUMED
        act()
        lock.discard()
    if aged.directory:
        files.remove_if_empty(os.path.dirname(aged.directory))
    return ""


def _aged(directory: str, episode_name: str) -> Aged | None:
    session = sessions.load(directory)
    if session is None:
        return None
    last_seen = max(clock.parse(session.meta.get("ended")) or 0.0, clock.parse(session.started) or 0.0)
    if session.meta["status"] == settings.ACTIVE:  # it died, and no session has started since
        last_seen = max(last_seen, files.modified(os.path.join(directory, settings.META_FILE)))
    return Aged(directory, episode_name, session.claude_id, last_seen)


def _everything(project_dir: str) -> Iterator[Aged]:
    names = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    for directory in sessions.all_directories(project_dir):
        day, short_id = directory.split(os.sep)[-2:]
        aged = _aged(directory, names.pop((day, short_id), ""))
        if aged:
            yield aged
    for name in names.values():
        value = episode.load(project_dir, name)
        if value:
            yield Aged("", name, str(value.get("session_id") or ""), clock.parse(value["ended"]) or 0.0)


def _running(project_dir: str) -> set[str]:
    return {str(marker["claude_session"]) for marker in sessions.live_markers(project_dir)}


def _has_artifacts(directory: str) -> bool:
    return any(files.exists(os.path.join(directory, name)) for name in (settings.ARTIFACTS_DIR, settings.LOCAL_DIR))


# Restoring ----------------------------------------------------------------------------------------


class Restored:
    """Ids of sessions that came back, that went on here since, and that were forgotten; unreadable archives."""

    __slots__ = ("forgotten", "refused", "restored", "troubles")

    def __init__(self) -> None:
        self.troubles: list[OSError] = []
        self.restored: dict[str, None] = {}
        self.refused: dict[str, None] = {}
        self.forgotten: dict[str, None] = {}


def restore(root: str, project_dir: str, is_wanted: Callable[[Archived], bool]) -> Restored:
    """Bring sessions back from the archives, which stay; the newest copy of a session wins, older ones fill gaps."""
    tombstones.refuse_if_damaged(project_dir)
    outcome = Restored()
    with archive.lock(root, project_dir):
        forgotten = tombstones.forgotten_sessions(project_dir)
        for name in reversed(archive.names(root, project_dir)):
            try:
                for session in filter(is_wanted, archive.load(root, project_dir, name)):
                    last = max(session.started, session.ended)
                    if tombstones.covers(forgotten, session.session_id, last):
                        outcome.forgotten[session.id] = None
                    else:
                        _put_back(project_dir, session, outcome)
            except files.Unreadable as error:
                outcome.troubles.append(error)
    views.refresh(project_dir)
    return outcome


def _put_back(project_dir: str, session: Archived, outcome: Restored) -> None:
    lock = sessions.lock(project_dir, session.session_id, _LOCK_SECONDS)
    with lock as held:
        if not held or _went_on(project_dir, session):
            outcome.refused[session.id] = None
            return
        # The episode comes last: a session that has one is whole.
        for path in sorted(session.files, key=lambda path: (path.startswith(settings.EPISODES_DIR), path)):
            target = os.path.join(project_dir, *path.split("/"))
            if not files.read_head(target, 1) and not files.is_same(target, session.files[path]):
                files.write(target, session.files[path])
                outcome.restored[session.id] = None
        lock.discard()


def _went_on(project_dir: str, session: Archived) -> bool:
    """Whether a session of this id runs here, or began here at another time."""
    if sessions.read_marker(project_dir, session.session_id):
        return True
    known = [path for path in sessions.all_directories(project_dir) if os.path.basename(path) == session.id]
    starts = [other.started for other in map(sessions.load, known) if other]
    for name in episode.names(project_dir):
        if sessions.day_and_id(name)[1] == session.id:
            starts.append(clock.unstamp(name[len(settings.EPISODE_PREFIX) :]))
    return any(started != session.started for started in starts)
