"""The plugin's launcher: it finds an interpreter, and where there is none the guard asks and a start says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import support

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
EVENTS = ["session_start", "pre_tool_use", "stop"]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """The launcher in a folder with a difficult name, with hooks that say which interpreter runs them."""
    folder = tmp_path / "my $plugin's" / "hooks"
    folder.mkdir(parents=True)
    # Without the system's own interpreter, so that the PATH decides.
    text = (support.HOOKS / "launch.sh").read_text("utf-8").replace("/usr/bin/python3", "/nowhere/python3")
    (folder / "launch.sh").write_text(text, "utf-8")
    for event in EVENTS:
        (folder / (event + ".py")).write_text("import sys; print(sys.flags.isolated, sys.stdin.read())")
    return folder


def interpreter(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + text)
    (folder / name).chmod(0o755)


def launch(plugin: Path, event: str, path: Path, home: Path) -> str:
    command, env = [shutil.which("sh") or "", str(plugin / "launch.sh"), event], {"HOME": str(home), "PATH": str(path)}
    done = subprocess.run(command, input=b"payload", env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


@pytest.mark.parametrize("stub", ["exit 49", "echo Python was not found >&2; exit 1", "exit 3"])
def test_a_stub_or_an_old_python_is_passed_over(plugin: Path, tmp_path: Path, stub: str) -> None:
    interpreter(tmp_path / "bin", "python3", stub)
    interpreter(tmp_path / "bin", "py", 'exec %s "$@"' % sys.executable)
    assert launch(plugin, "stop", tmp_path / "bin", tmp_path) == "1 payload\n"


def test_without_python_the_guard_asks_the_start_says_so_and_the_rest_is_silent(plugin: Path, tmp_path: Path) -> None:
    start, guard, stop = [launch(plugin, event, tmp_path / "bin", tmp_path) for event in EVENTS]
    assert ("found no Python 3.8" in json.loads(start)["systemMessage"], stop) == (True, "")
    assert json.loads(guard)["hookSpecificOutput"]["permissionDecision"] == "ask"


def test_installed_twice_the_plugin_stands_back_but_not_its_guard_for_a_project(plugin: Path, tmp_path: Path) -> None:
    interpreter(tmp_path / "bin", "python3", 'exec %s "$@"' % sys.executable)
    (tmp_path / "bin" / "grep").symlink_to(shutil.which("grep") or "")
    ours = '{"command": "s=\'/x/hooks/%s.py\'; exit 0 # harness-memory"}'
    for place, events in ((".claude/settings.json", ["stop"]), ("repo/.claude/settings.json", EVENTS)):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("\n".join(ours % event for event in events))
    command = [shutil.which("sh") or "", str(plugin / "launch.sh")]
    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(tmp_path / "repo")}

    def is_run(event: str) -> bool:
        return bool(subprocess.run([*command, event], input=b"x", env=env, capture_output=True).stdout)

    assert [is_run(event) for event in EVENTS] == [True, True, True]
    (tmp_path / ".claude" / "memory").mkdir()
    for settings, are_run in (
        ("", [True, True, False]),
        (tmp_path / "repo/.claude/settings.json", [False, True, False]),
    ):
        (tmp_path / ".claude" / "memory" / "installs.json").write_text('{"settings": "%s"}' % settings)
        assert [is_run(event) for event in EVENTS] == are_run
