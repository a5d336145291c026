"""Notes that are injected when a command or a path comes up: `triggers` in their frontmatter.

    <project or user>/STATE/triggers.json   {"schema", "index", "triggers": [{"kind", "pattern", "note", "line"}]}

A cache of the notes that hold. Its reader renews it when `index` is not the time of MEMORY.md, which every change of
a note sets. `<root>/triggers` marks that some note has a trigger; PreToolUse asks only where it exists. A command
matches when it, or a command in its chain, begins with the words of a pattern; a path when it fits the glob
(`*` within a folder, `**` across folders).
"""

from __future__ import annotations

import os

from ..base import files, settings
from . import shelf as notebook
from .note import trigger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .shelf import Shelf

_CHAINS = ("&&", "|", ";", "\n")
_SPEC = {"index": "number", "triggers": [dict.fromkeys(("kind", "pattern", "note", "line"), "text")]}


def match(store_root: str, project_dir: str, *, command: str = "", path: str = "") -> list[dict[str, str]]:
    """The rows that a command or a path (relative to the project) calls for, the project's before the user's."""
    matches: dict[str, dict[str, str]] = {}
    for mark in _CHAINS:
        command = command.replace(mark, "\0")
    commands = [part.split() for part in command.split("\0")]
    parts = path.strip("/").split("/") if 0 < len(path) <= settings.PATH_CHARS else []
    for shelf in notebook.shelves(store_root, project_dir):
        for row in _load(shelf):
            words = row["pattern"].split()
            is_called = any(words == call[: len(words)] for call in commands)
            if is_called if row["kind"] == "command" else fits(parts, row["pattern"]):
                matches.setdefault(row["note"].partition("/")[2], row)
    return list(matches.values())


def _load(shelf: Shelf) -> list[dict[str, str]]:
    path, written = os.path.join(shelf.home, settings.STATE_DIR, settings.TRIGGERS_FILE), files.modified(shelf.index)
    cache: Any = files.load_json(path, _SPEC) if written else {"index": written, "triggers": []}
    if not cache or cache["index"] != written:
        rows = []
        for note in notebook.holding([shelf]):
            line = "%s: %s" % (note.name, note.description)
            pairs = filter(None, map(trigger, note.items("triggers")))
            rows += [{"kind": kind, "pattern": pattern, "note": note.ref, "line": line} for kind, pattern in pairs]
        cache = {"schema": settings.SCHEMA, "index": written, "triggers": rows}
        files.write_json(path, cache)
    return list(cache["triggers"])


def fits(parts: list[str], pattern: str) -> bool:
    """Whether the parts of a path fit a glob."""
    from fnmatch import fnmatchcase

    ends = {0}  # how many parts the pattern so far may have taken
    for wanted in pattern.strip("/").split("/"):
        if wanted == "**":
            ends = {*range(min(ends, default=len(parts) + 1), len(parts) + 1)}
        else:
            ends = {end + 1 for end in ends if end < len(parts) and fnmatchcase(parts[end], wanted)}
    return bool(parts) and len(parts) in ends
