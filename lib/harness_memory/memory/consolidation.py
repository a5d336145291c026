"""When the briefing was last renewed from what sessions left: `STATE/consolidated.json`, {"schema", "at"}.

Consolidation is Claude's work, in a skill that a person starts.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base.config import Config

SKILL = "harness-consolidate"


def last(project_dir: str) -> str:
    """When it was last done; "" when never."""
    value = files.load_json(_path(project_dir), {"at": "instant"})
    return str(value["at"]) if value else ""


def mark(project_dir: str, now: float) -> str:
    value = {"schema": settings.SCHEMA, "at": clock.iso(now)}
    files.write_json(_path(project_dir), value, durable=True)
    return str(value["at"])


def due(project_dir: str, now: float, config: Config) -> str:
    """A line for the person when enough sessions wait, at most once a day."""
    mentioned = _path(project_dir, settings.CONSOLIDATION_TOLD_FILE)
    if now - settings.DAY_SECONDS < files.modified(mentioned) <= now:
        return ""
    at = last(project_dir)
    at = at if at <= clock.iso(now + settings.DAY_SECONDS) else ""  # else the clock was set back
    since = settings.EPISODE_PREFIX + clock.stamp(at)
    names = files.names(os.path.join(project_dir, settings.EPISODES_DIR))
    number = sum(name.startswith(settings.EPISODE_PREFIX) and name[: len(since)] > since * bool(at) for name in names)
    if number < config["consolidate_after_episodes"]:
        return ""
    files.touch(mentioned)
    when = "since the last consolidation on %s" % at[:10] if at else "and no consolidation yet"
    what = "%d session%s %s" % (number, "" if number == 1 else "s", when)
    return "Harness Memory: %s. /%s makes a new briefing from them." % (what, SKILL)


def _path(project_dir: str, name: str = settings.CONSOLIDATED_FILE) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, name)
