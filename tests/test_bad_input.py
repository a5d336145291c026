"""Whatever arrives and whatever the disk does: exit 0, nothing on stderr, the session goes on."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import support
from life import Life, failures

from harness_memory.hook import pre_compact

SCRIPTS = [
    "session_start",
    "user_prompt_submit",
    "pre_tool_use",
    "subagent_start",
    "stop",
    "pre_compact",
    "session_end",
]
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to set up")

Hook = Callable[..., support.Result]

BAD = {
    "empty": b"",
    "blank": b" \n",
    "truncated": b'{"session_id": "abc", "cwd": "/tm',
    "not utf-8": b'{"session_id": "\xff\xfe", "cwd": "\x80"}',
    "binary": bytes(range(256)) * 8,
    "an array": b"[1, 2]",
    "a string": b'"hello"',
    "a number": b"12",
    "two documents": b'{"session_id": "a"}\n{"session_id": "b"}\n',
    "deep": b'{"session_id": ' + b"[" * 200000 + b"]" * 200000 + b"}",
    "deep in an unused field": b'{"session_id": "deep", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "no session id": b'{"cwd": "/"}',
    "empty session id": b'{"session_id": ""}',
    "huge number": b'{"session_id": "n", "x": ' + b"9" * 10000 + b"}",
}


@pytest.mark.parametrize(
    ("script", "name"),
    [("stop", name) for name in BAD]
    + [(script, name) for script in SCRIPTS if script != "stop" for name in ("empty", "truncated", "binary")],
)
def test_bad_payloads(run_hook: Hook, store_root: Path, script: str, name: str) -> None:
    result = run_hook(script, BAD[name])
    assert (result.code, result.stderr) == (0, "")
    if script == "pre_tool_use":
        assert asks(result)
    else:
        assert result.stdout in ("", pre_compact.KEEP if script == "pre_compact" else "")
    if name in ("not utf-8", "deep in an unused field", "huge number"):
        return  # usable all the same, or not, by interpreter
    assert len(failures(store_root)) == 1


def asks(result: support.Result) -> bool:
    """What the guard cannot judge it leaves to the user."""
    return bool(result.json["hookSpecificOutput"]["permissionDecision"] == "ask")


WRONG: list[Any] = [None, 0, 1.5, True, [], {}, ["x"], {"a": 1}, "x" * 100000, "\x00", "\ud800", "../../../etc"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_wrong_types_in_every_field(run_hook: Hook, session: support.Session, store_root: Path, script: str) -> None:
    keys = ["session_id", "transcript_path", "cwd", "source", "prompt", "prompt_id", "last_assistant_message"]
    keys += ["reason", "trigger", "model", "session_title", "agent_id", "hook_event_name"]
    good = {**session.start(), **session.prompt("hi"), **session.stop("Hello."), **session.end()}
    for number, value in enumerate(WRONG):
        payload = {**good, keys[number % len(keys)]: value, keys[(number * 5 + 3) % len(keys)]: value}
        result = run_hook(script, json.dumps(payload).encode(), cwd=session.cwd)
        assert (result.code, result.stderr) == (0, ""), (value, result)
        if script == "pre_compact":
            assert result.stdout in ("", pre_compact.KEEP)
        else:
            assert not result.stdout or result.json.keys() <= {"systemMessage", "hookSpecificOutput"}


def test_a_failure_is_mentioned_once(run_hook: Hook, life: Life) -> None:
    run_hook("stop", b"{")
    run_hook("stop", b"{")
    said = life.start().json["systemMessage"]
    assert "2 hook runs failed" in said
    command = said.partition("See: ")[2].split()
    assert command[0] == "python3"
    assert Path(command[1]).is_file()
    assert command[2:] == ["memory", "doctor"]
    assert life.start().stdout == ""


def test_a_payload_of_six_megabytes(life: Life) -> None:
    big = "word " * 1_200_000
    life.start()
    life.run("user_prompt_submit", life.session.prompt(big))
    life.stop(big)
    assert len(json.dumps(life.episode)) < 5000
    assert life.episode["asked"][0].startswith("word word")


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_stdin_that_stays_open(life: Life, ending: bytes) -> None:
    payload = support.encode(life.session.start()).rstrip(b"\n") + ending
    began = time.monotonic()
    with subprocess.Popen(
        support.hook_command("session_start"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=support.clean_environment(life.home, life.session.environment(pid=life.pid)),
        cwd=life.cwd,
    ) as hook:
        assert hook.stdin is not None
        hook.stdin.write(payload)
        hook.stdin.flush()
        assert hook.wait(timeout=20) == 0
    assert time.monotonic() - began < 4
    assert life.meta["status"] == "ACTIVE"


@pytest.fixture(scope="module", autouse=True)
def ignored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A hook that nobody speaks to, and its home; other tests run while it waits for its deadline."""
    home = tmp_path_factory.mktemp("ignored")
    with subprocess.Popen(
        support.hook_command("session_end"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=support.clean_environment(home),
        cwd=str(home),
    ) as hook:
        yield hook, home
        hook.kill()


def test_stdin_that_never_speaks(ignored: tuple[subprocess.Popen[bytes], Path]) -> None:
    hook, home = ignored
    assert hook.wait(timeout=20) == 0
    assert hook.stdout is not None
    assert hook.stderr is not None
    assert (hook.stdout.read(), hook.stderr.read()) == (b"", b"")
    assert "deadline" in failures(home / ".claude" / "memory")[0]


def test_closed_standard_streams(life: Life) -> None:
    for redirect in ("<&-", ">&-", "<&- >&- 2>&-"):
        command = " ".join(support.hook_command("stop")) + " " + redirect
        done = subprocess.run(
            ["sh", "-c", command], env=support.clean_environment(life.home), capture_output=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_store_that_is_a_file(life: Life, script: str) -> None:
    life.store.write_text("not a directory", "utf-8")
    payload = {**life.session.start(), **life.session.prompt("hi"), **life.session.stop("Hello.")}
    result = life.run(script, payload)
    assert result.stdout == "" or (script == "pre_tool_use" and asks(result))
    assert life.store.read_text("utf-8") == "not a directory"


def test_a_project_directory_that_is_a_file(life: Life) -> None:
    life.start()
    project = life.project
    life.extra["HARNESS_MEMORY_HOME"] = str(life.home / "elsewhere")
    (life.home / "elsewhere").mkdir()
    (life.home / "elsewhere" / project.name).write_text("in the way", "utf-8")
    life.turn("one", "One done.")
    assert (life.home / "elsewhere" / project.name).read_text("utf-8") == "in the way"
    assert failures(life.home / "elsewhere")


def test_an_unwritable_store(life: Life) -> None:
    life.store.mkdir(parents=True)
    life.store.chmod(0o500)
    done = subprocess.run(
        [*support.bound_by_modes(), *support.hook_command("stop")],
        input=support.encode(life.session.stop("Hello.")),
        env=support.clean_environment(life.home, life.session.environment(pid=life.pid)),
        cwd=life.cwd,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not list(life.store.iterdir())
    life.store.chmod(0o700)


@as_root
def test_a_full_disk_loses_nothing(life: Life, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=10k,mode=700", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    ).returncode:
        pytest.skip("cannot mount a small file system here")
    try:
        store = disk / "memory"
        life.store = store
        life.extra["HARNESS_MEMORY_HOME"] = str(store)
        life.start()
        life.turn("one", "One done.", "one.py")
        before = support.snapshot(store)
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
        life.turn("two", "Two done.", "two.py")
        kept = support.snapshot(store)
        for name, data in before.items():
            assert name in kept, name
            if name.endswith((".json", ".yaml", ".md")):
                assert kept[name] == data or kept[name], name
        assert life.episode["files_changed"] == ["one.py"]
        (disk / "filler").unlink()
        life.turn("three", "Three done.", "three.py")
        assert life.episode["files_changed"] == ["one.py", "two.py", "three.py"]
        assert life.episode["asked"] == ["one", "two", "three"]
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "config.json"),
        ("[]", "expected an object"),
        ('{"retention_days": "many"}', "retention_days"),
        ('{"retention_days": -1}', "retention_days"),
        ('{"retention_episodes": 0.5}', "retention_episodes"),
        ('{"colour": 1}', "colour"),
    ],
)
def test_a_broken_configuration_is_reported_and_ignored(life: Life, text: str, complaint: str) -> None:
    life.store.mkdir(parents=True, mode=0o700)
    (life.store / "config.json").write_text(text, "utf-8")
    assert complaint in life.start().json["systemMessage"]
    assert life.meta["status"] == "ACTIVE"


def test_a_flood_of_problems_stays_one_line(life: Life) -> None:
    life.store.mkdir(parents=True, mode=0o700)
    keys = {"key %d \x1b[31m\u202e" % number: 1 for number in range(3000)}
    (life.store / "config.json").write_text(json.dumps(keys), "utf-8")
    said = life.start().json["systemMessage"]
    assert len(said) < 1500
    assert "2997 more" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_a_good_configuration_is_silent(life: Life) -> None:
    life.store.mkdir(parents=True, mode=0o700)
    (life.store / "config.json").write_text('{"retention_days": 30}', "utf-8")
    assert life.start().stdout == ""


@pytest.mark.parametrize("cwd", ["", "/does/not/exist", "relative/path", "/dev/null"])
def test_a_working_directory_that_is_none(life: Life, cwd: str) -> None:
    env = {**life.session.environment(pid=life.pid), "CLAUDE_PROJECT_DIR": None}
    life.transcript.prompt("hi").text("Hello.")
    for script, payload in (
        ("session_start", life.session.start(cwd=cwd)),
        ("stop", life.session.stop("Hello.", cwd=cwd)),
    ):
        result = support.run_hook(script, payload, home=life.home, env=env, cwd=life.home)
        assert (result.code, result.stdout, result.stderr) == (0, "", "")
    assert life.episode["what_was_done"] == "Hello."


NO_TRANSCRIPT: dict[str, Callable[[Path], Any]] = {
    "directory": Path.mkdir,
    "pipe": os.mkfifo,
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 1000),
    "empty": Path.touch,
    "no newline": lambda path: path.write_bytes(b'{"type":"user"'),
}


def test_a_transcript_that_is_none(life: Life) -> None:
    """All kinds at once: each Stop waits half a second for the answer to be written."""
    stops = {}
    for kind, make in NO_TRANSCRIPT.items():
        each = Life(life.home, life.cwd, pid=life.pid)
        each.transcript.path.parent.mkdir(parents=True, exist_ok=True)
        make(each.transcript.path)
        each.run("user_prompt_submit", each.session.prompt("hi"))
        env = support.clean_environment(each.home, each.session.environment(pid=each.pid))
        stops[kind] = each, start_hook("stop", each.session.stop("Hello."), env, each.cwd)
    for kind, (each, hook) in stops.items():
        assert (*hook.communicate(timeout=20), hook.returncode) == (b"", b"", 0), kind
        assert each.episode["what_was_done"] == "Hello.", kind


def start_hook(script: str, payload: Any, env: dict[str, str], cwd: Path) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    hook = subprocess.Popen(
        support.hook_command(script), stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=str(cwd), bufsize=0
    )
    assert hook.stdin is not None
    hook.stdin.write(support.encode(payload))
    return hook
