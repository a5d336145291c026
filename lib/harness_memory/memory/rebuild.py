"""Sessions whose episode is missing or damaged, and how it is recorded again from what they captured."""

from __future__ import annotations

import os

from ..base import clock, config, files, settings
from ..project import Context, identity
from ..session import capture, episode, record, sessions, tombstones
from ..session.sessions import Session
from . import archive


def lost(project_dir: str, now: float) -> list[Session]:
    """Sessions with substance but without a readable episode, unless it was retired, archived or forgotten."""
    limits = config.load(os.path.dirname(project_dir))
    oldest = clock.iso(now - limits["retention_days"] * settings.DAY_SECONDS)
    is_full = len(episode.names(project_dir)) >= limits["retention_episodes"]
    lost = []
    for session in filter(None, map(sessions.load, sessions.all_directories(project_dir))):
        value, problem = files.read_json(episode.path_of(project_dir, session.episode_name), episode.SPEC)
        is_retired = not problem and (is_full or session.started < oldest)
        if value is not None or is_retired or "newer version" in problem:
            continue
        is_forgotten = tombstones.is_forgotten(project_dir, session.claude_id, str(session.meta.get("ended") or ""))
        if not is_forgotten and capture.load(session.dir).has_substance():
            lost.append((session, bool(problem)))
    archived = {each.claude_id for each in archive.load_all(project_dir, [])} if lost else set()
    return [session for session, is_damaged in lost if is_damaged or session.claude_id not in archived]


def record_again(root: str, project_dir: str, session: Session) -> bool:
    """False when nothing came of it, or a process works on the session; the views are left to the caller."""
    lock = sessions.lock(project_dir, session.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held:
            return False
        context = Context(root, project_dir, *identity.last_seen(project_dir), float("inf"))
        context.folders = []  # a checkpoint there is a running session's
        damaged = files.read(episode.path_of(project_dir, session.episode_name))
        if damaged:
            files.write(os.path.join(session.dir, "episode.json" + settings.DAMAGED_SUFFIX), damaged)
        updated = record.update(context, session, is_over=session.meta["status"] != settings.ACTIVE)
        if not sessions.read_marker(project_dir, session.claude_id):
            lock.discard()
    return updated.episode is not None
