"""Work across sessions: `open` lists what is open, `digest` what was done; `thread` and `task` change one of them."""

from __future__ import annotations

import os
import time
from typing import Any

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import records, tasks, threads, views
from ..memory.tasks import Task
from ..memory.threads import Thread
from .call import Call, one, project_name
from .output import Refusal, count, line, local, some

_STEPS_SHOWN = 3
_REPORTED = ("decisions", "files_changed", "commits")
_FIELDS = ("id", "title", "state", "last_activity", "branch", "sessions", "next_steps", "blockers")
_SHOWN = "{0.id}  {0.title}".format
_TASK_NOTES = {"start": "Started", "checkpoint": "Updated", "done": "Done"}


def open_items(project_dir: str, *, with_closed: bool = False) -> list[dict[str, Any]]:
    """Open threads and tasks for scripts."""
    items, now = [], time.time()
    named, chains = [*tasks.load(project_dir).values()], threads.load(project_dir)
    every: list[Task | Thread] = [*named, *chains] if with_closed else views.open_work(named, chains)
    for work in every:
        days = (now - (clock.parse(work.opened_at) or now)) // settings.DAY_SECONDS
        item = {"kind": type(work).__name__.lower(), "project": os.path.basename(project_dir), "opened": work.opened_at}
        items.append({**item, **{key: getattr(work, key) for key in _FIELDS}, "age_days": max(0, int(days))})
    return items


def open_work(call: Call) -> int:
    items = [item for project_dir in call.dirs for item in open_items(project_dir, with_closed=call.all)]
    items.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    still = sum(item["state"] not in (threads.CLOSED, tasks.DONE) for item in items)
    lines = ["Still open: %d" % still if still else "Nothing is open here."]
    for item in items:
        project = [project_name(item["project"])] if call.all_projects else []
        age = "%s old" % count(item["age_days"], "day") if item["age_days"] else "since today"
        facts = [*project, "%s %s" % (item["kind"], item["id"]), item["state"], age, item["branch"]]
        lines += ["", "* " + line(item["title"]), "    " + line(" · ".join(filter(None, facts)))]
        lines += ["    BLOCKED: " + line(text) for text in item["blockers"]]
        lines += some(["    next: " + line(text) for text in item["next_steps"]], _STEPS_SHOWN, "    ")
    return call.answer(items, lines)


def change_thread(call: Call) -> int:
    status = {"close": threads.CLOSED, "reopen": threads.OPEN}.get(call.action, "")
    title = "" if status else brief(call.title, settings.SUMMARY_LINE_CHARS)
    chosen = _thread(call.project.dir, call.id)
    with views.lock(call.project.dir):
        threads.change(call.project.dir, chosen, clock.iso(call.now), status=status, title=title)
        views.update(call.project.dir, threads.load_cache(call.project.dir))
    return _answer_changed(call, _thread(call.project.dir, chosen.id))


def _thread(project_dir: str, word: str) -> Thread:
    every = threads.load(project_dir)
    return one(word, every, lambda each: (each.id, *each.sessions), "thread", "open --all", _SHOWN)


def change_task(call: Call) -> int:
    project, is_done = call.project, call.action == "done"
    if call.action == "checkpoint" and not (call.note or call.next or call.blocked):
        raise Refusal("nothing to note. Give --note, --next or --blocked")
    entry: dict[str, Any] = {"title": "", "note": brief(call.note, settings.ITEM_CHARS) or _TASK_NOTES[call.action]}
    entry.update(at=clock.fine_iso(call.now), status=tasks.DONE if is_done else tasks.IN_PROGRESS)
    entry["remaining"], entry["blockers"] = ([], []) if is_done else (_texts(call.next), _texts(call.blocked))
    call.prepare()
    with views.lock(project.dir):
        if call.action == "start":
            slug, title = tasks.slug(redact(call.name)), brief(call.name, settings.SUMMARY_LINE_CHARS)
            ids = (slug, *("%s-%d" % (slug, number) for number in range(2, 100)))
            id = next(id for id in ids if not files.exists(tasks.path_of(project.dir, id)))
            task = Task({"task_id": id, "title": title, "branch": project.branch})
        else:
            every = tasks.load(project.dir).values()
            task = one(call.name, every, lambda each: (each.id,), "task", "open --all", _SHOWN)
        task.add(entry, call.present, clock.iso(call.now))
        files.write_json(tasks.path_of(project.dir, task.id), task.fields, durable=True)
        views.update(project.dir, threads.load_cache(project.dir))
    return _answer_changed(call, task)


def _texts(texts: list[str] | None) -> list[str] | None:
    items = [brief(text, settings.ITEM_CHARS) for text in texts or ()]
    items = [item for item in items if item.lower() not in ("", "none")][: settings.REMAINS_ITEMS]
    return None if texts is None else items


def _answer_changed(call: Call, work: Task | Thread) -> int:
    return call.answer(work.fields, ["%s: %s  (%s)" % (work.id, work.title, work.state)])


def digest(call: Call) -> int:
    year, month, day, *_ = time.localtime(call.now)
    midnight = time.mktime((year, month, day - (6 if call.week else 1), 0, 0, 0, 0, 0, -1))
    begin = call.day or call.since or midnight
    end = begin + settings.DAY_SECONDS if call.day else call.now + 1
    dirs = call.all_dirs if call.folder is None else [call.project.dir]
    every = [record for path in dirs for record in records.load_all(path)]
    every = [each for each in every if (clock.parse(each.started) or 0.0) < end and begin <= each.seen < end]
    rows = []
    for each in [each for each in every if each.headline]:  # without one, nothing was asked
        row, value = each.brief(), each.episode or {}
        row.update({key: value.get(key) or [] for key in _REPORTED}, project=row["name"])
        rows.append({**row, "day": local(clock.iso(each.seen))[:10]})
    rows.sort(key=lambda row: (row["day"], row["project"], row["started"]), reverse=True)
    left = [work for path in dirs for work in open_items(path)]
    left = [work for work in left if begin <= (clock.parse(work["last_activity"]) or 0.0) < end]
    first, last = (time.strftime("%Y-%m-%d", time.localtime(instant)) for instant in (begin, end - 1))
    return call.answer({"since": first, "until": last, "sessions": rows, "open": left}, _page(first, last, rows, left))


def _page(first: str, last: str, rows: list[dict[str, Any]], left: list[dict[str, Any]]) -> list[str]:
    lines = ["# What was done, %s" % (first if first == last else "%s to %s" % (first, last)), ""]
    if not rows:
        return [*lines, "No session."]
    lines.append("%s in %s" % (count(len(rows), "session"), count(len({row["project"] for row in rows}), "project")))
    day = project = ""
    for row in rows:
        lines += ["", "## %s" % row["day"]] if row["day"] != day else []
        lines += ["", "**%s**" % row["project"], ""] if (row["day"], row["project"]) != (day, project) else []
        day, project = row["day"], row["project"]
        facts = ["" if row["status"] == settings.COMPLETED else row["status"], row["branch"]]
        about = ", ".join(filter(None, facts))
        lines.append("- %s%s" % (line(row["headline"]), " (%s)" % line(about) if about else ""))
        decided = [line(each) for each in row["decisions"] if each != row["headline"]]
        lines += ["  - " + (text if text.startswith("Decided") else "decided: " + text) for text in decided]
    lines += ["", "## Still open", ""] if left else []
    for work in left:
        lines.append("- **%s**: %s" % (project_name(work["project"]), line(work["title"])))
        lines += ["  - blocked: %s" % line(each) for each in work["blockers"]]
        lines += ["  - [ ] %s" % line(step) for step in work["next_steps"]]
    return lines
