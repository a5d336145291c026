"""Pages that are injected as they are: `briefing.md`, `profiles/<skill>.md`, and `MEMORY.md`, the index of notes."""

from __future__ import annotations

from ..base import clock, files, settings
from ..base.redact import redact


class Curated:
    """Lines of a page, the day it was last changed, and what is wrong with it."""

    __slots__ = ("day", "lines", "path", "problem")

    def __init__(self, path: str, lines: list[str], problem: str = "") -> None:
        self.path = path
        self.lines = lines
        self.problem = "cannot use %s: %s" % (path, problem) if problem else ""
        self.day = clock.iso(files.modified(path))[:10] if lines else ""


def read(path: str) -> Curated:
    """Empty when the file is missing."""
    try:
        return Curated(path, *parse(files.read(path, settings.CURATED_MAX_BYTES) or b""))
    except OSError as error:
        return Curated(path, [], str(error.strerror))


def parse(data: bytes) -> tuple[list[str], str]:
    """The lines of a page without blank ones at its ends, or what keeps it from being one."""
    if len(data) > settings.CURATED_MAX_BYTES or b"\0" in data:
        return [], "binary, not Markdown" if b"\0" in data else "larger than %d bytes" % settings.CURATED_MAX_BYTES
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    except UnicodeDecodeError as error:
        return [], "not UTF-8 at byte %d" % error.start
    return text.split("\n") if text.strip() else [], ""


def skill_name(skill: str) -> str:
    """`melt` of `/melt`, `plugin:melt`; "" for what cannot be the name of a skill."""
    name = skill.strip().lstrip("/").rpartition(":")[2].lower()
    is_name = len(name) <= 64 and name.replace("-", "").replace("_", "").isalnum() and redact(skill) == skill
    return name if is_name else ""
