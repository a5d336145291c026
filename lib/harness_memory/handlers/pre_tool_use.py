"""PreToolUse: the model calls a skill, and is handed its profile."""

from __future__ import annotations

from . import skill
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    if run.event.tool_name != "Skill":
        return None
    scene = Scene(run)
    with scene as session:
        return None if session.is_new else skill.begin(scene, session, run.event.skill)
