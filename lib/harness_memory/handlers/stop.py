"""Stop: a turn ended. Its work is archived and the record is complete until the next prompt."""

from __future__ import annotations

from .. import archive, clock, settings
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..runner import Run


def handle(run: Run) -> None:
    scene = Scene(run)
    with scene.lock() as held:
        if not held:
            raise TimeoutError("another hook of this session held its lock; the next run archives this turn")
        session = scene.session()
        scene.refresh(session)
        place = scene.place()
        gathered = archive.gather(place, session, message=run.event.last_message, title=run.event.title, now=run.now)
        session.meta.update(status=settings.COMPLETED, ended=max(session.started, clock.iso(run.now)), reason=None)
        session.save()
        archive.publish(place, session, gathered)
