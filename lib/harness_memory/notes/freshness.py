"""Whether what a note says can still be trusted: the files it is about, compared with when it was verified.

FRESH      every file is as it was
DRIFTED    some file has changed, or is gone
ORPHANED   all of them are gone
"""

from __future__ import annotations

import os

from ..base import clock, settings
from . import note as notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

FRESH = "FRESH"
DRIFTED = "DRIFTED"
ORPHANED = "ORPHANED"


def state(note: Note, root: str) -> tuple[str, list[str]]:
    """How fresh a note is, and which files say otherwise; ("", []) for one that names no files."""
    if not note.files:
        return "", []
    told = {path: _compared(note, os.path.join(root, path), code) for path, code in note.files}
    gone = [path for path, how in told.items() if how == "gone"]
    if len(gone) == len(told):
        return ORPHANED, gone
    off = [path for path, how in told.items() if how]
    return (DRIFTED, off) if off else (FRESH, [])


def stamped(path: str, root: str) -> str:
    """An item for a note's `files`: the path with the hash of what the file holds now."""
    return notes.file_item(path, fingerprint(os.path.join(root, path)))


def fingerprint(path: str) -> str:
    """A hash of a file's content; "" when there is none to read."""
    import hashlib

    found = hashlib.sha256()
    try:
        if os.path.getsize(path) > settings.NOTE_FILE_MAX_BYTES or not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(1 << 20), b""):
                found.update(chunk)
    except OSError:
        return ""
    return found.hexdigest()[: settings.NOTE_HASH_CHARS]


def _compared(note: Note, path: str, code: str) -> str:
    if not os.path.lexists(path):
        return "gone"
    if code:
        now = fingerprint(path)
        return "changed" if now and now != code[: settings.NOTE_HASH_CHARS] else ""
    seen = clock.parse(note.day + "T00:00:00Z") if note.day else None
    try:
        return "changed" if seen is not None and os.stat(path).st_mtime >= seen + 86400 else ""
    except OSError:
        return "gone"
