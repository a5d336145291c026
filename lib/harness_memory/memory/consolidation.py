"""When the briefing was last made anew of what sessions left: `STATE/consolidated.json`, {"schema", "at"}.

Hooks cannot think, so consolidation is Claude's work, in a skill that a person starts; a start of a
session says when there is enough to do, at most once a day.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base.config import Config

SKILL = "harness-consolidate"


def last(project_dir: str) -> str:
    """When it was last done; "" when it never was."""
    try:
        known = jsontext.loads(files.read(_path(project_dir, settings.CONSOLIDATED_FILE)) or b"{}")
    except (OSError, ValueError):
        return ""
    at = known.get("at") if isinstance(known, dict) else ""
    return str(at) if clock.parse(at) is not None else ""


def mark(project_dir: str, now: float) -> str:
    at = clock.iso(now)
    data = jsontext.pretty({"schema": settings.SCHEMA, "at": at}).encode("utf-8")
    files.write(_path(project_dir, settings.CONSOLIDATED_FILE), data, durable=True)
    return at


def due(project_dir: str, now: float, config: Config) -> str:
    """A line for the person when there is enough to do and it was not said today."""
    needed = config["consolidate_after_episodes"]
    told = _path(project_dir, settings.CONSOLIDATION_TOLD_FILE)
    if now - settings.DAY_SECONDS < files.modified(told) <= now:
        return ""
    try:
        names = os.listdir(files.inside(os.path.join(project_dir, settings.EPISODES_DIR)))
    except OSError:
        return ""
    if len(names) < needed:
        return ""
    at = last(project_dir)
    at = at if at <= clock.iso(now + settings.DAY_SECONDS) else ""  # else the clock was set back since
    since = settings.EPISODE_PREFIX + clock.stamp(at)
    names = [name for name in names if name.startswith(settings.EPISODE_PREFIX)]
    number = sum(name[: len(since)] > since for name in names) if at else len(names)
    if number < needed:
        return ""
    files.touch(told)
    when = "since the last consolidation on %s" % at[:10] if at else "and no consolidation yet"
    what = "%d session%s" % (number, "" if number == 1 else "s")
    return "Harness Memory: %s %s. /%s makes a new briefing of what they left." % (what, when, SKILL)


def _path(project_dir: str, name: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, name)
