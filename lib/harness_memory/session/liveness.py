"""Is the process behind a session still there?

A process is known by its id and start time, within one boot of one machine (and one pid
namespace). Where that cannot be compared the answer is None, "cannot know": another machine
sharing the store, or a platform without `/proc`. `os.kill` is not used on Windows, where signal 0
would end the process.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHELLS = ("sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "timeout", "env")


def client_process(pid: int) -> dict[str, Any]:
    """Who runs this hook: the client's pid as told, else the nearest ancestor that is no shell."""
    pid = pid or _ancestor()
    if not pid:
        return {}
    known: dict[str, Any] = {"pid": pid}
    start = _start_time(pid)
    if start:
        known.update(start=start, boot=_boot(), host=_host())
    elif os.name == "posix" and not os.path.isdir("/proc/self"):
        known.update(host=_host())
    else:
        return {}  # not in our pid namespace: the number says nothing
    return known


def is_alive(process: dict[str, Any]) -> bool | None:
    pid = process.get("pid")
    if not isinstance(pid, int) or pid <= 0 or process.get("host") != _host():
        return None
    start = process.get("start")
    if start:
        boot = _boot()
        if not boot:
            return None
        if process.get("boot") != boot:
            # Same machine, other boot: it cannot have survived. Another container: cannot know.
            return False if _same_namespace(process) else None
        fields = _stat(pid)
        return None if fields is None else bool(_start(fields) == start)
    if os.name != "posix":
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # OverflowError: no number of a process
        pass
    return None  # some process has this number, perhaps not the same one


def is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    keys = ("pid", "start", "boot", "host")
    return bool(one.get("pid")) and all(one.get(key) == other.get(key) for key in keys)


def _ancestor() -> int:
    pid = os.getppid()
    for _ in range(6):
        fields = _stat(pid)
        if not fields:
            return 0
        name, parent = fields[0], int(fields[2])
        if name not in _SHELLS:
            return pid if pid > 1 else 0
        pid = parent
    return 0


def _start_time(pid: int) -> str:
    return _start(_stat(pid) or [])


def _start(fields: list[str]) -> str:
    return fields[20] if len(fields) > 20 and fields[1] not in "ZX" else ""


def _stat(pid: int) -> list[str] | None:
    """Name, state, parent, … of `/proc/<pid>/stat`: the name may hold spaces and parentheses.

    Empty when there is no such process; None when nobody can tell, as when there are no descriptors left.
    """
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            head, _, tail = file.read(4096).decode("utf-8", "replace").rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return []
    except OSError:
        return None
    return [head.partition("(")[2], *tail.split()]


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read(64).decode("ascii", "replace").strip()[:8] + ":" + _namespace()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""


def _same_namespace(process: dict[str, Any]) -> bool:
    return str(process.get("boot", "")).partition(":")[2] == _namespace()


def _host() -> str:
    if os.name == "nt":
        return os.environ.get("COMPUTERNAME", "")
    return os.uname().nodename
