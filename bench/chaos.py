#!/usr/bin/env python3
"""The long campaign over throw-away homes: kills, faults, damage, storms, load, fuzz, with a seed and a time limit.

    python3 bench/chaos.py [--minutes 60] [--seed 1] [--only kills,fuzz]

Runs with the interpreter to be tested. Prints a table of what was done and each problem; exits 1 when there is a
problem or a part had no time to try anything. The same seed takes things in the same order.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests"), str(ROOT / "lib")]

import audit_storm  # noqa: E402
import damage  # noqa: E402
import fuzz  # noqa: E402
import load  # noqa: E402
import storm  # noqa: E402
from crash import WRITERS, Scene, Trial  # noqa: E402
from interposer import FAULTS, KILL, LASTING, Plan  # noqa: E402

SHOWN = 40  # problems that are printed


def points(acts: tuple[int, ...]) -> Callable[[Path, int, float], dict[str, Any]]:
    """Every writer at every operation where it can be killed or meet one of these faults, in random order."""

    def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
        counts = {"points": 0, "of": 0}
        problems: list[str] = []
        scene = Scene(directory / "scene")
        trial = Trial(scene)
        try:
            plans = [
                (writer, Plan(act, number, stays=act in LASTING))
                for writer in WRITERS
                for act in acts
                for number in range(1, trial.points(writer, act) + 1)
            ]
            random.Random(seed).shuffle(plans)
            counts["of"] = len(plans)
            for writer, plan in plans:
                if time.monotonic() > ends:
                    break
                problems += trial.run(writer, plan)
                counts["points"] += 1
        finally:
            scene.close()
        return {"counts": counts, "problems": problems}

    return campaign


# What each part is, and its share of the time.
PARTS: dict[str, tuple[Callable[[Path, int, float], dict[str, Any]], str, float]] = {
    "kills": (points((KILL,)), "every writer killed before each change of a file", 20),
    "faults": (points(tuple(FAULTS)), "file operations fail, in six ways", 25),
    "damage": (damage.campaign, "files emptied, cut, garbled, enormous", 15),
    "storm": (storm.campaign, "hooks of 20 sessions at once, a third killed", 5),
    "audit": (audit_storm.campaign, "32 writers of one trail, a quarter killed", 5),
    "load": (load.campaign, "50 sessions in a project and 50 projects", 20),
    "fuzz": (fuzz.campaign, "generated and mutated input of every kind", 15),
}


def run(part: str, seed: int, seconds: float) -> dict[str, Any]:
    memory = "/dev/shm"
    directory = Path(tempfile.mkdtemp(prefix="harness-chaos-", dir=memory if os.path.isdir(memory) else None))
    try:
        return PARTS[part][0](directory, seed, time.monotonic() + seconds)
    except Exception:  # noqa: BLE001  (a part that fails is a finding too)
        return {"counts": {}, "problems": ["the part itself failed:\n" + traceback.format_exc()]}
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="for all parts together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(PARTS), help="of " + ", ".join(PARTS))
    options = parser.parse_args()
    parts = [part for part in PARTS if part in options.only.split(",")]
    if not parts:
        parser.error("--only takes some of " + ", ".join(PARTS))
    os.fsync = lambda descriptor: None  # nothing here cuts the power
    total = sum(PARTS[part][2] for part in parts)
    results = {}
    for part in parts:
        results[part] = run(part, options.seed, options.minutes * 60 * PARTS[part][2] / total)
        print("%s: %d problems" % (part, len(results[part]["problems"])), file=sys.stderr, flush=True)
    print("Python %s on %s, seed %d\n" % (platform.python_version(), platform.system(), options.seed))
    print("| part | what was done | counts | problems |\n| --- | --- | --- | --- |")
    for part, result in results.items():
        counts = ", ".join("%s %s" % item for item in result["counts"].items())
        print("| %s | %s | %s | %d |" % (part, PARTS[part][1], counts, len(result["problems"])))
    problems = [problem for result in results.values() for problem in result["problems"]]
    print("".join("- %s\n" % problem for problem in problems[:SHOWN]), end="")
    return 1 if problems or not all(any(result["counts"].values()) for result in results.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
