"""`forget`: sessions, notes and texts go from everywhere, and nothing brings them back."""

from __future__ import annotations

import json
import os
import tarfile
import time
from pathlib import Path

import full_memory
import pytest
import support
from commandline import World
from life import Life

from harness_memory.base import files as store
from harness_memory.memory import forget

ASK, ANSWER = "Plan the Zanzibar trip for me", "The Zanzibar contract ends in March, so book early. Wrote a letter."


def contents(world: World) -> dict[str, str]:
    """Every file of the store but the audit trail, and the members of archives."""
    texts = {name: data.decode("utf-8", "replace") for name, data in world.files().items() if "SECURITY" not in name}
    for path in world.root.glob("archive/*/*.tar.gz"):
        with tarfile.open(str(path)) as packed:
            for member in packed:
                content = packed.extractfile(member)
                texts[member.name] = content.read().decode("utf-8", "replace") if content else ""
    return texts


def holding(world: World, text: str) -> list[str]:
    return [name for name, content in contents(world).items() if text.lower() in content.lower()]


def lived(world: World, client: support.Client, ask: str = ASK, answer: str = ANSWER, *names: str) -> Life:
    life = Life(world.home, world.repo, pid=client.pid)
    life.start()
    life.turn(ask, answer, *names)
    return life


def archived(world: World, client: support.Client) -> str:
    """The short id of an archived session that holds the text."""
    life = lived(world, client, ASK, ANSWER, "letter.md")
    life.end()
    assert world.json("archive", "--before", "2099-01-01", "--open")["sessions"] == 1
    return life.session.id[:8]


# Sessions -----------------------------------------------------------------------------------------
def test_preview_changes_nothing(world: World, client: support.Client) -> None:
    life = lived(world, client)
    life.end()
    before = world.files()
    for words in (("--text", "zanzibar"), (life.session.id[:8],), ("last",)):
        shown = world.memory("forget", *words)
        assert (shown.code, "--yes" in shown.stdout) == (0, True)
    assert world.files() == before


def test_forgotten_session_goes_from_everywhere(world: World, client: support.Client) -> None:
    first = lived(world, client, ASK, ANSWER, "zanzibar.md")
    task = {"id": "trip", "title": "Zanzibar", "remaining": ["book Zanzibar"]}
    point = json.dumps({"what_was_done": "Zanzibar planned", "task": task}).encode()
    inside = {"CLAUDE_CODE_SESSION_ID": first.session.id}
    assert world.memory("checkpoint", stdin=point, env=inside).code == 0
    assert world.memory("rate", "deploy", "2", "--note", "Zanzibar failed", env=inside).code == 0
    first.end()
    second = lived(world, client, "Something else entirely", "A second answer that has nothing to do with it.")
    assert first.session.id[:8] in (second.directory / "session_memory_context.md").read_text("utf-8")
    done = world.json("forget", first.session.id[:8], "--yes")
    assert [record["id"] for record in done["sessions"]] == [first.session.id[:8]]
    assert holding(world, "zanzibar") == []
    assert holding(world, first.session.id[:8]) == ["%s/STATE/forgotten.json" % world.project.name]
    assert [value["session_id"] for value in support.episodes(world.root)] == [second.session.id]
    world.assert_sound()
    os.utime(first.session.transcript_path, (1, time.time() - 86400))
    assert world.json("backfill")["left_alone"] == {"forgotten": 1, "running": 1}


def test_forgotten_session_that_goes_on_keeps_only_what_comes_after(world: World, client: support.Client) -> None:
    life = lived(world, client, ASK, ANSWER, "zanzibar.md")
    world.memory("forget", life.session.id[:8], "--yes")
    time.sleep(1.1)  # instants are whole seconds
    life.turn("Say goodbye", "Bye, and see you soon.")
    life.end()
    assert holding(world, "zanzibar") == []
    assert life.episode["asked"] == ["Say goodbye"]
    world.assert_sound()


def test_archived_session_is_forgotten_and_not_restored(world: World, client: support.Client) -> None:
    mine = archived(world, client)
    (path,) = world.root.glob("archive/*/*.tar.gz")
    data = path.read_bytes()
    assert world.json("forget", mine, "--yes")["sessions"][0]["id"] == mine
    assert holding(world, "zanzibar") == []
    assert world.json("restore") == []
    store.write(str(path), data)  # as a backup brings it back
    report = world.json("restore", mine, code=1)
    assert (report["restored"], [*report["left"]]) == ([], [mine])


# Notes --------------------------------------------------------------------------------------------
def test_forgotten_note_goes_with_versions_and_receipts(world: World, client: support.Client) -> None:
    world.memory("remember", "Zanzibar pays late", "--topic", "billing", "--scope", "user")
    world.memory("note", "edit", "billing", "--verified")  # leaves a version in the archive
    world.memory("remember", "The billing office is closed in May", "--topic", "holidays")
    life = lived(world, client, "Something else", "Done, whatever it was.")  # and a receipt
    assert len(holding(world, "zanzibar")) > 2
    world.memory("note", "add", "homes", "Lives in Zanzibar")
    world.memory("note", "remove", "homes")  # a removed note can be forgotten too
    assert world.memory("forget", "billing", "homes", "--yes").code == 0
    assert holding(world, "zanzibar") == []
    assert "The billing office" in (life.directory / "session_memory_context.md").read_text("utf-8")
    world.assert_sound()


# Text ---------------------------------------------------------------------------------------------
def test_text_goes_with_its_sentence_and_the_rest_stays(world: World, client: support.Client) -> None:
    world.memory("briefing", "set", stdin=b"# Us\n\n- We work for Zanzibar Ltd. We ship on Mondays.\n")
    world.memory("briefing", "set", stdin=b"# Us\n\n- We ship on Mondays.\n- Zanzibar is a customer\n")
    world.memory("profile", "set", "melt", stdin=b"- Zanzibar first\n- then the rest\n")
    world.memory("remember", "Zanzibar pays late", "Invoices go out on Fridays", "--topic", "billing")
    world.memory("remember", "Greets the Zanzibar team in Swahili", "--scope", "user")
    life = lived(world, client, "Write to Zanzibar. Keep it short", ANSWER, "letter.md")
    life.end()
    names = {Path(each["file"]).name for each in world.json("forget", "--text", "zanzibar")["files"]}
    assert {"briefing.md", "briefing.md.1", "melt.md", "billing.md", "capture.json", "META.yaml", "summary.md"} <= names
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 0
    assert holding(world, "zanzibar") == []
    assert (world.project / "briefing.md").read_text("utf-8") == "# Us\n\n- We ship on Mondays.\n"
    assert (world.project / "briefing.md.1").read_text("utf-8") == "# Us\n\n- We ship on Mondays.\n"
    assert world.json("note", "show", "billing")["facts"] == ["Invoices go out on Fridays"]
    assert (life.episode["what_was_done"], life.episode["headline"]) == ("Wrote a letter.", "Keep it short")
    assert life.episode["files_changed"] == ["letter.md"]
    world.assert_sound()
    assert world.memory("forget", "--text", "zanzibar").code == 1


def test_a_note_that_is_named_after_the_text_goes_whole(world: World) -> None:
    world.memory("remember", "Zanzibar pays late", "Invoices go out on Fridays", "--topic", "zanzibar billing")
    world.memory("remember", "The bank closes at noon", "--topic", "zanzibar billing")  # the first one is archived
    page = world.memory("forget", "--text", "zanzibar").stdout
    assert ("project/zanzibar-billing (the whole of it)\n" in page, page.count("Zanzibar pays late")) == (True, 1)
    assert world.memory("forget", "--text", "zanzibar", "--yes").code == 0
    assert [name for name, data in world.files().items() if "zanzibar" in name + data.decode().casefold()] == []
    world.assert_sound()


@pytest.mark.parametrize(("text", "written"), support.rows("text/spellings.jsonl"))
def test_text_goes_in_every_spelling_from_every_place(world: World, text: str, written: str) -> None:
    full_memory.fill(world.home, world.repo, lambda place: place if "file" in place else "%s %s" % (written, place))
    assert len(holding(world, "zanzibar")) > 20
    assert world.json("forget", "--text", text, "--yes")["left"] == []
    assert world.json("restore", "--all")["restored"]
    assert holding(world, "zanzibar") == []


def test_forgotten_text_does_not_come_back_from_the_transcript(world: World, client: support.Client) -> None:
    life = lived(world, client)
    assert world.memory("forget", "--text", "Zanzibar", "--yes").code == 0
    (life.directory / "capture.json").unlink()  # so that all of the transcript is read again
    time.sleep(1.1)
    life.turn("Say goodbye", "Bye, and see you soon.")
    life.end()
    assert holding(world, "zanzibar") == []
    assert life.episode["asked"] == ["Say goodbye"]
    world.memory("forget", life.session.id[:8], "--yes")
    os.utime(life.session.transcript_path, (1, time.time() - 86400))
    assert world.json("backfill")["made"] == 0


def test_other_transcripts_are_read_after_a_forgetting(world: World, client: support.Client) -> None:
    lived(world, client).end()
    other = lived(world, client, "Fix the parser", "The parser is fixed.\n\nNext steps:\n- tell finance", "parser.py")
    world.memory("forget", "--text", "Zanzibar", "--yes")
    assert other.session.id not in (world.project / "STATE" / "forgotten.json").read_text("utf-8")
    assert "low" in str(other.capture["statements"][:-1])
    assert world.memory("forget", "--text", "low", "--yes").code == 1
    (other.directory / "capture.json").unlink()
    other.stop("The parser is fixed, and tested in full.")
    assert other.episode["asked"] == ["Fix the parser"]


def test_unclaimed_checkpoint_of_a_live_session_brings_nothing_back(world: World, client: support.Client) -> None:
    life = lived(world, client)
    folder = world.repo / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "completion-checkpoint.json").write_text('{"what_was_done": "Zanzibar is planned"}', "utf-8")
    world.memory("forget", "--text", "zanzibar", "--yes")
    life.stop()
    life.end()
    assert holding(world, "zanzibar") == []


def test_damaged_archive_is_named_and_the_rest_is_done(world: World, client: support.Client) -> None:
    archived(world, client)
    (path,) = world.root.glob("archive/*/*.tar.gz")
    store.write(str(path), path.read_bytes()[:-30])
    lived(world, client).end()
    result = world.memory("forget", "--text", "zanzibar", "--yes")
    assert (result.code, path.name in result.stderr) == (2, True)
    path.unlink()
    assert holding(world, "zanzibar") == []


def test_names_that_hold_the_text_are_said_to_stay(world: World) -> None:
    world.memory("task", "start", "Zanzibar trip")
    world.memory("profile", "set", "zanzibar-trip", stdin=b"- low heat\n")
    left = world.json("forget", "--text", "Zanzibar trip", "--yes")["left"]
    assert [os.path.basename(path) for path in left] == ["current-work.json", "zanzibar-trip.json"]
    assert not (world.project / "profiles" / "zanzibar-trip.md").exists()


def test_audit_trail_says_that_but_not_what(world: World, client: support.Client) -> None:
    life = lived(world, client)
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~ # zanzibar"}))
    done = world.json("forget", "--text", "zanzibar", "--yes")
    (trail,) = world.project.glob("SECURITY/*/*/audit.jsonl")
    assert done["audit_trail"] == [str(trail)]
    last = json.loads(trail.read_text("utf-8").splitlines()[-1])
    assert (last["event"], "zanzibar" in json.dumps(last).lower()) == ("memory_forgotten", False)
    assert world.memory("audit", "verify").code == 0


@pytest.mark.parametrize("calls", range(1, 40, 9))
@pytest.mark.parametrize("is_text", [True, False])
def test_killed_run_is_finished_by_the_next(world: World, client: support.Client, calls: int, is_text: bool) -> None:
    packed, life = archived(world, client), lived(world, client)
    life.end()
    runs = [("--text", "zanzibar")] if is_text else [(packed,), (life.session.id[:8],)]
    for words in runs:
        world.killed(calls, "forget", *words, "--yes")
        world.memory("forget", *words, "--yes")
    for path in world.root.rglob("*.tmp"):
        path.unlink()  # what a killed writer left, housekeeping removes
    assert holding(world, "zanzibar") == []
    lived(world, client, "Say goodbye", "Bye, and see you soon.").end()
    world.assert_sound()


@pytest.mark.parametrize(("text", "left"), support.rows("text/struck.jsonl"))
def test_strike_takes_the_sentence_the_line_or_the_paragraph(text: str, left: str) -> None:
    assert forget.sentences(text, forget.matcher("Acme Corp")) == left


def test_forgotten_session_leaves_no_word_in_what_others_were_handed(world: World) -> None:
    answer = """Totals are rounded once now, in report.py.

We keep the ledger in cents because floats lose pennies.
We chose the vault of Zanzibar for the ledger because it is dry.
The ledger is copied by hand on Sundays, and nobody may be late."""
    session = world.work("Why are the totals off?", answer, ("totals.py",))
    other = world.work("Paint the door", "We painted the door blue because red was sold out.", ("door.py",))
    later = Life(world.home, world.repo)
    later.start()
    later.prompt("When is the ledger copied, and who may be late?")
    later.run("pre_tool_use", later.session.tool_call("Edit", {"file_path": str(world.repo / "totals.py")}))
    words = ("floats lose pennies", "vault of Zanzibar", "copied by hand", session.id[:8])
    receipt = later.directory / "session_memory_context.md"
    assert [word for word in words if word not in receipt.read_text("utf-8")] == []
    assert "\\x00" not in world.memory("forget", "--text", "copied by hand").stdout
    assert world.memory("forget", session.id[:8], "--yes").code == 0
    assert [holding(world, word) for word in words] == [[], [], [], ["%s/STATE/forgotten.json" % world.project.name]]
    assert "red was sold out" in receipt.read_text("utf-8")
    assert other.id[:8] in (later.directory / "injected.json").read_text("utf-8")
    world.assert_sound()
