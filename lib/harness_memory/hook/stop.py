"""Stop: a turn ended. Its work is recorded, and the record is complete until the next prompt."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..session import record as records
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .runner import Run


def handle(run: Run) -> None:
    context = HookContext(run)
    with context as session:
        ended = max(session.started, clock.iso(run.now))
        record(context, session, {"status": settings.COMPLETED, "ended": ended, "reason": None})


def record(context: HookContext, session: Session, facts: dict[str, Any], *, is_over: bool = False) -> bool:
    """Bring the record up to date, with `facts` in META, then what is derived from it; whether it is whole."""
    event = context.run.event
    if session.is_new:  # its start was missed
        context.activate(session)
    session.meta.update(facts, transcript=event.transcript_path or session.meta.get("transcript"))
    now, message, title = context.run.now if event.name == "Stop" else 0.0, event.last_message, event.title
    updated = records.update(context, session, message=message, title=title, now=now, is_over=is_over)
    if updated.is_changed:
        from ..memory import views

        views.refresh(context.project_dir, context.patience(), changed=session.episode_name)
    if updated.state.notes_read:
        from ..notes import shelf

        for each in shelf.shelves(context.store_root, context.project_dir):
            for folder, name in map(os.path.split, updated.state.notes_read):
                if folder == each.folder:
                    each.mark_used(name[: -len(".md")])
    injected = os.path.join(session.dir, settings.INJECTED_FILE)
    if b'"used": ""' in files.read_part(injected, settings.FILE_MAX_BYTES):
        from ..inject import usefulness

        usefulness.settle(session.dir, updated.state, message)
    return updated.is_whole
