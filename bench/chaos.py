#!/usr/bin/env python3
"""The long campaign: kills, faults, damage, load and fuzz over throw-away homes, with a seed and a time limit.

    python3 bench/chaos.py [--minutes 60] [--seed 1] [--only kills,fuzz] [--jobs 2] [--report FILE]

Run by the interpreter that is to be tested. Prints a table of what was done to the hooks and commands, what was lost,
and how long the slowest hook took; exit code 1 when anything was not as promised (RELIABILITY.md says what is). The
same seed does the same things in the same order; how far it gets depends on the time.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
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


def run(part: str, seed: int, seconds: float) -> dict[str, Any]:
    module, function, _, _ = PARTS[part]
    memory = Path("/dev/shm")
    directory = Path(tempfile.mkdtemp(prefix="harness-chaos-", dir=str(memory) if memory.is_dir() else None))
    os.environ["HOME"] = str(directory)
    os.fsync = lambda descriptor: None  # power cuts are acted out, not waited for
    began = time.monotonic()
    try:
        campaign = getattr(importlib.import_module(module), function)
        result: dict[str, Any] = campaign(directory, seed, began + seconds)
    except Exception:  # noqa: BLE001  (the campaign itself failed: that is a finding too)
        result = {"counts": {}, "problems": ["the part itself failed:\n" + traceback.format_exc()], "slowest": {}}
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)
    return {**result, "seconds": time.monotonic() - began}


def table(results: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["| part | what was done | problems | minutes |", "| --- | --- | --- | --- |"]
    for part, result in results.items():
        done = ", ".join("%s %s" % (name, _number(value)) for name, value in result["counts"].items())
        lines.append("| %s: %s | %s | %d | %.1f |" % (
            part, PARTS[part][2], done, len(result["problems"]), result["seconds"] / 60))  # fmt: skip
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
    results: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        pending = {pool.submit(run, part, options.seed, share * PARTS[part][3]): part for part in chosen}
        for done in as_completed(pending):
            results[pending[done]] = done.result()
            print("%s: done, %d problems" % (pending[done], len(done.result()["problems"])), file=sys.stderr)
    report = "\n".join([head, "", *table({part: results[part] for part in chosen})]) + "\n"
    print(report, end="")
    if options.report:
        Path(options.report).write_text(report, "utf-8")
    problems = [problem for part in chosen for problem in results[part]["problems"]]
    for problem in problems[:_SHOWN]:
        print("- " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
