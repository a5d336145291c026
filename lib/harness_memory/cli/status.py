"""`status`: where a project's memory stands, in one page. Nothing here writes."""

from __future__ import annotations

import os

from .. import __version__
from ..base import clock, config, files, jsontext, settings
from ..inject import receipt
from ..notes import shelf
from ..session import capture, episode, liveness, sessions
from . import arguments, installs, records, resolve
from .output import ago, columns, count, cut, emit_json, line, local, short, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.identity import Project
    from .records import Record

_TASKS_SHOWN = 4
_STEPS_SHOWN = 2
_TOLD_SHOWN = 3
_OCCASIONS = {
    "startup": "at start",
    "clear": "at start",
    "start": "at start",
    "resume": "on resuming",
    "fork": "on forking",
    "compact": "after compaction",
}


def status(argv: list[str]) -> int:
    about = "What is remembered of this project, what is in progress, who is at work, and whether the hooks are on."
    args = arguments.parser("status", about, "status\nstatus --project ~/src/other\nstatus --json").parse_args(argv)
    project = arguments.locate(args)
    facts = _status(project, arguments.root(), arguments.directory(args))
    if args.json:
        emit_json(facts)
    else:
        print("\n".join(_status_page(facts)))
    return 0


def _status(project: Project, root: str, directory: str) -> dict[str, Any]:
    known = records.load_all(project.dir)
    last = resolve.last(known)
    work = _view(project.dir, settings.CURRENT_WORK_FILE)
    threads = _objects(_view(project.dir, settings.CONVERSATION_FILE).get("threads"))
    places = installs.in_force(directory, project.root)
    return {
        "version": __version__,
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "exists": os.path.isdir(project.dir),
        "sessions": len(known),
        "episodes": sum(map(shelf.is_plain, _episode_paths(project.dir))),
        "open_threads": sum(1 for thread in threads if thread.get("status") == "open"),
        "in_progress": _objects(work.get("active_tasks")),
        "live": _live(project.dir),
        "last": {**last.brief(), "told": _told(last)} if last else None,
        "hooks": _hooks(root, places),
        "guard": installs.guard(root, places, directory).as_json(),
    }


def _episode_paths(project_dir: str) -> list[str]:
    return [os.path.join(project_dir, settings.EPISODES_DIR, name) for name in episode.names(project_dir)]


def _hooks(root: str, places: list[str]) -> dict[str, Any]:
    """Our hooks as a session here would find them; `elsewhere` are installs that do not reach here."""
    found = installs.find(root, places)
    here = [install for install in found if install.path in places]
    return {
        "is_off": config.is_off(os.environ),
        "installs": [install.path for install in here if not install.problems],
        "problems": [{"settings": each.path, "problem": what} for each in here for what in each.problems],
        "elsewhere": [install.path for install in found if install.path not in places],
        "is_plugin": not found and installs.have_run_lately(root),
        "last_runs": installs.last_runs(root),
    }


def _told(record: Record) -> list[dict[str, Any]]:
    """What was injected into a session: when, why, how much."""
    log = receipt.load(record.session.dir)["log"] if record.session else []
    return [{key: entry.get(key) for key in ("at", "why", "tokens")} for entry in log if isinstance(entry, dict)]


def _live(project_dir: str) -> list[dict[str, Any]]:
    """Sessions that have not ended; `is_alive` is null where that cannot be known."""
    found = []
    for marker in sessions.live_markers(project_dir):
        process = marker.get("process")
        process = process if isinstance(process, dict) else {}
        session = sessions.load(_work_path(project_dir, marker))
        meta = session.meta if session else {}
        found.append(
            {
                "id": session.id if session else sessions.safe_id(marker["claude_session"])[:8],
                "session_id": marker["claude_session"],
                "status": meta.get("status"),
                "started": meta.get("started"),
                "branch": meta.get("branch"),
                "pid": process.get("pid"),
                "is_alive": liveness.is_alive(process),
                "is_at_work": meta.get("status") == settings.ACTIVE and _is_asked(session),
            }
        )
    return found


def _is_asked(session: sessions.Session | None) -> bool:
    """A prompt is being worked on: ACTIVE alone also means started, or taken up again."""
    return session is not None and capture.load(session.dir).turn in (capture.ASKED, capture.WORKING)


def _work_path(project_dir: str, marker: dict[str, Any]) -> str:
    """Where a marker says its session is; only names are taken from it, never a way out of the store."""
    day, _, name = str(marker.get("work", "")).partition("/")
    return os.path.join(project_dir, settings.WORK_DIR, sessions.safe_id(day), sessions.safe_id(name))


def _status_page(facts: dict[str, Any]) -> list[str]:
    project = facts["project"]
    branch = "  (on %s)" % project["branch"] if project["branch"] else ""
    counts = [count(facts[key], key[:-1].replace("_", " ")) for key in ("sessions", "episodes", "open_threads")]
    rows = [["Project", line(project["name"] + branch)], ["Folder", short(project["root"])]]
    rows.append(["Memory", short(facts["memory"])])
    rows.append(["", ", ".join(counts) if facts["exists"] else "nothing yet: it begins with the next session here"])
    rows += [["Now" if i == 0 else "", text] for i, text in enumerate(_live_lines(facts["live"]))]
    lines = table(rows)
    lines += _progress_lines(facts["in_progress"])
    lines += _last_lines(facts["last"]) if facts["last"] else []
    return [*lines, "", *_hook_lines(facts["hooks"], facts["guard"]["line"])]


def _last_lines(last: dict[str, Any]) -> list[str]:
    status = records.shown_status(last["status"], last["alive"])
    parts = [local(last["started"]), last["id"], status, _minutes(last["minutes"]), last["branch"]]
    lines = ["", "Last session", "  " + line(" · ".join(part for part in parts if part))]
    lines += ["  " + cut(line(last["headline"]), columns() - 2)] if last["headline"] else []
    return [*lines, "  told: " + _told_line(last["told"])]


def _told_line(told: list[dict[str, Any]]) -> str:
    items = ["~%s tokens %s" % (entry["tokens"], _occasion(str(entry["why"]))) for entry in told[:_TOLD_SHOWN]]
    items += ["%d times more" % (len(told) - _TOLD_SHOWN)] if len(told) > _TOLD_SHOWN else []
    return line(", ".join(items)) or "nothing"


def _occasion(why: str) -> str:
    return _OCCASIONS.get(why) or "for " + why


def _live_lines(live: list[dict[str, Any]]) -> list[str]:
    lines = []
    for one in live:
        state = "at work" if one["is_at_work"] else "waiting for a prompt"
        if one["is_alive"] is False:
            state = "died; the next session start archives it"
        where = " on %s" % one["branch"] if one["branch"] else ""
        lines.append(line("%s since %s%s: %s" % (one["id"], local(one["started"]), where, state)))
    shown = lines[:_TASKS_SHOWN]
    more = len(lines) - len(shown)
    return [*shown, *(["and %d more" % more] if more else [])] or ["no session is running here"]


def _progress_lines(tasks: list[dict[str, Any]]) -> list[str]:
    if not tasks:
        return []
    lines = ["", "In progress"]
    for task in tasks[:_TASKS_SHOWN]:
        blocked = "  BLOCKED" if task.get("status") == "blocked" else ""
        lines.append("  * " + cut(line(task.get("description") or task.get("id") or "?"), columns() - 14) + blocked)
        steps = task.get("next_steps")
        steps = steps if isinstance(steps, list) else []
        lines += ["      next: " + cut(line(step), columns() - 12) for step in steps[:_STEPS_SHOWN]]
        lines += ["      and %d more" % (len(steps) - _STEPS_SHOWN)] if len(steps) > _STEPS_SHOWN else []
    more = len(tasks) - _TASKS_SHOWN
    return [*lines, "  and %d more in STATE/%s" % (more, settings.CURRENT_WORK_FILE)] if more > 0 else lines


def _hook_lines(hooks: dict[str, Any], guard: str) -> list[str]:
    runs = ["%s %s" % (event, ago(clock.parse(when) or 0.0)) for event, when in hooks["last_runs"].items() if when]
    state = [["Hooks", line(_hook_state(hooks))], ["Guard", line(guard)]]
    return table([*state, ["Last runs", ", ".join(runs) or "none yet"]])


def _hook_state(hooks: dict[str, Any]) -> str:
    if hooks["is_off"]:
        return "OFF: %s is set to off here" % settings.ENV_SWITCH
    on = "on: " + ", ".join(short(path) for path in hooks["installs"]) if hooks["installs"] else ""
    if hooks["problems"]:
        first, more = hooks["problems"][0], len(hooks["problems"]) - 1
        trouble = "%s: %s%s" % (short(first["settings"]), first["problem"], ", and %d more" % more if more else "")
        return "%s%s (see: harness memory doctor)" % (on + "; but in " if on else "NOT WELL: ", trouble)
    if on:
        return on
    if hooks["elsewhere"]:
        return "not on here, only in %s" % ", ".join(short(path) for path in hooks["elsewhere"])
    if hooks["is_plugin"]:
        return "in no settings file of this machine, but they have run: as a plugin, probably"
    return "no install on record: python3 install.py (or see: harness memory doctor)"


def _view(project_dir: str, name: str) -> dict[str, Any]:
    try:
        value = jsontext.loads(files.read(os.path.join(project_dir, settings.STATE_DIR, name)) or b"{}")
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _minutes(value: int | None) -> str:
    return "" if value is None else "%d min" % value
