"""Work across sessions: `open` lists what is open, `thread` and `task` change a thread or a task."""

from __future__ import annotations

import itertools
import os
import time
from typing import Any, Sequence, Union

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import tasks, threads, views
from ..memory.tasks import Task
from ..memory.threads import Thread
from .arguments import ALL, ALL_PROJECTS, option, verb
from .call import Call, one, project_name
from .output import Refusal, count, fit, local, some

Work = Union[Task, Thread]
_STEPS_SHOWN = 3
_SHOWN = "{0.id}  {0.title}".format
_FIELDS = ("id", "title", "last_activity", "branch", "sessions", "next_steps", "blockers")
_EMPTY_TITLE = "the title is empty; nothing was changed"
_THREAD = option("id", "ID", "the thread or one of its sessions, or the beginning of the id")
_TASK = option("name", "TASK", "its name; of a new one its title")
_TASK_NOTES = {"start": "Started", "checkpoint": "Updated", "done": "Done"}
_NOTE = option("--note", "TEXT", "what happened", default="")
_NEXT = option("--next", "TEXT", "all that remains (repeatable)", action="append")
_BLOCKED = option("--blocked", "TEXT", 'what it waits for, or "none"', action="append")


def open_items(project_dir: str) -> list[dict[str, Any]]:
    """Open threads and tasks for scripts."""
    now, project = time.time(), os.path.basename(project_dir)
    items = []
    for work in views.open_work([*tasks.load(project_dir).values()], threads.load(project_dir)):
        days = (now - (clock.parse(work.opened_at) or now)) // settings.DAY_SECONDS
        head = {"kind": type(work).__name__.lower(), "project": project, "opened": work.opened_at}
        items.append({**head, **{key: getattr(work, key) for key in _FIELDS}, "age_days": max(0, int(days))})
    return items


@verb("open", "", ALL_PROJECTS)
def open_work(call: Call) -> int:
    items = [item for project_dir in call.dirs for item in open_items(project_dir)]
    items.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    lines = ["Still open: %d" % len(items) if items else "Nothing is open here."]
    for item in items:
        project = [project_name(item["project"])] if call.all_projects else []
        age = "%s old" % count(item["age_days"], "day") if item["age_days"] else "since today"
        facts = [*project, "%s %s" % (item["kind"], item["id"]), age, item["branch"]]
        lines += ["", fit("* ", item["title"]), fit("    ", " · ".join(filter(None, facts)))]
        lines += [fit("    BLOCKED: ", text) for text in item["blockers"]]
        lines += some([fit("    next: ", text) for text in item["next_steps"]], _STEPS_SHOWN, "    ")
    return call.answer(items, lines)


@verb("thread list", "threads that are open, newest first", ALL)
def list_threads(call: Call) -> int:
    shown = [each for each in threads.load(call.project.dir) if call.all or each.is_open]
    none = "No open threads here (--all: closed ones too)."
    return _list(call, "ID STATUS LAST_ACTIVE #SESSIONS #STEPS THREAD", shown, none)


@verb("thread rename", "give it a title", _THREAD, option("title", "TITLE"), examples='thread rename a1b2 "Login"')
@verb("thread reopen", "take it up again", _THREAD)
@verb("thread close", "what is open will not be done", _THREAD, examples="thread close a1b2c3d4")
def change_thread(call: Call) -> int:
    title = brief(call.title, settings.SUMMARY_LINE_CHARS) if call.action == "rename" else ""
    if call.action == "rename" and not title:
        raise Refusal(_EMPTY_TITLE)
    status = {"close": threads.CLOSED, "reopen": threads.OPEN}.get(call.action, "")
    chosen = _thread(call.project.dir, call.id)
    with views.lock(call.project.dir):
        threads.change(call.project.dir, chosen, clock.iso(call.now), status=status, title=title)
        views.update(call.project.dir)
    return _answer_changed(call, _thread(call.project.dir, chosen.id))


def _thread(project_dir: str, word: str) -> Thread:
    every = threads.load(project_dir)
    return one(word, every, lambda each: (each.id, *each.sessions), "thread", "thread list --all", _SHOWN)


@verb("task list", "open tasks, and those done today", ALL)
def list_tasks(call: Call) -> int:
    every = sorted(tasks.load(call.project.dir).values(), key=lambda each: str(each.last_activity), reverse=True)
    shown = [each for each in every if call.all or each.is_open or local(each.last_activity)[:10] == call.today]
    none = 'No tasks here. Begin one: harness memory task start "TITLE"'
    earlier = ["%s earlier: --all" % count(len(every) - len(shown), "task")] if len(every) > len(shown) else []
    return _list(call, "TASK STATUS UPDATED #NOTES #REMAINS TITLE", shown, none, earlier)


@verb("task done", "nothing of it remains", _TASK, _NOTE, examples="task done user-login")
@verb("task checkpoint", "note how far it is", _TASK, _NOTE, _NEXT, _BLOCKED)
@verb("task start", "begin a task", _TASK, _NOTE, _NEXT, _BLOCKED, examples='task start "User login" --next "Schema"')
def change_task(call: Call) -> int:
    project, is_done = call.project, call.action == "done"
    if not call.name.strip():
        raise Refusal(_EMPTY_TITLE)
    if call.action == "checkpoint" and not (call.note or call.next or call.blocked):
        raise Refusal("nothing to note. Give --note, --next or --blocked")
    note = brief(call.note, settings.ITEM_CHARS) or _TASK_NOTES[call.action]
    entry: dict[str, Any] = {"title": "", "note": note, "at": clock.fine_iso(call.now)}
    entry["status"] = tasks.DONE if is_done else tasks.IN_PROGRESS
    entry["remaining"], entry["blockers"] = ([], []) if is_done else (_texts(call.next), _texts(call.blocked))
    call.prepare()
    with views.lock(project.dir):
        if call.action == "start":
            slug, title = tasks.slug(redact(call.name)), brief(call.name, settings.SUMMARY_LINE_CHARS)
            ids = itertools.chain([slug], ("%s-%d" % (slug, number) for number in itertools.count(2)))
            id = next(id for id in ids if not files.exists(tasks.path_of(project.dir, id)))
            task = Task({"task_id": id, "title": title, "branch": project.branch})
        else:
            every = tasks.load(project.dir).values()
            task = one(call.name, every, lambda each: (each.id,), "task", "task list --all", _SHOWN)
        task.add(entry, call.present, clock.iso(call.now))
        files.write_json(tasks.path_of(project.dir, task.id), task.fields, durable=True)
        views.update(project.dir)
    return _answer_changed(call, task)


def _texts(texts: list[str] | None) -> list[str] | None:
    items = [brief(text, settings.ITEM_CHARS) for text in texts or ()]
    items = [item for item in items if item.lower() not in ("", "none")][: settings.REMAINS_ITEMS]
    return None if texts is None else items


def _list(call: Call, head: str, shown: Sequence[Work], none: str, after: Sequence[str] = ()) -> int:
    def row(work: Work) -> tuple[Any, list[Any]]:
        numbers = [len(work.checkpoints if isinstance(work, Task) else work.sessions), len(work.next_steps)]
        cells = [work.id, work.state, local(work.last_activity), *map(str, numbers), work.title]
        return {**work.fields, "is_open": work.is_open}, cells

    return call.listing(head, shown, row, none, after)


def _answer_changed(call: Call, work: Work) -> int:
    return call.answer(work.fields, ["%s: %s  (%s)" % (work.id, work.title, work.state)])
