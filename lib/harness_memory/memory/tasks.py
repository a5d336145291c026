"""Long tasks across sessions: `STATE/progress/<task-id>.json`.

    task_id, title, created, sessions, checkpoints [{date, note, session, artifact or at}], remaining,
    blockers, updated, branch, status ("in_progress" or "done", where a person said so)

A task grows from the `task` of checkpoints, as the episodes tell it, and by the command line. Growing
is idempotent and independent of order, so that a killed hook or a rebuild can simply do it again;
what older, pruned episodes contributed stays.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..base.sha256 import hexdigest
from ..session.sessions import safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def grow(project_dir: str, episode: dict[str, Any]) -> list[str]:
    """Add what one episode says of its tasks, and name what changed; the caller holds the views lock."""
    changed = []
    for entry in episode["tasks"]:
        if not _is_entry(entry):
            continue
        path = os.path.join(directory(project_dir), file_name(entry["id"]))
        try:
            known = _load(path)
            task = _grown(known, entry, episode)
            data = render(task)
        except (OSError, ValueError) as error:
            if files.is_passing(error):
                raise
            continue  # damaged, newer, or deeper than we write: left as it is, `verify` names it
        if task != known:
            files.write(path, data)
            changed.append(settings.PROGRESS_DIR + "/" + os.path.basename(path))
    return changed


def load_all(project_dir: str) -> list[dict[str, Any]]:
    """Every readable task, by file name."""
    return [task for task in _tried(project_dir).values() if task]


def damaged(project_dir: str) -> list[str]:
    """Paths of the files that are there, but cannot be read as tasks."""
    return [path for path, task in _tried(project_dir).items() if task is None]


def _tried(project_dir: str) -> dict[str, dict[str, Any] | None]:
    """Each file, and the task in it; None where there is none to be read."""
    found: dict[str, dict[str, Any] | None] = {}
    for name in files.listed(directory(project_dir)):
        if name.endswith(".json") and name[0] != ".":
            path = os.path.join(directory(project_dir), name)
            try:
                found[path] = _load(path)
            except (OSError, ValueError) as error:
                if files.is_passing(error):
                    raise
                found[path] = None
    return found


def directory(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)


def file_name(task_id: str) -> str:
    if safe_id(task_id) == task_id == task_id.lower():  # some file systems do not tell Auth from auth
        return task_id + ".json"
    words = "".join(char if char.isascii() and char.isalnum() else "-" for char in task_id.lower())
    return "%s-%s.json" % ("-".join(part for part in words[:40].split("-") if part) or "task", hexdigest(task_id)[:8])


def said(known: dict[str, Any], task_id: str, now: float, session: str, note: str, **change: Any) -> dict[str, Any]:
    """A task after a word of a person or of the model, at `now`: a note, and what `change` sets."""
    at = clock.fine_iso(now)
    blank: dict[str, Any] = {"task_id": task_id, "title": task_id, "created": clock.iso(now), "updated": clock.iso(now)}
    task = {**blank, "sessions": [], "checkpoints": [], "remaining": [], "blockers": [], **known}
    task.update({key: value for key, value in change.items() if value is not None}, updated=clock.iso(now))
    if session and session not in task["sessions"]:
        task["sessions"] = [*task["sessions"], session]
    if note:
        point = {"date": at[:10], "note": note, "session": session, "at": at}
        task["checkpoints"] = sorted([*task["checkpoints"], point], key=_moment)
    return task


def render(task: dict[str, Any]) -> bytes:
    return jsontext.pretty(task).encode("utf-8", "replace")


def load(project_dir: str, task_id: str) -> dict[str, Any]:
    """One task; {} when there is none, ValueError when it is damaged."""
    return _load(os.path.join(directory(project_dir), file_name(task_id)))


def _load(path: str) -> dict[str, Any]:
    """A task; {} when there is none, ValueError when it is damaged."""
    data = files.read(path)
    if data is None:
        return {}
    task = jsontext.loads(data)
    if not isinstance(task, dict):
        raise ValueError("not a task")
    task = {"title": "", "created": "", "updated": "", "remaining": [], "blockers": [], **task}
    texts = all(isinstance(task.get(key), str) for key in ("task_id", "title", "created", "updated"))
    lists = all(_are_texts(task.get(key)) for key in ("sessions", "remaining", "blockers"))
    points = task.get("checkpoints")
    if not texts or not lists or not isinstance(points, list) or not all(isinstance(each, dict) for each in points):
        raise ValueError("not a task")
    return task


def _is_entry(entry: object) -> bool:
    """Whether an episode tells of a task in a way that can be taken over."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("id", "title")):
        return False
    return all(_are_texts(entry.get(key) or []) for key in ("remaining", "blockers"))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _grown(known: dict[str, Any], entry: dict[str, Any], episode: dict[str, Any]) -> dict[str, Any]:
    artifact = str(entry.get("artifact", ""))
    at = artifact[len(settings.ARTIFACT_PREFIX) :]  # its name begins with the stamp
    point = {"date": at[:10], "note": str(entry.get("note") or ""), "session": episode["id"], "artifact": artifact}
    points = [old for old in known.get("checkpoints", []) if old.get("artifact") != artifact]
    points = sorted([*points, point], key=_moment)
    is_newest = points[-1] is point
    task = {
        "task_id": entry["id"],
        "title": (is_newest and entry["title"]) or known.get("title") or entry["title"] or entry["id"],
        "created": min(filter(None, (known.get("created"), episode["started"]))),
        "updated": clock.unstamp(at) if is_newest else known.get("updated"),
        "sessions": list(dict.fromkeys(str(old["session"]) for old in points if old.get("session"))),
        "checkpoints": points,
        "remaining": known.get("remaining", []),
        "blockers": known.get("blockers", []),
    }
    for session in known.get("sessions", []):
        if session not in task["sessions"]:
            task["sessions"].insert(0, session)
    if is_newest:
        task["blockers"] = entry.get("blockers") or []
        if entry.get("remaining") is not None:
            task.update(remaining=entry["remaining"], status="")
    for key, value in known.items():
        task.setdefault(key, value)
    return {key: value for key, value in task.items() if (key, value) != ("status", "")}


def _moment(point: dict[str, Any]) -> tuple[str, str]:
    """When a checkpoint was made, as a stamp; the name of an artifact holds it."""
    artifact = str(point.get("artifact") or "")
    at = artifact[len(settings.ARTIFACT_PREFIX) :] if artifact else clock.stamp(str(point.get("at") or ""))
    return (at or str(point.get("date") or ""))[:22], artifact
