"""Rule files that cannot be used: reported when a session starts, and recorded in the audit trail once a day.

<root>/health/degraded/<hash of the problem>   empty; its time is when that was last recorded
"""

from __future__ import annotations

import os

from ..audit import trail
from ..base import files, health, settings
from ..base.text import hexdigest
from . import policy


def note(root: str, launch_dir: str, project_dir: str, session: str, now: float) -> list[str]:
    """What is wrong with the rule files of a session here."""
    problems = policy.load(root, launch_dir).problems
    if problems:
        with health.noted(root, "guard"):
            _record(root, problems, project_dir, session, now)
    return problems


def _record(root: str, problems: list[str], project_dir: str, session: str, now: float) -> None:
    folder = os.path.join(root, settings.HEALTH_DIR, "degraded")
    for name in files.names(folder):
        if abs(now - files.modified(os.path.join(folder, name))) >= settings.DAY_SECONDS:
            files.remove(os.path.join(folder, name))
    for problem in problems:
        mark = os.path.join(folder, hexdigest(problem)[:16])
        if not os.path.exists(mark):
            fields = {"event": "guard_degraded", "reason": problem, "session": session}
            trail.append(project_dir, fields, now, settings.GUARD_LOCK_SECONDS)
            files.touch(mark)
