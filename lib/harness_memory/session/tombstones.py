"""What was forgotten, so that no transcript or archive brings it back: `STATE/forgotten.json`, without any content.

    {"schema",
     "sessions": {Claude's session id: instant},      forgotten sessions
     "transcripts": {Claude's session id: instant}}   sessions whose transcript held a forgotten text

Nothing that these sessions said before their instant is read again. Version 0.1 kept salted hashes of texts
("texts": [{"hash", "at"}]) and not the transcripts that held them: its newest "at" counts for every session
that began before. Hooks go on without a damaged file; `verify` names it.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.lock import Lock
from ..base.typing import Iterable

SPEC = {"sessions?": {"*": "instant"}, "transcripts?": {"*": "instant"}, "texts?": [{"at": "instant"}]}


def path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)


def add(project_dir: str, now: float, *, sessions: Iterable[str] = (), transcripts: Iterable[str] = ()) -> None:
    at = clock.iso(now + 1)  # instants are whole seconds: what was said in this one is forgotten too
    with Lock(path(project_dir) + settings.LOCK_SUFFIX, busy="another command is forgetting something. Run this again"):
        value, problem = files.read_json(path(project_dir), SPEC)
        if problem:
            files.move(path(project_dir), path(project_dir) + settings.DAMAGED_SUFFIX)
        value = {"schema": settings.SCHEMA, **(value or {})}
        for key, ids in (("sessions", sessions), ("transcripts", transcripts)):
            value[key] = {**(value.get(key) or {}), **dict.fromkeys(ids, at)}
        files.write_json(path(project_dir), value, durable=True)


def since(project_dir: str, claude_id: str, started: float) -> float:
    """What a session said before this instant is not read again; 0 for most sessions."""
    value = files.load_json(path(project_dir), SPEC) or {}
    marks = [clock.parse(value.get(key, {}).get(claude_id)) or 0.0 for key in ("sessions", "transcripts")]
    texts = [clock.parse(text["at"]) or 0.0 for text in value.get("texts", ())]
    return max([*marks, *(at for at in texts if at > started)])
