"""Notes of a team: `.claude/memory/*.md` of a checkout, one topic a file, in the format of all notes.

    author, shared    in the frontmatter: who shared it, and the day

They come with the repository and are reviewed like code. Branches and worktrees may have different ones.
"""

from __future__ import annotations

import os

from ..base import settings
from ..base.redact import redact
from . import index
from . import note as notes
from .shelf import holding, team_shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

_HOMES = ("/home/", "/Users/", ":\\Users\\", "/root/")  # of anybody


def lines(store_root: str, checkout: str, now: float) -> list[str]:
    """The index of a checkout's notes, by path; one that may no longer hold says so."""
    listed = holding(team_shelf(store_root, checkout))[: settings.NOTES_INDEX_LINES]
    return [index.render_line(note) + note.mark(checkout, now) for note in listed]


def path(checkout: str, slug: str) -> str:
    return os.path.join(checkout, *index.FOLDERS[settings.TEAM_SCOPE].split("/"), slug + ".md")


def render(note: Note, author: str, day: str) -> str:
    """A note as it is shared: without what says where and when it was written down."""
    shared = notes.Note(note.slug, {**note.fields, "description": note.description, "type": note.type}, note.body)
    shared.fields.update(name=note.name, author=author, shared=day)
    for key in ("scope", "session"):
        shared.fields.pop(key, None)
    return notes.render(shared)


def refusals(text: str, home: str) -> list[tuple[int, str]]:
    """Lines that others must not see: (number, why). Secrets, and paths of a person's home."""
    marks, found = [*_HOMES, *([home] if len(home) > 1 else [])], []
    for number, row in enumerate(text.split("\n"), 1):
        if redact(row) != row:
            found.append((number, "holds a secret"))
        elif any(mark in row + "/" for mark in marks):
            found.append((number, "names a path of a person's home"))
    return found
