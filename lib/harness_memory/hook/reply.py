"""What a hook answers, in the client's words, and how it leaves.

`hookSpecificOutput` counts only with the right `hookEventName`; `systemMessage` is shown to the user, never to the
model.
"""

from __future__ import annotations

from ..base.payload import system
from ..base.watchdog import ending

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


def leave(reply: bytes, *, is_late: bool = False) -> None:
    """Write the reply and end the process; skipping the interpreter's finalisation saves a tenth of a hook's time."""
    if not ending.acquire(True, 0.1 if is_late else -1):  # another thread writes a reply, which may never be read
        system._exit(0)
    try:
        while reply:
            reply = reply[system.write(1, reply) :]
    except OSError:
        pass
    system._exit(0)
