"""A session's own directory and its life-cycle record.

    WORK/<day>/<id>/META.yaml     the record, written by this session (or by recovery after its death)
    WORK/<day>/<id>/capture.json  what was gathered from the transcript so far (see `capture`)
    STATE/live/<safe id>.json     marker of a session that has not ended: where it is, which process
    STATE/live/<safe id>.lock     held while any process works on the session's files

`<id>` is the shortest unused head of Claude's session id. Everything a session owns is found
through `open_session`, which never trusts an id as a path.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings, yaml
from ..base.lock import Lock
from ..base.sha256 import hexdigest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..hook.event import Event

META_FIELDS = (
    "session_id",
    "date",
    "started",
    "ended",
    "status",
    "project",
    "branch",
    "summary",
    "tags",
    "artifacts",
    "claude_session",
    "transcript",
    "model",
    "channel",
    "pid",
    "reason",
    "parent",
)
REQUIRED_FIELDS = ("session_id", "date", "status")

_ID_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
DEVICE_NAMES = frozenset(  # what Windows takes for a device, whatever ending it has
    ("con", "prn", "aux", "nul", *("com%d" % n for n in range(10)), *("lpt%d" % n for n in range(10)))
)


class Session:
    """Paths and record of one session."""

    __slots__ = ("dir", "id", "is_new", "meta")

    def __init__(self, directory: str, meta: dict[str, Any], is_new: bool = False) -> None:
        self.dir = directory
        self.id = str(meta["session_id"])
        self.meta = meta
        self.is_new = is_new

    @property
    def artifacts(self) -> str:
        return os.path.join(self.dir, settings.ARTIFACTS_DIR)

    @property
    def started(self) -> str:
        return str(self.meta.get("started") or "")

    @property
    def episode_name(self) -> str:
        return episode_name(self.started, self.id)

    def save(self, *, durable: bool = False) -> None:
        extra = [key for key in self.meta if key not in META_FIELDS]
        fields = [(key, self.meta.get(key)) for key in (*META_FIELDS, *extra)]
        data = yaml.dump(fields).encode("utf-8", "replace")
        files.write(os.path.join(self.dir, settings.META_FILE), data, durable=durable)


def episode_name(started: str, short_id: str) -> str:
    return "%s%s-%s.json" % (settings.EPISODE_PREFIX, clock.stamp(started), short_id)


def day_and_id(episode: str) -> tuple[str, str]:
    """The day and the short id in an episode's name; its start has a fixed length."""
    stamp = episode[len(settings.EPISODE_PREFIX) :]
    return stamp[:10], stamp[len("2026-11-16T060048Z-") : -len(".json")]


def is_episode_name(name: str) -> bool:
    return name.startswith(settings.EPISODE_PREFIX) and name.endswith(".json")


def safe_id(claude_id: str) -> str:
    """Claude's id if it can name a file anywhere, else a hash of it."""
    if 0 < len(claude_id) <= 64 and _ID_CHARS.issuperset(claude_id) and claude_id.lower() not in DEVICE_NAMES:
        return claude_id
    return "x" + hexdigest(claude_id)[:31]


def lock(project_dir: str, claude_id: str, seconds: float) -> Lock:
    """Serialises the hooks of one session; different sessions never wait for each other here."""
    return Lock(marker_path(project_dir, claude_id)[: -len(".json")] + settings.LOCK_SUFFIX, seconds)


def read_marker(project_dir: str, claude_id: str) -> dict[str, Any]:
    return load_marker(marker_path(project_dir, claude_id))


def load_marker(path: str) -> dict[str, Any]:
    """{} when there is none; for one that is damaged, or cannot be read, what its name tells."""
    data: bytes | None = b""
    marker: Any = None
    try:
        data = files.read(path)
        marker = jsontext.loads(data) if data else None
    except (OSError, ValueError):
        pass
    if not isinstance(marker, dict) or not isinstance(marker.get("claude_session"), str):
        return {} if data is None else _told_by_name(path)
    process = marker.get("process")
    return {**marker, "process": process if isinstance(process, dict) else {}}


def _told_by_name(path: str) -> dict[str, Any]:
    """A marker anew, so that a session whose marker a power cut emptied is found dead one day."""
    claude_id = os.path.basename(path)[: -len(".json")]
    for directory in reversed(all_directories(os.path.dirname(os.path.dirname(os.path.dirname(path))))):
        session = load(directory) if claude_id.startswith(os.path.basename(directory)) else None
        if session and session.meta["claude_session"] == claude_id:
            return {"claude_session": claude_id, "work": "/".join(directory.split(os.sep)[-2:]), "process": {}}
    return {"claude_session": claude_id, "process": {}} if safe_id(claude_id) == claude_id else {}


def mark_live(
    project_dir: str, session: Session, process: dict[str, Any], root: str, known: dict[str, Any] | None = None
) -> None:
    """`root` is where this session works: its files are relative to it, also after its death. `known` is
    the marker as it was read before."""
    claude_id = str(session.meta["claude_session"])
    work = "%s/%s" % (os.path.basename(os.path.dirname(session.dir)), os.path.basename(session.dir))
    marker = {"schema": settings.SCHEMA, "claude_session": claude_id, "work": work, "root": root, "process": process}
    if marker != known:
        files.write(marker_path(project_dir, claude_id), jsontext.pretty(marker).encode("utf-8", "replace"))


def unmark_live(project_dir: str, claude_id: str) -> None:
    files.remove(marker_path(project_dir, claude_id))


def live_markers(project_dir: str) -> list[dict[str, Any]]:
    """Markers of every session that has not ended, readable ones only."""
    directory = os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR)
    names = files.listed(directory)  # a folder that cannot be listed is not one in which nobody lives
    markers = [load_marker(os.path.join(directory, name)) for name in names if name.endswith(".json")]
    return [marker for marker in markers if marker]


def at_marker(project_dir: str, marker: dict[str, Any]) -> Session | None:
    """The session a marker names, as far as its record can be read."""
    directory = _directory(os.path.join(project_dir, settings.WORK_DIR), str(marker.get("work", "")))
    session = load(directory, is_needed=True) if directory else None
    return session if session and session.meta.get("claude_session") == marker["claude_session"] else None


def open_session(project_dir: str, claude_id: str, now: float, project_name: str) -> Session:
    """The session's record as it is on disk, or a fresh one that is not saved yet."""
    marker = read_marker(project_dir, claude_id)
    work = os.path.join(project_dir, settings.WORK_DIR)
    if marker.get("claude_session") == claude_id:
        found = _at(work, str(marker.get("work", "")), claude_id)
        if found:
            return found
    name = safe_id(claude_id)
    days = [day for day in reversed(files.listed(work)) if clock.is_day(day)]
    for length in settings.SHORT_ID_CHARS:
        head = name[:length]
        taken = [day for day in days if files.is_directory(os.path.join(work, day, head))]
        for day in taken:
            found = _at(work, day + "/" + head, claude_id)
            if found:
                return found
        if not taken:  # then no longer head was ever needed
            known = _known_by_episode(project_dir, head)
            if known is None:
                return _fresh(work, head, claude_id, now, project_name)
            if known[0] == claude_id:  # its directory was pruned, and it goes on
                return _fresh(work, head, claude_id, known[1], project_name, known[2])
    return _fresh(work, "x" + hexdigest(claude_id)[:31], claude_id, now, project_name)


def load(directory: str, *, is_needed: bool = False) -> Session | None:
    """The session recorded in a WORK directory; None when META is missing or damaged.

    One that merely cannot be read now is an OSError, for it is neither; where it `is_needed`, one closed to us too.
    """
    try:
        text = files.read_text(os.path.join(directory, settings.META_FILE)) or ""
        meta = yaml.load(text)
    except (OSError, ValueError) as error:
        is_there = isinstance(error, OSError) and not isinstance(error, files.Unreadable)
        if files.is_passing(error) or (is_needed and is_there):
            raise
        return None
    if is_cut_off(text, meta) or not all(isinstance(meta.get(key), str) and meta[key] for key in REQUIRED_FIELDS):
        return None
    # These name files: no edit of the record may lead out of its directory.
    if meta["session_id"] != os.path.basename(directory) or clock.parse(meta.get("started")) is None:
        return None
    if not isinstance(meta.get("claude_session"), str):
        meta["claude_session"] = meta["session_id"]
    return Session(directory, dict(meta))


def is_cut_off(text: str, meta: dict[str, Any]) -> bool:
    """Whether a record is but the beginning of one, as a full disk or a power cut leaves it."""
    return text[-1:] not in ("", "\n") and not meta.keys() >= {*META_FIELDS}


def all_directories(project_dir: str) -> list[str]:
    """Every session directory, oldest day first."""
    work = os.path.join(project_dir, settings.WORK_DIR)
    days = [os.path.join(work, day) for day in files.listed(work) if clock.is_day(day)]
    return [path for day in days for path in files.folders(day)]


def find_short(project_dir: str, short_id: str) -> Session | None:
    """The newest session with this short id; OSError when its record cannot be read now."""
    for directory in reversed(all_directories(project_dir)):
        if os.path.basename(directory) == short_id:
            return load(directory, is_needed=True)
    return None


def load_capture(session: Session) -> dict[str, Any]:
    """What was gathered so far; when there is none, what its episode tells. A damaged one is put aside."""
    from . import capture

    state = read_capture(session.dir)
    if state is None:
        path = os.path.join(session.dir, settings.CAPTURE_FILE)
        try:
            files.move(path, path + settings.DAMAGED_SUFFIX)  # kept for whoever can read it
        except OSError:
            pass
    is_read = bool(state and state["cursor"])
    if not state or state == capture.new():
        state = _told_by_episode(session) or capture.new()
    if not is_read and not state["since"]:
        state["since"] = forgotten_until(session)
    return state


def _told_by_episode(session: Session) -> dict[str, Any] | None:
    """The state of a session that was pruned, or whose capture was lost; None when there is no episode of it."""
    path = os.path.join(project_of(session.dir), settings.EPISODES_DIR, session.episode_name)
    try:
        data = files.read(path)
        value = jsontext.loads(data) if data else None
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return None
    if value is None:
        return None
    from . import revival

    archived = files.names(session.artifacts)
    state = revival.revived(
        value,
        str(session.meta.get("claude_session")),
        any(name.startswith(settings.ARTIFACT_PREFIX) for name in archived),
    )
    return None if state and _is_forgotten(session, value) else state


def _is_forgotten(session: Session, value: dict[str, Any]) -> bool:
    """Whether an episode is about to go: `forget` takes a session's directory first."""
    project_dir = project_of(session.dir)
    if not files.is_there(os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        return False
    from . import tombstones

    return tombstones.covers(tombstones.load(project_dir)["sessions"], value)


def project_of(directory: str) -> str:
    """The project that a session's directory belongs to."""
    return os.path.dirname(os.path.dirname(os.path.dirname(directory)))


def forgotten_until(session: Session) -> float:
    """What a forgotten session said before then is not taken in again; 0 for all others."""
    project_dir = project_of(session.dir)
    if not files.is_there(os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        return 0.0
    from . import tombstones

    return tombstones.since(project_dir, str(session.meta.get("claude_session")))


def read_capture(directory: str) -> dict[str, Any] | None:
    """The state in a session's directory, new when there is none yet; None when it is damaged."""
    from . import capture

    try:
        data = files.read(os.path.join(directory, settings.CAPTURE_FILE))
        return capture.restored(jsontext.loads(data)) if data else capture.new()
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return None


def save_capture(session: Session, state: dict[str, Any]) -> None:
    data = jsontext.compact(state).encode("utf-8", "replace") + b"\n"
    files.write_if_changed(os.path.join(session.dir, settings.CAPTURE_FILE), data)


def close(project_dir: str, session: Session) -> None:
    """The session is over: its local scope goes, and what marks it as living."""
    files.remove_tree(os.path.join(session.dir, settings.LOCAL_DIR))
    for directory in (session.dir, session.artifacts):
        files.remove_temporaries(directory, float("inf"))
    unmark_live(project_dir, str(session.meta["claude_session"]))


def set_active(session: Session, event: Event, process: dict[str, Any], branch: str) -> bool:
    """The session speaks: ACTIVE, whatever it was. True when the record changed."""
    meta = session.meta
    before = dict(meta)
    meta.update(status=settings.ACTIVE, ended=None, reason=None)
    for key, value in (
        ("transcript", event.transcript_path),
        ("model", event.model),
        ("channel", event.channel),
        ("pid", process.get("pid")),
        ("branch", branch),
    ):
        if value:
            meta[key] = value
    return meta != before or session.is_new


def _at(work: str, relative: str, claude_id: str) -> Session | None:
    """A session by its place below WORK; the caller holds its lock, so a damaged record may be replaced."""
    directory = _directory(work, relative)
    session = load(directory, is_needed=True) if directory else None
    if session:
        return session if session.meta.get("claude_session") == claude_id else None
    day, _, name = relative.partition("/")
    return _repaired(directory, day, name, claude_id) if directory and os.path.isdir(directory) else None


def _directory(work: str, relative: str) -> str:
    day, _, name = relative.partition("/")
    return os.path.join(work, day, name) if clock.is_day(day) and safe_id(name) == name else ""


def _repaired(directory: str, day: str, name: str, claude_id: str) -> Session | None:
    """A fresh record for a directory whose META is damaged; the damaged file is kept beside it."""
    if not safe_id(claude_id).startswith(name):
        return None
    path = os.path.join(directory, settings.META_FILE)
    if files.is_there(path) and os.path.getsize(path):
        try:
            files.move(path, path + settings.DAMAGED_SUFFIX)
        except OSError:
            return None
    started = _known_start(project_of(directory), day, name)
    return Session(directory, _blank(name, started, claude_id, ""), is_new=True)


def _known_start(project_dir: str, day: str, short_id: str) -> str:
    """When a session of that day began, as the name of its episode tells."""
    for name in files.listed(os.path.join(project_dir, settings.EPISODES_DIR)):
        if name.startswith(settings.EPISODE_PREFIX + day) and name.endswith("-%s.json" % short_id):
            return clock.unstamp(name[len(settings.EPISODE_PREFIX) :]) or day + "T00:00:00Z"
    return day + "T00:00:00Z"


def _known_by_episode(project_dir: str, short_id: str) -> tuple[str, float, str] | None:
    """Claude's id, the start and the parent of the session whose episode has this short id, and nothing else of it
    is left."""
    ending = "-%s.json" % short_id
    for name in files.listed(os.path.join(project_dir, settings.EPISODES_DIR)):
        if name.endswith(ending) and is_episode_name(name):
            try:
                value = jsontext.loads(files.read(os.path.join(project_dir, settings.EPISODES_DIR, name)) or b"")
            except (OSError, ValueError) as error:
                if files.is_passing(error):
                    raise  # else what goes on would begin anew
                value = {}
            known = value if isinstance(value, dict) else {}
            began = clock.parse(clock.unstamp(name[len(settings.EPISODE_PREFIX) :])) or 0.0
            return str(known.get("session_id") or ""), began, str(known.get("parent") or "")
    return None


def _fresh(work: str, short_id: str, claude_id: str, now: float, project_name: str, parent: str = "") -> Session:
    started = clock.iso(now)
    meta = _blank(short_id, started, claude_id, project_name)
    meta["parent"] = parent or None
    return Session(os.path.join(work, started[:10], short_id), meta, is_new=True)


def _blank(short: str, started: str, claude_id: str, project_name: str) -> dict[str, Any]:
    meta: dict[str, Any] = dict.fromkeys(META_FIELDS)
    meta.update(
        session_id=short,
        date=started[:10],
        started=started,
        status=settings.ACTIVE,
        project=project_name,
        tags=[],
        artifacts=[],
        claude_session=claude_id,
    )
    return meta


def marker_path(project_dir: str, claude_id: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR, safe_id(claude_id) + ".json")
