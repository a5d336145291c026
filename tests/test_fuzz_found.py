"""What generated input once broke, each by itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import protocol
import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base import clock, health
from harness_memory.hook import event as events
from harness_memory.inject import receipt
from harness_memory.session import checkpoint, liveness

POSIX = pytest.mark.skipif(os.name == "nt", reason="names that only POSIX takes")
AT = "2026-11-16T12:00:00Z"


@POSIX
def test_digits_that_are_no_number_in_a_claim(life: Life) -> None:
    (life.cwd / ".claude").mkdir()
    claim = life.cwd / ".claude" / "completion-checkpoint.json.d0000000.²².claimed"
    claim.write_text("{}", "utf-8")
    life.start()
    assert claim.exists()
    assert failures(life.store) == []


@pytest.mark.parametrize("name", ["²-1.json", "١٢-1.json", "x-1.json", "-1.json"])
def test_a_failure_stamp_of_another_name(life: Life, name: str) -> None:
    folder = life.store / "health" / "failures"
    folder.mkdir(parents=True)
    (folder / name).write_text("{}", "utf-8")
    assert health.unmentioned(str(life.store)) in (0, 1)


@pytest.mark.parametrize(("name", "is_day"), [("2026-11-16", True), ("²²²²-11-16", False), ("٢٠٢٦-١١-١٦", False)])
def test_days_are_told_in_plain_digits(name: str, is_day: bool) -> None:
    assert clock.is_day(name) is is_day


@pytest.mark.parametrize(
    "words", [("list", "--limit", "²"), ("list", "--since", "²d"), ("prune", "--older-than", "²d")]
)
def test_digits_that_are_no_number_on_the_command_line(home: Path, repo: Path, words: tuple[str, ...]) -> None:
    assert World(home, repo).memory(*words).code == 2


FORGOTTEN: list[Any] = [
    {"texts": 5},
    {"texts": [{"words": [1], "hash": {}, "at": AT}]},
    {"texts": [{"words": 2, "hash": "0" * 32, "at": None}], "salt": 7},
    {"sessions": [1], "notes": "x"},
    {"sessions": {"a": {}}},
]


@pytest.mark.parametrize("told", FORGOTTEN)
def test_forgotten_of_another_shape(life: Life, home: Path, repo: Path, told: Any) -> None:
    life.start()
    life.prompt("one")
    (life.project / "STATE" / "forgotten.json").write_text(json.dumps(told), "utf-8")
    life.transcript.write(life.cwd / "one.py").text("One done.")
    life.stop("One done.")
    assert life.episode["files_changed"] == ["one.py"]
    assert failures(life.store) == []
    assert World(home, repo).memory("forget", "--text", "some words that were said", "--yes").code in (0, 1)


def add_note(life: Life, name: str, text: str) -> Path:
    topics = life.project / "LEARNING" / "topics"
    topics.mkdir(parents=True, exist_ok=True)
    path = topics / name
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    return path


def test_half_a_character_in_the_name_of_a_note(life: Life) -> None:
    life.start()
    add_note(life, "half.md", '---\nname: "half \\ud800 one"\ndescription: x\ntype: project\n---\n\n- A fact\n')
    life.start()
    assert failures(life.store) == []
    assert "half.md" in (life.project / "MEMORY.md").read_text("utf-8")


@POSIX
def test_a_note_whose_file_name_would_reach_a_terminal(life: Life) -> None:
    life.start()
    page = "---\nname: vault\ndescription: Where the vault keys lie\ntype: project\n"
    page += 'triggers:\n  - "command: open vault"\n---\n'
    add_note(life, "\x1b]0;title\x07\u202e.md", page + "\n- The vault keys lie under the mat\n")
    life.start()
    results = [life.prompt("Where do the vault keys lie, under the mat?"), life.start("clear")]
    call = life.session.tool_call("Bash", {"command": "open vault"})
    results.append(life.run("pre_tool_use", {**call, "agent_id": "a1"}))
    assert [bool(result.stdout) for result in results] == [True, True, True]
    events = ("UserPromptSubmit", "SessionStart", "PreToolUse")
    for event, result in zip(events, results):
        assert protocol.complaints(event, result.stdout.encode()) == []


POINT = {
    "what_was_done": "x", "what_remains": [], "files_changed": [], "skill_used": "", "outcome": "", "tags": [],
    "learnings": [], "task": {"id": "t", "title": "T", "remaining": None, "blockers": []}, "rating": 3,
}  # fmt: skip
SOUND: dict[str, Any] = {
    "tools": {"Bash": 1},
    "pending": {"a": ["Bash", "ls"], "b": ["TodoWrite", {"1": ["x", "pending"]}], "c": ["TaskUpdate", ["1", "", "x"]]},
    "checkpoints": {"checkpoint-1.json": POINT, "checkpoint-2.json": {}},
    "cursor": {"path": "/x", "offset": 5, "head": [1, 2]},
    "subagents": {"a.jsonl": [1, 2, 3], "b.jsonl": {"offset": 1, "head": [1, 2]}},
    "last": 1.5,
}


@pytest.mark.parametrize(
    ("rating", "kept"), [(3, 3), (4.5, 4.5), (10**400, None), (float("nan"), None), (1e9, None), ("5", None)]
)
def test_a_rating_beyond_all_bounds(rating: Any, kept: Any) -> None:
    normal = checkpoint.normalize({"what_was_done": "x", "rating": rating})
    assert normal is not None
    assert normal["rating"] == kept


ITEM = {"item": "a", "kind": "session", "at": AT, "files": ["a.py"], "before": 1, "used": "", "held": False}
PART = {"name": "menu", "file": "INDEX.md", "lines": 2, "left_out": 0}
ENTRY = {"at": AT, "event": "SessionStart", "why": "start", "units": 5, "tokens": 2, "parts": [PART]}


@pytest.mark.parametrize(
    "change",
    [
        {"items": [{**ITEM, "files": [{}]}]}, {"items": [{**ITEM, "more": [[]]}]}, {"items": [{**ITEM, "before": "1"}]},
        {"log": [{**ENTRY, "units": "x"}]}, {"log": [{**ENTRY, "parts": 5}]}, {"log": [{**ENTRY, "more": {}}]},
        {"log": [{**ENTRY, "parts": [{**PART, "lines": []}]}]}, {"wholes": {"a": []}}, {"seen": [5]}, {"own": "x"},
    ],
)  # fmt: skip
def test_a_receipt_of_another_shape_is_left_behind(tmp_path: Path, change: dict[str, Any]) -> None:
    sound = {"items": [ITEM], "log": [ENTRY], "wholes": {"a": "b"}, "seen": ["x"], "own": ["y"]}
    (tmp_path / "injected.json").write_text(json.dumps(sound), "utf-8")
    told = receipt.load(str(tmp_path))
    assert {key: told[key] for key in sound} == sound
    (tmp_path / "injected.json").write_text(json.dumps({**sound, **change}), "utf-8")
    told = receipt.load(str(tmp_path))
    assert {key for key in sound if not told[key]} == {*change}


@pytest.mark.parametrize("seconds", [10**400, -(10**400), float("nan"), 1e300, "61", None])
def test_a_silence_beyond_all_bounds(seconds: Any) -> None:
    event = events.Event("SessionStart", {"session_id": "a", "seconds_since_last_response": seconds}, {})
    assert event.silent_seconds == 0.0


def test_a_process_whose_number_is_none() -> None:
    told = {"pid": 10**30, "host": liveness._host()}
    assert liveness.is_alive(told) is None


def test_a_rule_that_has_too_much_to_say(home: Path, repo: Path) -> None:
    rule = {"id": "deploy", "tier": "deny", "reason": "deploys " * 2000, "match": {"program": "make"}}
    (home / ".claude" / "memory").mkdir(mode=0o700)
    (home / ".claude" / "memory" / "guard.json").write_text(json.dumps({"rules": [rule]}), "utf-8")
    session = support.Session(repo, home)
    payload = session.tool_call("Bash", {"command": "make"})
    result = support.run_hook("pre_tool_use", payload, home=home, env=session.environment())
    assert result.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert protocol.complaints("PreToolUse", result.stdout.encode()) == []


def test_a_project_that_is_told_of_too_deeply_stays_as_it_is(life: Life) -> None:
    life.start()
    (path,) = life.store.glob("*/project.json")
    value = json.loads(path.read_text("utf-8"))
    value["updated"], deep = AT, "[" * 300 + "]" * 300
    told = json.dumps({**value, "paths": []})[:-1] + ', "deep": %s}' % deep
    path.write_text(told, "utf-8")
    life.start("resume")
    life.turn("one", "One is done.", "one.py")
    assert failures(life.store) == []
    assert path.read_text("utf-8") == told
