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
    from collections.abc import Collection
    from typing import Any

    from .rows import Row
    from .tasks import Task
    from .threads import Thread

_BUSY = "another session is updating the views. Try again"
_INDEX_HEAD = "# Session Memory Index\n\n## Recent Episodes (newest first)\n\n"
_STATE = settings.STATE_DIR
PATHS = (
    settings.INDEX_FILE,
    os.path.join(_STATE, settings.CONVERSATION_FILE),
    os.path.join(_STATE, settings.CURRENT_WORK_FILE),
)


def refresh(
    project_dir: str,
    *,
    changed: Collection[str] = (),
    is_full: bool = False,
    wait_seconds: float = settings.LOCK_WAIT_SECONDS,
) -> bool:
    """Bring the views up to date; False when another process holds their lock.

    New and removed episodes are noticed; rewritten ones are when named in `changed`, or with `is_full`.
    """
    if is_full and _is_current(project_dir):
        return True
    with Lock(_lock_path(project_dir), wait_seconds) as held:
        if held:
            update(project_dir, changed, is_full=is_full)
    return held


def rebuild(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> list[str]:
    """Render every view from the facts alone; the paths that changed. Busy when another process holds the lock."""
    if not _has_work(project_dir):
        return []
    with lock(project_dir, wait_seconds):
        return update(project_dir, is_fresh=True)


def lock(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> Lock:
    """For changing a thread or a task and then calling `update`; raises Busy."""
    return Lock(_lock_path(project_dir), wait_seconds, _BUSY)


def update(
    project_dir: str, changed: Collection[str] = (), *, is_full: bool = True, is_fresh: bool = False
) -> list[str]:
    """The work of `refresh`, for a caller that holds the lock; the paths that changed."""
    episodes, _ = rows.load(project_dir, changed, is_full=is_full, is_fresh=is_fresh)
    texts = _rendered(project_dir, episodes)
    written = [path for path, text in texts.items() if _write(os.path.join(project_dir, path), text)]
    if episodes or os.path.exists(rows.path(project_dir)):
        rows.save(project_dir, episodes)
    return written


def stale(project_dir: str) -> list[tuple[str, str]]:
    """The path of each view that is not what `rebuild` would write, and what is wrong with it."""
    texts = _rendered(project_dir, rows.load(project_dir, is_fresh=True)[0])
    paths = {path: os.path.join(project_dir, path) for path in texts}
    wrong = [path for path, text in texts.items() if not files.is_same(paths[path], text.encode("utf-8", "replace"))]
    return [(path, "is stale" if os.path.lexists(paths[path]) else "is missing") for path in wrong]


def _has_work(project_dir: str) -> bool:
    """Whether a session or a task was ever recorded here; else there is nothing to show."""
    folders = (settings.EPISODES_DIR, settings.INDEX_FILE, os.path.join(_STATE, settings.PROGRESS_DIR))
    return any(files.is_there(os.path.join(project_dir, name)) for name in folders)


def _is_current(project_dir: str) -> bool:
    """Whether no episode changed since the views were written, and each of them exists."""
    episodes, is_current = rows.load(project_dir)
    is_there = all(os.path.exists(os.path.join(project_dir, path)) for path in PATHS)
    return is_current and (is_there or not episodes)


def _rendered(project_dir: str, episodes: list[Row]) -> dict[str, str]:
    """The text of each view and of each task that an episode changed; none for a project without any work."""
    if not _has_work(project_dir):
        return {}
    tasks, different = _tasks(project_dir, episodes)
    chains = threads.group(project_dir, episodes)
    name = os.path.basename(project_dir).rpartition("-")[0]
    index = _INDEX_HEAD + "".join([row.line + "\n" for row in reversed(episodes)])
    texts = (index, _conversation(chains), jsontext.pretty(_current_work(chains, tasks, name)))
    progress = {os.path.relpath(path, project_dir): jsontext.pretty(task.as_json()) for path, task in different.items()}
    return {**progress, **dict(zip(PATHS, texts))}


def _tasks(project_dir: str, episodes: list[Row]) -> tuple[list[Task], dict[str, Task]]:
    folder = os.path.join(project_dir, _STATE, settings.PROGRESS_DIR)
    if not any(row.tasks for row in episodes) and not files.is_directory(folder):
        return [], {}
    from . import tasks

    return tasks.grown(project_dir, episodes)


def _conversation(chains: list[Thread]) -> str:
    """Each thread on one line: people read it, and `compact` is quick."""
    last = chains[0] if chains else None
    head = {
        "schema": settings.SCHEMA,
        "updated": last.last_activity if last else "",
        "last_model": last.model if last else "",
        "last_session_notes": last.summary if last else "",
    }
    top = jsontext.pretty(head)[: -len("\n}\n")]
    lines = ",\n".join(["    " + jsontext.compact(thread.as_json()) for thread in chains])
    return '%s,\n  "threads": [%s]\n}\n' % (top, "\n%s\n  " % lines if lines else "")


def _current_work(chains: list[Thread], tasks: list[Task], project: str) -> dict[str, Any]:
    """What is in progress. "Today" is the day of the latest activity: a view does not depend on the clock."""
    ends = [task.updated for task in tasks] + [thread.finished for thread in chains]
    updated = max(ends, default="")
    begins, ends_before = _local_day(updated)
    active = [
        _active(task.task_id, task.title, task.created, project, task.branch, task.blockers, task.remaining)
        for task in tasks
        if task.is_open
    ]
    completed = [(task.task_id, task.title, task.updated) for task in tasks if not task.is_open]
    covered = {session for task in tasks if task.is_open for session in task.sessions}
    for each in chains:
        if not each.is_open:
            completed.append((each.id, each.title, each.finished))
        elif not covered.issuperset(each.sessions):
            active.append(_active(each.id, each.title, each.opened_at, project, each.branch, [], each.next_steps))
    shown = [dict(zip(("id", "description", "completed"), one)) for one in completed if begins <= one[2] < ends_before]
    return {
        "schema": settings.SCHEMA,
        "updated": updated,
        "active_tasks": active[: settings.ACTIVE_TASKS_SHOWN],
        "completed_today": shown[: settings.ACTIVE_TASKS_SHOWN],
    }


def _active(
    key: str, title: str, started: str, project: str, branch: str, blockers: list[str], next_steps: list[str]
) -> dict[str, Any]:
    return {
        "id": key,
        "description": title,
        "status": "blocked" if blockers else "in_progress",
        "started": started,
        "project": project,
        "branch": branch,
        "blockers": blockers,
        "next_steps": next_steps,
    }


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


def _write(path: str, text: str) -> bool:
    return files.write_if_changed(path, text.encode("utf-8", "replace"))


def _lock_path(project_dir: str) -> str:
    return os.path.join(project_dir, _STATE, settings.VIEWS_LOCK)
