"""File operations of a forked child, counted: at the n-th one the child dies, or the operation fails.

    Plan()                       the operations are listed, nothing happens
    Plan(KILL, 7)                the child dies before the 7th operation that changes the disk
    Plan(errno.ENOSPC, 7)        the 7th operation that can fail so does, and with `stays` all later ones too

Opening, renaming, removing and so on are seen by an audit hook, which Python calls before the operation; reading,
writing, syncing and stat have no audit event and are wrapped. Only paths below `top` count.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sys
import tempfile
import traceback
from contextlib import ExitStack
from typing import Any, Callable, NamedTuple, Tuple

KILL = -1
Operation = Tuple[str, str]  # what, and on which path

_CREATING = os.O_CREAT | os.O_TRUNC
_WRITING = os.O_WRONLY | os.O_RDWR | _CREATING
_ENTRIES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink")
CHANGES = ("create", "write", *_ENTRIES, "os.chmod", "os.truncate", "os.utime")
_LOOKS = ("open", "os.listdir", "os.scandir")
_WRAPPED = ("read", "write", "fsync", "stat", "lstat")

# The operations that can meet each fault.
FAULTS = {
    errno.ENOSPC: ("create", "write", "os.mkdir", "os.rename", "os.link", "fsync"),
    errno.EROFS: ("create", "open for writing", *_ENTRIES, "os.chmod", "os.truncate"),
    errno.EIO: ("create", *_LOOKS, "read", "stat", "lstat", "write", "os.rename", "os.remove", "os.mkdir", "fsync"),
    errno.EACCES: ("create", "open for writing", *_LOOKS, *_ENTRIES),
    errno.EMFILE: ("create", "open for writing", *_LOOKS),
    errno.EINTR: ("create", "open", "read", "write", "flock"),
}
LASTING = (errno.ENOSPC, errno.EROFS, errno.EACCES)  # these are still there at the next attempt


class Plan:
    def __init__(self, act: int = 0, at: int = 0, *, stays: bool = False) -> None:
        self.act = act
        self.at = at
        self.stays = stays
        self.kinds = CHANGES if act == KILL else FAULTS.get(act, ())

    def __repr__(self) -> str:
        name = {0: "nothing", KILL: "kill"}.get(self.act) or errno.errorcode[self.act]
        return "%s at %d%s" % (name, self.at, " and after" if self.stays else "")


class Outcome(NamedTuple):
    code: int
    stdout: str
    stderr: str
    operations: list[Operation]

    @property
    def is_killed(self) -> bool:
        return self.code == -signal.SIGKILL


def run(
    action: Callable[[], Any], install: Callable[[int], None], *, stdin: bytes, env: dict[str, str], cwd: str
) -> Outcome:
    """`action` in a child; its return value is the exit code. `install` gets the descriptor to report operations to."""
    with ExitStack() as stack:
        source, out, err, report = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(4))
        source.write(stdin)
        source.seek(0)
        pid = os.fork()
        if not pid:
            _live(action, lambda: install(report.fileno()), [source, out, err], env, cwd)
        status = os.waitpid(pid, 0)[1]
        texts = []
        for file in (out, err, report):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    lines = (line.partition("\t") for line in texts[2].split("\n") if line)
    return Outcome(code, texts[0], texts[1], [(name, path) for name, _, path in lines])


def _live(
    action: Callable[[], Any], install: Callable[[], None], streams: list[Any], env: dict[str, str], cwd: str
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
        install()
        code = action() or 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001  (it may be anything)
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


class Interposer:
    def __init__(self, plan: Plan, top: str) -> None:
        self.plan = plan
        self.top = top
        self.report = -1
        self.count = 0
        self.is_inside = False  # in our own work, which does not count
        self.real = {name: getattr(os, name) for name in (*_WRAPPED, "readlink")}

    def install(self, report: int) -> None:
        self.report = report
        for name in _WRAPPED:
            wrapped = self._wrapped(name)
            for module in (os, sys.modules[os.name]) if name in ("lstat", "write") else (os,):
                setattr(module, name, wrapped)
        flock = fcntl.flock
        fcntl.flock = lambda fd, how: (self.meet("flock", fd), flock(fd, how))[1]
        sys.addaudithook(self._audit)

    def _wrapped(self, name: str) -> Callable[..., Any]:
        def operation(path: Any, *rest: Any, **options: Any) -> Any:
            self.meet(name, path)
            return None if name == "fsync" else self.real[name](path, *rest, **options)

        return operation

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            flags = arguments[2]
            is_new = flags & _CREATING and not os.path.lexists(arguments[0])
            self.meet("create" if is_new else "open for writing" if flags & _WRITING else "open", arguments[0])
        elif event in CHANGES or event in _LOOKS[1:]:
            self.meet(event, arguments[1] if event in ("os.link", "os.symlink") else arguments[0])

    def meet(self, name: str, path: Any) -> None:
        """Count an operation, and let happen what is planned for it."""
        if self.is_inside:
            return
        self.is_inside = True
        try:
            where = self.real["readlink"]("/proc/self/fd/%d" % path) if isinstance(path, int) else os.fsdecode(path)
        except (OSError, TypeError):
            where = ""
        self.is_inside = False
        if not os.path.abspath(where).startswith(self.top + os.sep):
            return
        self.real["write"](self.report, ("%s\t%s\n" % (name, where)).encode("utf-8", "replace"))
        plan = self.plan
        if name not in plan.kinds:
            return
        self.count += 1
        if self.count == plan.at or (plan.stays and self.count > plan.at):
            if plan.act == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(plan.act, os.strerror(plan.act), where)
