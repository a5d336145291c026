"""Long tasks across sessions: `task start | checkpoint | done | list`."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import ledger, tasks, views
from ..project import identity
from ..session import sessions
from . import arguments
from .output import complain, count, emit_json, line, local, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..project.identity import Project

_LOCK_SECONDS = 5.0
_EXAMPLES = """\
task start "User login" --next "Schema and model" --next "Reset by mail"
task checkpoint user-login --note "Schema and model are done" --next "Reset by mail"
task checkpoint user-login --note "Waiting" --blocked "No mail server yet"
task done user-login
task list --all"""


def task(argv: list[str]) -> int:
    about = (
        "Tasks that span sessions, kept in STATE/progress and shown to every session until they are done.\n"
        "checkpoint notes how far it is; --next replaces the list of what remains, --blocked what it waits for."
    )
    parser = arguments.parser("task", about, _EXAMPLES)
    add = parser.add_argument
    add("action", nargs="?", choices=("start", "checkpoint", "done", "list"), default="list")
    add("name", nargs="?", metavar="TASK", help="start: its title; otherwise its id or the beginning")
    add("--id", metavar="ID", help="start: a short name for it (default: made from the title)")
    add("--note", metavar="TEXT", help="what happened")
    add("--next", metavar="TEXT", action="append", help="something that remains (repeatable)")
    add("--blocked", metavar="TEXT", action="append", help='what it waits for (repeatable; "none" when that is over)')
    add("--all", action="store_true", help="list: those that are done, too")
    args = parser.parse_args(argv)
    there = arguments.locate(args)
    if args.action == "list":
        return _list(there, args)
    if not (args.name or "").strip():
        what = "TITLE" if args.action == "start" else "TASK"
        raise Refusal("which task? Give: harness memory task %s %s" % (args.action, what))
    after = _said(there, args)
    if args.json:
        emit_json(after)
    else:
        print("%s: %s  (%s)" % (line(after["task_id"]), line(after["title"]), _state(after)))
    return 0


# Writing ------------------------------------------------------------------------------------------


def _said(there: Project, args: argparse.Namespace) -> dict[str, Any]:
    now = time.time()
    arguments.private_root()
    identity.record(there, clock.iso(now))
    task_id = _new_id(there.dir, args) if args.action == "start" else _chosen(there.dir, args.name)
    after: list[dict[str, Any]] = []

    def write() -> None:
        known = _known(there.dir, task_id)
        if known and args.action == "start":
            raise Refusal("there is a task %s already. See: harness memory task list --all" % task_id)
        made = tasks.said(known, task_id, now, present(there.dir), **_change(args, there.branch))
        path = os.path.join(tasks.directory(there.dir), tasks.file_name(task_id))
        files.write(path, tasks.render(made), durable=True)
        after.append(made)

    if not views.change(there.dir, [views.TASKS], _LOCK_SECONDS, write):
        raise Refusal("a session holds the lock of the views; nothing was changed. Try again")
    return after[0]


def _change(args: argparse.Namespace, branch: str) -> dict[str, Any]:
    """What a verb sets. Each leaves a note: it dates what it says, against what checkpoints say."""
    defaults = {"start": "Started", "checkpoint": "", "done": "Done"}
    change: dict[str, Any] = {
        "note": brief(args.note or "", settings.ITEM_CHARS) or defaults[args.action],
        "remaining": _items(args.next),
        "blockers": _items(args.blocked),
    }
    if args.action == "start":
        change.update(title=brief(args.name, settings.SUMMARY_LINE_CHARS), branch=branch, status=ledger.IN_PROGRESS)
    elif args.action == "done":
        change.update(status=ledger.DONE, remaining=[], blockers=[])
    elif not (args.note or args.next or args.blocked):
        raise Refusal("nothing to note. Give --note, --next or --blocked")
    else:
        change.update(status=ledger.IN_PROGRESS, note=change["note"] or "Updated")
    return change


def _items(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    items = [brief(item, settings.ITEM_CHARS) for item in given]
    return [item for item in items if item and item.lower() != "none"][: settings.REMAINS_ITEMS]


def present(project_dir: str) -> str:
    """The short id of the session that calls us; "" outside of one."""
    claude_id = os.environ.get(settings.ENV_SESSION_ID, "")
    if not claude_id:
        return ""
    work = str(sessions.read_marker(project_dir, claude_id).get("work", ""))
    return work.rpartition("/")[2] or sessions.safe_id(claude_id)[: settings.SHORT_ID_CHARS[0]]


def _new_id(project_dir: str, args: argparse.Namespace) -> str:
    if args.id:
        named = brief(args.id, settings.SKILL_CHARS)
        return named if sessions.safe_id(named) == named else _dashed(named)
    stem = _dashed(redact(args.name))
    numbers = ("", *("-%d" % number for number in range(2, 1000)))
    return next(stem + number for number in numbers if not _known(project_dir, stem + number))


def _dashed(text: str) -> str:
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in text.lower()).split()
    return "-".join(words)[:40].strip("-") or "task"


def _known(project_dir: str, task_id: str) -> dict[str, Any]:
    try:
        return tasks.load(project_dir, task_id)
    except ValueError:
        raise Refusal("the file of task %s is damaged. See: harness memory verify" % line(task_id)) from None


def _chosen(project_dir: str, word: str) -> str:
    ids = [str(task["task_id"]) for task in tasks.load_all(project_dir)]
    found = [word] if word in ids else [known for known in ids if known.lower().startswith(word.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        raise Refusal('"%s" may be any of: %s' % (line(word), ", ".join(map(line, found))))
    raise Refusal('no task "%s" here. See: harness memory task list --all' % line(word))


# Looking ------------------------------------------------------------------------------------------


def _list(there: Project, args: argparse.Namespace) -> int:
    """Open tasks, and what was done today: the person's own day."""
    today = time.strftime("%Y-%m-%d")
    damaged = tasks.damaged(there.dir)
    known = sorted(tasks.load_all(there.dir), key=lambda each: str(each["updated"]), reverse=True)
    found = [each for each in known if args.all or ledger.is_open(each) or local(each["updated"])[:10] == today]
    if args.json:
        emit_json([{**each, "is_open": ledger.is_open(each)} for each in found])
    elif found:
        rows = [["TASK", "STATUS", "UPDATED", "NOTES", "REMAINS", "TITLE"]]
        for each in found:
            numbers = [str(len(each["checkpoints"])), str(len(each["remaining"]))]
            rows.append([line(each["task_id"]), _state(each), local(each["updated"]), *numbers, line(each["title"])])
        print("\n".join(table(rows, right=(3, 4), is_cut=True)))
        hidden = len(known) - len(found)
        print(*(["%s earlier: --all" % count(hidden, "task")] if hidden else []), sep="", end="\n" if hidden else "")
    elif not damaged:
        print('No tasks here. Begin one: harness memory task start "TITLE"')
    for path in damaged:
        complain("%s is damaged. See: harness memory verify" % short(path))
    return 1 if damaged else 0


def _state(each: dict[str, Any]) -> str:
    if not ledger.is_open(each):
        return ledger.DONE
    return "blocked" if each["blockers"] else ledger.IN_PROGRESS
