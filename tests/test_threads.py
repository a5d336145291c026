"""What is still open: threads that people close, reopen and rename, and tasks that span sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.base import clock
from harness_memory.memory import ledger, tasks, threads, views


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def left_open(world: World, ask: str, todo: str = "Cover the guest cart") -> str:
    """A session that leaves a todo; its short id, which is its thread's."""
    session = support.Session(world.repo, world.home)
    support.run_hook("session_start", session.start(), home=world.home)
    transcript = session.transcript().prompt(ask)
    made = transcript.tool_use("TaskCreate", {"subject": todo, "description": todo})
    transcript.tool_result(made, "Task #1 created", result={"task": {"id": "1", "subject": todo}})
    transcript.text("Half of it is there, and works.").turn_end(ask)
    support.run_hook("session_end", session.end(), home=world.home)
    return session.id[:8]


def state(world: World, name: str) -> Any:
    return json.loads((world.project / "STATE" / name).read_text("utf-8"))


def assert_views_are_whole(world: World) -> None:
    before = world.files()
    assert world.memory("rebuild").code == 0
    assert world.files() == before
    checked = world.memory("verify")
    assert checked.code == 0, checked.stdout


class TestOpen:
    def test_names_threads_and_tasks_with_their_steps(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        world.memory("task", "start", "User login", "--next", "Schema", "--blocked", "No mail server")
        found = {item["kind"]: item for item in world.json("open")}
        assert found["thread"]["id"] == thread
        assert found["thread"]["next_steps"] == ["Cover the guest cart"]
        assert (found["task"]["id"], found["task"]["next_steps"]) == ("user-login", ["Schema"])
        assert found["task"]["blockers"] == ["No mail server"]
        page = world.memory("open").stdout
        assert "Still open: 1 thread, 1 task" in page
        for text in ("BLOCKED", "blocked: No mail server", "next: Cover the guest cart", "since today"):
            assert text in page

    def test_nothing(self, world: World) -> None:
        assert world.memory("open").stdout == "Nothing is open here.\n"
        assert world.json("open") == []

    def test_a_damaged_ledger_is_made_anew(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        (world.project / "STATE" / "conversation_state.json").write_bytes(b"garbage")
        assert [item["id"] for item in world.json("open")] == [thread]


class TestThread:
    def test_closed_by_a_person_stays_closed(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        assert world.json("thread", "close", thread[:5])["status"] == "closed"
        assert world.json("open") == []
        assert state(world, "current-work.json")["active_tasks"] == []
        assert [done["id"] for done in state(world, "current-work.json")["completed_today"]] == [thread]
        assert_views_are_whole(world)

    def test_reopened(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        world.memory("thread", "close", thread)
        assert world.json("thread", "reopen", thread)["status"] == "open"
        assert [item["id"] for item in world.json("open")] == [thread]
        assert_views_are_whole(world)

    def test_a_finished_one_can_be_reopened(self, world: World) -> None:
        session = world.work("Correct the totals", "Totals are right now, everywhere.", ("totals.py",))
        assert world.json("open") == []
        world.memory("thread", "reopen", session.id[:8])
        assert [item["id"] for item in world.json("open")] == [session.id[:8]]
        assert_views_are_whole(world)

    def test_renamed(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        assert world.json("thread", "rename", thread, "Rounding: once")["title"] == "Rounding: once"
        world.memory("thread", "close", thread)
        (found,) = world.json("thread", "list", "--all")
        assert (found["title"], found["status"]) == ("Rounding: once", "closed")
        assert_views_are_whole(world)

    @pytest.mark.parametrize("words", [("close",), ("close", "zzz"), ("rename", "a1"), ("rename", "zzz", "T")])
    def test_what_cannot_be_done(self, world: World, words: tuple[str, ...]) -> None:
        left_open(world, "Correct the totals")
        before = world.files()
        assert world.memory("thread", *words).code == 2
        assert world.files() == before

    def test_secrets_in_a_title_are_redacted(self, world: World) -> None:
        thread = left_open(world, "Correct the totals")
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        world.memory("thread", "rename", thread, "Use " + secret)
        assert all(secret.encode() not in data for data in world.files().values())


THREAD: dict[str, Any] = {
    "id": "a1b2c3d4",
    "status": "open",
    "title": "Totals",
    "next_steps": ["Tests"],
    "last_activity": "2026-11-16T10:00:00Z",
}
LATER = "2026-11-16T11:00:00Z"


class TestWhatWasSaid:
    def test_closing_holds_while_nothing_else_is_left(self) -> None:
        said = threads.closing(THREAD, {}, LATER)
        again = {**THREAD, "last_activity": "2026-11-17T10:00:00Z"}
        assert threads.applied(THREAD, said)["status"] == "closed"
        assert threads.applied(again, said)["status"] == "closed"
        assert threads.applied({**again, "next_steps": ["Tests", "Docs"]}, said)["status"] == "open"

    def test_reopening_holds_until_a_session_has_finished(self) -> None:
        done = {**THREAD, "status": "closed", "next_steps": []}
        said = threads.reopening(done, {}, LATER)
        assert threads.applied(done, said)["status"] == "open"
        assert threads.applied({**done, "last_activity": "2026-11-17T10:00:00Z"}, said)["status"] == "closed"

    def test_no_word_of_the_steps_is_kept(self) -> None:
        assert "Tests" not in json.dumps(threads.closing(THREAD, {}, LATER))

    @pytest.mark.parametrize("key", ["schema", "thread", "status", "title", "dismissed"])
    def test_a_damaged_fact_is_none(self, tmp_path: Path, key: str) -> None:
        said = threads.closing(THREAD, {}, LATER)
        threads.write(str(tmp_path), said)
        assert threads.read(str(tmp_path), "a1b2c3d4") == said
        threads.write(str(tmp_path), {**said, "thread": "a1b2c3d4", key: {"odd": 1}} if key != "thread" else said)
        if key == "thread":
            Path(threads.path(str(tmp_path), "a1b2c3d4")).write_text("[1]", "utf-8")
        assert threads.read(str(tmp_path), "a1b2c3d4") == {}


class TestTask:
    def test_the_file_has_the_fields_of_a_task(self, world: World) -> None:
        world.memory("task", "start", "User login", "--id", "auth", "--next", "Schema", "--next", "Mail")
        world.memory("task", "checkpoint", "auth", "--note", "Schema is there", "--next", "Mail")
        task = state(world, "progress/auth.json")
        assert (task["task_id"], task["title"], task["remaining"]) == ("auth", "User login", ["Mail"])
        assert [point["note"] for point in task["checkpoints"]] == ["Started", "Schema is there"]
        assert all(point["date"] == task["created"][:10] for point in task["checkpoints"])
        (active,) = state(world, "current-work.json")["active_tasks"]
        assert {"id", "description", "status", "started", "project", "branch", "blockers", "next_steps"} <= {*active}
        assert (active["id"], active["branch"]) == ("auth", support.git(world.repo, "branch", "--show-current").strip())
        assert_views_are_whole(world)

    def test_open_without_a_list_of_steps_until_done(self, world: World) -> None:
        world.memory("task", "start", "User login")
        assert [item["id"] for item in world.json("open")] == ["user-login"]
        world.memory("task", "done", "user", "--note", "All of it works")
        assert world.json("open") == []
        (done,) = state(world, "current-work.json")["completed_today"]
        assert done["id"] == "user-login"
        (listed,) = world.json("task", "list")
        assert (listed["is_open"], listed["checkpoints"][-1]["note"]) == (False, "All of it works")
        assert_views_are_whole(world)

    def test_what_checkpoints_said_before_does_not_undo_it(self, world: World, life: Any) -> None:
        life.start()
        life.prompt("Begin the login")
        said = {"what_was_done": "Schema", "task": {"id": "auth", "title": "Login", "remaining": ["Mail"]}}
        env = {"CLAUDE_CODE_SESSION_ID": life.session.id}
        assert world.memory("checkpoint", stdin=json.dumps(said).encode(), env=env).code == 0
        assert [item["id"] for item in world.json("open")] == ["auth"]
        world.memory("task", "done", "auth", env=env)
        assert_views_are_whole(world)
        assert world.json("open") == []
        assert state(world, "progress/auth.json")["sessions"] == [life.session.id[:8]]

    def test_a_second_of_the_same_title_has_its_own_id(self, world: World) -> None:
        ids = [world.json("task", "start", "User login")["task_id"] for _ in range(2)]
        assert ids == ["user-login", "user-login-2"]
        assert world.memory("task", "start", "Other", "--id", "user-login").code == 2
        assert world.memory("task", "checkpoint", "user-l", "--note", "x").code == 2  # either of two

    @pytest.mark.parametrize(
        "words", [("start",), ("done",), ("done", "zzz"), ("checkpoint", "user-login"), ("start", " ")]
    )
    def test_what_cannot_be_done(self, world: World, words: tuple[str, ...]) -> None:
        world.memory("task", "start", "User login")
        before = world.files()
        assert world.memory("task", *words).code == 2
        assert {name: data for name, data in world.files().items() if "dirty" not in name} == before

    def test_completed_today_is_the_day_of_the_person(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import time

        if not hasattr(time, "tzset"):
            pytest.skip("no time zones to set here")
        # 20:30 UTC is the next day in Tokyo.
        done = {**tasks.said({}, "a", clock.parse("2026-11-15T20:30:00Z") or 0, "", "Done"), "status": ledger.DONE}
        now = {**tasks.said({}, "b", clock.parse("2026-11-16T02:00:00Z") or 0, "", "Go"), "status": "in_progress"}
        found = {}
        for zone in ("UTC", "Asia/Tokyo"):
            monkeypatch.setenv("TZ", "JST-9" if zone != "UTC" else "UTC0")
            time.tzset()
            found[zone] = ledger.current_work([], [done, now], "p")["completed_today"]
        monkeypatch.undo()
        time.tzset()
        assert (len(found["UTC"]), len(found["Asia/Tokyo"])) == (0, 1)


@pytest.mark.parametrize(
    ("words", "task_id"),
    [
        (("password: hunter2hunter2",), "password-redacted-password"),
        (("Login", "--id", "password: hunter2hunter2"), "password-redacted-password"),
        (("Login", "--id", "../../evil"), "evil"),
        (("Login", "--id", "Auth_2"), "Auth_2"),
        (("../../evil",), "evil"),
    ],
)
def test_what_a_task_is_known_by(world: World, words: tuple[str, ...], task_id: str) -> None:
    assert world.json("task", "start", *words)["task_id"] == task_id
    assert [each["task_id"] for each in world.json("task", "list")] == [task_id]
    assert [name for name, data in world.files().items() if "hunter2" in name or b"hunter2" in data] == []
    assert world.json("verify")["findings"] == []


def test_a_change_waits_for_no_hook_for_ever(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = left_open(world, "Correct the totals")
    monkeypatch.setattr("harness_memory.cli.unfinished._LOCK_SECONDS", 0.05)
    holder = support.hold_lock(world.project / "STATE" / "views.lock")
    try:
        before = world.files()
        assert world.memory("thread", "close", thread).code == 2
        assert world.files() == before
    finally:
        holder.kill()
        holder.communicate()


@pytest.mark.parametrize("first", ["rename", "close"])
def test_what_two_say_of_a_thread_at_once_is_both_kept(world: World, first: str) -> None:
    thread = left_open(world, "Correct the totals")
    said = {"rename": ("thread", "rename", thread, "Totals to the cent"), "close": ("thread", "close", thread)}
    with world.meanwhile("STATE/views.lock", *said.pop(first)):
        (words,) = said.values()
        assert world.memory(*words).code == 0
    (found,) = world.json("thread", "list", "--all")
    assert (found["title"], found["status"]) == ("Totals to the cent", "closed")
    assert_views_are_whole(world)


def test_many_episodes_at_once_are_what_rebuild_makes(world: World) -> None:
    for number in range(3):
        world.work("Ask %d" % number, "An answer of some substance, number %d." % number, ("a%d.py" % number,))
    folder = world.project / "episodes"
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    before = (world.project / "INDEX.md").read_bytes()
    assert views.withdraw(str(world.project), [*found], 1)
    assert b"session-" not in (world.project / "INDEX.md").read_bytes()
    for name, data in found.items():
        views.stage(str(world.project), name, data)
    assert views.catch_up(str(world.project), 1)
    assert (world.project / "INDEX.md").read_bytes() == before
    assert_views_are_whole(world)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff"])
def test_a_damaged_task_is_named(world: World, damage: bytes) -> None:
    world.memory("task", "start", "User login")
    path = world.project / "STATE" / "progress" / "user-login.json"
    path.write_bytes(damage)
    told = world.memory("task", "list")
    assert (told.code, "No tasks" in told.stdout) == (1, False)
    assert "user-login.json is damaged" in told.stderr
