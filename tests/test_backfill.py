"""Episodes of sessions that were there before us."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.base import settings, yaml
from harness_memory.memory import backfill
from harness_memory.session import tombstones

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def left(
    world: World, ask: str, answer: str, *, cwd: Path | None = None, days: float = 2, files: tuple[str, ...] = ()
) -> support.Session:
    """A transcript of a session that no hook of ours saw, last written some days ago."""
    where = cwd or world.repo
    session = support.Session(where, world.home)
    at = datetime.now(timezone.utc) - timedelta(days=days)
    session.transcript(at=at).turn(ask, answer, files=[where / name for name in files])
    rest(session, days)
    return session


def rest(session: support.Session, days: float) -> None:
    then = time.time() - days * 86400
    os.utime(session.transcript_path, (then, then))


def headlines(world: World) -> set[str]:
    return {value["headline"] for value in support.episodes(world.root)}


def assert_sound(world: World) -> None:
    before = world.files()
    checked = world.memory("verify", "--all-projects")
    assert checked.code == 0, checked.stdout
    assert "made anew" not in world.memory("rebuild", "--all-projects").stdout
    assert world.files() == before


def test_what_the_hooks_would_have_left(world: World) -> None:
    seen = world.work("Correct the totals", "Totals are rounded once, at the end.", ("totals.py",))
    missed = left(world, "Correct the totals", "Totals are rounded once, at the end.", files=("totals.py",))
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (1, {"known": 1})
    ours, theirs = (next(v for v in support.episodes(world.root) if v["session_id"] == s.id) for s in (missed, seen))
    assert list(ours) == list(theirs)
    assert {*ours["asked"]} == {*theirs["asked"]}
    for key in ("what_was_done", "files_changed", "outcome", "branch", "model", "headline", "project"):
        assert ours[key] == theirs[key]
    meta = yaml.load((world.session_dir(missed) / "META.yaml").read_text("utf-8"))
    assert (meta["status"], meta["claude_session"]) == ("COMPLETED", missed.id)
    assert meta["started"] == ours["started"] < ours["ended"] == meta["ended"]
    assert meta["reason"] == backfill.REASON
    assert (world.session_dir(missed) / "summary.md").is_file()
    assert missed.id[:8] in (world.project / "INDEX.md").read_text("utf-8")
    assert_sound(world)


def test_again_nothing_is_made_twice(world: World) -> None:
    left(world, "Correct the totals", "Totals are rounded once, at the end.")
    assert world.json("backfill")["made"] == 1
    before = world.files()
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (0, {"known": 1})
    assert world.files() == before


def test_a_killed_run_goes_on(world: World) -> None:
    session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
    world.json("backfill")
    (world.session_dir(session) / "META.yaml").unlink()  # the record is what is written last
    assert world.json("backfill")["made"] == 1
    assert len(support.episodes(world.root)) == 1
    assert_sound(world)


def test_only_this_project_unless_all(world: World, tmp_path: Path) -> None:
    other = tmp_path / "a_b"
    alike = tmp_path / "a-b"  # the client's folder for both has the same name
    for path in (other, alike):
        path.mkdir()
    left(world, "Ask here", "An answer that is given here, in the repository.")
    for path in (other, alike):
        left(world, "Ask there", "An answer that is given in %s, elsewhere." % path.name, cwd=path)
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (1, {"of other projects": 2})
    assert headlines(world) == {"An answer that is given here, in the repository."}
    assert world.json("backfill", "--all")["made"] == 2
    assert len(support.project_dirs(world.root)) == 3
    assert_sound(world)


def test_a_work_tree_that_is_gone_keeps_its_project(world: World, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    support.git(world.repo, "worktree", "add", "-q", str(tree))
    support.run_hook("session_start", support.Session(tree, world.home).start(), home=world.home)
    left(world, "Ask there", "An answer that is given in the work tree.", cwd=tree, files=("src/a.py",))
    support.git(world.repo, "worktree", "remove", "--force", str(tree))
    assert world.json("backfill")["made"] == 1
    (episode,) = support.episodes(world.root)
    assert episode["files_changed"] == ["src/a.py"]
    assert len(support.project_dirs(world.root)) == 1


def test_secrets_are_redacted(world: World) -> None:
    left(world, "Use %s to sign in" % SECRET, "Signed in with %s, as you asked." % SECRET)
    assert world.json("backfill")["made"] == 1
    assert all(SECRET.encode() not in data for data in world.files().values())


@pytest.mark.parametrize("after", ["archive", "delete"])
def test_what_was_pruned_does_not_come_back(world: World, after: str) -> None:
    session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
    assert world.json("backfill")["made"] == 1
    (world.root / "config.json").write_text('{"work_after": "%s"}' % after, "utf-8")
    world.json("prune", "--older-than", "1d")
    assert not list(world.project.glob("WORK/*/*"))
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (0, {"known": 1})
    assert [value["session_id"] for value in support.episodes(world.root)] == [session.id]
    assert not list(world.project.glob("WORK/*/*"))


def test_what_was_archived_does_not_come_back(world: World) -> None:
    left(world, "Correct the totals", "Totals are rounded once, at the end.")
    assert world.json("backfill")["made"] == 1
    assert world.json("archive", "--before", "2099-01-01", "--open")["sessions"] == 1
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (0, {"known": 1})
    assert support.episodes(world.root) == []


class TestLeftAlone:
    def kinds(self, world: World) -> Any:
        report = world.json("backfill")
        assert report["made"] == 0
        assert support.episodes(world.root) == []
        return report["left_alone"]

    def test_sessions_at_work(self, world: World) -> None:
        session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
        os.utime(session.transcript_path)
        assert self.kinds(world) == {"running": 1}
        told = world.memory("backfill").stdout
        assert "1 running or written to in the last 15 minutes." in told
        assert "run harness memory backfill later" in told

    def test_silent_sessions_that_live(self, world: World, client: support.Client) -> None:
        session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
        env = session.environment(pid=client.pid)
        support.run_hook("session_start", session.start(), home=world.home, env=env)
        rest(session, 2)
        assert self.kinds(world) == {"running": 1}

    def test_silent_sessions_that_the_client_has_on_record(self, world: World, client: support.Client) -> None:
        session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
        folder = world.home / ".claude" / "sessions"
        folder.mkdir()
        record = folder / ("%d.json" % client.pid)
        record.write_text('{"pid": %d, "sessionId": "%s"}' % (client.pid, session.id), "utf-8")
        (folder / "odd.json").write_bytes(b"[1]")
        assert self.kinds(world) == {"running": 1}
        client.kill()
        assert world.json("backfill")["made"] == 1

    def test_forgotten_ones(self, world: World) -> None:
        session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
        support.run_hook("session_start", support.Session(world.repo, world.home).start(), home=world.home)
        tombstones.add(str(world.project), time.time(), sessions=[session.id])
        assert self.kinds(world) == {"forgotten": 1}

    def test_what_retention_would_delete(self, world: World) -> None:
        left(world, "Correct the totals", "Totals are rounded once, at the end.", days=100)
        assert self.kinds(world) == {"too old": 1}

    def test_sessions_without_substance(self, world: World) -> None:
        session = support.Session(world.repo, world.home)
        session.transcript().noise()
        rest(session, 2)
        asked = support.Session(world.repo, world.home)
        asked.transcript().prompt("Hello?")
        rest(asked, 2)
        assert self.kinds(world) == {"without substance": 2}
        assert not list(world.root.glob("*/WORK/*/*"))

    @pytest.mark.parametrize(
        "data", [b"", b"nonsense\n", b"\0" * 1000, b'{"cwd": 1, "sessionId": [], "timestamp": 0}\n']
    )
    def test_what_is_no_transcript(self, world: World, data: bytes) -> None:
        session = support.Session(world.repo, world.home)
        path = Path(session.transcript_path)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        rest(session, 2)
        assert self.kinds(world) == {"without substance": 1}

    def test_subagents_of_older_clients(self, world: World) -> None:
        session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
        path = Path(session.transcript_path)
        path.rename(path.with_name("agent-1a2b3c4d.jsonl"))
        assert self.kinds(world) == {}


def test_only_as_many_as_retention_keeps(world: World) -> None:
    for number in range(4):
        left(world, "Ask", "Answer number %d is of some length." % number, days=2 + number)
    world.root.mkdir(parents=True)
    (world.root / "config.json").write_text('{"retention_episodes": 3}', "utf-8")
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (3, {"too old": 1})
    assert headlines(world) == {"Answer number %d is of some length." % number for number in range(3)}


def test_a_copy_is_the_same_session(world: World) -> None:
    session = left(world, "Correct the totals", "Totals are rounded once, at the end.")
    path = Path(session.transcript_path)
    path.with_name("copy of it.jsonl").write_bytes(path.read_bytes())
    for found in path.parent.iterdir():
        os.utime(str(found), (1, time.time() - 86400))
    assert world.json("backfill")["made"] == 1
    assert [value["session_id"] for value in support.episodes(world.root)] == [session.id]


def test_a_fork_is_told_from_what_it_comes_from(world: World) -> None:
    parent = left(world, "Correct the totals", "Totals are rounded once, at the end.", files=("totals.py",))
    fork = support.Session(world.repo, world.home)
    inherited = Path(parent.transcript_path).read_bytes().replace(parent.id.encode(), fork.id.encode())
    Path(fork.transcript_path).write_bytes(inherited)
    at = datetime.now(timezone.utc) - timedelta(days=1)
    transcript = fork.transcript(at=at)
    transcript.turn("Try another way", "Totals are rounded per line, which is what tax law asks for.", files=["tax.py"])
    rest(fork, 1)
    assert world.json("backfill")["made"] == 2
    mine = next(value for value in support.episodes(world.root) if value["session_id"] == fork.id)
    assert mine["asked"] == ["Try another way"]
    assert mine["parent"] == mine["thread"] == parent.id[:8]
    assert_sound(world)


def test_a_wrong_clock_does_not_date_a_session(world: World) -> None:
    session = support.Session(world.repo, world.home)
    ahead = datetime(2099, 5, 1, tzinfo=timezone.utc)
    session.transcript(at=ahead).turn("Correct the totals", "Totals are rounded once, at the end.")
    rest(session, 2)
    assert world.json("backfill")["made"] == 1
    (value,) = support.episodes(world.root)
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 2 * 86400))
    assert (value["started"][:10], value["ended"][:10]) == (day, day)
    assert_sound(world)


def test_what_nothing_came_of_is_not_read_again(world: World) -> None:
    session = support.Session(world.repo, world.home)
    paper = session.transcript(at=datetime.now(timezone.utc) - timedelta(days=2))
    paper.prompt("Print it all")
    paper.text("x" * (settings.TRANSCRIPT_LINE_MAX_BYTES + 2 * settings.TRANSCRIPT_CHUNK_BYTES))  # not to be held
    rest(session, 2)
    assert world.json("backfill", "--dry-run")["to_read"] == 1
    assert world.json("backfill")["left_alone"] == {"without substance": 1}
    again = world.json("backfill")
    assert (again["to_read"], again["left_alone"]) == (0, {"without substance": 1})
    assert_sound(world)
    paper.turn("And now?", "Totals are rounded once, at the end.")
    rest(session, 1)
    assert world.json("backfill")["made"] == 1
    assert session.id not in (world.project / "STATE" / "backfill.json").read_text("utf-8")


def test_dry_run(world: World) -> None:
    left(world, "Correct the totals", "Totals are rounded once, at the end.")
    report = world.json("backfill", "--dry-run")
    assert (report["to_read"], report["made"]) == (1, 0)
    assert not world.root.exists() or support.episodes(world.root) == []


def test_nothing_to_read(world: World) -> None:
    assert "No transcripts in" in world.memory("backfill", "--all").stdout
    assert world.memory("backfill", "--all", "--project", ".").code == 2


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_memory_that_cannot_be_written(world: World) -> None:
    world.work("Correct the totals", "Totals are rounded once, at the end.")
    left(world, "Add a form", "Added a form that asks for the name.")
    folders = [world.root, *(path for path in world.root.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        told = world.memory("backfill", before=support.bound_by_modes())
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert (told.code, "the memory cannot be written (Permission denied)" in told.stderr) == (2, True)
    assert "unreadable" not in told.stdout
