"""A store that is read-only, full, vanished, linked elsewhere, open to others or of another user.

Hooks exit 0, the guard still stops, commands say what is wrong, and nothing outside the store is touched or shown.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

import full_memory
import pytest
import support
from commandline import World
from full_memory import READING, WRITING, Memory
from image import Image
from life import Life, failures

pytestmark = pytest.mark.skipif(os.name != "posix", reason="mounts, links and modes of POSIX")
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")

BAIT = b"OUTSIDE"  # stands before each word "canary" of what lies outside the store
STRANGER = 54321
STORE = "home/.claude/memory/"
P = STORE + "[a-z]*-*[0-9a-f]/"
FILES = [STORE + "**/*.%s" % ending for ending in ("json", "jsonl", "md", "yaml", "idx", "gz", "1")]
FILES += [STORE + "health/last-run/*", "project/.claude/*", STORE + "**/*.lock"]
FOLDERS = {  # the folders of one row do not hide each other
    "the project": [P],
    "health, archive, user": [STORE + "health", STORE + "archive", STORE + "user", P + "SECURITY"],
    "work, notes, episodes": [P + "WORK", P + "LEARNING", P + "episodes", P + "profiles", STORE + "archive/*"],
    "a day, topics": [P + "WORK/*", P + "LEARNING/*", STORE + "user/LEARNING/topics"],
    "one session": [P + "WORK/*/*"],
    "state": [P + "STATE"],
    "of the state": [P + "STATE/*/"],
}


class Field:
    """A full memory that is put back for every case, and a folder outside that is none of its business."""

    def __init__(self, top: Path) -> None:
        self.top = top / "field"
        self.outside = self.top / "outside"
        self.memory = full_memory.made(self.top)
        self.image = Image(self.top)

    def reset(self) -> Memory:
        self.image.restore()
        self.outside.mkdir(mode=0o755)
        return self.memory

    def paths(self, *patterns: str) -> list[Path]:
        return [path for pattern in patterns for path in sorted(self.top.glob(pattern))]

    def move_out(self, path: Path) -> Path:
        """The same outside, in words that may not come back."""
        target = self.outside / ("%d-%s" % (len(list(self.outside.iterdir())), path.name))
        shutil.move(str(path), str(target))
        for file in [target, *target.rglob("*")]:
            if file.is_file():
                file.write_bytes(file.read_bytes().replace(b"canary", BAIT + b"canary"))
        return target


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field(tmp_path_factory.mktemp("planted"))


def use_all(memory: Memory) -> None:
    """Every hook and every verb; none says anything of what lies outside."""
    for event, result in memory.events("canary note fact of the gateway rule, canary ask, canary file"):
        assert BAIT.decode() not in result.stdout, event
    for words in [*READING[::2], *WRITING, *READING[1::2]]:
        result = memory.memory(*words, stdin=b"# A new page\n")
        assert BAIT.decode() not in result.stdout + result.stderr, words
        assert result.code in (0, 1, 2), words


# Links and other things in the place of ours ---------------------------------------------------------
def link(field: Field, path: Path) -> None:
    path.symlink_to(field.move_out(path))


def pipe(field: Field, path: Path) -> None:
    path.unlink()
    os.mkfifo(str(path))


def folder(field: Field, path: Path) -> None:
    path.unlink()
    (path / "x").mkdir(parents=True)


def device(field: Field, path: Path) -> None:
    path.unlink()
    os.mknod(str(path), 0o020600, os.makedev(1, 5))  # zeros without end


@pytest.mark.parametrize("row", FOLDERS)
def test_linked_folder_is_neither_followed_nor_shown(field: Field, row: str) -> None:
    memory = field.reset()
    for path in field.paths(*FOLDERS[row]):
        if path.is_dir():
            link(field, path)
    before = Image(field.outside)
    use_all(memory)
    assert before.changed() == []
    assert memory.memory("verify").code + memory.memory("doctor").code


@pytest.mark.parametrize("plant", [link, pipe, folder, device])
def test_link_pipe_folder_or_device_in_place_of_every_file_is_survived(field: Field, plant: Any) -> None:
    if plant is device and os.geteuid() != 0:
        pytest.skip("only root makes devices")
    memory = field.reset()
    for path in field.paths(*FILES):
        if path.is_file() and path.name != "project.json":
            plant(field, path)
    before = Image(field.outside)
    use_all(memory)
    assert before.changed() == []


def test_the_store_itself_may_be_a_link(life: Life, tmp_path: Path) -> None:
    elsewhere = tmp_path / "synced"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    life.store.symlink_to(elsewhere)
    life.start()
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.", "cart.py")
    assert life.episode["files_changed"] == ["cart.py"]
    assert elsewhere.stat().st_mode & 0o777 == 0o755  # a folder that is not only ours keeps its mode
    assert "The totals are rounded once" in World(life.home, life.cwd).memory("list").stdout


def test_linked_claude_folder_of_a_project_is_left_alone(life: Life, tmp_path: Path) -> None:
    victim = tmp_path / "other" / ".claude"
    victim.mkdir(parents=True)
    (victim / "completion-checkpoint.json").write_text('{"what_was_done": "The secret of the other."}', "utf-8")
    (life.cwd / ".claude").symlink_to(victim, target_is_directory=True)
    life.start()
    life.turn("one", "One done.")
    assert (victim / "completion-checkpoint.json").exists()
    assert not any(b"secret of the other" in data for data in support.snapshot(life.store).values())


@pytest.mark.parametrize("kind", ["file", "dangling link", "linked folder", "file for a folder"])
def test_a_store_that_refuses_is_named_and_the_session_is_found_later(life: Life, tmp_path: Path, kind: str) -> None:
    refused = life.store
    refused.parent.mkdir(parents=True, exist_ok=True)
    if "folder" in kind:
        life.another().start()
        refused = next(life.store.glob("*-*")) / "episodes"
    refused.write_text("x") if "file" in kind else refused.symlink_to(tmp_path / "gone" / "memory")
    said = life.start().json["systemMessage"]
    assert str(refused) in said
    assert "harness memory backfill" in said
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.", "cart.py")
    refused.unlink()
    os.utime(str(life.transcript.path), (time.time() - 3600,) * 2)
    world = World(life.home, life.cwd)
    life.end() if "folder" in kind else None  # its own next hook records it
    assert world.json("backfill")["made"] == int("folder" not in kind)
    assert "rounded once" in world.memory("list").stdout


# A disk that fails -----------------------------------------------------------------------------------
def events(life: Life) -> Iterator[tuple[str, support.Result]]:
    """Every hook once, run for `life`; a new session starts beside it."""
    session, other = life.session, life.another()
    other.extra = life.extra
    yield "start", other.start()
    for script, payload in (
        ("session_start", session.start("compact")),
        ("user_prompt_submit", session.prompt("How are the totals of the cart rounded?")),
        ("subagent_start", session._payload("SubagentStart", {"agent_id": "a", "agent_type": "x"}, {})),
        ("stop", session.stop("It is done.")),
        ("pre_compact", session.pre_compact()),
    ):
        yield script, life.run(script, payload)
    for words, decision in (("rm -rf /", "deny"), ("git push --force origin main", "ask"), ("git status", "")):
        result = life.run("pre_tool_use", session.tool_call("Bash", {"command": words}))
        assert decision in result.stdout or '"deny"' in result.stdout, words
    yield "end", other.end()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system mounted as a home."""
    path = tmp_path / "disk"
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


def assert_explained(result: support.Result) -> None:
    """What failed, where, and what to do."""
    assert result.code == 2, result
    assert ".claude/memory" in result.stderr
    assert any(word in result.stderr for word in ("ead-only", "pace", "ermission")), result
    assert "doctor" in result.stderr


ON_A_BAD_DISK = (
    ("remember", "Deploys are on Monday"), ("note", "add", "x", "One fact"), ("checkpoint", "--done", "Something"),
    ("briefing", "set"), ("profile", "set", "tin"), ("task", "start", "Another"), ("rate", "melt", "5"),
)  # fmt: skip


def test_read_only_store_is_named_at_the_start_and_by_commands(disk: Path, repo: Path, client: support.Client) -> None:
    world, life = World(disk, repo), Life(disk, repo, pid=client.pid)
    life.start()
    life.turn("Round the totals of the cart", "Totals are rounded once, at the end of it all.", "cart.py")
    life.prompt("two")
    life.transcript.write(repo / "two.py").text("It is done.").turn_end("two")
    before = support.snapshot(disk)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        for name, result in events(life):
            assert name != "start" or "Read-only file system" in result.json["systemMessage"]
        for words in (*READING[:6], ["doctor"]):
            assert world.memory(*words).code in (0, 1, 2), words
        for line in ON_A_BAD_DISK:
            result = world.memory(*line, stdin=b"# New\n", env={"CLAUDE_CODE_SESSION_ID": life.session.id})
            assert_explained(result)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert support.snapshot(disk) == before
    life.stop("It is done.")
    assert life.episode["files_changed"] == ["cart.py", "two.py"]
    assert world.memory("verify").code == 0


def fill(path: Path, left: int) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65536, 512):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                pass
    os.truncate(str(path), max(0, path.stat().st_size - left))


@pytest.mark.parametrize("pages", [0, 5])
def test_full_disk_loses_no_turn(disk: Path, repo: Path, client: support.Client, pages: int) -> None:
    world, life = World(disk, repo), Life(disk, repo, pid=client.pid)
    life.session.transcript_path = str(disk.parent / "transcripts" / "t.jsonl")  # the client's own files have room
    life.transcript = life.session.transcript()
    life.start()
    life.turn("Round the totals of the cart", "Totals are rounded once.", "cart.py")
    world.memory("note", "add", "cart", "Totals are in cents")
    life.transcript.prompt("two").write(repo / "two.py").text("It is done.").turn_end("two")
    fill(disk / "filler", pages * 4096)
    for _ in events(life):
        pass
    for line in ON_A_BAD_DISK:
        result = world.memory(*line, stdin=b"# New\n", env={"CLAUDE_CODE_SESSION_ID": life.session.id})
        if result.code:
            assert_explained(result)
    for path in world.root.rglob("*"):
        if path.suffix in (".json", ".yaml", ".md") and path.parent.name not in ("dirty", "last-run", "live"):
            assert path.read_bytes(), path  # the old one or the new one, nothing between
    (disk / "filler").unlink()
    life.turn("three", "That is done too.", "three.py")
    assert life.episode["files_changed"] == ["cart.py", "two.py", "three.py"]
    assert (world.project / "LEARNING" / "topics" / "cart.md").exists()
    life.end()
    Life(disk, repo, pid=client.pid).start()
    findings = world.json("verify", code=world.memory("verify").code)["findings"]
    assert findings == []


HOMES = [None, "", "some/where", "/dev/null", "/proc/1/nothing", "/" + "x" * 5000]


@pytest.mark.parametrize("unusable", HOMES, ids=lambda home: repr(home)[:20])
def test_unusable_home_breaks_no_session(tmp_path: Path, repo: Path, unusable: str | None) -> None:
    life = Life(tmp_path, repo)
    life.extra.update({"HOME": unusable, "USERPROFILE": unusable})
    if not unusable:  # the password file names the real home then
        life.extra["HARNESS_MEMORY_HOME"] = str(tmp_path / "safe")
    before = sorted(path.name for path in repo.iterdir())
    for _ in events(life):
        pass
    assert sorted(path.name for path in repo.iterdir() if path.name != "some") == before
    assert World(tmp_path, repo).memory("status", env=life.extra).code in (0, 1, 2)


@pytest.mark.parametrize("pattern", ["", "*-*/STATE", "*-*/episodes", "*-*/WORK"])
def test_vanished_part_of_the_store_is_made_again(life: Life, pattern: str) -> None:
    life.start()
    life.turn("one", "The first is done.", "one.py")
    for path in life.store.glob(pattern) if pattern else [life.store]:
        shutil.rmtree(str(path))
    life.turn("two", "The second is done.", "two.py")
    assert ["one.py", "two.py"] in [episode["files_changed"] for episode in support.episodes(life.store)]
    life.end()
    life.another().start()
    world = World(life.home, life.cwd)
    world.memory("rebuild")
    assert world.memory("verify").code == 0, world.memory("verify").stdout
    assert failures(life.store) == []


# Other users, and modes ------------------------------------------------------------------------------
def give_away(top: Path) -> None:
    for path in [top, *top.rglob("*")] if top.is_dir() and not top.is_symlink() else [top]:
        os.chown(str(path), STRANGER, STRANGER, follow_symlinks=False)


@as_root
def test_store_of_another_user_is_neither_read_nor_written(field: Field) -> None:
    memory = field.reset()
    give_away(memory.root)
    before = Image(memory.root)
    for event, result in memory.events("canary note fact of the gateway rule"):
        assert "canary" not in result.stdout, event
        if event == "start":
            assert "belongs to another user" in result.json["systemMessage"]
        if event == "deny":
            assert result.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    for words in READING + WRITING:
        result = memory.memory(*words, stdin=b"# Page\n")
        assert "canary" not in result.stdout + result.stderr, words
        assert "belongs to another user" in result.stdout + result.stderr, words
        assert result.code, words
    assert before.changed() == []


@as_root
def test_files_of_another_user_are_not_believed(field: Field) -> None:
    memory = field.reset()
    for path in field.paths(*FILES, "home/.claude/projects/*/*.jsonl"):
        if path.is_file() and path.name != "project.json":
            give_away(path)
    for event, result in memory.events("A note about the fact of the gateway rule"):
        assert "canary" not in result.stdout, event
    assert "belongs to another user" in memory.memory("doctor").stdout


@as_root
def test_root_may_work_in_a_folder_of_another_user(life: Life) -> None:
    """As in a container: everything belongs to the user who mounted it."""
    life.start()
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.", "cart.py")
    give_away(life.home)
    give_away(life.cwd)
    life.turn("Go on", "It went on.", "more.py")
    assert life.episode["files_changed"] == ["cart.py", "more.py"]
    assert failures(life.store) == []


@pytest.mark.parametrize("by", ["hook", "command"])
def test_store_open_to_others_is_closed_and_that_is_said_once(life: Life, by: str) -> None:
    life.start()
    life.store.chmod(0o777)
    if by == "hook":
        life.prompt("Round the totals")
        said = life.start("resume").json["systemMessage"]
    else:
        said = World(life.home, life.cwd).memory("remember", "Totals are rounded once").stderr
    assert said
    assert life.store.stat().st_mode & 0o777 == 0o700
    assert life.start("resume").stdout == "" or by == "command"
