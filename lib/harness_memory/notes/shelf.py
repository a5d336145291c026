"""Where notes lie, which of them hold, and the one way to write them.

    <session>/local/*.md                 local: deleted when the session ends
    <project>/LEARNING/topics/*.md       project
    <checkout>/.claude/memory/*.md       team: comes with the repository, reviewed like code; `share` writes it, with
                                         the fields author and shared
    <store>/user/LEARNING/topics/*.md    user: follows the person into every project

The nearer scope wins, in this order: of two notes of one name the local one overrides the project's, and so on. A note
that another of its scope supersedes stays on disk and is never injected. Every change happens under the shelf's lock
and renews its index, MEMORY.md.
"""

from __future__ import annotations

import errno
import os

from ..base import clock, files, settings
from ..base.lock import Lock
from ..base.redact import redact
from . import binding, index
from . import note as notes
from .note import Note


class Shelf:
    """The notes of one scope; `home`, with their index and archive, is "" for local ones. `with shelf:` locks it."""

    def __init__(self, scope: str, home: str, wait_seconds: float = 5.0) -> None:
        self.scope = scope
        self.may_loosen = False  # only a person may make a note bind less
        self.home = home if scope in ("project", "user") else ""
        self.folder = os.path.join(home, *index.FOLDERS.get(scope, index.TOPICS).split("/"))
        self.index = os.path.join(home, settings.NOTES_INDEX_FILE)
        self.archive = os.path.join(home, settings.ARCHIVE_DIR, settings.NOTES_ARCHIVE_DIR)
        lock = os.path.join(os.path.dirname(self.folder) if self.home else self.folder, "notes.lock")
        self.lock = Lock(lock, wait_seconds, "another process writes the notes; nothing was changed. Try again")

    def path(self, slug: str) -> str:
        return os.path.join(self.folder, slug + ".md")

    def slugs(self) -> list[str]:
        return [name[: -len(".md")] for name in files.names(self.folder) if name.endswith(".md") and name[0] != "."]

    def read(self) -> list[Note]:
        return [note for note in map(self.note, self.slugs()) if note]

    def note(self, slug: str) -> Note | None:
        """None when the file is missing, empty, or cannot be read, which `verify` names."""
        path = self.path(slug)
        try:
            data = files.read(path, settings.CURATED_MAX_BYTES, of_anyone=self.scope == settings.TEAM_SCOPE)
        except OSError as error:
            files.raise_passing(error)
            data = None
        note = notes.parse(slug, (data or b"").decode("utf-8", "replace"))
        note.scope, note.path = self.scope, path
        return note if data else None

    def __enter__(self) -> Shelf:
        self.lock.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            self.refresh()
        finally:
            self.lock.discard()
            self.lock.__exit__(*exc)

    def put(self, note: Note, now: float) -> str:
        """Write a note, without secrets; the path of its former version in the archive, or ""."""
        self.check(note.slug, note)
        data = redact(notes.render(note)).encode("utf-8", "replace")
        former = (files.read(self.path(note.slug)) or b"") if self.home else b""
        archived = self.archived(note.slug, now) if former not in (b"", data) else ""
        if archived:
            files.write(archived, former, durable=True)
        files.write(self.path(note.slug), data, durable=True)
        return archived

    def remove(self, slug: str, now: float) -> str:
        """Move a note into the archive and name its path there; delete a local one."""
        self.check(slug, None)
        if not self.home:
            files.erase(self.path(slug))
            return ""
        path = self.archived(slug, now)
        files.move(self.path(slug), path)
        return path

    def check(self, slug: str, after: Note | None) -> None:
        """Bound where a note that binds would bind less."""
        before = self.note(slug)
        if before and not self.may_loosen and binding.is_looser(before, after):
            raise binding.Bound(errno.EPERM, binding.PERSON, before.path)

    def archived(self, slug: str, now: float) -> str:
        files.ensure_dir(self.archive)
        return os.path.join(self.archive, "%s.%s.md" % (slug, clock.stamp(clock.fine_iso(now))))

    def refresh(self) -> bool:
        """Bring MEMORY.md up to date; True when its text changed."""
        head, has_notes = files.read_part(self.index, 64), bool(self.slugs())
        if not self.home or not (has_notes or index.is_ours(head)):
            return False
        if head and not index.is_ours(head):
            files.move(self.index, self.archived("MEMORY", files.made(self.index)))
        text = index.render(holding([self])).encode("utf-8", "replace") if has_notes else b""
        is_changed = not files.is_same(self.index, text)
        binding.save(self.home, self.read())
        if text:
            files.write(self.index, text)  # also when unchanged: housekeeping compares its time with that of the notes
        else:
            files.erase(self.index)
            files.remove_if_empty(self.folder)  # an empty folder would stay newer than its missing index
        return is_changed


def user_shelf(store_root: str) -> Shelf:
    return Shelf("user", os.path.join(store_root, settings.USER_DIR))


def team_shelf(store_root: str, checkout: str) -> list[Shelf]:
    """The notes of a checkout, if it has any; a link may lead to files of others, and at home it is the store."""
    shelf = Shelf(settings.TEAM_SCOPE, checkout)
    is_store = os.path.realpath(shelf.folder) == os.path.realpath(store_root)
    is_ours = checkout and os.path.isdir(shelf.folder) and not is_store
    is_linked = any(map(os.path.islink, (shelf.folder, os.path.dirname(shelf.folder))))
    return [shelf] if is_ours and not is_linked else []


def shelves(store_root: str, project_dir: str, session_dir: str = "", checkout: str = "") -> list[Shelf]:
    """The nearest first."""
    nearer = [Shelf("local", session_dir)] if session_dir else []
    return [*nearer, Shelf("project", project_dir), *team_shelf(store_root, checkout), user_shelf(store_root)]


def read_all(places: list[Shelf]) -> list[Note]:
    """All notes, the nearest scope first, each with its `fate`: why it does not hold, or ""."""
    all_notes = [note for shelf in places for note in shelf.read()]
    readable = {note.ref: note for note in all_notes if not note.is_unreadable}
    nearest: dict[str, Note] = {}
    targets = {}
    for ref, note in readable.items():
        targets[ref] = ["%s/%s" % (note.scope, word) for word in note.items("supersedes")]
        first = nearest.setdefault(note.slug, note)
        note.fate = "overridden by " + first.ref if first is not note else ""
    for ref, superseded in targets.items():
        for each in superseded:
            if each in readable and ref not in targets[each]:  # of two that supersede each other both hold
                readable[each].fate = "superseded by " + ref
    return all_notes


def holding(places: list[Shelf]) -> list[Note]:
    return [note for note in read_all(places) if not note.fate]


def archived_slug(name: str) -> str:
    """`parser` of `parser.2026-11-16T060048.123Z.md`."""
    return name.rsplit(".", 3)[0]
