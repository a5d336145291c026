"""Pages that are told as they stand: `briefing.md`, `profiles/<skill>.md`, and `MEMORY.md`, the index of notes.

Whatever state such a file is in, it is read as far as it can be, and what is wrong with it is said.
"""

from __future__ import annotations

from ..base import clock, files, settings


class Curated:
    """Lines of a file, the day it was last changed, and what is wrong with it."""

    __slots__ = ("day", "lines", "path", "problem")

    def __init__(self, path: str, lines: list[str], problem: str = "") -> None:
        self.path = path
        self.lines = lines
        self.problem = problem
        self.day = clock.iso(files.modified(path))[:10] if lines else ""


def read(path: str) -> Curated:
    """Empty when there is no such file."""
    try:
        data = files.read(path, settings.CURATED_MAX_BYTES)
    except OSError as error:
        return Curated(path, [], "%s cannot be used: %s" % (path, error.strerror))
    if not data:
        return Curated(path, [])
    if b"\0" in data:
        return Curated(path, [], "%s cannot be used: it is no text" % path)
    problem = ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        problem = "%s is not all UTF-8: odd characters were replaced" % path
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return Curated(path, text.split("\n") if text.strip() else [], problem)
