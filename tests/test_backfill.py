"""Episodes of sessions that were there before us."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life

from harness_memory.base import files, yaml
from harness_memory.memory import backfill

ASK, ANSWER = "Correct the totals", "Totals are rounded once, at the end."


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


def test_backfill_leaves_what_the_hooks_would_have_left(world: World) -> None:
    seen = world.work(ASK, ANSWER, ("totals.py",))
    missed = left(world, ASK, ANSWER, files=("totals.py",))
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
    world.assert_sound()
    files_before = world.files()
    assert world.json("backfill")["left_alone"] == {"known": 2}
    assert world.files() == files_before


def test_sessions_recorded_afterwards_close_steps_and_are_named_at_an_edit(world: World) -> None:
    left(world, ASK, ANSWER + "\n\nNext steps:\n- Let vouchers expire", files=("totals.py",), days=3)
    left(world, "go on", "Vouchers expire after a year now.")
    assert (world.json("backfill")["made"], world.json("open")) == (2, [])
    life = Life(world.home, world.repo)
    life.start()
    call = {"file_path": str(world.repo / "totals.py"), "old_string": "a", "new_string": "b"}
    assert "last changed totals.py" in life.run("pre_tool_use", life.session.tool_call("Edit", call)).context


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema": 1, "id": 3}', None], ids=["empty", "cut", "shape", "gone"])
@pytest.mark.parametrize("has_transcript", [True, False])
def test_lost_episode_is_recorded_again(world: World, damage: bytes | None, has_transcript: bool) -> None:
    session = world.work(ASK, ANSWER, ("totals.py",))
    rest(session, 1)
    kept = world.session_dir(session) / "capture.json"
    os.utime(str(kept), (1, time.time() - 86400))
    path, before = world.episode(session), json.loads(world.episode(session).read_bytes())
    path.unlink() if damage is None else path.write_bytes(damage)
    if not has_transcript:
        Path(session.transcript_path).unlink()
    named = [each for each in world.json("verify", code=1)["findings"] if each["file"] == str(kept.parent)]
    assert [each["remedy"] for each in named] == ["run: harness memory backfill"]
    assert (world.json("backfill")["made"], world.memory("verify").code) == (1, 1 if damage is not None else 0)
    assert json.loads(path.read_bytes()) == before
    assert [aside.read_bytes() for aside in kept.parent.glob("*.damaged")] == ([] if damage is None else [damage])
    path.write_text(json.dumps({**before, "schema": 99}), "utf-8")
    assert world.json("backfill")["left_alone"] == {"known": 1}  # a newer version wrote it
    assert json.loads(path.read_bytes())["schema"] == 99


def test_backfill_records_this_project_unless_all(world: World, tmp_path: Path) -> None:
    other = tmp_path / "a_b"
    alike = tmp_path / "a-b"  # the client's folder for both has the same name
    for path in (other, alike):
        path.mkdir()
    left(world, "Ask here", "An answer that is given here, in the repository.")
    for path in (other, alike):
        left(world, "Ask there", "An answer that is given in %s, elsewhere." % path.name, cwd=path)
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (1, {"of other projects": 2})
    (episode,) = support.episodes(world.root)
    assert episode["headline"] == "Ask here: An answer that is given here, in the repository."
    assert world.json("backfill", "--all")["made"] == 2
    assert len(support.project_dirs(world.root)) == 3
    world.assert_sound()


def test_transcript_of_removed_work_tree_goes_to_its_project(world: World, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    support.git(world.repo, "worktree", "add", "-q", str(tree))
    support.run_hook("session_start", support.Session(tree, world.home).start(), home=world.home)
    left(world, "Ask there", "An answer that is given in the work tree.", cwd=tree, files=("src/a.py",))
    support.git(world.repo, "worktree", "remove", "--force", str(tree))
    assert world.json("backfill")["made"] == 1
    (episode,) = support.episodes(world.root)
    assert episode["files_changed"] == ["src/a.py"]
    assert len(support.project_dirs(world.root)) == 1


@pytest.mark.parametrize("after", ["archive", "delete", "archive whole"])
def test_pruned_or_archived_session_is_known(world: World, after: str) -> None:
    left(world, ASK, ANSWER)
    assert world.json("backfill")["made"] == 1
    (world.root / "config.json").write_text('{"work_after": "%s"}' % after.split()[0], "utf-8")
    is_whole = after.endswith("whole")
    world.json(*(("archive", "--before", "2099-01-01", "--open") if is_whole else ("prune", "--older-than", "1d")))
    report = world.json("backfill")
    assert (report["made"], report["left_alone"]) == (0, {"known": 1})
    assert len(support.episodes(world.root)) == (0 if is_whole else 1)


@pytest.mark.parametrize("after", ["archive", "delete"])
def test_retired_episode_is_neither_missed_nor_brought_back(world: World, after: str) -> None:
    files.write(str(world.root / "config.json"), '{"retention_episodes": 1, "retention_after": "%s"}' % after)
    for number in range(3):
        rest(world.work("Ask %d" % number, "Answer %d is given in full." % number), 1)
    for path in world.project.glob("WORK/*/*/capture.json"):
        os.utime(str(path), (1, time.time() - 86400))
    assert world.memory("verify").code == 0
    assert (world.json("backfill")["made"], len(support.episodes(world.root))) == (0, 2)


def skipped(world: World) -> Any:
    report = world.json("backfill")
    assert report["made"] == 0
    assert support.episodes(world.root) == []
    return report["left_alone"]


def test_transcript_written_lately_is_skipped(world: World) -> None:
    session = left(world, ASK, ANSWER)
    os.utime(session.transcript_path)
    assert skipped(world) == {"changed just now": 1}
    told = world.memory("backfill").stdout
    assert "1 changed just now." in told
    assert "a later run takes it" in told


def test_running_session_is_skipped(world: World, client: support.Client) -> None:
    session = left(world, ASK, ANSWER)
    env = session.environment(pid=client.pid)
    support.run_hook("session_start", session.start(), home=world.home, env=env)
    rest(session, 2)
    assert skipped(world) == {"running": 1}


def test_session_too_old_or_without_an_answer_is_skipped(world: World) -> None:
    left(world, ASK, ANSWER, days=100)
    session = support.Session(world.repo, world.home)
    session.transcript().prompt("Hello?")
    rest(session, 2)
    assert skipped(world) == {"too old": 1, "without substance": 1}
    assert not list(world.root.glob("*/WORK/*/*"))


@pytest.mark.parametrize("data", [b"", b"nonsense\n", b"\0" * 1000, b'{"cwd": 1, "sessionId": [], "timestamp": 0}\n'])
def test_file_that_is_not_a_transcript_is_skipped(world: World, data: bytes) -> None:
    path = Path(support.Session(world.repo, world.home).transcript_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    path.with_name("agent-1a2b3c4d.jsonl").write_bytes(data)  # a subagent of an older client
    assert skipped(world) == {"without substance": 1}


def test_copy_of_a_transcript_is_one_session(world: World) -> None:
    session = left(world, ASK, ANSWER)
    path = Path(session.transcript_path)
    path.with_name("copy of it.jsonl").write_bytes(path.read_bytes())
    for found in path.parent.iterdir():
        os.utime(str(found), (1, time.time() - 86400))
    assert world.json("backfill")["made"] == 1
    assert [value["session_id"] for value in support.episodes(world.root)] == [session.id]


def test_fork_holds_only_its_own_part(world: World) -> None:
    parent = left(world, ASK, ANSWER, files=("totals.py",))
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
    world.assert_sound()
