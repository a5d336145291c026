"""The audit trail: what a line holds, what a killed writer leaves, and that no change goes unnoticed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, Callable

import audit_storm
import pytest
import support
from commandline import World
from life import Life

from harness_memory.audit import trail
from harness_memory.project import identity
from harness_memory.session import episode

NOW = time.time()
SEPTEMBER = 1788500000.0  # 2026-09-04
MONTH_SECONDS = 31 * 86400
SEPT, OCT = "2026/09/audit.jsonl", "2026/10/audit.jsonl"
FIELDS = {"event": "tool_blocked", "tool": "Bash", "command": "rm -rf ~", "reason": "Deletes the home directory"}
FIELDS.update(session="a1b2c3d4-1111-2222-3333-444455556666", rule="delete-home")


def write(project: Path, *months: int, **fields: Any) -> list[str]:
    """One event in each of these months, counted from September."""
    return [trail.append(str(project), {**FIELDS, **fields}, SEPTEMBER + month * MONTH_SECONDS) for month in months]


def state(project: Path, heads: dict[str, str] | None = None) -> tuple[str, int, int]:
    findings = trail.verify(str(project), heads or {})
    return findings.problem, findings.count, findings.torn


def test_a_line_is_json_with_the_hash_of_its_bytes_and_of_the_line_before(tmp_path: Path) -> None:
    hashes = write(tmp_path, 0, 0, 1)
    paths = [tmp_path / "SECURITY" / SEPT, tmp_path / "SECURITY" / OCT]
    assert trail.paths(str(tmp_path)) == [str(path) for path in paths]
    previous = ""
    for number, line in enumerate(b"".join(path.read_bytes() for path in paths).splitlines(), 1):
        event = json.loads(line)
        assert list(event) == ["ts", "event", *list(FIELDS)[1:], "seq", "prev", "hash"]
        assert (event["seq"], event["prev"]) == (number, previous)
        previous = event.pop("hash")
        assert previous == hashlib.sha256(json.dumps(event, ensure_ascii=False).encode()).hexdigest()
        assert {**event, **FIELDS} == event
    assert trail.next_head(str(tmp_path), "") == "3:" + previous == "3:" + hashes[-1]
    write(tmp_path, 0)  # a clock set back: the trail goes on in the later month
    assert [event["ts"][:7] for event in trail.events(str(tmp_path))] == ["2026-09", "2026-09", "2026-10", "2026-09"]
    assert state(tmp_path) == ("", 4, 0)


@pytest.mark.parametrize(("fields", "expected"), support.rows("audit/content.jsonl"))
def test_content_is_redacted_cut_and_typed(tmp_path: Path, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    if isinstance(fields.get("command"), str):
        fields["command"] = fields["command"].replace("{token}", "ghp_" + "abcdefghijABCDEFGHIJ0123456789abcd")
    trail.append(str(tmp_path), {"event": "tool_blocked", "tool": "Bash", **fields}, SEPTEMBER)
    (event,) = trail.events(str(tmp_path))
    assert {key: event.get(key) for key in expected} == expected
    assert len(event.get("command", "")) <= 500
    assert state(tmp_path) == ("", 1, 0)


def resealed(line: bytes, **changes: Any) -> bytes:
    """The line with other content and a hash that fits."""
    event = {**json.loads(line), **changes}
    del event["hash"]
    body = json.dumps(event, ensure_ascii=False)
    return ('%s, "hash": "%s"}\n' % (body[:-1], hashlib.sha256(body.encode()).hexdigest())).encode()


Change = Callable[["list[bytes]"], "list[bytes]"]
# What is done to the four lines of September, the line that is named (in October from 5 on), and the problem.
TAMPERED: dict[str, tuple[Change, int, str]] = {
    "a word changed": (lambda f: [f[0], f[1].replace(b"~", b"/"), *f[2:]], 2, "hash does not match"),
    "changed and sealed": (lambda f: [f[0], resealed(f[1], tool="X"), *f[2:]], 3, "does not follow event 2"),
    "the first removed": (lambda f: f[1:], 1, "event 2, but event 1"),
    "one removed": (lambda f: [f[0], *f[2:]], 2, "event 3, but event 2"),
    "the last of a month removed": (lambda f: f[:3], 5, "event 5, but event 4"),
    "a line made unreadable": (lambda f: [f[0], b"{}\n", *f[2:]], 3, "event 3, but event 2"),
    "a month emptied": (lambda f: [], 5, "event 5, but event 1"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_named_with_its_first_line(tmp_path: Path, name: str) -> None:
    write(tmp_path, 0, 0, 0, 0, 1, 1)
    change, number, problem = TAMPERED[name]
    path = tmp_path / "SECURITY" / SEPT
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(True))))
    findings = trail.verify(str(tmp_path), {})
    assert problem in findings.problem
    assert (Path(findings.path).parent.name, findings.line) == (("09", number) if number < 5 else ("10", number - 4))


def test_a_changed_byte_never_goes_unnoticed(tmp_path: Path) -> None:
    write(tmp_path, 0, 0)
    path = tmp_path / "SECURITY" / SEPT
    data = path.read_bytes()
    heads = {"x": trail.next_head(str(tmp_path), "")}
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert state(tmp_path, heads)[0], at


@pytest.mark.parametrize("is_continued", [False, True])
def test_a_cut_end_shows_in_the_heads_that_sessions_saw(tmp_path: Path, is_continued: bool) -> None:
    write(tmp_path, 0, 0, 0)
    heads = {"0a1b2c3d": trail.next_head(str(tmp_path), ""), "older": ""}
    assert state(tmp_path, heads) == ("", 3, 0)
    path = tmp_path / "SECURITY" / SEPT
    path.write_bytes(path.read_bytes().splitlines(True)[0])
    write(tmp_path, *[0, 0, 0] * is_continued, tool="Write")
    assert "session 0a1b2c3d has seen" in state(tmp_path, heads)[0]
    shutil.rmtree(str(tmp_path / "SECURITY"))
    assert state(tmp_path, heads)[0] == "the trail ends at event 0, but session 0a1b2c3d has seen event 3"


def test_a_line_torn_at_any_byte_costs_no_other_event(tmp_path: Path) -> None:
    _, second = write(tmp_path, 0, 0)
    path = tmp_path / "SECURITY" / SEPT
    one, two = path.read_bytes().splitlines(True)
    for size in [*range(0, 20, 3), *range(20, len(two) - 80, 37), *range(len(two) - 80, len(two) + 1, 5)]:
        path.write_bytes(one + two[:size])
        is_whole = size >= len(two) - 1
        is_torn = size > 0 and not is_whole
        assert state(tmp_path) == ("", 1 + is_whole, is_torn), size
        write(tmp_path, 0, tool="Write")
        assert state(tmp_path) == ("", 2 + is_whole, is_torn), size
        assert (state(tmp_path, {"x": "2:" + second})[0] == "") == is_whole  # nor can it be passed off as torn


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
def test_many_writers_of_which_some_are_killed_keep_one_chain(tmp_path: Path) -> None:
    storm = audit_storm.Storm(tmp_path, processes=6, events=30, seed=3, interpreter=sys.executable)
    assert storm.problems() == []
    assert storm.killed


def test_episodes_keep_the_head_and_no_later_one_that_did_not_grow_from_it(life: Life) -> None:
    life.start()
    life.turn("Add a form", "Added the form.", "a.py")
    assert "audit_head" not in life.episode
    project = life.project
    write(project, 0, 0)
    life.turn("Add tests", "Added the tests.", "b.py")
    head = trail.next_head(str(project), "")
    assert life.episode["audit_head"] == head
    assert list(episode.audit_heads(str(project)).values()) == [head]
    path = project / "SECURITY" / SEPT
    path.write_bytes(path.read_bytes().splitlines(True)[0])
    write(project, 0, 0, tool="Write")
    life.turn("Anything else?", "Nothing that I know of, all is done and tested.", "d.py")
    assert life.episode["audit_head"] == head
    assert "has seen another event 2" in state(project, episode.audit_heads(str(project)))[0]


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    """A project with a trail of five events, and no other memory."""
    world = World(home, repo)
    there = identity.locate(str(world.root), str(repo), str(repo)).dir
    for number, (days, fields) in enumerate(support.rows("audit/events.jsonl")):
        trail.append(there, {"session": "%08d-aaaa" % (number // 2), **fields}, NOW - days * 86400)
    return world


def trails(world: World) -> list[Path]:
    return [Path(path) for path in trail.paths(str(next(world.root.glob("*/SECURITY")).parent))]


def test_show_lists_the_newest_first_without_control_characters(world: World) -> None:
    result = world.memory("audit")
    assert result.code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["#", "5", "4", "3", "2", "1"]
    assert "~/.ssh/id_rsa (A private key)" in lines[3]
    assert "rule mkfs disabled" in lines[1]
    assert "00000001" in lines[2]
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert world.memory("audit", "show").stdout == result.stdout


@pytest.mark.parametrize(("words", "numbers"), support.rows("audit/narrowed.jsonl"))
def test_show_narrowed(world: World, words: list[str], numbers: list[int]) -> None:
    assert [event["seq"] for event in world.json("audit", "show", *words)] == numbers


def test_a_whole_trail(world: World) -> None:
    value = world.json("audit", "verify")
    assert (value["chain"], value["events"], value["head"][:2], value["torn_lines"]) == ("whole", 5, "5:", 0)
    with trails(world)[-1].open("ab") as file:
        file.write(b'{"ts": "2026')
    value = world.json("audit", "verify")
    assert (value["chain"], value["torn_lines"]) == ("whole", 1)


def test_a_broken_trail(world: World) -> None:
    path = trails(world)[0]
    path.write_bytes(path.read_bytes().replace(b"rm -rf /", b"ls -la /"))
    before = world.files()
    result = world.memory("audit", "verify")
    assert result.code == 1
    assert "what: its hash does not match its content\n" in result.stdout
    assert "remedy: Trust only the events before it" in result.stdout
    broken = world.json("audit", "verify", code=1)["broken"]
    assert (broken["file"], broken["line"]) == (str(path), 1)
    assert world.memory("verify").code == world.memory("doctor").code == 1
    assert {**world.files(), **before} == world.files()  # nothing is repaired, all is evidence
