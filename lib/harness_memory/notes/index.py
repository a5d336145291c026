"""The view of a shelf: `MEMORY.md`, the index of its notes.

    # Notes

    - [Parser](LEARNING/topics/parser.md): How errors read · project · 2026-11-16 · about src/parser.py
    - [No npm](LEARNING/topics/no-npm.md): We use pnpm · feedback · 2026-11-16 · denies
    - (12 more notes are not listed; all of them: harness memory list --notes)

Ranked by the day a note was last known to be true, with a head start by type. At most 200 lines and 25 KB.
"""

from __future__ import annotations

from ..base import clock, settings
from ..base.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

TOPICS = settings.LEARNING_DIR + "/" + settings.TOPICS_DIR
FOLDERS = {"local": settings.LOCAL_DIR, settings.TEAM_SCOPE: settings.CLAUDE_DIR + "/" + settings.STORE_DIR}
_HEAD = "# Notes\n\n"
_MORE = "- (%d more note%s not listed; all of them: harness memory list --notes)\n"
_ABOUT = "about "


def render(notes: list[Note]) -> str:
    """The index of the notes of one shelf that hold."""
    best = sorted(notes, key=rank)[: settings.NOTES_INDEX_LINES - 3]  # the head and _MORE
    lines = [render_line(note) + "\n" for note in best]
    while len("".join(lines).encode("utf-8", "replace")) > settings.NOTES_INDEX_BYTES - 110:
        lines.pop()
    missing = len(notes) - len(lines)
    more = _MORE % (missing, " is" if missing == 1 else "s are") if missing else ""
    return "".join((_HEAD, *lines, more))


def render_line(note: Note) -> str:
    from .binding import VERBS, firmness  # reading an index does not need it

    name = one_line(note.name).replace("[", "(").replace("]", ")")
    folder = FOLDERS.get(note.scope, TOPICS)
    about = "- [%s](%s/%s.md): %s" % (name, folder, note.slug, one_line(note.description))
    facts = [cut(about, settings.CURATED_LINE_CHARS - 100), note.type, *([note.day] if note.day else [])]
    facts += filter(None, [VERBS.get(firmness(note))])
    return " · ".join([*facts, *([_ABOUT + ", ".join(map(one_line, note.files))] if note.files else [])])


def read_line(line: str) -> tuple[str, str, list[str]]:
    """Of the note that a line points to: slug, day and files; "" for what it does not say."""
    head, *facts = line.split(" · ")
    folder, _, slug = head.partition(".md): ")[0].rpartition("](")[2].rpartition("/")
    days = [fact for fact in facts if fact[:2] == "20" and len(fact) == 10]
    about = [fact[len(_ABOUT) :].split(", ") for fact in facts if fact.startswith(_ABOUT)]
    return slug if folder in (TOPICS, *FOLDERS.values()) else "", ["", *days][-1], [[], *about][-1]


def is_ours(data: bytes) -> bool:
    """Whether a MEMORY.md is a view of ours, not a page that a person wrote."""
    return data.startswith(_HEAD.encode() + b"- [") or data == _HEAD.encode()


def rank(note: Note) -> tuple[float, str]:
    day = (clock.parse(note.day + "T00:00:00Z") or 0.0) / settings.DAY_SECONDS
    return -(day + settings.NOTE_TYPE_HEADSTART_DAYS[note.type]), note.slug
