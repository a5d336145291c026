"""File operations of a forked child, counted: at the k-th one it dies, or the operation fails.

    Plan()                                nothing happens; the child's operations are listed
    Plan(KILL, 7)                         dies before the 7th operation that counts
    Plan(TEAR, 7)                         of the 7th write half reaches the file, then it dies
    Plan(CUT, 7)                          as KILL, and what was not synced is lost with the power
    Plan(errno.ENOSPC, 7)                 the 7th operation that can fail so does
    Plan(errno.ENOSPC, 7, stays=True)     that one and all later ones

With `on` only operations on files whose path ends so count.
With `changes` only operations count that change the disk: between two of them every death leaves the same.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import ExitStack
from typing import Any, Callable, Tuple

from harness_memory.base import payload

KILL, TEAR, CUT = -1, -2, -3
PATIENCE_SECONDS = 60.0

Operation = Tuple[str, str]  # what, and on what

_CREATING = os.O_CREAT | os.O_TRUNC
_WRITING = os.O_WRONLY | os.O_RDWR | _CREATING
_CHANGES = ("create", "write", "mkdir", "rmdir", "unlink", "remove", "rename", "replace", "link", "symlink")
CHANGES = (*_CHANGES, "chmod", "fchmod", "utime", "truncate", "ftruncate", "fsync")
_LOOKS = ("open", "stat", "lstat", "listdir", "scandir", "readlink", "access")
_WRAPPED = ("read", "close", "lseek", "fstat", *_LOOKS, *CHANGES[1:])

# Which operations may meet which fault.
FAULTS = {
    errno.ENOSPC: ("create", "write", "mkdir", "rename", "replace", "link", "symlink", "fsync"),
    errno.EROFS: ("create", "open for writing", *CHANGES[2:-1]),
    errno.EIO: ("create", "open", "read", "close", "stat", "lstat", "fstat", "listdir", "scandir", *CHANGES[1:]),
    errno.EACCES: ("create", "open", "open for writing", "listdir", "scandir", *CHANGES[2:-1]),
    errno.EMFILE: ("create", "open", "open for writing", "listdir", "scandir"),
    errno.EINTR: ("create", "open", "open for writing", "read", "write", "close", "fsync", "flock"),
}


class Plan:
    def __init__(self, act: int = 0, at: int = 0, *, stays: bool = False, changes: bool = False, on: str = "") -> None:
        self.act = act
        self.at = at
        self.stays = stays
        self.on = on
        self.kinds = FAULTS[act] if act > 0 else ("write",) if act == TEAR else CHANGES if changes else None

    def __repr__(self) -> str:
        acts = {0: "nothing", KILL: "kill", TEAR: "tear", CUT: "power cut"}
        name = acts.get(self.act) or errno.errorcode[self.act]
        on = " of " + self.on if self.on else ""
        return "%s at %d%s%s" % (name, self.at, on, " and after" if self.stays else "")


class Outcome:
    def __init__(self, code: int, stdout: str, stderr: str, seconds: float, operations: list[Operation]) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds
        self.operations = operations

    @property
    def is_killed(self) -> bool:
        return self.code == -signal.SIGKILL

    def __repr__(self) -> str:
        last = self.operations[-1:]
        return "Outcome(code=%d, stdout=%r, stderr=%r, last=%r)" % (self.code, self.stdout, self.stderr, last)


def run(action: Callable[[], Any], plan: Plan, *, stdin: bytes, env: dict[str, str], cwd: str) -> Outcome:
    """`action` in a child of its own; what it returns is the exit code."""
    with ExitStack() as stack:
        given, out, err, report = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        given.write(stdin)
        given.seek(0)
        began = time.perf_counter()
        pid = os.fork()
        if not pid:
            _live(action, plan, [given, out, err], report.fileno(), env, cwd)
        status = _waited_for(pid, began + PATIENCE_SECONDS)
        seconds = time.perf_counter() - began
        texts = [_all(file).decode("utf-8", "replace") for file in (out, err, report)]
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    lines = (line.partition("\t") for line in texts[2].split("\n") if line)
    return Outcome(code, texts[0], texts[1], seconds, [(name, on) for name, _, on in lines])


def _waited_for(pid: int, ends: float) -> int:
    """How it ended; what goes on for ever is killed, and shows it by its time."""
    pause = 0.0002
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        if time.perf_counter() > ends:
            os.kill(pid, signal.SIGABRT)
            return os.waitpid(pid, 0)[1]
        time.sleep(pause)
        pause = min(pause * 1.5, 0.002)


def _all(file: Any) -> bytes:
    file.seek(0)
    return bytes(file.read())


def _live(
    action: Callable[[], Any], plan: Plan, streams: list[Any], report: int, env: dict[str, str], cwd: str
) -> None:
    code = 99
    try:
        for target, stream in enumerate(streams):
            os.dup2(stream.fileno(), target)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout, sys.stderr = (open(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2))  # noqa: SIM115
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        Interposer(plan, report).install()
        code = action() or 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001  (it may be anything)
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass


class Interposer:
    """Stands between a child and its files."""

    def __init__(self, plan: Plan, report: int) -> None:
        self.plan = plan
        self.report = report
        self.count = 0
        self.names: dict[int, str] = {}
        self.written: set[int] = set()
        self.unsynced: dict[str, int] = {}  # how long each file was before
        self.real = {name: getattr(os, name) for name in _WRAPPED}

    def install(self) -> None:
        for name in _WRAPPED:
            if name not in ("open", "write"):
                setattr(os, name, self.wrapped(name))
        os.open, os.write = self.open, self.write  # type: ignore[assignment]
        os.fdopen = self.fdopen  # type: ignore[assignment]
        builtins.open = self.opened  # type: ignore[assignment]
        for name in ("lstat", "utime", "readlink"):  # the guard does without `os`; modules are loaded without these
            setattr(payload.system, name, getattr(os, name))
        os._exit = payload.system._exit = self.leave  # type: ignore[assignment,attr-defined]
        fcntl.flock = self.flock

    # The operations
    def wrapped(self, name: str) -> Callable[..., Any]:
        real = self.real[name] if name != "fsync" else lambda fd: None

        def operation(*given: Any, **options: Any) -> Any:
            self.meet(name, given)
            result = real(*given, **options)
            if self.plan.act == CUT:
                self.note(name, given)
            return result

        return operation

    def open(self, path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
        creates = flags & _CREATING and not self.exists(path)
        self.meet("create" if creates else "open for writing" if flags & _WRITING else "open", (path,))
        fd: int = self.real["open"](path, flags, mode, **options)
        self.names[fd] = os.fsdecode(path)
        return fd

    def exists(self, path: Any) -> bool:
        try:
            self.real["lstat"](path)
        except OSError:
            return False
        return True

    def write(self, fd: int, data: Any) -> int:
        self.written.add(fd)
        act = self.meet("write", (fd,))
        if act == TEAR:
            self.real["write"](fd, bytes(data)[: len(data) // 2])
            self.die()
        if self.plan.act == CUT and fd in self.names:
            self.unsynced.setdefault(self.names[fd], self.real["fstat"](fd).st_size)
        written: int = self.real["write"](fd, data)
        return written

    def flock(self, fd: int, how: int) -> None:
        self.meet("flock", (fd,))
        _flock(fd, how)

    def fdopen(self, fd: int, mode: str = "r", *_: Any, **options: Any) -> Any:
        return self.opened(fd, mode, **options)

    def opened(
        self, file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, *rest: Any, **_: Any
    ) -> Any:
        """As `open`, with every byte through the operations above."""
        flags = {"r": os.O_RDONLY, "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC, "a": os.O_WRONLY | os.O_CREAT}[mode[0]]
        fd = file if isinstance(file, int) else os.open(file, flags, 0o666)
        raw = _Raw(fd, mode)
        buffered: Any = io.BufferedReader(raw) if mode[0] == "r" else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding=encoding or "utf-8")

    def leave(self, code: int) -> None:
        """A power cut may come when all is done, too."""
        if self.plan.act == CUT and self.count + 1 == self.plan.at:
            self.die()
        _leave(code)

    # What becomes of them
    def meet(self, name: str, given: tuple[Any, ...]) -> int:
        """Count an operation, and let happen what is planned for it."""
        on = given[0] if given else ""
        if isinstance(on, int) and on < 3:
            return 0  # a pipe to the client is no file
        what = self.names.get(on, str(on)) if isinstance(on, int) else os.fsdecode(on)
        self.real["write"](self.report, ("%s\t%s\n" % (name, what)).encode("utf-8", "replace"))
        plan = self.plan
        if not plan.act or (plan.kinds and name not in plan.kinds) or not what.endswith(plan.on):
            return 0
        if name == "close" and plan.act > 0 and on not in self.written:
            return 0  # what was only read is closed without trouble
        self.count += 1
        if self.count < plan.at or (self.count > plan.at and not plan.stays):
            return 0
        if plan.act in (KILL, CUT):
            self.die()
        if plan.act > 0:
            if name == "close":
                self.real["close"](on)  # it is closed all the same
            raise OSError(plan.act, os.strerror(plan.act), what)
        return plan.act

    def note(self, name: str, given: tuple[Any, ...]) -> None:
        """Which files hold what is on no disk yet."""
        if name == "fsync":
            self.unsynced.pop(self.names.get(given[0], ""), None)
        elif name in ("rename", "replace"):
            source, target = map(os.fsdecode, given[:2])
            self.unsynced.pop(target, None)
            if source in self.unsynced:
                self.unsynced[target] = self.unsynced.pop(source)

    def die(self) -> None:
        for path, size in self.unsynced.items():
            try:
                self.real["truncate"](path, size)
            except OSError:
                pass
        os.kill(os.getpid(), signal.SIGKILL)


class _Raw(io.RawIOBase):
    """A file whose every operation goes through `os`."""

    def __init__(self, fd: int, mode: str) -> None:
        self.fd = fd
        self.mode = mode

    def fileno(self) -> int:
        return self.fd

    def readable(self) -> bool:
        return "r" in self.mode

    def writable(self) -> bool:
        return "r" not in self.mode

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return os.lseek(self.fd, offset, whence)

    def readinto(self, buffer: Any) -> int:
        data = os.read(self.fd, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        return os.write(self.fd, data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self.fd)


_flock, _leave = fcntl.flock, os._exit
