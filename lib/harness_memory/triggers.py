"""Notes that are handed over when a command or a path comes up: `triggers` in their frontmatter.

    <project or user>/STATE/triggers.json   {"schema", "triggers": [{"kind", "pattern", "note", "line"}]}

A cache, written with the index of notes, and only where a note that holds has a trigger; `<root>/triggers`
tells that there may be one at all: where it is not, asking costs a failed open. A command matches when it
begins with the words of a pattern, as does each command in a chain; a path when it fits the glob (`*` within
a folder, `**` across).
"""

from __future__ import annotations

import os

from . import jsontext, settings, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .notebook import Shelf

COMMAND, PATH = "command", "path"
_CHAINS = ("&&", "||", ";", "|", "\n")


class Found:
    """The note, by its ref, and what to say of it."""

    __slots__ = ("line", "pattern", "ref")

    def __init__(self, ref: str, pattern: str, line: str) -> None:
        self.ref = ref
        self.pattern = pattern
        self.line = line


def match(store_root: str, project_dir: str, *, command: str = "", path: str = "") -> list[Found]:
    """The notes that a command or a path (relative to the project) calls for, the project's before the user's."""
    found: dict[str, Found] = {}
    for home in (project_dir, os.path.join(store_root, settings.USER_DIR)):
        for each in _load(home):
            wanted = each["pattern"]
            is_hit = _begins(command, wanted) if each["kind"] == COMMAND else _fits(path, wanted)
            if is_hit:
                found.setdefault(each["note"].partition("/")[2], Found(each["note"], wanted, each["line"]))
    return list(found.values())


def refresh(shelf: Shelf) -> None:
    """Write what the notes of a shelf say; the caller holds its lock."""
    from . import notebook, notes

    held = []
    for note in notebook.Book(shelf.read()).holding if os.path.isdir(shelf.folder) else ():
        for item in note.fields.get("triggers") or ():
            kind, _, pattern = item.partition(":")
            if kind in notes.TRIGGERS and pattern.strip():
                line = "%s: %s" % (note.name, note.description)
                held.append({"kind": kind, "pattern": pattern.strip(), "note": note.ref, "line": line})
    if held:
        data = jsontext.pretty({"schema": settings.SCHEMA, "triggers": held}).encode("utf-8", "replace")
        store.write_if_changed(_path(shelf.home), data)
        store.touch(os.path.join(os.path.dirname(shelf.home), settings.TRIGGERS_MARK))
    else:
        store.remove(_path(shelf.home))


def _load(home: str) -> list[dict[str, str]]:
    try:
        data = store.read(_path(home))
        value: Any = jsontext.loads(data) if data else {}
        return [each for each in value.get("triggers", ()) if all(isinstance(each[key], str) for key in _KEYS)]
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return []


_KEYS = ("kind", "pattern", "note", "line")


def _begins(command: str, pattern: str) -> bool:
    for mark in _CHAINS:
        command = command.replace(mark, "\0")
    words = pattern.split()
    return any(part.split()[: len(words)] == words for part in command.split("\0")) if words else False


def _fits(path: str, pattern: str) -> bool:
    return bool(path) and _glob(path.strip("/").split("/"), pattern.strip("/").split("/"))


def _glob(parts: list[str], wanted: list[str]) -> bool:
    """Whether the folders and the file fit, from the first on."""
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_glob(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and _is_like(parts[0], wanted[0]) and _glob(parts[1:], wanted[1:])


def _is_like(name: str, pattern: str) -> bool:
    head, *pieces = pattern.split("*")
    if not pieces:
        return name == pattern
    if not name.startswith(head):
        return False
    at = len(head)
    for piece in pieces[:-1]:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return name.endswith(pieces[-1]) and len(name) - len(pieces[-1]) >= at


def _path(home: str) -> str:
    return os.path.join(home, settings.STATE_DIR, settings.TRIGGERS_FILE)
