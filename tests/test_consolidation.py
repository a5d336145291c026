"""When a new briefing is due, and from what it is made."""

from __future__ import annotations

import json
import os
import time

import support
from commandline import World


def worked(world: World, needed: int) -> World:
    """A memory of one session, and how many it takes."""
    world.work("Correct the totals", "Totals are rounded once, at the end.", ("totals.py",))
    chosen = {"consolidate_after_episodes": needed, "start_line": "off"}
    (world.root / "config.json").write_text(json.dumps(chosen), "utf-8")
    os.chmod(str(world.root / "config.json"), 0o600)
    return world


def message(world: World, source: str = "startup") -> str:
    session = support.Session(world.repo, world.home)
    result = support.run_hook("session_start", session.start(source), home=world.home)
    return str((json.loads(result.stdout) if result.stdout.strip() else {}).get("systemMessage", ""))


def test_a_start_says_in_one_line_once_a_day_that_it_is_due(world: World) -> None:
    worked(world, 1)
    assert message(world, "compact") == ""
    assert message(world).startswith("Harness Memory: 1 session and no consolidation yet. /harness-consolidate")
    assert message(world) == ""
    os.utime(world.project / "STATE" / "consolidation-told", (1, time.time() - 86500))
    assert "/harness-consolidate" in message(world)


def test_a_start_says_nothing_before_there_is_enough_or_after_it_was_done(world: World) -> None:
    worked(world, 2)
    assert message(world) == ""
    worked(world, 1)
    assert world.memory("consolidate", "--done").code == 0
    assert message(world) == ""


def test_consolidate_shows_what_is_new(world: World) -> None:
    worked(world, 1)
    first = world.json("consolidate")
    assert (first["last"], first["new"]) == (None, 1)
    assert first["sessions"][0]["what_was_done"] == "Totals are rounded once, at the end."
    shown = world.memory("consolidate").stdout
    assert all(text in shown for text in ("Correct the totals", "Totals are rounded once", "totals.py"))
    world.memory("consolidate", "--done")
    (episode,) = (world.project / "episodes").iterdir()
    os.utime(str(episode), (1, time.time() - 60))
    assert world.json("consolidate")["new"] == 0
    os.utime(str(episode), (1, time.time() + 60))  # the session went on
    assert world.json("consolidate")["new"] == 1
