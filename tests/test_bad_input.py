"""Bad payloads, transcripts, records and settings: hooks exit 0 in silence, commands explain, the session goes on."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator

import full_memory
import protocol
import pytest
import support
from full_memory import READING, Memory
from life import Life, failures

BAD = {
    "empty": b"",
    "truncated": b'{"session_id": "abc", "cwd": "/tm',
    "binary": bytes(range(256)) * 8,
    "an array": b"[1, 2]",
    "two documents": b'{"session_id": "a"}\n{"session_id": "b"}\n',
    "deep": b'{"session_id": ' + b"[" * 200000 + b"]" * 200000 + b"}",
    "no session id": b'{"cwd": "/"}',
}
ODD = {  # usable or not, by interpreter
    "not utf-8": b'{"session_id": "\xff\xfe", "cwd": "\x80"}',
    "deep in an unused field": b'{"session_id": "deep", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "huge number": b'{"session_id": "n", "x": ' + b"9" * 10000 + b"}",
}
SCRIPTS = tuple(protocol.EVENTS)


def assert_polite(script: str, result: support.Result) -> None:
    assert (result.code, result.stderr) == (0, ""), result
    assert protocol.complaints(protocol.EVENTS[script], result.stdout.encode("utf-8", "surrogatepass")) == []


@pytest.mark.parametrize(
    ("script", "name"),
    [("stop", name) for name in (*BAD, *ODD)]
    + [(script, name) for script in SCRIPTS if script != "stop" for name in ("empty", "truncated", "binary")],
)
def test_bad_payload_is_stamped_and_the_guard_asks(home: Path, store_root: Path, script: str, name: str) -> None:
    result = support.run_hook(script, {**BAD, **ODD}[name], home=home)
    assert_polite(script, result)
    if script == "pre_tool_use":
        assert result.json["hookSpecificOutput"]["permissionDecision"] == "ask"
    if name in BAD:
        assert len(failures(store_root)) == 1


WRONG: list[Any] = [None, 0, 1.5, True, [], {}, ["x"], {"a": 1}, "x" * 100000, "\x00", "\ud800", "../../../etc", 1e300]
FIELDS = ["session_id", "transcript_path", "cwd", "source", "prompt", "prompt_id", "last_assistant_message"]
FIELDS += ["reason", "trigger", "model", "session_title", "agent_id", "hook_event_name", "seconds_since_last_response"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_wrong_type_in_any_field_is_survived(home: Path, repo: Path, script: str) -> None:
    session = support.Session(repo, home)
    good = {**session.start(), **session.prompt("hi"), **session.stop("Hello."), **session.end()}
    for number, value in enumerate(WRONG):
        changed = FIELDS[number % len(FIELDS)], FIELDS[(number * 5 + 3) % len(FIELDS)]
        payload = {**good, **dict.fromkeys(changed, value)}
        assert_polite(script, support.run_hook(script, json.dumps(payload).encode(), home=home, cwd=repo))


def test_failures_are_mentioned_once_at_the_next_start(life: Life) -> None:
    for _ in range(2):
        support.run_hook("stop", b"{", home=life.home)
    message = life.start().json["systemMessage"]
    assert "2 hook runs failed" in message
    assert "memory doctor" in message
    assert life.start().stdout == ""


def test_payload_of_six_megabytes_is_recorded_in_short(life: Life) -> None:
    big = "word " * 1_200_000
    life.start()
    life.run("user_prompt_submit", life.session.prompt(big))
    life.stop(big)
    assert len(json.dumps(life.episode)) < 5000
    assert life.episode["asked"][0].startswith("word word")


def test_stdin_that_stays_open_does_not_hold_a_hook_up(life: Life) -> None:
    environment = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    pipe = subprocess.PIPE
    command = support.hook_command("session_start")
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, cwd=life.cwd) as hook:
        assert hook.stdin is not None
        hook.stdin.write(support.encode(life.session.start()))
        hook.stdin.flush()
        assert hook.wait(support.HANG_SECONDS) == 0
    assert life.meta["status"] == "ACTIVE"
    assert failures(life.store) == []  # it has not waited for its deadline


def test_closed_standard_streams_are_survived(life: Life) -> None:
    command = " ".join(support.hook_command("stop")) + " <&- >&- 2>&-"
    environment = support.clean_environment(life.home)
    result = support.run(["sh", "-c", command], b"", environment, life.cwd)
    assert (result.code, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("cwd", ["", "/does/not/exist", "relative/path"])
def test_session_in_a_missing_directory_is_recorded(life: Life, cwd: str) -> None:
    env = {**life.session.environment(pid=life.pid), "CLAUDE_PROJECT_DIR": None}
    life.transcript.prompt("hi").text("Hello.")
    for script, payload in (
        ("session_start", life.session.start(cwd=cwd)),
        ("stop", life.session.stop("Hello.", cwd=cwd)),
    ):
        result = support.run_hook(script, payload, home=life.home, env=env, cwd=life.home)
        assert (result.code, result.stdout, result.stderr) == (0, "", "")
    assert life.episode["what_was_done"] == "Hello."


def rotated(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.touch()


def copied(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


TRANSCRIPTS: dict[str, Callable[[Path], Any]] = {
    "removed": Path.unlink,
    "emptied": lambda path: os.truncate(str(path), 0),
    "rotated": rotated,
    "copied": copied,
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 1000),
    "without a newline": lambda path: path.write_bytes(path.read_bytes() + b'{"type":"user"'),
    "grown by zeros": lambda path: os.truncate(str(path), path.stat().st_size + (64 << 20)),
    "of strange times": lambda path: path.write_bytes(
        path.read_bytes().replace(b'"timestamp":"2', b'"timestamp":"nan')
    ),
}


@pytest.mark.parametrize("kind", TRANSCRIPTS)
def test_transcript_that_changes_between_turns_loses_no_turn(life: Life, kind: str) -> None:
    life.start()
    life.turn("one", "The first is done, with care.", "one.py")
    TRANSCRIPTS[kind](life.transcript.path)
    life.run("user_prompt_submit", life.session.prompt("two"))
    if life.transcript.path.is_file():
        life.transcript.raw(b"\n")
        life.transcript.prompt("two", promptId=life.session.prompt_id).write(life.cwd / "two.py")
        life.transcript.text("The second is done, with care.")
    life.stop("The second is done, with care.")
    assert "The second is done" in life.episode["what_was_done"]
    assert "two" in life.episode["asked"]
    assert life.meta["status"] == "COMPLETED"
    if kind != "removed":
        assert life.episode["files_changed"][-1] == "two.py"
    if kind in ("copied", "grown by zeros", "without a newline"):
        assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert failures(life.store) == []


DEEP = b"[" * 900 + b"]" * 900
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "halved": lambda data: data[: len(data) // 2],
    "another type": lambda data: b"[1, 2]\n",
    "of a newer version": lambda data: data.replace(b'"schema": 1', b'"schema": 99').replace(
        b"schema: 1", b"schema: 99"
    ),
    "wrong values": lambda data: data.replace(b'": "', b'": 5, "x": "').replace(b": [", b": 7 #["),
    "too deep": lambda data: data.replace(b"{", b'{"deep": ' + DEEP + b", ", 1) if data[:1] == b"{" else DEEP,
    "not utf-8": lambda data: data.replace(b'"', b'"\xff'),
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return full_memory.made(tmp_path_factory.mktemp("damaged"))


@pytest.fixture
def memory(pristine: Memory) -> Iterator[Memory]:
    """A memory with something in every place; put back afterwards."""
    saved = pristine.files()
    yield pristine
    for name in pristine.files():
        (pristine.root / name).unlink()
    for name, data in saved.items():
        (pristine.root / name).parent.mkdir(parents=True, exist_ok=True)
        (pristine.root / name).write_bytes(data)


@pytest.mark.parametrize("kind", DAMAGE)
def test_every_record_damaged_is_survived_and_left_on_the_disk(memory: Memory, kind: str) -> None:
    damaged = {name: DAMAGE[kind](data) for name, data in memory.files().items() if not name.endswith(".lock")}
    for name, data in damaged.items():
        (memory.root / name).write_bytes(data)
    for event, result in memory.events("canary note fact of the gateway rule"):
        assert result.code == 0, event
    for words in [*READING, ["rebuild"], ["verify"], ["status"]]:
        assert memory.memory(*words).code in (0, 1, 2), words
    after = memory.files()
    notes = [name for name in damaged if "/topics/" in name or name.endswith(("briefing.md", "audit.jsonl"))]
    assert [name for name in notes if not after.get(name, b"").startswith(damaged[name])] == []


@pytest.mark.parametrize("record", ["META.yaml", "capture.json"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_record_of_the_running_session_is_made_again(life: Life, record: str, kind: str) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    path = life.directory / record
    damaged = DAMAGE[kind](path.read_bytes())
    path.write_bytes(damaged)
    life.turn("two", "Two done.", "two.py")
    if kind in ("emptied", "another type"):  # else some of it can be read
        assert path.with_name(record + ".damaged").read_bytes() == damaged
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert life.episode["asked"] == ["one", "two"]
    assert life.meta["status"] == "COMPLETED"
    assert len(support.meta_files(life.store)) == 1


@pytest.mark.parametrize("field", ["session_id", "started"])
def test_edited_record_leads_to_no_path_outside_the_store(life: Life, tmp_path: Path, field: str) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    meta = life.directory / "META.yaml"
    hostile = '%s: "%s%s"' % (field, "/.." * 12, tmp_path / "PWNED")
    lines = meta.read_text("utf-8").split("\n")
    meta.write_text("\n".join(hostile if line.startswith(field + ":") else line for line in lines), "utf-8")
    life.turn("two", "Two done.", "two.py")
    assert not list(tmp_path.glob("PWNED*"))
    assert life.episode["files_changed"] == ["one.py", "two.py"]


CHECKPOINTS = (
    '{"what_was_done": "x", "junk": ' + "[" * 250 + "]" * 250 + "}",
    '{"what_was_done": ' + "[" * 900 + '"x"' + "]" * 900 + "}",
    '{"task": {"id": {"a": 1}, "remaining": 5}, "what_was_done": "x", "rating": 1e999, "tags": 7}',
    "{",
)


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_poisoned_checkpoint_harms_no_turn(life: Life, checkpoint: str) -> None:
    life.start()
    life.prompt("one")
    life.checkpoint(checkpoint)
    life.transcript.write(life.cwd / "one.py").text("One done.")
    life.stop("One done.")
    life.turn("two", "Two done.", "two.py")
    assert life.meta["status"] == "COMPLETED"
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert len(failures(life.store)) <= 1
    assert not [path for path in (life.cwd / ".claude").iterdir() if "claimed" in path.name]


@pytest.mark.parametrize(("text", "complaint"), support.rows("settings/broken.jsonl"))
def test_broken_setting_is_reported_in_one_line_and_ignored(life: Life, text: str, complaint: str) -> None:
    life.store.mkdir(parents=True, mode=0o700)
    (life.store / "config.json").write_text(text, "utf-8")
    result = life.start()
    message = result.json["systemMessage"] if result.stdout else ""
    assert complaint in message
    assert bool(message) == bool(complaint)
    assert len(message) < 1500
    assert life.meta["status"] == "ACTIVE"
