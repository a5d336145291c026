#!/usr/bin/env python3
"""Deaths and faults at every file operation of every hook and every writing command (see tests/trials.py).

    python3 bench/points.py kills|moments|faults|calls [WORDS]

Run by itself it tries the points whose description holds the words, as "stop, power cut at 7"; without, it lists them.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import support
import trials
from interposer import KILL, Outcome, Plan
from operations import ALL, HOOKS, HookRun, Operation
from scene import Scene
from trials import Trial

Points = Callable[[Trial, Operation], Iterator[Plan]]
Attempt = Callable[[Trial, Operation, Plan], Tuple[bool, List[str]]]
_VIEWS_EVERY = 10  # the product's own checks take as long as a trial
_TOLD_EVERY = 500
_CALL = re.compile(r"(?:\d+ +)?([a-z]\w*)\(")


def kills(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    """Wherever a death leaves something else on the disk: killed, killed in mid-write, without power."""
    return _campaign(directory, seed, ends, "kills", *KINDS["kills"])


def moments(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    """Before every file operation, those too that only look."""
    return _campaign(directory, seed, ends, "kills before any file operation", *KINDS["moments"])


def faults(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    return _campaign(directory, seed, ends, "faults", *KINDS["faults"])


def system_calls(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    """Hooks as processes of their own, killed by strace at a system call that has to do with files."""
    if not shutil.which("strace"):
        return {"counts": {"skipped, without strace": 1}, "problems": [], "slowest": {}}
    return _campaign(directory, seed, ends, "kills at system calls", *KINDS["calls"])


def _campaign(
    directory: Path, seed: int, ends: float, what: str, points: Points, attempt: Attempt, of: list[Operation]
) -> dict[str, Any]:
    """All points, in an order of chance: a campaign that is cut short has seen some of everything."""
    counts: Counter[str] = Counter({what: 0})
    problems: list[str] = []
    with support.forked_hooks():
        scene = Scene(directory / "scene")
        try:
            trial = Trial(scene)
            planned = [(operation, plan) for operation in of for plan in points(trial, operation)]
            # By each for itself: whether there is one more or less, the others keep their order.
            planned.sort(key=lambda point: random.Random("%d %s" % (abs(seed), described(*point))).random())
            planned = planned[::-1] if seed < 0 else planned
            for number, (operation, plan) in enumerate(planned):
                if number % _TOLD_EVERY == 0:
                    print("%s: %d of %d" % (what, number, len(planned)), file=sys.stderr, flush=True)
                if time.monotonic() >= ends:
                    break
                was_met, found = attempt(trial, operation, plan)
                counts[what] += was_met
                if counts[what] % _VIEWS_EVERY == 0:
                    found += ["%s: %s" % (described(operation, plan), each) for each in trial.complaints(plan)]
                    counts["checked by verify and rebuild too"] += 1
                for problem in found:
                    print(problem, file=sys.stderr, flush=True)  # nobody waits an hour for what is known now
                problems += found
        finally:
            scene.close()
    tried = {"%s (of %s possible)" % (what, format(len(planned), ",")): counts.pop(what)}
    return {"counts": {**tried, **counts}, "problems": problems, "slowest": trial.slowest}


def described(operation: Operation, plan: Plan) -> str:
    return "%s, %r" % (operation, plan)


def _every_moment(trial: Trial, operation: Operation) -> Iterator[Plan]:
    whole = trial.known(operation)[1]
    return (Plan(KILL, number) for number in range(1, len(whole.operations) + 1))


# With strace -----------------------------------------------------------------------------------------


def _every_system_call(trial: Trial, operation: Operation) -> Iterator[Plan]:
    """But for those of the interpreter's own start: nothing of ours has happened yet."""
    report = trial.scene.top / "trace"
    trial.scene.reset()
    _run_traced(trial.scene, operation, "-o", str(report))
    lines = report.read_text("utf-8", "replace").split("\n")
    report.unlink()
    is_ours = False
    counts: Counter[str] = Counter()
    for line in lines:
        is_ours = is_ours or "harness_memory" in line
        call = _CALL.match(line)
        if call:
            counts[call.group(1)] += 1
        if call and is_ours:
            yield Plan(KILL, counts[call.group(1)], on=call.group(1))


def _traced(trial: Trial, operation: Operation, plan: Plan) -> tuple[bool, list[str]]:
    inject = "inject=%s:signal=SIGKILL:when=%d" % (plan.on, plan.at)  # strace counts each kind of call by itself
    return trial.die(operation, plan, lambda: _run_traced(trial.scene, operation, "-e", inject, "-o", os.devnull))


def _run_traced(scene: Scene, operation: Operation, *options: str) -> Outcome:
    assert isinstance(operation, HookRun)
    life = scene.life(operation.session)
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=%file,%desc", *options, *support.hook_command(operation.script)],
        input=support.encode(operation.payload(life.session)),
        capture_output=True,
        env=support.clean_environment(scene.home, life.session.environment(pid=life.pid)),
        cwd=str(scene.repo),
        check=False,
    )
    code = -signal.SIGKILL if done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL) else done.returncode
    return Outcome(code, done.stdout.decode(), done.stderr.decode(), 0.0, [])


# By itself -------------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Points, Attempt, list[Operation]]] = {
    "kills": (trials.deaths, Trial.die, ALL),
    "moments": (_every_moment, Trial.die, ALL),
    "faults": (trials.faults, Trial.fail, ALL),
    "calls": (_every_system_call, _traced, [*HOOKS]),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("words", nargs="?", default="")
    options = parser.parse_args()
    points, attempt, of = KINDS[options.kind]
    problems = 0
    with tempfile.TemporaryDirectory() as directory, support.forked_hooks():
        scene = Scene(Path(directory) / "scene")
        trial = Trial(scene)
        for operation in of:
            for plan in points(trial, operation):
                if options.words not in described(operation, plan):
                    continue
                found = attempt(trial, operation, plan)[1] + trial.complaints(plan) if options.words else []
                problems += len(found)
                print(described(operation, plan), *found, sep="\n  ", flush=True)
        scene.close()
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
