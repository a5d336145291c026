#!/usr/bin/env python3
"""The guard on many random and mutated tool calls: exits 1 on an exception, a hasty pass or a slow verdict.

    python3 bench/guard_fuzz.py [--count 100000] [--seed 1] [--limit-ms 50]

A verdict's CPU time is taken in this process, with the garbage collector off as in the hook; where it is long, the
best of three counts, divided by how much slower than usual this machine is just then. Four in five calls are
commands, the others of all tools.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import traceback
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, Iterator

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent / "lib")]

import guard_fuzzer as fuzzer  # noqa: E402

SHOWN = 5
CHUNK = 1_000  # verdicts between two collections of garbage


def calls(seed: int) -> Iterator[tuple[str, Any]]:
    commands, others = fuzzer.commands(seed), fuzzer.tool_calls(seed + 1)
    while True:
        for command in islice(commands, 4):
            yield "Bash", {"command": command}
        yield next(others)


class Report:
    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.taken: list[float] = []
        self.slowest: list[tuple[float, str]] = []
        self.tiers: Counter[str] = Counter()
        self.hasty: list[str] = []
        self.raised: list[str] = []

    def take(self, tool: str, given: Any) -> None:
        about = repr(given)
        try:
            tier = fuzzer.verdict(tool, given)
            taken = fuzzer.seconds(tool, given)
            if tool == "Bash" and isinstance(given, dict) and fuzzer.is_hasty(given.get("command")):
                self.hasty.append(about)
        except Exception:  # noqa: BLE001  (that is what is looked for)
            self.raised.append("%s %s\n%s" % (tool, about[:300], traceback.format_exc(limit=-2)))
            return
        self.tiers[tier or "silent"] += 1
        self.taken.append(taken)
        self.slowest = sorted([*self.slowest, (taken, "%s %s" % (tool, about))], reverse=True)[:SHOWN]

    def show(self, seed: int, spent: float) -> int:
        ranked = sorted(self.taken)
        slow = sum(1 for taken in ranked if taken > self.limit)
        tiers = ", ".join("%s %d" % pair for pair in self.tiers.most_common())
        head = (platform.python_version(), seed, len(ranked), spent, tiers)
        print("Python %s, seed %d: %d calls in %.0f s (%s)" % head)
        at = [ranked[min(len(ranked) - 1, int(len(ranked) * share))] * 1000 for share in (0.5, 0.99, 0.999, 1)]
        print("CPU ms: median %.3f, 99 %% %.2f, 99.9 %% %.2f, worst %.1f" % tuple(at))
        for taken, about in self.slowest:
            more = "… %d characters" % len(about) if about[100:] else ""
            print("  %6.1f ms  %s%s" % (taken * 1000, about[:100], more))
        for about in self.raised[:SHOWN] + ["passed at a glance: " + each for each in self.hasty[:SHOWN]]:
            print(about)
        print("%d exceptions, %d hasty, %d over %.0f ms" % (len(self.raised), len(self.hasty), slow, self.limit * 1000))
        return 1 if self.raised or self.hasty or slow else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-ms", type=float, default=50.0)
    options = parser.parse_args()
    report = Report(options.limit_ms / 1000)
    for tool, given in fuzzer.TOOLS + [("Bash", {"command": command}) for command in fuzzer.COMMANDS]:
        fuzzer.verdict(tool, given)  # whatever is loaded late is loaded now
    began = time.monotonic()
    source = calls(options.seed)
    for start in range(0, options.count, CHUNK):
        with fuzzer.Uncollected():
            for tool, given in islice(source, min(CHUNK, options.count - start)):
                report.take(tool, given)
    return report.show(options.seed, time.monotonic() - began)


if __name__ == "__main__":
    raise SystemExit(main())
