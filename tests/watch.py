"""A watcher inside a process: reports each write outside the places it may write, each socket and each new process.

In a forked child, or at the start of a fresh interpreter (`-I -S` will do), for good:

    watch.install([store, claude_dir + "/completion-checkpoint*"], report_fd)

A script as a process of its own, watched from its first line:

    subprocess.run(watch.command(script, allowed, report_fd), pass_fds=[report_fd])

Each stray event is one line on the descriptor, `event<TAB>path or arguments`; `strays` reads them. An allowed path
stands for itself and all below it, one that ends in `*` for all that begins so. Paths are followed through symbolic
links, as the system does. With nothing allowed, everything written is reported: the proof that the watcher sees.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Which of an event's arguments are paths that change; the link itself changes, not what it points to.
_CHANGES_ENTRY = {
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.mkfifo": (0,),
    "os.mknod": (0,),
}
_CHANGES_FILE = {
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.chflags": (0,),
    "os.utime": (0,),
    "os.truncate": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
}
_STARTS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "pty.")
_FORBIDDEN = ("socket.", "ctypes.", "_winapi.CreateProcess", "webbrowser.", "urllib.", "syslog.", *_STARTS)
_ALWAYS = (os.devnull,)
_UNAUDITED = ("mkfifo", "mknod")  # the interpreter raises no event of its own for these


def install(allowed: list[str], report_fd: int) -> None:
    """From here on, until the process ends."""
    places = [_followed(place) for place in allowed]

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if arguments[2] & _WRITES:
                stray(event, arguments[0], _followed)
        elif event in _CHANGES_ENTRY:
            for at in _CHANGES_ENTRY[event]:
                stray(event, arguments[at], _entry)
        elif event in _CHANGES_FILE:
            for at in _CHANGES_FILE[event]:
                stray(event, arguments[at], _followed)
        elif event.startswith(_FORBIDDEN) or (event == "os.kill" and arguments[1]):
            report(event, repr(arguments))

    def stray(event: str, given: Any, follow: Callable[[Any], str]) -> None:
        if isinstance(given, str) and any(_is_plainly_within(given, place) for place in places):
            return
        path = follow(given)
        if not any(_is_within(path, place) for place in places) and path not in _ALWAYS:
            report(event, path)

    def report(event: str, detail: str) -> None:
        line = event + "\t" + detail.replace("\\", "\\\\").replace("\n", "\\n") + "\n"
        os.write(report_fd, line.encode("utf-8", "surrogateescape"))

    for name in _UNAUDITED:
        if hasattr(os, name):
            setattr(os, name, _audited(name))
    sys.addaudithook(look)


def command(script: str, allowed: list[str], report_fd: int, flags: tuple[str, ...] = ("-I", "-S", "-B")) -> list[str]:
    """What runs `script` as `__main__`, watched."""
    return [sys.executable, *flags, os.path.abspath(__file__), str(report_fd), os.pathsep.join(allowed), script]


def strays(report: bytes) -> list[tuple[str, str]]:
    """What was reported: events with their paths or arguments."""
    lines = report.decode("utf-8", "backslashreplace").split("\n")[:-1]
    return [(event, detail) for event, _, detail in (line.partition("\t") for line in lines)]


def _followed(path: Any) -> str:
    """Where a path leads; a descriptor to what it was opened on, where the system tells."""
    if isinstance(path, int):
        try:
            return os.readlink("/proc/self/fd/%d" % path)
        except OSError:
            return "descriptor %d" % path
    return os.path.realpath(os.fsdecode(path))


def _entry(path: Any) -> str:
    if isinstance(path, int):
        return _followed(path)
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    return os.path.join(os.path.realpath(folder), name)


def _is_within(path: str, place: str) -> bool:
    if place.endswith("*"):
        return path.startswith(place[:-1])
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def _is_plainly_within(path: str, place: str) -> bool:
    """The same for a path that holds no link below that place, in a third of the time."""
    if not _is_within(path, place) or "*" in place or "/.." in path or "/./" in path:
        return False
    at = len(place)
    while at > 0:
        at = path.find(os.sep, at + 1)
        if os.path.islink(path if at < 0 else path[:at]):
            return False
    return True


def _audited(name: str) -> Any:
    plain = getattr(os, name)

    def call(path: Any, *arguments: Any, **options: Any) -> Any:
        sys.audit("os." + name, path)
        return plain(path, *arguments, **options)

    return call


def main() -> None:
    fd, allowed, script = sys.argv[1:4]
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    sys.argv[:] = [script, *sys.argv[4:]]
    install([place for place in allowed.split(os.pathsep) if place], int(fd))
    exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})


if __name__ == "__main__":
    main()
