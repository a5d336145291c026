"""Documents of sessions, notes and archived titles, as recall indexes them."""

from __future__ import annotations

from ..base import clock
from ..base.typing import Any, Sequence
from .index import ASKS, NOTE, SESSION, Document
from .passages import TEXT_MAX_CHARS, lines, of_session
from .terms import PATHS_MAX, code, pack, path_term, stem_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..notes.note import Note

    Texts = Sequence[str]

_PATHS_SHOWN = 24


def index_text(
    id: str, kind: str, title: str, text: str = "", files: Texts = (), time: float = 0, passages: Texts = ()
) -> Document:
    """`text` is searched but not quoted."""
    words = terms(title) + terms(text[:TEXT_MAX_CHARS])
    paths = list(dict.fromkeys(files))[:PATHS_MAX]
    codes = [*map(code, words)]
    for passage in passages:
        held = terms(passage)
        words += held
        codes += [0, *map(code, held), *([ASKS] if passage[-1:] in "?？" else ())]
    for more in paths:
        words += terms(more)
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    for name in (path_term, stem_term):
        names = {*map(name, paths)}
        counts.update(dict.fromkeys(names, len(names)))
    record = [id, kind, clock.iso(time)[:10], title, paths[:_PATHS_SHOWN]]
    return Document(counts, pack(codes).hex(), len(words), time, record)


def of_episode(name: str, value: dict[str, Any], headline: str) -> Document:
    parts = [task["title"] for task in value["tasks"]]
    parts += [value.get("branch") or "", value.get("skill_used") or "", value.get("title") or ""]
    time = clock.parse(value["ended"]) or clock.parse(value["started"]) or 0.0
    text = "\n".join(map(str, [*parts, *value["tags"]]))
    return index_text(name, SESSION, headline, text, value["files_changed"], time, of_session(value))


def of_note(note: Note, modified: float) -> Document:
    time = clock.parse(note.day + "T00:00:00Z") or modified
    said = lines("\n".join(note.body))
    document = index_text(note.ref, NOTE, note.name, note.description, note.files, time, said)
    is_named = note.description.startswith(note.name)
    document.record.line = note.description if is_named else "%s: %s" % (note.name, note.description)
    return document
