"""`remember`, `note`, `lint`, `compact`, `edit`, `search`, and notes in `list` and `show`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from commandline import HARNESS, World
from life import Life

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TODAY = time.strftime("%Y-%m-%d")


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def facts(world: World, name: str) -> list[str]:
    return list(world.json("note", "show", name)["facts"])


def refs(world: World, *words: str) -> list[str]:
    return [each["note"] for each in world.json("list", "--notes", *words)]


def is_sound(world: World) -> bool:
    return world.json("verify")["findings"] == []


# remember ------------------------------------------------------------------------------------------


def test_remember_finds_the_topic_or_makes_one(world: World) -> None:
    first = world.json("remember", "PostgreSQL JSONB indexes require GIN, not B-tree")
    again = world.json("remember", "GIN indexes on PostgreSQL are slow to update")
    other = world.json("remember", "Cart totals are rounded once, at the end")
    assert first["note"] == again["note"] != other["note"]
    assert len(again["facts"]) == 2
    named = world.json("remember", "GIN indexes on PostgreSQL need memory", "--topic", "Tuning")
    assert (named["note"], named["name"], named["type"]) == ("project/tuning", "Tuning", "project")
    assert (named["created"], named["verified"]) == (TODAY, TODAY)
    assert is_sound(world)


def test_what_is_known_is_not_said_twice(world: World) -> None:
    world.memory("remember", "Cart totals are rounded once", "--topic", "cart")
    told = world.memory("remember", "cart totals are  rounded once.", "--topic", "Cart")
    assert "Known already" in told.stdout
    assert facts(world, "cart") == ["Cart totals are rounded once"]


def test_scopes_and_their_defaults(world: World, client: support.Client) -> None:
    assert world.json("remember", "Prefers short answers", "--type", "user")["note"].startswith("user/")
    assert world.json("remember", "Dislikes emoji", "--scope", "user")["type"] == "user"
    refused = world.memory("remember", "Approach X failed", "--scope", "local")
    assert refused.code == 2
    assert "no session" in refused.stderr
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    inside = {"env": {"CLAUDE_CODE_SESSION_ID": life.session.id}}
    made = world.json("remember", "Approach X failed", "--scope", "local", "--topic", "x", **inside)
    assert made["session"] == life.session.id[:8]
    assert Path(made["file"]).parent == life.directory / "local"
    promoted = world.json("note", "promote", "x", **inside)
    assert promoted["note"] == "project/x"
    assert world.json("list", "--notes", "--session", life.session.id[:8])[0]["note"] == "project/x"
    assert not Path(made["file"]).exists()
    life.end()
    assert is_sound(world)


def test_secrets_are_redacted_and_lint_speaks(world: World) -> None:
    told = world.json("remember", "The token is " + SECRET, "--topic", "keys")
    assert told["redacted"]
    assert SECRET.encode() not in b"".join(world.files().values())
    shown = world.memory("remember", "Today I learned that tox runs tomorrow", "--topic", "tox")
    assert shown.code == 0
    assert 'State the fact alone: "Tox runs tomorrow"' in shown.stdout
    fixed = world.json("remember", "Today I learned that ruff is quick", "--topic", "ruff", "--fix")
    assert (fixed["facts"], fixed["description"], fixed["findings"]) == (["Ruff is quick"], "Ruff is quick", [])


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "password: hunter2hunter2"),
        ("remember", "api_key=hunter2hunter2 is the key of staging"),
        ("remember", "The key of staging is old", "--topic", "password: hunter2hunter2"),
        ("remember", "Today I learned that password: hunter2hunter2 is used", "--fix"),
        ("note", "add", "password: hunter2hunter2", "The key of staging is old"),
        ("note", "add", "Staging", "password: hunter2hunter2"),
    ],
)
def test_nothing_is_named_after_a_secret(world: World, words: tuple[str, ...]) -> None:
    told = world.memory(*words)
    assert told.code == 0
    assert "redacted" in told.stdout
    assert "hunter2" not in told.stdout
    assert [name for name, data in world.files().items() if "hunter2" in name or b"hunter2" in data] == []
    assert is_sound(world)


def test_a_note_alone_lists(world: World) -> None:
    world.memory("remember", "Cart totals are rounded once", "--topic", "cart")
    assert world.memory("note").stdout == world.memory("note", "list").stdout
    assert "cart" in world.memory("note").stdout


def test_a_new_note_is_told_of_the_other(world: World) -> None:
    world.memory("note", "add", "zebra", "Cart totals are rounded once, at the end")
    told = world.memory("note", "add", "cart", "Cart totals are rounded once, at the end")
    assert "says what project/zebra:" in told.stdout
    assert "project/cart:" not in told.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
def test_what_is_no_readable_file_stands_in_no_ones_way(world: World, tmp_path: Path) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once")
    topics = world.project / "LEARNING" / "topics"
    (topics / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (topics / "folder.md").mkdir()
    os.mkfifo(topics / "pipe.md")
    (topics / "huge.md").write_bytes(b"- x\n" * 2_000_000)
    assert facts(world, "cart") == ["Totals are rounded once"]
    assert world.memory("show", "cart").code == 0
    world.memory("rebuild")
    index = (world.project / "MEMORY.md").read_text("utf-8")
    assert "cart.md" in index
    assert not any(name in index for name in ("link", "folder", "pipe", "huge"))
    found = {Path(each["file"]).stem: each for each in world.json("lint", code=1)["findings"]}
    assert {each["kind"] for each in found.values()} == {"unreadable"}
    for name in ("link", "folder", "pipe"):
        refused = world.memory("note", "remove", name)
        assert (refused.code, "not a plain file" in refused.stderr) == (2, True)
        assert os.path.lexists(topics / (name + ".md"))
    assert world.memory("note", "edit", "huge", "--verified").code == 2
    assert (topics / "huge.md").exists()
    removed = world.json("note", "remove", "huge")
    assert Path(removed[0]["archived"]).stat().st_size == 8_000_000
    assert not (topics / "huge.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("remember",),
        ("remember", " "),
        ("note", "sing"),
        ("note", "add", "..."),
        ("note", "add", "x"),
        ("note", "add", "x", "Y", "--type", "idea"),
        ("note", "add", "x", "Y", "--trigger", "make"),
        ("note", "add", "x", "Y", "--file", "/etc/passwd"),
        ("note", "supersede", "x"),
    ],
)
def test_wrong_usage(world: World, words: tuple[str, ...]) -> None:
    assert world.memory(*words).code == 2
    assert not (world.root / "user").exists()


def test_facts_told_at_once_are_all_kept(world: World) -> None:
    world.memory("remember", "The first fact", "--topic", "busy")
    env = support.clean_environment(world.home)
    told = ["Fact number %d of many" % number for number in range(6)]
    command = [sys.executable, str(HARNESS), "memory", "remember", "--topic", "busy"]
    running = [
        subprocess.Popen([*command, fact], cwd=str(world.repo), env=env, stdout=subprocess.DEVNULL) for fact in told
    ]
    assert [process.wait() for process in running] == [0] * len(told)
    assert sorted(facts(world, "busy")) == sorted([*told, "The first fact"])
    assert is_sound(world)


# note ----------------------------------------------------------------------------------------------


def test_a_note_from_standard_input(world: World) -> None:
    page = b"---\nname: Deploy by hand\ndescription: How\ntype: reference\n---\n\n- Run make\n"
    made = world.json("note", "add", "deploy", "--trigger", "command: make deploy", stdin=page)
    assert (made["name"], made["type"], made["triggers"]) == ("Deploy by hand", "reference", ["command: make deploy"])
    assert world.memory("note", "add", "Deploy", "Once more").code == 2
    assert world.memory("note", "add", "odd", stdin=b"---\ntype: idea\n---\n- x\n").code == 2
    assert refs(world) == ["project/deploy"]


def test_editing_by_flags_and_from_standard_input(world: World) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once", "Tax is included", "--file", "README.md")
    (world.repo / "README.md").write_text("changed\n")
    assert world.json("note", "show", "cart")["freshness"] == "DRIFTED"
    assert [each["kind"] for each in world.json("lint", code=1)["findings"]] == ["drifted"]
    world.memory("note", "edit", "cart", "--verified", "--name", "The cart")
    assert world.json("note", "show", "cart")["freshness"] == "FRESH"
    world.memory("note", "edit", "cart", "--drop", "tax is")
    assert facts(world, "cart") == ["Totals are rounded once"]
    assert world.memory("note", "edit", "cart", "--drop", "nothing of it").code == 2
    world.memory("note", "edit", "cart", stdin=b"- Totals are rounded twice\n")
    shown = world.json("note", "show", "cart")
    assert (shown["facts"], shown["name"]) == (["Totals are rounded twice"], "The cart")
    assert world.memory("note", "edit", "cart", stdin=b"---\ntype: idea\n---\n- x\n").code == 2
    assert facts(world, "cart") == ["Totals are rounded twice"]
    assert is_sound(world)


def test_removing_keeps_a_copy(world: World) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once")
    (told,) = world.json("note", "remove", "cart")
    assert "Totals are rounded once" in Path(told["archived"]).read_text("utf-8")
    assert refs(world) == []
    assert not (world.project / "MEMORY.md").exists()
    assert world.memory("note", "remove", "cart").code == 2
    assert is_sound(world)


def test_who_stands_before_whom_is_shown(world: World) -> None:
    world.memory("note", "add", "Editor", "Uses vim", "--scope", "user")
    world.memory("note", "add", "Editor", "Uses emacs")
    world.memory("note", "add", "Shell", "Uses fish", "--scope", "user")
    world.memory("note", "add", "Shells", "Uses bash here")
    assert world.memory("note", "supersede", "user/shell", "shells").code == 0
    listed = {each["note"]: each["why_not"] for each in world.json("list", "--notes")}
    assert listed == {
        "project/editor": None,
        "project/shells": None,
        "user/editor": "overridden by project/editor",
        "user/shell": "superseded by project/shells",
    }
    assert "instead of user/shell" in (world.project / "MEMORY.md").read_text("utf-8")
    assert world.memory("note", "supersede", "shells", "user/editor").code == 2
    assert world.memory("note", "supersede", "shells", "shells").code == 2
    merged = world.json("note", "promote", "editor")
    assert (merged["note"], merged["facts"]) == ("user/editor", ["Uses vim", "Uses emacs"])
    assert is_sound(world)


@pytest.mark.parametrize(("kind", "after"), [("project", "user"), ("feedback", "feedback"), ("reference", "reference")])
def test_a_promoted_note_fits_its_new_scope(world: World, kind: str, after: str) -> None:
    world.memory("note", "add", "Editor", "I learned that vim is better", "--type", kind)
    told = world.json("note", "promote", "editor")
    assert (told["note"], told["type"]) == ("user/editor", after)
    assert [finding["kind"] for finding in told["findings"]] == ["narrative"]


def test_names_are_found_by_their_beginning(world: World) -> None:
    for name in ("Cart totals", "Cart tax"):
        world.memory("note", "add", name, "Fact of " + name)
    assert facts(world, "cart-to") == facts(world, "Cart Totals") == ["Fact of Cart totals"]
    assert "cart-tax" in world.memory("note", "show", "cart").stderr
    assert world.memory("show", "cart-tax").stdout.startswith("---\nname: Cart tax\n")
    assert world.json("show", "project/cart-tax")["facts"] == ["Fact of Cart tax"]
    assert world.json("show", "LEARNING/topics/cart-tax.md")["facts"] == ["Fact of Cart tax"]
    (world.project / "LEARNING/topics/My_Own Way.md").write_text("- By hand\n", "utf-8")
    assert facts(world, "my own") == facts(world, "My_Own Way.md") == ["By hand"]


# list, search --------------------------------------------------------------------------------------


def test_listing_notes_by_kind_age_and_use(world: World) -> None:
    world.memory("note", "add", "a", "Fact a", "--type", "feedback")
    world.memory("note", "add", "b", "Fact b")
    page = b"---\nname: c\ndescription: Fact c\ntype: project\ncreated: '2025-01-01'\n---\n- Fact c\n"
    (world.project / "LEARNING/topics/c.md").write_bytes(page)
    os.utime(str(world.project / "LEARNING/topics/c.md"), (0, 0))
    assert refs(world, "--type", "feedback") == ["project/a"]
    assert refs(world, "--scope", "user") == []
    assert refs(world, "--since", "7d") == ["project/a", "project/b"]
    assert refs(world, "--until", "2025-06-01") == refs(world, "--unused") == ["project/c"]
    assert "unused" in {each["kind"] for each in world.json("lint", code=1)["findings"]}
    world.memory("show", "c")
    assert refs(world, "--unused") == []
    assert world.memory("list", "--notes", "--status", "ACTIVE").code == 2
    assert [each["note"] for each in world.json("note", "list", "--type", "feedback")] == ["project/a"]


def test_search_prefers_every_word(world: World) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once", "Tax is included")
    session = world.work(
        "Why is the total wrong?", "Totals were summed per line, which is wrong in the CART.", ("cart.py",)
    )
    found = world.json("search", "totals")
    assert sorted(each["kind"] for each in found) == ["note", "session"]
    assert session.id[:8] in [each["id"] for each in found]
    assert world.json("search", "TAX", "rounded")[0]["kind"] == "note"
    assert [each["kind"] for each in world.json("search", "cart", "summed", "--sessions")] == ["session"]
    assert world.memory("search", "nowhere").code == 1
    assert world.memory("search", " ").code == 2


def test_a_session_by_its_beginning_among_many(world: World) -> None:
    sessions = [world.work("Ask number %d" % n, "Answer number %d, at some length." % n) for n in range(3)]
    assert len(world.json("list")) == 3
    assert [each["id"] for each in world.json("list", "--limit", "2")] == [
        each["id"] for each in world.json("list")[:2]
    ]
    assert "1 more" in world.memory("list", "--limit", "2").stdout
    for session in sessions:
        for word in (session.id, session.id[:8], session.id[:13]):
            assert world.json("show", word)["id"] == session.id[:8]


# lint, compact -------------------------------------------------------------------------------------


def test_lint_fix_archives_first(world: World) -> None:
    assert world.memory("lint").code == 0
    world.memory("note", "add", "a", "Today we found that it ends tomorrow", "I had trouble")
    world.memory("note", "add", "b", "In order")
    found = world.json("lint", "a", code=1)["findings"]
    assert [(each["kind"], each["fixable"]) for each in found if each["line"] > 1] == [
        ("narrative", True),
        ("relative-date", True),
        ("narrative", False),
    ]
    told = world.json("lint", "--fix", code=1)
    assert [Path(each["file"]).name for each in told["fixed"]] == ["a.md"]
    assert "Today we found" in Path(told["fixed"][0]["archived"]).read_text("utf-8")
    assert [each["kind"] for each in told["findings"]] == ["narrative"]
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 86400))
    assert facts(world, "a") == ["It ends " + tomorrow, "I had trouble"]
    assert world.json("lint", "--scope", "user")["findings"] == []
    assert is_sound(world)


def test_compact_shows_then_does(world: World) -> None:
    assert world.memory("compact").code == 0
    world.memory("note", "add", "a", "Totals are rounded once", "Only a says this")
    world.memory("note", "add", "b", "Totals are rounded once", "Only b says this")
    before = world.files()
    planned = world.json("compact", "--dry-run")
    assert world.files() == before
    done = world.json("compact")
    assert done["changes"] == planned["changes"] != []
    assert len(done["archived"]) == 1
    assert facts(world, "b") == ["Only b says this"]
    assert world.json("compact")["changes"] == []
    assert is_sound(world)


# edit ----------------------------------------------------------------------------------------------


def test_every_verb_explains_itself(world: World) -> None:
    for verb in ("remember", "note", "lint", "compact", "edit", "forget", "search", "list", "show"):
        told = world.memory(verb, "--help")
        assert told.code == 0
        assert "examples:\n  harness memory %s" % verb in told.stdout


# Two at once ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_superseded", [False, True])
def test_compact_leaves_a_fact_that_came_meanwhile(world: World, is_superseded: bool) -> None:
    world.memory("note", "add", "alpha", "The gateway closes idle sockets after thirty seconds")
    world.memory("note", "add", "beta", "The gateway closes idle sockets after thirty seconds")
    come = ["remember", "Tin melts at low heat", "--topic", "beta"]
    if is_superseded:
        world.memory("note", "supersede", "beta", "alpha")
        come = ["note", "remove", "alpha"]
    with world.meanwhile("LEARNING/notes.lock", *come):
        told = world.memory("compact")
    assert told.code == 0
    texts = [path.read_text("utf-8") for path in (world.project / "LEARNING" / "topics").glob("*.md")]
    assert sum("The gateway closes idle sockets" in text for text in texts) == 1
    assert is_superseded or sum("Tin melts at low heat" in text for text in texts) == 1
    assert "removed" not in told.stdout
    assert is_sound(world)


def test_promote_takes_a_fact_along_that_came_meanwhile(world: World) -> None:
    world.memory("note", "add", "deploy", "Deploys are on Tuesday", "--scope", "project")
    with world.meanwhile("LEARNING/notes.lock", "remember", "Deploys need the VPN", "--topic", "deploy"):
        assert world.memory("note", "promote", "deploy").code == 0
    assert refs(world) == ["user/deploy"]
    assert facts(world, "deploy") == ["Deploys are on Tuesday", "Deploys need the VPN"]


def test_promote_does_not_bring_back_a_note_that_went_meanwhile(world: World) -> None:
    world.memory("note", "add", "deploy", "Deploys are on Tuesday", "--scope", "project")
    with world.meanwhile("LEARNING/notes.lock", "note", "remove", "deploy"):
        told = world.memory("note", "promote", "deploy")
    assert (told.code, refs(world)) == (2, [])
    assert 'no note "deploy"' in told.stderr


@pytest.mark.parametrize("garbage", [b"# Deploys\n- by \xff\xfe hand\n", b"- by\0hand\n"])
def test_a_note_that_is_no_text_is_damaged(world: World, garbage: bytes) -> None:
    world.memory("note", "add", "cart", "Totals are rounded once")
    world.memory("note", "add", "deploys", "Deploys are made by hand")
    path = world.project / "LEARNING" / "topics" / "deploys.md"
    path.write_bytes(garbage)
    told = support.run_hook("session_start", support.Session(world.repo, world.home).start(), home=world.home)
    assert ("cart.md" in told.context, "deploys.md" in told.context) == (True, False)
    assert "project/deploys cannot be read" in world.memory("show", "deploys").stderr
    (found,) = world.json("lint", code=1)["findings"]
    assert (found["kind"], found["file"]) == ("unreadable", str(path))
    assert [each["file"] for each in world.json("verify", code=1)["findings"]] == [str(path)]
    assert "move it out" in found["remedy"]
    path.unlink()
    assert "in order" in world.memory("lint").stdout
    assert world.json("verify")["findings"] == []


def test_secrets_do_not_make_facts_alike(world: World) -> None:
    one = world.json("remember", "Blue whales sing at postgres://bob:hunter2secret@db.example.org/x")
    other = world.json("remember", "password=Tr0ub4dor&3xyz green apples")
    assert one["note"] != other["note"]
    assert (one["redacted"], other["redacted"]) == (True, True)
    made = world.json("note", "add", "Staging password=hunter2hunter2", "It is old")
    assert made["note"] == "project/staging-password"


def test_a_fact_put_right_is_known(world: World) -> None:
    said = "The deploy happens tomorrow at noon"
    world.memory("remember", said)
    for _ in range(2):
        told = world.memory("remember", said, "--fix")
        assert "Known already" in told.stdout
        assert "(1 fact)" in told.stdout
        assert "says" not in told.stdout
    assert "tomorrow" not in facts(world, "deploy-happens-tomorrow-noon")[0]


def test_what_changes_nothing_keeps_no_former_note(world: World) -> None:
    world.memory("note", "add", "older", "The parser is slow")
    world.memory("note", "add", "newer", "The parser is quick")
    kept = world.project / "archive" / "notes"
    assert world.memory("note", "supersede", "older", "newer").code == 0
    assert len([*kept.iterdir()]) == 1
    assert world.memory("note", "supersede", "older", "newer").code == 0
    assert world.memory("note", "edit", "newer", "--drop", "nothing of the kind").code == 2
    assert len([*kept.iterdir()]) == 1
