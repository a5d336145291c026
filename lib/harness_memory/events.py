"""What Claude Code tells a hook: the JSON payload and the environment, as one checked value.

Every field has its type whatever was sent: text is text (possibly ""), and nothing here is used as
a path before `session.safe_id` or `project.locate` has looked at it.
"""

from __future__ import annotations

from . import settings
from .text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PATH_CHARS = 4096


class BadPayload(ValueError):
    """Standard input held no usable payload."""


class Event:
    __slots__ = (
        "agent_id",
        "channel",
        "client_pid",
        "cwd",
        "last_message",
        "launch_dir",
        "model",
        "name",
        "prompt",
        "prompt_id",
        "reason",
        "session_id",
        "source",
        "title",
        "transcript_path",
        "trigger",
    )

    def __init__(self, name: str, payload: Mapping[str, Any], env: Mapping[str, str]) -> None:
        def text(key: str, limit: int = 200) -> str:
            return clean(payload.get(key), limit)

        self.name = name
        self.session_id = text("session_id", 1000) or clean(env.get(settings.ENV_SESSION_ID), 1000)
        self.cwd = text("cwd", _PATH_CHARS)
        self.transcript_path = text("transcript_path", _PATH_CHARS)
        self.agent_id = text("agent_id")
        self.source = text("source")
        self.reason = text("reason")
        self.trigger = text("trigger")
        self.model = text("model")
        self.title = text("session_title")
        self.prompt_id = text("prompt_id")
        self.prompt = text("prompt", settings.TEXT_FIELD_MAX_CHARS)
        self.last_message = text("last_assistant_message", settings.TEXT_FIELD_MAX_CHARS)
        self.launch_dir = clean(env.get(settings.ENV_PROJECT_DIR), _PATH_CHARS)
        self.channel = clean(env.get(settings.ENV_ENTRYPOINT), 40)
        pid = env.get(settings.ENV_CLIENT_PID, "")
        self.client_pid = int(pid) if pid.isascii() and pid.isdigit() and len(pid) < 10 else 0
        if not self.session_id:
            raise BadPayload("the payload has no session_id")
