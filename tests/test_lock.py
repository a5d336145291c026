"""Locks: with a deadline, also where they are held by a stopped process, missing or something else."""

from __future__ import annotations

import errno
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base.lock import Lock

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX locks and signals")
fcntl = pytest.importorskip("fcntl")


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    world = World(home, repo)
    world.memory("briefing", "set", stdin=b"# Shop\n")
    world.memory("note", "add", "cart", "Totals are rounded once", "--trigger", "command: make cart")
    world.memory("rate", "melt", "4")
    world.memory("task", "start", "User login", "--next", "Schema")
    return world


def locks(world: World, life: Life) -> list[Path]:
    """Every lock file that a session and the commands make."""
    life.start()
    life.turn("one", "The first is done.", "one.py")
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    world.memory("profile", "set", "melt", stdin=b"# melt\n")
    world.memory("archive", "--before", "2020-01-01")
    live = world.project / "STATE" / "live" / (life.session.id + ".lock")
    return sorted({live, world.project / "STATE" / "views.lock", *world.root.rglob("*.lock")})


COMMANDS = support.command_lines("verbs/that_lock.txt")


def test_a_stopped_holder_stops_no_hook_and_no_command(world: World, life: Life) -> None:
    paths = locks(world, life)
    life.prompt("two")
    life.transcript.write(life.cwd / "two.py").text("The second is done.").turn_end("two")
    other, session = life.another(), life.session
    env = {**session.environment(pid=life.pid)}

    def hook(script: str, payload: dict[str, object]) -> Callable[[], support.Result]:
        return lambda: support.run_hook(script, payload, home=life.home, env=env)

    def command(words: list[str]) -> Callable[[], support.Result]:
        own = {"CLAUDE_CODE_SESSION_ID": session.id}
        return lambda: world.run("memory", *words, stdin=b"# melt\n", env=own, before=[])

    hooks = [
        hook("session_start", other.session.start()),
        hook("user_prompt_submit", session.prompt("three")),
        hook("pre_tool_use", session.tool_call("Bash", {"command": "rm -rf ~"})),
        hook("pre_tool_use", session.tool_call("Bash", {"command": "make cart"})),
        hook("stop", session.stop("The second is done.")),
        hook("pre_compact", session.pre_compact()),
        hook("subagent_start", session._payload("SubagentStart", {"agent_id": "a", "agent_type": "x"}, {})),
        hook("session_end", session.end()),
    ]
    with support.hold_lock(*paths, world.project / "STATE" / "live" / (other.session.id + ".lock")) as holder:
        holder.send_signal(signal.SIGSTOP)
        with ThreadPoolExecutor(20) as pool:  # they wait more than they work
            results = list(pool.map(lambda work: work(), [*hooks, *map(command, COMMANDS)]))
        holder.kill()
    for result in results[: len(hooks)]:
        assert (result.code, result.stderr) == (0, ""), result
    assert '"deny"' in results[2].stdout
    for words, result in zip(COMMANDS, results[len(hooks) :]):
        assert result.code in (0, 2), (words, result)
        assert result.code == 0 or len(result.stderr) > 30, (words, result)
    life.turn("three", "The third is done.", "three.py")
    assert life.episode["files_changed"] == ["one.py", "two.py", "three.py"]
    assert life.episode["asked"] == ["one", "two", "three"]
    life.end()
    assert world.memory("verify").code == 0


# File systems that know no locks; one that is asked to wait for a lock would hang.
NO_LOCKS = """
import fcntl
def flock(fd, how):
    assert how & fcntl.LOCK_NB or how == fcntl.LOCK_UN, "would wait for ever"
    raise OSError(%d, "no locks here")
fcntl.flock = flock
"""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EINVAL])
def test_a_file_system_without_locks_loses_nothing(home: Path, repo: Path, client: support.Client, number: int) -> None:
    life = Life(home, repo, pid=client.pid)
    life.under = NO_LOCKS % number
    life.start()
    life.turn("one", "The first is done.", "one.py")
    denied = life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    assert '"deny"' in denied.stdout
    life.turn("two", "The second is done.", "two.py")
    life.end()
    assert life.episode["asked"] == ["one", "two"]
    assert failures(life.store) == []
    assert World(home, repo).memory("verify").code == 0


def test_a_lock_on_a_file_that_was_replaced_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between our open and our lock the holder discards the file, and another process makes a new one."""
    path, others, flock = tmp_path / "x.lock", [], fcntl.flock

    def replaced(fd: int, how: int) -> None:
        if not others:
            path.unlink()
            others.append(path.open("w"))
            flock(others[0], how)
        flock(fd, how)

    monkeypatch.setattr(fcntl, "flock", replaced)
    with Lock(str(path), 0.05) as held:
        assert (held, len(others)) == (False, 1)
    others[0].close()
    with Lock(str(path), 0.05) as held:
        assert held
