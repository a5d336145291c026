"""The one place where a hook meets the outside: stdin, stdout, environment, clock, exit code.

Protocol: one JSON object on standard input; on standard output nothing, one JSON object that
Claude Code understands, or (PreCompact) a sentence for it; exit code 0 and an empty standard
error, always. A failure is stamped in the store (see `health`) and the session goes on without us.

    stdin bytes → dict → Event → handler(Run) → reply (dict, text or None) → stdout
"""

from __future__ import annotations

import errno
import os
import time

from ..base import files, jsontext, settings
from ..base.payload import read_payload
from ..base.watchdog import attempt, ending, give_way, watch
from .event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HANDLERS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PreToolUse": "pre_tool_use",
    "SubagentStart": "subagent_start",
    "Stop": "stop",
    "PreCompact": "pre_compact",
    "SessionEnd": "session_end",
}
LIFE_CYCLE = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_UNWRITABLE = (errno.EROFS, errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EACCES, errno.EPERM)
DEADLINES_SECONDS = {"SessionEnd": settings.SESSION_END_DEADLINE_SECONDS}


class Run:
    """What a handler is given: the event and where, when and until when to work."""

    __slots__ = ("ends", "event", "now", "root")

    def __init__(self, event: Event, root: str, now: float, ends: float) -> None:
        self.event = event
        self.root = root
        self.now = now
        self.ends = ends

    def left(self) -> float:
        """Seconds until this run should be over."""
        return self.ends - time.monotonic()


def run(name: str) -> None:
    """Handle one event and leave the process; never returns, never fails."""
    env = os.environ
    root = ""
    reply = b""
    try:
        if not is_off(env):
            root = files.root_from(env)
            files.confine(root)
            ends = time.monotonic() + DEADLINES_SECONDS.get(name, settings.DEADLINE_SECONDS)
            _watch(name, root, ends)
            reply = _answer(name, env, root, ends)
    except BaseException as error:  # noqa: BLE001  (the failure policy of every hook)
        _stamp(root, name, error)
        reply = _refusal(name, root, error)
    _leave(reply)


def is_off(env: Mapping[str, str]) -> bool:
    return env.get(settings.ENV_SWITCH, "").strip().lower() in settings.OFF_WORDS


def _answer(name: str, env: Mapping[str, str], root: str, ends: float) -> bytes:
    return _reply(name, read_payload(), env, root, ends)


def handle(name: str, payload: dict[str, Any]) -> bytes:
    """The reply to a payload that is already read; a failure is stamped and answered with nothing."""
    env = os.environ
    root = files.root_from(env)
    files.confine(root)
    try:
        return _reply(name, payload, env, root, time.monotonic() + settings.GUARD_DEADLINE_SECONDS)
    except Exception as error:  # noqa: BLE001  (the failure policy of every hook)
        _stamp(root, name, error)
        return b""


def _reply(name: str, payload: dict[str, Any], env: Mapping[str, str], root: str, ends: float) -> bytes:
    event = Event(name, payload, env)
    # Whatever this process might start must not come back here.
    os.environ[settings.ENV_SWITCH] = settings.OFF_WORDS[0]
    if event.agent_id and name in LIFE_CYCLE:
        return b""  # a subagent neither starts nor ends its session
    files.ensure_private(root)
    reply = _handler(name)(Run(event, root, time.time(), ends))
    try:
        files.touch(os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR, name))
    except OSError:
        pass  # no reason to withhold the reply
    text = reply if isinstance(reply, str) else jsontext.compact(reply) if reply else ""
    return text.encode("utf-8", "replace")


def _handler(name: str) -> Any:
    # Each hook loads its own handler and nothing of the others.
    module = "%s.%s" % (__package__, HANDLERS[name])
    return __import__(module, fromlist=["handle"]).handle


def _watch(name: str, root: str, ends: float) -> None:
    def late() -> None:
        attempt(lambda: _stamp(root, name, "not done within its deadline; the rest is left to the next run"))
        _leave(b"", is_late=True)

    watch(ends - time.monotonic() + settings.WATCHDOG_GRACE_SECONDS, late)


def _refusal(name: str, root: str, error: BaseException) -> bytes:
    """What the person is told at once, since no later start would come to tell it."""
    if name != "SessionStart" or not isinstance(error, OSError):
        return b""
    if not isinstance(error, files.Foreign) and error.errno not in _UNWRITABLE:
        return b""  # it was stamped
    from ..base.text import brief

    is_foreign = isinstance(error, files.Foreign)
    where = brief(str(error.filename if is_foreign else root), settings.ITEM_CHARS)
    what = error.strerror if is_foreign else "cannot be written (%s)" % error.strerror
    text = "Harness Memory: %s %s, so nothing is remembered. See: harness memory doctor" % (where, what)
    return jsontext.compact({"systemMessage": text}).encode("utf-8", "replace")


def _stamp(root: str, name: str, error: BaseException | str) -> None:
    try:
        from ..base import health

        if root and getattr(error, "filename", "") != root:  # else there is no store to leave it in
            health.note_failure(root, name, error)
    except BaseException:  # noqa: BLE001  (nowhere left to say it)
        pass


def _leave(reply: bytes, *, is_late: bool = False) -> None:
    if not ending.acquire(not is_late):
        give_way()
        os._exit(0)
    try:
        if reply:
            files.write_all(1, reply)
    except OSError:
        pass
    os._exit(0)  # skips the interpreter's finalisation, a tenth of a hook's time
