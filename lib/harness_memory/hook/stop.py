"""Stop, PreCompact and SessionEnd: the session's record is complete until the next prompt, and so are the views."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.typing import Any
from ..memory import views
from ..session import record
from ..session.capture import ANSWERED, FAILED, INTERRUPTED
from .runner import Run


def handle(run: Run) -> str | dict[str, Any] | None:
    event, step = run.event, ""
    is_over, is_pause = event.name == "SessionEnd", event.name == "PreCompact"
    with run as session:
        if session.is_new:  # its start was missed
            run.activate(session)
        session.meta["transcript"] = event.transcript_path or session.meta.get("transcript")
        if not is_pause:
            ended = max(session.started, clock.iso(run.now))
            session.meta.update(status=settings.COMPLETED, ended=ended, reason=event.label("reason") or None)
        message = event.text("last_assistant_message", settings.TEXT_FIELD_MAX_CHARS)
        now = run.now if event.name == "Stop" else 0.0
        state = record.update(run, session, message=message, now=now, is_over=is_over)
        is_cut_off = state.turn in (INTERRUPTED, FAILED)
        if not is_pause and (is_cut_off or (is_over and state.turn != ANSWERED and not state.checkpoints)):
            session.meta.update(status=settings.ABANDONED, reason=state.turn if is_cut_off else "unanswered")
            session.save()
        if state.is_changed:
            views.refresh(run.project_dir, run.patience(), session.episode_name, state.episode, run.ends - 1.5)
        record.mark_used(os.path.join(session.dir, settings.INJECTED_FILE), state, message)
        if event.name == "Stop" and files.exists(os.path.join(run.store_root, settings.TRIGGERS_MARK)):
            from . import trigger

            step = trigger.check_steps(run, session, state)
        if is_over and state.is_whole:
            from ..session import life

            life.close(run.project_dir, session)  # else its marker stays, and the next SessionStart finishes this
            run.lock.discard()
    if is_pause:
        with open(__file__[: -len("stop.py")] + "pre_compact.txt", encoding="utf-8") as file:
            return file.read() % settings.SUMMARY_BLOCK
    return {"decision": "block", "reason": step} if step else None
