"""Work: `open` lists what is open, `digest` what was done; `thread`, `task` and `checkpoint` say how it stands."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ..base import clock, files, jsontext, settings
from ..base.redact import redact
from ..base.text import brief, first_sentence
from ..memory import briefing, ratings, records, tasks, threads, views
from ..memory.tasks import Task
from ..memory.threads import Thread
from ..project import Context, identity
from ..session import checkpoint as checkpoints
from ..session import life, record, sessions
from ..session.sessions import Session
from . import instant
from .call import Call, one, project_name
from .output import Fields, Refusal, count, line, local, read_input, short

_REPORTED = ("decisions", "files_changed", "commits")
_FIELDS = ("id", "title", "state", "last_activity", "branch", "sessions", "next_steps", "blockers")
_SHOWN = "{0.id}  {0.title}".format
_TASK_NOTES = {"start": "Started", "checkpoint": "Updated", "done": "Done"}
_SAID = ("what_was_done", "what_remains", "learnings", "tags", "files_changed", "skill_used", "outcome", "rating")
_SEE = "See: harness memory checkpoint --help"


def open_items(project_dir: str, *, with_closed: bool = False) -> list[Fields]:
    """Open threads and tasks for scripts."""
    items, now = [], time.time()
    named, chains = [*tasks.load(project_dir).values()], threads.load(project_dir)
    every: list[Task | Thread] = [*named, *chains]
    for work, steps in ((work, work.next_steps) for work in every) if with_closed else views.open_work(named, chains):
        days = (now - (clock.parse(work.opened_at) or now)) // settings.DAY_SECONDS
        item = {"kind": type(work).__name__.lower(), "project": os.path.basename(project_dir), "opened": work.opened_at}
        item.update({key: getattr(work, key) for key in _FIELDS}, age_days=max(0, int(days)))
        items.append({**item, "next_steps": untold(steps, work.title)})
    return items


def untold(steps: list[str], title: str) -> list[str]:
    """Steps without what a title says: as a sentence, or the prompt at which a session was cut off."""
    asked = [step for step in steps if step.startswith("Unfinished: ") and title.startswith(step[12:72])]
    return [step for step in steps if step not in (title, *asked)]


def shown(item: Fields, about: str = "") -> list[str]:
    """An open item for a person."""
    rows = ["* " + item["title"], *filter(None, [about]), *("BLOCKED: " + text for text in item["blockers"])]
    rows += ["next: " + text for text in item["next_steps"]]
    return [line(rows[0]), *("    " + line(text) for text in rows[1:])]


def open_work(call: Call) -> int:
    items = [item for project_dir in call.dirs for item in open_items(project_dir, with_closed=call.all)]
    items.sort(key=lambda item: str(item["last_activity"]), reverse=True)
    closed = sum(item["state"] in (threads.CLOSED, tasks.DONE) for item in items)
    still = "Still open: %d" % (len(items) - closed) if len(items) > closed else "Nothing is open here."
    lines = [still + "  Closed: %d" % closed * bool(closed)]
    for item in items:
        age = "%s old" % count(item["age_days"], "day") if item["age_days"] else "since today"
        kind, state = "%(kind)s %(id)s" % item, item["state"].replace("_", " ")
        facts = [project_name(item["project"]) * call.all_projects, kind, state, age, item["branch"]]
        lines += ["", *shown(item, " · ".join(filter(None, facts)))]
    hint = "Done, or not wanted any more? harness memory thread close ID, or task done ID"
    lines += ["", hint] * (len(items) > closed)
    return call.answer(items, lines)


def change_thread(call: Call) -> int:
    status = {"close": threads.CLOSED, "reopen": threads.OPEN}.get(call.action, "")
    title = "" if status else brief(call.title, settings.SUMMARY_LINE_CHARS)
    chosen = _thread(call.dir, call.id)
    with views.lock(call.dir):
        threads.change(call.dir, chosen, clock.iso(call.now), status=status, title=title)
        views.update(call.dir, threads.load_cache(call.dir))
    return _answer(call, _thread(call.dir, chosen.id))


def _thread(project_dir: str, word: str) -> Thread:
    every = threads.load(project_dir)
    return one(word, every, lambda each: (each.id, *each.sessions), "thread", "open --all", _SHOWN)


def change_task(call: Call) -> int:
    project, is_done = call.project, call.action == "done"
    entry: Fields = {"title": "", "note": brief(call.note, settings.ITEM_CHARS) or _TASK_NOTES[call.action]}
    entry.update(at=clock.fine_iso(call.now), status=tasks.DONE if is_done else tasks.IN_PROGRESS)
    entry["remaining"], entry["blockers"] = ([], []) if is_done else map(_texts, (call.next, call.blocked))
    call.prepare()
    with views.lock(project.dir):
        every = tasks.load(project.dir).values()
        if call.action == "start":
            slug, number = tasks.slug(redact(call.name)), 1
            while files.exists(tasks.path_of(project.dir, id := "%s-%d" % (slug, number) if number > 1 else slug)):
                number += 1
            title = brief(call.name, settings.SUMMARY_LINE_CHARS)
            task = Task({"task_id": id, "title": title, "branch": brief(project.branch, settings.NAME_CHARS)})
        else:
            task = one(call.name, every, lambda each: (each.id,), "task", "open --all", _SHOWN)
        task.add(entry, call.present, clock.iso(call.now))
        files.write_json(tasks.path_of(project.dir, task.id), task.fields, durable=True)
        views.update(project.dir, threads.load_cache(project.dir))
    return _answer(call, task)


def _texts(texts: list[str] | None) -> list[str] | None:
    items = [brief(text, settings.ITEM_CHARS) for text in texts or ()]
    items = [item for item in items if item.lower() not in ("", "none")][: settings.REMAINS_ITEMS]
    return None if texts is None else items


def _answer(call: Call, work: Task | Thread) -> int:
    about = ": ".join(dict.fromkeys((work.id, work.title)))
    return call.answer(work.fields, ["%s  (%s)" % (about, work.state.replace("_", " "))])


def digest(call: Call) -> int:
    begin = call.day or call.since or instant("6d" if call.week else "yesterday", is_whole=True)
    end = begin + settings.DAY_SECONDS if call.day else call.now + 1
    dirs, rows = call.all_dirs if call.folder is None else [call.dir], []
    every = [each for path in dirs for each in records.load_all(path) if begin <= each.seen < end]
    for each in [each for each in every if each.headline]:  # without one, nothing was asked
        row, value = each.brief(), each.episode or {}
        row.update({key: value.get(key) or [] for key in _REPORTED}, project=row["name"])
        rows.append({**row, "day": local(clock.iso(each.seen))[:10]})
    rows.sort(key=lambda row: (row["day"], row["project"], row["started"]), reverse=True)
    left = [item for path in dirs for item in open_items(path)]
    left = [item for item in left if begin <= (clock.parse(item["last_activity"]) or 0.0) < end]
    first, last = (time.strftime("%Y-%m-%d", time.localtime(at)) for at in (begin, end - 1))
    return call.answer({"since": first, "until": last, "sessions": rows, "open": left}, _page(first, last, rows, left))


def _page(first: str, last: str, rows: list[Fields], left: list[Fields]) -> list[str]:
    lines = ["# What was done, %s" % (first if first == last else "%s to %s" % (first, last)), ""]
    if not rows:
        return [*lines, "No session."]
    lines.append("%s in %s" % (count(len(rows), "session"), count(len({row["project"] for row in rows}), "project")))
    head = ""
    for row in rows:
        before, head = head, "## %s, %s" % (row["day"], row["project"])
        lines += ["", head, ""] * (head != before)
        about = ", ".join(filter(None, ["" if row["status"] == settings.COMPLETED else row["status"], row["branch"]]))
        lines.append(line("- %s (%s)" % (row["headline"], about) if about else "- " + row["headline"]))
        decided = [each for each in row["decisions"] if each != row["headline"]]
        lines += ["  - " + line(each if each.startswith("Decided") else "decided: " + each) for each in decided]
    lines += ["", "## Still open", ""] * bool(left)
    for item in left:
        lines.append("- **%s**: %s" % (project_name(item["project"]), line(item["title"])))
        lines += ["  - blocked: %s" % line(each) for each in item["blockers"]]
        lines += ["  - [ ] %s" % line(step) for step in item["next_steps"]]
    return lines


def checkpoint(call: Call) -> int:
    """What was done and what remains, from the model through its shell, or from a person."""
    value: Any = {name: getattr(call, name) for name in _SAID if getattr(call, name) is not None}
    if not value:
        try:
            value = json.loads(read_input(settings.CHECKPOINT_MAX_BYTES, _SEE).decode("utf-8-sig"), strict=False)
            jsontext.pretty(value)  # refuses what could not be written
        except (RecursionError, ValueError) as error:
            raise Refusal("standard input is not valid JSON: %s. Nothing was recorded. %s" % (error, _SEE)) from None
    point = checkpoints.normalize(value)
    if point is None:
        raise Refusal("it is empty, or not a checkpoint. Nothing was recorded. " + _SEE)
    name, session = _record(call, value)
    # A rating in a checkpoint rates the skill it names.
    skill, rating = briefing.skill_name(point["skill_used"]), point["rating"]
    if skill and rating and 1 <= rating <= 5:
        note = first_sentence(point["what_was_done"], settings.ITEM_CHARS)
        ratings.append(call.dir, session.id, skill, round(rating), note, time.time())
    path = os.path.join(session.artifacts, name)
    value = {"session": session.id, "artifact": path, "episode": session.episode_name}
    return call.answer(value, ["Recorded for session %s in %s" % (session.id, short(path))])


def _record(call: Call, value: Fields) -> tuple[str, Session]:
    """Archive under the session's lock, as its hooks do; the artifact's name and the session."""
    claude_id, project, directory = call.running(call.session), call.project, call.directory
    if call.files_changed:
        value["files_changed"] = [call.relative(file) for file in call.files_changed]
    call.prepare(with_project=False)
    now, ends = time.time(), time.monotonic() + settings.DEADLINE_SECONDS
    context = Context(call.root, project.dir, project.root, project.remote, ends, (directory,))
    with sessions.lock(project.dir, claude_id, settings.LOCK_WAIT_SECONDS, is_needed=True):
        session = life.open_session(project.dir, claude_id, now, project.name)
        is_over = not session.is_new and not sessions.read_marker(project.dir, claude_id)
        if session.is_new:
            identity.record(project, session.started)
            # Our ancestors are its process only when we run inside it.
            process = life.client_process(0) if call.caller == claude_id else {}
            branch = brief(project.branch, settings.NAME_CHARS)
            life.activate(project, session, process, directory, {}, branch=branch)
        name = checkpoints.save(session.artifacts, value, now)
        is_active = session.meta["status"] == settings.ACTIVE
        if record.update(context, session, now=now if is_active else 0.0, is_over=is_over).is_changed:
            views.refresh(project.dir)
    return name, session
