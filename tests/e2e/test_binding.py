"""What the real client does with rules that were stated, and with notes that bind."""

from __future__ import annotations

from pathlib import Path

from fake_api import MAIN, Request, bash, say, text_of, write
from world import World

RULE = "from now on, always use pnpm, not npm"


def keep(world: World, project: Path, *words: str) -> None:
    result = world.python("harness", "memory", *words, cwd=project)
    assert result.returncode == 0, result.stdout


def outcome(request: Request) -> str:
    result = request.tool_results()[-1]
    return ("error: " if result.get("is_error") else "") + text_of(result["content"])


def test_a_rule_stated_in_one_session_is_in_the_next_ones_request(world: World) -> None:
    project = world.project("stating")
    world.run(project, RULE, say("Understood, pnpm it is."))
    world.run(project, "What do you know?", say("A rule."))
    (block,) = world.blocks("What do you know?")
    assert '"%s"' % RULE in block.partition("## Rules the user stated")[2].partition("\n\n")[0]


def test_a_denying_note_stops_another_spelling_and_the_model_reads_the_note(world: World) -> None:
    project = world.project("denying")
    words = ("--enforce", "deny", "--when", "command: npm install*", "--topic", "no npm")
    keep(world, project, "remember", "We use pnpm, not npm", "Instead: pnpm add", *words)
    world.run(project, "Install left-pad", bash("cd . && sudo npm i left-pad"), say("I may not."))
    refused = outcome(world.api.requests("Install left-pad", MAIN)[-1])
    assert refused.startswith("error: PreToolUse:Bash hook error: Harness guard [note.no-npm]: `npm install left-pad`")
    assert 'is against the rule "We use pnpm, not npm". Instead: pnpm add' in refused


def test_ask_without_a_person_is_a_denial_with_the_reason(world: World) -> None:
    project = world.project("asking")
    keep(world, project, "remember", "Deploys need a second look", "--enforce", "ask", "--when", "command: make deploy")
    world.run(project, "Deploy it", bash("make deploy"), say("I may not."))
    refused = outcome(world.api.requests("Deploy it", MAIN)[-1])
    assert refused.startswith("error: ")
    assert "Deploys need a second look" in refused
    assert "No user can confirm it" in refused


def test_a_required_step_blocks_one_stop_and_is_done(world: World) -> None:
    project = world.project("stepping")
    (project / "Makefile").write_text("build:\n\ttouch built\n", encoding="utf-8")
    step = ("--after", "path: ui/**", "--require", "command: make build")
    keep(world, project, "remember", "Run make build after UI changes", *step)
    answers = (write(project / "ui" / "a.ts"), say("Changed."), bash("make build"), say("Built too."))
    ended = world.run(project, "Change the UI", *answers)
    assert (ended.code, ended.output.strip()) == (0, "Built too.")
    assert (project / "built").exists()
    feedback = world.api.requests("Change the UI", MAIN)[2].text()
    assert "Run make build after UI changes. Not done after the last change: make build" in feedback
    assert world.failures() == []
