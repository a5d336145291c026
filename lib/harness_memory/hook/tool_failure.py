"""PostToolUseFailure: an error that an earlier session met brings back what it said of it; only its words count."""

from __future__ import annotations

from ..base.typing import Any
from ..session.capture import Capture
from . import recall
from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    with run as session:
        is_interrupt = run.event.payload.get("is_interrupt") is True
        return None if session.is_new or is_interrupt else recall.begin(run, session, Capture())
