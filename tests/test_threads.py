"""What is still open: threads that people close, reopen and rename, and tasks that span sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest
import support
from commandline import World
from life import Life


def left_open(world: World, ask: str = "Correct the totals", *todos: str, session: Any = None) -> str:
    """The short id of a session that leaves todos; it is the id of its thread too."""
    session = session or support.Session(world.repo, world.home)
    support.run_hook("session_start", session.start(), home=world.home)
    transcript = session.transcript().prompt(ask)
    for number, todo in enumerate(todos or ("Cover the guest cart",), 1):
        created = transcript.tool_use("TaskCreate", {"subject": todo, "description": todo})
        transcript.tool_result(created, "Task created", result={"task": {"id": str(number), "subject": todo}})
    transcript.text("Half of it is there, and works.").turn_end(ask)
    support.run_hook("session_end", session.end(), home=world.home)
    return str(session.id[:8])


def state(world: World, name: str) -> Any:
    return json.loads((world.project / "STATE" / name).read_text("utf-8"))


def test_open_names_threads_and_tasks_with_steps_and_blockers(world: World) -> None:
    left_open(world)
    thread = left_open(world)  # the same step once more
    world.memory("task", "start", "User login", "--next", "Schema", "--blocked", "No mail server")
    items = {item["kind"]: item for item in world.json("open")}
    assert (items["thread"]["id"], items["thread"]["next_steps"]) == (thread, ["Cover the guest cart"])
    assert (items["task"]["id"], items["task"]["next_steps"]) == ("user-login", ["Schema"])
    assert items["task"]["blockers"] == ["No mail server"]
    page = world.memory("open").stdout
    assert ("Still open: 2" in page, world.memory("task").stdout) == (True, page)
    for text in ("BLOCKED: No mail server", "next: Cover the guest cart", "since today"):
        assert text in page
    assert "  blocked: No mail server\n  next: Schema\n" in Life(world.home, world.repo).start().context


def test_a_thread_is_closed_reopened_and_renamed_by_a_person(world: World) -> None:
    thread = left_open(world)
    assert world.json("thread", "close", thread[:5])["status"] == "closed"
    assert world.json("open") == []
    work = state(world, "current-work.json")
    assert (work["active_tasks"], [done["id"] for done in work["completed_today"]]) == ([], [thread])
    assert world.json("thread", "rename", thread, "Rounding: once")["title"] == "Rounding: once"
    assert "Nothing is open here.  Closed: 1\n" in world.memory("open", "--all").stdout
    (listed,) = world.json("open", "--all")
    assert (listed["title"], listed["state"]) == ("Rounding: once", "closed")
    world.assert_sound()
    assert world.json("thread", "reopen", thread)["status"] == "open"
    assert [item["title"] for item in world.json("open")] == ["Rounding: once"]
    world.assert_sound()


def test_a_closed_thread_opens_again_when_a_session_leaves_another_step(world: World) -> None:
    session = support.Session(world.repo, world.home)
    thread = left_open(world, session=session)
    world.memory("thread", "close", thread)
    fact = (world.project / "STATE" / "threads" / (thread + ".json")).read_text("utf-8")
    assert "guest cart" not in fact
    left_open(world, "Once more", session=session)
    assert world.json("open") == []
    left_open(world, "And more", "Cover the guest cart", "Docs", session=session)
    assert [item["next_steps"] for item in world.json("open")] == [["Cover the guest cart", "Docs"]]
    world.assert_sound()


def test_a_reopened_thread_stays_open_until_a_session_finishes_it(world: World) -> None:
    session = world.work("Correct the totals", "Totals are right now, everywhere.", ("totals.py",))
    assert world.json("open") == []
    world.memory("thread", "reopen", session.id[:8])
    assert [item["id"] for item in world.json("open")] == [session.id[:8]]
    path = world.episode(session)
    value = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**value, "ended": "2099-01-01T00:00:00Z"}), "utf-8")
    assert world.json("open") == []


def test_a_task_file_has_its_fields_and_stands_in_current_work(world: World) -> None:
    world.memory("task", "start", "Auth", "--next", "Schema", "--next", "Mail")
    world.memory("task", "checkpoint", "auth", "--note", "Schema is there", "--next", "Mail")
    task = state(world, "progress/auth.json")
    assert (task["task_id"], task["title"], task["remaining"]) == ("auth", "Auth", ["Mail"])
    assert [point["note"] for point in task["checkpoints"]] == ["Started", "Schema is there"]
    assert all(point["date"] == task["created"][:10] for point in task["checkpoints"])
    (active,) = state(world, "current-work.json")["active_tasks"]
    assert {"id", "description", "status", "started", "project", "branch", "blockers", "next_steps", "close"} == {
        *active
    }
    assert (active["id"], active["branch"]) == ("auth", support.git(world.repo, "branch", "--show-current").strip())
    world.assert_sound()


def test_a_task_without_steps_is_open_until_done(world: World) -> None:
    world.memory("task", "start", "User login")
    assert [item["id"] for item in world.json("open")] == ["user-login"]
    world.memory("task", "done", "user", "--note", "All of it works")
    assert world.json("open") == []
    assert [done["id"] for done in state(world, "current-work.json")["completed_today"]] == ["user-login"]
    assert [item["state"] for item in world.json("open", "--all")] == ["done"]
    world.assert_sound()


def test_a_task_done_by_a_person_is_not_undone_by_earlier_checkpoints(world: World, life: Life) -> None:
    life.start()
    life.prompt("Begin the login")
    said = {"what_was_done": "Schema", "task": {"id": "auth", "title": "Login", "remaining": ["Mail"]}}
    env = {"CLAUDE_CODE_SESSION_ID": life.session.id}
    assert world.memory("checkpoint", stdin=json.dumps(said).encode(), env=env).code == 0
    assert [item["id"] for item in world.json("open")] == ["auth"]
    world.memory("task", "done", "auth", env=env)
    world.assert_sound()
    assert world.json("open") == []
    assert state(world, "progress/auth.json")["sessions"] == [life.session.id[:8]]


def test_a_second_task_of_the_same_title_gets_its_own_id(world: World) -> None:
    ids = [world.json("task", "start", "User login")["task_id"] for _ in range(2)]
    assert ids == ["user-login", "user-login-2"]
    assert world.memory("task", "checkpoint", "user-l", "--note", "x").code == 2  # either of two


@pytest.mark.parametrize(
    ("title", "task_id"), [("password: hunter2hunter2", "password-redacted-password"), ("../../evil", "evil")]
)
def test_a_task_id_is_safe_and_holds_no_secret(world: World, title: str, task_id: str) -> None:
    assert world.json("task", "start", title)["task_id"] == task_id
    assert [each["id"] for each in world.json("open", "--all") if each["kind"] == "task"] == [task_id]
    assert [name for name, data in world.files().items() if "hunter2" in name or b"hunter2" in data] == []
    assert world.json("verify")["findings"] == []
