"""Every hook and every writing command, killed and failing at every kind of point: a part of it on every run.

All points are tried by `bench/chaos.py`. Which ones are tried here differs by the version of Python, so that together
they see many.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Iterator

import pytest
import trials
from interposer import Plan
from operations import COMMANDS, HOOKS, Operation
from scene import Scene
from trials import Trial

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

DEATHS, FAULTS = 1, 1
TRIED = [*HOOKS, *COMMANDS[sys.version_info[1] % 2 :: 2]]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    scene = Scene(tmp_path_factory.mktemp("scene"))
    yield Trial(scene)
    scene.close()


def some(plans: Iterator[Plan], number: int) -> list[Plan]:
    """So many of them, spread over all."""
    known = list(plans)
    number = min(number, len(known))
    first = sys.version_info[1]
    return [known[(first + each * len(known) // number) % len(known)] for each in range(number)]


@pytest.mark.parametrize("operation", TRIED, ids=repr)
def test_a_death_leaves_the_old_or_the_new(trial: Trial, operation: Operation) -> None:
    tried = [trial.die(operation, plan) for plan in some(trials.deaths(trial, operation), DEATHS)]
    assert tried == [(True, [])] * len(tried)


@pytest.mark.parametrize("operation", TRIED, ids=repr)
def test_what_is_done_outlives_a_power_cut(trial: Trial, operation: Operation) -> None:
    assert trial.die(operation, trials.last_cut(trial, operation)) == (True, [])


@pytest.mark.parametrize("operation", TRIED, ids=repr)
def test_a_fault_is_borne(trial: Trial, operation: Operation) -> None:
    tried = [trial.fail(operation, plan) for plan in some(trials.faults(trial, operation), FAULTS)]
    assert tried == [(True, [])] * len(tried)


def test_a_checkpoint_that_could_not_be_taken_stays_known_as_ones_own(trial: Trial) -> None:
    (stop,) = [operation for operation in HOOKS if operation.name == "stop"]
    plan = Plan(errno.EIO, 1)
    plan.kinds = ("rename",)  # by which it is claimed
    assert trial.fail(stop, plan) == (True, [])


def test_the_views_are_whole_afterwards(trial: Trial) -> None:
    for operation in TRIED[::6]:
        (plan,) = some(trials.deaths(trial, operation), 1)
        assert trial.die(operation, plan) == (True, [])
        assert trial.complaints(plan) == [], operation
