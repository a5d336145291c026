"""SubagentStart: a subagent sees nothing of what its session was told; it gets a small slice."""

from __future__ import annotations

from ..base import settings
from ..inject import compose as inject
from ..inject import receipt, sections
from . import reply
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = HookContext(run)
    known = sections.auto_memory(run.event.transcript_path)
    parts = [
        sections.briefing(scene.project, [], settings.SUBAGENT_BRIEFING_LINES),
        sections.notes(scene.project, run.root, known, []),
    ]
    injection = inject.compose(parts, settings.SUBAGENT_UNITS, scene.project.name)
    if not injection.text:
        return None
    with scene as session:
        if not session.is_new:
            told = receipt.load(session.dir)
            receipt.record(session, told, injection, run.event.name, "subagent " + run.event.agent_type, run.now)
    return reply.context(run.event.name, injection.text)
