"""A note as one line of an index, written and read back.

- [Parser](LEARNING/topics/parser.md): How errors are told · project · 2026-11-16 · instead of user/parser
"""

from __future__ import annotations

from ..base import settings
from ..base.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

_FOLDERS = {"local": settings.LOCAL_DIR}
_TOPICS = settings.LEARNING_DIR + "/" + settings.TOPICS_DIR
_INSTEAD = " · instead of "


def render(note: Note) -> str:
    name = one_line(note.name).replace("[", "(").replace("]", ")")
    link = "](%s/%s.md): " % (_FOLDERS.get(note.scope, _TOPICS), note.slug)
    about = cut("- [" + name + link + one_line(note.description), settings.CURATED_LINE_CHARS - 100)
    facts = [note.type, note.day] if note.day else [note.type]
    elsewhere = [one_line(ref) for ref in note.supersedes if "/" in ref]
    return about + " · " + " · ".join(facts) + (_INSTEAD + ", ".join(elsewhere) if elsewhere else "")


def read(line: str) -> tuple[str, list[str]]:
    """The slug a line points to ("" for any other line), and the refs it stands in place of."""
    head, _, rest = line.partition(".md): ")
    folder, slash, slug = head.rpartition("](")[2].rpartition("/")
    if not slash or folder not in (_TOPICS, settings.LOCAL_DIR):
        return "", []
    return slug, line.rpartition(_INSTEAD)[2].split(", ") if _INSTEAD in rest else []
