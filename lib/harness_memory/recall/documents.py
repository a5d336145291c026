"""Sessions, notes and archived titles as recall indexes them."""

from __future__ import annotations

from ..base import clock, jsontext, settings
from ..base import files as store
from ..session import episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..notes.note import Note

SESSION, NOTE, ARCHIVED = "session", "note", "archived"
NEVER = float("inf")  # the time of a document that is no more
ID_MARK = "#"  # before a document's id, as a term: no term of a text begins like it
HIDES = ID_MARK + "hides "  # before the ref of a note that another stands in place of
_ARCHIVED_ID = "archived/"


class Digest:
    """One document as it is indexed: `record` is what is shown of it, [id, kind, day, line, files]."""

    __slots__ = ("counts", "length", "pairs", "record", "strength", "time")

    def __init__(
        self, counts: dict[str, int], pairs: list[int], length: int, time: float, strength: float, record: list[Any]
    ) -> None:
        self.counts = counts
        self.pairs = pairs
        self.length = length
        self.time = time
        self.strength = strength
        self.record = record

    @property
    def id(self) -> str:
        return str(self.record[0])

    @property
    def fingerprint(self) -> tuple[int, tuple[int, ...], str]:
        """What tells two versions of a document apart."""
        return self.length, tuple(self.pairs), jsontext.compact(self.record)


def is_shown(record: object) -> bool:
    """Whether something read is what is shown of a document: [id, kind, day, line, files]."""
    if not isinstance(record, list) or len(record) != 5 or not isinstance(record[4], list):
        return False
    return {type(text) for text in (*record[:4], *record[4])} == {str}


def episode_document(name: str, value: dict[str, Any]) -> dict[str, Any]:
    parts = [*value["asked"], value["what_was_done"], *value["what_remains"], *value["learnings"]]
    parts += [text for each in value["commands_failed_then_fixed"] for text in (each["failed"], each["fixed"])]
    parts += [str(task["title"]) for task in value["tasks"]]
    parts += [value.get("branch") or "", value.get("skill_used") or ""]
    return {
        "id": name,
        "title": "%s\n%s" % (value.get("title") or "", episode.headline(value)),
        "text": "\n".join([str(part) for part in parts]),
        "files": value["files_changed"],
        "tags": value["tags"],
        "ts": clock.parse(value["ended"]) or clock.parse(value["started"]),
        "type": SESSION,
    }


def episode_digest(name: str, value: dict[str, Any]) -> Digest:
    files = value["files_changed"][: settings.RECALL_FILES_KEPT]
    shown = [name, SESSION, value["ended"][:10], episode.headline(value), files]
    return _digest(episode_document(name, value), shown)


def note_digest(note: Note) -> Digest:
    files = [path for path, _ in note.files]
    document = {
        "title": note.name,
        "text": "\n".join([note.description, *note.body]),
        "files": files,
        "ts": clock.parse(note.day + "T00:00:00Z") or store.modified(note.path),
        "type": NOTE,
    }
    line = note.description if note.description.startswith(note.name) else "%s: %s" % (note.name, note.description)
    shown = [note.ref, NOTE, note.day or clock.iso(store.modified(note.path))[:10], line, files]
    digest = _digest(document, shown)
    for word in note.supersedes:
        if "/" in word:
            digest.counts[HIDES + word] = 1
    return digest


def archived_digest(line: bytes) -> Digest | None:
    try:
        entry = jsontext.loads(line) if line else None
    except ValueError:
        return None
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("id", "headline", "started")):
        return None
    document = {"title": entry["headline"], "ts": clock.parse(entry["started"]), "type": SESSION}
    return _digest(document, [_ARCHIVED_ID + entry["id"], ARCHIVED, entry["started"][:10], entry["headline"], []])


def _digest(document: dict[str, Any], shown: list[Any]) -> Digest:
    from . import index

    counts, pairs = index.digest(document)
    length = sum(count for term, count in counts.items() if term[0] != "=")
    strength = index.strength(document, is_work=True)
    return Digest(counts, sorted(pairs), length, index.time_of(document) or 0.0, strength, shown)
