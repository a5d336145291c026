"""A note with a trigger is injected when its command or path comes up, once a session."""

from __future__ import annotations

from typing import Any

import pytest
import support
from commandline import World
from life import Life
from test_notes import table

from harness_memory.guard import match


@pytest.fixture
def session(world: World) -> Life:
    flags = ("--trigger", "command: make deploy", "--trigger", "path: infra/**")
    assert world.memory("note", "add", "deploys", "Deploys freeze on Fridays", *flags).code == 0
    made = Life(world.home, world.repo)
    made.run("session_start", made.session.start())
    made.run("user_prompt_submit", made.session.prompt("hello there"))
    return made


def injected(life: Life, tool: str, given: dict[str, str], **more: Any) -> str:
    given = {key: value.replace("{repo}", str(life.session.cwd)) for key, value in given.items()}
    result = life.run("pre_tool_use", life.session.tool_call(tool, given, **more))
    return result.context if result.stdout else ""


@pytest.mark.parametrize(("tool", "given", "is_called_for"), table("calls.json"))
def test_a_note_is_injected_at_its_command_or_path(
    session: Life, tool: str, given: dict[str, str], is_called_for: bool
) -> None:
    text = injected(session, tool, given)
    assert ("Deploys freeze on Fridays" in text) is is_called_for
    assert ("show deploys" in text) is is_called_for


@pytest.mark.parametrize(("is_hit", "pattern", "path"), table("globs.json"))
def test_a_glob_fits_a_path_or_not(is_hit: bool, pattern: str, path: str) -> None:
    assert match.fits_path("/p/" + path, pattern, "/p") is is_hit


def test_a_note_is_injected_once_a_session_and_once_a_subagent(session: Life) -> None:
    call = {"command": "make deploy"}
    texts = [injected(session, "Bash", call, **more) for more in ({}, {}, {"agent_id": "a1"})]
    assert [bool(text) for text in texts] == [True, False, True]


def test_a_stopped_call_injects_nothing(session: Life) -> None:
    result = session.run("pre_tool_use", session.session.tool_call("Bash", {"command": "make deploy; rm -rf ~"}))
    assert result.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "additionalContext" not in result.json["hookSpecificOutput"]


def test_a_changed_trigger_is_noticed_at_once(world: World, session: Life) -> None:
    assert injected(session, "Bash", {"command": "make deploy"})
    world.memory("note", "add", "tests", "Tests need tox", "--trigger", "command: make test")
    assert "tox" in injected(session, "Bash", {"command": "make test"})
    world.memory("note", "remove", "deploys")
    assert injected(session, "Bash", {"command": "make deploy"}, agent_id="a1") == ""
    assert support.failures(world.root) == []


@pytest.fixture
def later(world: World) -> Life:
    """A session after one that changed a file and mended a command."""
    first = Life(world.home, world.repo)
    first.start()
    first.prompt("Round the totals")
    first.transcript.write(world.repo / "cart" / "totals.py").bash("make tset", "no rule", exit_code=2)
    first.transcript.bash("make test", "ok").text(
        "Totals are rounded once.\n\nWe decided to keep cents in totals.py because floats drift."
    )
    first.stop()
    first.end()
    second = Life(world.home, world.repo)
    second.start()
    second.prompt("hello there")
    return second


def test_an_edit_names_the_session_that_changed_the_file_once(later: Life) -> None:
    call = {"file_path": "{repo}/cart/totals.py", "old_string": "a", "new_string": "b"}
    text = injected(later, "Edit", call)
    assert ("last changed totals.py" in text, "because floats drift" in text) == (True, True)
    assert text.startswith("<harness-memory-")
    assert injected(later, "Edit", call) == ""
    assert injected(later, "Write", {"file_path": "{repo}/cart/other.py", "content": ""}) == ""


def test_a_command_that_failed_before_names_what_worked(later: Life) -> None:
    assert "this command failed before; `make test` worked" in injected(later, "Bash", {"command": "make  tset"})
    assert injected(later, "Bash", {"command": "make tset"}) == ""
    assert injected(later, "Bash", {"command": "make test"}) == ""
