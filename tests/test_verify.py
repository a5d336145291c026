"""`verify` over a store that real hooks wrote: every rule broken once; and what `rebuild` repairs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.base import files

DATA = Path(__file__).parent / "data" / "verify"
BROKEN = json.loads((DATA / "broken.json").read_text("utf-8"))
VALID = json.loads((DATA / "valid.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> World:
    top = tmp_path_factory.mktemp("original")
    world = World(top / "home", support.make_repo(top / "project"))
    assert world.memory("briefing", "set", stdin=b"# Forms\n").code == 0  # so that the session is told something
    session = world.work("Add a login form", "Added a login form.", ("src/login.py",), end=False)
    task = {"id": "login", "remaining": ["Reset"]}
    point = {"what_was_done": "Added the form", "what_remains": ["Tests"], "task": task}
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
def test_open_files_and_links_are_findings(world: World) -> None:
    (world.project / "INDEX.md").chmod(0o644)
    (world.project / "episodes").chmod(0o755)
    (world.project / "other.md").symlink_to(world.project / "INDEX.md")
    what = " ".join(each["what"] for each in findings(world))
    for text in ("0644", "0755", "not a plain file"):
        assert text in what


def test_files_of_no_project_are_checked(world: World) -> None:
    files.write(str(world.root / "config.json"), "{nope")
    files.write(str(world.root / "health" / "failures" / "1-1.json"), "nope")
    named = world.json("verify", "--all-projects", code=1)["findings"]
    assert {Path(each["file"]).name for each in named} == {"config.json", "1-1.json"}


def test_many_findings_are_summed_up(world: World) -> None:
    for number in range(30):
        files.write(str(world.project / "STATE" / "threads" / ("x%d.json" % number)), "{")
    lines = world.memory("verify").stdout.splitlines()
    assert "30 findings" in lines[0]
    assert len(lines) < 12
    assert len(findings(world)) == 30


# rebuild ------------------------------------------------------------------------------------------
def test_rebuild_writes_views_again(world: World) -> None:
    (world.project / "INDEX.md").unlink()
    files.write(str(world.project / "STATE" / "conversation_state.json"), "{}")
    assert len(world.json("rebuild")[0]["changed"]) == 2
    assert [row for row in world.json("rebuild") if row["changed"]] == []
