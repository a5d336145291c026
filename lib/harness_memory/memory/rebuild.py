"""Episodes that are missing or damaged though their session's directory is there, and how they are recorded again."""

from __future__ import annotations

import os

from ..base import files, settings
from ..project import identity
from ..project.context import Context
from ..session import capture, episode, record, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.sessions import Session

_REPLACED = "episode.json" + settings.DAMAGED_SUFFIX


def lost_episodes(project_dir: str) -> list[str]:
    """Names of the episodes that can be recorded again; a missing one is lost when INDEX.md still names it."""
    names = {*episode.names(project_dir)}
    data = files.read_part(os.path.join(project_dir, settings.INDEX_FILE), settings.FILE_MAX_BYTES)
    lines = [line for line in data.decode("utf-8", "replace").split("\n") if line.startswith("- `")]
    listed = {line.partition("/")[2].partition("`")[0] for line in lines}
    damaged = {name for name in names if _is_damaged(episode.path_of(project_dir, name))}
    return sorted(name for name in (listed - names) | damaged if _source(project_dir, name))


def _is_damaged(path: str) -> bool:
    problem = files.read_json(path, episode.SPEC)[1]
    return bool(problem) and "newer version" not in problem


def _source(project_dir: str, name: str) -> Session | None:
    """The session that an episode can be recorded from."""
    session = sessions.find_short(project_dir, sessions.day_and_id(name)[1])
    if not session or session.episode_name != name:
        return None
    is_transcript = os.path.isfile(str(session.meta.get("transcript") or ""))
    return session if is_transcript or capture.load(session.dir).has_substance() else None


def record_again(root: str, project_dir: str, name: str) -> bool:
    """False when nothing came of it, or a process works on the session; the views are left to the caller."""
    session = _source(project_dir, name)
    if not session:
        return False
    lock = sessions.lock(project_dir, session.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held:
            return False
        context = Context(root, project_dir, *identity.last_seen(project_dir), float("inf"))
        context.folders = []  # a checkpoint there is a running session's
        gathered = record.gather(context, session, is_over=session.meta["status"] != settings.ACTIVE)
        if gathered.episode is not None:
            damaged = files.read(episode.path_of(project_dir, name))
            if damaged:
                files.write(os.path.join(session.dir, _REPLACED), damaged)
            session.save()
            record.publish(context, session, gathered)
        if not sessions.read_marker(project_dir, session.claude_id):
            lock.discard()
    return gathered.episode is not None
