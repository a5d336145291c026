"""What a crash left behind: sessions whose process is gone.

A dead session is recorded from its transcript and becomes ABANDONED with the evidence, until it speaks again.
"""

from __future__ import annotations

import os

from ..base import clock, files, health, settings
from ..base.config import Config
from ..base.typing import Any
from ..project import Context
from . import life, sessions


def sweep(context: Context, claude_id: str, process: dict[str, Any], now: float, config: Config) -> None:
    """Sweep at the start of session `claude_id`, run by `process`."""
    for marker in sessions.live_markers(context.project_dir):
        if marker["claude_session"] == claude_id or context.left() <= 0:
            continue
        with health.noted(context.store_root, "recovery"):
            marked, evidence, is_alive = marker["process"], "", life.is_alive(marker["process"])
            if is_alive and marked != process:
                continue
            session = sessions.at_marker(context.project_dir, marker)
            paths = [sessions.marker_path(context.project_dir, marker["claude_session"])]
            if session:
                paths = [os.path.join(session.dir, name) for name in (settings.META_FILE, settings.CAPTURE_FILE)]
                paths.append(str(session.meta.get("transcript") or ""))
            last = max(map(files.modified, paths))
            if marked and marked == process:
                evidence = "its process %s went on as session %s" % (marked["pid"], sessions.safe_id(claude_id)[:8])
            elif is_alive is False:
                evidence = "its process %s is gone" % marked["pid"]
            elif is_alive is None and now - last > config["stale_after_hours"] * 3600:
                evidence = "no sign of life since %s" % clock.iso(last)
            if evidence:
                _abandon(context, marker, evidence, clock.iso(last))


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
            life.close(project_dir, session)
        files.remove(sessions.marker_path(project_dir, claude_id))
        lock.discard()
