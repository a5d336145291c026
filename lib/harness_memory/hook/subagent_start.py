"""SubagentStart: a subagent has nothing of what was injected into its session; it gets a small slice."""

from __future__ import annotations

from ..base.typing import Any
from ..inject import sections
from ..inject.injection import Receipt, compose, load_receipt
from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    notes = sections.notes(run.project, run.store_root, [], run.now)
    parts = [sections.briefing(run.project, [], 25), sections.rules(run.project, notes), notes]
    if not any(part.lines for part in parts):
        return None
    with run as session:
        injected = load_receipt(session.dir)
        injection = compose(parts, 1600, run.project.name, Receipt({"nonce": injected.nonce}))  # about 400 tokens
        if not session.is_new:
            why = "subagent " + run.event.label("agent_type")
            injected.record(session.dir, injection, run.event.name, why, run.now)
    return run.reply(injection.text)
