"""What Claude Code sends to a hook: the JSON payload and the environment, as one checked value.

Every field has its type: text is text (possibly ""). Nothing here is used as a path before `sessions.safe_id` or
`identity.locate` has checked it.
"""

from __future__ import annotations

from ..base import settings
from ..base.payload import BadPayload
from ..base.text import brief_of, clean, identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ID_CHARS = 1000


class Event:
    __slots__ = (
        *("agent_id", "agent_type", "channel", "client_pid", "command", "cwd", "last_message", "launch_dir", "model"),
        *("name", "path", "prompt", "prompt_id", "reason", "session_id", "silent_seconds", "skill", "source", "title"),
        *("tool_name", "transcript_path"),
    )

    def __init__(self, name: str, payload: Mapping[str, Any], env: Mapping[str, str]) -> None:
        def text(key: str, limit: int = settings.NAME_CHARS) -> str:
            return clean(payload.get(key), limit)

        def label(key: str) -> str:
            return brief_of(payload.get(key), settings.NAME_CHARS)

        self.name = name
        self.session_id = text("session_id", _ID_CHARS) or clean(env.get(settings.ENV_SESSION_ID), _ID_CHARS)
        if not self.session_id:
            raise BadPayload("the payload has no session_id")
        self.cwd = _path(payload.get("cwd"))
        self.transcript_path = _path(payload.get("transcript_path"))
        self.agent_id = text("agent_id")
        self.agent_type = label("agent_type")
        self.source = text("source")
        self.reason = label("reason")
        self.model = label("model")
        self.title = label("session_title")
        self.prompt_id = identifier(payload.get("prompt_id"))
        self.prompt = text("prompt", settings.TEXT_FIELD_MAX_CHARS)
        self.last_message = text("last_assistant_message", settings.TEXT_FIELD_MAX_CHARS)
        self.tool_name = text("tool_name")
        tool_input = payload.get("tool_input")
        tool_input = tool_input if isinstance(tool_input, dict) else {}
        self.skill = clean(tool_input.get("skill"), settings.NAME_CHARS)
        self.command = clean(tool_input.get("command"), settings.TEXT_FIELD_MAX_CHARS)
        self.path = _path(tool_input.get("file_path") or tool_input.get("notebook_path"))
        silent = payload.get("seconds_since_last_response")
        self.silent_seconds = float(silent) if isinstance(silent, (int, float)) and abs(silent) < 1e12 else 0.0
        self.launch_dir = _path(env.get(settings.ENV_PROJECT_DIR))
        self.channel = clean(env.get(settings.ENV_ENTRYPOINT), 40)
        pid = env.get(settings.ENV_CLIENT_PID, "")
        self.client_pid = int(pid) if pid.isascii() and pid.isdigit() and len(pid) < 10 else 0


def _path(value: object) -> str:
    path = clean(value, settings.PATH_CHARS)
    return "" if "\0" in path else path
