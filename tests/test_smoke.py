"""The shortest proof that the product works: one session by its hooks, and every reading verb."""

from __future__ import annotations

import support
from commandline import World
from life import Life

READING = support.command_lines("verbs/smoke.txt")


def test_a_session_is_remembered_and_every_reading_verb_works(world: World) -> None:
    first = Life(world.home, world.repo)
    first.start()
    first.turn(
        "Why does the parser fail on empty input?", "The parser now handles empty input; a test covers it.", "parser.py"
    )
    first.compact()
    first.end()
    assert first.meta["status"] == "COMPLETED"
    assert first.episode["files_changed"] == ["parser.py"]
    assert world.memory("remember", "The parser never raises on empty input").code == 0
    second = Life(world.home, world.repo)
    text = second.start().stdout
    assert "parser" in text
    assert "empty input" in text
    env = {"CLAUDE_CODE_SESSION_ID": second.session.id}
    assert world.memory("checkpoint", "--done", "Parser fixed", "--remains", "Document it", env=env).code == 0
    assert second.run("pre_tool_use", second.session.tool_call("Bash", {"command": "git status"})).stdout == ""
    assert '"deny"' in second.run("pre_tool_use", second.session.tool_call("Bash", {"command": "rm -rf ~"})).stdout
    for words in READING:
        result = world.memory(*words)
        assert result.code == 0, (words, result)
    assert list(world.root.glob("health/failures/*")) == []
