"""What a start does about sessions that died, and how it knows."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life

from harness_memory.session.life import client_process, is_alive


def start_another(life: Life) -> None:
    with support.Client() as client:
        Life(life.home, life.cwd, pid=client.pid).start()


def test_killed_session_is_recorded_and_abandoned_by_the_next_start(life: Life, client: support.Client) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.prompt("two")
    life.transcript.write(life.cwd / "two.py")
    client.kill()
    start_another(life)
    assert (life.meta["status"], life.meta["reason"]) == ("ABANDONED", "its process %d is gone" % client.pid)
    assert (life.episode["files_changed"], life.episode["outcome"]) == (["one.py", "two.py"], "interrupted")
    assert life.episode["what_remains"] == ["Unfinished: two"]
    assert [thread["status"] for thread in life.threads()] == ["open"]
    assert not life.is_marked_live


def test_idle_session_whose_process_died_stays_completed(life: Life, client: support.Client) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    client.kill()
    start_another(life)
    assert (life.meta["status"], life.is_marked_live) == ("COMPLETED", False)


def test_clear_without_session_end_abandons_the_first(life: Life) -> None:
    life.start()
    life.prompt("one")
    life.transcript.write(life.cwd / "one.py")
    life.another().start("clear")
    assert life.meta["status"] == "ABANDONED"
    assert "went on as session" in life.meta["reason"]
    assert life.episode["files_changed"] == ["one.py"]


@pytest.mark.parametrize(("hours", "status"), [(11, "ACTIVE"), (13, "ABANDONED")])
def test_where_the_process_cannot_be_known_age_decides(life: Life, hours: int, status: str) -> None:
    life.start()
    life.prompt("one")
    (path,) = life.store.glob("*/STATE/live/%s.json" % life.session.id)
    marker = json.loads(path.read_text("utf-8"))
    marker["process"]["host"] = "another-machine"
    path.write_text(json.dumps(marker), "utf-8")
    past = time.time() - hours * 3600
    for path in (life.directory / "META.yaml", life.directory / "capture.json", life.transcript.path):
        os.utime(path, (past, past))
    start_another(life)
    assert life.meta["status"] == status


def test_sweep_that_runs_out_of_time_goes_on_at_the_next_start(life: Life, client: support.Client) -> None:
    lives = [Life(life.home, life.cwd, pid=client.pid) for _ in range(8)]
    for each in lives:
        each.transcript.turn("ask", "Done.", files=[each.cwd / "a.py"])
        each.run("user_prompt_submit", each.session.prompt("more"))
    client.kill()
    for _ in lives:
        start_another(life)
    assert [each.meta["status"] for each in lives] == ["ABANDONED"] * 8
    assert all(each.episode["files_changed"] == ["a.py"] for each in lives)


def test_dead_session_of_another_work_tree_keeps_its_paths(life: Life, tmp_path: Path, client: support.Client) -> None:
    tree = tmp_path / "tree"
    support.git(life.cwd, "worktree", "add", "-q", str(tree))
    dead = Life(life.home, tree, pid=client.pid)
    dead.start()
    dead.prompt("one")
    dead.transcript.write(tree / "src" / "one.py")
    client.kill()
    start_another(life)
    assert (dead.meta["status"], dead.episode["files_changed"]) == ("ABANDONED", ["src/one.py"])


def test_process_is_known_by_more_than_its_number() -> None:
    me = client_process(os.getpid())
    if "start" not in me:
        pytest.skip("this platform does not say when a process began")
    namespace = me["boot"].partition(":")[2]
    changes: list[tuple[dict[str, Any], bool | None]] = [
        ({}, True),
        ({"start": "1"}, False),
        ({"boot": "0000:" + namespace}, False),
        ({"boot": "0000:1"}, None),
        ({"host": "another"}, None),
        ({"pid": 0}, None),
    ]
    assert [is_alive({**me, **change}) for change, _ in changes] == [answer for _, answer in changes]


def test_without_a_pid_from_the_client_the_nearest_ancestor_counts(life: Life) -> None:
    life.pid = None
    life.start()
    (marker,) = life.store.glob("*/STATE/live/*.json")
    process = json.loads(marker.read_text("utf-8"))["process"]
    if not process:
        pytest.skip("this platform does not say which process is a parent")
    assert process["pid"] == os.getpid()
