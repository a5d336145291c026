"""What a crash left behind: sessions whose process is gone, and checkpoints without an owner.

A dead session is recorded from its transcript and becomes ABANDONED with the evidence; when it speaks again it
is ACTIVE again. It takes the checkpoint files that no living session can have written; those that are left get a
record of their own.
"""

from __future__ import annotations

import os

from ..base import clock, files, health, settings
from ..project import Context
from . import liveness, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..base.config import Config


def sweep(context: Context, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    """Sweep at the start of session `claude_id`, run by `process`."""
    for marker in sessions.live_markers(context.project_dir):
        if marker["claude_session"] == claude_id or context.left() <= 0:
            continue
        with health.noted(context.store_root, "recovery"):
            marked, evidence, session = marker["process"], "", sessions.at_marker(context.project_dir, marker)
            paths = [sessions.marker_path(context.project_dir, marker["claude_session"])]
            if session:
                paths = [os.path.join(session.dir, name) for name in (settings.META_FILE, settings.CAPTURE_FILE)]
                paths.append(str(session.meta.get("transcript") or ""))
            is_alive, last = liveness.is_alive(marked), max(map(files.modified, paths))
            if marked and marked == process:
                evidence = "its process %s went on as session %s" % (marked["pid"], sessions.safe_id(claude_id)[:8])
            elif is_alive is False:
                evidence = "its process %s is gone" % marked["pid"]
            elif is_alive is None and now - last > config["stale_after_hours"] * 3600:
                evidence = "no sign of life since %s" % clock.iso(last)
            if evidence:
                _abandon(context, marker, evidence, clock.iso(last))
    for path in context.checkpoints():
        with health.noted(context.store_root, "recovery"):
            _adopt(context, path, now)


def _abandon(context: Context, marker: dict[str, Any], evidence: str, ended: str) -> None:
    from . import record

    project_dir, claude_id = context.project_dir, marker["claude_session"]
    lock = sessions.lock(project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held or sessions.read_marker(project_dir, claude_id) != marker:
            return  # another start sweeps it, or it speaks again
        session = sessions.at_marker(project_dir, marker)
        if session:
            if session.meta["status"] == settings.ACTIVE:
                session.meta.update(status=settings.ABANDONED, reason=evidence, ended=ended)
            # It may have worked in another work tree of the project.
            root = str(marker.get("root") or context.root)
            there = Context(context.store_root, project_dir, root, context.remote, context.ends)
            if not record.update(there, session, is_over=True).is_whole:
                return
            sessions.close(project_dir, session)
        files.remove(sessions.marker_path(project_dir, claude_id))
        lock.discard()


def _adopt(context: Context, path: str, now: float) -> None:
    """Archive a checkpoint file, or a claim, that no living session will take, to its owner or a record of its own."""
    from ..base.text import hexdigest
    from . import checkpoint, record, tombstones

    name, written, project_dir = os.path.basename(path), min(files.modified(path), now), context.project_dir
    short_id = checkpoint.claim_owner(path)
    owner = sessions.find_short(project_dir, short_id) if short_id else None
    if owner:
        path = ""  # it has its claim already
        if sessions.read_marker(project_dir, owner.claude_id):
            return
    else:
        is_free = bool(short_id) or name.endswith(settings.CHECKPOINT_SUFFIX)
        if not is_free or not written or checkpoint.may_be_of_living(context, written):
            return
        named = checkpoint.named_session(path)
        if named and written < tombstones.since(project_dir, named, written):
            files.remove(path)
            return
        orphan = "orphan-" + hexdigest("%s %d" % (name.partition(".json")[0], written * 1e9))[:12]
        owner = sessions.open_session(project_dir, orphan, written, "")
    with sessions.lock(project_dir, owner.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS) as held:
        if not held or (path and not checkpoint.claim(path, owner.id, context.store_root)):
            return
        if owner.is_new:
            owner.meta.update(status=settings.ABANDONED, ended=owner.started)
            owner.meta["reason"] = "a checkpoint was found without its session"
            owner.save(durable=True)  # owns the claim from here on
        record.update(context, owner, is_over=owner.meta["status"] != settings.ACTIVE)
