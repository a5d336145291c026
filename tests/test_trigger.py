"""A note with a trigger is handed over when its command or path comes up, once a session."""

from __future__ import annotations

import time
from typing import Any

import pytest
import support
from commandline import World
from life import Life

from harness_memory.notes import triggers


@pytest.fixture
def world(home: Any, repo: Any) -> World:
    return World(home, repo)


@pytest.fixture
def session(world: World) -> Life:
    flags = ("--trigger", "command: make deploy", "--trigger", "path: infra/**")
    assert world.memory("note", "add", "deploys", "Deploys freeze on Fridays", *flags).code == 0
    made = Life(world.home, world.repo)
    made.run("session_start", made.session.start())
    made.run("user_prompt_submit", made.session.prompt("hello there"))
    return made


def told(life: Life, tool: str, given: dict[str, object], **more: Any) -> str:
    result = life.run("pre_tool_use", life.session.tool_call(tool, given, **more))
    return result.context if result.stdout else ""


@pytest.mark.parametrize(
    ("tool", "given", "is_called_for"),
    [
        ("Bash", {"command": "make deploy ENV=staging"}, True),
        ("Bash", {"command": "cd app && make deploy"}, True),
        ("Bash", {"command": "make test"}, False),
        ("Bash", {"command": "echo make deploy"}, False),
        ("Edit", {"file_path": "{repo}/infra/main.tf", "old_string": "a", "new_string": "b"}, True),
        ("Edit", {"file_path": "{repo}/src/main.py", "old_string": "a", "new_string": "b"}, False),
    ],
)
def test_its_moment(session: Life, tool: str, given: dict[str, str], is_called_for: bool) -> None:
    given = {key: value.replace("{repo}", str(session.session.cwd)) for key, value in given.items()}
    text = told(session, tool, given)
    assert ("Deploys freeze on Fridays" in text) is is_called_for
    assert ("show deploys" in text) is is_called_for


@pytest.mark.parametrize(
    ("pattern", "path", "is_hit"),
    [
        ("infra/**", "infra/a/b.tf", True),
        ("infra/**", "infra", True),
        ("infra/**", "src/infra/a.tf", False),
        ("**/x.py", "x.py", True),
        ("**/x.py", "a/b/x.py", True),
        ("**/x.py", "a/b/x.pyc", False),
        ("src/**/test_*.py", "src/a/b/test_one.py", True),
        ("src/**/test_*.py", "src/a/b/one.py", False),
        ("src/*.py", "src/a/b.py", False),
        ("**/a/**/b/**", "x/a/b/a/y/b/z", True),
        ("**/a/**/b/c", "a/b/c/b/d", False),
        ("**/a/b", "a/a/a/b", True),
        ("**", "anything/at/all", True),
        ("**/**/x.py", "x.py", True),
        ("a/b/c", "a/b", False),
        ("", "a", False),
        ("**/x.py", "", False),
    ],
)
def test_globs(pattern: str, path: str, is_hit: bool) -> None:
    assert triggers.fits(path.split("/") if path else [], pattern) is is_hit


@pytest.mark.parametrize("pattern", ["**/" * 200 + "x.py", "**/a/" * 200 + "x.py", "**/*a*a*a*b/" * 50 + "x.py"])
def test_no_glob_takes_long(world: World, pattern: str) -> None:
    assert world.memory("note", "add", "slow", "Never edited", "--trigger", "path: " + pattern).code == 0
    project = support.project_dirs(world.root)[0]
    began = time.process_time()
    assert triggers.match(str(world.root), str(project), path="a/" * 300 + "y.py") == []
    assert time.process_time() - began < 2


def test_a_long_command_is_split_once(world: World) -> None:
    flags = [word for number in range(40) for word in ("--trigger", "command: make %d" % number)]
    assert world.memory("note", "add", "deploys", "Deploys freeze on Fridays", *flags).code == 0
    project = str(support.project_dirs(world.root)[0])
    began = time.process_time()
    found = triggers.match(str(world.root), project, command="echo a b c;" * 20_000 + "make 39")
    assert time.process_time() - began < 2
    assert [each.pattern for each in found] == ["make 39"]


def test_once_a_session_and_once_a_subagent(session: Life) -> None:
    call = {"command": "make deploy"}
    texts = [told(session, "Bash", call), told(session, "Bash", call), told(session, "Bash", call, agent_id="a1")]
    assert [bool(text) for text in texts] == [True, False, True]


def test_what_is_stopped_is_no_moment(session: Life) -> None:
    result = session.run("pre_tool_use", session.session.tool_call("Bash", {"command": "make deploy; rm -rf ~"}))
    assert result.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "additionalContext" not in result.json["hookSpecificOutput"]


def test_a_superseded_note_waits_for_nothing(world: World, session: Life) -> None:
    world.memory("note", "remove", "deploys")
    assert told(session, "Bash", {"command": "make deploy"}) == ""
    assert support.failures(world.root) == []
