"""What SessionStart clears away, and what it must not touch."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import support
from commandline import World
from life import Life


def aged(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", "utf-8")
    os.utime(path, (time.time() - seconds, time.time() - seconds))
    return path


def an_hour_passes(life: Life) -> None:
    aged(life.store / "health" / "last-run" / "SessionStart", 3700)


def test_stray_temporaries_go_and_fresh_ones_stay(life: Life) -> None:
    life.start()
    state = life.project / "STATE"
    places = [life.store, life.project, life.project / "episodes", state, state / "live"]
    old = [aged(place / ".x.json.1.2.tmp", 7200) for place in places]
    fresh = [aged(place / ".y.json.1.2.tmp", 60) for place in places]
    foreign = aged(life.project / "notes.tmp", 7200)
    an_hour_passes(life)
    life.start("resume")
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in fresh)
    assert foreign.exists()


def test_stale_async_tasks_go(life: Life, tmp_path: Path) -> None:
    tasks = life.cwd / ".claude" / "async-tasks"
    old = aged(tasks / "a.json", 8 * 86400)
    kept = [
        aged(tasks / "b.json", 6 * 86400),
        aged(tasks / "c.txt", 30 * 86400),
        aged(life.cwd / ".claude" / "settings.json", 30 * 86400),
    ]
    life.start()
    assert not old.exists()
    assert all(path.exists() for path in kept)


def test_async_tasks_behind_a_link_are_not_ours(life: Life, tmp_path: Path) -> None:
    victim = aged(tmp_path / "elsewhere" / "a.json", 30 * 86400)
    (life.cwd / ".claude").mkdir()
    (life.cwd / ".claude" / "async-tasks").symlink_to(victim.parent, target_is_directory=True)
    life.start()
    assert victim.exists()


SLOW = {
    *("re", "json", "datetime", "hashlib", "traceback", "typing", "pathlib", "dataclasses", "enum", "subprocess"),
    *("tempfile", "argparse", "logging", "shutil", "uuid", "random", "textwrap", "glob", "contextlib", "functools"),
    *("collections", "threading", "signal", "socket", "warnings", "tarfile"),
}
CALLS = {
    "Skill": {"skill": "melt"},
    "Bash": {"command": "git status"},
    "Bash, quoted": {"command": "git commit -m 'rm -rf /'"},
    "Write": {"file_path": "/tmp/a.py", "content": "x"},
}


@pytest.mark.parametrize("case", ["user_prompt_submit", "stop", "session_start", *CALLS])
def test_quiet_hook_loads_no_slow_module(life: Life, case: str) -> None:
    life.start()
    life.transcript.turn("one", "One done.", files=[life.cwd / "a.py"])
    life.run("pre_tool_use", life.session.tool_call("Bash", CALLS["Bash"]))  # the first call leaves a stamp
    payloads = {"user_prompt_submit": life.session.prompt("two"), "stop": life.session.stop("One done.")}
    payloads["session_start"] = life.session.start("resume")
    payloads["pre_tool_use"] = life.session.tool_call(case.partition(",")[0], CALLS.get(case, {}))
    script = case if case in payloads else "pre_tool_use"
    loaded = life.modules_loaded(script, payloads[script])
    assert "harness_memory" in loaded
    assert not loaded & SLOW
    if case in ("Bash", "Bash, quoted", "Write"):
        assert not loaded & {"os", "stat", "errno", "_collections_abc"}


def test_beyond_the_number_kept_the_session_that_was_silent_longest_goes(life: Life) -> None:
    life.start()
    life.turn("The long one", "It began first and goes on.", "long.py")
    other = Life(life.home, life.cwd)
    other.start()
    other.turn("The short one", "It began later and ended long ago.", "short.py")
    other.end()
    (silent,) = [path for path in support.episode_files(life.store) if other.session.id[:8] in path.name]
    silent = silent.rename(silent.with_name("session-2099-01-01T000000Z-%s.json" % other.session.id[:8]))
    os.utime(silent, (time.time() - 86400, time.time() - 86400))
    (life.store / "config.json").write_text('{"retention_episodes": 1}', "utf-8")
    Life(life.home, life.cwd).start()
    assert not silent.exists()
    assert life.has_episode
    world = World(life.home, life.cwd)
    assert "It began later" in world.memory("search", "began later").stdout
    assert world.memory("restore", other.session.id[:8]).code == 0
    assert silent.exists()
    assert world.memory("forget", "--text", "ended long ago", "--yes").code == 0
    assert not any(b"ended long ago" in data for data in support.snapshot(life.store).values())


TWICE = '{"retention_episodes": 200, "retention_episodes": 1}'
BROKEN = ['{"retention_episodes": 1', '{"retention_episodes": 0}', '{"retention": 1}', TWICE, None]


@pytest.mark.parametrize("content", BROKEN)
def test_nothing_is_retired_while_the_configuration_has_a_problem(life: Life, content: str | None) -> None:
    for number in range(3):
        each = Life(life.home, life.cwd)
        each.start()
        each.turn("Task %d" % number, "Did task %d, all of it and for good." % number, "a%d.py" % number)
        each.end()
    for path in support.episode_files(life.store):
        os.utime(path, (1, 1))
        path.rename(path.with_name(path.name.replace(path.name[8:12], "2025")))
    config, tasks = life.store / "config.json", life.cwd / ".claude" / "async-tasks"
    tasks.mkdir(parents=True)
    (tasks / "x.json").write_text("{}")
    os.utime(tasks / "x.json", (1, 1))
    config.write_text(content) if content else config.mkdir()
    life.start()
    assert len(support.episode_files(life.store)) == 3
    assert (tasks / "x.json").exists()
    assert not (life.store / "archive").exists()
    pruned = World(life.home, life.cwd).memory("prune", "--older-than", "1d")
    assert pruned.code == 1
    assert "Nothing was pruned" in pruned.stderr


def test_deleting_is_a_setting_of_its_own(life: Life) -> None:
    life.start()
    life.turn("One", "It is done, all of it and for good.", "a.py")
    life.end()
    (life.store / "config.json").write_text('{"retention_episodes": 1, "retention_after": "delete"}', "utf-8")
    other = Life(life.home, life.cwd)
    other.start()
    other.turn("Two", "The second is done, too, and for good.", "b.py")
    Life(life.home, life.cwd).start()
    assert len(support.episode_files(life.store)) == 1
    assert [path for path in (life.store / "archive").rglob("*") if path.is_file()] == []
