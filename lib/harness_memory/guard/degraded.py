"""Rule files that cannot be used: reported when a session starts, and recorded in the audit trail once a day.

<root>/health/degraded/<hash of the problem>   empty; its time is when that was last recorded
"""

from __future__ import annotations

import os

from ..audit import trail
from ..base import files, health, settings
from ..base.text import hexdigest
from . import allowance, policy


def note(root: str, launch_dir: str, project_dir: str, session: str, now: float) -> list[str]:
    """What is wrong with the rule files of a session here."""
    problems = policy.load(root, launch_dir).problems
    folder = os.path.join(root, settings.HEALTH_DIR, "degraded")
    with health.noted(root, "guard"):
        allowance.clear(folder, settings.DAY_SECONDS)
        for problem in problems:
            mark = os.path.join(folder, hexdigest(problem)[:16])
            if not os.path.exists(mark):
                fields = {"event": "guard_degraded", "reason": problem, "session": session}
                trail.append(project_dir, fields, now, settings.GUARD_LOCK_SECONDS)
                files.touch(mark)
    return problems
