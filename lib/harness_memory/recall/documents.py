"""Documents of sessions, notes and archived titles, as recall indexes them."""

from __future__ import annotations

from ..base import clock
from .index import NOTE, SESSION, Document
from .terms import PATHS_MAX, pair_code, path_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from typing import Any

    from ..notes.note import Note

_TEXT_MAX_CHARS = 64 * 1024


def index_text(
    id: str, kind: str, title: str, text: str = "", files: Sequence[str] = (), tags: Sequence[str] = (), time: float = 0
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
    return Document(counts, pairs, len(words), time, [id, kind, clock.iso(time)[:10], title, paths[:12]])


def of_episode(name: str, value: dict[str, Any], headline: str) -> Document:
    parts = [*value["asked"], value["what_was_done"], *value["what_remains"], *value["learnings"]]
    parts += [text for each in value["commands_failed_then_fixed"] for text in (each["failed"], each["fixed"])]
    parts += [task["title"] for task in value["tasks"]]
    parts += [value.get("branch") or "", value.get("skill_used") or ""]
    title = "%s\n%s" % (value.get("title") or "", headline)
    time = clock.parse(value["ended"]) or clock.parse(value["started"]) or 0.0
    document = index_text(name, SESSION, title, "\n".join(map(str, parts)), value["files_changed"], value["tags"], time)
    document.record.line = headline
    return document


def of_team(store_root: str, checkout: str, known: Container[str]) -> Iterator[Document]:
    """The notes of a checkout that no note of the project overrides."""
    from ..base import files
    from ..notes import shelf, team

    for note in shelf.holding(shelf.team_shelf(store_root, checkout)):
        if "project/" + note.slug not in known:
            document = of_note(note, files.modified(note.path))
            document.record.line += team.stale_mark(note, checkout)
            yield document


def of_note(note: Note, modified: float) -> Document:
    time = clock.parse(note.day + "T00:00:00Z") or modified
    text = "\n".join([note.description, *note.body])
    document = index_text(note.ref, NOTE, note.name, text, note.files, (), time)
    is_named = note.description.startswith(note.name)
    document.record.line = note.description if is_named else "%s: %s" % (note.name, note.description)
    return document
