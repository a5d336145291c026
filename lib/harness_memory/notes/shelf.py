"""Where notes are kept, and which of them hold.

    <session>/local/*.md                 local: they go when the session ends
    <project>/LEARNING/topics/*.md       project
    <store>/user/LEARNING/topics/*.md    user: they follow the person everywhere

The nearer scope wins: a local note overrides the project's of the same name, that one the user's. A
note that another supersedes is kept, but no session is told of it. Every change of a shelf is made under its lock,
and its index (see `notes_index`) is made anew before the lock is let go.
"""

from __future__ import annotations

import errno
import os

from ..base import clock, files, settings
from ..base.lock import Lock
from . import note as notes
from .note import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = ".md"
_LOCK_SECONDS = 5.0
_HEAD_BYTES = 4096  # more than any frontmatter takes


class Busy(OSError):
    """Another process holds a shelf."""


class Shelf:
    """The notes of one scope: their `folder`, and the `home` of what belongs to them ("" for local ones)."""

    __slots__ = ("folder", "home", "scope")

    def __init__(self, scope: str, folder: str, home: str = "") -> None:
        self.scope = scope
        self.folder = folder
        self.home = home

    def path(self, slug: str) -> str:
        return os.path.join(self.folder, slug + _ENDING)

    @property
    def index(self) -> str:
        return os.path.join(self.home, settings.NOTES_INDEX_FILE)

    def slugs(self) -> list[str]:
        names = files.listed(self.folder)
        return [name[: -len(_ENDING)] for name in names if name.endswith(_ENDING) and name[0] != "."]

    def read(self) -> list[Note]:
        found = (self.note(slug) for slug in self.slugs())
        return [note for note in found if note]

    def note(self, slug: str) -> Note | None:
        """None when there is no such file; one that cannot be read has no facts, and says so."""
        path = self.path(slug)
        try:
            data = files.read(path, settings.NOTE_MAX_BYTES)
        except OSError as error:
            if files.is_passing(error):
                raise
            note = Note(slug, {}, [])
            note.is_unreadable = True
            note.problems.append((1, "cannot be read: %s" % error.strerror))
        else:
            if data is None:
                return None
            note = _parsed(slug, data)
        note.scope, note.path = self.scope, path
        return note


def _parsed(slug: str, data: bytes) -> Note:
    try:
        if b"\0" not in data:
            return notes.parse(slug, data.decode("utf-8"))
        what = "is binary, not Markdown"
    except UnicodeDecodeError as error:
        what = "is not UTF-8 at byte %d" % error.start
    note = Note(slug, {}, [])
    note.is_unreadable = note.is_damaged = True
    note.problems.append((1, what))
    return note


def project_shelf(project_dir: str) -> Shelf:
    return Shelf("project", os.path.join(project_dir, settings.LEARNING_DIR, settings.TOPICS_DIR), project_dir)


def user_shelf(store_root: str) -> Shelf:
    home = os.path.join(store_root, settings.USER_DIR)
    return Shelf("user", os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR), home)


def local_shelf(session_dir: str) -> Shelf:
    return Shelf("local", os.path.join(session_dir, settings.LOCAL_DIR))


def shelves(store_root: str, project_dir: str, session_dir: str = "") -> list[Shelf]:
    """The nearest first."""
    local = [local_shelf(session_dir)] if session_dir else []
    return [*local, project_shelf(project_dir), user_shelf(store_root)]


# Which hold --------------------------------------------------------------------------------------


class Book:
    """Notes of several shelves, the nearest first, with those that do not hold and why."""

    __slots__ = ("notes", "overridden", "superseded")

    def __init__(self, found: list[Note]) -> None:
        self.notes = found
        readable = [note for note in found if not note.is_unreadable]
        self.overridden = _overridden(readable)  # ref of a note → the note that stands before it
        self.superseded = _superseded(readable)

    @property
    def holding(self) -> list[Note]:
        return [note for note in self.notes if not self.fate(note)]

    def fate(self, note: Note) -> str:
        """Why a note does not hold; "" when it does."""
        if note.is_unreadable:
            return "damaged" if note.is_damaged else "unreadable"
        if note.ref in self.superseded:
            return "superseded by %s" % self.superseded[note.ref].ref
        if note.ref in self.overridden:
            return "overridden by %s" % self.overridden[note.ref].ref
        return ""


def open_book(places: list[Shelf]) -> Book:
    return Book([note for shelf in places for note in shelf.read()])


def fate_of(places: list[Shelf], note: Note) -> str:
    """The same for one note, reading no more of the others than it takes."""
    found = []
    for shelf in places:
        for slug in shelf.slugs():
            if slug == note.slug or b"\nsupersedes:" in _head(shelf.path(slug)):
                found.append(shelf.note(slug))
    return Book([each for each in found if each]).fate(note)


def _head(path: str) -> bytes:
    try:
        return files.read_head(path, _HEAD_BYTES)
    except OSError:
        return b""


def _overridden(found: list[Note]) -> dict[str, Note]:
    nearest: dict[str, Note] = {}
    behind = {}
    for note in found:
        if note.slug in nearest:
            behind[note.ref] = nearest[note.slug]
        else:
            nearest[note.slug] = note
    return behind


def _superseded(found: list[Note]) -> dict[str, Note]:
    """Each superseded note's ref, and what replaces it. Notes that replace each other in a circle all hold."""
    by_ref = {note.ref: note for note in found}
    edges = {note.ref: list(_targets(note, by_ref)) for note in found if note.supersedes}
    gone = {}
    for ref, targets in edges.items():
        for target in targets:
            if ref not in _reachable(target, edges):
                gone[target] = by_ref[ref]
    return gone


def _targets(note: Note, by_ref: dict[str, Note]) -> Iterator[str]:
    """The refs a note supersedes: a bare slug is of its own scope."""
    for word in note.supersedes:
        target = word if "/" in word else "%s/%s" % (note.scope, word)
        if target in by_ref and target != note.ref:
            yield target


def _reachable(start: str, edges: dict[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for ref in edges.get(todo.pop(), ()):
            if ref not in seen:
                seen.add(ref)
                todo.append(ref)
    return seen


# Changing ----------------------------------------------------------------------------------------


class Writing:
    """`with Writing(shelf):` alone with a shelf; leaving it brings the index up to date."""

    __slots__ = ("lock", "shelf")

    def __init__(self, shelf: Shelf, wait_seconds: float = _LOCK_SECONDS) -> None:
        self.shelf = shelf
        self.lock = Lock(_lock_path(shelf), wait_seconds)

    def __enter__(self) -> Writing:
        if not self.lock.__enter__():
            raise Busy(11, "the notes are being written by another process; nothing was changed", self.shelf.folder)
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            self.refresh()
        finally:
            self.lock.discard()
            self.lock.__exit__(*exc)

    def refresh(self) -> bool:
        """Bring the index up to date; True when it was not."""
        if not self.shelf.home:
            return False
        from . import index as notes_index

        for slug in files.names(os.path.dirname(_used_path(self.shelf, ""))):
            if not files.is_there(self.shelf.path(slug)):
                files.remove(_used_path(self.shelf, slug))
        is_changed = notes_index.refresh(self.shelf)
        _refresh_caches(self.shelf)
        return is_changed

    def put(self, note: Note) -> str:
        """Write a note and name its file; one that could not be read is not overwritten."""
        path = self.shelf.path(note.slug)
        if note.is_unreadable:
            raise files.Unreadable(errno.EACCES, note.problems[0][1], path)
        files.write(path, notes.render(note).encode("utf-8", "replace"), durable=True)
        return path

    def archive(self, slug: str, now: float) -> str:
        """Keep a copy of a note as it is, before it is changed or removed; its path."""
        try:
            data = files.read(self.shelf.path(slug))
        except files.Unreadable:
            data = None
        return keep(self.shelf, slug, data, now) if data is not None and self.shelf.home else ""

    def set_aside(self, slug: str, now: float) -> str:
        """Move a note that is too large to be read into the archive; its path there."""
        if not self.shelf.home or not is_plain(self.shelf.path(slug)):
            return ""
        path = _archive_path(self.shelf, slug, now)
        files.ensure_dir(os.path.dirname(path))
        files.move(self.shelf.path(slug), path)
        return path

    def remove(self, slug: str) -> None:
        files.erase(self.shelf.path(slug))


def _refresh_caches(shelf: Shelf) -> None:
    """What triggers know of the notes. Without it they are silent."""
    from . import triggers

    try:
        triggers.refresh(shelf)
    except OSError:
        pass


def _lock_path(shelf: Shelf) -> str:
    folder = os.path.dirname(shelf.folder) if shelf.home else shelf.folder
    return os.path.join(folder, settings.NOTES_LOCK)


def archive_folder(shelf: Shelf) -> str:
    return os.path.join(shelf.home, settings.ARCHIVE_DIR, settings.NOTES_ARCHIVE_DIR)


def keep(shelf: Shelf, name: str, data: bytes, now: float) -> str:
    """A copy in the archive; the same content under the same name is kept once."""
    folder = archive_folder(shelf)
    for known in files.names(folder):
        if archived_slug(known) == name and files.is_same(os.path.join(folder, known), data):
            return os.path.join(folder, known)
    path = _archive_path(shelf, name, now)
    files.write(path, data, durable=True)
    return path


def _archive_path(shelf: Shelf, name: str, now: float) -> str:
    return os.path.join(archive_folder(shelf), "%s.%s%s" % (name, clock.fine_stamp(now), _ENDING))


def is_plain(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def archived_slug(name: str) -> str:
    """`parser` of `parser.2026-11-16T060048.123Z.md`."""
    return name[: -len(".2026-11-16T060048.123Z.md")]


# Use ---------------------------------------------------------------------------------------------


def mark_used(shelf: Shelf, slug: str) -> None:
    """Somebody read this note. Losing the mark changes nothing but what is proposed for pruning."""
    if shelf.home:
        try:
            files.touch(_used_path(shelf, slug))
        except OSError:
            pass


def last_used(shelf: Shelf, note: Note) -> float:
    """When a note was last read, verified or written."""
    told = clock.parse(note.day + "T00:00:00Z") or files.modified(note.path)
    return max(told, files.modified(_used_path(shelf, note.slug)) if shelf.home else 0.0)


def _used_path(shelf: Shelf, slug: str) -> str:
    return os.path.join(shelf.home, settings.STATE_DIR, settings.USED_DIR, slug)
