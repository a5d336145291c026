"""Whether the process behind a session is still there.

A process is known by its id and start time, within one boot of one machine (and one pid namespace). Where that
cannot be compared the answer is None: another machine that shares the store, or a platform without `/proc`.
`os.kill` is not used on Windows, where signal 0 would end the process.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHELLS = ("sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "timeout", "env")
_ANCESTORS = 6


def client_process(pid: int) -> dict[str, Any]:
    """The client's process: `pid` from its environment, else the nearest ancestor that is not a shell."""
    pid = pid or _ancestor()
    start = _start(_stat(pid) or []) if pid else ""
    if start:
        return {"pid": pid, "start": start, "boot": _boot(), "host": _host()}
    has_no_proc = os.name == "posix" and not os.path.isdir("/proc/self")
    return {"pid": pid, "host": _host()} if pid and has_no_proc else {}


def is_alive(process: dict[str, Any]) -> bool | None:
    pid, start = process.get("pid"), process.get("start")
    if not isinstance(pid, int) or pid <= 0 or process.get("host") != _host():
        return None
    if start:
        boot, namespace = _boot(), _boot().partition(":")[2]
        if not boot:
            return None
        if process.get("boot") != boot:
            # Another boot of this machine: it is gone. Another container: unknown.
            return False if str(process.get("boot")).partition(":")[2] == namespace else None
        fields = _stat(pid)
        return None if fields is None else _start(fields) == start
    if os.name == "posix":
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            pass
    return None  # another process may have this number by now


def is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    keys = ("pid", "start", "boot", "host")
    return bool(one.get("pid")) and all(one.get(key) == other.get(key) for key in keys)


def _ancestor() -> int:
    pid = os.getppid()
    for _ in range(_ANCESTORS):
        fields = _stat(pid)
        if not fields:
            return 0
        if fields[0] not in _SHELLS:
            return pid if pid > 1 else 0
        pid = int(fields[2])
    return 0


def _stat(pid: int) -> list[str] | None:
    """Name, state, parent, … of `/proc/<pid>/stat`; empty without such a process, None when it cannot be read."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            # The name may hold spaces and parentheses.
            head, _, tail = file.read(4096).decode("utf-8", "replace").rpartition(")")
    except (FileNotFoundError, ProcessLookupError):
        return []
    except OSError:
        return None
    return [head.partition("(")[2], *tail.split()]


def _start(fields: list[str]) -> str:
    return fields[20] if len(fields) > 20 and fields[1] not in "ZX" else ""


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
