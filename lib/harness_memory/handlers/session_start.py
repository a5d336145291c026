"""SessionStart: register the session, put the store in order, say so if something is wrong."""

from __future__ import annotations

import os

from .. import capture, clock, health, project, recovery
from .. import session as sessions
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = Scene(run)
    project.record(scene.project, clock.iso(run.now))
    with scene.lock() as held:
        if held:
            _register(scene)
    recovery.housekeep(scene.place(), run.event.session_id, scene.process, run.now, run.config)
    return _health_line(run)


def _register(scene: Scene) -> None:
    session = scene.session()
    if scene.run.event.source == "compact" and not session.is_new:
        return  # the same session in the middle of its life
    is_fork = session.is_new and _is_fork(scene.run)
    scene.activate(session)
    if is_fork:
        sessions.save_capture(session, capture.new(since=scene.run.now))


def _is_fork(run: Run) -> bool:
    # Clients before 2.1.214 call a fork "resume"; its own transcript does not exist yet.
    event = run.event
    return event.source == "fork" or (event.source == "resume" and not os.path.exists(event.transcript_path))


def _health_line(run: Run) -> dict[str, Any] | None:
    problems = list(run.config.problems)
    failures = health.unmentioned(run.root)
    if failures:
        problems.insert(0, "%d hook run%s failed" % (failures, "" if failures == 1 else "s"))
    if not problems:
        return None
    return {"systemMessage": "Harness Memory: %s. See: harness memory doctor" % "; ".join(problems)}
