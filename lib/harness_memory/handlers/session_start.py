"""SessionStart: register the session, put the store in order, say so if something is wrong."""

from __future__ import annotations

import os

from .. import capture, clock, config, health, housekeeping, liveness, project
from .. import session as sessions
from .scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = Scene(run)
    settled = config.load(run.root)
    project.record(scene.project, clock.iso(run.now))
    # A start is a process of its own, whatever was marked before: a recycled pid must not pass for it.
    process = liveness.client_process(run.event.client_pid)
    with scene.lock() as held:
        if held:
            _register(scene, process)
    housekeeping.housekeep(scene.place(), run.event.session_id, process, run.now, settled)
    return _health_line(run, settled)


def _register(scene: Scene, process: dict[str, Any]) -> None:
    session = scene.session()
    if scene.run.event.source == "compact" and not session.is_new:
        return  # the same session in the middle of its life
    is_fork = session.is_new and _is_fork(scene.run)
    scene.activate(session, process)
    if is_fork:
        sessions.save_capture(session, capture.new(since=scene.run.now))


def _is_fork(run: Run) -> bool:
    # Clients before 2.1.214 call a fork "resume"; its own transcript does not exist yet.
    event = run.event
    return event.source == "fork" or (event.source == "resume" and not os.path.exists(event.transcript_path))


def _health_line(run: Run, settled: config.Config) -> dict[str, Any] | None:
    problems = list(settled.problems)
    failures = health.unmentioned(run.root)
    if failures:
        problems.insert(0, "%d hook run%s failed" % (failures, "" if failures == 1 else "s"))
    if not problems:
        return None
    return {"systemMessage": "Harness Memory: %s. See: python3 %s memory doctor" % ("; ".join(problems), _harness())}


def _harness() -> str:
    library = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.path.join(os.path.dirname(library), "harness")
