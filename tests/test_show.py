"""Sessions as a person sees them: `status`, `list`, `show`, `why` and `stats`."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life

from harness_memory.base import clock


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two sessions that ended, for tests that only read."""
    top = tmp_path_factory.mktemp("settled")
    world = World(top / "home", support.make_repo(top / "project"))
    world.work("Add a form", "Added a login form with validation. All tests pass.", ("src/login.py", "tests/t.py"))
    world.work("Speed up the parser", "The parser is twice as fast.", ("parser.py",))
    return world


@pytest.fixture
def worked(settled: World, tmp_path: Path) -> World:
    """The same in a store to write to."""
    shutil.copytree(str(settled.home), str(tmp_path / "copy"))
    return World(tmp_path / "copy", settled.repo)


def begin(world: World, prompt: str, **process: Any) -> support.Session:
    """A running session."""
    life = Life(world.home, world.repo, **process)
    life.start()
    life.prompt(prompt)
    return life.session


def test_status_shows_counts_work_and_running_sessions(worked: World, client: support.Client) -> None:
    live = worked.work("Go on", "Halfway.", ("src/login.py",), pid=client.pid, end=False)
    worked.memory("checkpoint", "--done", "Half of it is done now", "--remains", "The other half", "--session", live.id)
    facts = worked.json("status")
    assert facts["memory"] == str(worked.project)
    assert (facts["sessions"], facts["episodes"], facts["open_threads"]) == (3, 3, 1)
    assert [one["session_id"] for one in facts["live"]] == [live.id]
    assert facts["in_progress"][0]["next_steps"] == ["The other half"]
    assert {"id", "headline", "status"} <= {*facts["last"]}
    assert {"install", "guard", "runs"} == {check["topic"] for check in facts["health"]}
    page = worked.memory("status").stdout
    for text in ("3 sessions, 1 open thread", "next: The other half", live.id[:8], "Stop "):
        assert text in page
    assert len(page.splitlines()) <= 24


def test_list_is_newest_first_with_running_sessions(worked: World) -> None:
    running = begin(worked, "Write the docs")
    rows = worked.json("list")
    assert [row["started"] for row in rows] == sorted((row["started"] for row in rows), reverse=True)
    by_id = {row["session_id"]: row for row in rows}
    row = by_id[running.id]
    assert (row["status"], row["headline"], row["has_episode"]) == ("ACTIVE", "Write the docs", False)
    done = next(row for row in rows if row["headline"].startswith("Added"))
    assert (done["status"], done["branch"], done["files"]) == ("COMPLETED", "main", 2)
    lines = worked.memory("list").stdout.splitlines()
    assert lines[0].split() == ["ID", "STARTED", "STATUS", "MIN", "BRANCH", "FILES", "SESSION"]
    assert (len(by_id), len(lines)) == (3, 4)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to know that a process is gone")
def test_a_session_whose_process_is_gone_is_shown_as_died(world: World, client: support.Client) -> None:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.prompt("Can you write the docs?")
    life.transcript.write(world.repo / "docs.md")
    for state in ("ACTIVE", "DIED"):
        (row,) = world.json("list")
        assert row["status"] == state
        assert world.memory("list").stdout.splitlines()[1].split()[3] == state
        client.kill()
    before, page = world.files(), world.memory("show", "last").stdout
    for text in ("# Can you write the docs?\n", "DIED (its process is gone", " to 20"):
        assert (text in page, page.count("Can you write the docs?")) == (True, 1)
    assert "Now           %s DIED, started " % life.session.id[:8] in world.memory("status").stdout
    assert (world.json("digest")["sessions"][0]["status"], world.files()) == ("DIED", before)
    world.work("Go on", "Went on with it.")
    assert "\n- Can you write the docs? (ABANDONED, main)\n" in world.memory("digest").stdout
    assert "* Can you write the docs? (interrupted)\n    thread" in world.memory("open").stdout
    assert "next: Unfinished" not in world.memory("open").stdout


@pytest.mark.parametrize(("words", "number"), support.rows("verbs/list_options.jsonl"))
def test_list_shows_only_what_its_options_ask_for(settled: World, words: str, number: int) -> None:
    assert len(settled.json(*words.split())) == number
    assert settled.memory(*words.split()).code == 0


def test_another_project_is_chosen_by_its_directory(settled: World, tmp_path: Path) -> None:
    assert settled.json("list", cwd=tmp_path) == []
    assert len(settled.json("list", "--project", str(settled.repo), cwd=tmp_path)) == 2
    assert len(settled.json("list", env={"CLAUDE_PROJECT_DIR": str(settled.repo)}, cwd=tmp_path)) == 2
    assert len(settled.json("list", "--all-projects", cwd=tmp_path)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no time zones in the environment")
def test_times_are_stored_in_utc_and_shown_in_local_time(settled: World) -> None:
    assert clock.parse(settled.json("list")[0]["started"]) is not None
    pages = [settled.memory("list", env={"TZ": zone}, before=[]).stdout for zone in ("UTC-5", "UTC+5")]
    assert pages[0] != pages[1]


def test_show_takes_id_prefix_and_last(settled: World) -> None:
    row = next(row for row in settled.json("list") if row["headline"].startswith("Added"))
    (file,) = settled.project.glob("episodes/*-%s.json" % row["id"])
    for word in (row["id"], row["id"][:7], row["session_id"]):
        shown = settled.json("show", word)
        assert shown["id"] == row["id"], word
    assert shown["episode"] == json.loads(file.read_text("utf-8"))
    assert shown["meta"]["artifacts"] == ["src/login.py", "tests/t.py"]
    page = settled.memory("show", row["id"]).stdout
    assert "UTC" not in page
    for text in ("Add a form", "with validation.", "`src/login.py`", "META.yaml", row["session_id"], "COMPLETED"):
        assert text in page
    assert settled.memory("show", "last").code == 0


def test_last_is_not_the_present_session(world: World) -> None:
    before = world.work("One", "Did one.", ("a.py",))
    present = world.work("Two", "Did two.", ("b.py",), end=False)
    assert world.json("show", "last", env={"CLAUDE_CODE_SESSION_ID": present.id})["id"] == before.id[:8]


def test_show_of_an_ambiguous_or_unknown_id_says_what_to_do(world: World) -> None:
    for tail in ("aaaa", "bbbb"):
        named = support.Session(world.repo, world.home, "abcd%s-0000-4000-8000-000000000000" % tail)
        world.work("Ask " + tail, "Did the work of %s." % tail, ("x.py",), session=named)
    result = world.memory("show", "abcd")
    assert (result.code, result.stdout) == (2, "")
    for text in ("abcdaaaa", "abcdbbbb", "Did the work of aaaa.", "more of the id"):
        assert text in result.stderr.replace("More", "more")
    result = world.memory("show", "ffff")
    assert (result.code, result.stdout, "harness memory list" in result.stderr) == (2, "", True)


def test_show_of_a_damaged_episode_says_so(worked: World) -> None:
    row = worked.json("list")[0]
    (path,) = worked.project.glob("episodes/*-%s.json" % row["id"])
    path.write_bytes(b"{oops")
    page = worked.memory("show", row["id"]).stdout
    assert "episode is damaged" in page
    assert row["headline"] in page  # from META


def test_why_shows_what_a_session_was_given(settled: World, worked: World) -> None:
    first, second = sorted(settled.json("list"), key=lambda row: str(row["headline"]))
    assert "nothing was injected" in worked.memory("why", first["id"]).stdout
    assert "Added a login form" in worked.memory("why", second["id"]).stdout
    (entry,) = worked.json("why", second["id"])
    assert (entry["event"], entry["tokens"] > 0) == ("SessionStart", True)


def test_why_without_id_is_about_the_present_session(worked: World) -> None:
    present = begin(worked, "Write the docs")
    env = {"CLAUDE_CODE_SESSION_ID": present.id}
    assert worked.json("why", env=env)[0]["why"] == "startup"
    assert worked.memory("why").stdout == worked.memory("why", present.id).stdout


def test_stats_counts_what_was_given_and_used(worked: World) -> None:
    worked.work("Make the login form faster", "Faster now.", ("src/login.py",))
    value = worked.json("stats")
    assert value["sessions"] == 2
    assert value["tokens_mean"] > 0
    assert {"injected", "used"} == {*value["kinds"]["menu"]}
    assert "sessions given something  " in worked.memory("stats").stdout
    assert " session at a start: injected 3\n" in worked.memory("stats").stdout
