"""What SessionStart puts in order before a new session works.

Sessions that died and checkpoints nobody claimed are handed to `recovery`; old episodes, stray
temporary files and stale async tasks go. All within a time budget: what is left undone is found
again next time. On a quiet start there is nothing to do, and little is loaded to find that out.
"""

from __future__ import annotations

import os
import stat
import time

from ..base import clock, health, settings
from ..base import files as store
from ..base.lock import Lock
from ..session import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..base.config import Config
    from ..project.context import Context


_NAME = "housekeeping"  # what its failures are stamped with


def housekeep(place: Context, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    """`claude_id` and `process` are the session that is starting; it is left alone."""
    place.ends = min(place.ends, time.monotonic() + settings.SWEEP_BUDGET_SECONDS)
    with health.noted(place.store_root, _NAME):
        _catch_up(place)
    with health.noted(place.store_root, _NAME):
        _catch_up_notes(place)
    with health.noted(place.store_root, _NAME):
        _doubt_the_clock(place, now)
    with health.noted(place.store_root, _NAME):
        _recover(place, claude_id, process, now, config)
    for duty in (forget_the_old, sweep_strays, sweep_async_tasks):
        if place.left() > 0:
            with health.noted(place.store_root, _NAME):
                duty(place, now, config)


def _catch_up(place: Context) -> None:
    if os.path.isdir(os.path.join(place.project_dir, settings.EPISODES_DIR)):
        from . import views

        views.refresh(place.project_dir, is_full=True, wait_seconds=_patience(place))


def _catch_up_notes(place: Context) -> None:
    """Notes may have been written by hand, or by a process that was killed before it listed them."""
    for home in (place.project_dir, os.path.join(place.store_root, settings.USER_DIR)):
        topics = os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR)
        if store.is_changed_since(topics, store.made(os.path.join(home, settings.NOTES_INDEX_FILE))):
            from ..notes import shelf

            scope = "project" if home == place.project_dir else "user"
            with shelf.Writing(shelf.Shelf(scope, topics, home), _patience(place)):
                pass


def _doubt_the_clock(place: Context, now: float) -> None:
    if store.is_there(os.path.join(place.project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        from ..session import tombstones

        tombstones.note_ahead(place.project_dir, now)


def _recover(place: Context, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    markers = [marker for marker in sessions.live_markers(place.project_dir) if marker["claude_session"] != claude_id]
    files = [name for folder in place.folders for name in store.names(folder)]
    if not markers and not any(name.startswith(settings.CHECKPOINT_PREFIX) for name in files):
        return
    from ..session import sweep

    changed = sweep.sweep(place, claude_id, process, now, config)
    if changed:
        from . import views

        views.refresh(place.project_dir, changed=changed, wait_seconds=_patience(place))


def forget_the_old(place: Context, now: float, config: Config) -> None:
    """Delete episodes beyond the number kept, and those older than the days kept."""
    directory = os.path.join(place.project_dir, settings.EPISODES_DIR)
    try:
        listed = os.listdir(store.inside(directory))
    except OSError:
        return
    most, days = config["retention_episodes"], now - config["retention_days"] * 86400
    oldest = settings.EPISODE_PREFIX + clock.stamp(clock.iso(days))
    if len(listed) <= most and (not listed or min(listed) >= oldest):
        return  # the usual case, told without sorting ten thousand names
    store.remove_temporaries(directory, now - settings.STRAY_FILE_SECONDS)
    names = sorted(name for name in listed if sessions.is_episode_name(name))
    days = _reckoned(names, now) - config["retention_days"] * settings.DAY_SECONDS
    oldest = settings.EPISODE_PREFIX + clock.stamp(clock.iso(days))
    # What a clock dated before our time may be of yesterday: it goes last.
    names.sort(key=lambda name: (not _is_dated(name), name))
    excess = _longest_over(place.project_dir, names, len(names) - most)
    # A session that began long ago may have been at work yesterday.
    aged = [name for name in names if name < oldest and _is_dated(name) and name not in excess]
    aged = [name for name in aged if 0 < store.modified(os.path.join(directory, name)) < days]
    if excess or aged:
        from . import views

        for name in (*excess, *aged):
            store.remove(os.path.join(directory, name))
        views.refresh(place.project_dir, wait_seconds=_patience(place))


def _longest_over(project_dir: str, names: list[str], count: int) -> list[str]:
    """So many of the episodes, which come by their start, that ended first.

    To find a few only a few are looked at: those that began before the last of them ended.
    """
    if not 0 < count <= settings.REBUILD_ABOVE_MARKS:
        return names[: max(0, count)]
    from ..session import episode

    found: list[tuple[str, str]] = []
    for name in names:
        started = clock.unstamp(name[len(settings.EPISODE_PREFIX) :])
        if len(found) == count and (started > found[-1][0] or not _is_dated(name)):
            break
        value = episode.load(project_dir, name)
        found = sorted([*found, (value["ended"] if value else started, name)])[:count]
    return [name for _, name in found]


def _reckoned(names: list[str], now: float, more: list[str] | None = None) -> float:
    from . import age

    return age.reckoned([*(sessions.day_and_id(name)[0] for name in names), *(more or ())], now)


def _is_dated(name: str) -> bool:
    return name >= settings.EPISODE_PREFIX + settings.FIRST_DAY


def sweep_strays(place: Context, now: float, config: Config) -> None:
    """Remove temporary files of killed writers, and lock files of sessions that ended."""
    project, state = place.project_dir, os.path.join(place.project_dir, settings.STATE_DIR)
    live = os.path.join(state, settings.LIVE_DIR)
    health = os.path.join(place.store_root, settings.HEALTH_DIR)
    for directory in (
        place.store_root,
        project,
        os.path.join(project, settings.PROFILES_DIR),
        os.path.join(project, settings.LEARNING_DIR, settings.TOPICS_DIR),
        os.path.join(project, settings.ARCHIVE_DIR, settings.NOTES_ARCHIVE_DIR),
        os.path.join(place.store_root, settings.ARCHIVE_DIR, os.path.basename(project)),
        os.path.join(place.store_root, settings.GUARD_DIR, settings.ALLOWED_DIR),
        os.path.join(place.store_root, settings.USER_DIR),
        os.path.join(place.store_root, settings.USER_DIR, settings.LEARNING_DIR, settings.TOPICS_DIR),
        state,
        live,
        os.path.join(state, settings.PROGRESS_DIR),
        os.path.join(state, settings.THREADS_DIR),
        os.path.join(state, settings.RECALL_DIR),
        os.path.join(health, settings.FAILURES_DIR),
        *_recent_sessions(project),
    ):
        store.remove_temporaries(directory, now - settings.STRAY_FILE_SECONDS)
    for name in store.names(live):
        path = os.path.join(live, name)
        is_lock = name.endswith(settings.LOCK_SUFFIX)
        if (
            is_lock
            and not os.path.exists(path[: -len(settings.LOCK_SUFFIX)] + ".json")
            and abs(now - store.modified(path)) > settings.STRAY_FILE_SECONDS
        ):
            lock = Lock(path, 0)
            with lock as held:
                if held:
                    lock.discard()


def _recent_sessions(project_dir: str) -> list[str]:
    """The directories of the last sessions, with their artifacts: whoever was killed there was so lately."""
    work = os.path.join(project_dir, settings.WORK_DIR)
    found: list[str] = []
    for day in reversed(store.names(work)):
        found += reversed(store.folders(os.path.join(work, day)))
        if len(found) >= settings.SESSIONS_SWEPT:
            break
    kept = found[: settings.SESSIONS_SWEPT]
    return kept + [os.path.join(path, settings.ARTIFACTS_DIR) for path in kept]


def sweep_async_tasks(place: Context, now: float, config: Config) -> None:
    days = config["async_task_days"] * settings.DAY_SECONDS
    found = {}
    for folder in place.folders:
        directory = os.path.join(folder, settings.ASYNC_TASKS_DIR)
        paths = [os.path.join(directory, name) for name in store.names(directory) if not os.path.islink(directory)]
        found.update({path: store.modified(path) for path in paths if path.endswith(".json") and _is_plain(path)})
    if not any(written < now - days for written in found.values()):
        return
    episodes = store.names(os.path.join(place.project_dir, settings.EPISODES_DIR))
    now = _reckoned(episodes, now, [clock.iso(written)[:10] for written in found.values()])
    for path, written in found.items():
        if written < now - days:
            store.remove(path)


def _patience(place: Context) -> float:
    return min(settings.LOCK_WAIT_SECONDS, max(0.0, place.left() / 4))


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
