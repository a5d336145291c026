"""Real sessions of the real client, and what they leave in the store."""

from __future__ import annotations

import json
import sys
import threading

import pytest
from fake_api import after, bash, call, hang, refuse, say
from terminal import wait_until
from world import World, files_below, mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from fake_api import Answer

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")


def write(path: Path, text: str = "text\n") -> Answer:
    return call("Write", file_path=str(path), content=text)


def told(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


SECRET = "ghp_" + "a1B2c3D4e" * 4
PROMPT = "Add a greeting to the project, my token is " + SECRET
ANSWER = "Added a greeting in src/greet.py. I did not need " + SECRET


@pytest.fixture(scope="module")
def workshop(world: World) -> Path:
    return world.project("working")


@pytest.fixture(scope="module")
def working(world: World, workshop: Path) -> str:
    project = workshop
    greeting = project / "src" / "greet.py"
    ended = world.run(
        project,
        PROMPT,
        write(greeting, "GREETING = 'hi'\n"),
        call("Edit", file_path=str(greeting), old_string="hi", new_string="hello"),
        bash("TOKEN=%s cat nowhere/greet.py" % SECRET),
        bash("TOKEN=%s cat src/greet.py" % SECRET),
        call("TaskCreate", subject="Translate the greeting", description="Into French"),
        call("TaskCreate", subject="Add the greeting", description="In English"),
        call("TaskUpdate", taskId="2", status="completed"),
        say(ANSWER),
    )
    assert (ended.code, ended.output, ended.errors) == (0, ANSWER + "\n", "")
    assert greeting.read_text(encoding="utf-8") == "GREETING = 'hello'\n"
    assert world.meta(ended.session)["pid"] == ended.pid
    return ended.session


class TestWorkingSession:
    def test_its_record_is_complete(self, world: World, working: str) -> None:
        meta = world.meta(working)
        assert meta["status"] == "COMPLETED"
        assert meta["reason"] == "other"
        assert meta["session_id"] == working[:8] == world.record(working).name
        assert meta["date"] == world.record(working).parent.name == meta["started"][:10]
        assert meta["started"] <= meta["ended"]
        assert (meta["branch"], meta["channel"]) == ("trunk", "sdk-cli")
        assert meta["model"].startswith("claude")
        assert meta["project"] == "working"
        assert meta["summary"]
        assert list(meta)[:10] == [
            "session_id", "date", "started", "ended", "status", "project", "branch", "summary", "tags", "artifacts",
        ]  # fmt: skip

    def test_its_episode_tells_what_happened(self, world: World, working: str) -> None:
        episode = world.episode(working)
        assert "Add a greeting to the project" in told(episode["asked"])
        assert "Added a greeting in src/greet.py." in episode["what_was_done"]
        assert episode["files_changed"] == ["src/greet.py"]
        (fixed,) = episode["commands_failed_then_fixed"]
        assert "cat nowhere/greet.py" in told(fixed)
        assert "cat src/greet.py" in told(fixed)
        assert "Translate the greeting" in told(episode["what_remains"])
        assert "Add the greeting" not in told(episode["what_remains"])
        assert (episode["id"], episode["branch"], episode["source"]) == (working[:8], "trunk", "transcript")

    def test_people_and_the_next_session_find_it(self, world: World, working: str) -> None:
        memory = world.memory(working)
        assert "Added a greeting" in (world.record(working) / "summary.md").read_text(encoding="utf-8")
        (line,) = [x for x in (memory / "INDEX.md").read_text(encoding="utf-8").splitlines() if working[:8] in x]
        assert line.startswith("- `episodes/session-")
        assert line.endswith(".json` - Added a greeting in src/greet.py. [greet.py] (trunk; src)")
        (thread,) = world.threads(working)
        assert thread["status"] == "open"
        assert "Translate the greeting" in told(thread["next_steps"])
        work = json.loads((memory / "STATE" / "current-work.json").read_text(encoding="utf-8"))
        assert "Translate the greeting" in told(work["active_tasks"])
        assert not list((memory / "STATE" / "live").glob("*.json"))

    def test_hooks_say_nothing_to_the_model(self, world: World, working: str) -> None:
        requests = world.api.requests(PROMPT)
        assert len(requests) == 8
        for words in ("hook success", "hook additional context", "hook error", "hook feedback"):
            assert not [r for r in requests if words in r.messages()]

    def test_the_secret_is_nowhere_in_the_store(self, world: World, working: str) -> None:
        assert SECRET in world.transcript(working)
        files = files_below(world.store)
        assert files
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]

    @pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
    def test_the_store_is_private(self, world: World, working: str) -> None:
        for path in [world.store, *world.store.rglob("*")]:
            assert oct(mode(path)) == ("0o700" if path.is_dir() else "0o600"), path


def test_two_sessions_at_once_do_not_mix(world: World) -> None:
    project = world.project("pair")
    both = threading.Barrier(2)
    seen: list[dict[str, str]] = []

    def meet() -> None:
        both.wait(120)
        seen.append({world.meta(s)["claude_session"]: world.meta(s)["status"] for s in sessions})
        both.wait(120)

    prompts = {who: "%s asks for the file of %s" % (who, who) for who in ("Ann", "Bob")}
    started = []
    for who, prompt in prompts.items():
        finish = after(meet, say("Wrote it for %s." % who))
        started.append(world.start(project, prompt, write(project / (who + ".txt")), finish))
    sessions = [session for session, _ in started]
    for _, process in started:
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0

    assert seen == [dict.fromkeys(sessions, "ACTIVE")] * 2
    assert world.memory(sessions[0]) == world.memory(sessions[1])
    for session, (who, prompt) in zip(sessions, prompts.items()):
        episode = world.episode(session)
        assert world.meta(session)["status"] == "COMPLETED"
        assert (told(episode["asked"]).count("asks"), prompt in told(episode["asked"])) == (1, True)
        assert episode["what_was_done"] == "Wrote it for %s." % who
        assert episode["files_changed"] == [who + ".txt"]
        (thread,) = world.threads(session)
        assert thread["sessions"] == [session[:8]]
    index = (world.memory(sessions[0]) / "INDEX.md").read_text(encoding="utf-8")
    assert [index.count(session[:8]) for session in sessions] == [1, 1]


class TestClear:
    def test_in_print_mode_it_ends_one_record_and_begins_another(self, world: World) -> None:
        project = world.project("clear-print")
        first = world.run(project, "Say something before it is cleared", say("Something."))
        cleared = world.run(project, "/clear", resume=first.session)
        assert (cleared.code, cleared.errors) == (0, "")
        (second,) = world.sessions_of(world.memory(first.session)) - {first.session}
        old, new = world.meta(first.session), world.meta(second)
        assert (old["status"], old["reason"]) == ("COMPLETED", "clear")
        assert (new["status"], new["reason"]) == ("COMPLETED", "other")
        assert old["pid"] == new["pid"] == cleared.pid
        assert world.episode(first.session)["what_was_done"] == "Something."
        assert world.episodes(second) == [], "a session in which nothing happened leaves no episode"

    @needs_terminal
    def test_in_a_terminal_both_parts_have_their_own_episode(self, world: World) -> None:
        project = world.project("clear-terminal")
        first, terminal = world.terminal(project)
        world.api.play("Tell about the first part", say("The first part is told."))
        world.api.play("Tell about the second part", say("The second part is told."))
        terminal.submit("Tell about the first part")
        terminal.see("The first part is told.")
        wait_until(lambda: world.status(first) == "COMPLETED", "the first part is recorded")
        terminal.submit("/clear")
        wait_until(lambda: len(world.sessions_of(world.memory(first))) == 2, "a second record begins")
        terminal.submit("Tell about the second part")
        terminal.see("The second part is told.")
        terminal.submit("/exit")
        assert terminal.wait() == 0
        (second,) = world.sessions_of(world.memory(first)) - {first}
        for session, part, reason in ((first, "first", "clear"), (second, "second", "prompt_input_exit")):
            episode, meta = world.episode(session), world.meta(session)
            assert (meta["status"], meta["reason"], meta["channel"]) == ("COMPLETED", reason, "cli")
            assert meta["pid"] == terminal.process.pid
            assert episode["what_was_done"] == "The %s part is told." % part
            assert told(episode["asked"]).count("Tell about") == 1
            assert "Tell about the %s part" % part in told(episode["asked"])


@pytest.fixture(scope="module")
def resumed_project(world: World) -> Path:
    return world.project("resumed")


@pytest.fixture(scope="module")
def resumed(world: World, resumed_project: Path) -> str:
    project = resumed_project
    begin = world.run(project, "Begin the work", write(project / "one.txt"), say("The work has begun."))
    assert world.meta(begin.session)["status"] == "COMPLETED"
    seen: list[str] = []
    again = world.run(
        project,
        "Continue the work",
        after(lambda: seen.append(world.status(begin.session)), write(project / "two.txt")),
        say("The work is finished."),
        resume=begin.session,
    )
    assert again.code == 0
    assert seen == ["ACTIVE"]
    assert world.meta(begin.session)["pid"] == again.pid
    return begin.session


class TestResume:
    def test_resumed_work_is_one_record_one_episode_one_thread(self, world: World, resumed: str) -> None:
        episode = world.episode(resumed)
        assert world.meta(resumed)["status"] == "COMPLETED"
        assert "Begin the work" in told(episode["asked"])
        assert "Continue the work" in told(episode["asked"])
        assert "The work is finished." in episode["what_was_done"]
        assert sorted(episode["files_changed"]) == ["one.txt", "two.txt"]
        (thread,) = world.threads(resumed)
        assert thread["sessions"] == [resumed[:8]]

    def test_a_fork_is_a_record_of_its_own_in_the_same_thread(
        self, world: World, resumed_project: Path, resumed: str
    ) -> None:
        before = world.episode(resumed), world.meta(resumed)
        fork = world.run(
            resumed_project,
            "Try it another way",
            write(resumed_project / "three.txt"),
            say("Tried."),
            resume=resumed,
            fork=True,
        ).session
        assert fork != resumed
        meta, episode = world.meta(fork), world.episode(fork)
        assert (meta["status"], meta["parent"], episode["parent"]) == ("COMPLETED", resumed[:8], resumed[:8])
        assert episode["thread"] == before[0]["thread"]
        assert episode["files_changed"] == ["three.txt"]
        assert episode["what_was_done"] == "Tried."
        assert "Try it another way" in told(episode["asked"])
        assert "the work" not in told(episode["asked"])
        assert (world.episode(resumed), world.meta(resumed)) == before
        assert world.threads(fork) == world.threads(resumed)


def kill_in_mid_turn(world: World, project: Path, prompt: str) -> tuple[str, int]:
    """A session that writes draft.txt and is killed while it waits for the model; its id and its process."""
    session, process = world.start(project, prompt, write(project / "draft.txt"), hang())
    world.api.wait_for(prompt, 2)
    wait_until(lambda: '"tool_result"' in world.transcript(session), "the tool's result is on the disk")
    assert world.meta(session)["status"] == "ACTIVE"
    process.kill()
    process.communicate()
    assert world.episodes(session) == []
    return session, process.pid


def test_a_killed_session_is_recovered_and_may_come_back(world: World) -> None:
    project = world.project("killed")
    killed, pid = kill_in_mid_turn(world, project, "Write the first draft")

    other = world.run(project, "Somebody else comes by", say("Hello.")).session
    meta, episode = world.meta(killed), world.episode(killed)
    assert meta["status"] == "ABANDONED"
    assert str(pid) in meta["reason"], "the evidence names the process that is gone"
    assert episode["files_changed"] == ["draft.txt"]
    assert "Write the first draft" in told(episode["asked"])
    assert "Somebody else" not in told(episode)
    assert not list((world.memory(killed) / "STATE" / "live").glob("*.json"))
    assert world.meta(other)["status"] == "COMPLETED"
    assert "draft" not in told(world.episode(other))

    seen: list[str] = []
    look = after(lambda: seen.append(world.status(killed)), say("The draft is finished."))
    world.run(project, "Finish the draft", look, resume=killed)
    meta, episode = world.meta(killed), world.episode(killed)
    assert seen == ["ACTIVE"]
    assert (meta["status"], meta["reason"]) == ("COMPLETED", "other")
    assert episode["what_was_done"] == "The draft is finished."
    assert episode["files_changed"] == ["draft.txt"]
    assert world.sessions_of(world.memory(killed)) == {killed, other}


def test_a_killed_session_is_resumed_at_once(world: World) -> None:
    project = world.project("killed-resumed")
    killed, _ = kill_in_mid_turn(world, project, "Write another draft")
    world.run(project, "Go on with the other draft", say("The other draft is finished."), resume=killed)
    episode = world.episode(killed)
    assert world.meta(killed)["status"] == "COMPLETED"
    assert episode["files_changed"] == ["draft.txt"]
    assert episode["asked"] == ["Write another draft", "Go on with the other draft"]
    assert "No response requested." in world.transcript(killed), "the client closes the turn that was cut off"
    assert episode["what_was_done"] == "The other draft is finished."


@needs_terminal
def test_a_window_closed_ends_in_the_record(world: World) -> None:
    project = world.project("terminal")
    session, terminal = world.terminal(project)
    prompt = "Good morning from the terminal"
    world.api.play(prompt, say("Good morning to you."))
    terminal.submit(prompt)
    terminal.see("Good morning to you.")
    wait_until(lambda: world.status(session) == "COMPLETED", "the turn is recorded")
    terminal.hang_up()
    terminal.wait()
    meta, episode = world.meta(session), world.episode(session)
    assert (meta["status"], meta["reason"], meta["channel"]) == ("COMPLETED", "other", "cli")
    assert meta["pid"] == terminal.process.pid
    assert prompt in told(episode["asked"])
    assert episode["what_was_done"] == "Good morning to you."
    assert not list((world.memory(session) / "STATE" / "live").glob("*.json"))


def test_work_cut_short_by_an_error_stays_open(world: World) -> None:
    project = world.project("cut-short")
    session = world.run(project, "Do what cannot be finished", write(project / "part.txt"), refuse(500)).session
    episode = world.episode(session)
    assert (episode["outcome"], episode["files_changed"]) == ("failed", ["part.txt"])
    assert "Do what cannot be finished" in told(episode["what_remains"])
    (thread,) = world.threads(session)
    assert thread["status"] == "open"


def test_a_refused_request_leaves_a_record_without_an_episode(world: World) -> None:
    project = world.project("refused")
    ended = world.run(project, "Nobody will answer this", refuse(400))
    assert ended.code == 1
    assert world.meta(ended.session)["status"] == "COMPLETED"
    assert world.episodes(ended.session) == []


def test_the_model_may_leave_a_checkpoint(world: World) -> None:
    project = world.project("checkpointed")
    command = "%s checkpoint --done 'Laid the foundation' --remains 'Build the walls'" % world.command_line()
    ended = world.run(project, "Leave a checkpoint", bash(command), say("Left one."), tools=())
    (result,) = world.api.requests("Leave a checkpoint")[-1].tool_results()
    assert not result.get("is_error"), result
    episode = world.episode(ended.session)
    assert episode["source"] == "checkpoint"
    assert "Laid the foundation" in episode["what_was_done"]
    assert "Build the walls" in told(episode["what_remains"])
    assert len(list((world.record(ended.session) / "artifacts").iterdir())) == 1
    (thread,) = world.threads(ended.session)
    assert thread["status"] == "open"


def test_a_checkpoint_file_is_archived_once(world: World) -> None:
    project = world.project("checkpoint-file")
    left = project / ".claude" / "completion-checkpoint.json"
    left.parent.mkdir()
    said = {"reflection": {"what_was_done": "Dug the hole", "what_remains": "Fill it again"}}
    leave = after(lambda: left.write_text(json.dumps(said), encoding="utf-8"), say("Dug."))
    session = world.run(project, "Dig a hole", leave).session
    world.run(project, "Look at the hole", say("It is deep."), resume=session)
    episode = world.episode(session)
    assert (episode["source"], episode["what_was_done"]) == ("checkpoint", "Dug the hole")
    assert episode["what_remains"] == ["Fill it again"]
    assert list(left.parent.iterdir()) == []
    assert len(list((world.record(session) / "artifacts").iterdir())) == 1


def test_a_project_without_git(world: World) -> None:
    project = world.project("plain", git=False)
    session = world.run(project, "Work without git", write(project / "notes.txt"), say("Noted.")).session
    meta, episode = world.meta(session), world.episode(session)
    assert (meta["status"], meta["project"]) == ("COMPLETED", "plain")
    assert not meta["branch"]
    assert episode["files_changed"] == ["notes.txt"]


def test_a_session_in_a_subdirectory_belongs_to_the_project(world: World, workshop: Path, working: str) -> None:
    place = workshop / "deep" / "er"
    place.mkdir(parents=True)
    below = world.run(place, "Work further down", write(place / "low.txt"), say("Done below.")).session
    assert world.memory(below) == world.memory(working)
    assert world.episode(below)["files_changed"] == ["deep/er/low.txt"]


def test_switched_off_it_leaves_no_trace(world: World) -> None:
    project = world.project("switched-off")
    before = {path: path.read_bytes() for path in files_below(world.store)}
    ended = world.run(project, "Work unseen", write(project / "x.txt"), say("Done."), env={"HARNESS_MEMORY": "off"})
    assert (ended.code, ended.output) == (0, "Done.\n")
    assert {path: path.read_bytes() for path in files_below(world.store)} == before
    assert sorted(path.name for path in project.iterdir()) == [".git", "README.md", "x.txt"]


@needs_terminal
def test_an_interrupted_turn_is_recorded_as_unfinished(world: World) -> None:
    project = world.project("interrupted")
    session, terminal = world.terminal(project)
    world.api.play("Start what will be interrupted", write(project / "half.txt"), hang())
    terminal.submit("Start what will be interrupted")
    world.api.wait_for("Start what will be interrupted", 2)
    terminal.press("\x1b")
    terminal.see("Interrupted")
    terminal.submit("/exit")
    assert terminal.wait() == 0
    meta, episode = world.meta(session), world.episode(session)
    assert (meta["status"], meta["reason"]) == ("COMPLETED", "prompt_input_exit")
    assert episode["outcome"] == "interrupted"
    assert episode["files_changed"] == ["half.txt"]
    assert "Start what will be interrupted" in told(episode["what_remains"])


def test_no_hook_has_failed(world: World, working: str) -> None:
    assert world.failures() == []
    memory = world.memory(working)  # of sessions whose client waited for every hook; a terminal that is left may not
    assert not [path for path in files_below(memory) if path.name.endswith(".tmp")]
    assert not list(memory.glob("STATE/dirty/*"))


@pytest.mark.parametrize("verb", ["verify", "rebuild", "doctor"])
def test_the_command_line_finds_nothing_to_mend(world: World, workshop: Path, working: str, verb: str) -> None:
    def facts_and_views() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in files_below(world.store) if "recall" not in path.parts}

    before = facts_and_views()
    result = world.python("harness", "memory", verb, cwd=workshop)
    assert result.returncode == 0, result.stdout
    assert facts_and_views() == before
