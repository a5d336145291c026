"""Logs of one JSON object a line, shared by all sessions of a project: appended in one write, under a lock."""

from __future__ import annotations

from . import files, jsontext, settings
from .lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def append(path: str, record: dict[str, Any], wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> bool:
    """False when the lock was busy: nothing was written."""
    with Lock(path + settings.LOCK_SUFFIX, wait_seconds) as held:
        if held:
            files.append_line(path, jsontext.compact(record).encode("utf-8", "replace"))
    return held
