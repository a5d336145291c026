"""What is still open: `open` over threads and tasks, `thread` to close, reopen or rename one."""

from __future__ import annotations

import os
import time

from ..base import clock, settings
from ..base.text import brief
from ..memory import tasks, threads, views
from . import arguments, resolve
from .output import answer, columns, count, cut, line, local, some, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..memory.threads import Thread

_LIMIT = 20
_STEPS_SHOWN = 3
_FIELDS = ("id", "title", "last_activity", "branch", "sessions", "next_steps", "blockers")


def open_work(argv: list[str]) -> int:
    about = "What is still open: threads that a session left with work to do, and tasks; with next steps and blockers."
    parser = arguments.parser("open", about, "open\nopen --all-projects\nopen --limit 5 --json")
    arguments.add_all_projects(parser)
    limit = "at most N (default: %d)" % _LIMIT
    parser.add_argument("--limit", type=arguments.positive, default=_LIMIT, metavar="N", help=limit)
    args = parser.parse_args(argv)
    items = [item for directory in arguments.project_dirs(args) for item in _items(directory, time.time())]
    items.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    return answer(args.json, items[: args.limit], _page(items, args.limit, args.all_projects))


def _items(project_dir: str, now: float) -> list[dict[str, Any]]:
    items = []
    for work in views.open_work(tasks.load_all(project_dir), threads.load(project_dir)):
        days = (now - (clock.parse(work.opened_at) or now)) // settings.DAY_SECONDS
        head = {"kind": type(work).__name__.lower(), "project": os.path.basename(project_dir), "opened": work.opened_at}
        items.append({**head, **{key: getattr(work, key) for key in _FIELDS}, "age_days": max(0, int(days))})
    return items


def _page(items: list[dict[str, Any]], limit: int, with_project: bool) -> list[str]:
    if not items:
        return ["Nothing is open%s." % ("" if with_project else " here")]
    kinds = [count(sum(item["kind"] == kind for item in items), kind) for kind in ("thread", "task")]
    lines = ["Still open: " + ", ".join(kinds)]
    for item in items[:limit]:
        age = "%s old" % count(item["age_days"], "day") if item["age_days"] else "since today"
        facts = [arguments.project_name(item["project"])] if with_project else []
        facts += ["%s %s" % (item["kind"], item["id"]), age, item["branch"]]
        blocked = "BLOCKED  " if item["blockers"] else ""
        lines += ["", "* " + blocked + cut(line(item["title"]), columns() - 12)]
        lines.append("    " + line(" · ".join(filter(None, facts))))
        lines += ["    blocked: " + cut(line(text), columns() - 14) for text in item["blockers"]]
        steps = ["    next: " + cut(line(text), columns() - 12) for text in item["next_steps"]]
        lines += some(steps, _STEPS_SHOWN, "    ")
    hidden = len(items) - limit
    return [*lines, "", "%d more: --limit %d" % (hidden, len(items))] if hidden > 0 else lines


def thread(argv: list[str]) -> int:
    about = "Threads of work across sessions. Changing one says what a person decided; sessions go on adding to it."
    examples = 'thread list\nthread close a1b2c3d4\nthread reopen a1b2\nthread rename a1b2 "Login by mail"'
    actions = arguments.Actions("thread", about, examples)
    listing = actions.add("list", "threads that are open, newest first")
    listing.add_argument("--all", action="store_true", help="closed threads too")
    close = "what it left open will not be done; it opens again when a session leaves something else to do"
    words = {"close": close, "reopen": "take it up again", "rename": "give it a title of your own"}
    changes = {action: actions.add(action, text) for action, text in words.items()}
    for parser in changes.values():
        parser.add_argument("id", metavar="ID", help="the thread or one of its sessions, or the beginning of the id")
    changes["rename"].add_argument("title", metavar="TITLE")
    args = actions.parse(argv, "list")
    project_dir = arguments.locate(args).dir
    if args.action == "list":
        known = [each for each in threads.load(project_dir) if args.all or each.is_open]
        return answer(args.json, [each.as_json() for each in known], _listing(known, args.all))
    after = _change(project_dir, args)
    return answer(args.json, after.as_json(), ["%s: %s  (%s)" % (line(after.id), line(after.title), after.status)])


def _listing(known: list[Thread], is_all: bool) -> list[str]:
    if not known:
        return ["No threads here%s." % ("" if is_all else " are open (--all lists the closed ones too)")]
    rows = [["ID", "STATUS", "LAST ACTIVE", "SESSIONS", "STEPS", "THREAD"]]
    for each in known:
        numbers = [str(len(each.sessions)), str(len(each.next_steps))]
        rows.append([each.id, each.status, local(each.last_activity), *numbers, line(each.title)])
    return table(rows, right=(3, 4), is_cut=True)


def _change(project_dir: str, args: argparse.Namespace) -> Thread:
    """Write what a person said; the thread as it is afterwards."""
    title = brief(args.title, settings.SUMMARY_LINE_CHARS) if args.action == "rename" else ""
    if args.action == "rename" and not title:
        raise Refusal("the title is empty; nothing was changed")
    chosen = _find(project_dir, args.id)
    status = {"close": threads.CLOSED, "reopen": threads.OPEN}.get(args.action, "")
    with views.lock(project_dir):
        threads.change(project_dir, chosen, clock.iso(time.time()), status=status, title=title)
        views.update(project_dir)
    return _find(project_dir, chosen.id)


def _find(project_dir: str, word: str) -> Thread:
    known = threads.load(project_dir)
    known = [each for each in known if each.id == word] or known
    shown = "{0.id}  {0.title}".format
    return resolve.one(word, known, lambda each: (each.id, *each.sessions), "thread", shown, "thread list --all")
