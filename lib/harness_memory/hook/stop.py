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
        place = scene.place()
        gathered = record.gather(place, session, message=run.event.last_message, title=run.event.title, now=run.now)
        ended = max(session.started, clock.iso(run.now))
        session.meta.update(status=settings.COMPLETED, ended=ended, reason=None)
        session.save()
        record.publish(place, session, gathered)
