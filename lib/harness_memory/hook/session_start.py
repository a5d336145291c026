"""SessionStart: register the session, put the store in order, inject what earlier sessions left."""

from __future__ import annotations

import os

from ..base import clock, config, files, invocation, process, settings
from ..base.text import brief, long_words
from ..base.typing import Any
from ..inject import sections
from ..inject.injection import Receipt, compose, load_receipt
from ..memory import briefing, housekeeping
from ..project import identity, relative_path
from ..session import life, sessions
from ..session.sessions import Session
from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    event, options = run.event, config.load(run.store_root)
    is_refused = run.project.identity.startswith("remote#") and not os.path.isdir(run.project_dir)
    identity.record(run.project, clock.iso(run.now))
    for name in (settings.EPISODES_DIR, settings.LEARNING_DIR):  # what is refused below them is said at once
        files.inside(os.path.join(run.project_dir, name))
    is_compacted = event.source == "compact"
    # Clients before 2.1.214 call a fork "resume"; its own transcript does not exist yet.
    is_fork = event.source == "fork" or (event.source == "resume" and not os.path.exists(event.transcript_path))
    with run as session:
        # A start is a new process: a recycled pid must not pass for the one marked before.
        client = life.client_process(event.client_pid)
        if session.is_new or not is_compacted:
            run.activate(session, client)
        if session.is_new and is_fork:
            from ..session import capture

            capture.save(session.dir, capture.Capture(run.now))
        housekeeping.housekeep(run, event.session_id, client, run.now, options)
        episodes = files.names(os.path.join(run.project_dir, settings.EPISODES_DIR))
        if _is_index_due(run, len(episodes)):
            from ..base import health
            from ..recall import cache

            with health.noted(run.store_root, "recall"):
                cache.open_source(run.store_root, run.project_dir, run.now, run.ends, is_whole=True, checkout=run.root)
        problems = [*options.problems, *_problems(run)]
        message = []
        if problems:
            shown = [brief(problem, settings.ITEM_CHARS) for problem in problems[:3]]
            shown += ["%d more" % (len(problems) - 3)] if len(problems) > 3 else []
            message.append("Harness Memory: %s. See: %s doctor" % ("; ".join(shown), invocation.own_command()))
        if is_refused:
            what = "Harness Memory: nothing shows that this folder is %s: it has a memory of its own. To join: %s adopt"
            message.append(what % (brief(run.project.remote, settings.ITEM_CHARS), invocation.own_command()))
        if event.is_attended and not is_compacted:  # these lines are for a person, and one comes once a day
            known = briefing.glance(run.project_dir) if options["start_line"] == "on" else ""
            verb = "open" if " open: " in known else "list"
            message.append("Harness Memory: %s · harness memory %s" % (known, verb) if known else "")
            message.append(briefing.consolidation_due(run.project_dir, episodes, run.now, options))
            if files.exists(os.path.join(run.project_dir, settings.STATE_DIR, settings.REVIEW_FILE)):
                from ..memory import review

                message.append(review.reminder(run.project_dir, run.now))
        text = _inject(run, session, is_fork, problems, int(options["injection_units"]))
    return run.reply(text, "\n".join(filter(None, message)))


def _is_index_due(run: Run, episodes: int) -> bool:
    """Whether a prompt cannot bring recall's index up to date: its log is long, or it is missing with much to read."""
    folder = os.path.join(run.project_dir, settings.STATE_DIR, settings.RECALL_DIR)
    log = os.path.join(folder, settings.RECALL_LOG)
    if os.path.exists(os.path.join(folder, settings.RECALL_INDEX)):
        return os.path.exists(log) and os.path.getsize(log) > settings.RECALL_LOG_BYTES
    is_archived = os.path.isdir(housekeeping.archive_folder(run.project_dir))
    return is_archived or episodes > settings.RECALL_TAKEN_AT_PROMPT


def _problems(run: Run) -> list[str]:
    """What is wrong with the guard, and failures that no start has mentioned yet."""
    root, launch = run.store_root, run.launch
    problems = ["%s in the environment is ignored: a project's settings may set it" % name for name in process.ignored]
    rules = [os.path.join(folder, settings.GUARD_FILE) for folder in (root, os.path.join(launch, settings.CLAUDE_DIR))]
    if any(map(os.path.lexists, rules)):
        from ..guard import policy

        problems += policy.report(root, launch, run.project_dir, run.event.session_id, run.now)
    if files.names(os.path.join(root, settings.FAILURES_DIR)):
        from ..base import health

        problems += health.unmentioned(root)
    return problems


def _inject(run: Run, session: Session, is_fork: bool, problems: list[str], cap: int) -> str:
    """What this session should know and does not have yet."""
    event, project = run.event, run.project
    injected = load_receipt(session.dir)
    if event.source not in ("resume", "fork"):  # the conversation is new or compacted
        injected.seen, injected.wholes, injected.profiles, injected.recalled = [], {}, [], []
    elif is_fork and not injected.log:
        injected = _receipt_of_fork(run, injected)
    own_ids, parts = {session.id, *injected.own}, []
    if not session.is_new:
        from ..session import capture

        state = capture.load(session.dir)
        own_ids.add(state.thread)
        parts += [sections.state(state)] if event.source == "compact" else []
    folder = relative_path(event.cwd, (project.root,))
    still_open = sections.still_open(project, own_ids)
    listed = {item["item"] for item in still_open.items.values()}  # once is enough
    menu = sections.menu(project, folder, own_ids | listed)
    notes = sections.notes(project, run.store_root, problems, run.now, session.dir)
    subject = long_words(" ".join([project.branch, folder, *still_open.lines, *menu.lines[:5]]))
    notes.lines.sort(key=lambda line: -len(subject & long_words(line)))
    parts += [
        sections.briefing(project, problems),
        sections.rules(project, notes, () if event.source == "compact" else own_ids),
        sections.running(project, session.id),
        still_open,
        sections.decisions(project, own_ids, "\n".join([*still_open.lines, *menu.lines])),
        notes,
        menu,
        sections.usage(),
    ]
    parts.insert(0, sections.health(problems))  # last, because reading the pages may add to `problems`
    injected.keep_news(parts)
    if not any(part.lines for part in parts if part.name != "usage"):
        injected.save(session.dir)
        return ""
    room = settings.INJECTION_MAX_UNITS if cap == config.DEFAULTS["injection_units"] else 0
    injection = compose(parts, min(cap, settings.INJECTION_MAX_UNITS), project.name, injected, room)
    injected.offer(parts)
    injected.record(session.dir, injection, event.name, event.source or "start", run.now)
    return injection.text


def _receipt_of_fork(run: Run, injected: Receipt) -> Receipt:
    """As its parent, the session whose transcript ended when the client says it fell silent; nothing is its own yet."""
    from ..session import capture

    silent = run.event.payload.get("seconds_since_last_response")
    ended = run.now - (silent if isinstance(silent, (int, float)) and abs(silent) < 1e12 else 0.0)
    directories = sessions.all_directories(run.project_dir)[-50:]
    distances = [(abs(ended - (capture.load(directory).last or 0.0)), directory) for directory in directories]
    distance, parent = min(distances, default=(ended, ""))
    if distance < 5.0:
        injected = load_receipt(parent)
        injected.own.append(os.path.basename(parent))
        injected.log, injected.items = [], []
    return injected
