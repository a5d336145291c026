"""Ratings of skills: kept one a line, summarised, and told to the skill when they are poor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.cli import ratings
from harness_memory.memory import ratings as signals


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def lines(world: World) -> list[dict[str, Any]]:
    text = (world.project / "LEARNING" / "SIGNALS" / "ratings.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_rating_has_the_fields_of_the_log(world: World) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": "a1b2c3d4-0000-4000-8000-000000000000"}
    assert world.memory("rate", "/CodeReview", "4", "--note", "Caught the race condition", env=env).code == 0
    (found,) = lines(world)
    assert list(found)[:6] == ["session_id", "date", "skill", "rating", "signal", "note"]
    assert (found["session_id"], found["skill"], found["rating"]) == ("a1b2c3d4", "codereview", 4)
    assert (found["signal"], found["note"]) == ("positive", "Caught the race condition")


@pytest.mark.parametrize(
    ("rating", "signal"), [(1, "negative"), (2, "negative"), (3, "neutral"), (4, "positive"), (5, "positive")]
)
def test_the_signal_follows_the_rating(rating: int, signal: str) -> None:
    assert signals.signal_of(rating) == signal


def test_unless_it_is_given(world: World) -> None:
    world.memory("rate", "melt", "5", "--signal", "neutral")
    assert lines(world)[0]["signal"] == "neutral"


@pytest.mark.parametrize(
    "words", [("melt",), ("melt", "6"), ("melt", "x"), ("../x", "3"), ("", "3"), ("ghp_" + "a1B2c3" * 6, "3")]
)
def test_what_is_no_rating(world: World, words: tuple[str, ...]) -> None:
    assert world.memory("rate", *words).code == 2
    assert not world.root.exists() or not list(world.root.rglob("ratings.jsonl"))


def test_a_checkpoint_may_rate_its_skill(world: World, life: Any) -> None:
    life.start()
    life.prompt("/melt the totals")
    words = ("--done", "Totals melted", "--skill", "melt", "--rating", "2", "--session", life.session.id)
    assert world.memory("checkpoint", *words).code == 0
    (found,) = lines(world)
    assert (found["skill"], found["rating"], found["note"]) == ("melt", 2, "Totals melted")
    assert found["session_id"] == life.session.id[:8]
    assert world.memory("checkpoint", "--done", "No skill", "--rating", "2", "--session", life.session.id).code == 0
    assert len(lines(world)) == 1


TRENDS = [
    ([], ""),
    ([5.0, 1.0, 5.0], ""),
    ([4.0, 4.0, 4.0, 4.0], "steady"),
    ([1.0, 1.0, 4.0, 5.0], "better"),
    ([5.0, 5.0, 5.0, 1.0, 1.0, 2.0, 1.0, 2.0], "worse"),
]


@pytest.mark.parametrize(("given", "trend"), TRENDS)
def test_trend(given: list[float], trend: str) -> None:
    assert signals.trend(given) == trend


def test_summary(world: World) -> None:
    for rating in (1, 2, 5, 5):
        world.memory("rate", "melt", str(rating), "--note", "note %d" % rating)
    world.memory("rate", "heavy", "3")
    heavy, melt = world.json("signals")
    assert (heavy["skill"], heavy["trend"]) == ("heavy", "")
    assert (melt["ratings"], melt["mean"], melt["trend"]) == ([1, 2, 5, 5], 3.25, "better")
    page = world.memory("signals", "melt").stdout
    assert "▁▃██" in page
    assert page.index("note 5") < page.index("note 1")
    assert world.memory("signals", "unrated").code == 2


def test_a_chart_for_any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        encoding = "cp850"

    monkeypatch.setattr("sys.stdout", Terminal())
    assert ratings.chart([1, 2, 3, 4, 5]) == "_.-=#"


def test_damaged_lines_are_left_out(world: World) -> None:
    world.memory("rate", "melt", "4")
    with (world.project / "LEARNING" / "SIGNALS" / "ratings.jsonl").open("ab") as file:
        file.write(b'{"skill": "melt", "rating": "x"}\nnonsense\n{"skill": "melt", "rating": 2}\n')
    assert world.json("signals")[0]["ratings"] == [4, 2]


class TestProfile:
    def test_poor_ratings_are_told_when_the_skill_starts(self, world: World, life: Any) -> None:
        world.memory("rate", "melt", "1", "--note", "Missed the guest cart")
        world.memory("rate", "melt", "5", "--note", "Fine")
        world.memory("rate", "heavy", "1", "--note", "Of another skill")
        life.start()
        told = life.prompt("/melt the totals").context
        assert "Rated poorly lately: 1 of 5 on " in told
        assert "Missed the guest cart" in told
        assert "Fine" not in told
        assert "Of another skill" not in told

    def test_old_ones_are_not(self, world: World, life: Any) -> None:
        for rating in (1, 1, 4, 4, 4, 4, 4):
            world.memory("rate", "melt", str(rating))
        life.start()
        assert "Rated poorly" not in life.prompt("/melt the totals").context


@pytest.mark.parametrize("is_held", [True, False])
def test_a_checkpoint_says_that_its_rating_was_not_recorded(world: World, is_held: bool) -> None:
    session = world.work("Melt the tin", "The tin is melted.")
    log = world.project / "LEARNING" / "SIGNALS" / "ratings.jsonl"
    log.parent.mkdir(parents=True)
    holder = support.hold_lock(log.with_name("ratings.jsonl.lock")) if is_held else None
    if not holder:
        log.mkdir()
    try:
        words = ("--session", session.id, "--done", "Melted it", "--skill", "melt", "--rating", "2")
        told = world.memory("checkpoint", *words)
    finally:
        if holder:
            holder.kill()
            holder.communicate()
    assert told.code == 2
    assert told.stdout.startswith("Recorded for session")
    assert "its rating was not" in told.stderr
    assert "harness memory rate melt 2" in told.stderr
    assert json.loads(world.episode(session).read_text("utf-8"))["what_was_done"] == "Melted it"
    assert not log.is_file()
