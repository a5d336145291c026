"""Looking at what is remembered: `status`, `list`, `show`. Nothing here writes."""

from __future__ import annotations

import argparse
import os
import time

from .. import __version__, clock, episode, jsontext, liveness, runner, settings, store
from .. import session as sessions
from ..setup import registry
from . import arguments, records
from .output import ago, columns, count, cut, emit_json, line, local, passage, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project import Project
    from .records import Record

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
_TASKS_SHOWN = 4
_STEPS_SHOWN = 2
_LIMIT = 20


# status ------------------------------------------------------------------------------------------


def status(argv: list[str]) -> int:
    about = "What is remembered of this project, what is in progress, who is at work, and whether the hooks are on."
    args = arguments.parser("status", about, "status\nstatus --project ~/src/other\nstatus --json").parse_args(argv)
    project = arguments.locate(args)
    facts = _status(project, arguments.root())
    if args.json:
        emit_json(facts)
    else:
        print("\n".join(_status_page(facts)))
    return 0


def last_runs(root: str) -> dict[str, str | None]:
    """When each hook last ran."""
    found: dict[str, str | None] = {}
    for event in EVENTS:
        try:
            stamp = os.stat(os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR, event)).st_mtime
            found[event] = clock.iso(stamp)
        except OSError:
            found[event] = None
    return found


def _status(project: Project, root: str) -> dict[str, Any]:
    known = records.load_all(project.dir)
    last = _last(known)
    work = _view(project.dir, settings.CURRENT_WORK_FILE)
    threads = _objects(_view(project.dir, settings.CONVERSATION_FILE).get("threads"))
    return {
        "version": __version__,
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "exists": os.path.isdir(project.dir),
        "sessions": len(known),
        "episodes": len(episode.names(project.dir)),
        "open_threads": sum(1 for thread in threads if thread.get("status") == "open"),
        "in_progress": _objects(work.get("active_tasks")),
        "live": _live(project.dir),
        "last": last.brief() if last else None,
        "hooks": {
            "is_off": runner.is_off(os.environ),
            "installs": [str(item.get("settings")) for item in registry.load(root)],
            "last_runs": last_runs(root),
        },
    }


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
            }
        )
    return found


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
    if facts["last"]:
        last = facts["last"]
        parts = [local(last["started"]), last["id"], last["status"], _minutes(last["minutes"]), last["branch"]]
        lines += ["", "Last session", "  " + line(" · ".join(part for part in parts if part))]
        lines += ["  " + cut(line(last["headline"]), columns() - 2)] if last["headline"] else []
    return [*lines, "", *_hook_lines(facts["hooks"])]


def _live_lines(live: list[dict[str, Any]]) -> list[str]:
    lines = []
    for one in live:
        state = "at work" if one["status"] == settings.ACTIVE else "waiting for a prompt"
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


def _hook_lines(hooks: dict[str, Any]) -> list[str]:
    if hooks["is_off"]:
        state = "OFF: %s is set to off here" % settings.ENV_SWITCH
    elif hooks["installs"]:
        state = "on: " + ", ".join(short(path) for path in hooks["installs"])
    else:
        state = "no install on record: python3 install.py (or see: harness memory doctor)"
    runs = ["%s %s" % (event, ago(clock.parse(when) or 0.0)) for event, when in hooks["last_runs"].items() if when]
    return table([["Hooks", state], ["Last runs", ", ".join(runs) or "none yet"]])


def _view(project_dir: str, name: str) -> dict[str, Any]:
    try:
        value = jsontext.loads(store.read(os.path.join(project_dir, settings.STATE_DIR, name)) or b"{}")
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _minutes(value: int | None) -> str:
    return "" if value is None else "%d min" % value


# list --------------------------------------------------------------------------------------------


def list_sessions(argv: list[str]) -> int:
    about = "Past sessions, newest first, one a line; those still running too."
    examples = "list\nlist --since 7d --branch main\nlist --status ABANDONED\nlist --all-projects --limit 50 --json"
    parser = arguments.parser("list", about, examples)
    arguments.add_all_projects(parser)
    add = parser.add_argument
    add("--limit", type=_positive, default=_LIMIT, metavar="N", help="at most N sessions (default: %d)" % _LIMIT)
    add("--status", type=str.upper, choices=settings.STATUSES, help="only sessions in this state")
    add("--branch", metavar="B", help="only sessions on this git branch")
    add("--since", type=_instant, metavar="DATE", help="active since 2026-11-16, today, yesterday, 36h or 7d")
    args = parser.parse_args(argv)
    found = [record for directory in arguments.project_dirs(args) for record in records.load_all(directory)]
    found = sorted(_wanted(found, args), key=lambda record: (record.started, record.id), reverse=True)
    shown = found[: args.limit]
    if args.json:
        emit_json([record.brief() for record in shown])
    elif shown:
        print("\n".join(_listing(shown, args.all_projects)))
        if len(found) > len(shown):
            print("%d more: --limit %d" % (len(found) - len(shown), len(found)))
    else:
        print("No sessions%s." % (" that match" if _is_narrowed(args) else " are remembered here yet"))
    return 0


def _wanted(found: list[Record], args: argparse.Namespace) -> list[Record]:
    kept = [r for r in found if args.status in (None, r.status) and args.branch in (None, r.branch)]
    return kept if args.since is None else [r for r in kept if r.seen >= args.since]


def _is_narrowed(args: argparse.Namespace) -> bool:
    return (args.since, args.status, args.branch) != (None, None, None)


def _listing(shown: list[Record], with_project: bool) -> list[str]:
    head = ["ID", "STARTED", "STATUS", "MIN", "BRANCH", "FILES", "SESSION"]
    rows = [head if not with_project else ["PROJECT", *head]]
    for record in shown:
        minutes = "-" if record.minutes is None else str(record.minutes)
        row = [record.id, local(record.started), record.status, minutes, record.branch or "-", str(len(record.files))]
        row = [cut(line(cell), 30) for cell in row] + [line(record.headline) or "(nothing asked yet)"]
        rows.append([cut(arguments.project_name(record.project_dir), 24), *row] if with_project else row)
    return table(rows, right=(4, 6) if with_project else (3, 5), is_cut=True)


def _positive(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError("%r is no positive number" % text)
    return int(text)


def _instant(text: str) -> float:
    """The beginning of a local day, or a number of hours or days back from now."""
    now = time.time()
    days = {"today": 0, "yesterday": 1}
    if text in days:
        text = time.strftime("%Y-%m-%d", time.localtime(now - days[text] * 86400))
    if text[:-1].isdigit() and text[-1:] in ("h", "d") and len(text) < 8:
        return now - int(text[:-1]) * (3600 if text[-1] == "h" else 86400)
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("%r is no date like 2026-11-16, today, 36h or 7d" % text) from None


# show --------------------------------------------------------------------------------------------


def show(argv: list[str]) -> int:
    about = "One session in full: what was asked and done, what is still open, and where its files are."
    parser = arguments.parser("show", about, "show last\nshow a1b2c3d4\nshow a1b --json")
    parser.add_argument("session", metavar="ID", help='an id or its beginning, an episode\'s file name, or "last"')
    args = parser.parse_args(argv)
    record = _chosen(records.load_all(arguments.locate(args).dir), args.session)
    if args.json:
        files = {"paths": record.paths, "artifacts": record.artifacts}
        emit_json({"id": record.id, "meta": record.meta or None, "episode": record.episode, **files})
    else:
        print("\n".join([passage(_page(record)), "", *table(_fact_rows(record))]))
    return 0


def _chosen(known: list[Record], word: str) -> Record:
    last = _last(known) if word == "last" else None
    found = [last] if last else records.matching(known, word)
    if len(found) == 1:
        return found[0]
    if found:
        rows = "\n".join("  %s  %s  %s" % (r.id, local(r.started), line(r.headline)) for r in found)
        raise Refusal('"%s" is the beginning of %d sessions; give more of the id:\n%s' % (word, len(found), rows))
    if word == "last":
        raise Refusal("no session is remembered here yet. Other projects: harness memory list --all-projects")
    raise Refusal(
        'no session "%s" in this project. See: harness memory list (other projects: --all-projects)' % line(word)
    )


def _last(known: list[Record]) -> Record | None:
    # Inside Claude Code the present session is always the latest, and never the one that is meant.
    return records.latest(known, os.environ.get(settings.ENV_SESSION_ID, ""))


def _page(record: Record) -> str:
    """summary.md, or the same made from what is there."""
    if record.episode:
        return episode.summary_page(record.episode).rstrip()
    text = str(record.meta.get("summary") or "").strip()
    return "\n".join(["# %s" % (line(record.headline) or "Session %s" % record.id), *(["", text] if text else [])])


def _fact_rows(record: Record) -> list[list[str]]:
    meta = record.meta
    ended = meta.get("ended") or (record.episode or {}).get("ended")
    rows = [
        ["Session", "%s  (%s)" % (record.id, record.claude_id)],
        ["Status", record.status + (" (%s)" % meta["reason"] if meta.get("reason") else "")],
        ["Time", "%s to %s" % (local(record.started), local(ended) if ended else "now")],
    ]
    rows += [["Branch", record.branch]] if record.branch else []
    tags = (record.episode or {}).get("tags") or meta.get("tags")
    rows += [["Tags", ", ".join(str(tag) for tag in tags)]] if tags and not isinstance(tags, str) else []
    rows += [["Thread", record.episode["thread"]]] if record.episode and record.episode["thread"] != record.id else []
    paths = [*record.paths.values(), *record.artifacts]
    rows = [[name, line(text)] for name, text in rows]
    return rows + [["Files" if i == 0 else "", short(path)] for i, path in enumerate(paths)]
