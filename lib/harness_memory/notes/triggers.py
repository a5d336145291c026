"""Notes that are injected when a command or a path comes up: `triggers` in their frontmatter.

    <project or user>/STATE/triggers.json   {"schema", "triggers": [{"kind", "pattern", "note", "line"}]}

A view of the notes that hold, written with MEMORY.md. `<root>/triggers` marks that some note has a trigger; PreToolUse
asks only where it exists. A command matches when it, or a command in its chain, begins with the words of a pattern; a
path when it fits the glob (`*` within a folder, `**` across folders).
"""

from __future__ import annotations

import os

from ..base import files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

_FILE = os.path.join(settings.STATE_DIR, "triggers.json")
_SPEC = {"triggers": [dict.fromkeys(("kind", "pattern", "note", "line"), "text")]}


def save(home: str, notes: list[Note]) -> None:
    rows = [
        {"kind": kind, "pattern": pattern, "note": note.ref, "line": "%s: %s" % (note.name, note.description)}
        for note in notes
        for kind, pattern in note.triggers
    ]
    if rows:
        files.touch(os.path.join(os.path.dirname(home), settings.TRIGGERS_MARK))
    if rows or files.exists(os.path.join(home, _FILE)):
        files.write_json(os.path.join(home, _FILE), {"schema": settings.SCHEMA, "triggers": rows})


def match(store_root: str, project_dir: str, *, command: str = "", path: str = "") -> list[dict[str, str]]:
    """The rows that a command or a path (relative to the project) calls for, the project's before the user's."""
    matches: dict[str, dict[str, str]] = {}
    for mark in ("&&", "|", ";", "\n"):
        command = command.replace(mark, "\0")
    commands = [part.split() for part in command.split("\0")]
    parts = path.strip("/").split("/") if 0 < len(path) <= settings.PATH_CHARS else []
    for home in (project_dir, os.path.join(store_root, settings.USER_DIR)):
        for row in (files.load_json(os.path.join(home, _FILE), _SPEC) or {"triggers": ()})["triggers"]:
            words = row["pattern"].split()
            is_called = any(words == call[: len(words)] for call in commands)
            if is_called if row["kind"] == "command" else fits(parts, row["pattern"]):
                matches.setdefault(row["note"].partition("/")[2], row)
    return list(matches.values())


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
