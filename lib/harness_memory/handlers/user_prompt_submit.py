"""UserPromptSubmit: the session is ACTIVE again, and what was asked is on disk before the work begins."""

from __future__ import annotations

from .. import capture
from .. import session as sessions
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = Scene(run)
    with scene as session:
        marker = scene.marker()
        scene.activate(session, scene.process(marker), marker)
        state = sessions.load_capture(session)
        if capture.told(state, run.event.prompt_id, run.event.prompt):
            sessions.save_capture(session, state)
        if not run.event.prompt.startswith("/"):
            return None
        from . import skill

        return skill.begin(scene, session, run.event.prompt.split(None, 1)[0])
