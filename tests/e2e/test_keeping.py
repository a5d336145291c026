"""Memory that Claude keeps, with the real client: the skills as installed, no question asked, the next session told."""

from __future__ import annotations

import json
import os
import time

from fake_api import MAIN, bash, call, say
from world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

FACT = "Prices are kept in cents, as whole numbers"
PAGE = "# Shop\n\n- Totals are rounded once, at the very end; it's tax law.\n- Tests: make check"


def worked(world: World, prompt: str) -> str:
    """All that the tools answered in a session, none of them with a refusal."""
    results = world.api.requests(prompt, MAIN)[-1].tool_results()
    assert results
    assert not [result for result in results if result.get("is_error")], results
    return json.dumps(results, ensure_ascii=False)


def past(world: World, project: Path, ask: str) -> str:
    write = call("Write", file_path=str(project / "totals.py"), content="text\n")
    return world.run(project, ask, write, say("Totals are rounded once, at the very end.")).session


def test_consolidate_from_the_slash_to_the_next_session(world: World) -> None:
    project = world.project("consolidated-shop")
    session = past(world, project, "Correct the totals, for the briefing")
    words = world.command_line()
    prompt = "/harness-consolidate"
    steps = [
        bash(words + " briefing show; true"),
        bash(words + " consolidate"),
        bash(words + " lint"),
        bash("%s remember %s --topic prices --type project" % (words, json.dumps(FACT))),
        bash("%s briefing set <<'EOF'\n%s\nEOF" % (words, PAGE)),
        bash(words + " compact --dry-run"),
        bash(words + " consolidate --done"),
    ]
    # No tool is allowed but by the rules that install.py has set.
    world.run(project, prompt, *steps, say("The briefing is new."), tools=())
    told = worked(world, prompt)
    assert "Totals are rounded once" in told
    request = world.api.requests(prompt, MAIN)[0].text()
    assert "# Consolidate the memory of this project" in request
    assert words + " briefing set <<'EOF'" in request
    memory = world.memory(session)
    assert (memory / "briefing.md").read_text(encoding="utf-8") == PAGE + "\n"
    assert (memory / "STATE" / "consolidated.json").is_file()

    world.run(project, "What do you know of the shop now?", say("All of it."))
    block = world.api.requests("What do you know of the shop now?", MAIN)[0].text()
    assert "- Totals are rounded once, at the very end; it's tax law." in block
    assert "prices" in block.partition("## Notes")[2]
    assert world.failures() == []


def test_remember_asks_for_no_permission(world: World) -> None:
    project = world.project("remembering-shop")
    words = world.command_line()
    prompt = "Remember that prices are kept in cents"
    skill = call("Skill", skill="harness-remember", args="prices are kept in cents")
    fact = bash("%s remember %s" % (words, json.dumps(FACT)))
    world.run(project, prompt, skill, fact, say("It is kept."), tools=())
    assert "Noted in" in worked(world, prompt)
    assert words + ' remember "FACT"' in world.api.requests(prompt, MAIN)[1].text()

    world.run(project, "In what are prices kept?", bash(words + " search 'whole numbers'"), say("In cents."), tools=())
    assert FACT in worked(world, "In what are prices kept?")


def test_sessions_of_before_are_remembered_afterwards(world: World) -> None:
    project = world.project("earlier-shop")
    off = {"HARNESS_MEMORY": "off"}
    write = call("Write", file_path=str(project / "totals.py"), content="text\n")
    ask = "Correct the totals, long before"
    first = world.run(project, ask, write, say("Totals are rounded once, at the very end."), env=off).session
    time.sleep(1.1)  # a fork is told from its parent by the second
    other = call("Write", file_path=str(project / "tax.py"), content="text\n")
    again = "Try it per line, long before"
    fork = world.run(
        project, again, other, say("Per line it is right for tax."), resume=first, fork=True, env=off
    ).session
    assert not [path for path in world.records() if first in path.read_text(encoding="utf-8")]
    for name in (first, fork):
        (path,) = (world.home / ".claude" / "projects").glob("*/%s.jsonl" % name)
        os.utime(str(path), (1, time.time() - (7200 if name == first else 3600)))
    report = json.loads(world.python("harness", "memory", "backfill", "--json", cwd=project).stdout)
    assert report["made"] == 2, report
    one, two = world.episode(first), world.episode(fork)
    assert (one["asked"], one["files_changed"]) == ([ask], ["totals.py"])
    assert one["what_was_done"] == "Totals are rounded once, at the very end."
    assert (two["asked"], two["files_changed"]) == ([again], ["tax.py"])
    assert two["parent"] == one["id"]
    world.run(project, "What was done long before?", say("That."))
    assert "Totals are rounded once" in world.api.requests("What was done long before?", MAIN)[0].text()
    assert world.python("harness", "memory", "verify", cwd=project).returncode == 0
