"""`remember`, `note`, `lint` and notes in `list` and `show`, as a person uses them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterator

import pytest
import support
from commandline import HARNESS, World
from life import Life
from test_notes import table

TODAY = time.strftime("%Y-%m-%d")


def facts(world: World, name: str) -> list[str]:
    return list(world.json("note", "show", name)["facts"])


def refs(world: World, *words: str) -> list[str]:
    return [each["note"] for each in world.json("list", "--notes", *words)]


@pytest.fixture
def world(world: World) -> Iterator[World]:
    """Every test leaves a store that `verify` finds in order."""
    yield world
    assert world.json("verify")["findings"] == []


# remember ------------------------------------------------------------------------------------------


def test_remember_adds_to_the_topic_it_is_about_or_makes_one(world: World) -> None:
    first = world.json("remember", "PostgreSQL JSONB indexes require GIN, not B-tree")
    again = world.json("remember", "GIN indexes on PostgreSQL are slow to update")
    other = world.json("remember", "Never push to main on a Friday")
    assert first["note"] == again["note"] != other["note"]
    assert len(again["facts"]) == 2
    assert other["name"] == "Never push main Friday"  # without the negation it would say the opposite
    named = world.json("remember", "GIN indexes on PostgreSQL need memory", "--topic", "Tuning")
    assert (named["note"], named["name"], named["type"]) == ("project/tuning", "Tuning", "project")
    assert (named["created"], named["verified"]) == (TODAY, TODAY)


def test_a_fact_that_is_known_is_not_added_again(world: World) -> None:
    world.memory("remember", "The deploy happens tomorrow", "--topic", "deploy")
    for words in (("the deploy  happens tomorrow.",), *[("The deploy happens tomorrow", "--fix")] * 2):
        shown = world.memory("remember", *words, "--topic", "Deploy")
        assert "Known already" in shown.stdout
        assert "(1 fact)" in shown.stdout
    assert "tomorrow" not in facts(world, "deploy")[0]


def test_scopes_have_defaults_and_local_notes_end_with_the_session(world: World, client: support.Client) -> None:
    assert world.json("remember", "Prefers short answers", "--type", "user")["note"].startswith("user/")
    assert world.json("remember", "Dislikes emoji", "--scope", "user")["type"] == "user"
    refused = world.memory("remember", "Approach X failed", "--scope", "local")
    assert (refused.code, "no session" in refused.stderr) == (2, True)
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    inside = {"env": {"CLAUDE_CODE_SESSION_ID": life.session.id}}
    made = world.json("remember", "Approach X failed", "--scope", "local", "--topic", "x", **inside)
    assert made["session"] == life.session.id[:8]
    assert Path(made["file"]).parent == life.directory / "local"
    assert world.json("note", "promote", "x", **inside)["note"] == "project/x"
    assert refs(world, "--session", life.session.id[:8]) == ["project/x"]
    assert not Path(made["file"]).exists()
    life.end()


@pytest.mark.parametrize("words", table("secrets.json"))
def test_secrets_are_redacted_also_in_names(world: World, words: list[str]) -> None:
    shown = world.memory(*words)
    assert (shown.code, "redacted" in shown.stdout, "hunter2" in shown.stdout) == (0, True, False)
    assert not [name for name, data in world.files().items() if "hunter2" in name or b"hunter2" in data]


def test_a_new_note_is_commented_by_lint(world: World) -> None:
    shown = world.memory("remember", "Today I learned that tox runs tomorrow", "--topic", "tox")
    assert (shown.code, 'the fact is "Tox runs tomorrow"' in shown.stdout) == (0, True)
    fixed = world.json("remember", "Today I learned that ruff is quick", "--topic", "ruff", "--fix")
    assert (fixed["facts"], fixed["description"], fixed["findings"]) == (["Ruff is quick"], "Ruff is quick", [])
    twin = world.memory("note", "add", "another", "Ruff is quick").stdout
    assert "says what project/ruff:" in twin


@pytest.mark.parametrize("words", table("wrong_usage.json"))
def test_wrong_usage_is_refused(world: World, words: tuple[str, ...]) -> None:
    assert world.memory(*words).code == 2
    assert not list(world.root.rglob("*.md"))


def test_facts_written_at_once_are_all_kept(world: World) -> None:
    env = support.clean_environment(world.home)
    told = ["Fact number %d of many" % number for number in range(6)]
    command = [sys.executable, str(HARNESS), "memory", "remember", "--topic", "busy"]
    running = [subprocess.Popen([*command, fact], cwd=str(world.repo), env=env, stdout=-3) for fact in told]
    assert [process.wait() for process in running] == [0] * len(told)
    assert sorted(facts(world, "busy")) == told


# note ----------------------------------------------------------------------------------------------


def test_a_note_is_added_once_from_standard_input_and_removed_into_the_archive(world: World) -> None:
    page = b"---\nname: Deploy by hand\ndescription: How\ntype: reference\n---\n\n- Run make\n"
    made = world.json("note", "add", "deploy", "--trigger", "command: make deploy", stdin=page)
    assert (made["name"], made["type"], made["triggers"]) == ("Deploy by hand", "reference", ["command: make deploy"])
    assert world.memory("note", "add", "Deploy", "Once more").code == 2
    assert world.memory("note", "add", "odd", stdin=b"---\ntype: idea\n---\n- x\n").code == 2
    assert refs(world) == ["project/deploy"]
    assert world.memory("note").stdout == world.memory("note", "list").stdout
    (removed,) = world.json("note", "remove", "deploy")
    assert "Run make" in Path(removed["archived"]).read_text("utf-8")
    assert world.memory("note", "remove", "deploy").code == 2
    assert (refs(world), (world.project / "MEMORY.md").exists()) == ([], False)


def test_a_note_is_edited_by_options_and_from_standard_input(world: World) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once", "Tax is included", "--file", "README.md")
    (world.repo / "README.md").write_text("changed\n")
    assert world.json("note", "show", "cart")["stale_files"] == ["README.md"]
    assert [each["kind"] for each in world.json("lint", code=1)["findings"]] == ["stale"]
    world.memory("note", "edit", "cart", "--verified")
    assert world.json("note", "show", "cart")["stale_files"] == []
    world.memory("note", "edit", "cart", "--drop", "tax is")
    assert facts(world, "cart") == ["Totals are rounded once"]
    archived = len(list((world.project / "archive" / "notes").iterdir()))
    assert world.memory("note", "edit", "cart", "--drop", "nothing of it").code == 2
    assert world.memory("note", "edit", "cart", "--verified").code == 0  # changes nothing
    assert len(list((world.project / "archive" / "notes").iterdir())) == archived == 2
    world.memory("note", "edit", "cart", stdin=b"- Totals are rounded twice\n")
    assert world.memory("note", "edit", "cart", stdin=b"---\ntype: idea\n---\n- x\n").code == 2
    shown = world.json("note", "show", "cart")
    assert (shown["facts"], shown["name"]) == (["Totals are rounded twice"], "cart")


def test_overriding_and_superseding_are_shown(world: World) -> None:
    world.memory("note", "add", "Editor", "Uses vim", "--scope", "user")
    world.memory("note", "add", "Editor", "Uses emacs")
    world.memory("note", "add", "Shell", "Uses fish", "--scope", "user")
    world.memory("note", "add", "Shells", "Uses bash here")
    assert world.memory("note", "supersede", "user/shell", "shells").code == 0
    assert {each["note"]: each["why_not"] for each in world.json("list", "--notes")} == {
        "project/editor": None,
        "project/shells": None,
        "user/editor": "overridden by project/editor",
        "user/shell": "superseded by project/shells",
    }
    assert "instead of user/shell" in (world.project / "MEMORY.md").read_text("utf-8")
    assert world.memory("note", "supersede", "shells", "user/editor").code == 2
    assert world.memory("note", "supersede", "shells", "shells").code == 2


@pytest.mark.parametrize(("kind", "after"), [("project", "user"), ("feedback", "feedback")])
def test_a_promoted_note_joins_the_one_there_and_fits_its_scope(world: World, kind: str, after: str) -> None:
    world.memory("note", "add", "Editor", "I learned that vim is better", "--type", kind, "--file", "README.md")
    promoted = world.json("note", "promote", "editor")
    assert (promoted["note"], promoted["type"], promoted["files"]) == ("user/editor", after, [])
    assert [finding["kind"] for finding in promoted["findings"]] == ["narrative"]
    world.memory("note", "add", "Editor", "Uses emacs here")
    assert len(world.json("note", "promote", "editor")["facts"]) == 2
    assert refs(world) == ["user/editor"]


def test_a_note_is_found_by_the_beginning_of_its_name(world: World) -> None:
    for name in ("Cart totals", "Cart tax"):
        world.memory("note", "add", name, "Fact of " + name)
    assert facts(world, "cart-to") == facts(world, "Cart Totals") == ["Fact of Cart totals"]
    assert "cart-tax" in world.memory("note", "show", "cart").stderr
    assert world.memory("show", "cart-tax").stdout.startswith("---\nname: Cart tax\n")
    assert world.json("show", "project/cart-tax")["facts"] == ["Fact of Cart tax"]
    assert world.json("show", "LEARNING/topics/cart-tax.md")["facts"] == ["Fact of Cart tax"]
    (world.project / "LEARNING/topics/My_Own Way.md").write_text("- By hand\n", "utf-8")
    assert facts(world, "my own") == facts(world, "My_Own Way.md") == ["By hand"]
    world.memory("note", "remove", "My_Own Way")
    (archived,) = (world.project / "archive" / "notes").iterdir()
    archived.chmod(0o600)


def test_notes_are_listed_by_type_age_and_use(world: World) -> None:
    world.memory("note", "add", "a", "Fact a", "--type", "feedback")
    world.memory("note", "add", "b", "Fact b")
    page = b"---\nname: c\ndescription: Fact c\ntype: project\ncreated: '2025-01-01'\n---\n- Fact c\n"
    world.memory("note", "add", "c", "Fact c")
    path = world.project / "LEARNING/topics/c.md"
    path.write_bytes(page)
    os.utime(str(path), (0, 0))
    assert refs(world, "--type", "feedback") == ["project/a"]
    assert refs(world, "--scope", "user") == []
    assert refs(world, "--since", "7d") == ["project/a", "project/b"]
    assert refs(world, "--until", "2025-06-01") == refs(world, "--unused") == ["project/c"]
    assert "unused" in {each["kind"] for each in world.json("lint", code=1)["findings"]}
    world.memory("show", "c")
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
        assert "cart.md" in text
        assert not [name for name in ("link", "folder", "pipe", "bytes", "huge") if name + ".md" in text]
    assert {each["kind"] for each in world.json("lint", code=1)["findings"]} == {"unreadable"}
    for name in ("link", "folder", "pipe"):
        assert "not a plain file" in world.memory("note", "remove", name).stderr
        assert os.path.lexists(topics / (name + ".md"))
    assert world.memory("note", "edit", "huge", "--verified").code == 2
    assert "cannot be read" in world.memory("show", "bytes").stderr
    assert Path(world.json("note", "remove", "huge")[0]["archived"]).stat().st_size == 8_000_000


def test_lint_fix_archives_before_it_corrects(world: World) -> None:
    assert world.memory("lint").code == 0
    world.memory("note", "add", "a", "Today we found that it ends tomorrow", "I had trouble")
    world.memory("note", "add", "b", "In order")
    found = world.json("lint", code=1)["findings"]
    kinds = [("narrative", True), ("relative-date", True), ("narrative", False)]
    assert [(each["kind"], each["fixable"]) for each in found if each["line"] > 1] == kinds
    result = world.json("lint", "--fix", code=1)
    assert [Path(each["file"]).name for each in result["fixed"]] == ["a.md"]
    assert "Today we found" in Path(result["fixed"][0]["archived"]).read_text("utf-8")
    assert [each["kind"] for each in result["findings"]] == ["narrative"]
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 86400))
    assert facts(world, "a") == ["It ends " + tomorrow, "I had trouble"]
    assert world.json("lint", "--scope", "user")["findings"] == []


# Two at once ---------------------------------------------------------------------------------------


def test_compact_and_promote_keep_a_fact_that_arrives_before_their_lock(world: World) -> None:
    for name in ("alpha", "beta"):
        world.memory("note", "add", name, "The gateway closes idle sockets after thirty seconds")
    with world.meanwhile("LEARNING/notes.lock", "remember", "Tin melts at low heat", "--topic", "beta"):
        assert world.memory("compact").code == 0
    assert [each for name in ("alpha", "beta") for each in facts(world, name)].count("Tin melts at low heat") == 1
    with world.meanwhile("LEARNING/notes.lock", "remember", "Zinc does not", "--topic", "beta"):
        assert world.memory("note", "promote", "beta").code == 0
    assert facts(world, "user/beta")[-1] == "Zinc does not"


def test_promote_does_not_bring_back_a_note_removed_before_its_lock(world: World) -> None:
    world.memory("note", "add", "deploy", "Deploys are on Tuesday")
    with world.meanwhile("LEARNING/notes.lock", "note", "remove", "deploy"):
        assert world.memory("note", "promote", "deploy").code == 2
    assert refs(world) == []
