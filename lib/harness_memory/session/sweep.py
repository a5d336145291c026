"""What a crash left behind: sessions whose process is gone, and checkpoints without an owner.

A dead session is recorded from its transcript and becomes ABANDONED with the evidence; when it speaks again it
is ACTIVE again. A checkpoint file that no living session can have written goes to the session that was
running when it was written.
"""

from __future__ import annotations

import os

from ..base import clock, files, health, settings
from ..base.sha256 import hexdigest
from ..project.context import Context
from . import checkpoint, liveness, record, sessions, tombstones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..base.config import Config
    from .sessions import Session

_EVENT = "recovery"  # the name of its failures


def sweep(context: Context, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    """Sweep at the start of session `claude_id`, run by `process`."""
    for marker in sessions.live_markers(context.project_dir):
        if marker["claude_session"] != claude_id and context.left() > 0:
            with health.noted(context.store_root, _EVENT):
                evidence = _evidence(context, marker, claude_id, process, now, config)
                if evidence:
                    _abandon(context, marker, evidence)
    for path in checkpoint.waiting(context):
        if context.left() > 0:
            with health.noted(context.store_root, _EVENT):
                _adopt(context, path, claude_id, now)


def _evidence(
    context: Context, marker: dict[str, Any], claude_id: str, process: dict[str, Any], now: float, config: Config
) -> str:
    """Why a session without a SessionEnd is over; "" when it may be alive."""
    known = marker["process"]
    if liveness.is_same(known, process):
        return "its process %s went on as session %s" % (known["pid"], sessions.safe_id(claude_id)[:8])
    is_alive = liveness.is_alive(known)
    if is_alive is False:
        return "its process %s is gone" % known["pid"]
    seen = now if is_alive else _last_sign(context, marker)
    is_stale = now - seen > config["stale_after_hours"] * 3600
    return "no sign of life since %s" % clock.iso(seen) if is_stale else ""


def _last_sign(context: Context, marker: dict[str, Any]) -> float:
    session = sessions.at_marker(context.project_dir, marker)
    if not session:
        return files.modified(sessions.marker_path(context.project_dir, marker["claude_session"]))
    paths = [os.path.join(session.dir, settings.META_FILE), os.path.join(session.dir, settings.CAPTURE_FILE)]
    return max(files.modified(path) for path in (*paths, str(session.meta.get("transcript") or "")))


def _abandon(context: Context, marker: dict[str, Any], evidence: str) -> None:
    project_dir, claude_id = context.project_dir, marker["claude_session"]
    lock = sessions.lock(project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held or sessions.read_marker(project_dir, claude_id) != marker:
            return  # another start sweeps it, or it speaks again
        session = sessions.at_marker(project_dir, marker)
        if session:
            if session.meta["status"] == settings.ACTIVE:
                ended = clock.iso(_last_sign(context, marker))
                session.meta.update(status=settings.ABANDONED, reason=evidence, ended=ended)
            # It may have worked in another work tree of the project.
            root = str(marker.get("root") or context.root)
            there = Context(context.store_root, project_dir, root, context.remote, context.ends)
            if not record.update(there, session, is_over=True).is_whole:
                return
            sessions.close(project_dir, session)
        sessions.unmark_live(project_dir, claude_id)
        lock.discard()


def _adopt(context: Context, path: str, claude_id: str, now: float) -> None:
    """Archive a checkpoint file, or a claim, that no living session will take."""
    name, written, project_dir = os.path.basename(path), min(files.modified(path), now), context.project_dir
    short_id, markers = checkpoint.claim_owner(name), sessions.live_markers(project_dir)
    if short_id:
        if any(sessions.safe_id(marker["claude_session"]).startswith(short_id) for marker in markers):
            return
        owner = sessions.find_short(project_dir, short_id)
        if owner:
            _record(context, owner, "")
            return
    elif not name.endswith(settings.CHECKPOINT_SUFFIX):
        return
    else:
        for marker in markers:  # one that may have written the file takes it at its own Stop
            session = sessions.at_marker(project_dir, marker)
            began = (clock.parse(session.started) or 0.0) if session else 0.0
            is_just_begun = marker["claude_session"] == claude_id and now - began <= 1  # not resumed, not compacted
            if written >= began and not is_just_begun:
                return
    named = (files.load_json(path, {}, settings.CHECKPOINT_MAX_BYTES) or {}).get("session_id")
    if isinstance(named, str) and written < tombstones.since(project_dir, named, written):
        files.remove(path)
    elif written:
        orphan = "orphan-" + hexdigest("%s %d" % (name.partition(".json")[0], written * 1e9))[:12]
        owner = _running_at(context, written, claude_id)
        _record(context, owner or sessions.open_session(project_dir, orphan, written, ""), path)


def _running_at(context: Context, written: float, claude_id: str) -> Session | None:
    """The last session begun before an instant and not clearly ended, other than the one that is starting."""
    directories = sessions.all_directories(context.project_dir)[-settings.ADOPTION_SESSIONS :]
    loaded = [session for session in map(sessions.load, directories) if session and session.claude_id != claude_id]
    for session in sorted(loaded, key=lambda each: each.started, reverse=True):
        ended = clock.parse(session.meta.get("ended"))
        is_begun = (clock.parse(session.started) or 0.0) <= written
        if is_begun and (ended is None or written <= ended + settings.CLAIM_STALE_SECONDS):
            return session
    return None


def _record(context: Context, session: Session, path: str) -> None:
    """Archive to `session` its leftover claims, and `path` unless it is ""."""
    with sessions.lock(context.project_dir, session.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS) as held:
        if not held:
            return
        session = sessions.load(session.dir) or session
        if path and not checkpoint.claim(path, session.id, context.store_root):
            return
        if session.is_new:
            reason = "a checkpoint was found without its session"
            session.meta.update(status=settings.ABANDONED, ended=session.started, reason=reason)
            session.save(durable=True)  # owns the claim from here on
        record.update(context, session, is_over=session.meta["status"] != settings.ACTIVE)
