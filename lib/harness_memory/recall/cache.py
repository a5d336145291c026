"""What recall searches, on disk: a cache of postings for a project's episodes, notes and archived sessions.

    <project>/STATE/recall/episodes.idx      the episodes, as a file of postings (see `segment`)
    <project>/STATE/recall/recent/<episode>  those written since, one JSON array a document
    <project>/STATE/recall/archived.idx      titles of archived sessions
    <project or user>/STATE/recall/notes.idx the notes of a shelf that hold

Deleting any of it costs time only. A session writes its own document in `recent` before it writes its
episode, so nobody waits for anybody; every few sessions one of them, alone under a lock, takes those into
the file. Episodes that came or went otherwise are found by their names at the next start.
"""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..base.lock import Lock
from .documents import archived_digest, episode_digest, note_digest
from .recent import folder, names, read_row, recent_dir
from .segment import Damaged, Segment, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..notes.shelf import Shelf

CACHES = (settings.EPISODES_CACHE, settings.NOTES_CACHE, settings.ARCHIVED_CACHE)

# Writing -------------------------------------------------------------------------------------------


def catch_up(store_root: str, project_dir: str, ends: float) -> None:
    """Take in what came and drop what went since, as far as there is time until `ends`; newest first."""
    listed = {*names(os.path.join(project_dir, settings.EPISODES_DIR))}
    base = open_segment(base_path(project_dir), is_whole=True)
    known = {*base.ids()} - {""} if base else set()
    if base:
        base.close()
    recent = names(recent_dir(project_dir))
    missing = sorted(filter(_is_episode, listed.difference(known, recent)), reverse=True)
    removed = len(known - listed)
    is_much = missing or len(recent) >= settings.RECENT_FOLDED or removed > max(settings.RECENT_FOLDED, len(known) // 8)
    if is_much and time.monotonic() + len(known) * settings.FOLD_SECONDS_PER_DOCUMENT < ends:
        fold(project_dir, missing, ends)
    _catch_up_archived(store_root, project_dir)
    for scope, home in (("project", project_dir), ("user", os.path.join(store_root, settings.USER_DIR))):
        _catch_up_notes(scope, home)


def fold(project_dir: str, more: Iterable[str] = (), ends: float = 0.0, wait_seconds: float = 0.0) -> bool:
    """Put what is recent, and `more` episodes, into the file of postings; False when another is at it."""
    with Lock(os.path.join(folder(project_dir), settings.RECALL_LOCK), wait_seconds) as held:
        if held:
            _fold(project_dir, more, ends)
    return held


def _fold(project_dir: str, more: Iterable[str], ends: float) -> None:
    listed = {name for name in names(os.path.join(project_dir, settings.EPISODES_DIR)) if _is_episode(name)}
    rows = {name: _bytes(os.path.join(recent_dir(project_dir), name)) for name in names(recent_dir(project_dir))}
    table = Table()
    base = open_segment(base_path(project_dir), is_whole=True)
    if base:
        try:
            table.take(base, {number for number, id in enumerate(base.ids()) if id not in listed or id in rows})
        except Damaged:
            table, more = Table(), listed
        finally:
            base.close()
    for name, data in rows.items():
        digest = read_row(data) if name in listed else None
        if digest:
            table.add(digest)
    _add_episodes(table, project_dir, [name for name in more if name not in rows], ends)
    files.write(base_path(project_dir), table.dump())
    for name, data in rows.items():
        path = os.path.join(recent_dir(project_dir), name)
        if data is not None and files.is_same(path, data):  # else its session has just written it anew
            files.remove(path)


def _bytes(path: str) -> bytes | None:
    try:
        return files.read(path)
    except OSError:
        return None


def _add_episodes(table: Table, project_dir: str, names: Iterable[str], ends: float) -> None:
    from ..session import episode

    for name in names:
        if ends and time.monotonic() + len(table.ids) * settings.FOLD_SECONDS_PER_DOCUMENT >= ends:
            return
        value = episode.load(project_dir, name)
        if value:
            table.add(episode_digest(name, value))


def rebuild(store_root: str, project_dir: str, wait_seconds: float) -> bool:
    """Make everything of a project anew; False when another process is at it."""
    from ..notes import shelf as notebook
    from ..session import episode

    with Lock(os.path.join(folder(project_dir), settings.RECALL_LOCK), wait_seconds) as held:
        if held:
            files.remove(base_path(project_dir))
            for name in names(recent_dir(project_dir)):
                files.remove(os.path.join(recent_dir(project_dir), name))
            listed = episode.names(project_dir)
            if listed:
                _fold(project_dir, listed, 0.0)
            files.remove(os.path.join(folder(project_dir), settings.ARCHIVED_CACHE))
            _catch_up_archived(store_root, project_dir)
    refresh_notes(notebook.project_shelf(project_dir))
    return held


def refresh_notes(shelf: Shelf) -> None:
    """Index the notes of a shelf; the caller holds its lock, or nobody else is likely to write."""
    from ..notes import shelf as notebook

    path = os.path.join(folder(shelf.home), settings.NOTES_CACHE)
    if not os.path.isdir(shelf.folder):
        files.remove(path)
        return
    table = Table()
    for note in notebook.Book(shelf.read()).holding:
        table.add(note_digest(note))
    files.write(path, table.dump())


def is_behind(shelf: Shelf) -> bool:
    """Whether a note was written, or removed, after the notes were indexed, or just then."""
    path = os.path.join(folder(shelf.home), settings.NOTES_CACHE)
    made = files.made(path)
    if not made or not os.path.isdir(shelf.folder):
        return bool(made) or os.path.isdir(shelf.folder)
    return files.modified(shelf.folder) >= made or files.is_changed_since(shelf.folder, made)


def _catch_up_notes(scope: str, home: str) -> None:
    """What the notes' own writers keep up to date (see `notebook`) is made anew when it is lost or damaged."""
    topics = os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR)
    if os.path.isdir(topics) and not _is_sound(os.path.join(folder(home), settings.NOTES_CACHE)):
        from ..notes import shelf as notebook

        try:
            with notebook.Writing(notebook.Shelf(scope, topics, home), 0):
                pass
        except notebook.Busy:
            pass  # whoever is at it makes it


def _catch_up_archived(store_root: str, project_dir: str) -> None:
    place = os.path.join(store_root, settings.ARCHIVE_DIR, os.path.basename(project_dir))
    path = os.path.join(folder(project_dir), settings.ARCHIVED_CACHE)
    changed = files.modified(place)
    if not changed or (_is_sound(path) and changed <= files.made(path)):
        if not changed:
            files.remove(path)
        return
    table = Table()
    for name in names(place):
        if name.endswith(".jsonl") and name[: -len(".jsonl")] + ".tar.gz" in names(place):
            for line in (files.read(os.path.join(place, name), settings.ARCHIVE_MAX_BYTES) or b"").split(b"\n"):
                digest = archived_digest(line)
                if digest and digest.id not in table.ids:
                    table.add(digest)
    files.write(path, table.dump())


def drop(home: str) -> None:
    """Remove what is cached of a project, or of the user's notes; not the lock, which somebody may hold."""
    files.remove_tree(folder(home), kept=settings.RECALL_LOCK)


def open_segment(
    path: str, on_damage: Callable[[str], object] = files.remove, *, is_whole: bool = False
) -> Segment | None:
    try:
        return Segment(path, is_whole=is_whole)
    except Damaged:
        on_damage(path)
    except OSError:
        pass
    return None


def unsound(home: str) -> list[str]:
    """Paths of the caches that are there and cannot be used; they stay."""
    paths = [os.path.join(folder(home), name) for name in CACHES]
    return [path for path in paths if os.path.exists(path) and not _is_sound(path, lambda path: None)]


def _is_sound(path: str, on_damage: Callable[[str], object] = files.remove) -> bool:
    found = open_segment(path, on_damage, is_whole=True)
    if found:
        found.close()
    return found is not None


def base_path(project_dir: str) -> str:
    return os.path.join(folder(project_dir), settings.EPISODES_CACHE)


def _is_episode(name: str) -> bool:
    return name.startswith(settings.EPISODE_PREFIX) and name.endswith(".json")
