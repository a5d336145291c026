"""The views of a shelf: `MEMORY.md`, its index, and `STATE/triggers.json`, written together.

    # Notes

    - [Parser](LEARNING/topics/parser.md): How errors read · project · 2026-11-16 · about src/parser.py
    - [Editor](LEARNING/topics/editor.md): Use tabs · user · 2026-11-16 · instead of user/tabs
    - (12 more notes are not listed; all of them: harness memory list --notes)

Ranked by the day a note was last known to be true, with a head start by type. At most 200 lines and 25 KB.

    {"schema", "triggers": [{"kind", "pattern", "note", "line"}]}

`<root>/triggers` marks that some note has a trigger; PreToolUse asks only where it exists. A command matches when it,
or a command in its chain, begins with the words of a pattern; a path when it fits the glob (`**` spans folders).
"""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

TOPICS = settings.LEARNING_DIR + "/" + settings.TOPICS_DIR
FOLDERS = {"local": settings.LOCAL_DIR, settings.TEAM_SCOPE: settings.CLAUDE_DIR + "/" + settings.STORE_DIR}
_HEAD = "# Notes\n\n"
_MORE = "- (%d more note%s not listed; all of them: harness memory list --notes)\n"
_INSTEAD = " · instead of "
_ABOUT = "about "
_TRIGGERS = os.path.join(settings.STATE_DIR, "triggers.json")
_SPEC = {"triggers": [dict.fromkeys(("kind", "pattern", "note", "line"), "text")]}


def render(notes: list[Note]) -> tuple[str, int]:
    """The index of the notes of one shelf that hold, and how many did not fit."""
    best = sorted(notes, key=rank)[: settings.NOTES_INDEX_LINES - 3]  # the head and _MORE
    lines = [render_line(note) + "\n" for note in best]
    while len("".join(lines).encode("utf-8", "replace")) > settings.NOTES_INDEX_BYTES - 110:
        lines.pop()
    missing = len(notes) - len(lines)
    more = _MORE % (missing, " is" if missing == 1 else "s are") if missing else ""
    return "".join((_HEAD, *lines, more)), missing


def render_line(note: Note) -> str:
    name = one_line(note.name).replace("[", "(").replace("]", ")")
    folder = FOLDERS.get(note.scope, TOPICS)
    about = "- [%s](%s/%s.md): %s" % (name, folder, note.slug, one_line(note.description))
    facts = [cut(about, settings.CURATED_LINE_CHARS - 100), note.type, *([note.day] if note.day else [])]
    facts += [_ABOUT + ", ".join(map(one_line, note.files))] if note.files else []
    elsewhere = [one_line(ref) for ref in note.items("supersedes") if "/" in ref]
    return " · ".join(facts) + (_INSTEAD + ", ".join(elsewhere) if elsewhere else "")


def read_line(line: str) -> tuple[str, list[str]]:
    """The slug that a line points to ("" for any other line), and the notes it replaces."""
    head, _, rest = line.partition(".md): ")
    folder, slash, slug = head.rpartition("](")[2].rpartition("/")
    if not slash or folder not in (TOPICS, *FOLDERS.values()):
        return "", []
    return slug, line.rpartition(_INSTEAD)[2].split(", ") if _INSTEAD in rest else []


def files_of(line: str) -> list[str]:
    """The files that the note of a line is about."""
    parts = [part for part in line.partition(_INSTEAD)[0].split(" · ")[1:] if part.startswith(_ABOUT)]
    return parts[-1][len(_ABOUT) :].split(", ") if parts else []


def is_ours(data: bytes) -> bool:
    """Whether a MEMORY.md is a view of ours, not a page that a person wrote."""
    return data.startswith(_HEAD.encode() + b"- [") or data == _HEAD.encode()


def rank(note: Note) -> tuple[float, str]:
    day = (clock.parse(note.day + "T00:00:00Z") or 0.0) / settings.DAY_SECONDS
    return -(day + settings.NOTE_TYPE_HEADSTART_DAYS[note.type]), note.slug


def save_triggers(home: str, notes: list[Note]) -> None:
    rows = [
        {"kind": kind, "pattern": pattern, "note": note.ref, "line": "%s: %s" % (note.name, note.description)}
        for note in notes
        for kind, pattern in note.triggers
    ]
    if rows:
        files.touch(os.path.join(os.path.dirname(home), settings.TRIGGERS_MARK))
    if rows or files.exists(os.path.join(home, _TRIGGERS)):
        files.write_json(os.path.join(home, _TRIGGERS), {"schema": settings.SCHEMA, "triggers": rows})


def match_triggers(store_root: str, project_dir: str, *, command: str = "", path: str = "") -> list[dict[str, str]]:
    """The rows that a command or a path (relative to the project) calls for, the project's before the user's."""
    matches: dict[str, dict[str, str]] = {}
    for mark in ("&&", "|", ";", "\n"):
        command = command.replace(mark, "\0")
    commands = [part.split() for part in command.split("\0")]
    parts = path.strip("/").split("/") if 0 < len(path) <= settings.PATH_CHARS else []
    for home in (project_dir, os.path.join(store_root, settings.USER_DIR)):
        for row in (files.load_json(os.path.join(home, _TRIGGERS), _SPEC) or {"triggers": ()})["triggers"]:
            words = row["pattern"].split()
            is_called = any(words == call[: len(words)] for call in commands)
            if is_called if row["kind"] == "command" else fits(parts, row["pattern"]):
                matches.setdefault(row["note"].partition("/")[2], row)
    return list(matches.values())


def fits(parts: list[str], pattern: str) -> bool:
    from fnmatch import fnmatchcase

    ends = {0}  # how many parts the pattern so far may have taken
    for wanted in pattern.strip("/").split("/"):
        if wanted == "**":
            ends = {*range(min(ends, default=len(parts) + 1), len(parts) + 1)}
        else:
            ends = {end + 1 for end in ends if end < len(parts) and fnmatchcase(parts[end], wanted)}
    return bool(parts) and len(parts) in ends
