"""Stop: a turn ended. Its work is recorded, and the record is complete until the next prompt."""

from __future__ import annotations

from ..base import clock, settings
from ..session import record
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run


def handle(run: Run) -> None:
    context, event = HookContext(run), run.event
    with context as session:
        context.resume(session)
        gathered = record.gather(context, session, message=event.last_message, title=event.title, now=run.now)
        ended = max(session.started, clock.iso(run.now))
        session.meta.update(status=settings.COMPLETED, ended=ended, reason=None)
        session.save()
        context.publish(session, gathered, event.last_message)
