"""Locks that do not work: held by a process that is stopped, not to be had at all, or something else in their place."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
import support
from circumstances import NO_LOCKS, Circumstanced, Stopped, abreast
from circumstances import run_hook as run_under
from commandline import World
from life import Life, failures

from harness_memory.base import settings
from harness_memory.base.lock import Lock
from harness_memory.project import identity

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX locks and signals")
WAITS_SECONDS = 5.5  # the longest that anybody waits for a lock, and a little


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    world = World(home, repo)
    world.memory("briefing", "set", stdin=b"# Shop\n")
    world.memory("note", "add", "cart", "Totals are rounded once", "--trigger", "command: make cart")
    world.memory("rate", "melt", "4")
    world.memory("task", "start", "User login", "--next", "Schema")
    return world


def locks(world: World, session: support.Session) -> list[Path]:
    """Every lock that there is in a project."""
    there = world.project
    return [
        there / "STATE" / "live" / (session.id + ".lock"),
        there / "STATE" / settings.VIEWS_LOCK,
        there / "STATE" / settings.ARCHIVE_LOCK,
        there / "STATE" / "recall" / settings.RECALL_LOCK,
        there / "STATE" / (settings.FORGOTTEN_FILE + settings.LOCK_SUFFIX),
        there / "SECURITY" / settings.AUDIT_LOCK,
        there / "LEARNING" / "SIGNALS" / "ratings.jsonl.lock",
        there / "LEARNING" / settings.NOTES_LOCK,
        there / (settings.PROJECT_FILE + settings.LOCK_SUFFIX),
        there / (settings.BRIEFING_FILE + settings.LOCK_SUFFIX),
        there / "profiles" / "melt.md.lock",
    ]


def test_all_locks_of_the_code_are_known(world: World, life: Life) -> None:
    """The list above is what the others hold and spoil: a lock that is not in it would be left out."""
    life.start()
    life.turn("one", "The first is done.", "one.py")
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    world.memory("forget", "--text", "nothing of the kind", "--yes")
    world.memory("archive", "--before", "2020-01-01")
    found = {path.relative_to(world.root) for path in world.root.rglob("*.lock") if "user" not in path.parts}
    assert found <= {path.relative_to(world.root) for path in locks(world, life.session)}


COMMANDS = (
    ("remember", "Totals are in cents", "--topic", "cart"),
    ("note", "remove", "cart"),
    ("task", "done", "user-login"),
    ("rate", "melt", "1"),
    ("profile", "set", "melt"),
    ("forget", "--text", "Totals are rounded", "--yes"),
    ("checkpoint", "--done", "Nothing"),
    ("archive", "--before", "2020-01-01"),
    ("prune",),
)


def test_a_stopped_holder_stops_nobody(world: World, life: Life) -> None:
    life.start()
    life.turn("one", "The first is done.", "one.py")
    life.prompt("two")
    life.transcript.write(life.cwd / "two.py").text("The second is done.").turn_end("two")
    other, session = Life(life.home, life.cwd, pid=life.pid), life.session
    env = {**session.environment(pid=life.pid)}

    def hook(script: str, payload: dict[str, object]) -> Callable[[], support.Result]:
        return lambda: support.run_hook(script, payload, home=life.home, env=env, fresh=True)

    def command(words: tuple[str, ...]) -> Callable[[], support.Result]:
        told = {"CLAUDE_CODE_SESSION_ID": session.id}
        return lambda: world.run("memory", *words, stdin=b"# melt\n", env=told)

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
    before = world.files()
    with Stopped(*locks(world, session), *locks(world, other.session)[:1]):
        results = abreast([*hooks, *map(command, COMMANDS)])
    for result in results[: len(hooks)]:
        assert (result.code, result.stderr) == (0, ""), result
        assert result.seconds < settings.HOOK_TIMEOUT_SECONDS
    assert '"deny"' in results[2].stdout
    for words, result in zip(COMMANDS, results[len(hooks) :]):
        assert result.code == 2, (words, result)
        assert result.seconds < 2 * WAITS_SECONDS
        assert len(result.stderr) > 30, (words, result)
    after = world.files()
    changed = {name for name in before if after.get(name) != before[name] and not name.startswith("health")}
    assert {Path(name).name for name in changed} <= {session.id + ".lock"}
    # It goes on, and so does everybody else.
    life.turn("three", "The third is done.", "three.py")
    assert life.episode["files_changed"] == ["one.py", "two.py", "three.py"]
    assert life.episode["asked"] == ["one", "two", "three"]
    for words in COMMANDS[:5]:
        assert world.memory(*words, stdin=b"# melt\n").code == 0, words
    life.end()
    assert world.memory("verify").code == 0


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO, errno.ENOSYS])
def test_file_systems_without_locks(home: Path, repo: Path, client: support.Client, number: int) -> None:
    life = Circumstanced(home, repo, pid=client.pid)
    life.given = NO_LOCKS % number
    life.start()
    life.turn("one", "The first is done.", "one.py")
    denied = life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    assert '"deny"' in denied.stdout
    life.compact()
    life.turn("two", "The second is done.", "two.py")
    life.end()
    assert life.episode["asked"] == ["one", "two"]
    assert len(list(life.store.glob("*/SECURITY/*/*/audit.jsonl"))) == 1
    assert failures(life.store) == []  # a lock that waits for ever would have left one
    assert World(home, repo).memory("verify").code == 0


def test_many_at_once_without_locks(home: Path, repo: Path, client: support.Client) -> None:
    """Each writes its own facts: what is shared may lag, and a rebuild has it all."""
    lives = [Life(home, repo, pid=client.pid) for _ in range(6)]
    for number, life in enumerate(lives):
        life.transcript.turn("ask %d" % number, "Number %d is done." % number, files=["n%d.py" % number])

    def stop(life: Life, number: int) -> Callable[[], support.Result]:
        env, payload = life.session.environment(pid=life.pid), life.session.stop("Number %d is done." % number)
        servers = support.FORK_SERVERS

        def run() -> support.Result:
            servers.clear()  # it is the parent's
            return run_under("stop", payload, NO_LOCKS % errno.ENOLCK, home=home, env=env)

        return run

    results = abreast([stop(life, number) for number, life in enumerate(lives)])
    assert [(result.code, result.stderr) for result in results] == [(0, "")] * 6
    assert all(life.episode["asked"] == ["ask %d" % number] for number, life in enumerate(lives))
    world = World(home, repo)
    assert world.memory("rebuild").code == 0
    assert world.memory("verify").code == 0
    assert len(world.json("list")) == 6


# Something else in their place -----------------------------------------------------------------------


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def a_pipe(path: Path) -> None:
    os.mkfifo(str(path))


def read_only(path: Path) -> None:
    path.touch()
    path.chmod(0o400)


def anothers(path: Path) -> None:
    path.touch()
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(str(path), 12345, 12345)
    path.chmod(0o600)


def stale(path: Path) -> None:
    path.touch(mode=0o600)
    os.utime(str(path), (1e9, 1e9))


@pytest.mark.parametrize("spoil", [a_directory, a_link, a_pipe, read_only, anothers, stale])
def test_something_else_where_the_locks_should_be(world: World, life: Life, spoil: Callable[[Path], None]) -> None:
    for path in locks(world, life.session):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_file():
            path.unlink()
        spoil(path)
    began = time.monotonic()
    life.start()
    life.turn("one", "The first is done.", "one.py")
    denied = life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    assert '"deny"' in denied.stdout
    life.compact()
    assert life.episode["asked"] == ["one"]
    for words in COMMANDS[:5]:
        assert world.memory(*words, stdin=b"# melt\n").code == 0, words
    life.end()
    assert time.monotonic() - began < 10
    assert failures(life.store) == []
    is_named = spoil in (a_directory, a_link, a_pipe)
    found = [each for each in world.json("verify", code=int(is_named))["findings"] if "views.lock" in each["file"]]
    assert len(found) == is_named


def test_a_read_only_lock_binds_nobody_but_is_no_error(tmp_path: Path) -> None:
    """As another user, whom modes bind."""
    code = (
        "import sys; sys.path.insert(0, %r)\n"
        "from harness_memory.base.lock import Lock\n"
        "with Lock(%r, 0) as held: print(held)\n"
    ) % (str(support.LIB), str(tmp_path / "x.lock"))
    read_only(tmp_path / "x.lock")
    assert subprocess.check_output([*support.bound_by_modes(), sys.executable, "-c", code]).strip() == b"True"


def test_a_lock_whose_folder_goes_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "x.lock"
    with Lock(str(path), 1) as held:
        assert held
        path.unlink()
        path.parent.rmdir()
        with Lock(str(path), 1) as again:
            assert again


def test_the_place_of_a_project_is_found_without_its_lock(world: World) -> None:
    with support.hold_lock(world.project / "project.json.lock"):
        began = time.monotonic()
        ours = identity.locate(str(world.root), str(world.repo), str(world.repo))
        assert ours.dir == str(world.project)
        assert time.monotonic() - began < 0.5


REPLACING = """
import fcntl, os, sys
sys.path.insert(0, sys.argv[1])
from harness_memory.base.lock import Lock

path = sys.argv[2]
others = []

def replace_it(event, arguments):
    if event == "fcntl.flock" and not others:
        others.append(None)
        os.unlink(path)
        others.append(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        fcntl.flock(others[1], fcntl.LOCK_EX)

sys.addaudithook(replace_it)
with Lock(path, 0.05) as held:
    print(held, len(others))
os.close(others[1])
with Lock(path, 0.05) as held:
    print(held)
"""


def test_a_lock_on_a_file_that_was_replaced_meanwhile_is_none(tmp_path: Path) -> None:
    """Between opening and locking it, its holder discarded it and another process made a new one."""
    command = [sys.executable, "-c", REPLACING, str(support.LIB), str(tmp_path / "x.lock")]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split() == [b"False", b"2", b"True"]
