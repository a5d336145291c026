"""Tasks that span sessions: `STATE/progress/<task-id>.json`.

    task_id, title, created, updated, sessions, checkpoints [{date, note, session, artifact or at}], remaining,
    blockers, branch, status ("in_progress" or "done", where a person said so)

A task grows from the checkpoints in episodes and by the command line. Growing is idempotent and independent of
order; what an episode contributed stays when the episode is pruned.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..base.text import hexdigest
from ..base.typing import Any, Fields, Iterable
from ..session.sessions import safe_id
from .threads import Row

DONE, IN_PROGRESS = "done", "in_progress"
_LISTS = {"sessions": ["text"], "checkpoints": [{"*": "any"}], "remaining?": ["text"], "blockers?": ["text"]}
SPEC: Fields = {"task_id": "text", **dict.fromkeys(("title?", "created?", "updated?"), "text"), **_LISTS}
_EMPTY = {field.rstrip("?"): "" if kind == "text" else [] for field, kind in SPEC.items()}
SPEC.update(dict.fromkeys(("branch?", "status?"), "text"))
_KEYS = {"opened_at": "created", "last_activity": "updated", "finished": "updated", "next_steps": "remaining"}


class Task:
    """A piece of work with the attributes of a Thread; `fields` is its JSON, `stored` what its file holds."""

    is_work, close = True, "task done"  # the verb that closes it

    def __init__(self, value: Fields) -> None:
        self.stored = value
        self.id: str = value["task_id"]
        self.fields: Fields = {**_EMPTY, **{key: item for key, item in value.items() if item}}

    def __getattr__(self, name: str) -> Any:
        return self.fields.get(_KEYS.get(name, name), "")

    @property
    def is_open(self) -> bool:
        """A task is open while something remains, unless a person said otherwise."""
        return bool(self.status != DONE if self.status else self.next_steps)

    @property
    def state(self) -> str:
        return DONE if not self.is_open else "blocked" if self.blockers else IN_PROGRESS

    def add(self, entry: Fields, session: str, started: str) -> None:
        """Add a checkpoint of a session or of a person; the newest one decides what remains."""
        fields, key = self.fields, "artifact" if "artifact" in entry else "at"
        point = {"date": "", "note": str(entry.get("note") or ""), "session": session, key: str(entry.get(key) or "")}
        point["date"] = moment(point)[:10]
        others = [old for old in self.checkpoints if old.get(key) != point[key]]
        fields["checkpoints"] = sorted([*others, point], key=moment)
        noted = dict.fromkeys(str(old["session"]) for old in self.checkpoints if old.get("session"))
        fields["sessions"] = [*(old for old in self.sessions if old not in noted), *noted]
        fields["created"] = min(filter(None, (self.opened_at, started)))
        if self.checkpoints[-1] is not point:
            fields["title"] = self.title or entry["title"] or self.id
            return
        said = {name: entry[name] for name in ("remaining", "blockers", "status") if entry.get(name) is not None}
        if "remaining" in said:
            fields.pop("status", None)
        fields.update(said, title=entry["title"] or self.title or self.id, updated=clock.unstamp(moment(point)))


def moment(point: Fields) -> str:
    """When a checkpoint was made, as a stamp; the name of an artifact begins with it."""
    artifact = str(point.get("artifact") or "")
    at = artifact[len(settings.ARTIFACT_PREFIX) :] if artifact else clock.stamp(str(point.get("at") or ""))
    return (at or str(point.get("date") or "")) + artifact


def load(project_dir: str, episodes: Iterable[Row] = ()) -> dict[str, Task]:
    """Each task by the path of its file, with what the episodes say of it."""
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)
    paths = [os.path.join(folder, name) for name in files.names(folder) if name.endswith(".json") and name[0] != "."]
    values = [(path, files.load_json(path, SPEC)) for path in paths]
    tasks = {path: Task(value) for path, value in values if value}
    for row in episodes:
        for entry, session, started in jsontext.loads(row.tasks or "[]"):
            path = path_of(project_dir, entry["id"])
            if path not in paths:  # one that is there and damaged is left alone
                tasks.setdefault(path, Task({"task_id": entry["id"]}))
            if path in tasks:
                tasks[path].add(entry, session, started)
    return dict(sorted(tasks.items()))


def path_of(project_dir: str, task_id: str) -> str:
    is_name = safe_id(task_id) == task_id == task_id.lower()  # some file systems do not tell Auth from auth
    name = task_id if is_name else "%s-%s" % (slug(task_id), hexdigest(task_id)[:8])
    return os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR, name + ".json")


def slug(text: str) -> str:
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in text.lower())
    return "-".join(words[:40].split()) or "task"
