"""Kill and fail every writer at some of its file operations; `bench/chaos.py` tries all of them."""

from __future__ import annotations

import os
import random
import sys
from typing import Iterator

import pytest
from crash import WRITERS, Scene, Trial, Writer
from interposer import FAULTS, KILL, LASTING, Plan

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
SEED = sys.version_info[1]  # each Python tries other points
KILLS = 2


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    scene = Scene(tmp_path_factory.mktemp("scene"))
    yield Trial(scene)
    scene.close()


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_a_kill_leaves_the_old_or_the_new(trial: Trial, writer: Writer) -> None:
    points = range(1, trial.points(writer, KILL) + 1)
    chance = random.Random("%d %s" % (SEED, writer.name))
    for number in chance.sample(points, min(KILLS, len(points))):
        found = trial.run(writer, Plan(KILL, number))
        assert not found, "\n".join(found)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_a_failing_operation_loses_nothing(trial: Trial, writer: Writer) -> None:
    chance = random.Random("%d %s" % (SEED, writer.name))
    fault = chance.choice([code for code in FAULTS if trial.points(writer, code)] or [0])
    if fault:
        plan = Plan(fault, chance.randint(1, trial.points(writer, fault)), stays=fault in LASTING)
        found = trial.run(writer, plan)
        assert not found, "\n".join(found)


def test_what_was_written_is_synced_before_it_replaces_the_old(trial: Trial) -> None:
    """A power cut must not leave an empty file under a name that had content; what can be repeated may be lost."""
    for writer in (writer for writer in WRITERS if writer.name not in ("backfill --all", "restore --all")):
        written: set[str] = set()
        for name, path in trial.undisturbed(writer)[1].operations:
            if name == "write":
                written.add(path)
            elif name == "fsync":
                written.discard(path)
            elif name == "os.rename" and any(part in path for part in ("/episodes/", "briefing", "/topics/")):
                assert path not in written, (writer, path)
