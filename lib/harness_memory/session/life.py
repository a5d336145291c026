"""A session's record as it begins, becomes ACTIVE and ends; whether the process behind it is still there.

A process is known by its id and start time, within one boot of one machine (and one pid namespace). Where that
cannot be compared the answer is None: another machine that shares the store, or a platform without `/proc`.
`os.kill` is not used on Windows, where signal 0 would end the process.
"""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.typing import Any
from ..project import Project
from . import sessions
from .sessions import Session, load, safe_id

_SHELLS = ("sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "timeout", "env")
_NO_PROCESS = ("", "", 0)


def open_session(project_dir: str, claude_id: str, now: float, project_name: str) -> Session:
    """The session's record on disk, or a new one that is not saved yet; the caller holds the session's lock."""
    session = sessions.at_marker(project_dir, sessions.read_marker(project_dir, claude_id))
    if session:
        return session
    work, started = os.path.join(project_dir, settings.WORK_DIR), clock.iso(now)
    days = [day for day in reversed(files.names(work)) if clock.is_day(day)]
    for short_id in (safe_id(claude_id)[:8], safe_id(claude_id), safe_id(claude_id + "/")):  # at last a hash
        taken = [day for day in days if files.exists(os.path.join(work, day, short_id))]
        for day in taken:
            directory = os.path.join(work, day, short_id)
            session = load(directory)
            if session and session.claude_id == claude_id:
                return session
            if not session:  # META is missing or damaged: that file stays beside a new one
                path = os.path.join(directory, settings.META_FILE)
                if files.exists(path):
                    files.move(path, path + settings.DAMAGED_SUFFIX)
                names = files.names(os.path.join(project_dir, settings.EPISODES_DIR))
                own = [name for name in names if sessions.day_and_id(name) == (day, short_id)]
                begun = clock.unstamp(own[-1][len(settings.EPISODE_PREFIX) :]) if own else ""
                return _new(directory, begun or day + "T00:00:00Z", claude_id, "")
        if not taken:
            break
    return _new(os.path.join(work, started[:10], short_id), started, claude_id, project_name)


def _new(directory: str, started: str, claude_id: str, project_name: str) -> Session:
    meta = dict.fromkeys(sessions.META_FIELDS)
    meta.update(session_id=os.path.basename(directory), claude_session=claude_id, project=project_name)
    meta.update(date=started[:10], started=started, status=settings.ACTIVE, tags=[], artifacts=[])
    return Session(directory, meta, is_new=True)


def activate(
    project: Project, session: Session, process: dict[str, Any], launch: str, marked: dict[str, Any], **facts: object
) -> None:
    """Make a session ACTIVE on disk, with the `facts` that are not empty; `launch` is where the client was started.

    The marker comes first, unless it is the one `marked` before, so that the sweep finds what a killed hook leaves.
    """
    work = "/".join(session.dir.split(os.sep)[-2:])
    marker: dict[str, Any] = {"schema": settings.SCHEMA, "claude_session": session.claude_id, "work": work}
    marker.update(launch=launch, root=project.root, remote=project.remote, name=project.name, process=process)
    if marked != marker:
        files.write_json(sessions.marker_path(project.dir, session.claude_id), marker, durable=True)
    before = dict(session.meta)
    facts = {"pid": process.get("pid"), **facts}
    session.meta.update({name: value for name, value in facts.items() if value})
    session.meta.update(status=settings.ACTIVE, ended=None, reason=None)
    if session.is_new or session.meta != before:
        session.save(durable=session.is_new)


def close(project_dir: str, session: Session) -> None:
    """Remove what belongs to a running session: its local scope, temporary files and marker."""
    files.remove_tree(os.path.join(session.dir, settings.LOCAL_DIR))
    for directory in (session.dir, session.artifacts):
        files.remove_temporaries(directory, float("inf"))
    files.remove(sessions.marker_path(project_dir, session.claude_id))


def client_process(pid: int) -> dict[str, Any]:
    """The client's process: `pid` from its environment, else the nearest ancestor that is not a shell."""
    is_named, pid = bool(pid), pid or os.getppid()
    name, start, parent = _stat(pid) or _NO_PROCESS
    for _ in range(0 if is_named else 6):
        if name in _SHELLS:
            pid, (name, start, parent) = parent, _stat(parent) or _NO_PROCESS
    pid = pid if is_named or (name not in ("", *_SHELLS) and pid > 1) else 0
    if pid and start:
        return {"pid": pid, "start": start, "boot": _boot(), "host": _host()}
    return {"pid": pid, "host": _host()} if pid and os.name == "posix" and not os.path.isdir("/proc/self") else {}


def is_alive(process: dict[str, Any]) -> bool | None:
    pid, start = process.get("pid"), process.get("start")
    if not isinstance(pid, int) or pid <= 0 or process.get("host") != _host():
        return None
    if start:
        boot, then = _boot(), str(process.get("boot"))
        info = _stat(pid) if boot == then else None
        # Another boot of this machine: it is gone. Another container: unknown.
        is_over = boot != then and boot.partition(":")[2] == then.partition(":")[2] != ""
        return info[1] == start if info else False if is_over else None
    try:
        if os.name == "posix":
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return None  # another process may have this number by now


def _stat(pid: int) -> tuple[str, str, int] | None:
    """Name, start time and parent of a process, "" as the start of one that ended; None when that cannot be read."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            # The name may hold spaces and parentheses.
            head, _, tail = file.read(4096).decode("utf-8", "replace").rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return _NO_PROCESS
    except OSError:
        return None
    state, parent, *fields = tail.split()
    return head.partition("(")[2], "" if state in "ZX" else fields[17], int(parent)


def _boot() -> str:
    """`<boot id>:<pid namespace>`; "" where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(64).decode("ascii", "replace").strip()[:8]
        return "%s:%s" % (boot, os.readlink("/proc/self/ns/pid").strip("pid:[]"))
    except OSError:
        return ""


def _host() -> str:
    return os.environ.get("COMPUTERNAME", "") if os.name == "nt" else os.uname().nodename
