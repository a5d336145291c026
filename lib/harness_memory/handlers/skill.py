"""A skill starts: its profile and what its last sessions covered, once a session."""

from __future__ import annotations

from .. import inject, receipt, reply, settings, sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session import Session
    from .scene import Scene


def begin(scene: Scene, session: Session, skill: str) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    run = scene.run
    name = sources.skill_name(skill)
    told = receipt.load(session.dir)
    # A subagent has a conversation of its own, which knows nothing of what the session was told.
    key = "%s@%s" % (name, run.event.agent_id) if run.event.agent_id else name
    if not name or key in told["profiles"]:
        return None
    problems: list[str] = []
    parts = sources.profile(scene.project, name, problems)
    injection = inject.compose([sources.health(problems), *parts], settings.PROFILE_UNITS, scene.project.name)
    if not injection.text:
        return None
    told["profiles"].append(key)
    receipt.record(session, told, injection, run.event.name, "skill " + name, run.now)
    return reply.context(run.event.name, injection.text)
