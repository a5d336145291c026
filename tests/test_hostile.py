"""What somebody else may have put in our way: poisoned files, planted links, edited records."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life, failures

from harness_memory.base import clock, text
from harness_memory.project import git


def checkpoint_file(life: Life) -> Path:
    (life.cwd / ".claude").mkdir(exist_ok=True)
    return life.cwd / ".claude" / "completion-checkpoint.json"


POISON = [
    '{"what_was_done": "x", "junk": ' + "[" * 250 + "]" * 250 + "}",
    '{"what_was_done": ' + "[" * 900 + '"x"' + "]" * 900 + "}",
    '{"what_was_done": "x", "rating": ' + '{"a": ' * 199 + "1" + "}" * 199 + "}",
    '{"task": {"id": {"a": 1}, "remaining": 5}, "what_was_done": "x"}',
]


@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_checkpoint_harms_nobody(life: Life, poison: str) -> None:
    life.start()
    life.prompt("one")
    checkpoint_file(life).write_text(poison, "utf-8")
    life.transcript.write(life.cwd / "one.py").text("One done.")
    life.stop("One done.")
    assert life.meta["status"] == "COMPLETED"
    assert life.episode["files_changed"] == ["one.py"]
    life.turn("two", "Two done.", "two.py")
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert len(failures(life.store)) <= 1
    assert not [path for path in (life.cwd / ".claude").iterdir() if "claimed" in path.name]


def test_one_damaged_session_does_not_keep_another_from_recovery(life: Life) -> None:
    clients = [support.Client() for _ in range(3)]
    lives = [Life(life.home, life.cwd, pid=client.pid) for client in clients]
    for each in lives:
        each.start()
        each.prompt("work")
        each.transcript.write(each.cwd / "a.py")
    (lives[0].directory / "capture.json").write_text('{"schema": 1, "asks": ["x"], "todos": {"1": "x"}}', "utf-8")
    (lives[1].directory / "summary.md").mkdir()
    for client in clients:
        client.kill()
    with support.Client() as second:
        Life(life.home, life.cwd, pid=second.pid).start()
    assert lives[2].meta["status"] == lives[0].meta["status"] == "ABANDONED"
    assert lives[0].episode["files_changed"] == ["a.py"]


@pytest.mark.parametrize("field", ["session_id", "started"])
def test_no_edit_of_a_record_leads_out_of_the_store(life: Life, tmp_path: Path, field: str) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    meta = life.directory / "META.yaml"
    target = tmp_path / "PWNED"
    hostile = "/../../../../../../../../../../../.." + str(target)
    lines = [
        '%s: "%s"' % (field, hostile) if line.startswith(field + ":") else line
        for line in meta.read_text("utf-8").split("\n")
    ]
    meta.write_text("\n".join(lines), "utf-8")
    life.turn("two", "Two done.", "two.py")
    assert not list(tmp_path.glob("PWNED*"))
    assert life.episode["files_changed"] == ["one.py", "two.py"]


def test_a_link_in_place_of_the_local_scope_is_removed_not_followed(life: Life, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "thesis.txt").write_text("mine", "utf-8")
    life.start()
    (life.directory / "local").symlink_to(tmp_path / "docs", target_is_directory=True)
    life.end()
    assert (tmp_path / "docs" / "thesis.txt").read_text("utf-8") == "mine"
    assert not (life.directory / "local").is_symlink()


def test_a_linked_claude_folder_belongs_to_somebody_else(life: Life, tmp_path: Path) -> None:
    victim = tmp_path / "other" / ".claude"
    (victim / "async-tasks").mkdir(parents=True)
    old = time.time() - 30 * 86400
    for path in (victim / "completion-checkpoint.json", victim / "async-tasks" / "a.json"):
        path.write_text('{"what_was_done": "The secret of the other project."}', "utf-8")
        os.utime(path, (old, old))
    (life.cwd / ".claude").symlink_to(victim, target_is_directory=True)
    life.start()
    life.turn("one", "One done.")
    assert sorted(path.name for path in victim.rglob("*.json")) == ["a.json", "completion-checkpoint.json"]
    assert not any(b"secret of the other" in data for data in support.snapshot(life.store).values())


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-16T00:00:nanZ",
        "2026-11-16T00:00:1e400Z",
        "2026-11-16T00:00:infZ",
        "2026-11-16T00:00:-5.5Z",
        "9999-99-99T99:99:99Z",
    ],
)
def test_a_strange_time_is_no_time(life: Life, stamp: str) -> None:
    assert clock.parse(stamp) is None
    life.start()
    life.prompt("one")
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "type": "user",
        "message": {"role": "user", "content": "odd"},
        "timestamp": stamp,
    }
    life.transcript.line(line).text("One done.")
    for _ in range(2):
        life.stop("One done.")
    assert life.episode["what_was_done"] == "One done."
    assert failures(life.store) == []


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    "hidden",
    [
        "gh\u200bp_" + TOKEN[4:],
        TOKEN[:9] + "\u200d" + TOKEN[9:],
        "\x1b[32m" + TOKEN,
        "\x1b[1;31m" + TOKEN + "\x1b[0m",
        TOKEN[:20] + "\ufeff" + TOKEN[20:],
    ],
)
def test_hidden_characters_shield_no_secret(hidden: str) -> None:
    for shown in (text.brief("use %s now" % hidden, 300), text.passage("use\n%s now" % hidden, 300)):
        assert TOKEN not in shown
        assert "[redacted:github-token]" in shown


def test_a_secret_at_the_edge_of_the_window_does_not_leak_in_part() -> None:
    for spaces in range(4990, 5100, 3):
        assert "ghp_" not in text.brief("x" + " " * spaces + TOKEN, 240)


def test_secrets_in_names_reach_no_file(life: Life) -> None:
    support.git(life.cwd, "checkout", "-q", "-b", "fix-" + TOKEN)
    life.start(model="claude-" + TOKEN, session_title="title " + TOKEN)
    life.prompt("one")
    life.transcript.branch = TOKEN
    life.transcript.model = "m-" + TOKEN
    life.transcript.tool_use("Write", {"file_path": str(life.cwd / (TOKEN + ".py")), "content": ""})
    life.transcript.write(life.cwd / ("x-%s.py" % TOKEN))
    life.transcript.tool_result(
        life.transcript.tool_use("TodoWrite", {"todos": [{"content": "a", "status": TOKEN}]}), "ok"
    )
    life.transcript.text("One done.")
    nested = {
        TOKEN: 1,
        "password": ["hunter22"],
        "db_password": 98765432123,
        "secret": {"value": "s3cr3t-v4lue"},
        "what_was_done": "It is done.",
    }
    checkpoint_file(life).write_text(json.dumps(nested), "utf-8")
    life.stop("One done.", session_title="title " + TOKEN)
    life.end("because " + TOKEN)
    for name, data in support.snapshot(life.store).items():
        for secret in (TOKEN, "hunter22", "98765432123", "s3cr3t-v4lue"):
            assert secret.encode() not in data, name
        assert TOKEN not in name


def test_a_git_file_that_names_anothers_repository_shares_nothing(life: Life, tmp_path: Path) -> None:
    private = support.make_repo(tmp_path / "private", "git@example.org:me/private.git")
    owner = Life(life.home, private, pid=life.pid)
    owner.start()
    owner.turn("one", "The private matter was settled at last.", "a.py")
    owner.end()
    evil = tmp_path / "evil"
    evil.mkdir()
    (evil / ".git").write_text("gitdir: %s\n" % (private / ".git"), "utf-8")
    clone = support.make_repo(tmp_path / "clone", "git@example.org:other/clone.git")
    bare = clone / "examples"
    support.git(tmp_path, "init", "-q", "--bare", str(bare))
    support.git(bare, "config", "remote.origin.url", "git@example.org:me/private.git")
    sub = clone / "sub"
    sub.mkdir()
    (sub / ".git").write_text("gitdir: ../examples\n", "utf-8")
    for place in (evil, bare, sub):
        told = Life(life.home, place, pid=life.pid).start().stdout
        assert "private matter" not in told, place
    repo = git.find(str(private))
    assert repo is not None
    assert "private matter" in Life(life.home, private, pid=life.pid).start().stdout


@pytest.mark.parametrize(
    "damage",
    [
        {"asks": ["x"]},
        {"announced": [5]},
        {"fixed": ["x"]},
        {"todos": {"1": "x"}},
        {"worked_seconds": "x"},
        {"pending": {"a": 1}},
        {"files": [1]},
        {"earlier": ["x"]},
        {"schema": 99},
    ],
)
def test_a_damaged_state_is_put_aside_and_made_anew(life: Life, damage: dict[str, Any]) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    path = life.directory / "capture.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **damage}), "utf-8")
    life.turn("two", "Two done.", "two.py")
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert path.with_name("capture.json.damaged").exists()
    assert failures(life.store) == []


def test_a_marker_edited_by_hand(life: Life) -> None:
    life.start()
    (marker,) = life.store.glob("*/STATE/live/*.json")
    for edit in ({"process": "abc"}, {"work": "../../x"}, {"root": "/etc"}, {"work": 5}):
        marker.write_text(json.dumps({**json.loads(marker.read_text("utf-8")), **edit}), "utf-8")
        life.turn("one", "One done.", "one.py")
        with support.Client() as other:
            Life(life.home, life.cwd, pid=other.pid).start()
    assert failures(life.store) == []


def test_a_crowd_of_old_episodes_goes_at_once(life: Life) -> None:
    life.start()
    folder = life.project / "episodes"
    life.turn("one", "One done.", "one.py")
    (own,) = folder.iterdir()
    value = json.loads(own.read_text("utf-8"))
    for number in range(1500):
        started = clock.iso(time.time() - 86400 - number * 60)
        short_id = "%08x" % number
        copy = {
            **value,
            "id": short_id,
            "thread": short_id,
            "started": started,
            "ended": started,
            "session_id": short_id,
        }
        (folder / ("session-%s-%s.json" % (clock.stamp(started), short_id))).write_text(json.dumps(copy), "utf-8")
    result = life.start("resume")
    assert result.seconds < 4
    assert len(list(folder.iterdir())) == 200
    assert failures(life.store) == []


def test_what_subagents_did_is_the_sessions_work(life: Life) -> None:
    life.start()
    life.prompt("delegate it")
    folder = life.transcript.path.with_suffix("") / "subagents"
    agent = support.Transcript(folder / "agent-a1.jsonl", life.session.id, life.cwd)
    agent.prompt("You are a subagent: write x.py").write(life.cwd / "x.py").text("I, the subagent, wrote it.")
    data = agent.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true')
    agent.path.write_bytes(data)
    life.transcript.text("It was delegated.")
    life.stop("It was delegated.")
    assert life.episode["files_changed"] == ["x.py"]
    assert life.episode["asked"] == ["delegate it"]
    assert life.episode["what_was_done"] == "It was delegated."
    agent.write(life.cwd / "y.py")
    agent.path.write_bytes(agent.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
    life.stop("It was delegated.")
    assert life.episode["files_changed"] == ["x.py", "y.py"]


@pytest.mark.parametrize(
    ("command", "is_writer"),
    [
        ("ls .claude/completion-checkpoint*", False),
        ("cat > .claude/completion-checkpoint.json", True),
        ("echo x >.claude/completion-checkpoint.json", True),
    ],
)
def test_looking_at_a_checkpoint_is_not_writing_it(life: Life, command: str, is_writer: bool) -> None:
    with support.Client() as second_client:
        second = Life(life.home, life.cwd, pid=second_client.pid)
        life.start()
        second.start()
        path = checkpoint_file(life)
        path.write_text('{"what_was_done": "Of one of the two."}', "utf-8")
        life.prompt("look")
        life.transcript.bash(command).text("Looked.")
        life.stop("Looked.")
        assert path.exists() != is_writer
