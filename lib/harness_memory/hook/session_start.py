"""SessionStart: register the session, put the store in order, inject what earlier sessions left."""

from __future__ import annotations

import os

from ..base import clock, config, files, health, invocation, settings
from ..base.text import brief
from ..inject import receipt, sections
from ..inject.compose import compose
from ..memory import consolidation, housekeeping
from ..project import identity
from ..project.context import relative_path
from ..session import capture, liveness, sessions
from . import reply
from .context import HookContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..inject.compose import Part
    from ..inject.receipt import Receipt
    from ..session.sessions import Session
    from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    context = HookContext(run)
    options = config.load(run.root)
    identity.record(context.project, clock.iso(run.now))
    # A start is a new process, whatever was marked before: a recycled pid must not pass for it.
    process = liveness.client_process(run.event.client_pid)
    with context as session:
        _register(context, session, process)
    housekeeping.housekeep(context, run.event.session_id, process, run.now, options)
    _refresh_recall(context)
    problems = [*options.problems, *_guard_problems(context)]
    failures = health.unmentioned(run.root)
    problems += ["%d hook run%s failed" % (failures, "" if failures == 1 else "s")] if failures else []
    is_compacted = run.event.source == "compact"
    due = "" if is_compacted else consolidation.due(context.project_dir, run.now, options)
    message = "\n".join(filter(None, [_health_line(problems), due]))
    with context as session:
        text = _inject(context, session, problems, int(options["injection_units"]))
    return reply.context(run.event.name, text, message)


def _register(context: HookContext, session: Session, process: dict[str, Any]) -> None:
    if context.run.event.source == "compact" and not session.is_new:
        return  # the same session in the middle of its life
    is_fork = session.is_new and _is_fork(context.run)
    context.activate(session, process)
    if is_fork:
        state = capture.load(session.dir, is_owner=True)
        state.since = context.run.now
        capture.save(session.dir, state)


def _is_fork(run: Run) -> bool:
    # Clients before 2.1.214 call a fork "resume"; its own transcript does not exist yet.
    event = run.event
    return event.source == "fork" or (event.source == "resume" and not os.path.exists(event.transcript_path))


def _refresh_recall(context: HookContext) -> None:
    """Bring recall's index up to date when a prompt cannot: its log is long, or it is missing with much to read."""
    root, project_dir = context.store_root, context.project_dir
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR)
    log = os.path.join(folder, settings.RECALL_LOG)
    is_due = os.path.exists(log) and os.path.getsize(log) > settings.RECALL_LOG_BYTES
    if not is_due and not os.path.exists(os.path.join(folder, settings.RECALL_INDEX)):
        is_archived = os.path.isdir(os.path.join(root, settings.ARCHIVE_DIR, os.path.basename(project_dir)))
        episodes = files.names(os.path.join(project_dir, settings.EPISODES_DIR))
        is_due = is_archived or len(episodes) > settings.RECALL_TAKEN_AT_PROMPT
    if is_due:
        from ..recall import cache

        with health.noted(root, "recall"):
            cache.open_source(root, project_dir, context.run.now, context.ends, is_whole=True)


def _guard_problems(context: HookContext) -> list[str]:
    root, launch, run = context.store_root, context.launch, context.run
    folders = (root, os.path.join(launch, settings.CLAUDE_DIR))
    if not any(os.path.lexists(os.path.join(folder, settings.GUARD_FILE)) for folder in folders):
        return []
    from ..guard import degraded

    return degraded.note(root, launch, context.project_dir, run.event.session_id, run.now)


def _health_line(problems: list[str]) -> str:
    shown = [brief(problem, settings.ITEM_CHARS) for problem in problems[: settings.PROBLEMS_SHOWN]]
    shown += ["%d more" % (len(problems) - len(shown))] if len(problems) > len(shown) else []
    text = "Harness Memory: %s. See: %s doctor" % ("; ".join(shown), invocation.own_command())
    return text if problems else ""


def _inject(context: HookContext, session: Session, problems: list[str], cap: int) -> str:
    """What this session should know and does not have yet."""
    event = context.run.event
    injected = _receipt(context, session)
    parts = _parts(context, session, {session.id, *injected.own}, problems)
    injected.keep_news(parts)
    if not any(part.lines for part in parts if part.name != "usage"):
        injected.save(session.dir)
        return ""
    injection = compose(parts, min(cap, settings.INJECTION_MAX_UNITS), context.project.name)
    injected.offer(parts)
    injected.record(session.dir, injection, event.name, event.source or "start", context.run.now)
    return injection.text


def _receipt(context: HookContext, session: Session) -> Receipt:
    """What the conversation has; a fork has what its parent has."""
    injected = receipt.load(session.dir)
    if context.run.event.source not in ("resume", "fork"):
        injected.restart()
    elif not injected.log and _is_fork(context.run):
        parent = _parent_of_fork(context)
        return receipt.load(parent).fork(os.path.basename(parent)) if parent else injected
    return injected


def _parent_of_fork(context: HookContext) -> str:
    """The directory of the session that a fork comes from; "" when it is unknown.

    The client only says how long the parent was silent: it is the session whose transcript ended just then.
    """
    ended = context.run.now - context.run.event.silent_seconds
    best, distance = "", settings.FORK_TOLERANCE_SECONDS
    for directory in sessions.all_directories(context.project_dir)[-settings.ADOPTION_SESSIONS :]:
        last = capture.load(directory).last
        if last and abs(ended - last) < distance:
            best, distance = directory, abs(ended - last)
    return best


def _parts(context: HookContext, session: Session, own_ids: set[str], problems: list[str]) -> list[Part]:
    """In order of priority. Reading the files may add to `problems`, so health is made last."""
    project, event = context.project, context.run.event
    captured = capture.load(session.dir)
    own_ids.add(captured.thread)
    known = sections.auto_memory(event.transcript_path)
    parts = [
        *([sections.state(captured)] if event.source == "compact" else []),
        sections.briefing(project, problems),
        sections.still_open(project, own_ids),
        sections.notes(project, context.store_root, known, problems, session.dir),
        sections.menu(project, relative_path(event.cwd, (project.root,)), own_ids),
        sections.usage(),
    ]
    return [sections.health(problems), *parts]
