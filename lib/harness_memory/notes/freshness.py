"""Whether a note can still be trusted: the files it is about, compared with those it was verified against.

FRESH      every file is unchanged
DRIFTED    a file has changed or is missing
ORPHANED   every file is missing
"""

from __future__ import annotations

import os

from ..base import clock, settings
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
    differing = [path for path, code in note.files if path in missing or _is_changed(note, paths[path], code)]
    return (DRIFTED, differing) if differing else (FRESH, [])


def _is_changed(note: Note, path: str, code: str) -> bool:
    if code:
        return fingerprint(path) not in ("", code[: settings.NOTE_HASH_CHARS])
    verified = clock.parse(note.day + "T00:00:00Z")
    return verified is not None and os.lstat(path).st_mtime >= verified + settings.DAY_SECONDS


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
