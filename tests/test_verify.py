"""`verify` over a store that real hooks wrote: every rule broken once; and what `rebuild` repairs."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.base import files, settings
from harness_memory.memory import views

DATA = Path(__file__).parent / "data" / "verify"
BROKEN = json.loads((DATA / "broken.json").read_text("utf-8"))
VALID = json.loads((DATA / "valid.json").read_text("utf-8"))
REBUILD = "run: harness memory rebuild"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> World:
    top = tmp_path_factory.mktemp("original")
    world = World(top / "home", support.make_repo(top / "project"))
    assert world.memory("briefing", "set", stdin=b"# Forms\n").code == 0  # so that the session is told something
    session = world.work("Add a login form", "Added a login form.", ("src/login.py",), end=False)
    point = {"done": "Added the form", "remains": ["Tests"], "task": {"id": "login", "remaining": ["Reset"]}}
    assert world.memory("checkpoint", "--session", session.id, stdin=json.dumps(point).encode()).code == 0
    return world


@pytest.fixture
def world(original: World, tmp_path: Path) -> World:
    shutil.copytree(str(original.home), str(tmp_path / "copy"), symlinks=True)
    return World(tmp_path / "copy", original.repo)


def only(world: World, pattern: str) -> Path:
    (path,) = world.project.glob(pattern)
    return path


def change(world: World, case: dict[str, Any]) -> None:
    if "write" in case:
        files.write(str(world.project / case["write"]), case["text"])
    elif "overwrite" in case:
        files.write(str(only(world, case["overwrite"])), case["text"])
    elif "replace" in case:
        path = only(world, case["replace"])
        text = path.read_text("utf-8")
        assert case["old"] in text
        path.write_text(text.replace(case["old"], case["new"], 1), "utf-8")
    elif "fields" in case:
        path = only(world, case["fields"])
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **case["values"]}), "utf-8")


def findings(world: World) -> Any:
    return world.json("verify", code=1)["findings"]


@pytest.mark.parametrize("case", VALID, ids=lambda case: case["case"])
def test_valid_file_is_no_finding(world: World, case: dict[str, Any]) -> None:
    change(world, case)
    result = world.memory("verify")
    assert (result.code, "every file is valid" in result.stdout) == (0, True), result.stdout


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["case"])
def test_broken_file_is_named_with_a_remedy_and_left_alone(world: World, case: dict[str, Any]) -> None:
    change(world, case)
    before = world.files()
    named = [each for each in findings(world) if case["file"] in each["file"] and case["what"] in each["what"]]
    assert named, findings(world)
    assert all(each["remedy"] for each in named)
    assert case["what"] in world.memory("verify").stdout
    assert world.files() == before


@pytest.mark.skipif(os.name != "posix", reason="modes and links")
def test_open_files_links_and_leftovers_are_findings(world: World) -> None:
    (world.project / "INDEX.md").chmod(0o644)
    (world.project / "episodes").chmod(0o755)
    (world.project / "other.md").symlink_to(world.project / "INDEX.md")
    temporary, meta = world.project / "STATE" / ".x.json.1.2.tmp", only(world, "WORK/*/*/META.yaml")
    files.write(str(temporary), "{")
    meta.unlink()
    for path in (temporary, meta.parent):
        os.utime(str(path), (1, time.time() - 3 * settings.STRAY_FILE_SECONDS))
    what = " ".join(each["what"] for each in findings(world))
    for text in ("0644", "0755", "not a plain file", "has no META.yaml", "is a temporary file"):
        assert text in what


def test_files_of_no_project_are_checked(world: World) -> None:
    files.write(str(world.root / "config.json"), "{nope")
    files.write(str(world.root / "health" / "failures" / "1-1.json"), "nope")
    named = world.json("verify", "--all-projects", code=1)["findings"]
    assert {Path(each["file"]).name for each in named} == {"config.json", "1-1.json"}


def test_many_findings_are_summed_up(world: World) -> None:
    for number in range(30):
        files.write(str(world.project / ("x%d.zip" % number)), "PK")
    lines = world.memory("verify").stdout.splitlines()
    assert "30 findings" in lines[0]
    assert len(lines) < 12
    assert len(findings(world)) == 30


# rebuild ------------------------------------------------------------------------------------------
def test_rebuild_writes_views_again(world: World) -> None:
    (world.project / "INDEX.md").unlink()
    files.write(str(world.project / "STATE" / "conversation_state.json"), "{}")
    assert {each["remedy"] for each in findings(world)} == {REBUILD}
    assert world.memory("rebuild").code == 0
    assert world.json("verify")["findings"] == []


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema": 1, "id": 3}', None], ids=["empty", "cut", "shape", "gone"])
def test_rebuild_records_lost_episode_again(world: World, damage: bytes | None) -> None:
    path = only(world, "episodes/*.json")
    before = path.read_bytes()
    path.unlink() if damage is None else path.write_bytes(damage)
    assert views.refresh(str(world.project))
    assert REBUILD in [each["remedy"] for each in findings(world) if each["file"] == str(path)]
    (report,) = world.json("rebuild")
    assert "episodes/" + path.name in report["changed"]
    assert json.loads(path.read_bytes())["what_was_done"] == json.loads(before)["what_was_done"]


def test_rebuild_leaves_episodes_it_cannot_record(world: World) -> None:
    path = only(world, "episodes/*.json")
    change(world, {"fields": "episodes/*.json", "values": {"schema": 99}})
    newer = path.read_bytes()
    world.memory("rebuild")
    assert path.read_bytes() == newer
    path.write_bytes(b"{")
    shutil.rmtree(str(only(world, "WORK/*/*")))
    world.memory("rebuild")
    assert path.read_bytes() == b"{"


def test_rebuild_does_not_bring_retired_episode_back(home: Path, repo: Path) -> None:
    world = World(home, repo)
    files.write(str(world.root / "config.json"), '{"retention_episodes": 1}')
    for number in range(3):
        world.work("Ask %d" % number, "Answer %d is given in full." % number)
    kept = [path.name for path in support.episode_files(world.root)]
    assert len(kept) == 2  # the start of the third retired the first
    assert world.memory("rebuild").code == 0
    assert [path.name for path in support.episode_files(world.root)] == kept
