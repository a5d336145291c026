#!/usr/bin/env python3
"""The long campaign: kills, faults, damage, load and fuzz over throw-away homes, with a seed and a time limit.

    python3 bench/chaos.py [--minutes 60] [--seed 1] [--only kills,fuzz] [--jobs 2] [--report FILE]

Run by the interpreter that is to be tested. Prints a table of what was done to the hooks and commands, what was lost,
and how long the slowest hook took; exit code 1 when anything was not as promised (RELIABILITY.md says what is), or a
part had no time to try anything. The same seed takes things in the same order; how far it gets depends on the time.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Where each part is, what it does, and its share of the time.
PARTS: dict[str, tuple[str, str, str, float]] = {
    "kills": ("points", "kills", "killed, torn or cut off at changes of files", 6),
    "moments": ("points", "moments", "killed before file operations, reading ones too", 20),
    "faults": ("points", "faults", "file operations fail, in six ways", 25),
    "calls": ("points", "system_calls", "hooks killed at system calls, by strace", 10),
    "damage": ("damage", "campaign", "files emptied, cut, garbled, enormous", 10),
    "planted": ("planted", "campaign", "links, pipes and folders in every place", 4),
    "load": ("load", "campaign", "50 sessions in a project and 50 projects", 20),
    "fuzz": ("fuzz", "campaign", "generated and mutated input of every kind", 25),
}
_SHOWN = 40


class Part:
    """One part of the campaign, in a process group of its own: an interrupt ends all of it, and is told here."""

    def __init__(self, name: str, seed: int, seconds: float) -> None:
        self.name = name
        memory = Path("/dev/shm")
        self.directory = tempfile.mkdtemp(prefix="harness-chaos-", dir=str(memory) if memory.is_dir() else None)
        processes = get_context("fork")
        self.answer, told = processes.Pipe(duplex=False)
        given = (name, seed, seconds, self.directory, told)
        self.process = processes.Process(target=_work, args=given)
        self.process.start()
        told.close()

    def result(self) -> dict[str, Any]:
        try:
            result: dict[str, Any] = self.answer.recv()
        except EOFError:
            result = {"counts": {}, "problems": [self.name + ": its process died"], "slowest": {}, "seconds": 0.0}
        self.close()
        return result

    def close(self) -> None:
        if self.process.pid:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self.process.kill()  # it has no group yet, or is over
        self.process.join()
        shutil.rmtree(self.directory, ignore_errors=True)


def _work(name: str, seed: int, seconds: float, directory: str, told: Any) -> None:
    os.setpgid(0, 0)
    module, function, _, _ = PARTS[name]
    os.environ["HOME"] = directory
    os.fsync = lambda descriptor: None  # power cuts are acted out, not waited for
    began = time.monotonic()
    try:
        campaign = getattr(importlib.import_module(module), function)
        result: dict[str, Any] = campaign(Path(directory), seed, began + seconds)
    except Exception:  # noqa: BLE001  (the campaign itself failed: that is a finding too)
        result = {"counts": {}, "problems": ["the part itself failed:\n" + traceback.format_exc()], "slowest": {}}
    told.send({**result, "seconds": time.monotonic() - began})
    told.close()
    signal.pause()  # whoever asked ends all that is left of us


def run(chosen: list[str], seed: int, seconds: dict[str, float], jobs: int) -> dict[str, dict[str, Any]]:
    """What each part came to, so many at a time."""
    results: dict[str, dict[str, Any]] = {}
    waiting, at_work = list(chosen), {}
    try:
        while waiting or at_work:
            while waiting and len(at_work) < jobs:
                part = Part(waiting[0], seed, seconds[waiting.pop(0)])
                at_work[part.answer] = part
            for answer in wait(list(at_work)):
                part = at_work.pop(answer)  # type: ignore[arg-type]
                results[part.name] = part.result()
                print("%s: done, %s" % (part.name, _verdict(results[part.name])), file=sys.stderr)
    finally:
        for part in at_work.values():
            part.close()
    return results


def _verdict(result: dict[str, Any]) -> str:
    if result["problems"]:
        return "%d problems" % len(result["problems"])
    return "no problem" if any(result["counts"].values()) else "nothing tried"


def table(results: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["| part | what was done | came to | minutes |", "| --- | --- | --- | --- |"]
    for part, result in results.items():
        done = ", ".join("%s %s" % (name, _number(value)) for name, value in result["counts"].items())
        lines.append("| %s: %s | %s | %s | %.1f |" % (
            part, PARTS[part][2], done, _verdict(result), result["seconds"] / 60))  # fmt: skip
    slowest: dict[str, float] = {}
    for result in results.values():
        for name, seconds in result["slowest"].items():
            slowest[name] = max(slowest.get(name, 0.0), seconds)
    ranked = sorted(slowest.items(), key=lambda item: -item[1])
    return [*lines, "", "Slowest: " + ", ".join("%s %.2f s" % pair for pair in ranked[:7])]


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "%.3g" % value if isinstance(value, float) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=1, help="-N goes through the points of N from the other end")
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    parser.add_argument("--jobs", type=int, default=2, help="parts at a time")
    parser.add_argument("--report", help="write the table here too")
    options = parser.parse_args()
    chosen = [part for part in PARTS if part in options.only.split(",")]
    if not chosen:
        parser.error("--only takes some of " + ", ".join(PARTS))
    share = options.minutes * 60 * min(options.jobs, len(chosen)) / sum(PARTS[part][3] for part in chosen)
    head = "Python %s on %s, seed %d" % (platform.python_version(), platform.system(), options.seed)
    try:
        results = run(chosen, options.seed, {part: share * PARTS[part][3] for part in chosen}, options.jobs)
    except KeyboardInterrupt:
        print("interrupted: nothing is left behind, and nothing is proved", file=sys.stderr)
        return 130
    report = "\n".join([head, "", *table({part: results[part] for part in chosen})]) + "\n"
    print(report, end="")
    if options.report:
        Path(options.report).write_text(report, "utf-8")
    problems = [problem for part in chosen for problem in results[part]["problems"]]
    for problem in problems[:_SHOWN]:
        print("- " + problem)
    is_tried = all(any(results[part]["counts"].values()) for part in chosen)
    return 1 if problems or not is_tried else 0


if __name__ == "__main__":
    raise SystemExit(main())
