"""Pages that are injected as they are: `briefing.md`, `profiles/<skill>.md`, and `MEMORY.md`, the index of notes; and
the lines that a person sees at a start.

A skill that a person starts renews the briefing, which is consolidation: `STATE/consolidated.json`, {"schema", "at"}.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.text import cut, one_line
from ..base.typing import Any, Mapping

_CONSOLIDATED = os.path.join(settings.STATE_DIR, "consolidated.json")


class Curated:
    """Lines of a page, the day it was last changed, and what is wrong with it."""

    def __init__(self, path: str, lines: list[str], problem: str = "") -> None:
        self.path, self.lines = path, lines
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
    from ..base.redact import redact

    name = skill.strip().lstrip("/").rpartition(":")[2].lower()
    is_name = len(name) <= 64 and name.replace("-", "").replace("_", "").isalnum() and redact(skill) == skill
    return name if is_name else ""


def last_consolidation(project_dir: str) -> str:
    value = files.load_json(os.path.join(project_dir, _CONSOLIDATED), {"at": "instant"})
    return str(value["at"]) if value else ""


def mark_consolidation(project_dir: str, now: float) -> None:
    value = {"schema": settings.SCHEMA, "at": clock.iso(now)}
    files.write_json(os.path.join(project_dir, _CONSOLIDATED), value, durable=True)


def consolidation_due(project_dir: str, episodes: list[str], now: float, config: Mapping[str, Any]) -> str:
    """A line for the person when enough sessions wait, at most once a day."""
    mentioned = os.path.join(project_dir, settings.STATE_DIR, "consolidation-told")
    at = last_consolidation(project_dir)
    since = settings.EPISODE_PREFIX + (clock.stamp(at) + "~" if at else "")  # "~" sorts behind every id
    number = sum(name > since for name in episodes)
    is_mentioned = now - settings.DAY_SECONDS < files.modified(mentioned) <= now
    if number < config["consolidate_after_episodes"] or is_mentioned:
        return ""
    files.write(mentioned, b"")
    when = "since the last consolidation on %s" % at[:10] if at else "and no consolidation yet"
    what = "%d session%s %s" % (number, "" if number == 1 else "s", when)
    return "Harness Memory: %s. /harness-consolidate makes a new briefing from them." % what


def glance(project_dir: str) -> str:
    """A memory in one line: `41 sessions here, 2 open: Refresh the JWKS; Test guest e-mail`; "" for an empty one."""
    number = len(files.names(os.path.join(project_dir, settings.EPISODES_DIR)))
    path = os.path.join(project_dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE)
    work = files.load_json(path, {"active_tasks": [{"description": "text", "next_steps": ["text"]}]}) or {}
    titles = [cut(one_line([*task["next_steps"], task["description"]][0]), 40) for task in work.get("active_tasks", ())]
    line = "%d session%s here" % (number, "" if number == 1 else "s") if number else ""
    shown = "; ".join([*[title.rstrip(".") for title in titles[:2]], "…"][: len(titles)])
    return "%s, %d open: %s" % (line, len(titles), shown) if line and titles else line
