"""A document: one session, note or archived title as recall indexes it."""

from __future__ import annotations

from zlib import crc32

from ..base import clock, settings
from . import tuning
from .terms import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..notes.note import Note

SESSION, NOTE, ARCHIVED = "session", "note", "archived"
KINDS = (SESSION, NOTE, ARCHIVED)
_PATH_MARK = "="  # no term of a text starts with it


class Document:
    """Term counts and neighbouring terms of a text, and what recall shows of it: `day`, `line`, `files`.

    `stamp` identifies the version of the file it derives from.
    """

    __slots__ = ("counts", "day", "files", "id", "kind", "length", "line", "pairs", "stamp", "time")

    def __init__(self, id: str, kind: str, title: str, text: str = "", *, files: Iterable[str] = ()) -> None:
        words = terms(title) + terms(text[: tuning.DOCUMENT_MAX_CHARS])
        paths = list(dict.fromkeys(files))[: tuning.PATHS_MAX]
        self.id = id
        self.kind = kind
        self.pairs = sorted({pair_code(first, second) for first, second in zip(words, words[1:]) if first != second})
        self.counts: dict[str, int] = {}
        self.length = 0
        self.add(words)
        for path in paths:
            self.add(terms(path))
        self.counts.update((path_term(path), len(paths)) for path in paths)
        self.files = paths
        self.time = 0.0
        self.stamp = 0
        self.day = ""
        self.line = title

    def add(self, words: Sequence[str]) -> None:
        self.length += len(words)
        for word in words:
            self.counts[word] = self.counts.get(word, 0) + 1


def to_row(document: Document) -> list[Any]:
    return [getattr(document, name) for name in Document.__slots__]


def from_row(row: list[Any]) -> Document:
    """ValueError for a row with another number of fields."""
    if len(row) != len(Document.__slots__):
        raise ValueError("not a document")
    document = Document.__new__(Document)
    for name, value in zip(Document.__slots__, row):
        setattr(document, name, value)
    return document


def of_episode(name: str, value: dict[str, Any], headline: str) -> Document:
    parts = [*value["asked"], value["what_was_done"], *value["what_remains"], *value["learnings"]]
    parts += [text for each in value["commands_failed_then_fixed"] for text in (each["failed"], each["fixed"])]
    parts += [task["title"] for task in value["tasks"]]
    parts += [value.get("branch") or "", value.get("skill_used") or ""]
    title = "%s\n%s" % (value.get("title") or "", headline)
    document = Document(name, SESSION, title, "\n".join(map(str, parts)), files=value["files_changed"])
    for tag in value["tags"]:
        document.add(terms(tag))
    document.time = clock.parse(value["ended"]) or clock.parse(value["started"]) or 0.0
    document.day = value["ended"][:10]
    document.line = headline
    document.files = document.files[: settings.RECALL_FILES_KEPT]
    return document


def of_note(note: Note, modified: float) -> Document:
    text = "\n".join([note.description, *note.body])
    document = Document(note.ref, NOTE, note.name, text, files=[path for path, _ in note.files])
    document.time = clock.parse(note.day + "T00:00:00Z") or modified
    document.day = note.day or clock.iso(modified)[:10]
    is_named = note.description.startswith(note.name)
    document.line = note.description if is_named else "%s: %s" % (note.name, note.description)
    return document


def of_archived(id: str, started: str, headline: str) -> Document:
    document = Document(id, ARCHIVED, headline)
    document.time = clock.parse(started) or 0.0
    document.day = started[:10]
    return document


def pair_code(first: str, second: str) -> int:
    """A number for two neighbouring terms."""
    return crc32(("%s %s" % (first, second)).encode("utf-8", "surrogatepass"))


def path_term(path: str) -> str:
    """The term for all documents about a path; its count is the number of paths in the document."""
    return _PATH_MARK + path.replace("\\", "/").strip("/").lower()
