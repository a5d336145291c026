"""A command or a path comes up that a note waits for: the note, once a session."""

from __future__ import annotations

import os

from ..base import invocation, neutral, settings
from ..inject import compose as inject
from ..inject import receipt
from ..notes import triggers
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .context import HookContext


def begin(scene: HookContext, session: Session) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    run = scene.run
    path = _relative(run.event.path, scene.project.root)
    found = triggers.match(run.root, scene.project.dir, command=run.event.command, path=path)
    # A subagent has a conversation of its own, which knows nothing of what the session was told.
    mark = "@" + run.event.agent_id if run.event.agent_id else ""
    told = receipt.load(session.dir)
    news = [each for each in found if each.ref + mark not in told["recalled"]][: settings.TRIGGERED_NOTES]
    if not news:
        return None
    injection = inject.compose([_part(news)], settings.RECALL_UNITS, scene.project.name)
    told["recalled"] += [each.ref + mark for each in news]
    receipt.record(session, told, injection, run.event.name, "trigger " + news[0].pattern, run.now)
    return reply.context(run.event.name, injection.text)


def _relative(path: str, root: str) -> str:
    try:
        return os.path.relpath(path, root).replace(os.sep, "/") if path else ""
    except ValueError:  # another drive of Windows
        return path.replace(os.sep, "/")


def _part(found: list[triggers.Match]) -> inject.Part:
    lines = []
    for each in found:
        scope, _, slug = each.ref.partition("/")
        lines.append(neutral.line("- [%s] %s" % (scope, each.line)))
        lines.append(neutral.one_line_of("  whole: %s show %s" % (invocation.own_command(), invocation.quote(slug))))
    part = inject.Part("recall", "Noted for this moment", lines)
    part.items = [{"item": each.ref, "kind": "note", "files": []} for each in found]
    return part
