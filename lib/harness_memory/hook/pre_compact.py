"""PreCompact: archive the conversation before the client compresses it, and say what its summary should keep."""

from __future__ import annotations

from ..session import record
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run

KEEP = (
    "Keep in the summary: the user's last request in their own words, open todos, every file changed and why, "
    "decisions with their reasons, and commands that failed with what worked instead."
)


def handle(run: Run) -> str:
    scene = Scene(run)
    with scene as session:
        scene.refresh(session)
        gathered = record.gather(scene.place(), session, title=run.event.title)
        session.save()
        scene.publish(session, gathered)
    return KEEP
