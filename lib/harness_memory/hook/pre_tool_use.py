"""PreToolUse, once the guard has let a call pass: a skill is handed its profile, a command or path the note for it."""

from __future__ import annotations

from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = Scene(run)
    with scene as session:
        if session.is_new:
            return None
        if run.event.tool_name == "Skill":
            from . import skill

            return skill.begin(scene, session, run.event.skill)
        from . import trigger

        return trigger.begin(scene, session)
