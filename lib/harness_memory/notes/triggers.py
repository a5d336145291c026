"""Notes that are handed over when a command or a path comes up: `triggers` in their frontmatter.

    <project or user>/STATE/triggers.json   {"schema", "triggers": [{"kind", "pattern", "note", "line"}]}

A cache, written with the index of notes, and only where a note that holds has a trigger; `<root>/triggers`
tells that there may be one at all: where it is not, asking costs a failed open. A command matches when it
begins with the words of a pattern, as does each command in a chain; a path when it fits the glob (`*` within
a folder, `**` across).
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .shelf import Shelf

COMMAND, PATH = "command", "path"
_ANY_FOLDERS = "**"
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
    commands = _commands(command)
    parts = path.strip("/").split("/") if 0 < len(path) <= settings.PATH_CHARS else []
    for home in (project_dir, os.path.join(store_root, settings.USER_DIR)):
        for each in _load(home):
            wanted = each["pattern"]
            if _begins(commands, wanted) if each["kind"] == COMMAND else _fits(parts, wanted):
                found.setdefault(each["note"].partition("/")[2], Found(each["note"], wanted, each["line"]))
    return list(found.values())


def refresh(shelf: Shelf) -> None:
    """Write what the notes of a shelf say; the caller holds its lock."""
    from . import note as notes
    from . import shelf as notebook

    held = []
    for note in notebook.Book(shelf.read()).holding if os.path.isdir(shelf.folder) else ():
        for item in note.fields.get("triggers") or ():
            kind, _, pattern = item.partition(":")
            if kind in notes.TRIGGERS and pattern.strip():
                line = "%s: %s" % (note.name, note.description)
                held.append({"kind": kind, "pattern": pattern.strip(), "note": note.ref, "line": line})
    if held:
        data = jsontext.pretty({"schema": settings.SCHEMA, "triggers": held}).encode("utf-8", "replace")
        files.write_if_changed(_path(shelf.home), data)
        files.touch(os.path.join(os.path.dirname(shelf.home), settings.TRIGGERS_MARK))
    else:
        files.remove(_path(shelf.home))


def _load(home: str) -> list[dict[str, str]]:
    try:
        data = files.read(_path(home))
        value: Any = jsontext.loads(data) if data else {}
        return [each for each in value.get("triggers", ()) if all(isinstance(each[key], str) for key in _KEYS)]
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return []


_KEYS = ("kind", "pattern", "note", "line")


def _commands(text: str) -> list[list[str]]:
    """The words of each command in a chain."""
    for mark in _CHAINS:
        text = text.replace(mark, "\0")
    return [part.split() for part in text.split("\0")]


def _begins(commands: list[list[str]], pattern: str) -> bool:
    words = pattern.split()
    return bool(words) and any(command[: len(words)] == words for command in commands)


def _fits(parts: list[str], pattern: str) -> bool:
    """Whether the folders and the file of a path fit a glob, from the first on."""
    wanted = pattern.strip("/").split("/")
    if not parts or len(wanted) - wanted.count(_ANY_FOLDERS) > len(parts):
        return False
    at = want = 0
    last, taken = -1, 0  # the latest `**`, and up to where it reaches: going back to an earlier one gains nothing
    while at < len(parts):
        if want < len(wanted) and wanted[want] == _ANY_FOLDERS:
            last, taken = want, at
            want += 1
        elif want < len(wanted) and _is_like(parts[at], wanted[want]):
            at += 1
            want += 1
        elif last >= 0:
            taken += 1
            at, want = taken, last + 1
        else:
            return False
    return all(rest == _ANY_FOLDERS for rest in wanted[want:])


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
