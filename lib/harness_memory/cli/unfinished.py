"""What is still open: `open` over threads and tasks, `thread` to close, reopen or rename one."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.text import brief
from ..memory import ledger, threads, views
from ..memory import tasks as progress
from . import arguments
from .output import columns, count, cut, emit_json, line, local, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

_LOCK_SECONDS = 5.0
_LIMIT = 20
_STEPS_SHOWN = 3


# open ---------------------------------------------------------------------------------------------


def open_work(argv: list[str]) -> int:
    about = "What is still open: threads that a session left with work to do, and tasks; with next steps and blockers."
    parser = arguments.parser("open", about, "open\nopen --all-projects\nopen --limit 5 --json")
    arguments.add_all_projects(parser)
    parser.add_argument(
        "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT
    )
    args = parser.parse_args(argv)
    found = [item for directory in arguments.project_dirs(args) for item in unfinished(directory)]
    found.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    shown = found[: args.limit]
    if args.json:
        emit_json(shown)
    elif found:
        print("\n".join(_page(found, shown, args.all_projects)))
    else:
        print("Nothing is open%s." % ("" if args.all_projects else " here"))
    return 0


def unfinished(project_dir: str) -> list[dict[str, Any]]:
    """Open tasks, and open threads that no open task speaks of."""
    tasks = [task for task in progress.load_all(project_dir) if ledger.is_open(task)]
    told = {session for task in tasks for session in task["sessions"]}
    found = [_task(project_dir, task) for task in tasks]
    for thread in views.threads(project_dir, _LOCK_SECONDS, is_all=False):
        if not told.issuperset(thread["sessions"]):
            found.append(_thread(project_dir, thread))
    return found


def _task(project_dir: str, task: dict[str, Any]) -> dict[str, Any]:
    given = {"id": task["task_id"], "next_steps": task["remaining"], "opened": task["created"]}
    return _item("task", project_dir, {**task, **given, "last_activity": task["updated"]})


def _thread(project_dir: str, thread: dict[str, Any]) -> dict[str, Any]:
    return _item("thread", project_dir, {**thread, "opened": thread["opened_at"]})


def _item(kind: str, project_dir: str, known: dict[str, Any]) -> dict[str, Any]:
    keys = ("id", "title", "opened", "last_activity", "branch", "sessions", "next_steps", "blockers")
    item = {key: known.get(key) for key in keys}
    item["blockers"] = item["blockers"] or []
    return {"kind": kind, "project": os.path.basename(project_dir), **item, "age_days": _age(str(item["opened"]))}


def _age(instant: str) -> int:
    return max(0, int((time.time() - (clock.parse(instant) or time.time())) // settings.DAY_SECONDS))


def _page(found: list[dict[str, Any]], shown: list[dict[str, Any]], with_project: bool) -> list[str]:
    kinds = [count(sum(item["kind"] == kind for item in found), kind) for kind in ("thread", "task")]
    lines = ["Still open: " + ", ".join(kinds)]
    for item in shown:
        where = [arguments.project_name(item["project"])] if with_project else []
        where += ["%s %s" % (item["kind"], item["id"]), _old(item["age_days"]), str(item["branch"] or "")]
        blocked = "BLOCKED  " if item["blockers"] else ""
        lines += ["", "* " + blocked + cut(line(item["title"]), columns() - 12)]
        lines.append("    " + line(" · ".join(part for part in where if part)))
        lines += ["    blocked: " + cut(line(text), columns() - 14) for text in item["blockers"]]
        steps = item["next_steps"]
        lines += ["    next: " + cut(line(text), columns() - 12) for text in steps[:_STEPS_SHOWN]]
        lines += ["    and %d more" % (len(steps) - _STEPS_SHOWN)] if len(steps) > _STEPS_SHOWN else []
    more = len(found) - len(shown)
    return [*lines, "", "%d more: --limit %d" % (more, len(found))] if more else lines


def _old(days: int) -> str:
    return "since today" if days == 0 else "%s old" % count(days, "day")


# thread -------------------------------------------------------------------------------------------


def thread(argv: list[str]) -> int:
    about = (
        "Threads of work across sessions. close says that what a thread left open will not be done (it opens again\n"
        "when a session leaves something else to do); reopen takes it up again; rename gives it a title of your own."
    )
    examples = 'thread list\nthread close a1b2c3d4\nthread reopen a1b2\nthread rename a1b2 "Login by mail"'
    parser = arguments.parser("thread", about, examples)
    add = parser.add_argument
    add("action", nargs="?", choices=("list", "close", "reopen", "rename"), default="list")
    add("id", nargs="?", metavar="ID", help="the thread: its id, that of a session in it, or the beginning of one")
    add("title", nargs="?", metavar="TITLE", help="rename: the new title")
    add("--all", action="store_true", help="list: closed threads too")
    args = parser.parse_args(argv)
    project_dir = arguments.locate(args).dir
    known = views.threads(project_dir, _LOCK_SECONDS, is_all=args.all or args.action != "list")
    if args.action == "list":
        return _list_threads(known, args)
    if not args.id or (args.action == "rename") != bool(args.title):
        form = "ID TITLE" if args.action == "rename" else "ID"
        raise Refusal("give: harness memory thread %s %s" % (args.action, form))
    found = _chosen(known, args.id)
    after = _said(project_dir, found, args)
    if args.json:
        emit_json(after)
    else:
        print("%s: %s  (%s)" % (line(after["id"]), line(after["title"]), after["status"]))
    return 0


def _said(project_dir: str, found: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """Keep what was said, show it in the views; the thread as it is afterwards."""
    at, title = clock.iso(time.time()), brief(args.title or "", settings.SUMMARY_LINE_CHARS)
    if args.action == "rename" and not title:
        raise Refusal("the title is empty; nothing was changed")
    said: dict[str, Any] = {}

    def say() -> None:
        known = threads.read(project_dir, found["id"])  # another may have had a word since the thread was found
        if args.action == "rename":
            said.update(threads.renaming(found, known, at, title))
        else:
            said.update((threads.closing if args.action == "close" else threads.reopening)(found, known, at))
        threads.write(project_dir, said)

    if not views.change(project_dir, _episodes(project_dir, found), _LOCK_SECONDS, say):
        raise Refusal("a session holds the lock of the views; nothing was changed. Try again")
    after = views.threads(project_dir, _LOCK_SECONDS)
    return next((each for each in after if each["id"] == found["id"]), threads.applied(found, said))


def _episodes(project_dir: str, found: dict[str, Any]) -> list[str]:
    """One of a thread's episodes: marking it redoes the thread."""
    ends = tuple("-%s.json" % session for session in found["sessions"])
    names = files.names(os.path.join(project_dir, settings.EPISODES_DIR))
    return [name for name in names if name.endswith(ends)][:1]


def _chosen(known: list[dict[str, Any]], word: str) -> dict[str, Any]:
    exact = [each for each in known if each["id"] == word] or [each for each in known if word in each["sessions"]]
    found = exact or [each for each in known if any(name.startswith(word) for name in (each["id"], *each["sessions"]))]
    if len(found) == 1:
        return found[0]
    if found:
        rows = "\n".join("  %s  %s" % (each["id"], line(each["title"])) for each in found[:_LIMIT])
        raise Refusal('"%s" may be any of these; give more of the id:\n%s' % (line(word), rows))
    raise Refusal('no thread "%s" here. See: harness memory thread list --all' % line(word))


def _list_threads(found: list[dict[str, Any]], args: argparse.Namespace) -> int:
    if args.json:
        emit_json(found)
    elif found:
        rows = [["ID", "STATUS", "LAST ACTIVE", "SESSIONS", "STEPS", "THREAD"]]
        for each in found:
            numbers = [str(len(each["sessions"])), str(len(each["next_steps"]))]
            rows.append([each["id"], each["status"], local(each["last_activity"]), *numbers, line(each["title"])])
        print("\n".join(table(rows, right=(3, 4), is_cut=True)))
    else:
        print("No threads here%s." % ("" if args.all else " are open (--all lists the closed ones too)"))
    return 0
