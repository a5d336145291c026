"""SessionEnd: the last record; what was local to the session is removed."""

from __future__ import annotations

from ..base import clock, settings
from ..session import record
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run


def handle(run: Run) -> None:
    context = HookContext(run)
    with context as session:
        context.resume(session)
        gathered = record.gather(context, session, is_over=True)
        ended = max(session.started, clock.iso(run.now))
        session.meta.update(status=settings.COMPLETED, ended=ended, reason=run.event.reason or None)
        session.save(durable=True)
        context.publish(session, gathered)
        if gathered.is_whole:  # else its marker stays, and the next SessionStart finishes this
            context.close(session)
