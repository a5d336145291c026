"""`MEMORY.md`, the index of a shelf of notes: a view, one line a note, the best first.

    # Notes

    - [Parser](LEARNING/topics/parser.md): How errors are told · project · 2026-11-16 · instead of user/parser
    - (12 more notes are not listed; all of them: harness memory list --notes)

Ranked by the day a note was last known to be true, with a head start by type. At most 200 lines and
25 KB; what does not fit is counted in the last line. A `MEMORY.md` that somebody wrote by hand is put
into the archive before the first note takes its place.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings
from . import line as noteline
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note
    from .shelf import Shelf

HEAD = "# Notes\n\n"

_LEFT_OUT = "- (%d more note%s not listed; all of them: harness memory list --notes)\n"
_TAIL_BYTES = 100  # room for the line that says what was left out


class Size:
    """How full an index is: its lines and bytes, and how many notes found no place."""

    __slots__ = ("bytes", "left_out", "lines")

    def __init__(self, text: str, left_out: int) -> None:
        self.lines = text.count("\n")
        self.bytes = len(text.encode("utf-8", "replace"))
        self.left_out = left_out

    @property
    def percent(self) -> int:
        if self.left_out:
            return 100
        return max(self.lines * 100 // settings.NOTES_INDEX_LINES, self.bytes * 100 // settings.NOTES_INDEX_BYTES)

    @property
    def warning(self) -> str:
        """What to tell about it; "" while there is room."""
        if self.percent < settings.NOTES_INDEX_WARN_PERCENT:
            return ""
        told = "%s is %d %% full (%d lines, %d bytes)" % (
            settings.NOTES_INDEX_FILE,
            self.percent,
            self.lines,
            self.bytes,
        )
        return told + ("; %d notes are not listed in it" % self.left_out if self.left_out else "")


def render(found: list[Note]) -> tuple[str, Size]:
    """The index of one shelf's notes, without those that are superseded on it."""
    holding = sorted(notebook.Book(found).holding, key=rank)
    lines = [noteline.render(note) + "\n" for note in holding]
    count, used = 0, len(HEAD) + _TAIL_BYTES
    for line in lines:
        used += len(line.encode("utf-8", "replace"))
        is_last = count + 1 == len(lines)
        room = settings.NOTES_INDEX_LINES - HEAD.count("\n") - (0 if is_last else 1)
        if used > settings.NOTES_INDEX_BYTES or count >= room:
            break
        count += 1
    left = len(lines) - count
    text = HEAD + "".join(lines[:count])
    text += _LEFT_OUT % (left, " is" if left == 1 else "s are") if left else ""
    return text, Size(text, left)


def refresh(shelf: Shelf) -> bool:
    """Bring MEMORY.md up to date, True when it changed; the caller holds the shelf's lock."""
    wanted = expected(shelf)
    if not wanted:
        _remove_empty(shelf.folder)  # or it would seem newer than its index for ever
    if wanted is None:
        return False
    try:
        before = files.read(shelf.index)
    except OSError:
        before = None
    if before == wanted:
        files.write(shelf.index, wanted)  # to be newer than every note: see `is_behind`
        return False
    if before and not is_ours(before):
        notebook.keep(shelf, settings.NOTES_INDEX_FILE[: -len(".md")], before, files.made(shelf.index))
    if wanted:
        files.write(shelf.index, wanted)
    else:
        files.remove(shelf.index)
    return True


def expected(shelf: Shelf) -> bytes | None:
    """What MEMORY.md must hold, b"" when it must not be there; None when it is no view, but a person's."""
    if not os.path.isdir(shelf.folder):
        return None
    found = shelf.read()
    if found:
        return render(found)[0].encode("utf-8", "replace")
    return b"" if is_ours(files.read_head(shelf.index, 64)) else None


def is_ours(data: bytes) -> bool:
    return data.startswith(HEAD.encode() + b"- [") or data == HEAD.encode()


def is_behind(shelf: Shelf) -> bool:
    """Whether a note was written, or removed, after the index: by hand, or by a process that was killed."""
    return files.is_changed_since(shelf.folder, files.made(shelf.index))


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(files.inside(folder))
    except OSError:
        pass


def rank(note: Note) -> tuple[float, str]:
    day = (clock.parse(note.day + "T00:00:00Z") or 0.0) / 86400
    return -(day + settings.NOTE_TYPE_HEADSTART_DAYS[note.type]), note.slug
