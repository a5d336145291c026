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

VIEWS = ("INDEX.md", "STATE/conversation_state.json", "STATE/current-work.json")
EPISODES: list[dict[str, Any]] = support.rows("views/episodes.jsonl")  # of 90 days, some of them in threads


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "demo-0123456789ab"


def publish(project: Path, value: dict[str, Any]) -> str:
    name = "session-%s-%s.json" % (clock.stamp(value["started"]), value["id"])
    support.publish(project, name, episode.render(value))
    return name


def view_bytes(project: Path) -> dict[str, bytes]:
    tasks = {path.name: path.read_bytes() for path in (project / "STATE" / "progress").glob("*")}
    return {**tasks, **{name: (project / name).read_bytes() for name in VIEWS}}


def current_work(project: Path) -> Any:
    return json.loads((project / VIEWS[2]).read_text("utf-8"))


@pytest.mark.parametrize("seed", range(6))
def test_views_after_any_changes_equal_rebuilt_views(project: Path, seed: int) -> None:
    source = random.Random(seed)
    published: dict[str, dict[str, Any]] = {}
    for value in source.sample(EPISODES, len(EPISODES)):
        action = source.random()
        if action < 0.1 and published:
            name = source.choice(list(published))
            del published[name]
            (project / "episodes" / name).unlink()
            assert views.refresh(str(project))
        if action > 0.8 and published:
            value = {**published[source.choice(list(published))], "what_remains": [], "what_was_done": "Changed."}
        published[publish(project, value)] = value
    before = view_bytes(project)
    assert views.rebuild(str(project)) == []
    (project / "STATE" / "rows.cache").unlink()
    assert views.refresh(str(project))
    assert view_bytes(project) == before
    lines = before["INDEX.md"].decode("utf-8").splitlines()[4:]
    assert [line.split("`")[1] for line in lines] == ["episodes/" + name for name in sorted(published, reverse=True)]


@pytest.mark.parametrize("name", [*VIEWS, "STATE/rows.cache"])
@pytest.mark.parametrize("damage", [None, b"", b"\xff\x00", b'{"threads": [1]}', b"# mine\n"])
def test_a_lost_or_damaged_view_is_whole_after_the_next_turn(project: Path, name: str, damage: bytes | None) -> None:
    publish(project, EPISODES[0])
    (project / name).unlink() if damage is None else (project / name).write_bytes(damage)
    publish(project, EPISODES[1])
    assert views.rebuild(str(project)) == []


def test_a_held_lock_delays_the_view_not_the_fact(life: Life) -> None:
    life.start()
    with support.hold_lock(life.project / "STATE" / "views.lock"):
        life.turn("one", "One done.")
    assert life.has_episode
    assert not (life.project / "INDEX.md").exists()
    life.another().start()
    assert " - One done." in (life.project / "INDEX.md").read_text("utf-8")


def test_a_hook_without_time_leaves_the_rest_of_the_episodes_to_the_next(project: Path) -> None:
    names = [publish(project, value) for value in EPISODES[:8]]
    (project / "STATE" / "rows.cache").unlink()
    for changed in ("", names[3], names[5]):
        views.refresh(str(project), changed=changed, by=1e-9)  # long over
    index = (project / "INDEX.md").read_text("utf-8")
    assert [name for name in names if name in index] == [names[3], names[5]]
    views.refresh(str(project))
    assert views.rebuild(str(project)) == []


def test_an_episode_rewritten_behind_the_views_shows_at_the_next_start(life: Life) -> None:
    life.start()
    life.turn("one", "The first part is done.")
    life.end()
    (file,) = support.episode_files(life.store)
    file.write_bytes(file.read_bytes().replace(b"The first part", b"Corrected: all"))
    life.another().start()
    assert "Corrected: all is done." in (life.project / "INDEX.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("files", "end"), [(["setup.py", "a b/x.py", "c/d/y.py"], " (main; a b, c/d)"), (["setup.py"], " (main)")]
)
def test_a_line_of_the_menu_names_branch_and_folders(project: Path, files: list[str], end: str) -> None:
    publish(project, {**EPISODES[0], "files_changed": files})
    assert (project / "INDEX.md").read_text("utf-8").rstrip().endswith(end)


def test_current_work_shows_what_is_open_and_what_was_done_that_day(life: Life) -> None:
    life.start()
    life.turn("hi", "Hello!")
    first = life.another()
    first.start("clear")
    first.turn("one", "One done.", "one.py")
    second = life.another()
    second.start("clear")
    second.prompt("two")
    created = second.transcript.tool_use("TaskCreate", {"subject": "left"})
    second.transcript.tool_result(created, "Task #1 created", result={"task": {"id": "1"}})
    second.transcript.text("Two half done.")
    second.stop("Two half done.")
    work = current_work(life.project)
    assert [(task["description"], task["next_steps"]) for task in work["active_tasks"]] == [
        ("Two half done.", ["left"])
    ]
    assert [task["description"] for task in work["completed_today"]] == ["One done."]
    assert (work["updated"], work["active_tasks"][0]["project"]) == (second.episode["ended"], "project")


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="no time zones to set here")
@pytest.mark.parametrize(("zone", "completed"), [("UTC0", 0), ("JST-9", 1)])
def test_completed_today_is_the_day_of_the_person(
    project: Path, monkeypatch: pytest.MonkeyPatch, zone: str, completed: int
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    # 20:30 UTC is the next day in Tokyo.
    for number, ended in enumerate(("2026-11-15T20:30:00Z", "2026-11-16T02:00:00Z")):
        own = {"id": str(number), "thread": str(number), "ended": ended, "what_remains": ["x"] * number, "tasks": []}
        publish(project, {**EPISODES[0], **own})
    monkeypatch.undo()
    time.tzset()
    assert len(current_work(project)["completed_today"]) == completed


def test_views_stay_small_however_many_sessions_there_are(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        world.work("Ask %d" % number, "An answer of substance, number %d." % number, ("a.py",))
    monkeypatch.setattr(views, "VIEW_ROWS", 3)
    assert world.memory("rebuild").code == 0
    index = (world.project / "INDEX.md").read_text("utf-8")
    assert sum(index.count("number %d." % number) for number in range(5)) == 3
    state = json.loads((world.project / "STATE" / "conversation_state.json").read_bytes())
    assert len(state["threads"]) == 3
    world.assert_sound()
