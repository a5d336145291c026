#!/usr/bin/env python3
"""What a command costs beside `python3 -c pass`: CPU time as a ratio of medians, wall time, peak memory.

    python3 bench/ratio.py --rounds 40 mine='python3 hooks/stop.py' --stdin payload.json

Every round runs each case once in a fresh random order, so a busy machine slows all of them alike.
A case runs as the client runs a hook: `sh -c COMMAND`, payload on a pipe, stdout read to its end.
CPU time is that of the shell and all it waited for. POSIX only.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import statistics
import sys
import threading
import time
from typing import Callable, Mapping, Sequence

BASELINE = "python3 -c pass"
KIB_PER_MAXRSS = 1 / 1024 if sys.platform == "darwin" else 1

# A child's peak starts at the size of the process that spawned it, so a small one stands between.
_PEAK = """\
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawn("/bin/sh", ["sh", "-c", sys.argv[1]], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
sys.stdout.write(str(os.wait4(pid, 0)[2].ru_maxrss))
"""


class Case:
    """A command to measure; `stdin` is asked for before each run, and `after` cleans up, both untimed."""

    def __init__(
        self,
        name: str,
        command: str,
        *,
        stdin: Callable[[], bytes] | bytes = b"",
        env: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None,
        cwd: str | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.command = command
        self._stdin = stdin
        self._env = env
        self.cwd = cwd or os.getcwd()
        self._after = after

    def input(self) -> bytes:
        return self._stdin() if callable(self._stdin) else self._stdin

    def environment(self) -> dict[str, str]:
        env = self._env() if callable(self._env) else self._env
        return dict(os.environ if env is None else env)

    def finish(self) -> None:
        if self._after:
            self._after()


class Run:
    """One run of a case."""

    __slots__ = ("code", "cpu_ms", "output", "wall_ms")

    def __init__(self, wall_ms: float, cpu_ms: float, code: int, output: bytes) -> None:
        self.wall_ms = wall_ms
        self.cpu_ms = cpu_ms
        self.code = code
        self.output = output


class Figures:
    """The runs of one case, boiled down."""

    def __init__(self, case: Case, runs: Sequence[Run], peak_mb: float) -> None:
        self.name = case.name
        self.cpu_ms = statistics.median(run.cpu_ms for run in runs)
        self.wall_ms = statistics.median(run.wall_ms for run in runs)
        self.codes = sorted({run.code for run in runs})
        self.peak_mb = peak_mb
        self.ratio = 0.0


def baseline(interpreter: str, env: Mapping[str, str] | None = None) -> Case:
    return Case(BASELINE, "%s -c pass" % shlex.quote(interpreter), env=env)


def _feed(fd: int, data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except BrokenPipeError:
        pass
    finally:
        os.close(fd)


def _spawn(argv: Sequence[str], data: bytes, env: Mapping[str, str], cwd: str) -> Run:
    stdin, feed = os.pipe()
    stdout, reply = os.pipe()
    for fd in (feed, stdout):
        os.set_inheritable(fd, False)
    actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, reply, 1), (os.POSIX_SPAWN_DUP2, reply, 2)]
    back = os.getcwd()
    os.chdir(cwd)
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], list(argv), dict(env), file_actions=actions)
    os.chdir(back)
    os.close(stdin)
    os.close(reply)
    feeder = threading.Thread(target=_feed, args=(feed, data))
    feeder.start()
    chunks = []
    while True:
        chunk = os.read(stdout, 65536)
        if not chunk:
            break
        chunks.append(chunk)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    feeder.join()
    os.close(stdout)
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return Run(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, code, b"".join(chunks))


def run_once(case: Case) -> Run:
    data = case.input()
    run = _spawn(["/bin/sh", "-c", case.command], data, case.environment(), case.cwd)
    case.finish()
    return run


def peak_mb(case: Case) -> float:
    data = case.input()
    argv = [sys.executable, "-I", "-S", "-c", _PEAK, case.command]
    run = _spawn(argv, data, case.environment(), case.cwd)
    case.finish()
    return int(run.output.split()[-1]) * KIB_PER_MAXRSS / 1024


def measure(cases: Sequence[Case], rounds: int, seed: int = 0) -> list[Figures]:
    """Figures of all cases; ratios refer to the first."""
    order = random.Random(seed)
    runs: dict[str, list[Run]] = {case.name: [] for case in cases}
    for case in cases:
        run_once(case)
    for _ in range(rounds):
        for case in order.sample(list(cases), len(cases)):
            runs[case.name].append(run_once(case))
    figures = [Figures(case, runs[case.name], max(peak_mb(case) for _ in range(3))) for case in cases]
    for figure in figures:
        figure.ratio = figure.cpu_ms / figures[0].cpu_ms
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--stdin", help="file given to every case")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--interpreter", default=sys.executable, help="whose `-c pass` is 1.00")
    options = parser.parse_args()
    data = b""
    if options.stdin:
        with open(options.stdin, "rb") as file:
            data = file.read()
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    named = (text.partition("=") for text in options.cases)
    cases = [baseline(options.interpreter, env)]
    cases += [Case(name, command, stdin=data, env=env) for name, _, command in named]
    print("%-24s %7s %8s %8s %7s  %s" % ("case", "ratio", "CPU ms", "wall ms", "MB", "exit"))
    for f in measure(cases, options.rounds):
        print("%-24s %7.2f %8.1f %8.1f %7.1f  %s" % (f.name, f.ratio, f.cpu_ms, f.wall_ms, f.peak_mb, f.codes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
