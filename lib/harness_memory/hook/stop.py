"""Stop: a turn ended. Its work is recorded, and the record is complete until the next prompt."""

from __future__ import annotations

from ..base import clock, settings
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run


def handle(run: Run) -> None:
    context = HookContext(run)
    with context as session:
        ended = max(session.started, clock.iso(run.now))
        context.record(session, {"status": settings.COMPLETED, "ended": ended, "reason": None})
