"""What a hook may answer, in the client's words.

`hookSpecificOutput` counts only with the right `hookEventName`; `systemMessage` is shown to the user
and never to the model.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def context(event: str, text: str, message: str = "") -> dict[str, Any] | None:
    """Text for the model, and a line for the user; None when there is neither."""
    reply: dict[str, Any] = {}
    if message:
        reply["systemMessage"] = message
    if text:
        reply["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": text}
    return reply or None
