"""What a crash left behind: nothing that reached the disk is lost.

Sessions whose process died are archived from their transcripts and marked ABANDONED with the
evidence; a session that speaks again afterwards is ACTIVE again. Checkpoints that nobody claimed
find the session that was at work when they were written.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, health, settings
from ..project.context import Context
from . import checkpoint, liveness, record, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..base.config import Config
    from .sessions import Session


_NAME = "recovery"  # what its failures are stamped with


def bury_the_dead(
    place: Context, markers: list[dict[str, Any]], claude_id: str, process: dict[str, Any], now: float, config: Config
) -> None:
    """Of the sessions that `markers` call living; `claude_id` and `process` are the one that is starting."""
    for marker in markers:
        if place.left() > 0:
            evidence = _evidence(place, marker, claude_id, process, now, config)
            if evidence:
                with health.noted(place.store_root, _NAME):
                    _bury(place, marker, evidence)


def adopt_checkpoints(place: Context, claude_id: str, now: float) -> None:
    """Archive checkpoint files that no living session can have written."""
    for folder in place.folders:
        for name in files.names(folder):
            path = os.path.join(folder, name)
            if not name.startswith(settings.CHECKPOINT_PREFIX) or place.left() <= 0:
                continue
            if checkpoint.is_stale_claim(name, now):
                with health.noted(place.store_root, _NAME):
                    _finish_stale(place, path, claude_id, now)
            elif name.endswith(settings.CHECKPOINT_SUFFIX):
                with health.noted(place.store_root, _NAME):
                    _adopt(place, path, claude_id, now)


def _evidence(
    place: Context, marker: dict[str, Any], claude_id: str, process: dict[str, Any], now: float, config: Config
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


def _last_sign(place: Context, marker: dict[str, Any]) -> float:
    session = sessions.at_marker(place.project_dir, marker)
    if not session:
        return files.modified(sessions.marker_path(place.project_dir, marker["claude_session"]))
    paths = [os.path.join(session.dir, settings.META_FILE), os.path.join(session.dir, settings.CAPTURE_FILE)]
    return max(files.modified(path) for path in (*paths, str(session.meta.get("transcript") or "")))


def _bury(place: Context, marker: dict[str, Any], evidence: str) -> None:
    claude_id = marker["claude_session"]
    lock = sessions.lock(place.project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held or sessions.read_marker(place.project_dir, claude_id) != marker:
            return  # somebody is at it, or it has come back to life
        session = sessions.at_marker(place.project_dir, marker)
        if session:
            seen = _last_sign(place, marker)
            there = _place_of(place, marker)
            if _is_out_of_reach(session, seen):
                return
            gathered = record.gather(there, session, is_over=True)
            if not gathered.is_whole:
                return
            if session.meta["status"] == settings.ACTIVE:
                session.meta.update(status=settings.ABANDONED, reason=evidence, ended=clock.iso(seen))
            session.save(durable=True)
            record.publish(there, session, gathered)
            sessions.close(place.project_dir, session)
        sessions.unmark_live(place.project_dir, claude_id)
        lock.discard()


def _is_out_of_reach(session: Session, seen: float) -> bool:
    """Whether its transcript is there and closed to us: by tomorrow that may be put right."""
    path = str(session.meta.get("transcript") or "")
    try:
        os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
    except PermissionError:
        return time.time() - seen < settings.DAY_SECONDS
    except (OSError, ValueError):
        pass
    return False


def _place_of(place: Context, marker: dict[str, Any]) -> Context:
    """The dead session may have worked in another work tree of the project."""
    root = marker.get("root")
    root = root if isinstance(root, str) and os.path.isabs(root) else place.root
    return Context(place.store_root, place.project_dir, root, place.remote, place.ends)


def _finish_stale(place: Context, path: str, claude_id: str, now: float) -> None:
    """A claim that a killed process left goes to its session, and to another if there is no record of that one."""
    short_id = checkpoint.claim_owner(os.path.basename(path))
    owner = sessions.find_short(place.project_dir, short_id)
    if owner:
        _finish_claim(place, owner)
    elif not any(sessions.safe_id(id).startswith(short_id) for id in _living(place)):
        _hand_over(place, path, _written(path, now), claude_id)


def _living(place: Context) -> dict[str, Session | None]:
    markers = sessions.live_markers(place.project_dir)
    return {marker["claude_session"]: sessions.at_marker(place.project_dir, marker) for marker in markers}


def _written(path: str, now: float) -> float:
    """0 when it is gone, or nobody can tell: there will be another start."""
    return min(files.modified(path), now)


def _adopt(place: Context, path: str, claude_id: str, now: float) -> None:
    written = _written(path, now)
    for id, session in _living(place).items():
        began = (clock.parse(session.started) or 0.0) if session else 0.0
        is_just_born = id == claude_id and now - began <= 1  # and not resumed, or compacted in mid-turn
        if written >= began and not is_just_born:
            return  # may be a living session's: its own Stop will take it
    _hand_over(place, path, written, claude_id)


def _hand_over(place: Context, path: str, written: float, claude_id: str) -> None:
    """Give a checkpoint to the session that was at work when it was written, or to one made for it."""
    if not written:
        return
    owner = _at_work(place, written, claude_id)
    gone = _forgotten_owner(place, path, written, is_orphan=owner is None)
    if gone:
        claimed = checkpoint.claim(path, gone, place.store_root)
        if claimed:
            files.remove(claimed)
        return
    if owner is None:
        owner = sessions.open_session(place.project_dir, "orphan-%s" % checkpoint.fingerprint(path), written, "")
    _finish_claim(place, owner, path)


def _forgotten_owner(place: Context, path: str, written: float, *, is_orphan: bool) -> str:
    """The session, forgotten since, that wrote it: by name, or because no other was at work; "" when there is none."""
    if not files.is_there(os.path.join(place.project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        return ""
    from . import tombstones

    since = tombstones.load(place.project_dir)["sessions"]
    gone = [sessions.safe_id(id) for id, at in since.items() if written < (clock.parse(at) or 0.0)]
    named = checkpoint.claim_owner(os.path.basename(path)) or str(checkpoint.peek(path).get("session_id") or "")
    return next((id for id in gone if id.startswith(named) and (named or is_orphan)), "")


def _at_work(place: Context, written: float, claude_id: str) -> Session | None:
    """The session, other than the one that is starting, that was at work when a file was written:
    the last one begun before, unless it had clearly ended."""
    directories = sessions.all_directories(place.project_dir)[-settings.ADOPTION_SESSIONS :]
    known = [session for session in map(sessions.load, directories) if session]
    for session in sorted(known, key=lambda each: each.started, reverse=True):
        if session.meta["claude_session"] == claude_id or (clock.parse(session.started) or 0.0) > written:
            continue
        ended = clock.parse(session.meta.get("ended"))
        if ended is None or written <= ended + settings.CLAIM_STALE_SECONDS:
            return session
    return None


def _finish_claim(place: Context, session: Session, path: str = "") -> None:
    """Archive to `session` its leftover claims, and `path` if given."""
    claude_id = str(session.meta["claude_session"])
    with sessions.lock(place.project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS) as held:
        if not held:
            return
        session = sessions.load(session.dir, is_needed=True) or session  # as it is now that nobody else writes it
        if path and not checkpoint.claim(path, session.id, place.store_root):
            return
        if session.is_new:
            reason = "a checkpoint was found without its session"
            session.meta.update(status=settings.ABANDONED, ended=session.started, reason=reason)
            session.save(durable=True)  # by which the claim is known to be this one's
        gathered = record.gather(place, session, is_over=session.meta["status"] != settings.ACTIVE)
        session.save(durable=True)
        record.publish(place, session, gathered)
