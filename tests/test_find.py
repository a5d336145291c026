"""Looking things up by hand: search, related, transcript, stats; and which note a command calls for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import support
from commandline import World

from harness_memory.notes import triggers


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


@pytest.fixture
def sessions(world: World) -> list[support.Session]:
    return [
        world.work("Cart totals are off by a cent", "Totals are rounded once, at the end.", ("cart/totals.py",)),
        world.work("The gateway is hammered", "Reconnects back off with jitter now.", ("net/reconnect.py",)),
        world.work("Сделай отчёт по накладным", "Отчёт по накладным готов и покрыт тестами.", ("docs/report.py",)),
    ]


def test_search_is_ranked_and_narrowed(world: World, sessions: list[support.Session]) -> None:
    world.memory("remember", "Totals in the cart are kept in cents", "--topic", "money")
    found = world.json("search", "why", "are", "cart", "totals", "rounded")
    assert {found[0]["id"], found[1]["id"]} == {sessions[0].id[:8], "project/money"}
    assert found[0]["score"] >= found[1]["score"]
    assert [hit["id"] for hit in world.json("search", "cart totals rounded", "-k", "1", "--type", "note", code=1)] == []
    assert [hit["id"] for hit in world.json("search", "totals", "--type", "note")] == ["project/money"]
    assert [hit["id"] for hit in world.json("search", "rounded once", "totals")] == [sessions[0].id[:8]]
    assert [hit["id"] for hit in world.json("search", "накладные", "отчет")] == [sessions[2].id[:8]]
    assert world.json("search", "jitter", "--since", "2d")
    assert world.json("search", "jitt")[0]["id"] == sessions[1].id[:8]
    text = world.memory("search", "jitter", "--explain").stdout
    assert "worth" in text
    assert "jitter" in text
    for wrong in (("search", "x", "-k", "0"), ("search", "x", "--type", "y")):
        assert world.memory(*wrong).code == 2


def test_search_works_where_nothing_can_be_cached(world: World, sessions: list[support.Session]) -> None:
    cache = world.project / "STATE" / "recall"
    for path in sorted(cache.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    cache.rmdir()
    cache.write_text("in the way", "utf-8")
    assert world.json("search", "jitter")[0]["id"] == sessions[1].id[:8]


def test_other_projects_are_searched_only_when_asked(
    world: World, sessions: list[support.Session], tmp_path: Path
) -> None:
    other = support.make_repo(tmp_path / "other")
    elsewhere = World(world.home, other)
    assert elsewhere.memory("search", "jitter").code == 1
    (hit,) = elsewhere.json("search", "jitter", "--all-projects")
    assert (hit["id"], hit["project"]) == (sessions[1].id[:8], world.project.name)


def test_what_is_found_in_another_project_can_be_read(
    world: World, sessions: list[support.Session], tmp_path: Path
) -> None:
    elsewhere = World(world.home, support.make_repo(tmp_path / "other"))
    home = world.project
    elsewhere.memory("remember", "Jitter is for everybody", "--scope", "user")
    told = elsewhere.memory("search", "jitter", "--all-projects").stdout
    rows = [row.split() for row in told.splitlines()]
    assert rows[0][:2] == ["PROJECT", "WHERE"]
    assert {(row[0], row[1]) for row in rows[1:3]} == {
        ("project", sessions[1].id[:8]),
        ("-", "user/jitter-for-everybody"),
    }
    advice = [row[1:] for row in rows if "--project" in row]
    assert advice == [["harness", "memory", "show", "ID", "--project", str(world.repo)]]
    shown = elsewhere.memory("show", sessions[1].id[:8], *advice[0][4:])
    assert "Reconnects back off" in shown.stdout
    assert "--project" not in world.memory("search", "jitter", "--all-projects").stdout
    assert world.memory("archive", "--before", "2100-01-01", "--open").code == 0
    assert "project" in world.memory("search", "jitter", "--archived", "--all-projects").stdout
    assert world.memory("restore", "--all").code == 0
    world.repo.rename(tmp_path / "moved")
    assert "look into ~/.claude/memory/%s" % home.name in elsewhere.memory("search", "jitter", "--all-projects").stdout


def test_what_is_related_to_a_file(world: World, sessions: list[support.Session]) -> None:
    (world.repo / "cart").mkdir(exist_ok=True)
    (world.repo / "cart" / "totals.py").write_text("x = 1\n", "utf-8")
    world.memory("note", "add", "money", "Totals are kept in cents", "--file", "cart/totals.py")
    kinds = {(hit["kind"], hit["id"]) for hit in world.json("related", "cart/totals.py")}
    assert kinds == {("session", sessions[0].id[:8]), ("note", "project/money")}
    assert [hit["id"] for hit in world.json("related", "reconnect.py")] == [sessions[1].id[:8]]
    assert world.memory("related", "nothing.py").code == 1


def test_a_transcript_is_shown_while_it_is_kept(world: World) -> None:
    session = support.Session(world.repo, world.home)
    transcript = session.transcript()
    transcript.turn("Fix the \x1b[31mcart", "Rounded. Token ghp_" + "a1B2" * 9, files=[world.repo / "cart.py"])
    for number in range(6):
        transcript.turn("Question %d" % number, "Answer %d" % number)
    support.run_hook("stop", session.stop("Answer 5"), home=world.home, env=session.environment())
    text = world.memory("transcript", session.id[:8]).stdout
    assert text.index("Question 0") < text.index("Answer 5")
    assert "[Write] " in text
    assert "ghp_a1B2" not in text
    assert "\x1b" not in text
    said = world.json("transcript", session.id[:8], "--grep", "QUESTION 3", "--context", "1")
    assert [each["text"] for each in said] == ["Answer 2", "Question 3", "Answer 3"]
    assert world.memory("transcript", session.id[:8], "--grep", "nowhere").code == 1
    Path(session.transcript_path).unlink()
    gone = world.memory("transcript", session.id[:8])
    assert gone.code != 0
    assert "is gone" in gone.stderr


def test_stats_sum_up_what_was_of_use(world: World, sessions: list[support.Session]) -> None:
    session = support.Session(world.repo, world.home)
    env = session.environment()
    support.run_hook("session_start", session.start(), home=world.home, env=env)
    support.run_hook(
        "user_prompt_submit", session.prompt("cart totals rounded, off by a cent"), home=world.home, env=env
    )
    session.transcript().turn("cart", "See %s." % sessions[1].id[:8], files=[world.repo / "cart" / "totals.py"])
    support.run_hook("stop", session.stop("See %s." % sessions[1].id[:8]), home=world.home, env=env)
    value = world.json("stats")
    assert value["kinds"]["session"]["edited"] == value["kinds"]["session"]["used"] == 1
    assert value["kinds"]["menu"]["named"] == 1
    assert value["tokens"][-1] > 100
    text = world.memory("stats").stdout
    assert "recalled session" in text
    assert "100 %" in text


def test_stats_of_nothing(world: World) -> None:
    assert "nothing to count" in world.memory("stats").stdout
    assert world.json("stats")["sessions"] == 0


# Triggers ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "path", "is_hit"),
    [
        ("make deploy", "", True),
        ("cd x && make deploy --now", "", True),
        ("make deployment", "", False),
        ("echo make deploy", "", False),
        ("", "infra/prod/main.tf", True),
        ("", "infra/main.tf", True),
        ("", "infra/main.tfvars", False),
        ("", "src/main.tf", False),
        ("", "", False),
    ],
)
def test_a_command_or_a_path_calls_for_a_note(world: World, command: str, path: str, is_hit: bool) -> None:
    world.memory("note", "add", "Deploy", "Deploys need the VPN", "--trigger", "command: make deploy")
    world.memory("note", "edit", "deploy", "--trigger", "path: infra/**/*.tf")
    found = triggers.match(str(world.root), str(world.project), command=command, path=path)
    assert [each.ref for each in found] == (["project/deploy"] if is_hit else [])


def test_without_triggers_there_is_no_file(world: World) -> None:
    world.memory("note", "add", "Plain", "Nothing to trigger")
    path = world.project / "STATE" / "triggers.json"
    assert not path.exists()
    world.memory("note", "add", "Deploy", "Deploys need the VPN", "--trigger", "command: make deploy")
    assert json.loads(path.read_text("utf-8"))["triggers"][0]["note"] == "project/deploy"
    world.memory("note", "remove", "deploy")
    assert not path.exists()
    assert triggers.match(str(world.root), str(world.project), command="make deploy") == []


@pytest.mark.parametrize("words", [("search", "cart", "-k"), ("related", "cart.py", "-k"), ("open", "--limit")])
@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_number_that_is_none(world: World, words: tuple[str, ...], number: str) -> None:
    told = world.memory(*words, number)
    assert (told.code, "%r is no positive number" % number in told.stderr) == (2, True)
