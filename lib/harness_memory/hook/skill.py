"""A skill starts: its profile and what its last sessions covered, once a session."""

from __future__ import annotations

from ..base import settings
from ..inject import compose as inject
from ..inject import receipt, sections
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .context import HookContext


def begin(scene: HookContext, session: Session, skill: str) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    run = scene.run
    name = sections.skill_name(skill)
    told = receipt.load(session.dir)
    # A subagent has a conversation of its own, which knows nothing of what the session was told.
    key = "%s@%s" % (name, run.event.agent_id) if run.event.agent_id else name
    if not name or key in told["profiles"]:
        return None
    problems: list[str] = []
    parts = sections.profile(scene.project, name, problems)
    injection = inject.compose([sections.health(problems), *parts], settings.PROFILE_UNITS, scene.project.name)
    if not injection.text:
        return None
    told["profiles"].append(key)
    receipt.record(session, told, injection, run.event.name, "skill " + name, run.now)
    return reply.context(run.event.name, injection.text)
