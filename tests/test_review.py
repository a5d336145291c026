"""`harness memory review` and `rules`: what waits for a person's word, and whether what they ruled holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life

RULE, LESSON = "never push to main without asking", "Totals are rounded once, at the end"
DECISION = "Kept orders in memory instead of on disk, because the queue is small."


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    made = World(home, repo)
    made.work(RULE, "Understood, I will ask.\n\n**Decision:** " + DECISION, ("a.py",))
    session = made.work("Correct the totals", "Corrected.", ("b.py",), end=False)
    learned = ("checkpoint", "--done", "Corrected the totals", "--learned", LESSON)
    assert made.memory(*learned, env=session.environment()).code == 0
    support.run_hook("session_end", session.end(), home=home, env=session.environment())
    return made


def waiting(world: World) -> dict[str, dict[str, Any]]:
    return {item["text"]: item for item in world.json("review")}


def test_what_waits_is_listed_with_its_source(world: World) -> None:
    items = waiting(world)
    assert [items[text]["kind"] for text in (RULE, DECISION, LESSON)] == ["rule", "decision", "lesson"]
    page = world.memory("review").stdout
    assert all(item["session"] in page and item["key"] in page for item in items.values())
    assert Life(world.home, world.repo).prompt("Did I say: never push to main without asking?").context.count(RULE) == 1


def test_what_is_accepted_becomes_a_note_whose_name_keeps_the_negation(world: World) -> None:
    for item in waiting(world).values():
        assert world.memory("review", "accept", item["key"]).code == 0
    notes = {note["facts"][0]: note for note in world.json("list", "--notes")}
    assert notes[RULE]["note"] == "project/never-push-main-without-asking"
    assert [notes[text]["type"] for text in (RULE, DECISION, LESSON)] == ["feedback", "decision", "project"]
    assert waiting(world) == {}
    head, _, tail = Life(world.home, world.repo).start().context.partition("## Notes")
    shown = head.partition("## Rules the user stated")[2].partition("\n\n")[0].split("\n- ")[1:]
    assert [line.partition("] ")[2] for line in shown] == ["never-push-main-without-asking: " + RULE]
    assert (RULE in tail, LESSON in tail) == (False, True)
    world.assert_sound()


def test_what_is_edited_is_noted_in_the_new_words(world: World) -> None:
    key = waiting(world)[RULE]["key"]
    assert world.memory("review", "edit", key, "Ask before a push to main", "--scope", "user").code == 0
    (note,) = world.json("list", "--notes")
    assert (note["scope"], note["facts"]) == ("user", ["Ask before a push to main"])
    assert RULE not in waiting(world)


def test_what_is_rejected_is_never_offered_again(world: World) -> None:
    assert world.memory("review", "reject", "--all").code == 0
    world.work(RULE.upper() + "!", "Understood, I will ask.", ("a.py",))
    assert waiting(world) == {}
    assert "Nothing waits." in world.memory("review").stdout
    context = Life(world.home, world.repo).start().context
    assert not [title for title in ("Rules the user stated", "Decided or learned") if title in context]
    world.assert_sound()


def test_a_start_says_once_a_day_how_much_waits_where_a_person_sees_it(world: World) -> None:
    def message(is_attended: bool) -> str:
        life = Life(world.home, world.repo)
        life.extra = life.session.environment(interactive=is_attended)
        return str(life.start().json.get("systemMessage", ""))

    messages = [message(is_attended) for is_attended in (False, True, True)]
    assert ["wait for your word: harness memory review" in each for each in messages] == [False, True, False]


def test_rules_lists_what_became_of_each_and_what_had_to_be_said_again(world: World) -> None:
    words = ("--enforce", "deny", "--when", "command: npm install*", "--topic", "no npm")
    assert world.memory("remember", "Never install with npm, use pnpm", *words).code == 0
    life = Life(world.home, world.repo)
    life.start()
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "npm i left-pad"}))
    (rule,) = world.json("rules")
    assert (rule["binds"], rule["stopped"], rule["recurred"], rule["last"] > "") == ("deny", 1, 0, True)
    path = world.project / "LEARNING" / "topics" / "no-npm.md"
    lines = path.read_text("utf-8").split("\n")
    path.write_text("\n".join(line for line in lines if line[:8] not in ("created:", "verified")), "utf-8")  # long ago
    world.work("I said never install with npm, use pnpm", "Sorry, pnpm it is.", ("c.py",))
    assert [rule["recurred"] for rule in world.json("rules")] == [1]
    page = world.memory("rules").stdout
    assert "newest last: ▁▁▁▁▁▁▁▁▁▁▁█" in page
    assert "not reviewed: 1 rule." in page
    assert world.json("stats")["rules"] == {"held": 1, "followed": 0, "stopped": 1, "overridden": 0, "recurred": 1}
