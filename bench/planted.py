#!/usr/bin/env python3
"""Every path of a full memory replaced, one at a time, by every kind of thing that is not ours.

    python3 bench/planted.py [--seed 1] [--minutes 5]

After each, all hooks and all verbs are run: nothing outside may be changed, nothing of it told, nothing may hang.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / place) for place in ("tests", "lib")]

import planting  # noqa: E402
import support  # noqa: E402

KINDS = {kind.__name__: kind for kind in (planting.link, planting.dangling, planting.hard_link, planting.pipe)}
KINDS.update({kind.__name__: kind for kind in (planting.folder, planting.device, planting.file)})
FOR_FOLDERS = ("link", "dangling", "file")


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    counts = {"things planted": 0}
    problems: list[str] = []
    with support.forked_hooks():
        field = planting.Field(directory)
        for kind, place in cases(field, random.Random(seed)):
            if time.monotonic() >= ends:
                break
            problem = trial(field, kind, place)
            problems += ["%s at %s: %s" % (kind, place, problem)] if problem else []
            counts["things planted"] += 1
    return {"counts": counts, "problems": problems, "slowest": {}}


def cases(field: planting.Field, chance: random.Random) -> list[Any]:
    """Kind and path, in any order."""
    root = field.memory.root
    found = [path for top in (root, field.memory.repo / ".claude") for path in sorted(top.rglob("*"))]
    made = [
        (kind, path.relative_to(field.top))
        for path in found
        for kind in KINDS
        if (kind in FOR_FOLDERS if path.is_dir() else kind != "file")
    ]
    chance.shuffle(made)
    return made


def trial(field: planting.Field, kind: str, place: Path) -> str:
    memory = field.reset()
    KINDS[kind](field.top / place, field.outside)
    before = planting.state(field.outside)
    try:
        planting.use_all(memory)
    except (AssertionError, OSError, ValueError) as error:
        return "%s: %s" % (type(error).__name__, str(error)[:500])
    after = planting.state(field.outside)
    return "" if after == before else "changed outside: %s" % sorted(set(after.items()) ^ set(before.items()))[:3]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-planted-"))
    try:
        report = campaign(directory, options.seed, time.monotonic() + options.minutes * 60)
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)
    print("\n".join("%d %s" % (number, what) for what, number in report["counts"].items()))
    print("\n".join(report["problems"]) or "nothing wrong")
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
