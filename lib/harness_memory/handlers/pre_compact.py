"""PreCompact: archive the conversation before the client compresses it."""

from __future__ import annotations

from .. import archive
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..runner import Run


def handle(run: Run) -> None:
    scene = Scene(run)
    with scene.lock() as held:
        if held:
            session = scene.session()
            scene.refresh(session)
            place = scene.place()
            gathered = archive.gather(place, session, title=run.event.title)
            session.save()
            archive.publish(place, session, gathered)
