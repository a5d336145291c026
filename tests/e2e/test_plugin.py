"""The plugin as people install it: one command, from a marketplace that the real client fetches through git."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Iterator

import pytest
from fake_api import MAIN, bash, say
from world import REPOSITORY, World, blocks

INSTALL = ("plugin", "install", "harness-memory", "--marketplace", "someone/harness-memory")
ASK, OUTCOME = "Why are the totals off by a cent?", "Totals are rounded once, at the very end."


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, binary: str) -> Iterator[World]:
    """A home in which GitHub is a folder, with this tree as a repository in it."""
    made = World(tmp_path_factory.mktemp("plugin"), binary, is_installed=False)
    remote = made.base / "github" / "someone" / "harness-memory.git"
    listed = subprocess.check_output(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=str(REPOSITORY))
    made.git(made.base, "init", "-q", "--bare", str(remote))
    tree = ["--git-dir", str(remote), "--work-tree", str(REPOSITORY)]
    names = [name for name in listed.decode().split("\0") if name and (REPOSITORY / name).is_file()]
    subprocess.run(
        ["git", *tree, "add", "--pathspec-from-file=-", "--pathspec-file-nul"],
        input="\0".join(names), cwd=str(REPOSITORY), env=made.environment(), encoding="utf-8", check=True,
    )  # fmt: skip
    made.git(REPOSITORY, *tree, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Publish")
    for address in ("https://github.com/", "git@github.com:"):
        made.git(made.base, "config", "--global", "--add", "url.%s/.insteadOf" % remote.parents[1], address)
    try:
        yield made
    finally:
        made.close()


def client(world: World, *words: str) -> str:
    done = subprocess.run(
        [world.client, *words], cwd=str(world.base), env=world.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_manifests_are_valid(world: World) -> None:
    assert "Validation passed" in client(world, "plugin", "validate", "--strict", str(REPOSITORY))


def test_one_command_installs_what_the_next_sessions_use(world: World) -> None:
    client(world, *INSTALL)
    page = world.python("harness", "memory", "doctor").stdout
    assert re.search(r"ok +install +~/\.claude/plugins/cache/.*: plugin, version", page), page
    assert "All well." in page  # before the first session
    project = world.project("shop")
    world.run(project, ASK, say(OUTCOME))
    world.run(project, "What did we find about the totals?", bash("harness memory list"), say("It is in the list."))
    (block, *_) = blocks(world.api.requests("What did we find about the totals?", MAIN)[0])
    assert OUTCOME in block
    assert "`harness memory`" in block  # on the PATH of the Bash tool, so no path is spelt out
    (result,) = world.api.requests("What did we find about the totals?", MAIN)[-1].tool_results()
    assert not result.get("is_error")
    assert OUTCOME in json.dumps(result, ensure_ascii=False)
    assert world.failures() == []


def test_our_own_command_line_needs_no_permission_and_nothing_else_passes_with_it(world: World) -> None:
    project = world.project("bazaar")
    world.run(project, ASK, say(OUTCOME))
    others = [
        "harness memory list && touch passed",
        "harness memory list > passed",
        "harness memory show $(touch passed)",
    ]
    others += ["harness memory forget --text totals --yes", "touch passed"]
    calls = [bash(command) for command in ["harness memory search totals", 'harness memory remember "Cents"', *others]]
    world.run(project, "What do we know of the totals?", *calls, say("That."), tools=())
    results = world.api.requests("What do we know of the totals?", MAIN)[-1].tool_results()
    assert [bool(result.get("is_error")) for result in results] == [False, False, *(True for _ in others)]
    assert OUTCOME in json.dumps(results[0], ensure_ascii=False)
    assert "/bin/harness guard allow-once 'harness memory forget" in json.dumps(results)
    assert not (project / "passed").exists()


def test_a_terminal_shows_one_line(world: World) -> None:
    project = world.project("till")
    world.run(project, ASK, say(OUTCOME))
    _, terminal = world.terminal(project)
    terminal.see("Harness Memory: 1 session here")


def test_installed_twice_a_session_is_told_once_and_doctor_says_so(world: World) -> None:
    project = world.project("stall")
    world.run(project, ASK, say(OUTCOME))
    assert world.python("install.py").returncode == 0
    try:
        world.run(project, "And who fixed the totals?", say("You did."))
        (request, *_) = world.api.requests("And who fixed the totals?", MAIN)
        assert sum("Past sessions" in block for block in blocks(request)) == 1
        page = world.python("harness", "memory", "doctor", cwd=project).stdout
        assert "installed twice" in page
        assert "keep one: claude plugin uninstall" in page
    finally:
        world.python("install.py", "--uninstall")
