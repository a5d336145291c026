"""What SessionStart puts in order before a new session works: nothing that reached the disk is lost.

Sessions whose process died are archived from their transcripts and marked ABANDONED with the
evidence; checkpoints nobody claimed find their session; old episodes, stray temporary files and
stale async tasks go. All within a time budget: what is left undone is found again next time.
"""

from __future__ import annotations

import os
import stat
import time

from . import archive, checkpoint, clock, episode, liveness, settings, store, views
from . import session as sessions
from .lock import Lock
from .place import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .config import Config
    from .session import Session


def housekeep(place: Place, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    """`claude_id` and `process` are the session that is starting; it is left alone."""
    place.ends = min(place.ends, time.monotonic() + settings.SWEEP_BUDGET_SECONDS)
    views.catch_up(place.project_dir, _patience(place))
    bury_the_dead(place, claude_id, process, now, config)
    adopt_checkpoints(place, claude_id, now)
    forget_the_old(place, now, config)
    sweep_strays(place, now)
    sweep_async_tasks(place, now, config)


def bury_the_dead(place: Place, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    for marker in sessions.live_markers(place.project_dir):
        if marker["claude_session"] != claude_id and place.left() > 0:
            evidence = _evidence(place, marker, claude_id, process, now, config)
            if evidence:
                _bury(place, marker, evidence)


def adopt_checkpoints(place: Place, claude_id: str, now: float) -> None:
    """Archive checkpoint files that no living session can have written."""
    for folder in place.folders:
        for name in store.names(folder):
            path = os.path.join(folder, name)
            if not name.startswith(settings.CHECKPOINT_PREFIX) or place.left() <= 0:
                continue
            if checkpoint.claim_owner(name):
                if checkpoint.is_stale_claim(name, now):
                    _finish_claim(place, sessions.find_short(place.project_dir, checkpoint.claim_owner(name)))
            elif name.endswith(settings.CHECKPOINT_SUFFIX):
                _adopt(place, path, claude_id, now)


def forget_the_old(place: Place, now: float, config: Config) -> None:
    """Delete episodes beyond the number kept, and those older than the days kept."""
    names = episode.names(place.project_dir)
    excess = names[: max(0, len(names) - int(config["retention_episodes"]))]
    days = now - config["retention_days"] * 86400
    oldest = settings.EPISODE_PREFIX + clock.stamp(clock.iso(days))
    aged = [name for name in names[len(excess) :] if name < oldest]
    directory = os.path.join(place.project_dir, settings.EPISODES_DIR)
    # A session that began long ago may have been at work yesterday.
    aged = [name for name in aged if _modified(os.path.join(directory, name)) < days]
    if excess or aged:
        views.withdraw(place.project_dir, [*excess, *aged], _patience(place))


def sweep_strays(place: Place, now: float) -> None:
    """Remove temporary files of killed writers, and lock files of sessions that ended."""
    project, state = place.project_dir, os.path.join(place.project_dir, settings.STATE_DIR)
    live = os.path.join(state, settings.LIVE_DIR)
    health = os.path.join(place.store_root, settings.HEALTH_DIR)
    for directory in (
        place.store_root,
        project,
        os.path.join(project, settings.EPISODES_DIR),
        state,
        live,
        os.path.join(state, settings.DIRTY_DIR),
        os.path.join(state, settings.PROGRESS_DIR),
        os.path.join(health, settings.FAILURES_DIR),
    ):
        remove_temporaries(directory, now - settings.STRAY_FILE_SECONDS)
    for name in store.names(live):
        path = os.path.join(live, name)
        is_lock = name.endswith(settings.LOCK_SUFFIX)
        if (
            is_lock
            and not os.path.exists(path[: -len(settings.LOCK_SUFFIX)] + ".json")
            and _modified(path) < now - settings.STRAY_FILE_SECONDS
        ):
            lock = Lock(path, 0)
            with lock as held:
                if held:
                    lock.discard()


def sweep_async_tasks(place: Place, now: float, config: Config) -> None:
    before = now - config["async_task_days"] * 86400
    for folder in place.folders:
        directory = os.path.join(folder, settings.ASYNC_TASKS_DIR)
        if os.path.islink(directory):
            continue
        for name in store.names(directory):
            path = os.path.join(directory, name)
            if name.endswith(".json") and _is_plain(path) and _modified(path) < before:
                store.remove(path)


def remove_temporaries(directory: str, before: float) -> None:
    for name in store.names(directory):
        path = os.path.join(directory, name)
        if name.startswith(".") and name.endswith(settings.TEMP_SUFFIX) and _modified(path) < before:
            store.remove(path)


def close(place: Place, session: Session) -> None:
    """The session is over: its local scope goes, and what marks it as living."""
    store.remove_tree(os.path.join(session.dir, settings.LOCAL_DIR))
    for directory in (session.dir, session.artifacts):
        remove_temporaries(directory, float("inf"))
    sessions.unmark_live(place.project_dir, str(session.meta["claude_session"]))


def _evidence(
    place: Place, marker: dict[str, Any], claude_id: str, process: dict[str, Any], now: float, config: Config
) -> str:
    """Why a session that never said goodbye is over; "" when it may be alive."""
    known = marker.get("process")
    known = known if isinstance(known, dict) else {}
    if liveness.is_same(known, process):
        return "its process %s went on as session %s" % (known["pid"], sessions.safe_id(claude_id)[:8])
    is_alive = liveness.is_alive(known)
    if is_alive:
        return ""
    if is_alive is False:
        return "its process %s is gone" % known["pid"]
    seen = _last_sign(place, marker)
    if now - seen > config["stale_after_hours"] * 3600:
        return "no sign of life since %s" % clock.iso(seen)
    return ""


def _last_sign(place: Place, marker: dict[str, Any]) -> float:
    session = sessions.at_marker(place.project_dir, marker)
    if not session:
        return 0.0
    paths = [os.path.join(session.dir, settings.META_FILE), os.path.join(session.dir, settings.CAPTURE_FILE)]
    return max(_modified(path) for path in (*paths, str(session.meta.get("transcript") or "")))


def _bury(place: Place, marker: dict[str, Any], evidence: str) -> None:
    claude_id = marker["claude_session"]
    lock = sessions.lock(place.project_dir, claude_id, 0.05)
    with lock as held:
        session = sessions.at_marker(place.project_dir, marker) if held else None
        if not held:
            return
        if session:
            seen = _last_sign(place, marker)
            if not archive.update(_place_of(place, marker), session, is_over=True):
                return
            if session.meta["status"] == settings.ACTIVE:
                session.meta.update(status=settings.ABANDONED, reason=evidence, ended=clock.iso(seen))
            session.save(durable=True)
            close(place, session)
        sessions.unmark_live(place.project_dir, claude_id)
        lock.discard()


def _place_of(place: Place, marker: dict[str, Any]) -> Place:
    """The dead session may have worked in another work tree of the project."""
    root = marker.get("root")
    root = root if isinstance(root, str) and os.path.isabs(root) else place.root
    return Place(place.store_root, place.project_dir, root, place.remote, place.ends)


def _adopt(place: Place, path: str, claude_id: str, now: float) -> None:
    written = _modified(path)
    living = [
        sessions.at_marker(place.project_dir, marker)
        for marker in sessions.live_markers(place.project_dir)
        if marker["claude_session"] != claude_id
    ]
    if any(session is None or written >= (clock.parse(session.started) or 0.0) for session in living) or written >= now:
        return  # may be a living session's: its own Stop will take it
    owner = _last_before(place, written, claude_id)
    if owner is None:
        owner = sessions.open_session(place.project_dir, "orphan-%s" % checkpoint.fingerprint(path), written, "")
    if str(owner.meta["claude_session"]) != claude_id:
        _finish_claim(place, owner, path)


def _last_before(place: Place, written: float, claude_id: str) -> Session | None:
    """The session that was at work when a file was written: the last one begun before, unless
    it had clearly ended."""
    for directory in reversed(sessions.all_directories(place.project_dir)[-settings.ADOPTION_SESSIONS :]):
        session = sessions.load(directory)
        if session and (clock.parse(session.started) or 0.0) <= written:
            ended = clock.parse(session.meta.get("ended"))
            if ended is None or written <= ended + settings.CLAIM_STALE_SECONDS:
                return session
    return None


def _finish_claim(place: Place, session: Session | None, path: str = "") -> None:
    """Archive to `session` its leftover claims, and `path` if given."""
    if session is None:
        return
    claude_id = str(session.meta["claude_session"])
    with sessions.lock(place.project_dir, claude_id, 0.05) as held:
        if not held:
            return
        is_fresh = session.is_new
        checkpoint.collect(
            place.folders, session.artifacts, session.id, lambda found, _: found == path, place.store_root
        )
        archive.update(place, session, is_over=session.meta["status"] != settings.ACTIVE)
        if is_fresh:
            session.meta.update(
                status=settings.ABANDONED, ended=session.started, reason="a checkpoint was found without its session"
            )
        session.save(durable=True)


def _patience(place: Place) -> float:
    return min(settings.LOCK_WAIT_SECONDS, max(0.0, place.left() / 4))


def _modified(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
