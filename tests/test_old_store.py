"""A store that version 0.1 wrote (`data/store-0.1`), read by every verb of this version."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import support
from commandline import World

DATA = Path(__file__).parent / "data" / "store-0.1"
PARSER, STRUCK, ARCHIVED = "3d4e5f33", "5f708155", "1b2c3d11"


@pytest.fixture
def world(tmp_path: Path) -> World:
    home = tmp_path / "home"
    shutil.copytree(str(DATA), str(home / ".claude"))
    for folder, _, names in os.walk(str(home / ".claude" / "memory")):  # git keeps no private modes
        os.chmod(folder, 0o700)
        for name in names:
            os.chmod(os.path.join(folder, name), 0o600)
    repo = support.make_repo(tmp_path / "shop", "git@example.org:me/shop.git")
    for record in (home / ".claude" / "memory").glob("*/project.json"):
        facts = json.loads(record.read_bytes())
        record.write_text(json.dumps({**facts, "paths": [*facts["paths"], os.path.realpath(str(repo))]}), "utf-8")
    return World(home, repo)


@pytest.mark.parametrize("case", support.rows("old_store.jsonl"), ids=lambda case: "-".join(case["words"][:2]))
def test_verb_reads_old_store(world: World, case: dict[str, list[str]]) -> None:
    result = world.memory(*case["words"])
    assert result.code == 0, result
    for text in case["texts"]:
        assert text in result.stdout, result.stdout


def test_verify_of_old_store_finds_nothing(world: World) -> None:
    assert world.json("verify")["findings"] == []
    assert world.memory("rebuild").code == 0
    assert world.json("verify")["findings"] == []


def test_restore_from_old_archive_brings_session_back(world: World) -> None:
    assert world.json("restore", ARCHIVED)["restored"] == [ARCHIVED]
    assert "with two doors" in world.memory("show", ARCHIVED).stdout


def test_old_session_resumed_keeps_its_record(world: World) -> None:
    session = support.Session(world.repo, world.home, PARSER + "-0000-4000-8000-000000000003")
    world.work("And on spaces?", "Spaces are counted as one column.", ("spaces.py",), session=session)
    (path,) = world.project.glob("episodes/*-%s.json" % PARSER)
    text = path.read_text("utf-8")
    assert "Why does the parser stall on tabs?" in text
    assert "And on spaces?" in text


def test_old_tombstones_keep_forgotten_sessions_and_texts_out(world: World) -> None:
    for path in world.project.glob("*/*%s*" % STRUCK):
        path.unlink()
    shutil.rmtree(str(world.session_dir(support.Session(world.repo, world.home, STRUCK))))
    for path in (world.home / ".claude" / "projects").glob("*/*.jsonl"):
        os.utime(str(path), (path.stat().st_mtime - 86400,) * 2)
    report = world.json("backfill", "--all")
    assert (report["made"], report["left_alone"].get("forgotten")) == (0, 5)
    for text in ("Initech", "Umbrella"):
        assert not [
            path for path in world.project.rglob("*") if path.is_file() and text in path.read_text("utf-8", "replace")
        ]
