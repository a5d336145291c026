"""Views: the same to the byte however they came about, and never in the way of facts."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life

from harness_memory.base import clock
from harness_memory.memory import views
from harness_memory.session import episode

EPISODE = Path(__file__).parent / "data" / "views" / "episode.json"
VIEWS = ("INDEX.md", "STATE/conversation_state.json", "STATE/current-work.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "demo-0123456789ab"


def made(number: int, source: random.Random, thread: str = "") -> tuple[str, dict[str, Any]]:
    """The name of an episode file and its value."""
    began = 1_790_000_000 + source.randrange(90 * 86400)
    started, short_id = clock.iso(began), "%08x" % (source.getrandbits(32) ^ number)
    artifact = "checkpoint-%s-%s.json" % (clock.fine_stamp(began + source.random() * 9000), short_id)
    task = {"id": "task-%d" % (number % 5), "title": "T%d" % number, "note": "n", "artifact": artifact}
    task["remaining"] = source.choice([None, [], ["x"]])
    value = {
        **json.loads(EPISODE.read_text("utf-8")),
        "id": short_id,
        "thread": thread or short_id,
        "started": started,
        "ended": clock.iso(began + source.randrange(1, 90000)),
        "asked": ["ask %d 😀" % number],
        "what_was_done": "Did thing %d. Then more.\nAnd more." % number,
        "what_remains": ["step %d" % n for n in range(source.choice([0, 0, 1, 3]))],
        "files_changed": ["src/f%d.py" % n for n in range(source.randrange(6))],
        "skill_used": source.choice([None, "melt"]),
        "model": "m%d" % (number % 3),
        "channel": source.choice(["cli", ""]),
        "title": source.choice(["", "t%d" % number]),
        "tasks": [task] if source.random() < 0.3 else [],
    }
    return "session-%s-%s.json" % (clock.stamp(started), short_id), value


def view_bytes(project: Path) -> dict[str, bytes]:
    tasks = {path.name: path.read_bytes() for path in (project / "STATE" / "progress").glob("*")}
    return {**tasks, **{name: (project / name).read_bytes() for name in VIEWS}}


@pytest.mark.parametrize("seed", range(6))
def test_views_after_any_changes_equal_rebuilt_views(project: Path, seed: int) -> None:
    source = random.Random(seed)
    known: dict[str, dict[str, Any]] = {}
    threads: list[str] = []
    for number in range(40):
        action = source.random()
        if action < 0.1 and known:
            name = source.choice(list(known))
            del known[name]
            (project / "episodes" / name).unlink()
            assert views.refresh(str(project))
            continue
        if action < 0.3 and known:
            name = source.choice(list(known))
            known[name].update(what_remains=[], what_was_done="Changed %d." % number)
        else:
            name, value = made(number, source, source.choice(["", *threads[-3:]]))
            known[name] = value
            threads.append(value["thread"])
        support.publish(project, name, episode.render(known[name]))
    before = view_bytes(project)
    assert views.rebuild(str(project)) == []
    (project / "STATE" / "rows.cache").unlink()
    assert views.refresh(str(project))
    assert view_bytes(project) == before
    lines = before["INDEX.md"].decode("utf-8").splitlines()[4:]
    assert [line.split("`")[1] for line in lines] == ["episodes/" + name for name in sorted(known, reverse=True)]


def test_a_life_of_turns_forgetting_and_pruning_leaves_what_rebuild_writes(world: World) -> None:
    ids = []
    for number in range(4):
        said = {"what_was_done": "Part %d." % number, "task": {"id": "parts", "title": "Parts", "remaining": ["rest"]}}
        (world.repo / ".claude").mkdir(exist_ok=True)
        if number % 2:
            (world.repo / ".claude" / "completion-checkpoint.json").write_text(json.dumps(said), "utf-8")
        ids.append(world.work("Ask %d" % number, "An answer of substance, number %d." % number, ("a.py",)).id[:8])
    for words in (("forget", ids[1], "--yes"), ("forget", "--text", "substance, number 2", "--yes"), ("prune",)):
        assert world.memory(*words).code == 0, words
        before = view_bytes(world.project)
        assert world.memory("rebuild").code == 0
        assert view_bytes(world.project) == before, words
    assert [task["id"] for task in json.loads(before[VIEWS[2]])["active_tasks"]] == ["parts"]


@pytest.mark.parametrize("name", [*VIEWS, "STATE/rows.cache"])
@pytest.mark.parametrize("damage", [None, b"", b"\xff\x00", b'{"threads": [1]}', b"# mine\n"])
def test_a_lost_or_damaged_view_is_whole_after_the_next_turn(project: Path, name: str, damage: bytes | None) -> None:
    source = random.Random(1)
    written = [made(number, source) for number in range(6)]
    for file, value in written[:5]:
        support.publish(project, file, episode.render(value))
    (project / name).unlink() if damage is None else (project / name).write_bytes(damage)
    support.publish(project, written[5][0], episode.render(written[5][1]))
    assert views.rebuild(str(project)) == []


def test_a_held_lock_delays_the_view_not_the_fact(life: Life) -> None:
    life.start()
    holder = support.hold_lock(life.project / "STATE" / "views.lock")
    try:
        life.turn("one", "One done.")
    finally:
        holder.kill()
        holder.communicate()
    assert life.has_episode
    assert not (life.project / "INDEX.md").exists()
    Life(life.home, life.cwd, pid=life.pid).start()
    assert " - one" in (life.project / "INDEX.md").read_text("utf-8")


def test_an_episode_rewritten_behind_the_views_shows_at_the_next_start(life: Life) -> None:
    life.start()
    life.turn("one", "The first part is done.")
    life.end()
    (file,) = support.episode_files(life.store)
    file.write_bytes(file.read_bytes().replace(b"The first part", b"Corrected: all"))
    Life(life.home, life.cwd, pid=life.pid).start()
    assert "Corrected: all is done." in (life.project / "INDEX.md").read_text("utf-8")


@pytest.mark.parametrize("junk", [b"", b"[]", b'{"schema": 99}', b"\xff", b'{"schema": 1, "id": 5}'])
def test_damaged_and_newer_episodes_are_skipped_and_left_alone(project: Path, junk: bytes) -> None:
    name, value = made(1, random.Random(1))
    support.publish(project, name, episode.render(value))
    strange = project / "episodes" / "session-2026-11-16T000000Z-deadbeef.json"
    strange.write_bytes(junk)
    before = view_bytes(project)
    assert views.refresh(str(project))
    assert views.rebuild(str(project)) == []
    assert (view_bytes(project), strange.read_bytes()) == (before, junk)


@pytest.mark.parametrize(
    ("files", "end"), [(["setup.py", "a b/x.py", "c/d/y.py"], " (main; a b, c/d)"), (["setup.py"], " (main)")]
)
def test_a_line_of_the_menu_names_branch_and_folders(project: Path, files: list[str], end: str) -> None:
    name, value = made(1, random.Random(1))
    support.publish(project, name, episode.render({**value, "files_changed": files}))
    assert (project / "INDEX.md").read_text("utf-8").rstrip().endswith(end)


def test_current_work_shows_what_is_open_and_what_was_done_that_day(life: Life) -> None:
    life.start()
    life.turn("one", "One done.")
    second = Life(life.home, life.cwd, pid=life.pid)
    second.start("clear")
    second.prompt("two")
    created = second.transcript.tool_use("TaskCreate", {"subject": "left"})
    second.transcript.tool_result(created, "Task #1 created", result={"task": {"id": "1"}})
    second.transcript.text("Two half done.")
    second.stop("Two half done.")
    work = json.loads((life.project / "STATE" / "current-work.json").read_text("utf-8"))
    assert [(task["description"], task["next_steps"]) for task in work["active_tasks"]] == [("two", ["left"])]
    assert [task["description"] for task in work["completed_today"]] == ["one"]
    assert (work["updated"], work["active_tasks"][0]["project"]) == (second.episode["ended"], "project")


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no time zones to set here")
@pytest.mark.parametrize(("zone", "completed"), [("UTC0", 0), ("JST-9", 1)])
def test_completed_today_is_the_day_of_the_person(
    project: Path, monkeypatch: pytest.MonkeyPatch, zone: str, completed: int
) -> None:
    # 20:30 UTC is the next day in Tokyo.
    for number, ended in enumerate(("2026-11-15T20:30:00Z", "2026-11-16T02:00:00Z")):
        name, value = made(number, random.Random(number))
        value.update(started="2026-11-15T20:00:00Z", ended=ended, what_remains=["x"] * number, tasks=[])
        (project / "episodes").mkdir(parents=True, exist_ok=True)
        (project / "episodes" / name).write_bytes(episode.render(value))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    views.rebuild(str(project))
    monkeypatch.undo()
    time.tzset()
    work = json.loads((project / "STATE" / "current-work.json").read_text("utf-8"))
    assert len(work["completed_today"]) == completed
