"""`status`: where a project's memory stands, in one page. Nothing here writes."""

from __future__ import annotations

import os

from .. import __version__
from ..base import clock, config, files, settings
from ..inject.injection import load_receipt
from ..memory import records, threads
from ..session import capture, episode, liveness, sessions
from . import arguments, installs, resolve
from .output import ago, answer, columns, count, cut, line, local, short, some, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.identity import Project

_SHOWN = 4
_STEPS_SHOWN = 2
_WORK_SPEC = {"active_tasks": [{"id": "text", "description": "text", "status?": "text", "next_steps?": ["text"]}]}


def status(argv: list[str]) -> int:
    about = "What is remembered of this project, what is in progress, which sessions run, and whether the hooks are on."
    args = arguments.parser("status", about, "status\nstatus --project ~/src/other\nstatus --json").parse_args(argv)
    facts = _facts(arguments.locate(args), arguments.root(), arguments.directory(args))
    return answer(args.json, facts, _page(facts))


def _facts(project: Project, root: str, directory: str) -> dict[str, Any]:
    every = records.load_all(project.dir)
    last = resolve.last(every)
    work = files.load_json(os.path.join(project.dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE), _WORK_SPEC)
    registered = installs.find(root, directory, project.root)
    guard = installs.guard(root, registered, directory)
    log = load_receipt(last.session.dir).log if last and last.session else []
    injected = [{key: entry.get(key) for key in ("at", "why", "tokens")} for entry in log]
    return {
        "version": __version__,
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "exists": os.path.isdir(project.dir),
        "sessions": len(every),
        "episodes": len(episode.names(project.dir)),
        "open_threads": sum(thread.is_open for thread in threads.load(project.dir)),
        "in_progress": work["active_tasks"] if work else [],
        "live": [_live(project.dir, marker) for marker in sessions.live_markers(project.dir)],
        "last": {**last.brief(), "told": injected} if last else None,
        "hooks": _hooks(root, registered),
        "guard": {"state": guard.state, "why": guard.why, "line": guard.line()},
    }


def _hooks(root: str, registered: list[installs.Install]) -> dict[str, Any]:
    """Our hooks as a session here would find them; `elsewhere` are installs that do not reach here."""
    here = [install for install in registered if install.is_read_here]
    runs = installs.last_runs(root)
    return {
        "is_off": config.is_off(os.environ),
        "installs": [install.path for install in here if not install.problems],
        "problems": [{"settings": each.path, "problem": what} for each in here for what in each.problems],
        "elsewhere": [install.path for install in registered if not install.is_read_here],
        "is_plugin": not registered and installs.have_run_lately(root),
        "last_runs": {event: clock.iso(instant) if instant else None for event, instant in runs.items()},
    }


def _live(project_dir: str, marker: dict[str, Any]) -> dict[str, Any]:
    """A session that has not ended; `is_alive` is null where it is uncertain."""
    process = marker.get("process")
    process = process if isinstance(process, dict) else {}
    session = sessions.at_marker(project_dir, marker)
    meta = session.meta if session else {}
    # ACTIVE alone also means that it started, or was resumed.
    is_asked = session is not None and capture.load(session.dir).turn in (capture.ASKED, capture.WORKING)
    return {
        "id": session.id if session else sessions.safe_id(marker["claude_session"])[:8],
        "session_id": marker["claude_session"],
        "status": meta.get("status"),
        "started": meta.get("started"),
        "branch": meta.get("branch"),
        "pid": process.get("pid"),
        "is_alive": liveness.is_alive(process),
        "is_at_work": meta.get("status") == settings.ACTIVE and is_asked,
    }


def _page(facts: dict[str, Any]) -> list[str]:
    project = facts["project"]
    branch = "  (on %s)" % project["branch"] if project["branch"] else ""
    counts = [count(facts[key], key[:-1].replace("_", " ")) for key in ("sessions", "episodes", "open_threads")]
    rows = [["Project", line(project["name"] + branch)], ["Folder", short(project["root"])]]
    rows.append(["Memory", short(facts["memory"])])
    rows.append(["", ", ".join(counts) if facts["exists"] else "nothing yet: it begins with the next session here"])
    live = some([_live_line(one) for one in facts["live"]], _SHOWN) or ["no session is running here"]
    rows += [["" if at else "Now", text] for at, text in enumerate(live)]
    last = _last_lines(facts["last"]) if facts["last"] else []
    runs = facts["hooks"]["last_runs"].items()
    times = ["%s %s" % (event, ago(clock.parse(when) or 0.0)) for event, when in runs if when]
    state = [["Hooks", line(_hook_state(facts["hooks"]))], ["Guard", line(facts["guard"]["line"])]]
    state.append(["Last runs", ", ".join(times) or "none yet"])
    return [*table(rows), *_progress_lines(facts["in_progress"]), *last, "", *table(state)]


def _live_line(one: dict[str, Any]) -> str:
    state = "working" if one["is_at_work"] else "waiting for a prompt"
    if one["is_alive"] is False:
        state = "died; the next session start archives it"
    where = " on %s" % one["branch"] if one["branch"] else ""
    return line("%s since %s%s: %s" % (one["id"], local(one["started"]), where, state))


def _last_lines(last: dict[str, Any]) -> list[str]:
    status = records.shown_status(last["status"], last["alive"])
    minutes = "" if last["minutes"] is None else "%d min" % last["minutes"]
    parts = [local(last["started"]), last["id"], status, minutes, last["branch"]]
    tokens = [int(each["tokens"] or 0) for each in last["told"]]
    injected = "~%d tokens, %s" % (sum(tokens), "once" if len(tokens) == 1 else "%d times" % len(tokens))
    lines = ["", "Last session", "  " + line(" · ".join(filter(None, parts)))]
    lines += ["  " + cut(line(last["headline"]), columns() - 2)] if last["headline"] else []
    return [*lines, "  injected: " + (injected if tokens else "nothing")]


def _progress_lines(tasks: list[dict[str, Any]]) -> list[str]:
    lines = ["", "In progress"] if tasks else []
    for task in tasks[:_SHOWN]:
        blocked = "  BLOCKED" if task.get("status") == "blocked" else ""
        lines.append("  * " + cut(line(task["description"] or task["id"]), columns() - 14) + blocked)
        steps = ["      next: " + cut(line(step), columns() - 12) for step in task.get("next_steps") or []]
        lines += some(steps, _STEPS_SHOWN, "      ")
    more = len(tasks) - _SHOWN
    return [*lines, "  and %d more in STATE/%s" % (more, settings.CURRENT_WORK_FILE)] if more > 0 else lines


def _hook_state(hooks: dict[str, Any]) -> str:
    if hooks["is_off"]:
        return "OFF: %s is set to off here" % settings.ENV_SWITCH
    if hooks["problems"]:
        first = hooks["problems"][0]
        return "NOT WELL: %s: %s (see: harness memory doctor)" % (short(first["settings"]), first["problem"])
    if hooks["installs"]:
        return "on: " + ", ".join(map(short, hooks["installs"]))
    if hooks["elsewhere"]:
        return "not on here, only in " + ", ".join(map(short, hooks["elsewhere"]))
    if hooks["is_plugin"]:
        return "not in any settings file of this machine, but they have run: probably as a plugin"
    return "no install on record: python3 install.py (or see: harness memory doctor)"
