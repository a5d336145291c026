"""Checkpoints: both forms, their owners, and archiving each exactly once."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life, failures

from harness_memory.session import checkpoint

NESTED = {
    "self_report": {"is_job_complete": False, "category": "bugfix"},
    "reflection": {
        "what_was_done": "Fixed the race.",
        "what_remains": "add a test\n- update docs",
        "key_insight": "Locks need deadlines",
        "search_terms": ["lock", "race"],
    },
}
FLAT = {
    "what_was_done": "Fixed the race.",
    "what_remains": ["add a test"],
    "files_changed": ["src/a.py", "/etc/passwd", "../x"],
    "skill_used": "melt",
    "outcome": "partial",
    "tags": ["lock"],
    "learnings": ["Locks need deadlines"],
    "task": {"id": "task-7", "title": "Locks", "remaining": ["windows"]},
    "rating": 4,
}


def put(life: Life, value: Any, name: str = "completion-checkpoint.json", age: float = 0) -> Path:
    path = life.cwd / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    if age:
        os.utime(path, (time.time() - age, time.time() - age))
    return path


def archived(life: Life) -> list[str]:
    return sorted(path.name for path in (life.directory / "artifacts").glob("*"))


def test_the_end_of_a_session_takes_what_its_last_stop_did_not_see(life: Life) -> None:
    life.start()
    life.turn("one", "One is done.", "one.py")
    path = put(life, FLAT)
    life.end()
    assert not path.exists()
    assert life.episode["what_was_done"] == "Fixed the race."


def test_the_nested_form() -> None:
    point = checkpoint.normalize(NESTED)
    assert point is not None
    assert point["what_was_done"] == "Fixed the race."
    assert point["what_remains"] == ["add a test", "update docs"]
    assert point["learnings"] == ["Locks need deadlines"]
    assert point["tags"] == ["lock", "race", "bugfix"]
    assert point["outcome"] == "partial"


def test_the_flat_form() -> None:
    point = checkpoint.normalize(FLAT)
    assert point is not None
    assert point["task"] == {"id": "task-7", "title": "Locks", "remaining": ["windows"], "blockers": []}
    assert (point["skill_used"], point["rating"]) == ("melt", 4)


@pytest.mark.parametrize("word", ["", "none", "None.", "nothing", "N/A", [], None, ["", "none"]])
def test_nothing_remains(word: Any) -> None:
    point = checkpoint.normalize({"what_was_done": "All.", "what_remains": word})
    assert point is not None
    assert point["what_remains"] == []


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"hello": 1}, {"what_was_done": ""}])
def test_what_is_no_checkpoint(value: Any) -> None:
    assert checkpoint.normalize(value) is None


@pytest.mark.parametrize(
    "value",
    [
        {"what_was_done": 5, "tags": {"a": 1}},
        {"task": {"id": ["x"]}, "what_was_done": ["a", "b"]},
        {"self_report": 3, "reflection": {"what_was_done": "x"}},
    ],
)
def test_odd_types_are_survived(value: Any) -> None:
    assert checkpoint.normalize(value) is not None


def test_a_checkpoint_wins_over_derived_text(life: Life) -> None:
    life.start()
    life.prompt("fix the race")
    put(life, NESTED)
    life.transcript.write(life.cwd / "a.py").text("Done!")
    life.stop("Done!")
    episode = life.episode
    assert episode["what_was_done"] == "Fixed the race."
    assert episode["what_remains"] == ["add a test", "update docs"]
    assert episode["learnings"] == ["Locks need deadlines"]
    assert (episode["source"], episode["outcome"]) == ("checkpoint", "partial")
    assert episode["files_changed"] == ["a.py"]
    assert len(archived(life)) == 1
    assert not list((life.cwd / ".claude").iterdir())
    assert [thread["next_steps"] for thread in life.threads()] == [["add a test", "update docs"]]


def test_files_in_a_checkpoint_are_those_of_the_project(life: Life) -> None:
    life.start()
    files = ["src/a.py", str(life.cwd / "b.py"), "/etc/passwd", "../x", "c/../../y", ""]
    put(life, {"what_was_done": "Fixed the race.", "files_changed": files})
    life.turn("fix", "Done!")
    assert life.episode["files_changed"] == ["src/a.py", "b.py"]


def test_a_task_keeps_its_title(life: Life) -> None:
    life.start()
    put(life, {"what_was_done": "Half.", "task": {"id": "auth", "title": "Login", "remaining": ["a"]}})
    life.turn("one", "One.")
    put(life, {"what_was_done": "Whole.", "task": {"id": "auth", "remaining": "none"}})
    life.turn("two", "Two.")
    (path,) = life.store.rglob("progress/*.json")
    task = json.loads(path.read_text("utf-8"))
    assert (task["title"], task["remaining"]) == ("Login", [])


def test_archived_once_however_often_stop_fires(life: Life) -> None:
    life.start()
    life.prompt("fix")
    life.transcript.text("Done!")
    put(life, NESTED)
    for _ in range(3):
        life.stop("Done!")
    assert len(archived(life)) == 1


def test_a_later_checkpoint_has_the_last_word(life: Life) -> None:
    life.start()
    life.prompt("fix")
    put(life, NESTED)
    life.transcript.text("Half.")
    life.stop("Half.")
    put(life, {"what_was_done": "Finished the race fix.", "what_remains": "none", "outcome": "completed"})
    life.transcript.text("Whole.")
    life.stop("Whole.")
    assert life.episode["what_was_done"] == "Fixed the race.\n\nFinished the race fix."
    assert life.episode["headline"] == "Finished the race fix."
    assert life.episode["what_remains"] == []
    assert life.episode["learnings"] == ["Locks need deadlines"]
    assert len(archived(life)) == 2


def test_the_pid_in_the_name_tells_the_owner(life: Life) -> None:
    with support.Client() as second_client:
        second = Life(life.home, life.cwd, pid=second_client.pid)
        life.start()
        second.start()
        put(life, {"what_was_done": "Of the first."}, "completion-checkpoint.%d.json" % life.pid)
        put(life, {"what_was_done": "Of the second."}, "completion-checkpoint-%d.json" % second_client.pid)
        second.turn("b", "B.")
        assert second.episode["what_was_done"] == "Of the second."
        life.turn("a", "A.")
        assert life.episode["what_was_done"] == "Of the first."


def test_the_session_id_inside_tells_the_owner(life: Life) -> None:
    with support.Client() as second_client:
        second = Life(life.home, life.cwd, pid=second_client.pid)
        life.start()
        second.start()
        put(life, {"what_was_done": "Of the first.", "session_id": life.session.id})
        second.turn("b", "B.")
        assert second.episode["source"] == "transcript"
        life.turn("a", "A.")
        assert life.episode["what_was_done"] == "Of the first."


def test_the_transcript_tells_who_wrote_it(life: Life) -> None:
    with support.Client() as second_client:
        second = Life(life.home, life.cwd, pid=second_client.pid)
        life.start()
        second.start()
        path = put(life, {"what_was_done": "Of the first."})
        second.turn("b", "B.")
        assert second.episode["source"] == "transcript"
        life.prompt("a")
        life.transcript.write(path).text("A.")
        life.stop("A.")
        assert life.episode["what_was_done"] == "Of the first."
        assert life.episode["files_changed"] == []


def test_two_sessions_at_once_archive_it_once(life: Life) -> None:
    lives = [life, Life(life.home, life.cwd, pid=life.pid)]
    for each in lives:
        each.start()
        each.run("user_prompt_submit", each.session.prompt("go"))
        each.transcript.bash("cat > .claude/completion-checkpoint.json").text("Done.")
    for round_number in range(3):
        put(life, {"what_was_done": "Round %d." % round_number})
        runs = []
        for each in lives:
            env = support.clean_environment(life.home, each.session.environment(pid=life.pid))
            runs.append(subprocess.Popen(support.hook_command("stop"), stdin=subprocess.PIPE, env=env, cwd=life.cwd))
        for each, run in zip(lives, runs):
            run.communicate(support.encode(each.session.stop("Done.")))
    assert sum(len(archived(each)) for each in lives if (each.directory / "artifacts").exists()) == 3


MALFORMED = ["{", "", "[]", '{"hello": 1}', "\x00\x01", "null"]


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_ones_are_kept_reported_and_not_retried(life: Life, text: str) -> None:
    life.start()
    put(life, text)
    for number in range(2):
        life.turn("fix %d" % number, "Done.")
    (kept,) = archived(life)
    assert kept.endswith(".malformed")
    assert (life.directory / "artifacts" / kept).read_text("utf-8") == text
    assert len(failures(life.store)) == 1
    assert "malformed checkpoint" in failures(life.store)[0]
    assert not list((life.cwd / ".claude").iterdir())


def test_secrets_of_malformed_ones_are_not_kept(life: Life) -> None:
    token = "ghp_" + "a1B2" * 9
    life.start()
    put(life, '{"what_was_done": "Pushed with %s", ' % token)
    life.turn("push it", "Done.")
    (kept,) = archived(life)
    text = (life.directory / "artifacts" / kept).read_text("utf-8")
    assert "Pushed with" in text
    assert token not in text


@pytest.mark.parametrize("kind", ["link", "directory", "large"])
def test_traps_are_put_aside_unread(life: Life, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text(json.dumps({"what_was_done": "the secret key material"}), "utf-8")
    (life.cwd / ".claude").mkdir()
    path = life.cwd / ".claude" / "completion-checkpoint.json"
    if kind == "link":
        path.symlink_to(secret)
    elif kind == "directory":
        path.mkdir()
    else:
        path.write_text(json.dumps({"what_was_done": "x" * 2_000_000}), "utf-8")
    life.start()
    for number in range(2):
        life.turn("fix %d" % number, "Done.")
    assert not (life.directory / "artifacts").exists()
    assert secret.exists()
    assert len(failures(life.store)) == 1
    assert [each.name for each in (life.cwd / ".claude").iterdir()] == ["completion-checkpoint.json.rejected"]
    assert not any(b"secret key material" in data for data in support.snapshot(life.store).values())


def test_an_orphan_goes_to_the_session_that_was_at_work(life: Life, client: support.Client) -> None:
    life.start()
    life.prompt("one")
    life.transcript.write(life.cwd / "one.py")
    put(life, NESTED)
    client.kill()
    time.sleep(1.05 - time.time() % 1)  # instants are kept by the second
    with support.Client() as second_client:
        second = Life(life.home, life.cwd, pid=second_client.pid)
        second.start()
        assert life.episode["what_was_done"] == "Fixed the race."
        assert life.meta["status"] == "ABANDONED"
        second.turn("b", "B.")
        assert second.episode["source"] == "transcript"


def test_an_orphan_without_any_session_gets_a_record_of_its_own(life: Life) -> None:
    put(life, FLAT, age=3 * 86400)
    life.start()
    (episode,) = support.episodes(life.store)
    assert episode["what_was_done"] == "Fixed the race."
    assert episode["source"] == "checkpoint"
    assert not list((life.cwd / ".claude").iterdir())
    assert life.meta["status"] == "ACTIVE"


def test_a_claim_whose_session_has_no_record_is_adopted(life: Life) -> None:
    claim = put(life, FLAT, "completion-checkpoint.json.orphan-1.%d.claimed" % (time.time_ns() - 10**12), age=86400)
    life.start()
    (episode,) = support.episodes(life.store)
    assert episode["what_was_done"] == "Fixed the race."
    assert not claim.exists()


def test_a_living_sessions_checkpoint_is_no_orphan(life: Life) -> None:
    life.start()
    life.prompt("one")
    path = put(life, NESTED)
    with support.Client() as second_client:
        Life(life.home, life.cwd, pid=second_client.pid).start()
    assert path.exists()
    life.transcript.text("One done.")
    life.stop("One done.")
    assert life.episode["what_was_done"] == "Fixed the race."


def test_a_claim_left_by_a_killed_process_is_completed(life: Life) -> None:
    life.start()
    life.turn("one", "One done.")
    put(life, NESTED, "completion-checkpoint.json.%s.%d.claimed" % (life.meta["session_id"], time.time_ns()))
    life.turn("two", "Two done.")
    assert life.episode["what_was_done"] == "Fixed the race."
    assert not list((life.cwd / ".claude").iterdir())


def test_a_dead_sessions_claim_is_completed_by_the_next_start(life: Life) -> None:
    life.start()
    life.turn("one", "One done.")
    life.end()
    put(life, NESTED, "completion-checkpoint.json.%s.%d.claimed" % (life.meta["session_id"], time.time_ns() - 10**12))
    Life(life.home, life.cwd, pid=life.pid).start()
    assert life.episode["what_was_done"] == "Fixed the race."
    assert not list((life.cwd / ".claude").iterdir())


def test_a_task_grows_across_sessions(life: Life) -> None:
    task = {"id": "task-7", "title": "Locks"}
    life.start()
    put(life, {"what_was_done": "Linux done.", "task": {**task, "remaining": ["mac", "windows"]}})
    life.turn("one", "One.")
    life.end()
    second = Life(life.home, life.cwd, pid=life.pid)
    second.start()
    put(life, {"what_was_done": "Mac done.", "task": {**task, "remaining": ["windows"]}})
    second.turn("two", "Two.")
    (path,) = (life.project / "STATE" / "progress").glob("*.json")
    assert path.name == "task-7.json"
    found = json.loads(path.read_text("utf-8"))
    assert found["task_id"] == "task-7"
    assert found["sessions"] == [life.meta["session_id"], second.meta["session_id"]]
    assert [point["note"] for point in found["checkpoints"]] == ["Linux done.", "Mac done."]
    assert found["remaining"] == ["windows"]
    work = json.loads((life.project / "STATE" / "current-work.json").read_text("utf-8"))
    (active,) = [each for each in work["active_tasks"] if each["id"] == "task-7"]
    assert active["next_steps"] == ["windows"]
    assert {"id", "description", "status", "started", "project", "branch", "blockers", "next_steps"} <= active.keys()


@pytest.mark.parametrize("task_id", ["../../x", "a/b", "", "x" * 500, "ünï", "con"])
def test_no_task_id_names_a_path(life: Life, task_id: str) -> None:
    life.start()
    put(life, {"what_was_done": "Done.", "task": {"id": task_id, "title": "T", "remaining": []}})
    life.turn("one", "One.")
    (path,) = life.store.rglob("progress/*.json")
    assert path.parent == life.project / "STATE" / "progress"
