"""Opening a session's record: by its live marker, by its directory, or as a new one."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.sha256 import hexdigest
from .sessions import (
    META_FIELDS,
    Session,
    at_marker,
    day_and_id,
    is_episode_name,
    load,
    project_of,
    read_marker,
    safe_id,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def open_session(project_dir: str, claude_id: str, now: float, project_name: str) -> Session:
    """The session's record on disk, or a new one that is not saved yet; the caller holds the session's lock."""
    session = at_marker(project_dir, read_marker(project_dir, claude_id))
    if session:
        return session
    work = os.path.join(project_dir, settings.WORK_DIR)
    days = [day for day in reversed(files.names(work)) if clock.is_day(day)]
    heads = [safe_id(claude_id)[:length] for length in settings.SHORT_ID_CHARS]
    for short_id in (*heads, "x" + hexdigest(claude_id)[:31]):
        taken = [path for path in (os.path.join(work, day, short_id) for day in days) if files.exists(path)]
        for directory in taken:
            session = load(directory) or _repaired(directory, claude_id)
            if session and session.claude_id == claude_id:
                return session
        if not taken:
            break
    started = clock.iso(now)
    return _new(os.path.join(work, started[:10], short_id), started, claude_id, project_name)


def _new(directory: str, started: str, claude_id: str, project_name: str) -> Session:
    meta: dict[str, Any] = dict.fromkeys(META_FIELDS)
    meta.update(session_id=os.path.basename(directory), claude_session=claude_id, project=project_name)
    meta.update(date=started[:10], started=started, status=settings.ACTIVE, tags=[], artifacts=[])
    return Session(directory, meta, is_new=True)


def _repaired(directory: str, claude_id: str) -> Session | None:
    """A new record for a directory whose META is missing or damaged; the damaged file stays beside it."""
    day, short_id = directory.split(os.sep)[-2:]
    path = os.path.join(directory, settings.META_FILE)
    if not safe_id(claude_id).startswith(short_id):
        return None
    if files.exists(path):
        files.move(path, path + settings.DAMAGED_SUFFIX)
    started = day + "T00:00:00Z"
    for name in files.names(os.path.join(project_of(directory), settings.EPISODES_DIR)):
        if is_episode_name(name) and day_and_id(name) == (day, short_id):
            started = clock.unstamp(name[len(settings.EPISODE_PREFIX) :]) or started
    return _new(directory, started, claude_id, "")
