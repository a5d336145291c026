"""Which files and commands have a history, for a test that costs a tool call next to nothing.

<root>/health/known   derived, disposable: a line of hexadecimal for each of them, and for each that a session was given
"""

from __future__ import annotations

from . import settings
from .process import contents
from .typing import Any

_KEYS = 0xFFFFFFFFFFC5  # a prime
_MAX_BYTES = 64 * 1024
FILE = "/" + settings.KNOWN_PATH  # below the store's root
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")


def subject(tool: str, given: dict[str, Any]) -> str:
    """What a call is about: the path of an edit, or `$ ` and a command; "" for any other."""
    path, command = given.get("file_path") or given.get("notebook_path"), given.get("command")
    if tool in _EDITS and isinstance(path, str):
        return path.replace("\\", "/")
    is_short = isinstance(command, str) and len(command) < 200
    return "$ " + " ".join(str(command).split()) if tool == "Bash" and is_short else ""


def key_of(about: str, session_id: str = "") -> bytes:
    """A line for a subject, or for a session that was given its history: none of its text is kept.

    A file counts by its name alone: it may lie in another checkout, or come from another machine."""
    about = about if session_id or about[:2] == "$ " else "a file of the name " + about.rpartition("/")[2]
    return b"%x\n" % (int.from_bytes((about + session_id).encode("utf-8", "replace"), "big") % _KEYS)


def is_news(root: str, about: str, session_id: str) -> bool:
    """Whether a subject has a history that this session was not given."""
    known = b"\n" + contents(root + FILE, 2 * _MAX_BYTES) if about else b""
    return b"\n" + key_of(about) in known and b"\n" + key_of(about, session_id) not in known


def add(root: str, keys: list[bytes]) -> None:
    from . import files

    known = contents(root + FILE, 2 * _MAX_BYTES)
    lines = b"".join([key for key in keys[-_MAX_BYTES // 32 :] if b"\n" + key not in b"\n" + known])
    if len(known) > _MAX_BYTES:
        files.write(root + FILE, known[_MAX_BYTES // 2 :].partition(b"\n")[2] + lines)
    elif lines:
        files.append_line(root + FILE, lines[:-1])
