"""A document: one session, note or archived title as recall indexes it."""

from __future__ import annotations

from ..base import clock, settings
from .index import ARCHIVED, NOTE, SESSION, Record
from .terms import PATHS_MAX, pair_code, path_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..notes.note import Note

_TEXT_MAX_CHARS = 64 * 1024


class Document:
    """Term counts, codes of neighbouring terms, and the record to show; `stamp` is the version of its file."""

    __slots__ = ("counts", "length", "pairs", "record", "stamp", "time")

    def __init__(self, counts: dict[str, int], pairs: Sequence[int], length: int, time: float, record: Record) -> None:
        self.counts = counts
        self.pairs = pairs
        self.length = length
        self.time = time
        self.record = record
        self.stamp = 0

    def to_row(self) -> list[Any]:
        return [self.counts, self.pairs, self.length, self.time, self.record.to_row(), self.stamp]


def from_row(row: list[Any]) -> Document:
    counts, pairs, length, time, record, stamp = row
    document = Document(counts, pairs, length, time, Record(*record))
    document.stamp = stamp
    return document


def index(
    id: str,
    kind: str,
    title: str,
    text: str = "",
    files: Sequence[str] = (),
    tags: Sequence[str] = (),
    time: float = 0.0,
) -> Document:
    words = terms(title) + terms(text[:_TEXT_MAX_CHARS])
    pairs = sorted({pair_code(first, second) for first, second in zip(words, words[1:]) if first != second})
    paths = list(dict.fromkeys(files))[:PATHS_MAX]
    for more in (*tags, *paths):
        words += terms(more)
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    counts.update((path_term(path), len(paths)) for path in paths)
    record = Record(id, kind, clock.iso(time)[:10], title, paths[: settings.RECALL_FILES_KEPT])
    return Document(counts, pairs, len(words), time, record)


def of_episode(name: str, value: dict[str, Any], headline: str) -> Document:
    parts = [*value["asked"], value["what_was_done"], *value["what_remains"], *value["learnings"]]
    parts += [text for each in value["commands_failed_then_fixed"] for text in (each["failed"], each["fixed"])]
    parts += [task["title"] for task in value["tasks"]]
    parts += [value.get("branch") or "", value.get("skill_used") or ""]
    title = "%s\n%s" % (value.get("title") or "", headline)
    time = clock.parse(value["ended"]) or clock.parse(value["started"]) or 0.0
    document = index(name, SESSION, title, "\n".join(map(str, parts)), value["files_changed"], value["tags"], time)
    document.record.line = headline
    return document


def of_note(note: Note, modified: float) -> Document:
    time = clock.parse(note.day + "T00:00:00Z") or modified
    text = "\n".join([note.description, *note.body])
    document = index(note.ref, NOTE, note.name, text, [path for path, _ in note.files], (), time)
    is_named = note.description.startswith(note.name)
    document.record.line = note.description if is_named else "%s: %s" % (note.name, note.description)
    return document


def of_archived(id: str, started: str, headline: str) -> Document:
    return index(id, ARCHIVED, headline, time=clock.parse(started) or 0.0)
