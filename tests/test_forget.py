"""`forget`: gone from every file, and no transcript brings it back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import full_memory
import pytest
import support
from commandline import World
from life import Life

from harness_memory.audit import trail as audit
from harness_memory.base import clock
from harness_memory.base import files as store
from harness_memory.base.lock import Lock
from harness_memory.cli import forget as forgetting
from harness_memory.guard import rules
from harness_memory.memory import archive as vault
from harness_memory.memory import forget
from harness_memory.session import capture, tombstones

SECRETIVE = "The Zanzibar contract ends in March"


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def holding(world: World, text: str) -> list[str]:
    """Every file of the store that holds a text; the audit trail is append-only and holds no content."""
    found = [name for name, data in world.files().items() if text.lower() in data.decode("utf-8", "replace").lower()]
    return [name for name in found if "SECURITY" not in name]


def lived(world: World, client: support.Client, ask: str, answer: str, *files: str) -> Life:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.turn(ask, answer, *files)
    return life


def is_sound(world: World) -> bool:
    return world.json("rebuild")[0]["changed"] == [] and world.json("verify")["findings"] == []


def test_a_preview_changes_nothing(world: World, client: support.Client) -> None:
    life = lived(world, client, "Look at Zanzibar please", SECRETIVE + ". Done.")
    life.end()
    before = world.files()
    for words in (("--text", "zanzibar"), (life.session.id[:8],), ("--since", "1d"), ("--session", "last")):
        shown = world.memory("forget", *words)
        assert shown.code == 0
        assert "--yes" in shown.stdout
    assert world.files() == before


def test_a_session_goes_from_everywhere(world: World, client: support.Client) -> None:
    first = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.", "zanzibar.md")
    world.memory("checkpoint", "--done", "Zanzibar planned", "--task-id", "trip", "--task-title", "Zanzibar",
                 "--task-remaining", "book Zanzibar", "--session", first.session.id[:8])  # fmt: skip
    first.end()
    second = lived(world, client, "Something else entirely", "A second answer that has nothing to do with it.")
    assert first.session.id[:8] in (second.directory / "session_memory_context.md").read_text("utf-8")
    done = world.json("forget", first.session.id[:8], "--yes")
    assert [record["id"] for record in done["sessions"]] == [first.session.id[:8]]
    assert holding(world, "zanzibar") == []
    assert holding(world, first.session.id) == ["%s/STATE/forgotten.json" % world.project.name]
    assert [value["session_id"] for value in support.episodes(world.root)] == [second.session.id]
    assert is_sound(world)


def test_a_forgotten_session_that_goes_on_brings_nothing_back(world: World, client: support.Client) -> None:
    life = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.", "zanzibar.md")
    world.memory("forget", life.session.id[:8], "--yes")
    life.stop("Bye.")
    life.end()
    assert holding(world, "zanzibar") == []
    (value,) = support.episodes(world.root)  # of what it said afterwards alone
    assert (value["asked"], value["what_was_done"], value["files_changed"]) == ([], "Bye.", [])
    assert is_sound(world)


def test_a_session_that_speaks_while_it_is_forgotten_brings_nothing_back(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.", "zanzibar.md")
    erase = store.erase

    def interrupted(path: str) -> None:
        if "/episodes/" in path:
            life.stop("Bye.")  # its directory is gone, and its episode still there
        erase(path)

    monkeypatch.setattr(store, "erase", interrupted)
    assert world.memory("forget", life.session.id[:8], "--yes").code == 0
    assert holding(world, "zanzibar") == []
    life.end()
    assert holding(world, "zanzibar") == []
    assert life.episode["what_was_done"] == "Bye."


@pytest.mark.parametrize("is_read_before", [False, True])
def test_an_answer_given_before_it_was_forgotten_does_not_come_with_its_stop(
    world: World, client: support.Client, is_read_before: bool
) -> None:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.prompt("Plan the Zanzibar trip for me")
    life.transcript.text(SECRETIVE + ", so book early.")
    world.memory("forget", life.session.id[:8], "--yes")
    if is_read_before:
        life.compact()
    life.stop(SECRETIVE + ", so book early.")
    assert holding(world, "zanzibar") == []
    life.stop("Bye.")
    assert life.episode["what_was_done"] == "Bye."


def test_a_fork_may_say_what_was_said_before_it(world: World, client: support.Client) -> None:
    life = Life(world.home, world.repo, pid=client.pid)
    life.transcript.turn("one", "The parser is done, and tested in full.")
    life.start("fork")
    life.transcript.prompt("And the printer?", timestamp=clock.iso(time.time() + 2))
    life.stop("The parser is done, and tested in full.")
    assert life.episode["what_was_done"] == "The parser is done, and tested in full."


def test_a_forgotten_text_is_struck_from_the_answer_that_a_stop_brings(world: World, client: support.Client) -> None:
    life = lived(world, client, "Something else entirely", "A first answer, of Zanzibar and others.", "a.py")
    life.prompt("Write to them. Keep it short")
    answer = SECRETIVE + ". Wrote a letter."
    life.transcript.text(answer)
    world.memory("forget", "--text", "Zanzibar", "--yes")
    life.stop(answer)
    assert holding(world, "zanzibar") == []
    assert "Wrote a letter." in life.episode["what_was_done"]


def test_a_text_goes_from_facts_pages_receipts_and_versions(world: World, client: support.Client) -> None:
    world.memory("briefing", "set", stdin=b"# Us\n\n- We work for Zanzibar Ltd. We ship on Mondays.\n")
    world.memory("briefing", "set", stdin=b"# Us\n\n- We ship on Mondays.\n- Zanzibar is a customer\n")
    world.memory("profile", "set", "melt", stdin=b"- Zanzibar first\n- then the rest\n")
    world.memory("remember", "Zanzibar pays late", "Invoices go out on Fridays", "--topic", "billing")
    world.memory("remember", "Greets the Zanzibar team in Swahili", "--scope", "user")
    world.memory("note", "edit", "billing", "--verified")  # leaves a version in the archive
    life = lived(world, client, "Write to Zanzibar. Keep it short", SECRETIVE + ". Wrote a letter.", "letter.md")
    assert len(holding(world, "zanzibar")) > 8
    shown = world.json("forget", "--text", "zanzibar")
    assert not shown["forgotten"]
    names = {Path(found["file"]).name for found in shown["files"]}
    assert {"briefing.md", "briefing.md.1", "melt.md", "billing.md", "capture.json", "META.yaml", "summary.md"} <= names
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 0
    assert holding(world, "zanzibar") == []
    assert (world.project / "briefing.md").read_text("utf-8") == "# Us\n\n- We ship on Mondays.\n"
    assert (world.project / "briefing.md.1").read_text("utf-8") == "# Us\n\n- We ship on Mondays.\n"
    assert world.json("note", "show", "billing")["facts"] == ["Invoices go out on Fridays"]
    assert "Wrote a letter." in life.episode["what_was_done"]
    assert is_sound(world)
    assert world.memory("forget", "--text", "zanzibar").code == 1


def test_a_forgotten_text_does_not_come_back_from_the_transcript(world: World, client: support.Client) -> None:
    life = lived(world, client, "Write to Zanzibar. Keep it short", SECRETIVE + ". Wrote a letter.", "letter.md")
    world.memory("forget", "--text", "Zanzibar", "--yes")
    (life.directory / "capture.json").unlink()  # so that all of the transcript is read again
    life.stop("A new answer.")
    assert holding(world, "zanzibar") == []
    assert life.episode["files_changed"] == ["letter.md"]
    assert "Keep it short" in life.episode["asked"][0]
    assert "zanzibar" not in (world.project / "STATE" / "forgotten.json").read_text("utf-8").lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('the "Zanzibar" \\ trip', 'the "Zanzibar" \\ trip'),  # which JSON and YAML write otherwise
        ("the <b>Zanzibar trip", "the <b>Zanzibar trip"),  # which is told otherwise
        ("the ```Zanzibar``` trip", "the ```Zanzibar``` trip"),
        ("Cafe\u0301 Zanzibar", "Caf\u00e9 Zanzibar"),
        ("Caf\u00e9 Zanzibar", "Cafe\u0301 Zanzibar"),
        ("the Zanzibar\u200btrip", "the Zanzibartrip"),
    ],
)
def test_a_text_goes_however_it_is_written(world: World, text: str, said: str) -> None:
    full_memory.fill(world.home, world.repo, lambda place: "Work on %s" % (place if "file" in place else said))
    assert len(holding(world, "zanzibar")) > 20
    assert world.json("forget", "--text", text, "--yes")["left"] == []
    assert holding(world, "zanzibar") == []


def test_a_text_goes_from_the_head_of_a_note(world: World) -> None:
    world.memory("note", "add", "trip", "It is far", "--description", 'The "Zanzibar" trip', "--trigger", 'path: "Z"')
    world.memory("note", "add", "boat", "It is slow", "--trigger", 'command: echo "Zanzibar"')
    for text in ('"Zanzibar" trip', 'echo "Zanzibar"'):
        assert world.json("forget", "--text", text, "--yes")["left"] == []
    assert holding(world, "zanzibar") == []
    assert "It is far" in world.memory("show", "trip").stdout


@pytest.mark.parametrize("letters", ["Zanzi\u00adbar", "Zanziba\u200br"])
def test_hidden_characters_bring_no_forgotten_text_back(world: World, client: support.Client, letters: str) -> None:
    life = lived(world, client, "Plan the %s trip for me" % letters, "It is planned, %s and all of it." % letters)
    assert holding(world, "zanzibar")
    world.memory("forget", "--text", "Zanzibar", "--yes")
    (life.directory / "capture.json").unlink()
    life.stop("Bye.")
    life.end()
    assert holding(world, "zanzibar") == []


def test_a_name_made_of_the_text_is_said_to_stay(world: World) -> None:
    world.memory("task", "start", "Zanzibar trip")
    left = world.json("forget", "--text", "Zanzibar trip", "--yes")["left"]
    assert [os.path.basename(path) for path in left] == ["current-work.json", "zanzibar-trip.json"]


def test_a_text_that_is_forgotten_twice_is_known_once(world: World, client: support.Client) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", "It is planned.")
    for _ in range(2):
        world.memory("forget", "--text", "Zanzibar", "--yes")
        lived(world, client, "Plan the Zanzibar trip again", "It is planned again.")
    told = json.loads((world.project / "STATE" / "forgotten.json").read_text("utf-8"))
    assert len(told["texts"]) == 1


def test_notes_by_type_and_scope(world: World) -> None:
    world.memory("note", "add", "Tabs", "Prefers tabs", "--type", "feedback")
    world.memory("note", "add", "Build", "Built with make")
    world.memory("note", "add", "Me", "Lives in Lisbon", "--scope", "user")
    world.memory("show", "tabs")
    world.memory("forget", "--type", "feedback", "--yes")
    assert [each["note"] for each in world.json("list", "--notes")] == ["project/build", "user/me"]
    world.memory("forget", "--scope", "user", "--yes")
    assert [each["note"] for each in world.json("list", "--notes")] == ["project/build"]
    assert holding(world, "lisbon") == holding(world, "tabs") == []
    assert [name for name in world.files() if "tabs" in name] == []
    assert is_sound(world)


def test_names_that_records_are_found_by_are_said_to_stay(world: World, client: support.Client) -> None:
    life = lived(world, client, "Work in the project, please", "All of the project is in order now. Nothing else.")
    world.memory("profile", "set", "project-x", stdin=b"- low heat\n")
    done = world.json("forget", "--text", "project", "--yes")
    assert [Path(path).name for path in done["left"]]
    assert all("project" in Path(path).read_text("utf-8") for path in done["left"])
    assert not (world.project / "profiles" / "project-x.md").exists()
    assert life.episode["what_was_done"] == "Nothing else."
    assert is_sound(world)


def test_the_audit_trail_says_that_but_not_what(world: World, client: support.Client) -> None:
    pytest.importorskip("harness_memory.audit.trail")
    life = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.")
    world.memory("forget", "--text", "Zanzibar", "--yes")
    world.memory("forget", life.session.id[:8], "--yes")
    (trail,) = world.project.glob("SECURITY/*/*/audit.jsonl")
    events = [json.loads(line) for line in trail.read_text("utf-8").splitlines()]
    assert [(each["event"], each["sessions"]) for each in events] == [
        ("memory_forgotten", ""),
        ("memory_forgotten", life.session.id[:8]),
    ]
    assert "zanzibar" not in trail.read_text("utf-8").lower()


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--text", "a"),
        ("--text", "秘"),
        ("a1b2c3d4", "--text", "abc"),
        ("--text", "abc", "--scope", "user"),
        ("--since", "never"),
    ],
)
def test_what_cannot_be_meant(world: World, words: tuple[str, ...]) -> None:
    assert world.memory("forget", *words).code == 2


def test_what_is_neither_session_nor_note(world: World) -> None:
    for verb in ("forget", "show"):
        refused = world.memory(verb, "nothing-of-it")
        assert (refused.code, 'no session or note "nothing-of-it"' in refused.stderr) == (2, True)


def test_a_text_without_blanks_is_known_anywhere(world: World, client: support.Client) -> None:
    life = lived(world, client, "この秘密は大切", "これは長い答えで、秘密の計画についてのものです。")
    assert world.memory("forget", "--text", "秘密", "--yes").code == 0
    life.stop("終わり。")
    life.end()
    assert holding(world, "秘密") == []


@pytest.mark.parametrize(
    ("text", "kept_out"),
    [
        ("C++", []),
        ("+++", []),
        ("C#", []),
        ("Acme", [["acme"]]),
        ("a b c", [["a", "b", "c"]]),
        ("秘密", [["秘", "密"]]),
    ],
)
def test_what_a_text_is_known_by(text: str, kept_out: list[list[str]]) -> None:
    assert forget.phrases(text, []) == kept_out


def test_the_preview_tells_how_far_it_is_kept_out(world: World) -> None:
    world.memory("remember", "Acme likes C++ best of all", "--topic", "acme")
    assert "kept out as whole words" in world.memory("forget", "--text", "Acme").stdout
    assert "may bring it back" in world.memory("forget", "--text", "C++").stdout
    assert "whole words" not in world.memory("forget", "acme").stdout


def test_what_killed_writers_left_goes_at_once(world: World) -> None:
    world.memory("remember", "Totals are rounded once", "--topic", "cart")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    archive = world.root / "archive" / world.project.name
    archive.mkdir(parents=True)
    topics = world.project / "LEARNING" / "topics"
    left = [topics / (".cart.md.%d.17ab.tmp" % gone.pid), archive / (".sessions-2026.%d.tmp" % gone.pid)]
    writing = topics / (".cart.md.%d.17ab.tmp" % os.getpid())
    for path in (*left, writing):
        path.write_bytes(b"zanzibar")
    world.memory("forget", "--text", "zanzibar")
    assert all(path.exists() for path in left)
    world.memory("forget", "--text", "nowhere", "--yes")
    assert [path.exists() for path in (*left, writing)] == [False, False, True]


# What is out of sight --------------------------------------------------------------------------------


def put_away(world: World, client: support.Client, number: int = 1) -> Life:
    """A session that only the archive has."""
    life = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.", "zanzibar.md")
    life.end()
    report = world.json("archive", "--before", "2099-01-01", "--open")
    assert report["sessions"] == number
    return life


@pytest.mark.parametrize(
    "words", [("{id}",), ("{head}",), ("--session", "{head}"), ("--since", "1d", "--until", "2099-01-01")]
)
def test_an_archived_session_goes_too(world: World, client: support.Client, words: tuple[str, ...]) -> None:
    life = put_away(world, client)
    other = lived(world, client, "Something else entirely", "A second answer that has nothing to do with it.")
    filled = [word.format(id=life.session.id, head=life.session.id[:8]) for word in words]
    shown = world.memory("forget", *filled)
    assert life.session.id[:8] in shown.stdout
    assert world.json("restore") != []
    done = world.json("forget", *filled, "--yes")
    assert done["archived"] == [life.session.id[:8]]
    assert world.json("restore") == []
    assert tombstones.since(str(world.project), life.session.id) > 0
    assert bool(support.episodes(world.root)) == ("--since" not in words)
    assert other.session.id != life.session.id


def test_an_index_leads_nowhere_else(world: World, client: support.Client) -> None:
    put_away(world, client)
    victim = world.home / "victim.json"
    victim.write_text("{}", "utf-8")
    (index,) = (world.root / "archive").rglob("*.jsonl")
    entry = json.loads(index.read_text("utf-8"))
    climbing = "../../../../../victim"
    (world.project / "STATE" / "threads").mkdir(exist_ok=True)
    assert (world.project / "STATE" / "threads" / (climbing + ".json")).resolve() == victim.resolve()
    index.write_text(json.dumps({**entry, "id": climbing, "session_id": climbing}) + "\n", "utf-8")
    assert world.memory("forget", climbing, "--yes").code == 0
    assert victim.exists()


def test_what_other_sessions_were_told_of_an_archived_one_goes(world: World, client: support.Client) -> None:
    first = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.")
    first.end()
    second = lived(world, client, "Something else entirely", "A second answer that has nothing to do with it.")
    world.json("archive", "--before", "2099-01-01", "--open")
    assert "Zanzibar" in (second.directory / "session_memory_context.md").read_text("utf-8")
    assert world.memory("forget", first.session.id[:8], "--yes").code == 0
    assert holding(world, "zanzibar") == []


def test_a_text_goes_from_archived_receipts_too(world: World, client: support.Client) -> None:
    first = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.")
    first.end()
    second = lived(world, client, "Something else entirely", "A second answer that has nothing to do with it.")
    assert "Zanzibar" in (second.directory / "session_memory_context.md").read_text("utf-8")
    second.end()
    assert world.json("archive", "--before", "2099-01-01", "--open")["sessions"] == 2
    assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 0
    archived = vault.texts(str(world.root), str(world.project), [], is_all=True)
    assert [path for _, _, path, text in archived if "zanzibar" in text.lower()] == []


def test_a_damaged_archive_is_told_and_stops_nothing_else(world: World, client: support.Client) -> None:
    lives = []
    for number, ask in enumerate(("The first Zanzibar trip", "The Zanzibar budget", "The third Zanzibar trip")):
        lives.append(lived(world, client, ask, SECRETIVE + ", so book early, %d times." % number))
        lives[-1].end()
        if number < 2:
            world.json("archive", "--before", "2099-01-01", "--open")
    first, second = sorted((world.root / "archive").rglob("*.tar.gz"), key=lambda path: path.stat().st_mtime_ns)
    first.write_bytes(first.read_bytes()[:300])
    shown = world.memory("forget", "--text", "Zanzibar", "--yes")
    assert shown.code == 2
    assert "Forgotten." in shown.stdout
    assert first.name in shown.stderr
    assert "is damaged" in shown.stderr
    left = [name for name in holding(world, "zanzibar") if first.name[: -len(".tar.gz")] not in name]
    assert left == []
    assert not second.exists()
    assert [entry["id"] for entry in world.json("restore")] == [lives[0].session.id[:8]]
    # By its id it goes with the archive, of which it was all.
    assert world.memory("forget", lives[0].session.id[:8], "--yes").code == 0
    assert not first.exists()


def test_a_damaged_archive_is_named_and_the_others_are_searched(world: World, client: support.Client) -> None:
    for number in range(2):
        lived(world, client, "The Zanzibar trip %d" % number, SECRETIVE + ", %d times." % number).end()
        world.json("archive", "--before", "2099-01-01", "--open")
    first, second = sorted((world.root / "archive").rglob("*.tar.gz"), key=lambda path: path.stat().st_mtime_ns)
    first.write_bytes(first.read_bytes()[:300])
    found = world.memory("search", "Zanzibar", "--archived", "--json")
    assert found.code == 2
    assert [hit["file"] for hit in json.loads(found.stdout)] == [str(second)]
    assert first.name in found.stderr
    assert "is damaged" in found.stderr


@pytest.mark.parametrize("title", ["Zanzibar contract", "The year. Zanzibar contract"])
def test_a_title_told_by_the_client_brings_nothing_back(world: World, client: support.Client, title: str) -> None:
    life = lived(world, client, "Plan the trip", "It is planned, from the first day to the last.")
    lived(world, client, "Plan the Zanzibar contract", "No.").end()
    assert world.memory("forget", "--text", "Zanzibar contract", "--yes").code == 0
    life.stop("Bye.", session_title=title)
    assert holding(world, "zanzibar") == []


def test_a_session_goes_from_everywhere_but_a_damaged_archive(world: World, client: support.Client) -> None:
    lives = [lived(world, client, "Zanzibar, part %d" % number, SECRETIVE + ", so book early.") for number in (1, 2)]
    for life in lives:
        life.end()
    world.json("archive", "--before", "2099-01-01", "--open")
    (path,) = (world.root / "archive").rglob("*.tar.gz")
    path.write_bytes(path.read_bytes()[:-400])
    refused = world.memory("forget", lives[0].session.id[:8], "--yes")
    assert refused.code == 2
    assert "is damaged" in refused.stderr
    assert lives[0].session.id[:8] in world.json("restore", "--all", code=2)["forgotten"]
    assert not list(world.project.glob("WORK/*/" + lives[0].session.id[:8]))


def test_nothing_is_brought_back_while_nobody_knows_what_was_forgotten(world: World, client: support.Client) -> None:
    life = lived(world, client, "The Zanzibar trip", SECRETIVE)
    life.end()
    world.json("archive", "--before", "2099-01-01", "--open")
    assert world.memory("forget", life.session.id[:8], "--yes").code == 0
    path = world.project / "STATE" / "forgotten.json"
    for spoilt in (b"[", b""):
        path.write_bytes(spoilt)
        for words in (("restore", "--all"), ("backfill",)):
            refused = world.memory(*words)
            assert (refused.code, "forgotten.json: cannot be read" in refused.stderr) == (2, True), refused
    assert world.memory("forget", "--text", "Zanzibar", "--yes").code in (0, 1)
    assert holding(world, "zanzibar") == []


def test_a_promoted_note_leaves_no_copy_where_it_was(world: World) -> None:
    world.memory("note", "add", "Home", "Lives in Lisbon")
    world.memory("note", "add", "Homework", "Is due on Fridays")
    world.memory("note", "promote", "home")
    world.memory("note", "edit", "homework", "--verified")
    assert [name for name in holding(world, "lisbon") if "archive" in name]
    world.memory("forget", "home", "--yes")
    assert holding(world, "lisbon") == []
    assert len(holding(world, "is due on fridays")) > 1


@pytest.mark.parametrize("word", ["home", "hom", "project/home", "home.md"])
def test_a_removed_note_can_be_forgotten(world: World, word: str) -> None:
    world.memory("note", "add", "Home", "Lives in Lisbon")
    world.memory("note", "remove", "home")
    assert world.memory("note", "show", "home").code == 2
    assert "Lisbon" in world.memory("forget", word).stdout
    assert world.memory("forget", word, "--yes").code == 0
    assert holding(world, "lisbon") == []
    assert world.memory("forget", word).code == 2


def test_the_audit_trail_is_said_to_keep_what_it_holds(world: World, client: support.Client) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.")
    assert "audit" not in world.memory("forget", "--text", "zanzibar").stdout
    audit.append(str(world.project), {"event": "tool_blocked", "command": "rm -rf zanzibar"}, time.time(), 1)
    (trail,) = world.project.glob("SECURITY/*/*/audit.jsonl")
    before = trail.read_bytes()
    for words in ((), ("--yes",)):
        shown = world.memory("forget", "--text", "Zanzibar", *words)
        assert "audit.jsonl: the audit trail is tamper-evident, and keeps what it holds" in shown.stdout
    assert trail.read_bytes().startswith(before)
    alone = world.json("forget", "--text", "zanzibar", code=1)
    assert alone["audit_trail"] == [str(trail)]


# Busy and failing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_alone", [True, False])
@pytest.mark.parametrize("written", [0, 1])
def test_a_killed_drop_is_finished_by_the_next(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch, written: int, is_alone: bool
) -> None:
    if not is_alone:
        lived(world, client, "Something else entirely", "A first answer that has nothing to do with it.").end()
    put_away(world, client, 1 if is_alone else 2)
    real, calls = vault.write_index, []

    def killed(*told: Any) -> None:
        calls.append(told)
        if len(calls) > written:
            raise KeyboardInterrupt
        real(*told)

    with monkeypatch.context() as patch:
        patch.setattr(vault, "write_index", killed)
        if is_alone and written:
            patch.setattr(vault.store, "erase", lambda path: os.unlink(path) or killed())
        assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 130
    world.memory("forget", "--text", "Zanzibar", "--yes")
    assert holding(world, "zanzibar") == []
    assert len(world.json("restore")) == (0 if is_alone else 1)
    assert is_sound(world)


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (("--text", "Zanzibar"), ("archive", "--before", "2099-01-01", "--open")),
        (("--text", "Zanzibar"), ("restore", "--all")),
        (("--since", "1d"), ("restore", "--all")),
    ],
)
def test_nobody_puts_away_or_brings_back_what_is_being_forgotten(
    world: World,
    client: support.Client,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    other: tuple[str, ...],
) -> None:
    if other[0] == "restore":
        put_away(world, client)
    else:
        lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    real = forgetting._carry_out

    def carry_out(*chosen: Any) -> Any:
        assert world.memory(*other).code == 2  # in another terminal
        return real(*chosen)

    monkeypatch.setattr(vault, "_LOCK_SECONDS", 0.05)
    monkeypatch.setattr(forgetting, "_carry_out", carry_out)
    assert world.memory("forget", *words, "--yes").code == 0
    world.memory("restore", "--all")
    assert holding(world, "zanzibar") == []


def paused(script: str, before: str, payload: Any, life: Life) -> subprocess.Popen[bytes]:
    """A hook that stands before a function of ours until its flag is gone."""
    flag = life.home / "paused"
    code = (
        "import importlib, os, sys, time; sys.path.insert(0, %r)\n"
        "place, _, name = %r.rpartition('.')\n"
        "module = importlib.import_module('harness_memory.' + place); real = getattr(module, name)\n"
        "def pause(*told, **more):\n"
        "    open(%r, 'w').close()\n"
        "    while os.path.exists(%r): time.sleep(0.005)\n"
        "    return real(*told, **more)\n"
        "setattr(module, name, pause)\n"
        "exec(compile(open(%r).read(), %r, 'exec'), {'__name__': '__main__', '__file__': %r})\n"
    )
    hook = support.hook_command(script)[-1]
    code %= (str(support.ROOT / "lib"), before, str(flag), str(flag), hook, hook, hook)
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env, cwd=str(life.cwd)
    )
    assert process.stdin is not None
    process.stdin.write(support.encode(payload))
    process.stdin.close()
    while not flag.exists():
        assert process.poll() is None
        time.sleep(0.005)
    return process


def go_on(process: subprocess.Popen[bytes], life: Life) -> None:
    (life.home / "paused").unlink()
    assert process.wait(timeout=10) == 0


@pytest.mark.parametrize(
    ("script", "before"), [("stop", "archive._take_checkpoints"), ("session_start", "receipt.record")]
)
def test_a_text_forgotten_while_a_hook_is_at_work_is_said_to_come_back(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch, script: str, before: str
) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    life = Life(world.home, world.repo, pid=client.pid)
    if script == "stop":
        life.start()
        life.prompt("Something else")
        life.transcript.text("A letter to Zanzibar is written.").turn_end("x")
    monkeypatch.setattr(forget, "_WAIT_SECONDS", 0.05)
    hook = paused(script, before, life.session.stop("Done.") if script == "stop" else life.session.start(), life)
    try:
        for _ in range(2):
            told = world.memory("forget", "--text", "zanzibar", "--yes")
            assert (told.code, "Forgotten" in told.stdout) == (2, False)
            assert "at work" in told.stderr
        assert all(life.session.id[:8] in name for name in holding(world, "zanzibar"))
    finally:
        go_on(hook, life)
    assert holding(world, "zanzibar") != []
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 0
    life.end()
    assert holding(world, "zanzibar") == []


def test_a_hook_at_work_is_waited_for(world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    life = Life(world.home, world.repo, pid=client.pid)
    hook = paused("session_start", "receipt.record", life.session.start(), life)
    real, rounds = forget.await_sessions, []

    def begun(project_dir: str) -> Any:
        rounds.append(project_dir)
        if len(rounds) == 2:  # what was to be forgotten is chosen
            go_on(hook, life)
        return {} if len(rounds) == 1 else real(project_dir)

    monkeypatch.setattr(forget, "await_sessions", begun)
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 0
    assert holding(world, "zanzibar") == []


def test_views_that_cannot_be_made_anew_are_said_to_tell_it_still(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    monkeypatch.setattr(forget, "_WAIT_SECONDS", 0.05)
    with Lock(str(world.project / "STATE" / "views.lock"), 1):
        refused = world.memory("forget", "--text", "zanzibar", "--yes")
        assert refused.code == 2
        assert "Forgotten" not in refused.stdout
        assert "updating the views" in refused.stderr
        assert world.memory("forget", "--text", "zanzibar", "--yes").code == 2
    started = Life(world.home, world.repo, pid=client.pid).start()
    assert "Zanzibar" not in started.stdout
    assert holding(world, "zanzibar") == []


def test_what_a_killed_restore_brought_back_goes_with_its_archived_session(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.")
    life.end()
    directory, write = life.directory, store.write
    assert world.memory("archive", "--before", "2100-01-01", "--open").code == 0

    def killed(path: str, data: bytes, **options: Any) -> None:
        if path.endswith("META.yaml"):
            raise KeyboardInterrupt
        write(path, data, **options)

    monkeypatch.setattr(store, "write", killed)
    world.memory("restore", "--all")
    monkeypatch.undo()
    assert (directory / "capture.json").is_file()
    assert world.memory("forget", life.session.id[:8], "--yes").code == 0
    assert holding(world, "zanzibar") == []
    assert not directory.exists()


def test_a_killed_run_can_be_run_again_for_a_session_without_an_episode(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.prompt("Plan the Zanzibar trip for me")
    remove, scan, removed = store.remove, os.scandir, []

    def killed(path: str) -> bool:
        if str(life.session.id[:8]) in path.split(os.sep):
            removed.append(os.path.basename(path))
            if len(removed) == 2:
                raise KeyboardInterrupt
        return remove(path)

    class InOrder:  # disks have their own
        def __init__(self, path: str) -> None:
            self.left = sorted(scan(path), key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> InOrder:
            return self

        def __exit__(self, *exc: object) -> None:
            pass

        def __iter__(self) -> InOrder:
            return self

        def __next__(self) -> Any:
            if not self.left:
                raise StopIteration
            return self.left.pop()

    monkeypatch.setattr(store, "remove", killed)
    monkeypatch.setattr(os, "scandir", InOrder)
    world.memory("forget", life.session.id[:8], "--yes")
    monkeypatch.undo()
    assert len(removed) == 2
    assert world.memory("forget", life.session.id[:8], "--yes").code == 0
    assert holding(world, "zanzibar") == []


def test_a_second_run_makes_the_views_anew(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    monkeypatch.setattr(forget, "_WAIT_SECONDS", 0.05)
    with Lock(str(world.project / "STATE" / "views.lock"), 1):
        assert world.memory("forget", "--text", "zanzibar", "--yes").code == 2
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 1  # of facts nothing was left
    assert holding(world, "zanzibar") == []


def test_what_recall_searches_in_is_made_anew_after_who_is_at_it(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    monkeypatch.setattr(forget, "_WAIT_SECONDS", 0.05)
    with Lock(str(world.project / "STATE" / "recall" / "recall.lock"), 1):
        refused = world.memory("forget", "--text", "zanzibar", "--yes")
        assert (refused.code, "recall" in refused.stderr) == (2, True)
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 1  # of facts nothing was left


# Checkpoints that wait ------------------------------------------------------------------------------


def say(life: Life, **more: Any) -> Path:
    """A checkpoint file as an agent writes it."""
    path = life.cwd / ".claude" / "completion-checkpoint.json"
    path.parent.mkdir(exist_ok=True)
    done = "Planned the Zanzibar trip. Wrote a letter."
    path.write_text(json.dumps({"what_was_done": done, "learnings": ["Zanzibar is far"], **more}), "utf-8")
    return path


def planned(world: World, client: support.Client) -> Life:
    return lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.", "a.py")


def test_a_checkpoint_from_before_brings_no_forgotten_text_back(world: World, client: support.Client) -> None:
    life = planned(world, client)
    path = say(life)
    assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 0
    life.stop("Done.")
    assert holding(world, "zanzibar") == []
    assert not path.exists()
    assert life.episode["what_was_done"] == "Wrote a letter."


def test_a_dry_run_shows_what_would_go(world: World, client: support.Client) -> None:
    world.work("Ask Acme Corp.", "Done.", pid=client.pid)
    before = world.files()
    preview = world.memory("forget", "--text", "Acme Corp")
    dry = world.memory("forget", "--text", "Acme Corp", "--dry-run")
    assert (dry.code, dry.stdout) == (0, preview.stdout)
    assert world.memory("forget", "--text", "Acme Corp", "--dry-run", "--yes").code == 2
    assert world.files() == before
    remedy = rules.RULES["self.forget"][2]
    assert "--dry-run" in remedy
    assert "--dry-run" in world.memory("forget", "--help").stdout


def test_what_nothing_is_named_by_is_looked_for_in_both_lists(world: World) -> None:
    said = world.memory("forget", "nope")
    assert said.code == 2
    assert "See: harness memory list, or for notes: harness memory list --notes" in said.stderr


def test_a_prompt_that_was_forgotten_whole_leaves_no_empty_one(world: World, client: support.Client) -> None:
    session = world.work("Ask Acme Corp.", "The invoices are sorted by day.", ("invoices.py",), pid=client.pid)
    assert world.memory("forget", "--text", "Acme Corp", "--yes").code == 0
    world.memory("checkpoint", "--session", session.id, "--done", "Sorted the invoices")
    told = json.loads(world.episode(session).read_text("utf-8"))
    assert told["asked"] == []
    assert not [row for row in world.memory("show", "last").stdout.splitlines() if row.strip() == "-"]
    told["asked"] = [""]
    world.episode(session).write_text(json.dumps(told), "utf-8")
    assert "Asked" not in world.memory("show", "last").stdout


def test_a_malformed_checkpoint_brings_no_forgotten_text_back(world: World, client: support.Client) -> None:
    life = planned(world, client)
    path = say(life)
    path.write_text("Zanzibar. {not JSON", "utf-8")
    assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 0
    life.stop("Done.")
    assert holding(world, "zanzibar") == []
    assert holding(world, "not JSON") != []


@pytest.mark.parametrize("is_running", [True, False])
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_checkpoint_of_a_forgotten_session_makes_no_other(
    world: World, client: support.Client, is_running: bool, is_named: bool, is_claimed: bool
) -> None:
    life = planned(world, client)
    path = say(life, **({"session_id": life.session.id} if is_named else {}))
    if is_claimed:
        path = path.rename("%s.%s.%d.claimed" % (path, life.session.id[:8], (time.time() - 86400) * 1e9))
    assert world.memory("forget", life.session.id[:8], "--yes").code == 0
    if is_running:
        life.stop("Bye.")
        life.end()
    Life(world.home, world.repo, pid=client.pid).start()
    assert holding(world, "zanzibar") == []
    assert not path.exists()


# The sieve -----------------------------------------------------------------------------------------

ENTRY = {"type": "user", "timestamp": "2025-06-15T06:00:00.000Z", "message": {"content": "Ask Acme Corp. Then rest."}}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ask Acme Corp. Then rest.", "Then rest."),
        ("- ask ACME, corp!\n- rest", "- rest"),
        ("acme\ncorp", ""),
        ("Acme is a corp", "Acme is a corp"),
        ("Nothing of it", "Nothing of it"),
    ],
)
def test_what_the_sieve_strikes(tmp_path: Path, text: str, left: str) -> None:
    tombstones.add(str(tmp_path), 1_750_000_000.0, phrases=[["acme", "corp"]])
    sieve = tombstones.sieve(str(tmp_path))
    assert sieve is not None
    entry = {**ENTRY, "message": {"content": text}}
    assert sieve.entry(entry)["message"]["content"] == left
    later = {**entry, "timestamp": "2025-07-01T00:00:00.000Z"}
    assert sieve.entry(later) == later


def test_a_mark_of_an_older_version_is_known(tmp_path: Path) -> None:
    tombstones.add(str(tmp_path), 1_750_000_000.0, phrases=[["acme", "corp"]])
    path = tmp_path / "STATE" / "forgotten.json"
    value = json.loads(path.read_text("utf-8"))
    del value["texts"][0]["first"]
    path.write_text(json.dumps(value), "utf-8")
    sieve = tombstones.sieve(str(tmp_path))
    assert sieve is not None
    assert sieve.entry(ENTRY)["message"]["content"] == "Then rest."


def test_the_first_word_of_a_text_is_not_told(tmp_path: Path) -> None:
    phrases = [["word%d" % number, "corp"] for number in range(600)]
    tombstones.add(str(tmp_path), 1_750_000_000.0, phrases=phrases)
    firsts = [item["first"] for item in tombstones.load(str(tmp_path))["texts"]]
    assert len(set(firsts)) < len(firsts) / 2


def test_a_big_entry_is_sifted_quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not looked at, and of texts few words begin what could be forgotten."""
    monkeypatch.setattr(os, "urandom", bytes)
    phrases = [["bluebird", *map(str, range(size))] for size in range(6)]
    tombstones.add(str(tmp_path), 1_750_000_000.0, phrases=phrases)
    sieve = tombstones.sieve(str(tmp_path))
    assert sieve is not None
    body = " ".join(str(number % 10) for number in range(450_000))
    call = {"type": "tool_use", "name": "Write", "input": {"file_path": "/data.txt", "content": body}}
    contents = [[call], [{"type": "tool_result", "content": body}], body, [{"type": "text", "text": body}]]
    digest, hashed = tombstones.hexdigest, []
    monkeypatch.setattr(tombstones, "hexdigest", lambda text: hashed.append(text) or digest(text))
    began = time.process_time()
    for content in contents:
        sieve.entry({**ENTRY, "message": {"content": content}, "toolUseResult": {"content": body}})
    assert len(hashed) < 20
    assert time.process_time() - began < 0.2


def told_in_every_way(transcript: support.Transcript, repo: Path) -> list[Any]:
    transcript.title("The parser").prompt("Write the parser").command("melt", "it")
    transcript.text("I will.").write(repo / "a.py").edit(repo / "b.py").read(repo / "LEARNING" / "topics" / "x.md")
    transcript.bash("make test", "no", exit_code=2).bash("make test FAST=1", "yes")
    changed = {"bashEditDiff": {"files": [{"filePath": str(repo / "c.py"), "diff": "+1"}]}}
    transcript.tool_result(transcript.tool_use("Bash", {"command": "sed -i s/1/2/ c.py"}), result=changed)
    transcript.tool_result(transcript.tool_use("NotebookEdit", {"notebook_path": str(repo / "d.ipynb")}))
    transcript.tool_result(transcript.tool_use("Skill", {"skill": "burn"}))
    transcript.tool_result(transcript.tool_use("TodoWrite", {"todos": [{"content": "One", "status": "pending"}]}))
    transcript.tool_result(transcript.tool_use("TaskCreate", {"subject": "Two"}), result={"task": {"id": "7"}})
    transcript.tool_result(transcript.tool_use("TaskUpdate", {"taskId": "7", "status": "completed", "subject": "Deux"}))
    transcript.text("The parser is done.").turn_end().prompt("And now?").interrupt()
    return [json.loads(line) for line in transcript.path.read_text("utf-8").splitlines()]


def test_nothing_that_is_recorded_is_lost_in_the_sieve(tmp_path: Path, home: Path, repo: Path) -> None:
    tombstones.add(str(tmp_path), time.time(), phrases=[["nobody", "said", "this"]])
    sieve = tombstones.sieve(str(tmp_path))
    assert sieve is not None
    entries = told_in_every_way(support.Session(repo, home).transcript(), repo)
    whole, sifted = capture.new(), capture.new()
    capture.absorb(whole, entries, (str(repo),))
    capture.absorb(sifted, map(sieve.entry, entries), (str(repo),))
    assert sifted == whole
    assert (whole["files"], whole["skills"]) == (["a.py", "b.py", "c.py", "d.ipynb"], ["melt", "burn"])
    assert (whole["todos"], whole["fixed"]) == (
        {"1": ["One", "pending"], "7": ["Deux", "completed"]},
        [["make test", "make test FAST=1"]],
    )


def said(project_dir: Path, at: float) -> object:
    sieve = tombstones.sieve(str(project_dir))
    assert sieve is not None
    return sieve.value("Ask Acme Corp", clock.iso(at))


def test_what_is_said_after_a_clock_was_set_back_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    tombstones.add(str(tmp_path), now + 400 * 86400, phrases=[["acme", "corp"]], sessions=["x"])
    assert said(tmp_path, now - 1) == ""
    monkeypatch.setattr(time, "time", lambda: now + 100)
    assert (said(tmp_path, now - 1), said(tmp_path, now + 60)) == ("", "Ask Acme Corp")
    assert tombstones.since(str(tmp_path), "x") < now + 100
    tombstones.add(str(tmp_path), now, sessions=["y"])
    assert said(tmp_path, now + 60) == "Ask Acme Corp"
    # It was not ahead, after all.
    monkeypatch.setattr(time, "time", lambda: now + 500 * 86400)
    assert said(tmp_path, now + 60) == ""


def test_a_clock_of_1970_brings_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    tombstones.add(str(tmp_path), now, phrases=[["acme", "corp"]])
    monkeypatch.setattr(time, "time", lambda: 3600.0)
    assert said(tmp_path, now - 60) == ""


def test_a_session_after_the_clock_was_set_back_says_it_again(
    world: World, client: support.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(world, client, "Plan the Zanzibar trip for me", SECRETIVE + ", so book early.").end()
    real = time.time
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: real() + 400 * 86400)
        assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 0
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.transcript.now = datetime.now(timezone.utc)
    life.turn("Zanzibar is on again", "The way to Zanzibar is booked.")
    assert life.episode["what_was_done"] == "The way to Zanzibar is booked."


def test_no_sieve_where_nothing_was_forgotten(tmp_path: Path) -> None:
    assert tombstones.sieve(str(tmp_path)) is None
    tombstones.add(str(tmp_path), 0.0, sessions=["x"])
    assert tombstones.sieve(str(tmp_path)) is None
    assert tombstones.since(str(tmp_path), "x") > 0
    assert tombstones.since(str(tmp_path), "y") == 0
    assert json.loads((tmp_path / "STATE" / "forgotten.json").read_text("utf-8"))["texts"] == []
