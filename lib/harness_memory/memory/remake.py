"""Episodes that were lost though their session's directory is there, made anew from it.

Whoever deletes an episode (retention, `forget`, `prune`) takes it off the menu too: one that is still listed
there was lost otherwise, and so was one that is there but damaged.
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..project import identity
from ..project.context import Context
from ..session import capture, episode, record, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.sessions import Session

_FOREVER = float("inf")
_PUT_ASIDE = "episode.json" + settings.DAMAGED_SUFFIX


def lost(project_dir: str) -> list[str]:
    """Names of the episodes that can be made again, and have to be."""
    there = {*episode.names(project_dir)}
    # Looked for twice: sessions that write or delete theirs meanwhile do so in one order.
    gone = {name for name in _listed(project_dir) - there if not files.is_there(_path(project_dir, name))}
    damaged = {name for name in there if _is_damaged(project_dir, name)}
    return sorted(name for name in gone | damaged if _source(project_dir, name))


def make_again(store_root: str, project_dir: str, name: str) -> bool:
    """False when nothing came of it, or a process is at work on the session. The views are left to be made anew."""
    known = _source(project_dir, name)
    claude_id = str(known.meta["claude_session"]) if known else ""
    lock = sessions.lock(project_dir, claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        session = _source(project_dir, name) if held else None
        if not session:
            return False
        is_made = _make(store_root, project_dir, session)
        if not sessions.read_marker(project_dir, claude_id):
            lock.discard()
    return is_made


def _make(store_root: str, project_dir: str, session: Session) -> bool:
    root, remote = identity.last_seen(project_dir)
    place = Context(store_root, project_dir, root, remote, _FOREVER)
    place.folders = []  # a checkpoint that lies there is a living session's
    gathered = record.gather(place, session, is_over=session.meta["status"] != settings.ACTIVE)
    if gathered.episode is None:
        return False
    path = _path(project_dir, session.episode_name)
    damaged = files.read(path)
    if damaged:
        files.write(os.path.join(session.dir, _PUT_ASIDE), damaged)  # with the session, so that it goes when that goes
    session.save()
    files.write(path, episode.render(gathered.episode), durable=True)
    return True


def _listed(project_dir: str) -> set[str]:
    """Names of the episodes in the menu."""
    try:
        lines = (files.read_text(os.path.join(project_dir, settings.INDEX_FILE)) or "").split("\n")
    except OSError:
        return set()
    head = "- `%s/" % settings.EPISODES_DIR
    return {line[len(head) :].partition("`")[0] for line in lines if line.startswith(head)}


def _is_damaged(project_dir: str, name: str) -> bool:
    """Not so one that is closed to us, no plain file, or of a newer version."""
    try:
        value = jsontext.loads(files.read(_path(project_dir, name)) or b"")
    except OSError as error:
        if files.is_passing(error):
            raise
        return False
    except ValueError:
        return True
    return bool(episode.problem(value)) and not episode.is_newer(value)


def _source(project_dir: str, name: str) -> Session | None:
    """The session that an episode can be made of."""
    session = sessions.find_short(project_dir, sessions.day_and_id(name)[1])
    if not session or session.episode_name != name:
        return None
    is_told = capture.load(session.dir).has_substance()
    return session if is_told or os.path.isfile(str(session.meta.get("transcript") or "")) else None


def _path(project_dir: str, name: str) -> str:
    return os.path.join(project_dir, settings.EPISODES_DIR, name)
