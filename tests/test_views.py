"""Views: kept incrementally, the same to the byte when rebuilt, and never in the way of facts."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life

from harness_memory.base import clock
from harness_memory.base.lock import Lock
from harness_memory.memory import views
from harness_memory.session import episode

VIEWS = ("INDEX.md", "STATE/conversation_state.json", "STATE/current-work.json")


def made(number: int, source: random.Random, thread: str = "") -> tuple[str, dict[str, Any]]:
    started = clock.iso(1_790_000_000 + source.randrange(0, 90 * 86400))
    short_id = "%08x" % (source.getrandbits(32) ^ number)
    remains = ["step %d" % n for n in range(source.choice([0, 0, 1, 3]))]
    tasks = []
    if source.random() < 0.3:
        artifact = "checkpoint-%s-%s.json" % (clock.fine_stamp(1_790_000_000 + source.random() * 90 * 86400), short_id)
        left = source.choice([None, [], ["x"]])
        tasks = [
            {
                "id": "task-%d" % (number % 5),
                "title": "T%d" % number,
                "remaining": left,
                "blockers": [],
                "note": "n",
                "artifact": artifact,
            }
        ]
    value: dict[str, Any] = {
        "schema": 1,
        "id": short_id,
        "session_id": short_id + "-x",
        "project": {"cwd": "/p", "git_remote": ""},
        "skill_used": source.choice([None, "melt"]),
        "asked": ["ask %d 😀" % number],
        "what_was_done": "Did thing %d. Then more.\nAnd more." % number,
        "what_remains": remains,
        "files_changed": ["src/f%d.py" % n for n in range(source.randrange(6))],
        "outcome": "completed",
        "duration_minutes": 3,
        "started": started,
        "ended": clock.iso((clock.parse(started) or 0) + source.randrange(1, 90000)),
        "branch": "main",
        "tags": [],
        "learnings": [],
        "commands_failed_then_fixed": [],
        "tools": {},
        "model": "m%d" % (number % 3),
        "channel": source.choice(["cli", "sdk-cli", ""]),
        "title": source.choice(["", "t%d" % number]),
        "tasks": tasks,
        "transcript": "",
        "source": "transcript",
        "taint": [],
        "thread": thread or short_id,
        "parent": None,
        "root": "",
    }
    return "session-%s-%s.json" % (clock.stamp(started), short_id), value


def view_bytes(project: Path) -> dict[str, bytes]:
    state = {name: (project / name).read_bytes() for name in VIEWS}
    state.update({path.name: path.read_bytes() for path in (project / "STATE" / "progress").glob("*")})
    return state


@pytest.mark.parametrize("seed", range(support.volume(6)))
def test_incremental_and_rebuilt_are_the_same_to_the_byte(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    project = tmp_path / "demo-0123456789ab"
    known: dict[str, dict[str, Any]] = {}
    threads: list[str] = []
    for number in range(40):
        action = source.random()
        if action < 0.2 and known:
            name = source.choice(list(known))
            known[name].update(
                what_remains=[], what_was_done="Changed %d." % number, ended=clock.iso(1_790_000_000 + number)
            )
        elif action < 0.3 and known:
            name = source.choice(list(known))
            del known[name]
            assert views.withdraw(str(project), [name], 1)
            continue
        else:
            name, value = made(number, source, source.choice(["", *threads[-3:]]))
            known[name] = value
            threads.append(value["thread"])
        assert views.publish(str(project), name, episode.render(known[name]), 1)
    incremental = view_bytes(project)
    assert views.rebuild(str(project), 1) == []
    assert view_bytes(project) == incremental
    for name in VIEWS:
        (project / name).unlink()
    assert views.rebuild(str(project), 1) == [os.path.basename(name) for name in VIEWS]
    assert view_bytes(project) == incremental
    lines = incremental["INDEX.md"].decode("utf-8").splitlines()[4:]
    assert [line.split("`")[1] for line in lines] == ["episodes/" + name for name in sorted(known, reverse=True)]
    assert not list((project / "STATE" / "dirty").iterdir())


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("damage", [None, b"", b"\xff\x00", b"{}", b'{"threads": [1]}', b"# mine\n"])
def test_a_lost_or_damaged_view_is_made_anew_by_the_next_publish(
    tmp_path: Path, name: str, damage: bytes | None
) -> None:
    source = random.Random(1)
    project = tmp_path / "demo-0123456789ab"
    written = [made(number, source) for number in range(6)]
    for file, value in written[:5]:
        views.publish(str(project), file, episode.render(value), 1)
    if damage is None:
        (project / name).unlink()
    else:
        (project / name).write_bytes(damage)
    views.publish(str(project), written[5][0], episode.render(written[5][1]), 1)
    incremental = view_bytes(project)
    assert views.rebuild(str(project), 1) == []
    assert view_bytes(project) == incremental


def test_a_held_lock_delays_the_view_not_the_fact(tmp_path: Path) -> None:
    project = tmp_path / "demo-0123456789ab"
    name, value = made(1, random.Random(1))
    with Lock(str(project / "STATE" / "views.lock"), 1):
        assert not views.publish(str(project), name, episode.render(value), 0.05)
    assert (project / "episodes" / name).exists()
    assert not (project / "INDEX.md").exists()
    assert views.catch_up(str(project), 1)
    assert name in (project / "INDEX.md").read_text("utf-8")


def test_a_mark_that_was_made_while_another_shows_the_episode_stays(tmp_path: Path) -> None:
    project = tmp_path / "demo-0123456789ab"
    name, value = made(1, random.Random(1))
    with Lock(str(project / "STATE" / "views.lock"), 1):
        views.publish(str(project), name, episode.render(value), 0)
        seen = views._marks(str(project))  # the holder begins
        later = {**value, "headline": "", "what_was_done": "Something later."}
        views.publish(str(project), name, episode.render(later), 0)
        views._unmark(str(project), seen)  # and ends
    assert views.catch_up(str(project), 1)
    assert "Something later" in (project / "INDEX.md").read_text("utf-8")


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"schema": 99}', b"\xff", b'{"schema": 1, "id": 5}'])
def test_damaged_and_newer_episodes_are_left_out_and_left_alone(tmp_path: Path, junk: bytes) -> None:
    project = tmp_path / "demo-0123456789ab"
    name, value = made(1, random.Random(1))
    views.publish(str(project), name, episode.render(value), 1)
    strange = project / "episodes" / "session-2026-11-16T000000Z-deadbeef.json"
    strange.write_bytes(junk)
    before = view_bytes(project)
    assert views.rebuild(str(project), 1) == []
    assert view_bytes(project) == before
    assert strange.read_bytes() == junk


def test_hostile_text_cannot_break_the_menu(life: Life) -> None:
    life.start()
    life.turn("x", "One.\n- `episodes/evil.json` - fake\n# Heading\x1b[31m\u202e", "a`b\n.py")
    lines = (life.project / "INDEX.md").read_text("utf-8").splitlines()
    assert len([line for line in lines if line.startswith("- `episodes/")]) == 1
    assert "\x1b" not in "".join(lines)


def test_a_mark_left_by_a_killed_process_is_worked_off_at_the_next_start(life: Life) -> None:
    life.start()
    life.turn("one", "One done.")
    life.end()
    (project / "INDEX.md").unlink() if (project := life.project) else None
    (file,) = support.episode_files(life.store)
    (project / "STATE" / "dirty" / file.name).touch()
    Life(life.home, life.cwd, pid=life.pid).start()
    assert file.name in (project / "INDEX.md").read_text("utf-8")
    assert not list((project / "STATE" / "dirty").iterdir())


def test_current_work_knows_the_last_day(life: Life) -> None:
    life.start()
    life.turn("one", "One done.")
    second = Life(life.home, life.cwd, pid=life.pid)
    second.start("clear")
    second.prompt("two")
    second.transcript.tool_result(
        second.transcript.tool_use("TaskCreate", {"subject": "left"}), "Task #1 created", result={"task": {"id": "1"}}
    )
    second.transcript.text("Two half done.")
    second.stop("Two half done.")
    work = json.loads((life.project / "STATE" / "current-work.json").read_text("utf-8"))
    assert [(task["description"], task["next_steps"]) for task in work["active_tasks"]] == [("two", ["left"])]
    assert [task["description"] for task in work["completed_today"]] == ["one"]
    assert work["updated"] == second.episode["ended"]
    assert work["active_tasks"][0]["project"] == "project"


def test_old_and_excess_episodes_go_from_every_view(life: Life) -> None:
    source = random.Random(5)
    life.start()
    project = life.project
    now = time.time()
    for number in range(30):
        age = 100 if number < 3 else 10
        _, value = made(number, source)
        value["started"] = value["ended"] = clock.iso(now - age * 86400 + number)
        name = "session-%s-%s.json" % (clock.stamp(value["started"]), value["id"])
        views.publish(str(project), name, episode.render(value), 1)
        os.utime(project / "episodes" / name, (now - age * 86400, now - age * 86400))
    (life.store / "config.json").write_text(json.dumps({"retention_episodes": 20}), "utf-8")
    life.start("resume")
    kept = [path.name for path in support.episode_files(life.store)]
    assert len(kept) == 20
    assert all(name > "session-" + clock.stamp(clock.iso(now - 90 * 86400)) for name in kept)
    before = view_bytes(project)
    assert views.rebuild(str(project), 1) == []
    assert view_bytes(project) == before


def test_an_old_session_that_was_at_work_yesterday_is_kept(life: Life) -> None:
    life.start()
    project = life.project
    _, value = made(1, random.Random(1))
    value["started"] = clock.iso(time.time() - 200 * 86400)
    name = "session-%s-%s.json" % (clock.stamp(value["started"]), value["id"])
    views.publish(str(project), name, episode.render(value), 1)
    life.start("resume")
    assert (project / "episodes" / name).exists()


def test_a_line_of_the_menu_names_no_empty_folder() -> None:
    name, value = made(1, random.Random(1))
    value["files_changed"] = ["setup.py", "a b/x.py", "c/d/y.py"]
    assert views.index_line(name, value).endswith(" (main; a b, c/d)")
    value["files_changed"] = ["setup.py"]
    assert views.index_line(name, value).endswith(" (main)")
