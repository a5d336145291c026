"""Finding words in what is remembered, by reading it all: sessions and notes, newest first.

`find` is the whole interface: another way of searching need only answer as it does.
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..notes import shelf
from ..session import episode
from ..session.sessions import day_and_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..notes.shelf import Shelf

_AROUND_CHARS = 60
_FIELDS = (
    "headline",
    "what_was_done",
    "what_remains",
    "asked",
    "learnings",
    "title",
    "files_changed",
    "tags",
    "branch",
    "commands_failed_then_fixed",
    "tasks",
)


class Hit:
    """Where the words were found; `text` is the best line of it."""

    __slots__ = ("day", "id", "kind", "line", "path", "text")

    def __init__(self, kind: str, id: str, path: str, day: str, line: int, text: str) -> None:
        self.kind = kind  # session | note | archived
        self.id = id
        self.path = path
        self.day = day
        self.line = line
        self.text = text


def find(project_dir: str, shelves: list[Shelf], words: list[str]) -> Iterator[Hit]:
    """Everything that holds each of the words, in whatever case."""
    wanted = [word.casefold() for word in words]
    yield from find_notes(shelves, wanted)
    yield from find_sessions(project_dir, wanted)


def find_notes(shelves: list[Shelf], wanted: list[str]) -> Iterator[Hit]:
    for note in shelf.open_book(shelves).holding:
        lines = [(1, note.name), (1, note.description)]
        lines += [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
        best = _best(lines, wanted)
        if best:
            yield Hit("note", note.ref, note.path, note.day, *best)


def find_sessions(project_dir: str, wanted: list[str]) -> Iterator[Hit]:
    folder = os.path.join(project_dir, settings.EPISODES_DIR)
    for name in reversed(episode.names(project_dir)):
        path = os.path.join(folder, name)
        try:
            data = files.read(path) or b""
            # Most episodes are told apart by their bytes; only the others are decoded.
            if all(word.isascii() and '"' not in word and "\\" not in word for word in wanted):
                text = data.decode("utf-8", "replace").casefold()
                if not all(word in text for word in wanted):
                    continue
            value = jsontext.loads(data)
        except (OSError, ValueError):
            continue
        if episode.problem(value) == "":
            best = _best([(1, text) for text in texts(value)], wanted)
            if best:
                day, short_id = day_and_id(name)
                yield Hit("session", short_id, path, day, *best)


def find_archived(store_root: str, project_dir: str, words: list[str], troubles: list[OSError]) -> Iterator[Hit]:
    """The same in what was put away, one hit a session: `path` is the archive it is in. `troubles` tell of archives
    that could not be read to their end."""
    from ..memory import archive as vault

    wanted = [word.casefold() for word in words]
    told: set[str] = set()
    for name, entry, path, text in vault.texts(store_root, project_dir, troubles):
        if entry["id"] in told:
            continue
        if path.endswith(".json"):
            try:
                lines = [(1, part) for part in texts(jsontext.loads(text))]
            except (ValueError, AttributeError):
                continue
        else:
            lines = list(enumerate(text.split("\n"), 1))
        best = _best(lines, wanted)
        if best:
            told.add(entry["id"])
            archive = os.path.join(vault.folder(store_root, project_dir), name + vault.ENDING)
            yield Hit("archived", entry["id"], archive, entry["started"][:10], *best)


def texts(value: dict[str, Any]) -> Iterator[str]:
    for key in _FIELDS:
        yield from _leaves(value.get(key))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _best(lines: list[tuple[int, str]], wanted: list[str]) -> tuple[int, str] | None:
    """The first line with the most of the words, if the lines together hold them all."""
    missing, best, most = set(wanted), (1, ""), 0
    for number, text in lines:
        folded = text.casefold()
        found = [word for word in wanted if word in folded]
        missing.difference_update(found)
        if len(found) > most:
            best, most = (number, _around(text, folded.find(found[0]))), len(found)
    return None if missing else best


def _around(text: str, at: int) -> str:
    begin = max(0, at - _AROUND_CHARS)
    begin = text.rfind(" ", 0, begin) + 1 if begin else 0
    end = at + 2 * _AROUND_CHARS
    shown = text[begin:] if end >= len(text) else text[begin : max(text.rfind(" ", 0, end), at + 1)]
    return ("…" if begin else "") + shown + ("…" if end < len(text) else "")
