"""The one place where a hook meets the outside: stdin, stdout, environment, clock, exit code.

Protocol: one JSON object on standard input; on standard output nothing, one JSON object that Claude Code
understands, or (PreCompact) a sentence for it; always exit code 0 and an empty standard error. A failure leaves a
stamp in the store (see `health`), and the session goes on without us.

    stdin bytes → dict → Event → handler(Run) → reply (dict, text or None) → stdout
"""

from __future__ import annotations

import os
import time

from ..base import files, jsontext, settings
from ..base.payload import read_payload
from ..base.text import brief
from ..base.watchdog import attempt, leave, watch
from .event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HANDLERS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PreToolUse": "trigger",
    "SubagentStart": "subagent_start",
    "Stop": "stop",
    "PreCompact": "stop",
    "SessionEnd": "stop",
}
_OF_SUBAGENTS = ("PreToolUse", "SubagentStart")  # a subagent neither starts nor ends its session


class Run:
    """The event, the store, the time now and the time by which to be done."""

    __slots__ = ("ends", "event", "now", "root")

    def __init__(self, event: Event, root: str, now: float, ends: float) -> None:
        self.event = event
        self.root = root
        self.now = now
        self.ends = ends

    def left(self) -> float:
        """Seconds until this run should be over."""
        return self.ends - time.monotonic()

    def reply(self, text: str, message: str = "") -> dict[str, Any] | None:
        """Text for the model, and a line that only the user sees; None when there is neither."""
        own = {"hookEventName": self.event.name, "additionalContext": text}  # the client ignores any other event name
        values = {"systemMessage": message, "hookSpecificOutput": own if text else None}
        return {key: value for key, value in values.items() if value} or None


def run(name: str) -> None:
    """Handle one event and leave the process; never returns, never fails."""
    root, reply = "", b""
    seconds = settings.SESSION_END_DEADLINE_SECONDS if name == "SessionEnd" else settings.DEADLINE_SECONDS

    def late() -> None:
        attempt(lambda: _stamp(root, name, "not done within its deadline; the next run does the rest"))
        leave(b"", is_late=True)

    try:
        if os.environ.get(settings.ENV_SWITCH, "").strip().lower() not in settings.OFF_WORDS:
            root = files.root_from(os.environ)
            files.confine(root)
            watch(seconds + settings.WATCHDOG_GRACE_SECONDS, late)
            reply = _reply(name, root, time.monotonic() + seconds, read_payload())
    except BaseException as error:  # noqa: BLE001  (the failure policy of every hook)
        _stamp(root, name, error)
        if name == "SessionStart" and isinstance(error, OSError):  # the store may take no stamp
            what = "Harness Memory: %s: %s." % (brief(str(error.filename or root), settings.ITEM_CHARS), error.strerror)
            message = {"systemMessage": what + " Nothing is remembered. See: harness memory doctor"}
            reply = jsontext.compact(message).encode("utf-8", "replace")
    leave(reply)


def handle(name: str, payload: dict[str, Any]) -> bytes:
    """The reply to a payload that is already read; a failure leaves a stamp and no reply."""
    root = files.root_from(os.environ)
    files.confine(root)
    try:
        return _reply(name, root, time.monotonic() + settings.GUARD_DEADLINE_SECONDS, payload)
    except Exception as error:  # noqa: BLE001  (the failure policy of every hook)
        _stamp(root, name, error)
        return b""


def _reply(name: str, root: str, ends: float, payload: dict[str, Any]) -> bytes:
    event = Event(name, payload, os.environ)
    if event.agent_id and name not in _OF_SUBAGENTS:
        return b""
    opened = files.ensure_private(root)
    if opened:
        _stamp(root, name, opened)
    # Each hook loads its own handler only.
    handler = __import__("%s.%s" % (__package__, HANDLERS[name]), fromlist=["handle"]).handle
    reply = handler(Run(event, root, time.time(), ends))
    try:
        files.touch(os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR, name))
    except OSError:
        pass  # the reply matters more
    text = reply if isinstance(reply, str) else jsontext.compact(reply) if reply else ""
    return text.encode("utf-8", "replace")


def _stamp(root: str, name: str, error: BaseException | str) -> None:
    try:
        from ..base import health

        if root and getattr(error, "filename", "") != root:  # else the store itself is unusable
            health.note_failure(root, name, error)
    except BaseException:  # noqa: BLE001  (nowhere left to report it)
        pass
