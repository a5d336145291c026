"""What the model is given of earlier sessions and what it keeps, read from the requests of the real client."""

from __future__ import annotations

import json
from pathlib import Path

import support
from fake_api import COMPACTION, MAIN, SUBAGENT, after, bash, call, say, write
from world import World, blocks

MAX_UNITS, SUBAGENT_UNITS = 9500, 1600
OUTCOME = "Totals are rounded once, at the very end."
STEP = "Test the cart of a guest"
FACT = "Prices are kept in cents, as whole numbers"


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def recorded(world: World, project: Path, ask: str, outcome: str = OUTCOME) -> str:
    """A past session that left something open, made by the hooks alone; its id."""
    session = support.Session(project, world.home)
    transcript = session.transcript(branch="trunk").prompt(ask)
    task = transcript.tool_use("TaskCreate", {"subject": STEP})
    transcript.tool_result(task, "Task #1 created", result={"task": {"id": "1"}})
    transcript.write(project / "totals.py").text(outcome)
    for script, payload in (("session_start", session.start()), ("stop", session.stop(outcome))):
        support.run_hook(script, payload, home=world.home, env=session.environment())
    support.run_hook("session_end", session.end(), home=world.home, env=session.environment())
    assert world.status(session.id) == "COMPLETED"
    return session.id


def keep(world: World, project: Path, *words: str, stdin: str = "") -> None:
    result = world.python("harness", "memory", *words, cwd=project, stdin=stdin)
    assert result.returncode == 0, result.stdout


def results(world: World, prompt: str) -> str:
    """All that the tools answered to a prompt, none of them with a refusal."""
    found = world.api.requests(prompt, MAIN)[-1].tool_results()
    assert found
    assert not [result for result in found if result.get("is_error")], found
    return json.dumps(found, ensure_ascii=False)


def test_next_session_starts_knowing_and_can_read_more(world: World) -> None:
    project = world.project("shop")
    first = recorded(world, project, "Correct the totals of the shop")
    keep(world, project, "briefing", "set", stdin="- %s.\n" % FACT)
    prompt, show = "What is known of the shop?", bash("")

    def choose() -> None:
        (block,) = world.blocks(prompt)
        command = block.partition("Commands begin with `")[2].partition("`")[0] + " show " + first[:8]
        show.blocks[0]["input"]["command"] = command

    second = world.run(project, prompt, after(choose, show), say("I know what there is."), tools=()).session
    (block,) = world.blocks(prompt)
    assert OUTCOME in block
    assert STEP in block
    assert block.count(FACT) == 1
    assert units(block) <= MAX_UNITS
    assert world.receipt(second).count(block) == 1
    assert OUTCOME in results(world, prompt)
    recorded(world, project, "Correct the taxes", "Taxes are rounded up, as the law says.")
    world.run(project, "What news of the shop?", say("These."), resume=second)
    assert "Taxes are rounded up" in world.blocks("What news of the shop?")[-1]


def test_prompt_recalls_the_sentence_that_matters(world: World) -> None:
    project = world.project("recalling")
    for number in range(2):
        recorded(world, project, "Paint the door number %d" % number, "The door has a colour of its own now.")
    answer = "The gearbox jammed because the flywheel was mounted backwards."
    recorded(world, project, "Why does the gearbox jam?", answer)
    for number in range(3):
        recorded(world, project, "Sweep the yard, part %d" % number, "The yard is swept.")
    world.run(project, "The gearbox with the flywheel jams again", say("I see."))
    last = world.blocks("The gearbox with the flywheel jams again")[-1]
    assert answer in last


def test_second_session_knows_the_decision_the_leftover_and_the_rule(world: World) -> None:
    project = world.project("knowing")
    rule, choice = "From now on always use pnpm, never npm.", "We keep totals as integers because floats lose cents."
    left = "The guest cart still uses floats and has to be migrated."
    answer = "Totals are kept in cents now.\n\n%s\n\n## Still to do\n\n- %s\n" % (choice, left)
    world.run(project, rule + " Keep the totals in cents.", write(project / "totals.py"), say(answer))
    world.run(project, "Good morning, let us begin", say("Good morning."))
    block = world.blocks("Good morning, let us begin")[0]
    for text in (rule, choice, left, "Totals are kept in cents now."):
        assert block.count(text) == 1, (text, block)


def test_compaction_brings_the_state_back(world: World) -> None:
    project = world.project("filling")
    recorded(world, project, "Correct the totals before anything else")
    keep(world, project, "briefing", "set", stdin="- %s.\n" % FACT)
    ask, prompt = "Add vouchers, then fill up", "Where were we after compaction?"
    todo = call("TaskCreate", subject="Let vouchers expire", description="As it says")
    session = world.run(project, ask, todo, write(project / "vouchers.py"), say("Vouchers are there.")).session
    assert world.run(project, "/compact", resume=session).code == 0
    world.run(project, prompt, write(project / "after.py"), say("There."), resume=session)
    episode = world.episode(session)
    assert sorted(episode["files_changed"]) == ["after.py", "vouchers.py"]
    assert episode["asked"] == [ask, prompt]
    assert "The conversation in short" not in json.dumps(episode), "the client's own summary was nobody's request"
    assert "Decided: <what was decided" in world.api.requests(kind=COMPACTION)[-1].text()
    assert "vouchers are rows, because they expire one by one" in episode["decisions"]
    assert any(rule.endswith(": never round in the browser") for rule in episode["rules"])
    assert "the shop's clock is in UTC" in episode["learnings"]
    assert "print vouchers" in episode["what_remains"]
    block = world.blocks(prompt)[0]
    places = [block.find(text) for text in (ask, "Let vouchers expire", "vouchers.py", FACT, STEP)]
    assert -1 not in places
    assert places == sorted(places)
    assert world.receipt(session).count(block) == 1


def test_subagent_gets_a_small_slice(world: World) -> None:
    project = world.project("delegating")
    recorded(world, project, "Correct the totals before delegating")
    facts = [FACT, *("Fact %d about the shop, in a fair number of words 🛒." % number for number in range(70))]
    keep(world, project, "briefing", "set", stdin="".join("- %s\n" % fact for fact in facts))
    world.api.play("Count the carts in the yard", bash("ls"), say("There are 42."))
    task = call("Agent", description="Count", prompt="Count the carts in the yard", subagent_type="general-purpose")
    session = world.run(project, "Have the carts counted", task, say("They count."), say("They say 42.")).session
    for request in world.api.requests("Count the carts in the yard", SUBAGENT):
        (block,) = blocks(request)
        assert units(block) <= SUBAGENT_UNITS
        assert FACT in block
        assert OUTCOME not in block
    assert world.episode(session)["asked"] == ["Have the carts counted"]


def test_skill_brings_its_profile_once(world: World) -> None:
    project, profile = world.project("melting"), "- Never melt anything above 40 degrees."
    folder = project / ".claude" / "skills" / "melt"
    folder.mkdir(parents=True)
    text = "---\nname: melt\ndescription: Melt things\n---\nMelt this now: $ARGUMENTS\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    keep(world, project, "profile", "set", "melt", stdin=profile + "\n")
    world.api.play("Melt this now: the ice", say("Melted the ice in the pot."))
    session = world.run(project, "/melt the ice").session
    assert sum(profile in block for block in world.blocks("Melt this now: the ice")) == 1
    assert (world.episode(session)["skill_used"], world.episode(session)["asked"]) == ("melt", ["/melt the ice"])
    calls = [call("Skill", skill="melt", args=what) for what in ("the called ice", "the called snow")]
    session = world.run(project, "Melt what there is", *calls, say("Melted."), tools=("Skill",)).session
    requests = world.api.requests(kind=MAIN)[-3:]
    assert [sum(profile in block for block in blocks(request)) for request in requests] == [0, 1, 1]
    assert world.receipt(session).count(profile) == 1


def test_skills_keep_facts_and_the_briefing_without_permission(world: World) -> None:
    project = world.project("keeping")
    recorded(world, project, "Correct the totals, for the briefing")
    words = world.command_line()
    remember = "Remember that prices are kept in cents"
    skill = call("Skill", skill="harness-remember", args="prices are kept in cents")
    fact = bash("%s remember %s --topic prices" % (words, json.dumps(FACT)))
    world.run(project, remember, skill, fact, say("It is kept."), tools=())
    results(world, remember)
    page = "# Shop\n\n- Totals are rounded once; it's tax law.\n"
    steps = [
        bash(words + " consolidate"),
        bash("%s briefing set <<'EOF'\n%sEOF" % (words, page)),
        bash(words + " consolidate --done"),
    ]
    world.run(project, "/harness-consolidate", *steps, say("The briefing is new."), tools=())
    results(world, "/harness-consolidate")
    request = world.api.requests("/harness-consolidate", MAIN)[0].text()
    assert words + " briefing set <<'EOF'" in request
    world.run(project, "What do you know of the shop now?", say("All of it."))
    (block,) = world.blocks("What do you know of the shop now?")
    assert "it's tax law." in block
    assert "prices" in block


def test_no_hook_has_failed(world: World) -> None:
    assert world.failures() == []
