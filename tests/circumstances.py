"""Hooks run under other circumstances: another time, no locks, locks that a stopped process holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

import support
from life import Life

# A clock that is `offset` seconds ahead; what is left to the kernel is set right afterwards, by `redate`.
CLOCK = """
import time
offset = %r
true_time, true_ns = time.time, time.time_ns
local, universal, form = time.localtime, time.gmtime, time.strftime
time.time = lambda: true_time() + offset
time.time_ns = lambda: true_ns() + int(offset * 10**9)
time.localtime = lambda seconds=None: local(time.time() if seconds is None else seconds)
time.gmtime = lambda seconds=None: universal(time.time() if seconds is None else seconds)
time.strftime = lambda how, at=None: form(how, time.localtime() if at is None else at)
"""

# File systems that know no locks; one that is asked to wait for a lock would hang.
NO_LOCKS = """
import fcntl
def flock(fd, how):
    assert how & fcntl.LOCK_NB or how == fcntl.LOCK_UN, "would wait for ever"
    raise OSError(%d, "no locks here")
fcntl.flock = flock
"""


def run_hook(script: str, payload: Mapping[str, Any] | bytes, under: str, **options: Any) -> support.Result:
    """As `support.run_hook`, after the code `under` in the same process."""
    names = {"HARNESS_TESTS_SCRIPT": str(support.HOOKS / (script + ".py")), "HARNESS_TESTS_UNDER": under}
    options["env"] = {**(options.get("env") or {}), **names}
    return support.run_hook("../tests/under", payload, **options)


class Circumstanced(Life):
    """A session whose hooks run under `given`."""

    given = ""

    def run(self, script: str, payload: Any) -> support.Result:
        env = {**self.session.environment(pid=self.pid), **self.extra}
        result = run_hook(script, payload, self.given, home=self.home, env=env)
        assert (result.code, result.stderr) == (0, ""), result
        return result


def redate(top: Path, since: float, offset: float) -> None:
    """What was written after `since` is given the time that a clock ahead by `offset` would have given it."""
    for folder, folders, files in os.walk(str(top)):
        for name in (*files, *folders):
            path = os.path.join(folder, name)
            modified = os.lstat(path).st_mtime
            if since <= modified <= time.time() + 1 and not os.path.islink(path):
                os.utime(path, (max(0.0, modified + offset),) * 2)


class Stopped:
    """A process that holds locks and is stopped (SIGSTOP) until the block ends."""

    CODE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from harness_memory.base.lock import Lock
held = [Lock(path) for path in sys.argv[2:]]
assert all([lock.__enter__() for lock in held])
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
sys.stdin.read()
"""

    def __init__(self, *paths: Path | str) -> None:
        command = [sys.executable, "-c", self.CODE, str(support.LIB), *map(str, paths)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Stopped:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == b"held"
        while os.waitpid(self.process.pid, os.WUNTRACED)[1] & 0xFF != 0x7F:
            pass
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def abreast(works: Iterable[Callable[[], support.Result]]) -> list[support.Result]:
    """Each in a process of its own, all at once: for those that wait more than they work."""
    running = []
    for work in works:
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                result = work()
                outcome = result.code, result.stdout, result.stderr
            except BaseException as error:  # noqa: BLE001  (the parent judges it)
                outcome = 99, "", "%s: %s" % (type(error).__name__, error)
            with os.fdopen(writer, "w") as pipe:
                json.dump(outcome, pipe)
            os._exit(0)
        os.close(writer)
        running.append((pid, reader))
    results = []
    for pid, reader in running:
        with os.fdopen(reader) as pipe:
            code, out, err = json.load(pipe)
        os.waitpid(pid, 0)
        results.append(support.Result(code, out.encode(), err.encode(), 0.0))
    return results
