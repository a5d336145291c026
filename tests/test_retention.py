"""How long sessions are kept: whole, without artifacts, archived; and back again."""

from __future__ import annotations

import os
import tarfile
import time
from pathlib import Path
from typing import Callable

import pytest
import support
from commandline import World

from harness_memory.base import clock
from harness_memory.base import files as store
from harness_memory.memory import archive
from harness_memory.project import identity
from harness_memory.session import capture, episode, life, record, sessions

DAY = 86400


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    """One session of today; older ones are added by `aged`."""
    world = World(home, repo)
    store.ensure_private(str(world.root))
    ours = identity.locate(str(world.root), str(repo), str(repo))
    identity.record(ours, clock.iso(time.time()))
    aged(world, 0, "of today", number=99)
    return world


def aged(world: World, days: float, name: str, *, remains: str = "", number: int = 0) -> str:
    """A session that ended so many days ago, as the hooks leave it; its short id."""
    at, memory = time.time() - days * DAY - 60, str(world.project)
    claude_id = "%08x-0000-4000-8000-%012x" % (int(days * 1000) + number, number)
    session = life.open_session(memory, claude_id, at, "project")
    state = capture.Capture()
    state.asks, state.answer, state.turn, state.root = [["", name]], name + ": done.", "answered", "r" + name
    state.ended, state.todos = clock.iso(at + 60), {"1": [remains, "pending"]} if remains else {}
    value = record.build(session, state, str(world.repo), "", True)
    session.meta.update(status="COMPLETED", ended=state.ended, summary=value["what_was_done"])
    capture.save(session.dir, state)
    store.write(os.path.join(session.artifacts, "output.txt"), b"an output\n")
    store.write(os.path.join(session.dir, "summary.md"), record.summary(value).encode())
    session.save()
    support.publish(memory, session.episode_name, episode.render(value))
    return session.id


def before(days: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(time.time() - days * DAY))


def work(world: World) -> dict[str, list[str]]:
    return {path.name: sorted(p.name for p in path.iterdir()) for path in world.project.glob("WORK/*/*")}


def facts(world: World) -> dict[str, bytes]:
    """All files but archives, locks and what a killed process left."""
    found = {name: data for name, data in world.files().items() if not name.startswith("archive")}
    return {name: data for name, data in found.items() if not name.endswith((".lock", ".tmp"))}


def resume(world: World, claude_id: str) -> None:
    """The session speaks again, by the real hooks."""
    world.work("Go on", "It went on, and is done.", session=support.Session(world.repo, world.home, claude_id))


def claude_id_of(world: World, short_id: str) -> str:
    return next(str(value["session_id"]) for value in support.episodes(world.root) if value["id"] == short_id)


# prune --------------------------------------------------------------------------------------------
def test_prune_keeps_a_week_whole_and_a_month_without_artifacts(world: World) -> None:
    ids = {days: aged(world, days, "work %s" % days) for days in (6.5, 7.5, 29.5, 30.5, 60)}
    menu_before = (world.project / "INDEX.md").read_bytes()
    (preview,) = world.json("prune", "--dry-run")
    assert (preview["kept"], preview["artifacts_pruned"], preview["archived"]) == (2, 2, 2)
    (report,) = world.json("prune")
    assert {**report, "archives": [], "note": preview["note"]} == preview
    left = work(world)
    assert "artifacts" in left[ids[6.5]]
    assert left[ids[7.5]] == left[ids[29.5]] == ["META.yaml", "capture.json", "summary.md"]
    assert left[ids[30.5]] == left[ids[60]] == ["META.yaml", "capture.json"]  # to be the same session when resumed
    assert (world.project / "INDEX.md").read_bytes() == menu_before
    world.assert_sound()
    (again,) = world.json("prune")
    assert (again["kept"], again["artifacts_pruned"], again["archived"]) == (6, 0, 0)
    (path,) = world.project.glob("episodes/*-%s.json" % ids[30.5])
    path.unlink()
    world.memory("rebuild")
    assert not path.exists()  # it is archived: `restore` brings it back


def test_prune_deletes_when_configured_and_takes_an_age(world: World) -> None:
    old, of_this_week = aged(world, 40, "old"), aged(world, 5, "of this week")
    store.write(str(world.root / "config.json"), b'{"work_after": "delete"}')
    (report,) = world.json("prune")
    assert (report["deleted"], report["archives"]) == (1, [])
    assert world.json("prune", "--older-than", "4d")[0]["deleted"] == 1
    assert work(world)[old] == work(world)[of_this_week] == ["META.yaml", "capture.json"]
    assert not (world.root / "archive").exists()
    assert world.memory("prune", "--older-than", "soon").code == 2


def test_session_without_episode_is_thinned_and_then_leaves(world: World) -> None:
    young, old = aged(world, 20, "young"), aged(world, 40, "old")
    for mine in (young, old):
        next((world.project / "episodes").glob("*-%s.json" % mine)).unlink()
    world.json("prune")
    assert work(world)[young] == ["META.yaml", "capture.json", "summary.md"]
    assert old not in work(world)
    assert world.json("restore", old)["restored"] == [old]


def test_running_session_is_neither_pruned_nor_archived(world: World) -> None:
    mine = aged(world, 50, "long ago")
    session = sessions.load(str(next(world.project.glob("WORK/*/" + mine))))
    assert session
    project = identity.locate(str(world.root), str(world.repo), str(world.repo))
    life.activate(project, session, {}, str(world.repo), {})
    assert world.json("prune")[0]["archived"] == 0
    assert world.json("archive", "--before", before(20))["sessions"] == 0
    assert "artifacts" in work(world)[mine]


def test_pruned_session_that_is_resumed_is_the_same_session(world: World) -> None:
    mine = aged(world, 40, "long ago", number=7)
    world.json("prune")
    resume(world, claude_id_of(world, mine))
    (value,) = [value for value in support.episodes(world.root) if value["id"] == mine]
    assert {*value["asked"]} == {"long ago", "Go on"}
    world.assert_sound()


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_nothing_goes_that_could_not_be_restored(world: World) -> None:
    mine, other = aged(world, 50, "long ago", number=1), aged(world, 51, "before that", number=2)
    (folder,) = world.project.glob("WORK/*/" + mine)
    (folder / "link").symlink_to(folder / "META.yaml")
    result = world.memory("prune")
    assert (result.code, "link: is a symbolic link" in result.stderr) == (2, True)
    assert all("artifacts" in work(world)[each] for each in (mine, other))


def test_session_with_a_damaged_record_stays_and_is_named(world: World) -> None:
    mine = aged(world, 50, "long ago")
    next(world.project.glob("WORK/*/%s/META.yaml" % mine)).write_bytes(b"nothing")
    assert world.memory("prune").code == 0
    assert "artifacts" in work(world)[mine]
    assert "META.yaml" in world.memory("doctor").stdout


# archive and restore ------------------------------------------------------------------------------
def test_archived_sessions_come_back_as_they_were(world: World) -> None:
    old = [aged(world, 50 + n, "old %d" % n, number=n) for n in range(3)]
    kept = aged(world, 10, "younger")
    files_before = facts(world)
    report = world.json("archive", "--before", before(20))
    assert (report["sessions"], report["open"], len(report["archives"])) == (3, 0, 1)
    assert [name.encode() in (world.project / "INDEX.md").read_bytes() for name in (*old, kept)] == [
        False,
        False,
        False,
        True,
    ]
    world.assert_sound()
    listed = world.json("restore")
    assert {entry["id"]: entry["headline"] for entry in listed} == {old[n]: "old %d" % n for n in range(3)}
    assert world.json("restore", old[0])["restored"] == [old[0]]
    assert sorted(world.json("restore", "--all")["restored"]) == sorted(old[1:])
    assert facts(world) == files_before
    assert sorted(world.json("restore", "--all")["present"]) == sorted(old)
    world.assert_sound()


def test_archive_is_private_readable_by_tar_and_searched(world: World) -> None:
    mine = aged(world, 50, "The quokka question")
    (path,) = world.json("archive", "--before", before(20))["archives"]
    with tarfile.open(path) as packed:
        assert any(name.endswith(mine + "/artifacts/output.txt") for name in packed.getnames())
    if os.name == "posix":
        assert os.stat(path).st_mode & 0o077 == 0
    assert mine in world.memory("search", "quokka", "--archived").stdout
    shown = world.memory("show", mine)
    assert (shown.code, "restore %s" % mine in shown.stderr) == (2, True)
    assert world.json("restore", os.path.basename(path))["restored"] == [mine]


def test_sessions_of_open_threads_stay_unless_asked_for(world: World) -> None:
    open_one = aged(world, 50, "half done", remains="The other half")
    report = world.json("archive", "--before", before(20))
    assert (report["sessions"], report["open"]) == (0, 1)
    assert open_one in work(world)
    assert "--open archives them too" in world.memory("archive", "--before", before(20)).stdout
    assert world.json("archive", "--before", before(20), "--open")["sessions"] == 1


def test_session_archived_in_parts_comes_back_whole(world: World) -> None:
    mine = aged(world, 50, "old")
    files_before = facts(world)
    world.json("prune")
    world.json("archive", "--before", before(20))
    assert [entry["id"] for entry in world.json("restore")] == [mine]
    assert world.json("restore", "--all")["restored"] == [mine]
    assert facts(world) == files_before


def test_restore_refuses_a_session_that_went_on(world: World) -> None:
    mine = aged(world, 50, "old", number=3)
    claude_id = claude_id_of(world, mine)
    world.json("archive", "--before", before(20))
    resume(world, claude_id)
    files_before = facts(world)
    report = world.json("restore", mine, code=1)
    assert (report["restored"], [*report["left"]]) == ([], [mine])
    assert facts(world) == files_before


OURS = "episodes/session-2026-01-01T000000Z-a1b2c3d4.json WORK/2026-01-01/a1b2c3d4/META.yaml WORK/2026-01-01/a1/b/x"
NOT_OURS = (
    *("WORK/2026-01-01/a1b2c3d4/../../../x", "/etc/passwd", "WORK/2026-01-01/a1b2c3d4", "WORK/someday/a1b2c3d4/x"),
    *("WORK/2026-01-01/a b/x", "episodes/../config.json", "episodes/other.json", "STATE/forgotten.json", "../x"),
    *("WORK/2026-01-01/a1b2c3d4/a\\b", "../episodes/session-2026-01-01T000000Z-a1b2c3d4.json"),
)


def test_restore_writes_only_episodes_and_session_files() -> None:
    assert all(map(archive.owner, OURS.split()))
    assert [path for path in NOT_OURS if archive.owner(path)] == []


@pytest.mark.parametrize("spoil", [lambda d: d[:200], lambda d: d[:200] + bytes(40) + d[240:], lambda d: b""])
def test_damaged_archive_is_named_and_others_are_restored(world: World, spoil: Callable[[bytes], bytes]) -> None:
    one = aged(world, 50, "old one", number=1)
    world.json("archive", "--before", before(20))
    two = aged(world, 50, "old two", number=2)
    (path,) = world.json("archive", "--before", before(20))["archives"]
    store.write(path, spoil(Path(path).read_bytes()))
    assert os.path.basename(path) in world.memory("verify").stdout
    result = world.memory("restore", "--all")
    assert (result.code, "is damaged" in result.stderr) == (2, True)
    assert one in work(world)
    assert two not in work(world)
