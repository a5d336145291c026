"""UserPromptSubmit: the session is ACTIVE again, the prompt is on disk before the work begins; recall."""

from __future__ import annotations

from ..base.text import identifier
from ..base.typing import Any
from ..session import capture
from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    prompt = run.event.prompt
    with run as session:
        run.activate(session)
        state = capture.load(session.dir, is_owner=True)
        owed, state.owed = state.owed, []
        if state.announce(identifier(run.event.payload.get("prompt_id")), prompt, run.now) or owed:
            capture.save(session.dir, state)
        if owed:  # steps that the user's notes require, and that the last turn left out
            from ..base import neutral
            from ..inject.injection import Part, load_receipt

            part = Part("rules", "Steps that were not done", [neutral.line("- " + step) for step in owed])
            return run.hand_over(session, load_receipt(session.dir), [part], "required step")
        if prompt.startswith("/"):
            from . import trigger

            return trigger.begin_skill(run, session, prompt.split(None, 1)[0])
        if not capture.is_prompt(prompt):
            return None
        from . import recall

        return recall.begin(run, session, state)
