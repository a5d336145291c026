"""Files that a disk has damaged: a few on every run, chosen anew by each Python; all of them in `bench/damage.py`."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Iterator

import damage
import pytest
import support
from commandline import World
from life import Life, failures

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and sparse files of Linux")
SEED = sys.version_info[0] * 100 + sys.version_info[1]


@pytest.fixture(scope="module")
def land(tmp_path_factory: pytest.TempPathFactory) -> Iterator[damage.Land]:
    land = damage.Land(tmp_path_factory.mktemp("damage") / "land")
    yield land
    land.close()


def test_every_place_where_a_file_is_read_is_tried(land: damage.Land) -> None:
    names = land.files()
    for ending in (
        *("config.json", "memory/guard.json", ".claude/guard.json", "settings.json", "installs.json", "project.json"),
        *("META.yaml", "capture.json", "injected.json", "summary.md", "session_memory_context.md", "local/here.md"),
        *("briefing.md", "briefing.md.1", "profiles/melt.md", "topics/cart.md", "MEMORY.md", "INDEX.md"),
        *("current-work.json", "conversation_state.json", "triggers.json", "memory/triggers", "forgotten.json"),
        *("backfill.json", "consolidated.json", "episodes.idx", "notes.idx", "ratings.jsonl", "audit.jsonl"),
        *(".tar.gz", "completion-checkpoint.json", "subagents/agent-a.jsonl", "last-run/Stop"),
        *(".git/HEAD", ".git/config", ".git/packed-refs", "tree/.git", "commondir", "gitdir"),
    ):
        assert any(name.endswith(ending) for name in names), ending
    for part in (
        "/episodes/session-",
        "/STATE/live/",
        "/STATE/progress/",
        "/STATE/threads/",
        "/failures/",
        "/projects/",
    ):
        assert any(part in name for name in names), part


@pytest.mark.parametrize("number", range(support.volume(7)))
def test_some_damage(land: damage.Land, number: int) -> None:
    chance = random.Random(SEED)
    case = damage.cases(land, chance)[number]
    assert damage.Trial(land, case, chance).run() == []


@pytest.mark.parametrize("kind", ["half", "zeros", "huge"])
def test_the_record_of_the_session_at_work(land: damage.Land, kind: str) -> None:
    """What would hurt most, on every Python."""
    (meta,) = (name for name in land.files() if "/05555555/META.yaml" in name)
    assert damage.Trial(land, (meta, kind), random.Random(1)).run() == []


# What was found, one by one ------------------------------------------------------------------------------


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def test_a_record_that_is_cut_off_is_put_aside(life: Life, world: World) -> None:
    life.start()
    life.turn("one", "The first is done.", "one.py")
    path = life.directory / "META.yaml"
    text = path.read_text("utf-8")
    cut = text[: text.index("\ntags:")]  # all that is required, and not whose it is
    path.write_text(cut, "utf-8")
    (found,) = [each for each in world.json("verify", code=1)["findings"] if each["file"] == str(path)]
    assert "cut off" in found["what"]
    life.turn("two", "The second is done.", "two.py")
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert len(support.meta_files(life.store)) == 1
    assert path.with_name("META.yaml.damaged").read_text("utf-8") == cut
    assert failures(life.store) == []


def test_a_record_without_its_last_newline_is_whole(life: Life, world: World) -> None:
    life.start()
    path = life.directory / "META.yaml"
    path.write_text(path.read_text("utf-8").rstrip("\n"), "utf-8")
    assert world.memory("verify").code == 0
    life.turn("one", "The first is done.", "one.py")
    assert not path.with_name("META.yaml.damaged").exists()


@pytest.mark.parametrize("left", [10, -1, -100])
def test_an_archive_that_is_not_whole_is_named(land: damage.Land, left: int) -> None:
    land.reset()
    (path,) = land.store.glob("archive/*/*.tar.gz")
    path.write_bytes(path.read_bytes()[:left])
    found = list(land.world.json("verify", "--all-projects", code=1)["findings"])
    assert [each["what"][:21] for each in found if each["file"] == str(path)] == ["is a damaged archive:"]


def test_settings_that_are_too_large_are_left_unread(world: World) -> None:
    path = world.home / ".claude" / "settings.json"
    path.write_bytes(b"{}")
    os.truncate(str(path), 2 << 30)
    done = world.memory("doctor")
    assert done.code == 1
    assert "settings.json is larger than 4 MB" in done.stdout
