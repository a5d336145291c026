"""Looking things up: `search`, `related` and `transcript`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import support
from commandline import World


@pytest.fixture
def sessions(world: World) -> list[support.Session]:
    return [
        world.work("Cart totals are off by a cent", "Totals are rounded once, at the end.", ("cart/totals.py",)),
        world.work("The gateway is hammered", "Reconnects back off with jitter now.", ("net/reconnect.py",)),
        world.work("Сделай отчёт по накладным", "Отчёт по накладным готов и покрыт тестами.", ("docs/report.py",)),
    ]


def ids(world: World, *words: str, code: int = 0) -> list[str]:
    return [hit["id"] for hit in world.json("search", *words, code=code)]


def test_search_ranks_and_narrows(world: World, sessions: list[support.Session]) -> None:
    world.memory("remember", "Totals in the cart are kept in cents", "--topic", "money")
    world.work("Rename the module", "Renamed.", ("net/reconnect.py",))  # a file of the gateway, none of its words
    cart, gateway, report = (session.id[:8] for session in sessions)
    hits = world.json("search", "why", "are", "cart", "totals", "rounded")
    assert {hit["id"] for hit in hits[:2]} == {cart, "project/money"}
    assert hits[0]["score"] >= hits[1]["score"]
    assert ids(world, "totals", "--type", "note") == ["project/money"]
    assert ids(world, "cart totals rounded", "--type", "note", code=1) == []
    assert ids(world, "rounded once", "totals") == [cart], "a phrase"
    assert ids(world, "накладные", "отчет") == [report]
    assert ids(world, "jitter", "--since", "2d") == [gateway]
    assert ids(world, "jitt") == [gateway], "a part of a word"


def test_search_works_where_nothing_can_be_cached(world: World, sessions: list[support.Session]) -> None:
    shutil.rmtree(world.project / "STATE" / "recall")
    (world.project / "STATE" / "recall" / "recall.lock").mkdir(parents=True)
    assert ids(world, "jitter") == [sessions[1].id[:8]]


def test_other_projects_are_searched_only_on_request(
    world: World, sessions: list[support.Session], tmp_path: Path
) -> None:
    elsewhere = World(world.home, support.make_repo(tmp_path / "other"))
    assert elsewhere.memory("search", "jitter").code == 1
    elsewhere.memory("remember", "Jitter is for everybody", "--scope", "user")
    home, gateway = world.project, sessions[1].id[:8]
    hits = [(hit["id"], hit["project"]) for hit in elsewhere.json("search", "jitter", "--all-projects")]
    assert sorted(hits) == [(gateway, home.name), ("user/jitter-everybody", None)]
    advice = elsewhere.memory("search", "jitter", "--all-projects").stdout
    assert "harness memory show ID --project %s" % world.repo in advice
    assert "Reconnects back off" in elsewhere.memory("show", gateway, "--project", str(world.repo)).stdout
    assert "--project" not in world.memory("search", "jitter", "--all-projects").stdout


def test_archived_sessions_are_found_when_nothing_else_is(world: World, sessions: list[support.Session]) -> None:
    assert world.memory("archive", "--before", "2100-01-01", "--open").code == 0
    assert world.json("search", "jitter") == world.json("search", "jitter", "--archived")
    (hit,) = world.json("search", "jitter", "--archived")
    assert (hit["kind"], hit["id"]) == ("archived", sessions[1].id[:8])
    archive = Path(hit["file"])
    archive.write_bytes(archive.read_bytes()[:-20])
    result = world.memory("search", "jitter", "--archived")
    assert (result.code, archive.name in result.stderr) == (2, True)


def test_related_names_sessions_and_notes_about_a_file(world: World, sessions: list[support.Session]) -> None:
    (world.repo / "cart").mkdir(exist_ok=True)
    (world.repo / "cart" / "totals.py").write_text("x = 1\n", "utf-8")
    world.memory("note", "add", "money", "Totals are kept in cents", "--file", "cart/totals.py")
    kinds = {(hit["kind"], hit["id"]) for hit in world.json("related", "cart/totals.py")}
    assert kinds == {("session", sessions[0].id[:8]), ("note", "project/money")}
    assert [hit["id"] for hit in world.json("related", "reconnect.py")] == [sessions[1].id[:8]]
    assert world.memory("related", "nothing.py").code == 1


def test_transcript_shows_what_the_client_keeps(world: World) -> None:
    session = support.Session(world.repo, world.home)
    transcript = session.transcript()
    transcript.turn("Fix the \x1b[31mcart", "Rounded. Token ghp_" + "a1B2" * 9, files=[world.repo / "cart.py"])
    for number in range(6):
        transcript.turn("Question %d" % number, "Answer %d" % number)
    support.run_hook("stop", session.stop("Answer 5"), home=world.home, env=session.environment())
    text = world.memory("transcript", session.id[:8]).stdout
    assert text.index("Question 0") < text.index("Answer 5")
    assert (" Write\n" in text, "ghp_a1B2" in text, "\x1b" in text) == (True, False, False)
    matches = world.json("transcript", session.id[:8], "--grep", "QUESTION 3")
    assert [each["text"] for each in matches] == ["Question 2", "Answer 2", "Question 3", "Answer 3", "Question 4"]
    assert world.memory("transcript", session.id[:8], "--grep", "nowhere").code == 1
    Path(session.transcript_path).unlink()
    gone = world.memory("transcript", session.id[:8])
    assert (gone.code, "is gone" in gone.stderr) == (2, True)
