"""Runs a script as `__main__` with an audit hook that reports writes outside, sockets, processes and unwanted imports.

    python -I -S watch.py REPORT_FD ALLOWED SCRIPT

ALLOWED lists paths, separated as in PATH: each stands for itself and all below it, one that ends in `*` for everything
that begins so. Each stray event is one line on the descriptor: `event<TAB>path or arguments`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# The argument that names what changes; of an entry the link itself changes, of a file what the link leads to.
_ENTRIES = {"os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,), "os.mkdir": (0,), "os.link": (1,)}
_ENTRIES["os.symlink"] = (1,)
_FILES = ("os.chmod", "os.chown", "os.utime", "os.truncate", "os.setxattr")
_FORBIDDEN = ("socket.", "ctypes.", "webbrowser.", "urllib.", "syslog.", "subprocess.", "os.system", "os.exec")
_FORBIDDEN += ("os.posix_spawn", "os.spawn", "os.fork", "pty.")
_MODULES = ("socket", "_socket", "ssl", "http", "urllib", "asyncio", "selectors", "subprocess", "_posixsubprocess")
_MODULES += ("multiprocessing", "ctypes", "_ctypes", "concurrent", "threading", "smtplib", "ftplib")


def install(allowed: list[str], report_fd: int) -> None:
    """From here on, until the process ends."""
    places = [os.path.realpath(place) for place in allowed]

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if arguments[2] & _WRITES:
                check(event, _followed(arguments[0]))
        elif event in _ENTRIES:
            for number in _ENTRIES[event]:
                folder, name = os.path.split(os.path.abspath(os.fsdecode(arguments[number])))
                check(event, os.path.join(os.path.realpath(folder), name))
        elif event in _FILES:
            check(event, _followed(arguments[0]))
        elif event.startswith(_FORBIDDEN) or (event == "os.kill" and arguments[1]):
            report(event, repr(arguments))
        elif event == "import" and arguments[0].partition(".")[0] in _MODULES:
            report(event, arguments[0])

    def check(event: str, path: str) -> None:
        if path != os.devnull and not any(_is_within(path, place) for place in places):
            report(event, path)

    def report(event: str, detail: str) -> None:
        line = event + "\t" + detail.replace("\\", "\\\\").replace("\n", "\\n") + "\n"
        os.write(report_fd, line.encode("utf-8", "surrogateescape"))

    sys.addaudithook(audit)


def strays(report: bytes) -> list[tuple[str, str]]:
    """The reported events with their paths or arguments."""
    lines = report.decode("utf-8", "backslashreplace").split("\n")[:-1]
    return [(event, detail) for event, _, detail in (line.partition("\t") for line in lines)]


def _followed(path: Any) -> str:
    if isinstance(path, int):
        return os.readlink("/proc/self/fd/%d" % path) if os.path.isdir("/proc/self/fd") else "descriptor %d" % path
    return os.path.realpath(os.fsdecode(path))


def _is_within(path: str, place: str) -> bool:
    return path.startswith(place[:-1]) if place.endswith("*") else path == place or path.startswith(place + os.sep)


def main() -> None:
    fd, allowed, script = sys.argv[1:4]
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    sys.argv[:] = [script]
    install([place for place in allowed.split(os.pathsep) if place], int(fd))
    exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})


if __name__ == "__main__":
    main()
