"""SessionStart: register the session, put the store in order, hand over what earlier sessions know."""

from __future__ import annotations

import os

from ..base import clock, config, health, settings
from ..base.text import brief
from ..inject import compose as inject
from ..inject import receipt, sections
from ..memory import consolidation, housekeeping
from ..project import identity
from ..session import capture, liveness
from ..session.absorb import relative_path
from . import reply
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    scene = HookContext(run)
    settled = config.load(run.root)
    identity.record(scene.project, clock.iso(run.now))
    # A start is a process of its own, whatever was marked before: a recycled pid must not pass for it.
    process = liveness.client_process(run.event.client_pid)
    with scene as session:
        _register(scene, session, process)
    housekeeping.housekeep(scene, run.event.session_id, process, run.now, settled)
    _refresh_recall(scene)
    problems = [*settled.problems, *_guard_problems(scene), *_failures(run)]
    message = "\n".join(filter(None, [_health_line(problems), _due(scene, settled)]))
    with scene as session:
        text = _briefed(scene, session, problems, settled["injection_units"])
    return reply.context(run.event.name, text, message)


def _register(scene: HookContext, session: Session, process: dict[str, Any]) -> None:
    if scene.run.event.source == "compact" and not session.is_new:
        return  # the same session in the middle of its life
    is_fork = session.is_new and _is_fork(scene.run)
    scene.activate(session, process, scene.marker())
    if is_fork:
        state = capture.load(session.dir, is_owner=True)
        state.since = scene.run.now
        capture.save(session.dir, state)


def _refresh_recall(scene: HookContext) -> None:
    """Bring recall's index up to date when it is missing or its log is long; a prompt does the rest."""
    run = scene.run
    folder = os.path.join(scene.project.dir, settings.STATE_DIR, settings.RECALL_DIR)
    log = os.path.join(folder, settings.RECALL_LOG)
    is_due = not os.path.exists(os.path.join(folder, settings.RECALL_INDEX))
    if is_due or (os.path.exists(log) and os.path.getsize(log) > settings.RECALL_LOG_BYTES):
        from ..recall import cache

        with health.noted(run.root, "recall"):
            cache.open_source(run.root, scene.project.dir, run.now, scene.ends, is_whole=True)


def _is_fork(run: Run) -> bool:
    # Clients before 2.1.214 call a fork "resume"; its own transcript does not exist yet.
    event = run.event
    return event.source == "fork" or (event.source == "resume" and not os.path.exists(event.transcript_path))


def _briefed(scene: HookContext, session: Session, problems: list[str], cap: float) -> str:
    """What this session should know and was not told yet."""
    run, event = scene.run, scene.run.event
    told = receipt.load(session.dir)
    if event.source not in ("resume", "fork"):
        receipt.forget(told)  # a conversation that begins, or was compressed
    elif not told["log"] and _is_fork(run):
        parent = receipt.parent_of_fork(scene.project.dir, run.now, event.silent_seconds)
        told = receipt.inherited(parent) if parent else told
    own_ids = {session.id, *told["own"]}
    parts = receipt.news(_parts(scene, session, own_ids, problems), told)
    if not any(part.lines for part in parts if part.name != "usage"):
        receipt.save(session.dir, told)
        return ""
    injection = inject.compose(parts, min(int(cap), settings.INJECTION_MAX_UNITS), scene.project.name)
    receipt.note_offered(told, parts)
    receipt.record(session, told, injection, event.name, event.source or "start", run.now)
    return injection.text


def _parts(scene: HookContext, session: Session, own_ids: set[str], problems: list[str]) -> list[inject.Part]:
    """In order of priority. Reading the files may add to `problems`, so health is made last."""
    run, ours = scene.run, scene.project
    captured = capture.load(session.dir)
    own_ids = {*own_ids, captured.thread}
    parts = [
        sections.briefing(ours, problems),
        sections.still_open(ours, own_ids),
        sections.notes(ours, run.root, sections.auto_memory(run.event.transcript_path), problems, session.dir),
        sections.menu(ours, ours.branch, relative_path(run.event.cwd, (ours.root,)), own_ids),
        sections.usage(),
    ]
    if run.event.source == "compact":
        parts.insert(0, sections.state(ours, captured, clock.iso(run.now)[:10]))
    return [sections.health(problems), *parts]


def _guard_problems(scene: HookContext) -> list[str]:
    run = scene.run
    launch = run.event.launch_dir or run.event.cwd
    folders = (run.root, os.path.join(launch, settings.CLAUDE_DIR))
    if not any(os.path.lexists(os.path.join(folder, settings.GUARD_FILE)) for folder in folders):
        return []
    from ..guard import degraded

    return degraded.note(run.root, launch, scene.project.dir, run.event.session_id, run.now)


def _due(scene: HookContext, settled: config.Config) -> str:
    is_start = scene.run.event.source != "compact"
    return consolidation.due(scene.project.dir, scene.run.now, settled) if is_start else ""


def _failures(run: Run) -> list[str]:
    failures = health.unmentioned(run.root)
    return ["%d hook run%s failed" % (failures, "" if failures == 1 else "s")] if failures else []


def _health_line(problems: list[str]) -> str:
    if not problems:
        return ""
    from ..base import invocation

    shown = [brief(problem, settings.ITEM_CHARS) for problem in problems[: settings.PROBLEMS_SHOWN]]
    shown += ["%d more" % (len(problems) - len(shown))] if len(problems) > len(shown) else []
    return "Harness Memory: %s. See: %s doctor" % ("; ".join(shown), invocation.own_command())
