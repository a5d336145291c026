"""UserPromptSubmit: the session is ACTIVE again, and what was asked is on disk before the work begins."""

from __future__ import annotations

from .. import capture
from .. import session as sessions
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..runner import Run


def handle(run: Run) -> None:
    scene = Scene(run)
    with scene.lock() as held:
        if not held:
            return
        session = scene.session()
        scene.activate(session, scene.process())
        state = sessions.load_capture(session)
        if capture.told(state, run.event.prompt_id, run.event.prompt):
            sessions.save_capture(session, state)
