"""`why`: what a session was given of the past."""

from __future__ import annotations

import json

import pytest
from commandline import World

from harness_memory.base import settings


def put(world: World, text: str) -> None:
    assert world.memory("briefing", "set", stdin=text.encode()).code == 0


def test_why_shows_what_a_session_was_told(world: World) -> None:
    untold = world.work("Add a form", "Added the form to the page.", ("a.py",))
    injected = world.session_dir(untold) / settings.INJECTED_FILE
    for path in (injected, injected.with_name(settings.RECEIPT_FILE)):
        if path.exists():  # the very first session may be told one line
            path.unlink()
    assert "nothing was injected" in world.memory("why", "last").stdout
    assert world.json("why", untold.id[:8]) == []
    assert "told: nothing" in world.memory("status").stdout
    put(world, "# Always use tabs\n")
    told = world.work("Add another", "Added another to the page.", ("b.py",))
    page = world.memory("why").stdout
    for text in ("Always use tabs", "SessionStart", "briefing.md", "tokens"):
        assert text in page
    log = world.json("why", told.id[:6])
    assert log == json.loads((world.session_dir(told) / settings.INJECTED_FILE).read_text(encoding="utf-8"))["log"]
    assert "told: ~%d tokens at start" % log[0]["tokens"] in world.memory("status").stdout
    assert world.json("status")["last"]["told"][0]["why"] == "startup"
    assert settings.RECEIPT_FILE in world.memory("show", "last").stdout
    missing = world.memory("why", "zzz")
    assert (missing.code, missing.stdout) == (2, "")


def test_why_is_of_the_present_session_first(world: World) -> None:
    put(world, "# Always use tabs\n")
    world.work("One", "Did the first thing.", ("a.py",))
    present = world.work("Two", "Did the second thing.", ("b.py",), end=False)
    env: dict[str, str | None] = {"CLAUDE_CODE_SESSION_ID": present.id}
    assert world.json("why", env=env) == world.json("why", present.id)
    assert world.json("why", "last", env=env) != world.json("why", present.id)


@pytest.mark.parametrize("data", [b"{oops", b"\xff", b'{"schema": 1, "seen": [], "profiles": [], "log": [1, {}]}'])
def test_a_damaged_receipt_stops_nothing(world: World, data: bytes) -> None:
    put(world, "# Always use tabs\n")
    session = world.work("One", "Did the first thing.", ("a.py",))
    (world.session_dir(session) / settings.INJECTED_FILE).write_bytes(data)
    (world.session_dir(session) / settings.RECEIPT_FILE).unlink()
    for words in (("why",), ("why", "--json"), ("status",), ("status", "--json")):
        assert world.memory(*words).code == 0
