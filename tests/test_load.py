"""Many sessions at once: a small load on every run (the large one in `bench/load.py`), and what the large one found."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import load
import pytest
import support
from commandline import World
from life import Life

from harness_memory.base import settings
from harness_memory.inject import receipt
from harness_memory.inject.compose import Injection
from harness_memory.memory import forget
from harness_memory.session import checkpoint, transcript


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def test_nothing_is_lost_doubled_or_mixed_up(tmp_path: Path) -> None:
    run = load.Load(tmp_path, 3, sessions=4, projects=3, ends=time.monotonic() + 60, at_once=3)
    try:
        report = load.endure(run, support.volume(9), earlier=2)
    finally:
        run.close()
    assert report["problems"] == []
    assert report["counts"]["turns"] == 7 * support.volume(9)
    verbs = ("remember", "note", "rebuild", "compact", "prune", "forget", "verify")
    assert all(report["counts"]["harness memory " + verb] for verb in verbs)
    assert all((run.forgotten, run.struck, run.doomed))


# What a turn costs does not grow with what was before ------------------------------------------
def delegate(life: Life, number: int) -> Path:
    folder = life.transcript.path.with_suffix("") / "subagents"
    agent = support.Transcript(folder / ("agent-%d.jsonl" % number), life.session.id, life.cwd)
    agent.prompt("You are a subagent").write(life.cwd / ("file%d.py" % number)).text("Done.")
    agent.path.write_bytes(agent.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
    return agent.path


def test_of_what_subagents_did_little_is_kept_and_nothing_read_twice(life: Life) -> None:
    life.start()
    life.prompt("delegate it")
    paths = [delegate(life, number) for number in range(3)]
    life.transcript.text("It was delegated.")
    life.stop("It was delegated.")
    kept = life.capture["subagents"]
    assert [kept[path.name][0] for path in paths] == [path.stat().st_size for path in paths]
    assert all(len(json.dumps(place)) < 40 for place in kept.values())
    assert [transcript.is_read(str(path), kept[path.name]) for path in paths] == [True] * 3
    assert not transcript.is_read(str(paths[0]), None)
    paths[1].write_bytes(paths[1].read_bytes() * 2)  # it goes on
    assert not transcript.is_read(str(paths[1]), kept[paths[1].name])
    life.stop("It was delegated.")
    assert life.capture["tools"] == {"Write": 4}


def test_the_cursors_of_older_versions_are_understood(life: Life) -> None:
    life.start()
    life.prompt("delegate it")
    path = delegate(life, 1)
    reading = transcript.Reading(str(path), {})
    assert len(list(reading.entries(lambda: True, is_sidechain=True)))
    reading.close()
    for known in (reading.cursor, transcript.cursor_of(transcript.place_of(reading.cursor))):
        again = transcript.Reading(str(path), known)
        assert (again.is_restart, list(again.entries(lambda: True, is_sidechain=True))) == (False, [])
        again.close()
    assert [transcript.cursor_of(damaged) for damaged in (None, [], [1], "x", 5)] == [{}] * 5


def test_as_many_checkpoints_are_kept_as_an_episode_is_made_of(tmp_path: Path) -> None:
    known: dict[str, object] = {}
    for number in range(settings.CHECKPOINTS_KEPT + 5):
        checkpoint.save(str(tmp_path), {"what_was_done": "Part %d." % number}, 1_000_000 + number)
        checkpoint.merge(str(tmp_path), known)
    assert len(known) == settings.CHECKPOINTS_KEPT
    assert "Part %d." % (settings.CHECKPOINTS_KEPT + 4) in json.dumps(known)
    assert "Part 4." not in json.dumps(known)
    for path in tmp_path.iterdir():
        path.unlink()  # pruned: what is known of them stays
    checkpoint.merge(str(tmp_path), known)
    assert len(known) == settings.CHECKPOINTS_KEPT


def test_of_many_injections_the_sums_are_kept(life: Life) -> None:
    life.start()
    session = receipt.sessions.load(str(life.directory))
    told = receipt.load(str(life.directory))
    times = settings.INJECTIONS_LOGGED + 7
    for number in range(times):
        text = "Injection number %d." % number
        receipt.record(session, told, Injection(text, []), "UserPromptSubmit", "recall", 1_000_000 + number)
    log = receipt.load(str(life.directory))["log"]
    assert len(log) == settings.INJECTIONS_LOGGED
    assert (log[0]["why"], log[1]["why"]) == ("earlier", "recall")
    assert sum(entry["units"] for entry in log) == sum(len("Injection number %d." % n) for n in range(times))
    page = (life.directory / settings.RECEIPT_FILE).read_text("utf-8")
    assert [page.count("Injection number %d.\n" % number) for number in range(times)] == [1] * times
    assert page.startswith("# What Harness Memory told this session\n\n## ")


# Who is at work at the same time ----------------------------------------------------------------
def test_forgetting_waits_for_what_a_living_session_is_being_told(life: Life) -> None:
    life.turn("one", "It is done.", "a.py")
    page = life.directory / settings.RECEIPT_FILE
    holder = support.hold_lock(life.project / "STATE" / "live" / (life.session.id + ".lock"))
    forgetting = threading.Thread(
        target=forget.strike_receipts, args=(str(life.project), ["The text to be forgotten"], [])
    )
    forgetting.start()
    time.sleep(0.1)
    page.write_text("# Told\n\n- The text to be forgotten\n- Another\n", encoding="utf-8")
    holder.kill()
    holder.wait()
    forgetting.join()
    assert page.read_text("utf-8") == "# Told\n\n- Another\n"


def test_a_long_session_outlives_short_ones_that_began_after_it(world: World, life: Life) -> None:
    (life.store).mkdir(parents=True)
    (life.store / "config.json").write_text('{"retention_episodes": 2}', "utf-8")
    life.turn("begin", "The long work has begun.", "long.py")
    time.sleep(1.01)  # instants are whole seconds
    first = world.work("one", "The first short work is done.", ("one.py",))
    time.sleep(1.01)
    life.turn("end", "The long work is done.", "long2.py")
    second = world.work("two", "The second short work is done.", ("two.py",))
    life.end()
    Life(life.home, life.cwd).start()
    kept = {path.name[-13:-5] for path in (life.project / "episodes").iterdir()}
    assert (kept, first.id[:8] in kept) == ({life.session.id[:8], second.id[:8]}, False)
