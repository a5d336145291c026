"""SessionEnd: the last record; what was local to the session is removed."""

from __future__ import annotations

from ..base import clock, settings
from .context import HookContext
from .stop import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run


def handle(run: Run) -> None:
    context = HookContext(run)
    with context as session:
        ended = max(session.started, clock.iso(run.now))
        facts = {"status": settings.COMPLETED, "ended": ended, "reason": run.event.reason or None}
        if record(context, session, facts, is_over=True):
            context.close(session)  # else its marker stays, and the next SessionStart finishes this
