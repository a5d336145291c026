"""Real sessions of the real client, and what they leave in the store."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest
from fake_api import after, bash, call, hang, say, write
from terminal import wait_until
from world import REPOSITORY, World, files_below

SECRET = "ghp_" + "a1B2c3D4e" * 4


def test_working_session_leaves_a_complete_private_record(world: World) -> None:
    project = world.project("working")
    greeting = project / "src" / "greet.py"
    prompt = "Add a greeting to the project, my token is " + SECRET
    answer = "Added a greeting in src/greet.py. I did not need " + SECRET
    ended = world.run(
        project,
        prompt,
        write(greeting, "GREETING = 'hi'\n"),
        call("Edit", file_path=str(greeting), old_string="hi", new_string="hello"),
        bash("TOKEN=%s cat nowhere/greet.py" % SECRET),
        bash("TOKEN=%s cat src/greet.py" % SECRET),
        call("TaskCreate", subject="Translate the greeting", description="Into French"),
        say(answer),
    )
    assert (ended.code, ended.output, ended.errors) == (0, answer + "\n", "")
    meta, episode, memory = world.meta(ended.session), world.episode(ended.session), world.memory(ended.session)
    assert (meta["status"], meta["branch"], meta["project"]) == ("COMPLETED", "trunk", "working")
    assert meta["pid"] == ended.pid
    assert "Add a greeting to the project" in episode["asked"][0]
    assert "Added a greeting in src/greet.py." in episode["what_was_done"]
    assert episode["files_changed"] == ["src/greet.py"]
    assert "cat src/greet.py" in json.dumps(episode["commands_failed_then_fixed"])
    assert "Translate the greeting" in json.dumps(episode["what_remains"])
    assert ended.session[:8] in (memory / "INDEX.md").read_text(encoding="utf-8")
    assert "Translate the greeting" in (memory / "STATE" / "current-work.json").read_text(encoding="utf-8")
    for words in ("hook success", "hook additional context", "hook error"):
        assert not [request for request in world.api.requests(prompt) if words in request.messages()]
    assert SECRET in world.transcript(ended.session)
    assert not [path for path in files_below(world.store) if SECRET.encode() in path.read_bytes()]
    for path in [world.store, *world.store.rglob("*")]:
        assert oct(path.stat().st_mode & 0o777) == ("0o700" if path.is_dir() else "0o600"), path
    below = project / "deep" / "er"
    below.mkdir(parents=True)
    other = world.run(below, "Work further down", write(below / "low.txt"), say("Done below.")).session
    assert world.memory(other) == memory
    assert world.episode(other)["files_changed"] == ["deep/er/low.txt"]
    for verb in ("verify", "rebuild", "doctor"):
        result = world.python("harness", "memory", verb, cwd=project)
        assert result.returncode == 0, result.stdout


def test_two_sessions_at_once_do_not_mix(world: World) -> None:
    project = world.project("pair")
    both = threading.Barrier(2)
    seen: list[list[str]] = []

    def meet() -> None:
        both.wait(120)
        seen.append([world.status(session) for session in sessions])
        both.wait(120)

    started = []
    for name in ("Ann", "Bob"):
        finish = after(meet, say("Wrote it for %s." % name))
        started.append(world.start(project, "%s asks for a file" % name, write(project / (name + ".txt")), finish))
    sessions = [session for session, _ in started]
    for _, process in started:
        assert process.communicate()[1] == ""
    assert seen == [["ACTIVE", "ACTIVE"]] * 2
    for session, name in zip(sessions, ("Ann", "Bob")):
        episode = world.episode(session)
        assert episode["asked"] == ["%s asks for a file" % name]
        assert episode["files_changed"] == [name + ".txt"]


def test_resumed_session_is_one_record_and_a_fork_another(world: World) -> None:
    project = world.project("resumed")
    begun = world.run(project, "Begin the work", write(project / "one.txt"), say("The work has begun.")).session
    seen: list[str] = []
    look = after(lambda: seen.append(world.status(begun)), write(project / "two.txt"))
    world.run(project, "Continue the work", look, say("The work is finished."), resume=begun)
    episode = world.episode(begun)
    assert seen == ["ACTIVE"]
    assert episode["asked"] == ["Begin the work", "Continue the work"]
    assert sorted(episode["files_changed"]) == ["one.txt", "two.txt"]
    answers = write(project / "three.txt"), say("Tried.")
    fork = world.run(project, "Try it another way", *answers, resume=begun, fork=True).session
    other = world.episode(fork)
    assert (other["parent"], other["thread"]) == (begun[:8], episode["thread"])
    assert (other["asked"], other["files_changed"]) == (["Try it another way"], ["three.txt"])
    assert world.episode(begun) == episode


def test_killed_session_is_recovered_and_may_come_back(world: World) -> None:
    project = world.project("killed")
    killed, process = world.start(project, "Write the first draft", write(project / "draft.txt"), hang())
    world.api.wait_for("Write the first draft", 2)
    wait_until(lambda: '"tool_result"' in world.transcript(killed), "the tool's result is on the disk")
    process.kill()
    process.communicate()
    assert world.episodes(killed) == []
    other = world.run(project, "Look in", say("Hello.")).session
    meta, episode = world.meta(killed), world.episode(killed)
    assert meta["status"] == "ABANDONED"
    assert str(process.pid) in meta["reason"]
    assert (episode["asked"], episode["files_changed"]) == (["Write the first draft"], ["draft.txt"])
    assert "draft" not in json.dumps(world.episodes(other))
    world.run(project, "Finish the draft", say("The draft is finished."), resume=killed)
    assert world.status(killed) == "COMPLETED"
    assert world.episode(killed)["what_was_done"] == "The draft is finished."


def test_model_leaves_a_checkpoint_without_being_asked_for_permission(world: World) -> None:
    project = world.project("checkpointed")
    command = "%s checkpoint --done 'Laid the foundation' --remains 'Build the walls'" % world.command_line()
    session = world.run(project, "Leave a checkpoint", bash(command), say("Left one."), tools=()).session
    (result,) = world.api.requests("Leave a checkpoint")[-1].tool_results()
    assert not result.get("is_error"), result
    episode = world.episode(session)
    assert (episode["source"], episode["what_was_done"]) == ("checkpoint", "Laid the foundation")
    assert episode["what_remains"] == ["Build the walls"]


def own(world: World, session: str) -> set[str]:
    """The sessions in the memory of a session."""
    memory = world.memory(session)
    return {id for id, (folder, _) in world.metas().items() if memory in folder.parents}


def test_terminal_session_survives_clear_interruption_and_a_closed_window(world: World) -> None:
    project = world.project("terminal")
    first, terminal = world.terminal(project)
    world.api.play("Describe the first part", say("The first part is described."))
    terminal.submit("Describe the first part")
    terminal.see("The first part is described.")
    wait_until(lambda: world.status(first) == "COMPLETED", "the first part is recorded")
    terminal.submit("/clear")
    wait_until(lambda: len(own(world, first)) == 2, "a second record begins")
    world.api.play("Start what will be interrupted", write(project / "half.txt"), hang())
    terminal.submit("Start what will be interrupted")
    world.api.wait_for("Start what will be interrupted", 2)
    terminal.press("\x1b")
    terminal.see("Interrupted")
    terminal.hang_up()
    terminal.wait()
    (second,) = own(world, first) - {first}
    wait_until(lambda: world.status(second) == "ABANDONED", "the end is recorded")
    one, two = world.episode(first), world.episode(second)
    assert (world.meta(first)["reason"], world.meta(first)["channel"]) == ("clear", "cli")
    assert (one["asked"], one["what_was_done"]) == (["Describe the first part"], "The first part is described.")
    assert (two["outcome"], two["files_changed"]) == ("interrupted", ["half.txt"])
    assert "Start what will be interrupted" in json.dumps(two["what_remains"])


def test_switched_off_it_leaves_no_trace_and_backfill_finds_the_session(world: World) -> None:
    project = world.project("switched-off")
    before = {path: path.read_bytes() for path in files_below(world.store)}
    answers = write(project / "x.txt"), say("Totals are rounded once, at the very end.")
    session = world.run(project, "Work unseen", *answers, options=["--settings", '{"disableAllHooks": true}']).session
    assert {path: path.read_bytes() for path in files_below(world.store)} == before
    (transcript,) = (world.home / ".claude" / "projects").glob("*/%s.jsonl" % session)
    os.utime(str(transcript), (1, time.time() - 3600))  # else it would pass for a running session
    report = json.loads(world.python("harness", "memory", "backfill", "--json", cwd=project).stdout)
    assert report["made"] == 1, report
    assert world.episode(session)["files_changed"] == ["x.txt"]


def test_uninstalled_it_records_nothing_and_leaves_settings_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, binary: str
) -> None:
    world = World(tmp_path_factory.mktemp("uninstalled"), binary, is_installed=False)
    try:
        settings = world.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{\n  "cleanupPeriodDays": 30   \n}\n', encoding="utf-8")
        before = settings.read_bytes()
        assert world.python("install.py").returncode == 0
        assert world.python("install.py", "--uninstall").returncode == 0
        assert settings.read_bytes() == before
        project = world.project("plain")
        world.run(project, "Work without memory", say("Done."))
        assert world.metas() == {}
        # The same checkout as a plugin needs no installation.
        ended = world.run(project, "Work with a plugin", say("Done."), options=("--plugin-dir", str(REPOSITORY)))
        assert world.status(ended.session) == "COMPLETED"
        assert world.failures() == []
    finally:
        world.close()


def test_no_hook_has_failed(world: World) -> None:
    assert world.failures() == []
