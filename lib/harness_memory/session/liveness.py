"""Whether the process behind a session is still there.

A process is known by its id and start time, within one boot of one machine (and one pid namespace). Where that
cannot be compared the answer is None: another machine that shares the store, or a platform without `/proc`.
`os.kill` is not used on Windows, where signal 0 would end the process.
"""

from __future__ import annotations

import os

from ..base.typing import Any

_SHELLS = ("sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "timeout", "env")
_NO_PROCESS = ("", "", 0)


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
