"""Documents of sessions, notes and archived titles, as recall indexes them, and the passages that it quotes."""

from __future__ import annotations

from ..base import clock
from .index import ASKS, NOTE, SESSION, Document
from .terms import PATHS_MAX, code, pack, path_term, stem_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..notes.note import Note

_TEXT_MAX_CHARS = 64 * 1024
_PASSAGE_CHARS = 160  # sentences of one speaker are joined up to it
_PATHS_SHOWN = 24
_SAME_CHARS = 40  # what starts like something said is the same


def index_text(
    id: str,
    kind: str,
    title: str,
    text: str = "",
    files: Sequence[str] = (),
    tags: Sequence[str] = (),
    time: float = 0,
    passages: Sequence[str] | None = None,
) -> Document:
    """`text` is searched but not quoted; without `passages` its lines are them."""
    if passages is None:
        text, passages = "", lines(text)
    words = terms(title) + terms(text[:_TEXT_MAX_CHARS])
    paths = list(dict.fromkeys(files))[:PATHS_MAX]
    codes = [*map(code, words)]
    for passage in passages:
        held = terms(passage)
        words += held
        codes += [0, *map(code, held), *([ASKS] if passage[-1:] in "?？" else ())]
    for more in (*tags, *paths):
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
    text, files, tags = "\n".join(map(str, parts)), value["files_changed"], value["tags"]
    return index_text(name, SESSION, headline, text, files, tags, time, of_session(value))


def of_note(note: Note, modified: float) -> Document:
    time = clock.parse(note.day + "T00:00:00Z") or modified
    document = index_text(
        note.ref, NOTE, note.name, note.description, note.files, (), time, lines("\n".join(note.body))
    )
    is_named = note.description.startswith(note.name)
    document.record.line = note.description if is_named else "%s: %s" % (note.name, note.description)
    return document


def of_session(value: dict[str, Any]) -> list[str]:
    """What an episode says, in passages: what was said and done, then what was decided, learned and left."""
    said = value.get("passages")
    joined: list[str] = []
    before = None
    for each in said if isinstance(said, list) else ():
        text, speaker = str(each.get("text") or ""), (each.get("turn"), each.get("by"))
        if before == speaker and text in joined[-1]:  # a line that announces a list has its first item too
            continue
        is_new = speaker != before or text.partition(": ")[0].istitle() or (joined[-1][-1:] == "?" and text[-1:] != "?")
        if not is_new and len(joined[-1]) + len(text) < _PASSAGE_CHARS:
            joined[-1] += " " + text
        else:
            joined.append(text)
        before = speaker
    whole = " ".join(joined)
    more = [*value["asked"], *lines(value["what_was_done"])]
    for key in ("commits", "decisions", "rules", "learnings", "errors", "what_remains"):
        more += [text[len("2026-11-18: ") if key == "rules" else 0 :] for text in map(str, value.get(key) or ())]
    joined += [text for text in more if text[:_SAME_CHARS] not in whole]
    return joined + [
        "`%s` failed; `%s` worked" % (fix["failed"], fix["fixed"]) for fix in value["commands_failed_then_fixed"]
    ]


def lines(text: str) -> list[str]:
    """The lines of a Markdown text without their marks; a long one is cut between sentences."""
    found: list[str] = []
    for line in text[:_TEXT_MAX_CHARS].split("\n"):
        begun = len(found)
        for sentence in line.strip().lstrip("-*+>•# ").replace(". ", ".\n").split("\n"):
            if len(found) > begun and len(found[-1]) + len(sentence) < _PASSAGE_CHARS:
                found[-1] += " " + sentence
            elif sentence:
                found.append(sentence)
    return found
