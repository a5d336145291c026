"""Tasks that span sessions: `STATE/progress/<task-id>.json`.

    task_id, title, created, updated, sessions, checkpoints [{date, note, session, artifact or at}], remaining,
    blockers, branch, status ("in_progress" or "done", where a person said so)

A task grows from the checkpoints in episodes and by the command line. Growing is idempotent and independent of
order; what an episode contributed stays when the episode is pruned.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings, shape
from ..base.sha256 import hexdigest
from ..session.sessions import safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .rows import Row

DONE = "done"
IN_PROGRESS = "in_progress"
SPEC: dict[str, Any] = {
    "task_id": "text",
    "title?": "text",
    "created?": "text",
    "updated?": "text",
    "branch?": "text",
    "sessions": ["text"],
    "checkpoints": [{"*": "any"}],
    "remaining?": ["text"],
    "blockers?": ["text"],
    "status?": "text",
}
_ENTRY = {"id": "text", "title": "text", "remaining?": ["text"], "blockers?": ["text"]}


class Task:
    """A task; `more` holds fields that are not ours."""

    __slots__ = (
        *("blockers", "branch", "checkpoints", "created", "more", "remaining", "sessions", "status"),
        *("task_id", "title", "updated"),
    )

    def __init__(self, value: dict[str, Any]) -> None:
        self.task_id: str = value["task_id"]
        self.title: str = value.get("title") or ""
        self.created: str = value.get("created") or ""
        self.updated: str = value.get("updated") or ""
        self.sessions: list[str] = value.get("sessions") or []
        self.checkpoints: list[dict[str, Any]] = value.get("checkpoints") or []
        self.remaining: list[str] = value.get("remaining") or []
        self.blockers: list[str] = value.get("blockers") or []
        self.branch: str = value.get("branch") or ""
        self.status: str = value.get("status") or ""
        self.more = {key: item for key, item in value.items() if key not in self.__slots__}

    @property
    def is_open(self) -> bool:
        """A task is open while something remains, unless a person said otherwise."""
        return self.status != DONE if self.status else bool(self.remaining)

    @property
    def state(self) -> str:
        return "blocked" if self.is_open and self.blockers else IN_PROGRESS if self.is_open else DONE

    def as_json(self) -> dict[str, Any]:
        keys = ("task_id", "title", "created", "updated", "sessions", "checkpoints", "remaining", "blockers")
        said = {key: getattr(self, key) for key in ("branch", "status") if getattr(self, key)}
        return {**{key: getattr(self, key) for key in keys}, **said, **self.more}

    def note(self, now: float, session: str, note: str) -> None:
        """Add a note of a person or of the model."""
        self.created = self.created or clock.iso(now)
        self.updated = clock.iso(now)
        if session and session not in self.sessions:
            self.sessions = [*self.sessions, session]
        at = clock.fine_iso(now)
        self._add({"date": at[:10], "note": note, "session": session, "at": at})

    def grow(self, entry: dict[str, Any], row: Row) -> None:
        """Add what a checkpoint in an episode says of the task."""
        artifact = str(entry.get("artifact") or "")
        at = artifact[len(settings.ARTIFACT_PREFIX) :]  # its name begins with the stamp
        point = {"date": at[:10], "note": str(entry.get("note") or ""), "session": row.id, "artifact": artifact}
        self.checkpoints = [old for old in self.checkpoints if old.get("artifact") != artifact]
        self._add(point)
        noted = dict.fromkeys(str(old["session"]) for old in self.checkpoints if old.get("session"))
        self.sessions = [*(old for old in self.sessions if old not in noted), *noted]
        self.created = min(filter(None, (self.created, row.started)))
        if self.checkpoints[-1] is not point:
            self.title = self.title or entry["title"] or self.task_id
            return
        self.title = entry["title"] or self.title or self.task_id
        self.updated = clock.unstamp(at)
        self.blockers = entry.get("blockers") or []
        if entry.get("remaining") is not None:
            self.remaining, self.status = entry["remaining"], ""

    def _add(self, point: dict[str, Any]) -> None:
        self.checkpoints = sorted([*self.checkpoints, point], key=_moment)


def _moment(point: dict[str, Any]) -> tuple[str, str]:
    """When a checkpoint was made, as a stamp; the name of an artifact holds it."""
    artifact = str(point.get("artifact") or "")
    at = artifact[len(settings.ARTIFACT_PREFIX) :] if artifact else clock.stamp(str(point.get("at") or ""))
    return (at or str(point.get("date") or ""))[:22], artifact


def load_all(project_dir: str) -> list[Task]:
    """Every readable task, by file name."""
    return [task for task in load_files(project_dir).values() if task]


def load_files(project_dir: str) -> dict[str, Task | None]:
    """Each file name of a task, and its task; None where the file is damaged."""
    names = [name for name in files.listed(directory(project_dir)) if name.endswith(".json") and name[0] != "."]
    values = {name: files.load_json(os.path.join(directory(project_dir), name), SPEC) for name in names}
    return {name: Task(value) if value else None for name, value in values.items()}


def grown(project_dir: str, episodes: list[Row]) -> tuple[list[Task], dict[str, Task]]:
    """All readable tasks with what these episodes say of them, by file name; and by path those that differ on disk."""
    tasks = load_files(project_dir)
    before = {name: task.as_json() for name, task in tasks.items() if task}
    for row in episodes:
        for entry in row.tasks:
            if shape.problem(entry, _ENTRY) == "":
                task = tasks.setdefault(file_name(entry["id"]), Task({"task_id": entry["id"]}))
                if task:  # a damaged file stays as it is
                    task.grow(entry, row)
    found = {name: task for name, task in sorted(tasks.items()) if task}
    different = {name: task for name, task in found.items() if task.as_json() != before.get(name)}
    return [*found.values()], {os.path.join(directory(project_dir), name): task for name, task in different.items()}


def save(project_dir: str, task: Task) -> None:
    files.write_json(os.path.join(directory(project_dir), file_name(task.task_id)), task.as_json(), durable=True)


def directory(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)


def file_name(task_id: str) -> str:
    if safe_id(task_id) == task_id == task_id.lower():  # some file systems do not tell Auth from auth
        return task_id + ".json"
    words = "".join(char if char.isascii() and char.isalnum() else "-" for char in task_id.lower())
    return "%s-%s.json" % ("-".join(part for part in words[:40].split("-") if part) or "task", hexdigest(task_id)[:8])
