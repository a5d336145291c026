"""Work across sessions: `open` lists what is open, `thread` and `task` change a thread or a task."""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Sequence
from typing import Any

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import tasks, threads, views
from ..memory.tasks import Task
from ..memory.threads import Thread
from ..project import Project
from . import arguments, resolve
from .output import Refusal, answer, count, fit, listing, local, some

_SHOWN = "{0.id}  {0.title}".format
_STEPS_SHOWN = 3
_FIELDS = ("id", "title", "last_activity", "branch", "sessions", "next_steps", "blockers")
_EMPTY_TITLE = "the title is empty; nothing was changed"
_THREAD_ACTIONS = {"close": "what is open will not be done", "reopen": "take it up again", "rename": "give it a title"}
_TASK_ACTIONS = {"start": "begin a task", "checkpoint": "note how far it is", "done": "nothing of it remains"}
_TASK_NOTES = {"start": "Started", "checkpoint": "Updated", "done": "Done"}


def open_work(argv: list[str]) -> int:
    args = arguments.parser("open", has_all=True).parse_args(argv)
    now, items = time.time(), []
    for project_dir in arguments.project_dirs(args):
        for work in views.open_work([*tasks.load(project_dir).values()], threads.load(project_dir)):
            days = (now - (clock.parse(work.opened_at) or now)) // settings.DAY_SECONDS
            head = {"kind": type(work).__name__.lower(), "project": os.path.basename(project_dir)}
            fields = {key: getattr(work, key) for key in _FIELDS}
            items.append({**head, "opened": work.opened_at, **fields, "age_days": max(0, int(days))})
    items.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    lines = ["Still open: %d" % len(items) if items else "Nothing is open here."]
    for item in items:
        project = [arguments.project_name(item["project"])] if args.all_projects else []
        age = "%s old" % count(item["age_days"], "day") if item["age_days"] else "since today"
        facts = [*project, "%s %s" % (item["kind"], item["id"]), age, item["branch"]]
        lines += ["", fit("* ", item["title"]), fit("    ", " · ".join(filter(None, facts)))]
        lines += [fit("    BLOCKED: ", text) for text in item["blockers"]]
        lines += some([fit("    next: ", text) for text in item["next_steps"]], _STEPS_SHOWN, "    ")
    return answer(args.json, items, lines)


def thread(argv: list[str]) -> int:
    actions = arguments.Actions("thread", "", 'thread close a1b2c3d4\nthread rename a1b2 "Login by mail"')
    listing = actions.add("list", "threads that are open, newest first")
    listing.add_argument("--all", action="store_true", help="closed threads too")
    for action, words in _THREAD_ACTIONS.items():
        parser = actions.add(action, words)
        parser.add_argument("id", metavar="ID", help="the thread or one of its sessions, or the beginning of the id")
        if action == "rename":
            parser.add_argument("title", metavar="TITLE")
    args = actions.parse(argv, "list")
    project_dir = arguments.locate(args).dir
    if args.action == "list":
        shown = [each for each in threads.load(project_dir) if args.all or each.is_open]
        none = "No open threads here (--all: closed ones too)."
        return _list(args, "ID STATUS LAST_ACTIVE #SESSIONS #STEPS THREAD", shown, none)
    title = brief(args.title, settings.SUMMARY_LINE_CHARS) if args.action == "rename" else ""
    if args.action == "rename" and not title:
        raise Refusal(_EMPTY_TITLE)
    chosen = _thread(project_dir, args.id)
    status = {"close": threads.CLOSED, "reopen": threads.OPEN}.get(args.action, "")
    with views.lock(project_dir):
        threads.change(project_dir, chosen, clock.iso(time.time()), status=status, title=title)
        views.update(project_dir)
    return _answer_changed(args, _thread(project_dir, chosen.id))


def _thread(project_dir: str, word: str) -> Thread:
    every = threads.load(project_dir)
    return resolve.one(word, every, lambda each: (each.id, *each.sessions), "thread", _SHOWN, "thread list --all")


def task(argv: list[str]) -> int:
    actions = arguments.Actions("task", "", 'task start "User login" --next "Schema"\ntask done user-login')
    for action, words in _TASK_ACTIONS.items():
        parser = actions.add(action, words)
        parser.add_argument("name", metavar="TITLE" if action == "start" else "TASK")
        parser.add_argument("--note", metavar="TEXT", default="", help="what happened")
        if action != "done":
            parser.add_argument("--next", metavar="TEXT", action="append", help="all that remains (repeatable)")
            parser.add_argument("--blocked", metavar="TEXT", action="append", help='what it waits for, or "none"')
    listing = actions.add("list", "open tasks, and those done today")
    listing.add_argument("--all", action="store_true", help="those done earlier, too")
    args = actions.parse(argv, "list")
    project = arguments.locate(args)
    if args.action != "list":
        return _answer_changed(args, _change_task(project, args))
    every = sorted(tasks.load(project.dir).values(), key=lambda each: str(each.last_activity), reverse=True)
    today = time.strftime("%Y-%m-%d")
    shown = [each for each in every if args.all or each.is_open or local(each.last_activity)[:10] == today]
    none = 'No tasks here. Begin one: harness memory task start "TITLE"'
    earlier = ["%s earlier: --all" % count(len(every) - len(shown), "task")] if len(every) > len(shown) else []
    return _list(args, "TASK STATUS UPDATED #NOTES #REMAINS TITLE", shown, none, earlier)


def _change_task(project: Project, args: argparse.Namespace) -> Task:
    now = time.time()
    if args.action == "start" and not args.name.strip():
        raise Refusal(_EMPTY_TITLE)
    if args.action == "checkpoint" and not (args.note or args.next or args.blocked):
        raise Refusal("nothing to note. Give --note, --next or --blocked")
    entry: dict[str, Any] = {"title": "", "note": brief(args.note, settings.ITEM_CHARS) or _TASK_NOTES[args.action]}
    entry.update(at=clock.fine_iso(now), status=tasks.DONE, remaining=[], blockers=[])
    if args.action != "done":
        entry.update(status=tasks.IN_PROGRESS, remaining=_texts(args.next), blockers=_texts(args.blocked))
    arguments.private_root(project)
    with views.lock(project.dir):
        if args.action == "start":
            slug, title = tasks.slug(redact(args.name)), brief(args.name, settings.SUMMARY_LINE_CHARS)
            ids = itertools.chain([slug], ("%s-%d" % (slug, number) for number in itertools.count(2)))
            id = next(id for id in ids if not files.exists(tasks.path_of(project.dir, id)))
            changed = Task({"task_id": id, "title": title, "branch": project.branch})
        else:
            every = tasks.load(project.dir).values()
            changed = resolve.one(args.name, every, lambda each: (each.id,), "task", _SHOWN, "task list --all")
        changed.add(entry, resolve.present(project.dir), clock.iso(now))
        files.write_json(tasks.path_of(project.dir, changed.id), changed.fields, durable=True)
        views.update(project.dir)
    return changed


def _texts(texts: list[str] | None) -> list[str] | None:
    items = [brief(text, settings.ITEM_CHARS) for text in texts or ()]
    items = [item for item in items if item.lower() not in ("", "none")][: settings.REMAINS_ITEMS]
    return None if texts is None else items


def _list(
    args: argparse.Namespace, head: str, shown: Sequence[Task | Thread], none: str, after: Sequence[str] = ()
) -> int:
    def row(work: Task | Thread) -> tuple[Any, list[Any]]:
        numbers = [len(work.checkpoints if isinstance(work, Task) else work.sessions), len(work.next_steps)]
        cells = [work.id, work.state, local(work.last_activity), *map(str, numbers), work.title]
        return {**work.fields, "is_open": work.is_open}, cells

    return listing(args, head, shown, row, none, after)


def _answer_changed(args: argparse.Namespace, work: Task | Thread) -> int:
    return answer(args.json, work.fields, ["%s: %s  (%s)" % (work.id, work.title, work.state)])
