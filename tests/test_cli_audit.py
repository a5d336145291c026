"""`harness memory audit`: what it shows of a trail, and how it says that one is broken."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import support
from commandline import World

from harness_memory.audit import trail as audit
from harness_memory.project import identity

NOW = time.time()


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    """A project with a trail of five events, and no other memory."""
    world = World(home, repo)
    there = identity.locate(str(world.root), str(repo), str(repo)).dir
    for number, (days, fields) in enumerate(support.rows("audit/events.jsonl")):
        audit.append(there, {"session": "%08d-aaaa" % (number // 2), **fields}, NOW - days * 86400)
    return world


def trail(world: World) -> list[Path]:
    return [Path(path) for path in audit.paths(str(next(world.root.glob("*/SECURITY")).parent))]


def shown(world: World, *words: str) -> list[int]:
    return [event["seq"] for event in world.json("audit", "show", *words)]


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
    assert shown(world, *words) == numbers


def test_a_whole_trail(world: World) -> None:
    result = world.memory("audit", "verify")
    assert (result.code, result.stdout.count("\n")) == (0, 1)
    assert result.stdout.startswith("5 events in %d files, the chain is whole. Last: 5:" % len(trail(world)))
    with trail(world)[-1].open("ab") as file:
        file.write(b'{"ts": "2026')
    result = world.memory("audit", "verify")
    assert (result.code, "killed in mid-line 1 time." in result.stdout) == (0, True)
    assert world.json("audit", "verify")["torn"] == 1


def test_a_broken_trail(world: World) -> None:
    path = trail(world)[0]
    path.write_bytes(path.read_bytes().replace(b"rm -rf /", b"ls -la /"))
    before = world.files()
    result = world.memory("audit", "verify")
    first, second = result.stdout.splitlines()
    assert result.code == 1
    assert first.endswith("audit.jsonl:1: its hash does not match its content.")
    assert second.startswith("Trust only the events before it")
    broken = world.json("audit", "verify", code=1)["broken"]
    assert (broken["file"], broken["line"]) == (str(path), 1)
    assert world.memory("verify").code == world.memory("doctor").code == 1
    assert {**world.files(), **before} == world.files()  # nothing is repaired, all is evidence
