"""SubagentStart: a subagent has nothing of what was injected into its session; it gets a small slice."""

from __future__ import annotations

from ..base import settings
from ..inject import sections
from ..inject.injection import compose, load_receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    event = run.event
    parts = [
        sections.briefing(run.project, [], 25),
        sections.rules(run.project),
        sections.notes(run.project, run.store_root, event.transcript_path, [], run.now),
    ]
    injection = compose(parts, settings.SUBAGENT_UNITS, run.project.name, run.event.session_id)
    if not injection.text:
        return None
    with run as session:
        if not session.is_new:
            why = "subagent " + event.agent_type
            load_receipt(session.dir).record(session.dir, injection, event.name, why, run.now)
    return run.reply(injection.text)
