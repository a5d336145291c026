"""The thread ledger, `STATE/conversation_state.json`, and what it says of current work.

    {"schema", "updated", "last_model", "last_session_notes", "threads": [
        {"last_activity", "id", "status": open|closed, "sessions", "title", "summary", "next_steps",
         "channels", "opened_at", "branch", "model", "closed_at" if a person closed it},
        …newest first
    ]}

A thread is a chain of sessions (resumed, forked) and open while its last session left work, unless
a person said otherwise (see `threads`). It stands on one line, which begins with what threads are
sorted and chosen by: an update carries the other lines over as text and decodes the few it needs.
"""

from __future__ import annotations

import time

from ..base import clock, jsontext, settings
from ..base.text import cut, first_sentence
from ..session import episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_HEAD = '{\n  "schema": %d,\n' % settings.SCHEMA
_THREADS = '  "threads": ['
_LINE_HEAD = '    {"last_activity": "'
_TAIL = "\n  ]\n}\n"
_EMPTY_TAIL = "]\n}\n"
_CLOSED_AT = '", "closed_at": "'  # inside a text its quotes would be escaped
_TEXTS = ("last_activity", "id", "title", "summary", "opened_at", "branch", "model")
_LISTS = ("sessions", "next_steps")
DONE = "done"
IN_PROGRESS = "in_progress"


def thread_of(episodes: list[dict[str, Any]]) -> dict[str, Any]:
    """A chain of sessions as one thread of work."""
    chain = sorted(episodes, key=lambda value: (value["started"], bool(value.get("parent")), value["id"]))
    last = max(chain, key=lambda value: (value["ended"], value["id"]))
    titles = [value["title"] for value in chain if value.get("title")]
    asked = next((value["asked"][0] for value in chain if value["asked"]), "")
    return {
        "last_activity": last["ended"],
        "id": chain[0]["thread"],
        "status": "open" if last["what_remains"] else "closed",
        "sessions": [value["id"] for value in chain],
        "title": titles[-1] if titles else cut(asked, settings.SUMMARY_LINE_CHARS) or episode.headline(chain[0]),
        "summary": first_sentence(last["what_was_done"], settings.ITEM_CHARS),
        "next_steps": last["what_remains"],
        "channels": sorted({value["channel"] for value in chain if value.get("channel")}),
        "opened_at": chain[0]["started"],
        "branch": last.get("branch") or "",
        "model": last.get("model") or "",
    }


def line_of(thread: dict[str, Any]) -> str:
    return "    " + jsontext.compact(thread)


def thread_at(line: str) -> dict[str, Any]:
    """The thread on a line; ValueError when somebody damaged it."""
    thread = jsontext.loads(line)
    if not isinstance(thread, dict) or not all(isinstance(thread.get(key), str) for key in _TEXTS):
        raise ValueError("not a thread")
    lists = [thread.get(key) for key in _LISTS]
    if not all(isinstance(found, list) and all(isinstance(each, str) for each in found) for found in lists):
        raise ValueError("a thread without its lists")
    return thread


def threads(text: str | None, *, is_all: bool) -> list[dict[str, Any]]:
    """All threads or the open ones, newest first; ValueError as below."""
    return [thread_at(line) for line in ordered(read(text).values()) if is_all or is_open_line(line)]


def read(text: str | None) -> dict[str, str]:
    """Lines by thread id; ValueError when the text is not a ledger as we write it."""
    if text is None or not text.startswith(_HEAD):
        raise ValueError("no ledger")
    body = text.partition(_THREADS)[2]
    if body == _EMPTY_TAIL:
        return {}
    lines = [line.rstrip(",") for line in body[1 : -len(_TAIL)].split("\n")]
    if not body.endswith(_TAIL) or not all(line.startswith(_LINE_HEAD) and line.endswith("}") for line in lines):
        raise ValueError("a ledger that somebody changed")
    found = {line.partition('"id": "')[2].partition('"')[0]: line for line in lines}
    if "" in found:
        raise ValueError("a thread without its id")
    return found


def render(lines: list[str]) -> str:
    """The whole file of sorted lines."""
    last = thread_at(lines[0]) if lines else {}
    head = (
        ("updated", last.get("last_activity", "")),
        ("last_model", last.get("model", "")),
        ("last_session_notes", last.get("summary", "")),
    )
    top = "".join('  "%s": %s,\n' % (key, jsontext.quote(value)) for key, value in head)
    body = "\n" + ",\n".join(lines) + _TAIL if lines else _EMPTY_TAIL
    return _HEAD + top + _THREADS + body


def ordered(lines: Iterable[str]) -> list[str]:
    """Newest first: a line begins with its last activity and its id."""
    return sorted(lines, reverse=True)


def current_work(lines: list[str], tasks: list[dict[str, Any]], project: str) -> dict[str, Any]:
    """What is in progress. "Today" is the day of the latest activity: a view never changes by itself."""
    updated = max([_activity(line) for line in lines[:1]] + [str(task["updated"]) for task in tasks] + [""])
    updated = max([updated, *(_finished(line) for line in lines if _CLOSED_AT in line)])
    day_begins, day_ends = _local_day(updated)
    shown = settings.ACTIVE_TASKS_SHOWN
    active, completed = [], []
    told = {session for task in tasks if is_open(task) for session in task["sessions"]}
    for task in tasks:
        if is_open(task):
            active.append(_active(task["task_id"], task["title"], task["created"], project, task))
        elif day_begins <= task["updated"] < day_ends:
            completed.append({"id": task["task_id"], "description": task["title"], "completed": task["updated"]})
    for line in lines:
        if is_open_line(line):
            thread = thread_at(line) if len(active) < shown else {}
            if thread and not told.issuperset(thread["sessions"]):  # else its task says it already
                active.append(_active(thread["id"], thread["title"], thread["opened_at"], project, thread))
        elif day_begins <= _finished(line) < day_ends and len(completed) < shown:
            thread = thread_at(line)
            completed.append({"id": thread["id"], "description": thread["title"], "completed": _finished(line)})
    return {
        "schema": settings.SCHEMA,
        "updated": updated,
        "active_tasks": active[:shown],
        "completed_today": completed[:shown],
    }


def _active(key: str, title: str, started: str, project: str, more: dict[str, Any]) -> dict[str, Any]:
    blockers = more.get("blockers") or []
    return {
        "id": key,
        "description": title,
        "status": "blocked" if blockers else IN_PROGRESS,
        "started": started,
        "project": project,
        "branch": more.get("branch") or "",
        "blockers": blockers,
        "next_steps": more.get("next_steps") or more.get("remaining") or [],
    }


def is_open(task: dict[str, Any]) -> bool:
    """A task is open while something remains, unless its status was said."""
    return bool(task["status"] != DONE if task.get("status") else task["remaining"])


def is_open_line(line: str) -> bool:
    return '", "status": "open", ' in line[:200]


def _activity(line: str) -> str:
    return line[len(_LINE_HEAD) : line.find('"', len(_LINE_HEAD))]


def _finished(line: str) -> str:
    """When a closed thread was closed: by its last session, or by a person afterwards."""
    return line.partition(_CLOSED_AT)[2].partition('"')[0] or _activity(line)


def _local_day(instant: str) -> tuple[str, str]:
    """First and last instant of the user's day around `instant`."""
    if not instant:
        return "", ""
    try:
        at = time.localtime(clock.parse(instant) or 0.0)
        begins = time.mktime((at.tm_year, at.tm_mon, at.tm_mday, 0, 0, 0, 0, 0, -1))
        ends = time.mktime((at.tm_year, at.tm_mon, at.tm_mday + 1, 0, 0, 0, 0, 0, -1))
    except (OverflowError, OSError, ValueError):  # a year that the platform does not know
        return instant[:10] + "T00:00:00Z", instant[:10] + "T24:00:00Z"
    return clock.iso(begins), clock.iso(ends)
