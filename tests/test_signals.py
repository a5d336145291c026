"""Ratings of skills: one a line, summarised, and shown to the skill when they are poor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commandline import World
from life import Life

LOG = Path("LEARNING", "SIGNALS", "ratings.jsonl")


def lines(world: World) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (world.project / LOG).read_text("utf-8").splitlines()]


def test_a_rating_has_the_fields_of_the_log(world: World) -> None:
    env = {"CLAUDE_CODE_SESSION_ID": "a1b2c3d4-0000-4000-8000-000000000000"}
    assert world.memory("rate", "/CodeReview", "4", "--note", "Caught the race condition", env=env).code == 0
    (rating,) = lines(world)
    assert list(rating)[:6] == ["session_id", "date", "skill", "rating", "signal", "note"]
    assert (rating["session_id"], rating["skill"], rating["rating"]) == ("a1b2c3d4", "codereview", 4)
    assert (rating["signal"], rating["note"]) == ("positive", "Caught the race condition")


def test_the_signal_follows_the_rating(world: World) -> None:
    signals = [world.json("rate", "melt", rating)["signal"][:3] for rating in "12345"]
    assert signals == ["neg", "neg", "neu", "pos", "pos"]


def test_a_checkpoint_with_a_skill_may_rate_it(world: World, life: Life) -> None:
    life.start()
    life.prompt("/melt the totals")
    words = ("--done", "Totals melted", "--skill", "melt", "--rating", "2", "--session", life.session.id)
    assert world.memory("checkpoint", *words).code == 0
    (rating,) = lines(world)
    assert (rating["skill"], rating["rating"], rating["note"]) == ("melt", 2, "Totals melted")
    assert rating["session_id"] == life.session.id[:8]
    assert world.memory("checkpoint", "--done", "No skill", "--rating", "2", "--session", life.session.id).code == 0
    assert len(lines(world)) == 1


def test_stats_show_the_means_and_the_newest_note(world: World) -> None:
    for rating in (1, 2, 5, 5):
        world.memory("rate", "melt", str(rating), "--note", "note %d" % rating)
    world.memory("rate", "heavy", "3")
    skills = world.json("stats")["skills"]
    assert list(skills) == ["heavy", "melt"]
    assert skills["melt"] == {"ratings": 4, "mean": 3.25, "recent": 3.25, "note": "note 5"}
    assert "melt: ratings 4, mean 3.25" in world.memory("stats").stdout


def test_damaged_lines_are_skipped(world: World) -> None:
    world.memory("rate", "melt", "4")
    with (world.project / LOG).open("ab") as file:
        file.write(b'{"skill": "melt", "rating": "x"}\nnonsense\n{"skill": "melt", "rating": 2}\n')
    assert world.json("stats")["skills"]["melt"]["ratings"] == 2


def test_poor_recent_ratings_are_shown_when_the_skill_starts(world: World, life: Life) -> None:
    world.memory("rate", "melt", "1", "--note", "Missed the guest cart")
    world.memory("rate", "melt", "5", "--note", "Fine")
    for rating in (1, 1, 4, 4, 4, 4, 4):
        world.memory("rate", "heavy", str(rating), "--note", "Of another skill")
    life.start()
    context = life.prompt("/melt the totals").context
    assert "Rated poorly: 1 of 5 on " in context
    assert "Missed the guest cart" in context
    assert "Fine" not in context
    assert "Of another skill" not in context
    assert "Rated poorly" not in life.prompt("/heavy the totals").context
