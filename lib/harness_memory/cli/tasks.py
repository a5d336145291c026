"""Tasks that span sessions: `task start | checkpoint | done | list`."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import tasks, views
from ..memory.tasks import Task
from ..project import identity
from ..session import sessions
from . import arguments, resolve
from .output import answer, complain, count, line, local, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..project.identity import Project

_EXAMPLES = """\
task start "User login" --next "Schema and model" --next "Reset by mail"
task checkpoint user-login --note "Schema and model are done" --next "Reset by mail"
task checkpoint user-login --note "Waiting" --blocked "No mail server yet"
task done user-login
task list --all"""
_NOTES = {"start": "Started", "checkpoint": "Updated", "done": "Done"}


def task(argv: list[str]) -> int:
    about = "Tasks that span sessions, kept in STATE/progress and shown to every session until they are done."
    actions = arguments.Actions("task", about, _EXAMPLES)
    words = {"start": "begin a task", "checkpoint": "note how far it is", "done": "nothing of it remains"}
    for action, text in words.items():
        parser = actions.add(action, text)
        parser.add_argument("name", metavar="TITLE" if action == "start" else "TASK")
        parser.add_argument("--note", metavar="TEXT", default="", help="what happened")
        if action != "done":
            steps = "something that remains (repeatable); replaces the list"
            parser.add_argument("--next", metavar="TEXT", action="append", help=steps)
            blockers = 'what it waits for (repeatable; "none" when that is over)'
            parser.add_argument("--blocked", metavar="TEXT", action="append", help=blockers)
        if action == "start":
            parser.add_argument("--id", metavar="ID", help="a short name for it (default: made from the title)")
    listing = actions.add("list", "open tasks, and those done today")
    listing.add_argument("--all", action="store_true", help="those done earlier, too")
    args = actions.parse(argv, "list")
    project = arguments.locate(args)
    if args.action == "list":
        return _list(project.dir, args)
    after = _change(project, args)
    return answer(args.json, after.as_json(), ["%s: %s  (%s)" % (line(after.id), line(after.title), after.state)])


def _change(project: Project, args: argparse.Namespace) -> Task:
    now = time.time()
    if args.action == "start" and not args.name.strip():
        raise Refusal("the title is empty; nothing was changed")
    if args.action == "checkpoint" and not (args.note or args.next or args.blocked):
        raise Refusal("nothing to note. Give --note, --next or --blocked")
    arguments.private_root()
    identity.record(project, clock.iso(now))
    entry: dict[str, Any] = {"title": "", "note": brief(args.note, settings.ITEM_CHARS) or _NOTES[args.action]}
    if args.action == "done":
        entry.update(status=tasks.DONE, remaining=[], blockers=[])
    else:
        entry.update(status=tasks.IN_PROGRESS, remaining=_items(args.next), blockers=_items(args.blocked))
    with views.lock(project.dir):
        changed = _new(project, args) if args.action == "start" else _find(project.dir, args.name)
        changed.add({**entry, "at": clock.fine_iso(now)}, present(project.dir), clock.iso(now))
        files.write_json(tasks.path_of(project.dir, changed.id), changed.as_json(), durable=True)
        views.update(project.dir)
    return changed


def _items(texts: list[str] | None) -> list[str] | None:
    if texts is None:
        return None
    items = [brief(text, settings.ITEM_CHARS) for text in texts]
    return [item for item in items if item and item.lower() != "none"][: settings.REMAINS_ITEMS]


def _new(project: Project, args: argparse.Namespace) -> Task:
    known = tasks.load(project.dir)
    if args.id:
        named = brief(args.id, settings.SKILL_CHARS)
        task_id = named if sessions.safe_id(named) == named else _dashed(named)
    else:
        stem = _dashed(redact(args.name))
        ids = (stem, *("%s-%d" % (stem, number) for number in range(2, 1000)))
        task_id = next(each for each in ids if tasks.path_of(project.dir, each) not in known)
    if tasks.path_of(project.dir, task_id) in known:
        raise Refusal("there is a task %s already. See: harness memory task list --all" % task_id)
    title = brief(args.name, settings.SUMMARY_LINE_CHARS)
    return Task({"task_id": task_id, "title": title, "branch": project.branch})


def _dashed(text: str) -> str:
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in text.lower()).split()
    return "-".join(words)[:40].strip("-") or "task"


def _find(project_dir: str, word: str) -> Task:
    shown = "{0.id}  {0.title}".format
    known = tasks.load_all(project_dir)
    return resolve.one(word, known, lambda each: (each.id,), "task", shown, "task list --all")


def present(project_dir: str) -> str:
    """The short id of the session that calls us; "" outside of one."""
    claude_id = os.environ.get(settings.ENV_SESSION_ID, "")
    if not claude_id:
        return ""
    work = str(sessions.read_marker(project_dir, claude_id).get("work", ""))
    return work.rpartition("/")[2] or sessions.safe_id(claude_id)[: settings.SHORT_ID_CHARS[0]]


def _list(project_dir: str, args: argparse.Namespace) -> int:
    loaded = tasks.load(project_dir)
    damaged = [path for path, each in loaded.items() if not each]
    known = sorted(filter(None, loaded.values()), key=lambda each: each.last_activity, reverse=True)
    today = time.strftime("%Y-%m-%d")
    shown = [each for each in known if args.all or each.is_open or local(each.last_activity)[:10] == today]
    lines = _table(shown, len(known) - len(shown))
    if not shown and not damaged:
        lines = ['No tasks here. Begin one: harness memory task start "TITLE"']
    answer(args.json, [{**each.as_json(), "is_open": each.is_open} for each in shown], lines)
    for path in damaged:
        complain("%s is damaged. See: harness memory verify" % short(path))
    return 1 if damaged else 0


def _table(shown: list[Task], hidden: int) -> list[str]:
    rows = [["TASK", "STATUS", "UPDATED", "NOTES", "REMAINS", "TITLE"]]
    for each in shown:
        numbers = [str(len(each.checkpoints)), str(len(each.next_steps))]
        rows.append([line(each.id), each.state, local(each.last_activity), *numbers, line(each.title)])
    return [*table(rows, right=(3, 4), is_cut=True), *(["%s earlier: --all" % count(hidden, "task")] if hidden else [])]
