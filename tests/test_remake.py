"""Episodes that were lost or damaged: `verify` names them, `rebuild` makes them anew, and no others."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
import support
from commandline import World

REBUILD = "run: harness memory rebuild"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> World:
    top = tmp_path_factory.mktemp("original")
    world = World(top / "home", support.make_repo(top / "project"))
    world.work("Add a login form", "Added a login form to the page.", ("src/login.py",))
    world.work("Round totals once", "Totals are rounded once, at the end.", ("src/cart.py",))
    return world


@pytest.fixture
def world(original: World, tmp_path: Path) -> World:
    shutil.copytree(str(original.home), str(tmp_path / "copy"), symlinks=True)
    for path in (tmp_path / "copy" / ".claude" / "projects").rglob("*.jsonl"):
        path.unlink()  # the client deletes transcripts
    return World(tmp_path / "copy", original.repo)


def first(world: World) -> Path:
    return sorted(world.project.glob("episodes/*.json"))[0]


def remedies(world: World, path: Path) -> set[str]:
    return {found["remedy"] for found in world.json("verify", code=1)["findings"] if found["file"] == str(path)}


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"schema": 1, "id"', b"\xff\x00", b"[" * 90_000])
def test_a_damaged_episode_is_made_anew(world: World, damage: bytes) -> None:
    path = first(world)
    before = world.files()
    path.write_bytes(damage)
    assert remedies(world, path) == {REBUILD}
    result = world.memory("rebuild")
    assert (result.code, path.name in result.stdout) == (0, True)
    after = world.files()
    (aside,) = {*after} - {*before} or {""}
    assert after.pop(aside, b"") == damage
    assert (after == before, aside.endswith(".damaged")) == (True, bool(damage))
    assert "nothing to change" in world.memory("rebuild").stdout


def test_a_lost_episode_is_made_anew(world: World) -> None:
    path = first(world)
    before = world.files()
    path.unlink()
    assert remedies(world, path) == {REBUILD}
    assert path.name in world.memory("rebuild").stdout
    assert path.read_bytes() == before[str(path.relative_to(world.root))]
    assert world.json("verify")["findings"] == []


def test_without_its_session_it_is_left_to_its_owner(world: World) -> None:
    path = first(world)
    shutil.rmtree(str(next(world.project.glob("WORK/*/%s" % path.stem[-8:]))))
    path.write_bytes(b"{")
    assert REBUILD not in remedies(world, path)
    assert world.memory("rebuild").code == 0
    assert path.read_bytes() == b"{"


def test_one_of_a_newer_version_is_left_alone(world: World) -> None:
    path = first(world)
    path.write_text(json.dumps({"schema": 99}), encoding="utf-8")
    assert REBUILD not in remedies(world, path)
    assert world.memory("rebuild").code == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"schema": 99}


def test_what_retention_or_a_person_took_away_does_not_come_back(world: World) -> None:
    (world.root / "config.json").write_text('{"retention_episodes": 2}', encoding="utf-8")
    (world.root / "config.json").chmod(0o600)
    path = first(world)
    time.sleep(1.01 - time.time() % 1)  # the oldest goes, and starts are told apart by seconds
    session = world.work("Something else", "Done that too.", ("src/else.py",))
    world.work("One more", "One more done.", ("src/more.py",), end=False)
    assert not path.exists()
    assert world.memory("forget", session.id[:8], "--yes").code == 0
    kept = {each.name for each in world.project.glob("episodes/*")}
    assert world.json("verify")["findings"] == []
    assert world.memory("rebuild").code == 0
    assert {each.name for each in world.project.glob("episodes/*")} == kept


def test_a_session_without_substance_gets_none(world: World) -> None:
    session = support.Session(world.repo, world.home)
    for script, payload in (("session_start", session.start()), ("session_end", session.end())):
        support.run_hook(script, payload, home=world.home, env=session.environment())
    before = world.files()
    assert world.json("verify")["findings"] == []
    assert world.memory("rebuild").code == 0
    assert world.files() == before
