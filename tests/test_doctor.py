"""`doctor` on installs made by install.py: well when it is well, and each trouble named with its remedy."""

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
from commandline import World

from harness_memory.setup import entries

POSIX = os.name == "posix"


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One real install; `installed` sets it back before each test."""
    top = tmp_path_factory.mktemp("once")
    world = World(top / "home", support.make_repo(top / "project"))
    (world.home / ".claude").mkdir(parents=True)
    command = [sys.executable, str(support.ROOT / "install.py")]
    env = support.clean_environment(world.home)
    done = subprocess.run(command, cwd=str(world.repo), env=env, capture_output=True, check=False)
    assert done.returncode == 0, done
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
    """What is not well, by topic; the exit code must agree."""
    result = world.memory("doctor", "--json", **options)
    report = result.json
    found = {check["topic"]: check for check in report["checks"] if check["mark"] != "ok"}
    assert (result.code, report["healthy"]) == (1 if found else 0, not found)
    assert all(check["remedy"] for check in found.values())
    page = world.memory("doctor", **options)
    assert page.code == result.code
    assert ("All well." in page.stdout) == (not found)
    return found


def test_not_installed(world: World) -> None:
    assert set(problems(world)) == {"install"}
    assert "install.py" in problems(world)["install"]["remedy"]
    assert not world.root.exists()


def test_all_well(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    assert problems(installed) == {}
    page = installed.memory("doctor").stdout
    for text in (
        "settings.json: %d hooks" % len(entries.HOOKS),
        "SessionStart",
        "Python %d.%d" % sys.version_info[:2],
        "free",
    ):
        assert text in page


def test_a_hook_taken_out_by_hand(installed: World, settings_file: Path) -> None:
    value = json.loads(settings_file.read_text(encoding="utf-8"))
    del value["hooks"]["Stop"]
    settings_file.write_text(json.dumps(value), encoding="utf-8")
    assert problems(installed)["install"]["details"] == ["no hook for Stop"]


@pytest.mark.parametrize("text", ["{}", None])
def test_all_hooks_taken_out_by_hand(installed: World, settings_file: Path, text: str | None) -> None:
    settings_file.unlink()
    if text is not None:
        settings_file.write_text(text, encoding="utf-8")
    assert "settings.json" in problems(installed)["install"]["text"]


@pytest.mark.parametrize("text", ["{nope", "[]", '{"hooks": 1}', "\x00"])
def test_a_broken_settings_file(installed: World, settings_file: Path, text: str) -> None:
    settings_file.write_text(text, encoding="utf-8")
    assert "settings.json" in problems(installed)["install"]["text"]


def test_hooks_disabled_in_the_client(installed: World, settings_file: Path) -> None:
    value = json.loads(settings_file.read_text(encoding="utf-8"))
    settings_file.write_text(json.dumps({**value, "disableAllHooks": True}), encoding="utf-8")
    assert "disableAllHooks" in problems(installed)["install"]["remedy"]


def test_an_interpreter_and_a_tree_that_are_gone(installed: World, settings_file: Path) -> None:
    record = json.loads((installed.root / "installs.json").read_text(encoding="utf-8"))["installs"][0]
    text = settings_file.read_text(encoding="utf-8")
    text = text.replace(record["interpreter"], "/no/python 3").replace(str(support.ROOT / "hooks"), "/no/hooks")
    settings_file.write_text(text, encoding="utf-8")
    details = problems(installed)["install"]["details"]
    assert "/no/python 3 is gone" in details
    assert "/no/hooks/stop.py is gone" in details
    hooks = hook_line(installed)
    assert ("is gone" in hooks, "doctor" in hooks, " on: " in hooks) == (True, True, False)
    assert installed.json("status")["hooks"]["installs"] == []


def hook_line(world: World, **options: Any) -> str:
    """What `status` says of the hooks."""
    page = world.memory("status", **options).stdout
    (found,) = [row for row in page.splitlines() if row.startswith("Hooks")]
    return found


def test_status_says_where_the_hooks_are_on(installed: World, settings_file: Path) -> None:
    assert hook_line(installed).split()[1:] == ["on:", str(Path("~", ".claude", "settings.json"))]
    assert installed.json("status")["hooks"]["installs"] == [str(settings_file)]
    settings_file.write_text("{}", encoding="utf-8")
    assert "does not hold our hooks any more" in hook_line(installed)
    settings_file.write_text("{nope", encoding="utf-8")
    assert "cannot be used" in hook_line(installed)


def test_an_install_that_does_not_reach_here(installed: World, tmp_path: Path) -> None:
    other = tmp_path / "other" / ".claude" / "settings.json"
    path = installed.root / "installs.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["installs"][0]["settings"] = str(other)
    path.write_text(json.dumps(record), encoding="utf-8")
    other.parent.mkdir(parents=True)
    (installed.home / ".claude" / "settings.json").rename(other)
    assert "not on here" in hook_line(installed)
    assert str(other) in hook_line(installed)


def test_hooks_that_run_without_an_install(world: World) -> None:
    assert "no install on record" in hook_line(world)
    world.work("Add a form", "Added.", ("a.py",))
    assert "as a plugin, probably" in hook_line(world)
    assert "install" not in problems(world)


def test_after_an_uninstall_it_is_not_installed(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    command = [sys.executable, str(support.ROOT / "install.py"), "--uninstall"]
    env = support.clean_environment(installed.home)
    subprocess.run(command, cwd=str(installed.repo), env=env, capture_output=True, check=True)
    assert set(problems(installed)) == {"install"}
    assert "no install on record" in hook_line(installed)
    installed.work("Add a test", "Added too.", ("b.py",))  # by whatever runs the hooks now
    assert "as a plugin, probably" in hook_line(installed)


@pytest.mark.skipif(not POSIX, reason="file modes")
def test_what_is_open_to_others_is_counted(installed: World) -> None:
    installed.work("Add a form", "Added.", ("a.py",))
    (installed.project / "INDEX.md").chmod(0o644)
    assert "1 file or folder of the memory" in problems(installed)["modes"]["text"]
    (installed.project / "episodes").chmod(0o755)
    assert "2 files or folders of the memory" in problems(installed)["modes"]["text"]


def test_hooks_registered_twice(installed: World, settings_file: Path) -> None:
    local = installed.repo / ".claude" / "settings.local.json"
    local.parent.mkdir()
    local.write_text(settings_file.read_text(encoding="utf-8"), encoding="utf-8")
    assert problems(installed) == {}  # the client runs equal commands once
    value = json.loads(local.read_text(encoding="utf-8"))
    for groups in value["hooks"].values():
        for hook in groups[0]["hooks"]:
            hook["command"] = hook["command"].replace("-S", "-S -S")
    local.write_text(json.dumps(value), encoding="utf-8")
    found = problems(installed)["install"]
    assert (found["mark"], "SessionStart" in found["text"]) == ("warn", True)
    assert [Path(name).name for name in found["details"]] == ["settings.json", "settings.local.json"]


def test_an_older_install(installed: World) -> None:
    path = installed.root / "installs.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"version": "', '"version": "0.0.'), encoding="utf-8")
    assert "0.0." in problems(installed)["install"]["details"][0]


def test_switched_off(installed: World) -> None:
    assert set(problems(installed, env={"HARNESS_MEMORY": "off"})) == {"switch"}


def test_a_store_that_is_a_file(installed: World) -> None:
    for path in sorted(installed.root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    installed.root.rmdir()
    installed.root.write_text("", encoding="utf-8")
    assert "no directory" in problems(installed)["store"]["text"]


@pytest.mark.skipif(not POSIX, reason="needs POSIX file modes")
def test_a_store_that_cannot_be_written(installed: World) -> None:
    installed.root.chmod(0o500)
    try:
        found = problems(installed, before=support.bound_by_modes())
        assert "cannot be written" in found["store"]["text"]
    finally:
        installed.root.chmod(0o700)


def test_a_broken_config(installed: World) -> None:
    path = installed.root / "config.json"
    path.write_text('{"retention_days": -1}', encoding="utf-8")
    path.chmod(0o600)
    assert "retention_days" in problems(installed)["config"]["text"]


def test_a_config_that_cannot_be_read_is_reported_once(installed: World) -> None:
    path = installed.root / "config.json"
    path.write_text("{nope", encoding="utf-8")
    path.chmod(0o600)
    assert set(problems(installed)) == {"config"}
    assert installed.memory("doctor").stdout.count("config.json") == 1


def guard_check(world: World, **options: Any) -> dict[str, Any]:
    checks = world.memory("doctor", "--json", **options).json["checks"]
    (found,) = [check for check in checks if check["topic"] == "guard"]
    return dict(found)


def test_the_guard_is_on(installed: World) -> None:
    assert (guard_check(installed)["mark"], guard_check(installed)["text"][:4]) == ("ok", "on, ")
    call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "session_id": "s", "cwd": str(installed.repo)}
    support.run_hook("pre_tool_use", call, home=installed.home)
    assert "last asked" in guard_check(installed)["text"]
    assert "1 event of this project, the chain is whole" in installed.memory("doctor").stdout
    (trail,) = installed.root.glob("*/SECURITY/*/*/audit.jsonl")
    trail.write_bytes(trail.read_bytes().replace(b"rm -rf", b"ls -la"))
    assert set(problems(installed)) == {"audit", "files"}


def test_a_guard_that_was_left_out_and_one_that_was_lost(installed: World, settings_file: Path) -> None:
    settings_file.write_text(settings_file.read_text().replace('"matcher": "*"', '"matcher": "Skill"'))
    assert "install.py --guard" in problems(installed)["guard"]["remedy"]
    path = installed.root / "installs.json"
    path.write_text(path.read_text().replace('"guard": true', '"guard": false'))
    assert problems(installed) == {}
    assert "left out" in guard_check(installed)["text"]


def test_a_guard_for_some_tools(installed: World, settings_file: Path) -> None:
    settings_file.write_text(settings_file.read_text().replace('"matcher": "*"', '"matcher": "Bash|Read"'))
    assert "Bash|Read" in problems(installed)["guard"]["details"][0]


def test_rules_of_the_guard_that_cannot_be_used(installed: World) -> None:
    path = installed.root / "guard.json"
    path.write_text("{nope", encoding="utf-8")
    path.chmod(0o600)
    assert set(problems(installed)) == {"guard"}
    assert installed.memory("doctor").stdout.count("guard.json") == 1
    path.write_text('{"tiers": {"git.clean": "log"}}', encoding="utf-8")
    (installed.repo / ".claude").mkdir()
    (installed.repo / ".claude" / "guard.json").write_text('{"tiers": {"git.clean": "off"}}', encoding="utf-8")
    assert "may not loosen" in problems(installed)["guard"]["text"]


def test_failures_are_grouped(installed: World) -> None:
    for _ in range(3):
        support.run_hook("stop", b"no json", home=installed.home, cwd=installed.repo)
    support.run_hook("session_start", b"[]", home=installed.home, cwd=installed.repo)
    found = problems(installed)["failures"]
    assert "4 failed runs" in found["text"]
    text = "\n".join(found["details"])
    assert "3 times" in text
    assert text.index("SessionStart") < text.index("Stop")
    assert str(Path("health", "failures")) in text


def test_old_failures_are_history(installed: World) -> None:
    folder = installed.root / "health" / "failures"
    folder.mkdir(parents=True)
    record = {"schema": 1, "at": "2020-01-01T00:00:00Z", "event": "Stop", "error": "x", "detail": ""}
    (folder / "1-1.json").write_text(json.dumps(record), encoding="utf-8")
    assert "failures" not in problems(installed)


def test_damaged_and_newer_files(installed: World) -> None:
    session = installed.work("Add a form", "Added.", ("a.py",))
    installed.work("Add another", "Added too.", ("b.py",))
    path = installed.episode(session)
    path.write_text('{"schema": 99}', encoding="utf-8")
    (installed.session_dir(session) / "META.yaml").write_bytes(b"\xff")
    found = problems(installed)["files"]
    assert found["text"].startswith("2 files")
    assert "newer" in "\n".join(found["details"])
    assert installed.memory("list").code == 0
    assert installed.memory("status").code == 0


def test_malformed_checkpoints(installed: World) -> None:
    (installed.repo / ".claude").mkdir()
    (installed.repo / ".claude" / "completion-checkpoint.json").write_text("{nope", encoding="utf-8")
    installed.work("Add a form", "Added.", ("a.py",))
    found = problems(installed)
    assert "1 checkpoint" in found["leftovers"]["text"]
    assert "malformed checkpoint" in "\n".join(found["failures"]["details"])


def test_a_session_that_is_in_the_index_and_newer_than_it_counts_once(installed: World) -> None:
    def told() -> str:
        return next(check["text"] for check in installed.json("doctor")["checks"] if check["topic"] == "recall")

    session = installed.work("Round the totals", "Totals are rounded once, at the end.", ("cart.py",))
    installed.memory("rebuild")
    before = told()
    assert "newer" not in before
    installed.memory("checkpoint", "--session", session.id, "--done", "Covered the guest cart")
    assert told().startswith(before.rpartition(", ")[0] + ", 1 of them newer than the index")


def test_garbage_everywhere(installed: World) -> None:
    """Bytes at random places: never a traceback, always a finding."""
    installed.work("Add a form", "Added.", ("a.py",))
    for path in sorted(installed.root.rglob("*")):
        if path.is_file() and path.suffix != ".lock" and path.parent.name != "last-run":
            path.write_bytes(b"\x80\x00{[\x1b]0;title\x07" * 3)
    for verb in ("status", "list", "rebuild", "verify", "doctor"):
        result = installed.memory(verb)
        assert "\x1b" not in result.stdout + result.stderr
    assert installed.memory("verify").code == 1
    assert problems(installed)["files"]
