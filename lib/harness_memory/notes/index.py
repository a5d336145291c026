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
VERBS = dict(zip(settings.ENFORCE, ("reminds", "asks", "denies")))


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
    from .binding import firmness  # reading an index does not need it

    name = one_line(note.name).replace("[", "(").replace("]", ")")
    folder = FOLDERS.get(note.scope, TOPICS)
    firm = firmness(note)
    is_rule = firm or note.type == "feedback"  # it stands there whole
    said = "; ".join([fact.text for fact in note.facts]) if is_rule else note.description
    about = "- [%s](%s/%s.md): %s" % (name, folder, note.slug, one_line(said))
    facts = [cut(about, settings.CURATED_LINE_CHARS - 100), note.type, *([note.day] if note.day else [])]
    facts += filter(None, [VERBS.get(firm)])
    return " · ".join([*facts, *([_ABOUT + ", ".join(map(one_line, note.files))] if note.files else [])])


def read_line(line: str) -> tuple[str, str, list[str], str, bool]:
    """Of the note that a line points to: slug, day and files, what to show of it, and whether it is a rule."""
    link, _, rest = line.partition(".md): ")
    folder, _, slug = link.rpartition("](")[2].rpartition("/")
    said, *facts = rest.split(" · ")
    days = [fact for fact in facts if fact[:2] == "20" and len(fact) == 10]
    about = [fact[len(_ABOUT) :].split(", ") for fact in facts if fact.startswith(_ABOUT)]
    is_rule = not {"feedback", *VERBS.values()}.isdisjoint(facts)
    more = [fact for fact in facts if fact not in (*days, *settings.NOTE_TYPES)]
    shown = " · ".join(["%s: %s" % (slug, said), *more])
    slug, shown = (slug, shown) if folder in (TOPICS, *FOLDERS.values()) else ("", line.lstrip("-* "))
    return slug, ["", *days][-1], [[], *about][-1], shown, is_rule


def is_ours(data: bytes) -> bool:
    """Whether a MEMORY.md is a view of ours, not a page that a person wrote."""
    return data.startswith(_HEAD.encode() + b"- [") or data == _HEAD.encode()


def rank(note: Note) -> tuple[float, str]:
    day = (clock.parse(note.day + "T00:00:00Z") or 0.0) / settings.DAY_SECONDS
    return -(day + settings.NOTE_TYPE_HEADSTART_DAYS[note.type]), note.slug
