"""A skill, command or path that memory has something for: the profile or the note, once a session."""

from __future__ import annotations

from ..base import neutral, settings
from ..inject.injection import Part, command_line, compose, load_receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    with run as session:
        if session.is_new:
            return None
        if run.event.tool_name == "Skill":
            return begin_skill(run, session, run.event.skill)
        from . import history

        return _notes(run, session) or history.tell(run, session)


def begin_skill(run: Run, session: Session, skill: str) -> dict[str, Any] | None:
    """The profile of a skill and its last sessions; the caller holds the session's lock."""
    from ..inject import sections
    from ..memory.briefing import skill_name

    event, name = run.event, skill_name(skill)
    injected, key = load_receipt(session.dir), name + _conversation(run)
    if not name or key in injected.profiles:
        return None
    problems: list[str] = []
    part = sections.profile(run.project, name, problems)
    injection = compose([sections.health(problems), part], 4000, run.project.name, injected.nonce)
    if not injection.text:
        return None
    injected.profiles.append(key)
    injected.record(session.dir, injection, event.name, "skill " + name, run.now)
    return run.reply(injection.text)


def _notes(run: Run, session: Session) -> dict[str, Any] | None:
    mark, injected = _conversation(run), load_receipt(session.dir)
    news = [each for each in run.rules if each["note"] + mark not in injected.recalled][:3]
    if not news:
        return None
    part = Part("recall", "Notes for this command or file", [])
    for each in news:
        scope, _, slug = each["note"].partition("/")
        part.add(neutral.line("- [%s] %s" % (scope, each["text"])), each["note"], "note")
        part.lines.append(command_line("show", slug))
    injection = compose([part], settings.RECALL_UNITS, run.project.name, injected.nonce)
    injected.recalled += [each["note"] + mark for each in news]
    injected.record(session.dir, injection, run.event.name, "trigger " + news[0]["when"][0], run.now)
    return run.reply(injection.text)


def _conversation(run: Run) -> str:
    """A subagent has a conversation of its own, without what was injected into the session."""
    return "@" + run.event.agent_id if run.event.agent_id else ""
