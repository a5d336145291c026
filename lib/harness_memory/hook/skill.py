"""A skill starts: its profile and its last sessions, once a session."""

from __future__ import annotations

from ..base import settings
from ..inject import receipt, sections
from ..inject.compose import compose
from ..memory.briefing import skill_name
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .context import HookContext


def begin(context: HookContext, session: Session, skill: str) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    event = context.run.event
    name = skill_name(skill)
    injected = receipt.load(session.dir)
    # A subagent has a conversation of its own, without what was injected into the session.
    key = "%s@%s" % (name, event.agent_id) if event.agent_id else name
    if not name or key in injected.profiles:
        return None
    problems: list[str] = []
    part = sections.profile(context.project, name, problems)
    injection = compose([sections.health(problems), part], settings.PROFILE_UNITS, context.project.name)
    if not injection.text:
        return None
    injected.profiles.append(key)
    injected.record(session.dir, injection, event.name, "skill " + name, context.run.now)
    return reply.context(event.name, injection.text)
