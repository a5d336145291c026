#!/usr/bin/env python3
"""Generated payloads, transcripts, checkpoints, records, notes, rules, settings and git files, by the hundred thousand.

    python3 bench/fuzz.py [--count 100000] [--seed 1] [--minutes M] [--only KIND:NUMBER]

Each is run through the real hooks, forked and watched; what must be true is in tests/fuzzing.py. A problem is printed
with its seed, kind and number, and `--only` runs that one again and shows it. Exits 1 when there was a problem.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any, Callable

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent / "lib")]

from fuzzing import SHARES, Fuzzer, cases  # noqa: E402
from fuzzworld import Indoors, Runner, World  # noqa: E402

PROGRESS_EVERY = 5_000
COUNT = 100_000
SHOWN_CHARS = 3_000


def campaign(
    directory: Path,
    seed: int,
    ends: float,
    count: int = COUNT,
    say: Callable[[str], None] = lambda line: None,
    runner: type[Runner] = Runner,
) -> dict[str, Any]:
    """At most `count` cases, until `ends` on the monotonic clock; `say` is told of progress and problems at once."""
    here = runner()
    try:
        return _campaign(Fuzzer(World(directory, here), seed), ends, count, say)
    finally:
        here.close()


def _campaign(fuzzer: Fuzzer, ends: float, count: int, say: Callable[[str], None]) -> dict[str, Any]:
    problems: list[str] = []
    began = time.monotonic()
    for number, (kind, at) in enumerate(islice(cases(fuzzer.seed), count), 1):
        for problem in fuzzer.run(kind, at):
            problems.append(problem)
            say(problem)
        if number % PROGRESS_EVERY == 0:
            spent = time.monotonic() - began
            say("%d cases, %.1f ms each, %d problems" % (number, spent / number * 1000, len(problems)))
        if time.monotonic() > ends:
            break
    counts = {"cases": sum(fuzzer.counts.values()) - fuzzer.counts["hook runs"], **fuzzer.counts}
    counts["kilobytes of memory added at most"] = fuzzer.most_bytes >> 10
    return {"counts": counts, "problems": problems, "slowest": fuzzer.slowest}


def replay(directory: Path, seed: int, name: str) -> list[str]:
    """One case, shown."""
    fuzzer = Fuzzer(World(directory, Runner()), seed)
    kind, _, number = name.partition(":")
    if kind != "settings":
        case = fuzzer.make(kind, int(number))
        for path, data in case.edits.items():
            print("%s\n%s\n" % (path, (data or b"").decode("utf-8", "backslashreplace")[:SHOWN_CHARS]))
        for run in case.runs:
            print("%s < %s" % (run.script, run.data.decode("utf-8", "backslashreplace")[:SHOWN_CHARS]))
    problems = fuzzer.run(kind, int(number))
    for outcome in fuzzer.outcomes:
        said = outcome.stdout.decode("utf-8", "backslashreplace")
        print("%s: exit %d, %.0f ms\n%s" % (outcome.script, outcome.code, outcome.seconds * 1000, said))
    return problems


def one_case(name: str) -> str:
    kind, _, number = name.partition(":")
    if kind not in SHARES or not number.isdecimal():
        raise argparse.ArgumentTypeError("%r is no KIND:NUMBER; kinds: %s" % (name, ", ".join(SHARES)))
    return name


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0.0, help="stop then (default: no limit)")
    parser.add_argument("--indoors", action="store_true", help="in this process: twice as quick, but unwatched")
    parser.add_argument("--only", metavar="KIND:NUMBER", type=one_case, help="run this one again and show it")
    options = parser.parse_args()
    memory = "/dev/shm"  # a tree that is written a million times
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-fuzz-", dir=memory if os.path.isdir(memory) else None))
    began = time.monotonic()
    try:
        if options.only:
            problems = replay(directory, options.seed, options.only)
            print("\n".join(problems))
        else:
            ends = began + options.minutes * 60 if options.minutes else float("inf")
            runner = Indoors if options.indoors else Runner
            report = campaign(directory, options.seed, ends, options.count, _say, runner)
            problems = report["problems"]
            print("Python %s, seed %d: %.0f s" % (platform.python_version(), options.seed, time.monotonic() - began))
            print(", ".join("%s %d" % pair for pair in report["counts"].items()))
            print("slowest: " + ", ".join("%s %.2f s" % pair for pair in sorted(report["slowest"].items())))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)
    print("%d problems" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
