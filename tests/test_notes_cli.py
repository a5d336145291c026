"""`remember`, `note`, `lint` and notes in `list` and `show`, as a person uses them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import pytest
import support
from commandline import HARNESS, World
from life import Life
from test_notes import DATA, table


def day(ahead: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(time.time() + ahead * 86400))


def facts(world: World, name: str) -> list[str]:
    return list(world.json("note", "show", name)["facts"])


def refs(world: World, *words: str) -> list[str]:
    return [each["note"] for each in world.json("list", "--notes", *words)]


@pytest.fixture
def world(world: World) -> Iterator[World]:
    """Every test leaves a store that `verify` finds in order."""
    yield world
    assert world.json("verify")["findings"] == []


@pytest.mark.parametrize("path", sorted((DATA / "transcripts").iterdir()), ids=lambda path: path.stem)
def test_a_transcript_shows_what_the_commands_show(world: World, path: Path) -> None:
    """`$` a command, `<` its input, then what it shows, `!` does not show, and `[code]` where it is not 0."""
    text = path.read_text("utf-8").replace("{today}", day(0)).replace("{tomorrow}", day(1))
    for step in text.split("\n$ ")[1:]:
        command, *lines = [row for row in step.splitlines() if row[:2] != "# "]
        page = "".join(row[2:] + "\n" for row in lines if row[0] == "<")
        result = world.memory(*shlex.split(command), stdin=page.encode())
        shown = result.stdout + result.stderr
        if os.name == "nt":
            shown = shown.replace("\\\\", "/").replace("\\", "/")
        code = 0
        for row in lines:
            if row[0] == "[":
                code, row = int(row[1]), row[4:]
            assert row[0] == "<" or (row[2:] not in shown if row[0] == "!" else row in shown), (command, row, shown)
        assert result.code == code, (command, shown)


def test_a_local_note_ends_with_its_session(world: World, client: support.Client) -> None:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    inside = {"env": {"CLAUDE_CODE_SESSION_ID": life.session.id}}
    made = world.json("remember", "Approach X failed", "--scope", "local", "--topic", "x", **inside)
    assert made["session"] == life.session.id[:8]
    assert Path(made["file"]).parent == life.directory / "local"
    life.end()
    assert not Path(made["file"]).exists()


@pytest.mark.parametrize("words", table("secrets.json"))
def test_secrets_are_redacted_also_in_names(world: World, words: list[str]) -> None:
    shown = world.memory(*words)
    assert (shown.code, "redacted" in shown.stdout, "hunter2" in shown.stdout) == (0, True, False)
    assert not [name for name, data in world.files().items() if "hunter2" in name or b"hunter2" in data]


def test_facts_written_at_once_are_all_kept(world: World) -> None:
    env = support.clean_environment(world.home)
    texts = ["Fact number %d of many" % number for number in range(6)]
    command = [sys.executable, str(HARNESS), "memory", "remember", "--topic", "busy"]
    running = [subprocess.Popen([*command, fact], cwd=str(world.repo), env=env, stdout=-3) for fact in texts]
    assert [process.wait() for process in running] == [0] * len(texts)
    assert sorted(facts(world, "busy")) == texts


def test_a_changed_file_makes_its_note_stale_until_it_is_verified(world: World) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once", "--file", "README.md")
    (world.repo / "README.md").write_text("changed\n")
    assert "README.md" in world.json("note", "show", "cart")["doubt"]
    assert [each["kind"] for each in world.json("lint", code=1)["findings"]] == ["stale"]
    for _ in range(2):  # the second changes nothing
        world.memory("note", "edit", "cart", "--verified")
        assert world.json("note", "show", "cart")["doubt"] is None
    (archived,) = (world.project / "archive" / "notes").iterdir()
    assert archived.read_bytes() != Path(world.json("note", "show", "cart")["file"]).read_bytes()


def test_a_note_made_by_hand_is_found_by_its_name(world: World) -> None:
    world.memory("note", "add", "Cart", "A fact")
    path = world.project / "LEARNING/topics/My_Own Way.md"
    path.write_text("- By hand\n", "utf-8")
    path.chmod(0o600)
    assert facts(world, "my own") == facts(world, "My_Own Way.md") == ["By hand"]
    (removed,) = world.json("note", "remove", "My_Own Way")
    assert Path(removed["archived"]).read_text("utf-8") == "- By hand\n"


def test_notes_are_listed_by_type_and_age(world: World) -> None:
    world.memory("note", "add", "a", "Fact a", "--type", "feedback")
    world.memory("note", "add", "b", "Fact b")
    page = b"---\nname: c\ndescription: Fact c\ntype: project\ncreated: '2025-01-01'\n---\n- Fact c\n"
    world.memory("note", "add", "c", "Fact c")
    path = world.project / "LEARNING/topics/c.md"
    path.write_bytes(page)
    assert refs(world, "--type", "feedback") == ["project/a"]
    assert refs(world, "--scope", "user") == []
    assert refs(world, "--since", "7d") == ["project/a", "project/b"]
    assert refs(world, "--unused") == ["project/c"]
    assert "stale" in {each["kind"] for each in world.json("lint", code=1)["findings"]}
    world.memory("note", "edit", "c", "--verified")
    assert refs(world, "--unused") == []
    world.memory("rebuild")


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
def test_unreadable_files_among_the_notes_are_named_and_disturb_nothing(home: Path, repo: Path, tmp_path: Path) -> None:
    world = World(home, repo)
    world.memory("note", "add", "cart", "Totals are rounded once")
    topics = world.project / "LEARNING" / "topics"
    (topics / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (topics / "folder.md").mkdir()
    os.mkfifo(topics / "pipe.md")
    (topics / "bytes.md").write_bytes(b"- by \xff\xfe hand\n")
    (topics / "huge.md").write_bytes(b"- x\n" * 2_000_000)
    world.memory("rebuild")
    start = support.run_hook("session_start", support.Session(world.repo, world.home).start(), home=world.home)
    for text in ((world.project / "MEMORY.md").read_text("utf-8"), start.context):
        assert "Totals are rounded once" in text
        assert not [name for name in ("link", "folder", "pipe", "huge") if name + ".md" in text]
    named = {Path(each["file"]).stem for each in world.json("verify", code=1)["findings"]}
    assert {"link", "pipe", "bytes", "huge"} <= named
    assert world.memory("remember", "Another fact", "--topic", "huge").code == 2
    shutil.rmtree(topics)
    world.memory("rebuild")
