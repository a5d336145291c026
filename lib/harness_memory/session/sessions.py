"""A session's directory, its record META.yaml, its live marker and its lock; `life` begins and ends them.

    WORK/<day>/<id>/META.yaml     the record, written by this session (or by the sweep after its death)
    WORK/<day>/<id>/capture.json  what was gathered from the transcript so far (see `capture`)
    STATE/live/<safe id>.json     marker of a session that has not ended: {claude_session, work, process}, and which
                                  project it was launched in: {launch, root, remote, name}
    STATE/live/<safe id>.lock     held while a process works on the session's files

`<id>` is the shortest unused head of Claude's session id; no id is trusted as a path.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings, yaml
from ..base.lock import Lock
from ..base.text import hexdigest, identifier
from ..base.typing import Any

META_FIELDS = (
    *("session_id", "date", "started", "ended", "status", "project", "branch", "summary", "tags", "artifacts"),
    *("claude_session", "transcript", "model", "channel", "pid", "reason", "parent"),
)
_MARKED = dict.fromkeys(("claude_session", "work?", "launch?", "root?", "remote?", "name?"), "text")
MARKER = {**_MARKED, "process?": {"*": "any"}}
DEVICE_NAMES = frozenset(  # Windows takes these for devices, with any ending
    ("con", "prn", "aux", "nul", *("com%d" % n for n in range(10)), *("lpt%d" % n for n in range(10)))
)


class Session:
    __slots__ = ("artifacts", "claude_id", "dir", "episode_name", "id", "is_new", "meta", "started")

    def __init__(self, directory: str, meta: dict[str, Any], is_new: bool = False) -> None:
        self.dir, self.meta = directory, meta
        self.is_new = is_new  # not saved yet
        self.id, self.claude_id, self.started = (str(meta[k]) for k in ("session_id", "claude_session", "started"))
        self.episode_name = episode_name(self.started, self.id)
        self.artifacts = os.path.join(directory, settings.ARTIFACTS_DIR)

    def save(self, *, durable: bool = False) -> None:
        names = (*META_FIELDS, *(key for key in self.meta if key not in META_FIELDS))
        text = yaml.dump([(name, self.meta.get(name)) for name in names])
        files.write(os.path.join(self.dir, settings.META_FILE), text, durable=durable)


def episode_name(started: str, short_id: str) -> str:
    return "%s%s-%s.json" % (settings.EPISODE_PREFIX, clock.stamp(started), short_id)


def is_episode_name(name: str) -> bool:
    return name.startswith(settings.EPISODE_PREFIX) and name.endswith(".json")


def day_and_id(episode: str) -> tuple[str, str]:
    """The day and the short id in an episode's name; its start has a fixed length."""
    stamp = episode[len(settings.EPISODE_PREFIX) :]
    return stamp[:10], stamp[len("2026-11-16T060048Z-") : -len(".json")]


def safe_id(claude_id: str) -> str:
    """Claude's id if it can name a file on any system, else a hash of it."""
    is_safe = identifier(claude_id) and claude_id.lower() not in DEVICE_NAMES
    return claude_id if is_safe else "x" + hexdigest(claude_id)[:31]


def load(directory: str) -> Session | None:
    """The session recorded in a WORK directory; None when META is missing or damaged, OSError only if transient."""
    try:
        text = files.read_text(os.path.join(directory, settings.META_FILE))
        meta = yaml.load(text if text[-1:] == "\n" else "")  # cut off: half an id would be another session's
    except (OSError, ValueError) as error:
        files.raise_passing(error)
        return None
    is_whole = all(isinstance(meta.get(key), str) and meta[key] for key in ("claude_session", "date", "status"))
    # These name files: no edit of the record may lead out of its directory.
    is_here = meta.get("session_id") == os.path.basename(directory) and clock.parse(meta.get("started")) is not None
    return Session(directory, dict(meta)) if is_whole and is_here else None


def all_directories(project_dir: str) -> list[str]:
    """Every session directory, oldest day first."""
    work = os.path.join(project_dir, settings.WORK_DIR)
    days = [os.path.join(work, day) for day in files.names(work) if clock.is_day(day)]
    return [path for day in days for path in files.folders(day)]


def lock(project_dir: str, claude_id: str, seconds: float, *, is_needed: bool = False) -> Lock:
    """The lock over one session's files; raises OSError when it `is_needed` and another process holds it."""
    busy = "another hook of this session holds its lock. The next run does the work of this one." if is_needed else ""
    return Lock(marker_path(project_dir, claude_id)[: -len(".json")] + settings.LOCK_SUFFIX, seconds, busy)


def marker_path(project_dir: str, claude_id: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR, safe_id(claude_id) + ".json")


def read_marker(project_dir: str, claude_id: str) -> dict[str, Any]:
    """The marker of a session that has not ended; {} when it has."""
    marker: dict[str, Any] | None = files.load_json(marker_path(project_dir, claude_id), MARKER)
    return {**marker, "process": marker.get("process") or {}} if marker else {}


def find_marker(store_root: str, claude_id: str) -> tuple[str, dict[str, Any]]:
    """The project directory and the marker of a session that has not ended, without locating its project."""
    for directory in [os.path.join(store_root, name) for name in files.names(store_root)]:
        if os.path.exists(marker_path(directory, claude_id)):
            return directory, read_marker(directory, claude_id)
    return "", {}


def live_markers(project_dir: str) -> list[dict[str, Any]]:
    names = files.names(os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR))
    ids = [name[: -len(".json")] for name in names if name.endswith(".json")]
    return [marker for marker in (read_marker(project_dir, id) for id in ids) if marker]


def at_marker(project_dir: str, marker: dict[str, Any]) -> Session | None:
    """The session that a marker names, if its record can be read."""
    day, _, name = str(marker.get("work", "")).partition("/")
    is_path = clock.is_day(day) and safe_id(name) == name
    session = load(os.path.join(project_dir, settings.WORK_DIR, day, name)) if is_path else None
    return session if session and session.claude_id == marker["claude_session"] else None
