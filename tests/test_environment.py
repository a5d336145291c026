"""The ground gives way: a store that cannot be written, a full disk, homes, folders and transcripts that vanish."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import support
from circumstances import NO_MODES, Circumstanced
from commandline import World
from life import Life, failures

from harness_memory.session import transcript

pytestmark = pytest.mark.skipif(os.name != "posix", reason="mounts and modes of POSIX")


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def hooks(life: Life, other: Life) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every hook once; those of PreToolUse are for `calls`."""
    session = life.session
    yield "session_start", other.session.start()
    yield "session_start", session.start("compact")
    yield "user_prompt_submit", session.prompt("How are the totals of the cart rounded?")
    yield "user_prompt_submit", session.prompt("/melt it")
    yield "subagent_start", session._payload("SubagentStart", {"agent_id": "a", "agent_type": "x"}, {})
    yield "stop", session.stop("It is done.")
    yield "pre_compact", session.pre_compact()
    yield "session_end", other.session.end()


CALLS = (
    ("rm -rf ~", "deny"),
    ("git push --force origin main", "ask"),
    ("git status", ""),
    ("make cart", ""),  # a note waits for it
)


def furnish(world: World, life: Life) -> None:
    life.start()
    life.turn("Round the totals of the cart", "Totals are rounded once, at the end of it all.", "cart.py")
    world.memory("note", "add", "cart", "Totals are in cents", "--trigger", "command: make cart")
    world.memory("briefing", "set", stdin=b"# Shop\n\n- Totals are in cents\n")
    world.memory("profile", "set", "melt", stdin=b"- low heat\n")
    world.memory("task", "start", "User login", "--next", "Schema")
    world.memory("rate", "melt", "3")
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "git status"}))


READING = (
    ("status",), ("list",), ("list", "--notes"), ("show", "last"), ("search", "totals"), ("related", "cart.py"),
    ("transcript", "last"), ("why", "last"), ("stats",), ("note", "list"), ("note", "show", "cart"), ("lint",),
    ("briefing",), ("profile",), ("consolidate",), ("open",), ("thread", "list"), ("task", "list"), ("signals",),
    ("audit",), ("audit", "verify"), ("restore",), ("verify",), ("doctor",), ("forget", "cart"),
    ("prune", "--dry-run"), ("archive", "--before", "2030-01-01", "--dry-run"), ("backfill", "--dry-run"),
)  # fmt: skip
WRITING = (
    ("remember", "Deploys are on Monday"), ("note", "add", "x", "One fact"), ("note", "remove", "cart"),
    ("checkpoint", "--done", "Something"), ("briefing", "set"), ("profile", "set", "tin"), ("consolidate", "--done"),
    ("task", "start", "Another"), ("task", "done", "user-login"), ("rate", "melt", "5"), ("forget", "cart", "--yes"),
    ("thread", "rename", "last", "Totals"),
)  # fmt: skip


def thread(world: World) -> str:
    return str(world.json("thread", "list", "--all")[0]["id"])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    path = tmp_path / "home"
    path.mkdir()
    options = "size=2m,nr_inodes=10k,mode=700"
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("only root can mount a file system, and not everywhere")
    (path / ".claude").mkdir(mode=0o700)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def remount(path: Path, how: str) -> None:
    subprocess.run(["mount", "-o", "remount,%s" % how, str(path)], check=True)


def assert_silent(life: Life, script: str, payload: dict[str, Any]) -> support.Result:
    env = {**life.session.environment(pid=life.pid), **life.extra}
    result = support.run_hook(script, payload, home=life.home, env=env)
    assert (result.code, result.stderr) == (0, ""), (script, result)
    assert result.seconds < 4.5
    if result.stdout and script != "pre_compact":
        assert result.json.keys() <= {"systemMessage", "hookSpecificOutput"}, result
    return result


def assert_guarded(life: Life) -> None:
    for command, expected in CALLS:
        result = assert_silent(life, "pre_tool_use", life.session.tool_call("Bash", {"command": command}))
        decision = result.json["hookSpecificOutput"].get("permissionDecision", "") if result.stdout else ""
        assert decision in ((expected, "deny") if expected == "ask" else (expected,)), (command, result)


def assert_explained(result: support.Result, words: tuple[str, ...]) -> None:
    """What, where, and what to do."""
    assert result.code == 2, (words, result)
    assert ".claude/memory" in result.stderr, (words, result)
    assert "ead-only" in result.stderr or "pace" in result.stderr or "ermission" in result.stderr, (words, result)
    assert "doctor" in result.stderr, (words, result)


def test_a_store_on_a_read_only_mount(disk: Path, repo: Path, client: support.Client) -> None:
    world, life = World(disk, repo), Life(disk, repo, pid=client.pid)
    furnish(world, life)
    life.prompt("two")
    life.transcript.write(repo / "two.py").text("It is done.").turn_end("two")
    name = thread(world)
    before = support.snapshot(disk)
    remount(disk, "ro")
    try:
        for script, payload in hooks(life, Life(disk, repo, pid=client.pid)):
            result = assert_silent(life, script, payload)
            if script == "session_start":  # the only one that can say it, as no stamp can be left
                assert "cannot be written (Read-only file system)" in result.json["systemMessage"], result
        assert_guarded(life)
        assert_silent(life, "pre_tool_use", life.session.tool_call("Skill", {"skill": "melt"}))
        for words in READING:
            result = world.memory(*words)
            assert result.code in (0, 1), (words, result)
        assert "cannot be written" in world.memory("doctor").stdout
        for words in WRITING:
            words = tuple(name if word == "last" else word for word in words)
            assert_explained(
                world.memory(*words, stdin=b"# New\n", env={"CLAUDE_CODE_SESSION_ID": life.session.id}), words
            )
    finally:
        remount(disk, "rw")
    assert support.snapshot(disk) == before
    life.stop("It is done.")
    assert life.episode["files_changed"] == ["cart.py", "two.py"]
    for words in WRITING[:10]:
        assert world.memory(*words, stdin=b"# New\n", env={"CLAUDE_CODE_SESSION_ID": life.session.id}).code == 0, words
    assert world.memory("verify").code == 0


def fill(disk: Path, left: int) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 65536):
                pass
        except OSError:
            pass
        try:
            while file.write(b"x" * 512):
                pass
        except OSError:
            pass
    os.truncate(str(filler), max(0, filler.stat().st_size - left))
    return filler


@pytest.mark.parametrize("pages", [0, 2, 7])
def test_a_disk_that_is_full_at_some_point(disk: Path, repo: Path, client: support.Client, pages: int) -> None:
    """A temporary file system counts in pages: after so many of them there is no room."""
    world, life = World(disk, repo), Life(disk, repo, pid=client.pid)
    furnish(world, life)
    elsewhere = disk.parent / "transcripts"
    elsewhere.mkdir()
    life.session.transcript_path = str(elsewhere / "t.jsonl")  # the client's own files have room
    life.transcript = life.session.transcript()
    life.transcript.turn("Round the totals of the cart", "Totals are rounded once.", files=[repo / "cart.py"])
    life.transcript.prompt("two").write(repo / "two.py").text("It is done.").turn_end("two")
    before = {**world.files()}
    filler = fill(disk, pages * 4096)
    for script, payload in hooks(life, Life(disk, repo, pid=client.pid)):
        assert_silent(life, script, payload)
    assert_guarded(life)
    for words in WRITING[:9]:
        result = world.memory(*words, stdin=b"# New\n", env={"CLAUDE_CODE_SESSION_ID": life.session.id})
        assert result.code in (0, 2), (words, result)
        if result.code == 2:
            assert_explained(result, words)
    for path in world.root.rglob("*"):
        if path.suffix in (".json", ".yaml", ".md") and path.parent.name not in ("dirty", "last-run"):
            assert path.read_bytes(), path  # the old one or the new one, and nothing between
    filler.unlink()
    life.turn("three", "That is done too.", "three.py")
    assert life.episode["files_changed"] == ["cart.py", "two.py", "three.py"]
    assert life.episode["asked"][-1] == "three"
    for name in before:
        if "/LEARNING/" in name or "/SECURITY/" in name or name.endswith("briefing.md"):
            assert (world.root / name).exists() or name.endswith("cart.md"), name
    life.end()
    Life(disk, repo, pid=client.pid).start()
    checked = world.json("verify", code=world.memory("verify").code)["findings"]
    assert [each for each in checked if each["kind"] != "stray"] == []


# Homes ---------------------------------------------------------------------------------------------

HOMES: dict[str, Callable[[Path], str | None]] = {
    "unset": lambda top: None,
    "empty": lambda top: "",
    "relative": lambda top: "some/where",
    "missing": lambda top: str(top / "gone"),
    "a file": lambda top: str(_file(top / "file")),
    "a link to nowhere": lambda top: str(_link(top / "link")),
    "a device": lambda top: "/dev/null",
    "in /proc": lambda top: "/proc/1/nothing",
    "long": lambda top: str(top / ("x" * 5000)),
}


def _file(path: Path) -> Path:
    path.write_text("mine", "utf-8")
    return path


def _link(path: Path) -> Path:
    path.symlink_to("/nowhere/at/all")
    return path


@pytest.mark.parametrize("kind", list(HOMES))
def test_a_home_that_is_none(tmp_path: Path, repo: Path, kind: str) -> None:
    told = HOMES[kind](tmp_path)
    life = Life(tmp_path, repo)
    safe = str(tmp_path / "safe")  # where the real one must not be written to: HOME is all that tells
    surroundings = {"HOME": told, "USERPROFILE": told}
    if told in (None, ""):  # the password file tells then, and that is not the test's to write in
        surroundings["HARNESS_MEMORY_HOME"] = safe
    life.extra.update(surroundings)
    before = sorted(path.name for path in repo.iterdir())
    for script, payload in hooks(life, Life(tmp_path, repo)):
        assert_silent(life, script, payload)
    result = assert_silent(life, "pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf /"}))
    assert '"deny"' in result.stdout
    assert sorted(path.name for path in repo.iterdir() if path.name != "some") == before
    ended = World(tmp_path, repo).run("memory", "status", env=life.extra)
    assert ended.code in (0, 1, 2), ended
    assert "Traceback" not in ended.stderr


def test_a_home_that_vanishes_while_a_hook_waits(life: Life) -> None:
    life.start()
    life.turn("one", "The first is done.", "one.py")
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    waiting = []
    pipe = subprocess.PIPE
    for script, payload in hooks(life, life):
        hook = subprocess.Popen(
            support.hook_command(script), stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=str(life.cwd), bufsize=0
        )
        waiting.append((script, hook, support.encode(payload)))
    time.sleep(0.3)
    shutil.rmtree(str(life.home))
    for script, hook, data in waiting:
        _out, err = hook.communicate(data, timeout=20)
        assert (hook.returncode, err) == (0, b""), script
    life.home.mkdir(exist_ok=True)
    life.transcript.turn("one", "The first is done.", files=["one.py"])
    life.turn("two", "The second is done.", "two.py")
    assert life.episode["files_changed"][-1] == "two.py"


def test_a_working_directory_that_vanishes(life: Life, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shutil.copytree(str(life.cwd), str(gone))
    other = Life(life.home, gone, pid=life.pid)
    other.start()
    other.turn("one", "The first is done.", "one.py")
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])"
    for script, payload in hooks(other, Life(life.home, gone, pid=life.pid)):
        shutil.rmtree(str(gone), ignore_errors=True)
        gone.mkdir()
        done = subprocess.run(
            [support.sys.executable, "-c", code, *support.hook_command(script)],
            input=support.encode(payload),
            env=support.clean_environment(life.home, other.session.environment(pid=life.pid)),
            cwd=str(gone),
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), script
    shown = subprocess.run(
        [support.sys.executable, "-c", code, support.sys.executable, str(support.ROOT / "harness"), "memory", "status"],
        env=support.clean_environment(life.home),
        cwd=str(_made(gone)),
        capture_output=True,
        check=False,
    )
    assert shown.returncode in (0, 2)
    assert b"Traceback" not in shown.stderr


def _made(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path


@pytest.mark.parametrize("removed", ["", "*-*/WORK", "*-*/STATE", "*-*/episodes", "*-*/STATE/live"])
def test_a_part_of_the_store_that_vanishes_between_two_hooks(life: Life, world: World, removed: str) -> None:
    life.start()
    life.turn("one", "The first is done.", "one.py")
    for path in life.store.glob(removed) if removed else [life.store]:
        shutil.rmtree(str(path))
    life.turn("two", "The second is done.", "two.py")
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert life.episode["asked"] == ["one", "two"]
    assert len(support.meta_files(life.store)) == 1
    life.end()
    Life(life.home, life.cwd, pid=life.pid).start()
    world.memory("rebuild")
    assert world.memory("verify").code == 0, world.memory("verify").stdout
    assert failures(life.store) == []


# Transcripts ---------------------------------------------------------------------------------------


def removed(path: Path) -> None:
    path.unlink()


def shorter(path: Path) -> None:
    os.truncate(str(path), path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(str(path), 0)


def rotated(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.touch()


def copied(path: Path) -> None:
    """The same bytes in another file, as an editor or a backup leaves it."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def of_another(path: Path) -> None:
    path.write_bytes(b'{"type":"mode","sessionId":"x"}\n' * 400)


def grown_by_zeros(path: Path) -> None:
    """What a power cut leaves where the disk had made room."""
    os.truncate(str(path), path.stat().st_size + (64 << 20))


CHANGES = (removed, shorter, emptied, rotated, copied, a_directory, of_another, grown_by_zeros)


@pytest.mark.parametrize("change", CHANGES)
def test_a_transcript_that_changes_between_stops(life: Life, change: Callable[[Path], None]) -> None:
    life.start()
    life.turn("one", "The first is done, with care.", "one.py")
    change(life.transcript.path)
    life.run("user_prompt_submit", life.session.prompt("two"))
    if life.transcript.path.is_file():
        life.transcript.raw(b"\n" if change is grown_by_zeros else b"")
        life.transcript.prompt("two", promptId=life.session.prompt_id).write(life.cwd / "two.py")
        life.transcript.text("The second is done, with care.")
    result = life.stop("The second is done, with care.")
    assert result.seconds < 4.5
    assert "The second is done" in life.episode["what_was_done"]
    assert "two" in life.episode["asked"]
    assert life.meta["status"] == "COMPLETED"
    if change is not a_directory and change is not removed:
        assert "two.py" in life.episode["files_changed"]
    if change in (copied, grown_by_zeros):
        assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert failures(life.store) == []
    assert json.dumps(life.episode).count("two.py") <= 1


def test_a_line_without_end_is_passed_over_bit_by_bit(tmp_path: Path) -> None:
    """A run that has no time for all of it leaves the rest to the next, and not the whole."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"type":"user","n":1}\n')
    os.truncate(str(path), 3 << 30)  # takes no room on the disk
    cursor: dict[str, Any] = {}
    for runs in range(1, 200):
        chunks = iter(range(20))
        reading = transcript.Reading(str(path), cursor)
        assert not reading.is_restart
        found = [entry["n"] for entry in reading.entries(lambda: next(chunks, None) is not None)]  # noqa: B023
        reading.close()
        cursor = json.loads(json.dumps(reading.cursor))
        if runs == 1:
            assert found == [1]
        elif runs == 4:
            os.truncate(str(path), 100 << 20)
            with path.open("ab") as file:
                file.write(b'\n{"type":"user","n":2}\n')
        elif found:
            break
    assert found == [2]
    assert runs == 6


# No modes --------------------------------------------------------------------------------------------


def test_a_file_system_without_modes_remembers_all_the_same(home: Path, repo: Path, client: support.Client) -> None:
    life = Circumstanced(home, repo, pid=client.pid)
    life.given = NO_MODES
    for _ in range(2):
        assert "systemMessage" not in life.start().stdout
        life.turn("Count the stock", "The stock is counted by shelf, and it adds up.", "stock.py")
        life.end()
    assert life.episode["files_changed"] == ["stock.py"]
    assert support.failures(life.store) == []
