"""Views: rendered from one row an episode (see `threads`), the tasks, and what people said of threads.

    INDEX.md                        menu of episodes, newest first
    STATE/conversation_state.json   {"schema", "updated", "last_model", "last_session_notes", "threads": newest first}
    STATE/current-work.json         {"schema", "updated", "active_tasks", "completed_today"}
    STATE/review.json               what waits for a person's word, see `review`

`refresh` and `rebuild` render everything; they differ in how many episodes they read.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, jsontext, settings
from ..base.lock import Lock
from ..base.typing import Any, Fields, Iterator, Sequence, TypeAlias
from . import threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tasks import Task
    from .threads import Row, Thread

Work: TypeAlias = "Task | Thread"

VIEW_ROWS = 5000  # sessions in INDEX.md, threads in conversation_state.json: both stay below what readers read
_BUSY = "another session is updating the views. Try again"
_INDEX_HEAD = b"# Session Memory Index\n\n## Recent Episodes (newest first)\n"
_TASKS_PATH = os.path.join(settings.STATE_DIR, settings.PROGRESS_DIR)
_INDEX_PATH, _CONVERSATION_PATH, _WORK_PATH = settings.VIEWS


def refresh(
    project_dir: str, seconds: float = settings.LOCK_WAIT_SECONDS, changed: str = "", written: Any = None, by: float = 0
) -> bool:
    """Bring the views up to date, a Stop for the episode it `changed`, others if read `by` then; False when busy."""
    if not has_work(project_dir):
        return True
    with lock(project_dir, seconds, busy="") as is_held:
        if is_held:
            update(project_dir, threads.load_cache(project_dir), changed, written, by)
    return is_held


def rebuild(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> list[str]:
    """Render every view from the facts alone; the paths that changed. OSError when another process holds the lock."""
    if not has_work(project_dir):
        return []
    with lock(project_dir, wait_seconds):
        return update(project_dir, {})


def update(project_dir: str, cached: dict[str, Row], changed: str = "", new: Any = None, by: float = 0) -> list[str]:
    """Write what differs, for a caller that holds the lock; the paths that changed. `cached` are rows known before."""
    rows = threads.load_rows(project_dir, cached, changed, new, by)
    texts = render(project_dir, rows).items()
    paths = [path for path, text in texts if files.write_if_changed(os.path.join(project_dir, path), text)]
    threads.save_cache(project_dir, rows, cached)  # last: a kill before it makes the next run write the rest
    return paths


def lock(project_dir: str, wait_seconds: float = settings.LOCK_WAIT_SECONDS, busy: str = _BUSY) -> Lock:
    return Lock(os.path.join(project_dir, settings.STATE_DIR, "views.lock"), wait_seconds, busy)


def open_work(tasks: list[Task], chains: Sequence[Thread | Row]) -> Iterator[tuple[Work, list[str]]]:
    """Open tasks, then open threads of no task, or that went on after it was done; a step is with the latest alone."""
    until: dict[str, str] = {}  # session → how long its work counts as the task's
    for task in tasks:
        until.update((session, "9" if task.is_open else task.last_activity) for session in task.sessions)
    every: list[Work] = [each for each in chains if isinstance(each, threads.Thread) and each.is_open]
    if until:  # else a Stop need not parse the sessions of a thread
        every = [each for each in every if any(until.get(id, "") < each.last_activity for id in each.sessions)]
    listed: set[str] = set()
    for work in [task for task in tasks if task.is_open] + every:
        steps = [step for step in work.next_steps if step not in listed]
        listed.update(steps)
        if steps or not work.next_steps:
            yield work, steps


def has_work(project_dir: str) -> bool:
    """Whether a session or a task was ever recorded here; else there is nothing to show."""
    names = (settings.EPISODES_DIR, _INDEX_PATH, _TASKS_PATH)
    return any(files.exists(os.path.join(project_dir, name)) for name in names)


def render(project_dir: str, rows: list[Row]) -> dict[str, bytes]:
    """The text of each task that the episodes change, and of each view, by path."""
    texts: dict[str, bytes] = {}
    tasks: list[Task] = []
    columns = [*zip(*rows)] or [()] * threads.COLUMNS  # searched in C: a Stop has hundreds of rows
    if any(columns[threads.TASKS]) or files.exists(os.path.join(project_dir, _TASKS_PATH)):
        from .tasks import load

        for path, task in load(project_dir, rows).items():
            tasks.append(task)
            if task.fields != task.stored:
                texts[os.path.relpath(path, project_dir)] = jsontext.encoded(task.fields)
    path = os.path.join(settings.STATE_DIR, settings.REVIEW_FILE)
    if any(columns[threads.RULES] + columns[threads.KEYS]) or files.exists(os.path.join(project_dir, path)):
        from . import review

        texts[path] = review.render(project_dir, rows)
    chains = threads.chained(project_dir, rows)
    texts[_INDEX_PATH] = b"\n".join([_INDEX_HEAD, *columns[-1][: -VIEW_ROWS - 1 : -1], b""])
    last = jsontext.loads(chains[0].text) if chains else {}
    keys = {"updated": "last_activity", "last_model": "model", "last_session_notes": "summary"}
    head = jsontext.encoded({"schema": settings.SCHEMA, **{key: last.get(name, "") for key, name in keys.items()}})
    opening, end = (b'"threads": [\n    ', b"\n  ]\n}\n") if chains else (b'"threads": [', b"]\n}\n")
    lines = b",\n    ".join([each[5] if isinstance(each, threads.Row) else each.text for each in chains[:VIEW_ROWS]])
    texts[_CONVERSATION_PATH] = b"".join([head[: -len("\n}\n")], b",\n  ", opening, lines, end])
    texts[_WORK_PATH] = jsontext.encoded(_current_work(tasks, chains, os.path.basename(project_dir).rpartition("-")[0]))
    return texts


def _current_work(tasks: list[Task], chains: list[Thread | Row], project: str) -> Fields:
    """What is in progress. "Today" is the user's day of the latest activity: a view does not depend on the clock."""
    work: list[Work | Row] = [*tasks, *chains]
    times = [each[2] if isinstance(each, threads.Row) else each.finished for each in work]
    updated = max(times, default="")
    year, month, day, *_ = time.localtime(clock.parse(updated) or 0.0)
    begins, ends = (clock.iso(time.mktime((year, month, each, 0, 0, 0, 0, 0, -1))) for each in (day, day + 1))
    active = []
    for _, (each, steps) in zip(range(settings.ACTIVE_TASKS_SHOWN), open_work(tasks, chains)):
        item = {"id": each.id, "description": each.title, "status": "blocked" if each.blockers else "in_progress"}
        item.update(started=each.opened_at, project=project, branch=each.branch, blockers=each.blockers)
        active.append({**item, "next_steps": steps, "close": "harness memory %s %s" % (each.close, each.id)})
    today = [each for each, at in zip(work, times) if begins <= at < ends]
    over = [each for each in today if not each.is_open and each.is_work][: settings.ACTIVE_TASKS_SHOWN]
    done = [{"id": each.id, "description": each.title, "completed": each.finished} for each in over]
    return {"schema": settings.SCHEMA, "updated": updated, "active_tasks": active, "completed_today": done}
