"""SessionEnd: the last archive; what was local to the session goes."""

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
        gathered = record.gather(scene.place(), session, is_over=True)
        ended = max(session.started, clock.iso(run.now))
        session.meta.update(status=settings.COMPLETED, ended=ended, reason=run.event.reason or None)
        session.save(durable=True)
        scene.publish(session, gathered)
        if gathered.is_whole:  # else its marker stays, and the next SessionStart finishes this
            scene.close(session)
