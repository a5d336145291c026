"""Whether a note can still be trusted: the files it is about, compared with those it was verified against."""

from __future__ import annotations

import os

from ..base import settings
from .note import HASH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note


def stale_files(note: Note, root: str) -> list[str]:
    """The files of a note that are missing or have changed since it was verified."""
    stale = []
    for path, code in note.files:
        full = os.path.join(root, path)
        is_changed = bool(code) and fingerprint(full) not in ("", code[: settings.NOTE_HASH_CHARS])
        if is_changed or not os.path.lexists(full):
            stale.append(path)
    return stale


def stamped(path: str, root: str) -> str:
    """An item for a note's `files`: the path with the hash of its present content."""
    code = fingerprint(os.path.join(root, path))
    return path + HASH + code if code else path


def fingerprint(path: str) -> str:
    """A hash of a file's content; "" when it cannot be read."""
    import hashlib

    try:
        if os.path.getsize(path) > settings.NOTE_FILE_MAX_BYTES or not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[: settings.NOTE_HASH_CHARS]
    except OSError:
        return ""
