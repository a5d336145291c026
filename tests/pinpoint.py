"""One passing fault, at each operation on one file in turn: of a command, or of a hook."""

from __future__ import annotations

import errno
import itertools
import shutil
from pathlib import Path
from typing import Any, Callable, Iterator

import interposer
import support
from commandline import World
from interposer import Outcome, Plan
from life import Life

from harness_memory import cli

LOOKS = ("open", "stat", "lstat", "listdir", "scandir")


def command(world: World, plan: Plan, *words: str) -> Outcome:
    env = support.clean_environment(world.home)
    return interposer.run(lambda: cli.main(["memory", *words]), plan, stdin=b"", env=env, cwd=str(world.repo))


def hook(life: Life, plan: Plan, script: str, payload: dict[str, Any]) -> Outcome:
    path = support.HOOKS / (script + ".py")
    code = compile(path.read_bytes(), script, "exec")
    names = {"__name__": "__main__", "__file__": str(path)}
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    outcome = interposer.run(
        lambda: exec(code, names), plan, stdin=support.encode(payload), env=env, cwd=payload["cwd"]
    )
    assert outcome.is_killed or (outcome.code, outcome.stderr) == (0, ""), outcome
    return outcome


def everywhere(store: Path, on: str, run: Callable[[Plan], Outcome]) -> Iterator[Outcome]:
    """`run` with a fault at each look at what ends with `on`, each time in the store as it was first."""
    saved = store.with_name("saved")
    shutil.copytree(str(store), str(saved))
    for number in itertools.count(1):
        plan = Plan(errno.EIO, number, on=on)
        plan.kinds = LOOKS
        outcome = run(plan)
        is_met = sum(name in LOOKS and what.endswith(on) for name, what in outcome.operations) >= number
        if is_met:
            yield outcome
        shutil.rmtree(str(store))
        shutil.copytree(str(saved), str(store))
        if not is_met:
            break
    shutil.rmtree(str(saved))
    assert number > 1, "nobody looks at %s" % on
