"""A skill, command or path that memory has something for: the profile or the note, once a session."""

from __future__ import annotations

import os

from ..base import invocation, neutral, settings
from ..inject import receipt
from ..inject.compose import Part, compose
from ..notes import triggers
from . import reply
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    context = HookContext(run)
    with context as session:
        if session.is_new:
            return None
        if run.event.tool_name == "Skill":
            from . import skill

            return skill.begin(context, session, run.event.skill)
        return _notes(context, session)


def _notes(context: HookContext, session: Session) -> dict[str, Any] | None:
    run, event = context.run, context.run.event
    path = _relative(event.path, context.root)
    matches = triggers.match(run.root, context.project_dir, command=event.command, path=path)
    # A subagent has a conversation of its own, without what was injected into the session.
    mark = "@" + event.agent_id if event.agent_id else ""
    injected = receipt.load(session.dir)
    news = [each for each in matches if each["note"] + mark not in injected.recalled][: settings.TRIGGERED_NOTES]
    if not news:
        return None
    part = Part("recall", "Notes for this command or file", [])
    for each in news:
        scope, _, slug = each["note"].partition("/")
        line = neutral.line("- [%s] %s" % (scope, each["line"]))
        part.items[line] = {"item": each["note"], "kind": "note", "files": []}
        command = "%s show %s" % (invocation.own_command(), invocation.quote(slug))
        part.lines += [line, neutral.one_line_of("  whole: " + command)]
    injection = compose([part], settings.RECALL_UNITS, context.project.name)
    injected.recalled += [each["note"] + mark for each in news]
    injected.record(session.dir, injection, event.name, "trigger " + news[0]["pattern"], run.now)
    return reply.context(event.name, injection.text)


def _relative(path: str, root: str) -> str:
    try:
        return os.path.relpath(path, root).replace(os.sep, "/") if path else ""
    except ValueError:  # another drive of Windows
        return path.replace(os.sep, "/")
