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

_FOREVER = float("inf")
_REPLACED = "episode.json" + settings.DAMAGED_SUFFIX


def lost_episodes(project_dir: str) -> list[str]:
    """Names of the episodes that can be recorded again. Retention and prune take an episode off the menu, a loss
    does not: a missing one counts when INDEX.md names it."""
    names = episode.names(project_dir)
    index = files.read_text(os.path.join(project_dir, settings.INDEX_FILE)) or ""
    heads = [line.partition("`")[2].partition("`")[0] for line in index.split("\n") if line.startswith("- `")]
    listed = {head.rpartition("/")[2] for head in heads}
    damaged = {name for name in names if _is_damaged(project_dir, name)}
    return sorted(name for name in (listed - {*names}) | damaged if _source(project_dir, name))


def record_again(root: str, project_dir: str, name: str) -> bool:
    """False when nothing came of it, or a process works on the session; the views are left to the caller."""
    source = _source(project_dir, name)
    claude_id = source.claude_id if source else ""
    lock = sessions.lock(project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        session = _source(project_dir, name) if held else None
        if not session:
            return False
        project_root, remote = identity.last_seen(project_dir)
        context = Context(root, project_dir, project_root, remote, _FOREVER)
        context.folders = []  # a checkpoint there is a running session's
        damaged = files.read(_path(project_dir, name))
        gathered = record.gather(context, session, is_over=session.meta["status"] != settings.ACTIVE)
        if gathered.episode is not None:
            if damaged:
                files.write(os.path.join(session.dir, _REPLACED), damaged)
            session.save()
            record.publish(context, session, gathered)
        if not sessions.read_marker(project_dir, claude_id):
            lock.discard()
    return gathered.episode is not None


def _is_damaged(project_dir: str, name: str) -> bool:
    value, problem = files.read_json(_path(project_dir, name))
    return "newer version" not in problem and bool(problem or episode.problem(value))


def _source(project_dir: str, name: str) -> Session | None:
    """The session that an episode can be recorded from."""
    session = sessions.find_short(project_dir, sessions.day_and_id(name)[1])
    if not session or session.episode_name != name:
        return None
    is_known = capture.load(session.dir).has_substance()
    return session if is_known or os.path.isfile(str(session.meta.get("transcript") or "")) else None


def _path(project_dir: str, name: str) -> str:
    return os.path.join(project_dir, settings.EPISODES_DIR, name)
