"""`doctor` on a real install: all well, and each problem named with its remedy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World, run_here
from life import Life

from harness_memory.setup import command, settingsfile

POSIX = pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")
INSTALL = [sys.executable, str(support.ROOT / "install.py")]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One real install; `installed` restores it before each test."""
    top = tmp_path_factory.mktemp("once")
    world = World(top / "home", support.make_repo(top / "project"))
    (world.home / ".claude").mkdir(parents=True)
    env = support.clean_environment(world.home)
    subprocess.run(INSTALL, cwd=str(world.repo), env=env, stdout=subprocess.DEVNULL, check=True)
    shutil.copytree(str(world.home), str(top / "template"))
    return world


@pytest.fixture
def installed(once: World) -> World:
    shutil.rmtree(str(once.home))
    shutil.copytree(str(once.home.parent / "template"), str(once.home))
    shutil.rmtree(str(once.repo / ".claude"), ignore_errors=True)
    return once


@pytest.fixture
def settings_file(installed: World) -> Path:
    return installed.home / ".claude" / "settings.json"


def problems(world: World, **options: Any) -> dict[str, dict[str, Any]]:
    """The problems by topic; page and exit code must agree."""
    result = world.memory("doctor", "--json", **options)
    found = {check["topic"]: check for check in result.json["checks"] if check["mark"] != "ok"}
    assert (result.code, result.json["healthy"]) == (1 if found else 0, not found)
    assert all(check["remedy"] for check in found.values())
    page = world.memory("doctor", **options)
    assert (page.code, "All well." in page.stdout) == (result.code, not found)
    return found


def hook_line(world: World) -> str:
    return next(row for row in world.memory("status").stdout.splitlines() if row.split()[1:2] == ["install"])


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_healthy_install_has_no_problems(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    assert problems(installed) == {}
    page = installed.memory("doctor").stdout
    hooks, python = "settings.json: %d hooks" % len(settingsfile.HOOKS), "Python %d.%d" % sys.version_info[:2]
    assert [text for text in (hooks, "SessionStart", python) if text not in page] == []
    assert hook_line(installed).split()[:3] == ["ok", "install", "%s:" % Path("~", ".claude", "settings.json")]


def test_without_an_install_the_remedy_is_install_py(home: Path, repo: Path) -> None:
    world = World(home, repo)
    assert "install.py" in problems(world)["install"]["remedy"]
    assert not world.root.exists()
    assert "not installed" in hook_line(world)
    world.work("Add a form", "Added.", ("a.py",))
    assert "plugin" in hook_line(world)
    assert "install" not in problems(world)


def test_after_an_uninstall_it_is_not_installed(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    env = support.clean_environment(installed.home)
    subprocess.run([*INSTALL, "--uninstall"], cwd=str(installed.repo), env=env, stdout=subprocess.DEVNULL, check=True)
    assert set(problems(installed)) == {"install"}
    assert (support.ROOT / "install.py").as_posix() in hook_line(installed)


@pytest.mark.parametrize("text", ["{}", None, "{nope", "[]", '{"hooks": 1}', "\x00"])
def test_a_file_without_our_hooks_is_a_problem(installed: World, settings_file: Path, text: str | None) -> None:
    settings_file.unlink()
    if text is not None:
        settings_file.write_text(text, encoding="utf-8")
    assert "settings.json" in problems(installed)["install"]["text"]
    assert "settings.json" in hook_line(installed)


def test_damage_to_the_entries_is_named(installed: World, settings_file: Path) -> None:
    record = json.loads((installed.root / "installs.json").read_text(encoding="utf-8"))["installs"][0]
    value = json.loads(settings_file.read_text(encoding="utf-8"))
    del value["hooks"]["Stop"]
    settings_file.write_text(json.dumps(value), encoding="utf-8")
    edit(settings_file, Path(record["interpreter"]).as_posix(), "/no/python3")
    edit(settings_file, (support.ROOT / "hooks").as_posix(), "/no/hooks")
    details = problems(installed)["install"]["details"]
    assert {"no hook for Stop", "/no/python3 is gone", "/no/hooks/pre_compact.py is gone"} <= set(details)
    assert hook_line(installed).startswith("FAIL")


def test_hooks_that_keep_another_memory_are_named(installed: World, settings_file: Path) -> None:
    edit(settings_file, installed.root.as_posix(), "/home/you/.claude/m e")
    text = "hooks keep the memory in /home/you/.claude/m e, commands read %s" % installed.root
    assert text in problems(installed)["install"]["text"]
    assert hook_line(installed).startswith("FAIL")


def test_what_switches_the_hooks_off_is_named(installed: World, settings_file: Path) -> None:
    value = json.loads(settings_file.read_text(encoding="utf-8"))
    settings_file.write_text(json.dumps({**value, "disableAllHooks": True}), encoding="utf-8")
    assert "disableAllHooks" in problems(installed)["install"]["remedy"]


def test_an_older_install_is_a_problem_and_one_elsewhere_does_not_count(installed: World, tmp_path: Path) -> None:
    record = installed.root / "installs.json"
    edit(record, '"version": "', '"version": "0.0.')
    assert "0.0." in problems(installed)["install"]["details"][0]
    other = tmp_path / "other" / ".claude" / "settings.json"
    other.parent.mkdir(parents=True)
    edit(record, json.dumps(str(installed.home / ".claude" / "settings.json")), json.dumps(str(other)))
    (installed.home / ".claude" / "settings.json").rename(other)
    assert ("not on here" in hook_line(installed), str(other) in hook_line(installed)) == (True, True)


def guard_check(world: World) -> dict[str, Any]:
    checks = world.memory("doctor", "--json").json["checks"]
    return next(dict(check) for check in checks if check["topic"] == "guard")


def test_the_guard_is_on_and_its_trail_is_checked(installed: World) -> None:
    assert (guard_check(installed)["mark"], guard_check(installed)["text"][:4]) == ("ok", "on, ")
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "session_id": "s", "cwd": str(installed.repo)}
    support.run_hook("pre_tool_use", call, home=installed.home)
    assert "last asked 0 s ago" in guard_check(installed)["text"]
    (trail,) = installed.root.glob("*/SECURITY/*/*/audit.jsonl")
    trail.write_bytes(trail.read_bytes().replace(b"rm -rf", b"ls -la"))
    assert set(problems(installed)) == {"files"}


def test_a_guard_that_was_left_out_is_no_problem(installed: World, settings_file: Path) -> None:
    edit(settings_file, '"matcher": "*"', '"matcher": "Skill"')
    assert problems(installed) == {}
    assert "left out" in guard_check(installed)["text"]


@pytest.mark.parametrize(("name", "text", "topic"), support.rows("verify/broken_files.jsonl"))
def test_a_broken_file_of_the_user_is_reported_once(installed: World, name: str, text: str, topic: str) -> None:
    path = installed.root / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    assert set(problems(installed)) == {topic}
    assert installed.memory("doctor").stdout.count(name) == 1


def test_a_store_that_cannot_be_written_is_a_problem(installed: World) -> None:
    shutil.rmtree(str(installed.root))
    installed.root.write_text("", encoding="utf-8")
    assert "cannot be written" in problems(installed)["store"]["text"]


@POSIX
def test_files_that_others_can_read_are_counted(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    (installed.project / "INDEX.md").chmod(0o644)
    (installed.project / "episodes").chmod(0o755)
    assert problems(installed)["files"]["text"].startswith("2 files ")


def test_recent_failures_are_listed_with_the_newest_first(installed: World) -> None:
    folder = installed.root / "health" / "failures"
    folder.mkdir(parents=True)
    old = {"schema": 1, "at": "2020-01-01T00:00:00Z", "event": "Stop", "error": "x", "detail": ""}
    (folder / "1-1.json").write_text(json.dumps(old), encoding="utf-8")
    folder.chmod(0o700)
    (folder / "1-1.json").chmod(0o600)
    assert "failures" not in problems(installed)
    for _ in range(3):
        support.run_hook("stop", b"no json", home=installed.home, cwd=installed.repo)
    support.run_hook("session_start", b"[]", home=installed.home, cwd=installed.repo)
    failures = problems(installed)["failures"]
    assert "4 failed runs" in failures["text"]
    assert failures["details"][0].startswith("SessionStart")
    assert str(Path("health", "failures")) in failures["remedy"]


def test_damaged_and_newer_files_are_listed(installed: World) -> None:
    session = installed.work("Add a form", "Added.", ("a.py",))
    installed.work("Add another", "Added too.", ("b.py",))
    installed.episode(session).write_text('{"schema": 99}', encoding="utf-8")
    (installed.session_dir(session) / "META.yaml").write_bytes(b"\xff")
    files = problems(installed)["files"]
    assert files["text"].startswith("2 files")
    assert "newer" in "\n".join(files["details"])
    assert (installed.memory("list").code, installed.memory("status").code) == (0, 0)


def test_a_checkpoint_that_was_not_understood_is_named(installed: World) -> None:
    life = Life(installed.home, installed.repo)
    life.start()
    life.checkpoint("{nope")
    life.turn("Add a form", "Added.", "a.py")
    found = problems(installed)
    assert "1 checkpoint" in found["leftovers"]["text"]
    assert "malformed checkpoint" in "\n".join(found["failures"]["details"])


@pytest.mark.parametrize("name", ["allowManagedHooksOnly", "disableAllHooks"])
def test_a_policy_that_forbids_hooks_is_named(
    installed: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "20-hooks.json").write_text(json.dumps({name: True}))
    monkeypatch.setattr(settingsfile, "MANAGED", (str(tmp_path / "missing.json"), str(tmp_path / "*.json")))
    found = problems(installed)
    assert "allows only managed hooks" in found["install"]["text"]
    assert "cannot run" in installed.memory("status").stdout
    out = run_here(command.main, [], b"", support.clean_environment(installed.home), str(installed.repo))
    assert b"allows only managed hooks" in b"".join(out[1:])
