"""UserPromptSubmit: the session is ACTIVE again, what was asked is on disk before the work begins; recall."""

from __future__ import annotations

import os

from ..base import settings
from ..session import capture
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = HookContext(run)
    with scene as session:
        marker = scene.marker()
        scene.activate(session, scene.process(marker), marker)
        state = capture.load(session.dir, is_owner=True)
        if state.since > run.now + settings.CLOCK_DOUBT_SECONDS:
            state.since = run.now  # the clock was set back: what is said from now on is the session's own
            capture.save(session.dir, state)
        if state.announce(run.event.prompt_id, run.event.prompt):
            capture.save(session.dir, state)
        if run.event.prompt.startswith("/"):
            from . import skill

            return skill.begin(scene, session, run.event.prompt.split(None, 1)[0])
        if not capture.is_prompt(run.event.prompt) or not _may_recall(scene):
            return None
        from . import recall

        return recall.begin(scene, session, state)


def _may_recall(scene: HookContext) -> bool:
    """Whether there is anything to recall; decided without loading recall."""
    user = os.path.join(scene.run.root, settings.USER_DIR, settings.LEARNING_DIR)
    paths = (os.path.join(scene.project.dir, name) for name in (settings.EPISODES_DIR, settings.LEARNING_DIR))
    return any(os.path.isdir(path) for path in (*paths, user))
