"""Tasks that span sessions: `STATE/progress/<task-id>.json`.

    task_id, title, created, updated, sessions, checkpoints [{date, note, session, artifact or at}], remaining,
    blockers, branch, status ("in_progress" or "done", where a person said so)

A task grows from the checkpoints in episodes and by the command line. Growing is idempotent and independent of
order; what an episode contributed stays when the episode is pruned.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings, shape
from ..base.sha256 import hexdigest
from ..session.sessions import safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .threads import Row

DONE = "done"
IN_PROGRESS = "in_progress"
SPEC = {
    "task_id": "text",
    **dict.fromkeys(("title?", "created?", "updated?", "branch?", "status?"), "text"),
    **{key: ["text"] for key in ("sessions", "remaining?", "blockers?")},
    "checkpoints": [{"*": "any"}],
}
_ENTRY = {"id": "text", "title": "text", "remaining?": ["text"], "blockers?": ["text"]}


class Task:
    """A piece of work with the same attributes as a Thread; `stored` is what its file holds."""

    __slots__ = (
        *("blockers", "branch", "checkpoints", "id", "last_activity", "next_steps", "opened_at", "sessions"),
        *("status", "stored", "title"),
    )

    def __init__(self, value: dict[str, Any]) -> None:
        self.stored = value
        self.id: str = value["task_id"]
        self.title: str = value.get("title") or ""
        self.opened_at: str = value.get("created") or ""
        self.last_activity: str = value.get("updated") or ""
        self.sessions: list[str] = value.get("sessions") or []
        self.checkpoints: list[dict[str, Any]] = value.get("checkpoints") or []
        self.next_steps: list[str] = value.get("remaining") or []
        self.blockers: list[str] = value.get("blockers") or []
        self.branch: str = value.get("branch") or ""
        self.status: str = value.get("status") or ""

    @property
    def is_open(self) -> bool:
        """A task is open while something remains, unless a person said otherwise."""
        return self.status != DONE if self.status else bool(self.next_steps)

    @property
    def state(self) -> str:
        return DONE if not self.is_open else "blocked" if self.blockers else IN_PROGRESS

    @property
    def is_grown(self) -> bool:
        """Whether episodes say more than its file."""
        return self.as_json() != Task(self.stored).as_json()

    @property
    def finished(self) -> str:
        return self.last_activity

    def as_json(self) -> dict[str, Any]:
        dates = {"created": self.opened_at, "updated": self.last_activity, "sessions": self.sessions}
        work = {"checkpoints": self.checkpoints, "remaining": self.next_steps, "blockers": self.blockers}
        said = {"branch": self.branch, "status": self.status}
        value = {"task_id": self.id, "title": self.title, **dates, **work, **{k: v for k, v in said.items() if v}}
        return {**value, **{key: item for key, item in self.stored.items() if key not in value and key not in said}}

    def add(self, entry: dict[str, Any], session: str, started: str) -> None:
        """Add a checkpoint of a session or of a person; the newest one decides what remains."""
        key = "artifact" if "artifact" in entry else "at"
        point = {"date": "", "note": str(entry.get("note") or ""), "session": session, key: str(entry.get(key) or "")}
        point["date"] = _moment(point)[:10]
        others = [old for old in self.checkpoints if old.get(key) != point[key]]
        self.checkpoints = sorted([*others, point], key=_moment)
        noted = dict.fromkeys(str(old["session"]) for old in self.checkpoints if old.get("session"))
        self.sessions = [*(old for old in self.sessions if old not in noted), *noted]
        self.opened_at = min(filter(None, (self.opened_at, started)))
        if self.checkpoints[-1] is not point:
            self.title = self.title or entry["title"] or self.id
            return
        self.title = entry["title"] or self.title or self.id
        self.last_activity = clock.unstamp(_moment(point))
        if entry.get("blockers") is not None:
            self.blockers = entry["blockers"]
        if entry.get("remaining") is not None:
            self.next_steps, self.status = entry["remaining"], ""
        self.status = entry.get("status") or self.status


def _moment(point: dict[str, Any]) -> str:
    """When a checkpoint was made, as a stamp; the name of an artifact begins with it."""
    artifact = str(point.get("artifact") or "")
    at = artifact[len(settings.ARTIFACT_PREFIX) :] if artifact else clock.stamp(str(point.get("at") or ""))
    return (at or str(point.get("date") or "")) + artifact


def load(project_dir: str, episodes: Iterable[Row] = ()) -> dict[str, Task | None]:
    """Each task by the path of its file, grown by what the episodes say of it; None where the file is damaged."""
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)
    paths = [os.path.join(folder, name) for name in files.names(folder) if name.endswith(".json") and name[0] != "."]
    values = {path: files.load_json(path, SPEC) for path in paths}
    tasks = {path: Task(value) if value else None for path, value in values.items()}
    for row in episodes:
        for entry, session, started in jsontext.loads(row.tasks):
            if shape.problem(entry, _ENTRY) == "":
                task = tasks.setdefault(path_of(project_dir, entry["id"]), Task({"task_id": entry["id"]}))
                if task:
                    task.add(entry, session, started)
    return dict(sorted(tasks.items()))


def load_all(project_dir: str) -> list[Task]:
    return [task for task in load(project_dir).values() if task]


def path_of(project_dir: str, task_id: str) -> str:
    name = task_id
    if not safe_id(task_id) == task_id == task_id.lower():  # some file systems do not tell Auth from auth
        words = "".join(char if char.isascii() and char.isalnum() else " " for char in task_id.lower())
        name = "%s-%s" % ("-".join(words[:40].split()) or "task", hexdigest(task_id)[:8])
    return os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR, name + ".json")
