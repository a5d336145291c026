"""Whether a note can still be trusted: the files it is about, compared with those it was verified against.

FRESH      every file is unchanged
DRIFTED    a file has changed or is missing
ORPHANED   every file is missing
"""

from __future__ import annotations

import os

from ..base import settings
from .note import HASH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Note

FRESH = "FRESH"
DRIFTED = "DRIFTED"
ORPHANED = "ORPHANED"


def state(note: Note, root: str) -> tuple[str, list[str]]:
    """How fresh a note is, and which files differ; ("", []) for a note without files."""
    paths = {path: os.path.join(root, path) for path, _ in note.files}
    missing = [path for path, full in paths.items() if not os.path.lexists(full)]
    if not paths or len(missing) == len(paths):
        return (ORPHANED, missing) if missing else ("", [])
    codes = {path: ("", code[: settings.NOTE_HASH_CHARS]) for path, code in note.files if code}
    changed = [path for path in codes if fingerprint(paths[path]) not in codes[path]]
    differing = [path for path in paths if path in missing or path in changed]
    return (DRIFTED, differing) if differing else (FRESH, [])


def stamped(path: str, root: str) -> str:
    """An item for a note's `files`: the path with the hash of its present content."""
    code = fingerprint(os.path.join(root, path))
    return path + HASH + code if code else path


def fingerprint(path: str) -> str:
    """A hash of a file's content; "" when it cannot be read."""
    import hashlib

    code = hashlib.sha256()
    try:
        if os.path.getsize(path) > settings.NOTE_FILE_MAX_BYTES or not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(1 << 20), b""):
                code.update(chunk)
    except OSError:
        return ""
    return code.hexdigest()[: settings.NOTE_HASH_CHARS]
