"""Removing sessions, notes or a text from everywhere in a memory.

A tombstone without content comes first (`session/tombstones.py`), derived files go next, then the facts; views are
rebuilt last. A killed run is finished by running it again. The audit trail is append-only and stays.
"""

from __future__ import annotations

import contextlib
import os

from ..base import files, jsontext, settings
from ..base.lock import Lock
from ..notes import shelf as notebook
from ..session import episode, sessions, tombstones
from . import archive, strike, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..notes.note import Note
    from ..notes.shelf import Shelf
    from .archive import Archived
    from .strike import Matcher

    Change = Callable[[str, bytes], "bytes | None"]  # path and content to new content; None: the file goes

_WAIT_SECONDS = 5.0
_BUSY = "a session is writing there. Run this again"
_SHORT_CHARS = 11
_UNTOUCHED = (settings.PROJECT_FILE, settings.FORGOTTEN_FILE)
_VIEWS = (settings.INDEX_FILE, settings.CONVERSATION_FILE, settings.CURRENT_WORK_FILE, settings.ROWS_FILE)
_RECEIPTS = (settings.RECEIPT_FILE, settings.INJECTED_FILE)


class Session:
    """What is left of a session, by the names of its files; "" for what is gone."""

    __slots__ = ("claude_id", "directory", "episode_name", "id")

    def __init__(self, id: str, claude_id: str, directory: str, episode_name: str) -> None:
        self.id = id
        self.claude_id = claude_id
        self.directory = directory
        self.episode_name = episode_name


class Passages:
    """A file that holds a text, whether all of it goes, and the passages."""

    __slots__ = ("is_removed", "path", "shown")

    def __init__(self, path: str, is_removed: bool, shown: list[str]) -> None:
        self.path = path
        self.is_removed = is_removed
        self.shown = shown


# Sessions and notes -------------------------------------------------------------------------------


def forget_sessions(root: str, project_dir: str, chosen: list[Session], archived: list[Archived], now: float) -> None:
    """The caller holds the archive's lock. Unreadable, when all else is done, for a damaged archive."""
    ids = {each.id for each in chosen} | {each.claude_id for each in chosen if each.claude_id}
    ids |= {each.id for each in archived} | {each.session_id for each in archived}
    values = [episode.load(project_dir, each.episode_name) for each in chosen if each.episode_name]
    phrases = [phrase for value in [*values, *(each.episode for each in archived)] for phrase in _phrases(value or {})]
    claude_ids = [*(each.claude_id for each in chosen if each.claude_id), *(each.session_id for each in archived)]
    tombstones.add(project_dir, now, sessions=claude_ids)
    drop_derived(project_dir)
    # First, while a second run can still find the sessions by their names.
    _rewrite([*_receipts(project_dir), *_records(project_dir)], _mentions(ids, phrases), project_dir)
    for each in chosen:
        lock = _session_lock(project_dir, each.claude_id or each.id)
        with lock:
            if each.directory:
                files.remove_tree(each.directory, last=settings.META_FILE)
                files.erase(each.directory)
            sessions.unmark_live(project_dir, each.claude_id)
            if each.episode_name:
                files.erase(os.path.join(project_dir, settings.EPISODES_DIR, each.episode_name))
            lock.discard()
        files.erase(os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR, each.id + ".json"))
    try:
        archive.rewrite(root, project_dir, lambda each: {} if ids & {each.id, each.session_id} else each.files, now)
    finally:
        rebuild(root, project_dir)


def forget_note(shelf: Shelf, note: Note, reach: list[Shelf], project_dirs: list[str]) -> None:
    """The note, its former versions in every scope, its drafts, and what receipts say of it."""
    whole = shelf.note(note.slug) or note
    phrases = ["/%s.md)" % note.slug, whole.description, *(fact.text for fact in whole.facts)]
    for project_dir in project_dirs:
        _rewrite(_receipts(project_dir), _mentions({note.slug}, phrases), project_dir)
    with notebook.Writing(shelf):
        files.erase(shelf.path(note.slug))
    for home in {each.home for each in (shelf, *reach) if each.home}:
        folder = notebook.Shelf("", "", home).archive
        for name in files.names(folder):
            if notebook.archived_slug(name) == note.slug:
                files.erase(os.path.join(folder, name))
        drafts = os.path.join(home, settings.STATE_DIR, settings.DRAFTS_DIR)
        for name in files.names(drafts):
            if name.partition(".")[0] == "note-" + note.slug:
                files.erase(os.path.join(drafts, name))


def _phrases(value: dict[str, Any]) -> list[str]:
    """What other sessions may have been shown of an episode."""
    if not value:
        return []
    phrases = [episode.headline(value), value.get("title") or "", *value["asked"][:1], *value["what_remains"]]
    for task in value["tasks"]:
        phrases += [str(task["title"]), *map(str, task.get("remaining") or ())]
    return [phrase for phrase in phrases if phrase]


def _receipts(project_dir: str) -> list[str]:
    return [os.path.join(folder, name) for folder in sessions.all_directories(project_dir) for name in _RECEIPTS]


def _records(project_dir: str) -> list[str]:
    """The files in which sessions are named beside others: tasks and ratings."""
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)
    tasks = [os.path.join(folder, name) for name in files.names(folder) if name.endswith(".json")]
    return [*tasks, os.path.join(project_dir, *settings.RATINGS_PATH)]


def _mentions(names: set[str], phrases: list[str]) -> Change:
    """Drop the lines of a page that hold a name or a phrase, and the items of a list that carry a name."""

    def is_named(item: object) -> bool:
        if isinstance(item, dict):
            return any(isinstance(value, str) and is_named(value) for value in item.values())
        name = item if isinstance(item, str) else ""
        return name in names or (sessions.is_episode_name(name) and sessions.day_and_id(name)[1] in names)

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(item) for item in value if not is_named(item)]
        return {key: without(item) for key, item in value.items()} if isinstance(value, dict) else value

    def tells(line: str) -> bool:
        """A short phrase may stand in any sentence: it must be all that the line says."""
        return any(name in line for name in names if len(name) > _SHORT_CHARS or name + ": " in line) or any(
            phrase in line and (len(phrase) > _SHORT_CHARS or line.endswith(("] " + phrase, "next: " + phrase)))
            for phrase in phrases
        )

    def change(path: str, data: bytes) -> bytes | None:
        text = data.decode("utf-8", "surrogateescape")
        try:
            if path.endswith(".json"):
                value = jsontext.loads(text)
                after = without(value)
                if after == value:
                    return data
                return jsontext.pretty(after).encode("utf-8", "replace") if after.get("sessions", True) else None
            is_dropped = (lambda line: line and is_named(jsontext.loads(line))) if path.endswith(".jsonl") else tells
            return "\n".join([line for line in text.split("\n") if not is_dropped(line)]).encode(
                "utf-8", "surrogateescape"
            )
        except ValueError:
            return data  # damaged: `verify` names it

    return change


# Text ---------------------------------------------------------------------------------------------


def find_text(tops: list[str], is_hit: Matcher) -> Iterator[Passages]:
    """Every fact file below the folders that holds the text."""
    for path in _fact_files(tops):
        data = _read(path)
        after = strike.strike(path, data, is_hit) if data else data
        if data and after != data:
            shown = [each.strip() for each in strike.passages(path, data) if is_hit(each)]
            yield Passages(path, after is None, shown or [os.path.basename(path)])


def archived_with(root: str, project_dir: str, is_hit: Matcher, troubles: list[OSError]) -> list[Archived]:
    return [each for each in archive.load_all(root, project_dir, troubles) if _struck(each, is_hit) != each.files]


def forget_text(
    root: str, project_dir: str, tops: list[str], is_hit: Matcher, transcripts: Iterable[str], now: float
) -> None:
    """Strike the text from every file below `tops` and from the archives, whose lock the caller holds.

    `transcripts` are sessions whose transcript holds it. Unreadable, when all else is done, for a damaged archive."""
    tombstones.add(project_dir, now, transcripts=transcripts)
    live = os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR)
    for name in files.names(live):
        if name.endswith(settings.LOCK_SUFFIX):  # wait for hooks that read the text before now
            with Lock(os.path.join(live, name), _WAIT_SECONDS, _BUSY):
                pass
    drop_derived(project_dir)
    _rewrite(_fact_files(tops), lambda path, data: strike.strike(path, data, is_hit), project_dir)
    try:
        archive.rewrite(root, project_dir, lambda each: _struck(each, is_hit), now)
    finally:
        rebuild(root, project_dir)


def _struck(session: Archived, is_hit: Matcher) -> dict[str, bytes]:
    after = {path: strike.strike(path, data, is_hit) for path, data in session.files.items()}
    return {path: data for path, data in after.items() if data is not None}


def remaining(tops: list[str], is_hit: Matcher) -> list[str]:
    """Files that still hold the text, in a name or path that a record is found by, or in a word made of it."""
    texts = ((path, (_read(path) or b"").decode("utf-8", "replace")) for path in _fact_files(tops, with_views=True))
    return [path for path, text in texts if is_hit(text) or is_hit(text.replace("-", " "))]


def in_audit_trail(project_dir: str, is_hit: Matcher) -> list[str]:
    """Files of the audit trail that hold the text, and keep it."""
    walk = os.walk(os.path.join(project_dir, settings.SECURITY_DIR))
    paths = sorted(os.path.join(folder, name) for folder, _, names in walk for name in names)
    return [path for path in paths if any(map(is_hit, strike.passages(path, _read(path) or b"")))]


# Files --------------------------------------------------------------------------------------------


def drop_derived(project_dir: str) -> None:
    """Delete views and caches first, so that a crash cannot leave the text in them."""
    for name in _VIEWS:
        for folder in (project_dir, os.path.join(project_dir, settings.STATE_DIR)):
            files.erase(os.path.join(folder, name))
    files.remove_tree(os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR))


def rebuild(root: str, project_dir: str) -> None:
    for shelf in (notebook.project_shelf(project_dir), notebook.user_shelf(root)):
        if os.path.isdir(shelf.folder):
            with notebook.Writing(shelf):
                pass
    files.remove_tree(os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR))
    views.rebuild(project_dir, _WAIT_SECONDS)


def _fact_files(tops: list[str], *, with_views: bool = False) -> Iterator[str]:
    for top in tops:
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(set(folders) - {settings.SECURITY_DIR, settings.RECALL_DIR})
            for name in sorted(names):
                path = os.path.join(folder, name)
                is_view = name in _VIEWS and folder in (top, os.path.join(top, settings.STATE_DIR))
                is_skipped = name in _UNTOUCHED or name.endswith((settings.LOCK_SUFFIX, archive.ENDING))
                if not is_skipped and not os.path.islink(path) and (with_views or not is_view):
                    yield path


def _rewrite(paths: Iterable[str], change: Change, project_dir: str) -> None:
    """Change each file under the lock of its writers; what is unchanged is not locked."""
    for path in paths:
        data = _read(path)
        if data and change(path, data) != data:
            with _lock_of(path, project_dir):
                data = _read(path) or b""
                after = change(path, data)
                if after is None:
                    files.erase(path)
                elif after != data:
                    files.write(path, after, durable=True)


def _lock_of(path: str, project_dir: str) -> contextlib.AbstractContextManager[object]:
    parts = os.path.relpath(path, project_dir).split(os.sep)
    if parts[0] == settings.WORK_DIR and len(parts) > 3:
        session = sessions.load(os.path.join(project_dir, *parts[:3]))
        return _session_lock(project_dir, session.claude_id if session else parts[2])
    if parts[0] == settings.EPISODES_DIR:
        value = episode.load(project_dir, parts[-1]) or {}
        return _session_lock(project_dir, str(value.get("session_id") or sessions.day_and_id(parts[-1])[1]))
    if parts[:2] == [settings.STATE_DIR, settings.PROGRESS_DIR]:
        return Lock(os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK), _WAIT_SECONDS, _BUSY)
    if path.endswith(".md") and settings.TOPICS_DIR in parts:
        folder = os.path.dirname(os.path.dirname(path))
        return Lock(os.path.join(folder, settings.NOTES_LOCK), _WAIT_SECONDS, _BUSY)
    if path.endswith(".jsonl"):
        return Lock(path + settings.LOCK_SUFFIX, _WAIT_SECONDS, _BUSY)
    return contextlib.nullcontext()


def _session_lock(project_dir: str, claude_id: str) -> Lock:
    return Lock(sessions.lock(project_dir, claude_id, 0).path, _WAIT_SECONDS, _BUSY)


def _read(path: str) -> bytes | None:
    """None for what is missing or closed to us; OSError for what another attempt may read."""
    try:
        return files.read(path, settings.TRANSCRIPT_LINE_MAX_BYTES)
    except OSError as error:
        if files.is_passing(error):
            raise
        return None
