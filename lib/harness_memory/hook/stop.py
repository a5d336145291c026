"""Stop: a turn ended. Its work is archived and the record is complete until the next prompt."""

from __future__ import annotations

from ..base import clock, settings
from ..session import record
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run


def handle(run: Run) -> None:
    scene = Scene(run)
    with scene as session:
        scene.refresh(session)
        message, title = run.event.last_message, run.event.title
        gathered = record.gather(scene.place(), session, message=message, title=title, now=run.now)
        ended = max(session.started, clock.iso(run.now))
        session.meta.update(status=settings.COMPLETED, ended=ended, reason=None)
        session.save()
        scene.publish(session, gathered, message)
