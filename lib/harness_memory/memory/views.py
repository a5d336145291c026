"""Views: rendered from one row an episode (see `rows`), the tasks, and what people said of threads.

    INDEX.md                        menu of episodes, newest first
    STATE/conversation_state.json   {"schema", "updated", "last_model", "last_session_notes", "threads": newest first}
    STATE/current-work.json         {"schema", "updated", "active_tasks", "completed_today"}

`refresh` and `rebuild` render everything; they differ in how many episodes they read.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, jsontext, settings
from ..base.lock import Lock
from . import rows, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    from .rows import Row
    from .tasks import Task
    from .threads import Thread

    Work = Union[Task, Thread]

_BUSY = "another session is updating the views. Try again"
_INDEX_HEAD = "# Session Memory Index\n\n## Recent Episodes (newest first)\n\n"
_IN_STATE = (settings.CONVERSATION_FILE, settings.CURRENT_WORK_FILE)
_TASKS_PATH = os.path.join(settings.STATE_DIR, settings.PROGRESS_DIR)
PATHS = (settings.INDEX_FILE, *(os.path.join(settings.STATE_DIR, name) for name in _IN_STATE))


def refresh(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> bool:
    """Bring the views up to date with every episode; False when another process holds their lock."""
    if not _has_work(project_dir):
        return True
    with Lock(_lock_path(project_dir), wait_seconds) as held:
        if held:
            episodes, is_current = rows.load(project_dir)
            if not is_current or not all(_is_there(project_dir, path) for path in PATHS):
                update(project_dir, episodes)
    return held


def rebuild(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> list[str]:
    """Render every view from the facts alone; the paths that changed. Busy when another process holds the lock."""
    if not _has_work(project_dir):
        return []
    with lock(project_dir, wait_seconds):
        return update(project_dir, rows.load(project_dir, is_fresh=True)[0])


def lock(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> Lock:
    """For changing a thread or a task and then calling `update`; raises Busy."""
    return Lock(_lock_path(project_dir), wait_seconds, _BUSY)


def update(project_dir: str, episodes: list[Row] | None = None) -> list[str]:
    """Write what differs, for a caller that holds the lock; the paths that changed."""
    episodes = rows.load(project_dir)[0] if episodes is None else episodes
    texts = _render(project_dir, episodes)
    changed = [path for path in texts if files.write_if_changed(os.path.join(project_dir, path), texts[path])]
    if episodes or files.exists(rows.path(project_dir)):
        rows.save(project_dir, episodes)
    return changed


def stale(project_dir: str) -> list[tuple[str, str]]:
    """The path of each view that is not what `rebuild` would write, and what is wrong with it."""
    texts = _render(project_dir, rows.load(project_dir, is_fresh=True)[0])
    wrong = [path for path, text in texts.items() if not files.is_same(os.path.join(project_dir, path), text)]
    return [(path, "is stale" if _is_there(project_dir, path) else "is missing") for path in wrong]


def open_work(tasks: list[Task], chains: list[Thread]) -> list[Work]:
    """Open tasks, then open threads that belong to no open task."""
    open_tasks = [task for task in tasks if task.is_open]
    covered = {session for task in open_tasks for session in task.sessions}
    return [*open_tasks, *(each for each in chains if each.is_open and not covered.issuperset(each.sessions))]


def _has_work(project_dir: str) -> bool:
    """Whether a session or a task was ever recorded here; else there is nothing to show."""
    return any(_is_there(project_dir, name) for name in (settings.EPISODES_DIR, settings.INDEX_FILE, _TASKS_PATH))


def _is_there(project_dir: str, name: str) -> bool:
    return files.exists(os.path.join(project_dir, name))


def _lock_path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK)


def _render(project_dir: str, episodes: list[Row]) -> dict[str, bytes]:
    """The text of each task that the episodes change, and of each view, by path."""
    if not _has_work(project_dir):
        return {}
    chains = threads.group(project_dir, episodes)
    tasks: dict[str, Task] = {}
    if any(row.tasks for row in episodes) or _is_there(project_dir, _TASKS_PATH):
        from .tasks import load

        tasks = {path: task for path, task in load(project_dir, episodes).items() if task}
    project = os.path.basename(project_dir).rpartition("-")[0]
    index = _INDEX_HEAD + "".join([row.line + "\n" for row in reversed(episodes)])
    work = jsontext.pretty(_current_work([*tasks.values()], chains, project))
    grown = {os.path.relpath(path, project_dir): task for path, task in tasks.items() if task.is_grown}
    texts = {path: jsontext.pretty(task.as_json()) for path, task in grown.items()}
    texts.update(zip(PATHS, (index, _conversation(chains), work)))
    return {path: text.encode("utf-8", "replace") for path, text in texts.items()}


def _conversation(chains: list[Thread]) -> str:
    """Each thread on one line, for readers; no text can hold the separator, since its quotes would be escaped."""
    last = chains[0].as_json() if chains else {}
    keys = {"updated": "last_activity", "last_model": "model", "last_session_notes": "summary"}
    head = {"schema": settings.SCHEMA, **{key: last.get(name, "") for key, name in keys.items()}}
    top = jsontext.pretty(head)[: -len("\n}\n")]
    lines = jsontext.compact([thread.as_json() for thread in chains])[1:-1]
    lines = lines.replace('}, {"last_activity": ', '},\n    {"last_activity": ')
    return '%s,\n  "threads": [%s]\n}\n' % (top, "\n    %s\n  " % lines if lines else "")


def _current_work(tasks: list[Task], chains: list[Thread], project: str) -> dict[str, Any]:
    """What is in progress. "Today" is the day of the latest activity: a view does not depend on the clock."""
    work: list[Work] = [*tasks, *chains]
    updated = max([each.finished for each in work], default="")
    begins, ends = _local_day(updated)
    completed = [each for each in work if not each.is_open and begins <= each.finished < ends]
    active = [
        {
            "id": each.id,
            "description": each.title,
            "status": "blocked" if each.blockers else "in_progress",
            "started": each.opened_at,
            "project": project,
            "branch": each.branch,
            "blockers": each.blockers,
            "next_steps": each.next_steps,
        }
        for each in open_work(tasks, chains)[: settings.ACTIVE_TASKS_SHOWN]
    ]
    done = [{"id": each.id, "description": each.title, "completed": each.finished} for each in completed]
    value = {"schema": settings.SCHEMA, "updated": updated, "active_tasks": active}
    return {**value, "completed_today": done[: settings.ACTIVE_TASKS_SHOWN]}


def _local_day(instant: str) -> tuple[str, str]:
    """First and last instant of the user's day around `instant`."""
    at = time.localtime(clock.parse(instant) or 0.0)
    midnights = [time.mktime((at.tm_year, at.tm_mon, at.tm_mday + days, 0, 0, 0, 0, 0, -1)) for days in (0, 1)]
    return clock.iso(midnights[0]), clock.iso(midnights[1])
