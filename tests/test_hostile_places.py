"""Links, pipes, devices and strangers' files where ours should be: nothing outside is touched, or told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
import support
from commandline import World, run_here
from full_memory import READING, WRITING
from life import Life, failures
from planting import (
    FILES,
    FOLDERS,
    IN_PROJECT,
    LOCKS,
    Field,
    P,
    dangling,
    device,
    file,
    folder,
    hard_link,
    link,
    pipe,
    state,
    use_all,
)

from harness_memory.base import files
from harness_memory.setup import command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Field:
    return Field(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize(("number", "kind"), [*enumerate(FOLDERS)][: support.volume(len(FOLDERS))], ids=str)
def test_a_linked_folder_leads_nowhere(field: Field, number: int, kind: str) -> None:
    memory = field.reset()
    places = [path for path in field.places(*FOLDERS[kind]) if path.is_dir()]
    for path in places:
        link(path, field.outside)
    before = state(field.outside)
    use_all(memory, READING[number % 3 :: 3])
    assert state(field.outside) == before
    said = memory.memory("verify").stdout + memory.memory("doctor").stdout
    assert "symbolic link" in said, said


def test_a_folder_that_is_a_file(field: Field) -> None:
    memory = field.reset()
    for path in field.places(P + "profiles", P + "STATE/recall", P + "LEARNING/topics", "home/.claude/memory/archive"):
        file(path, field.outside)
    use_all(memory, READING[1::2])


@pytest.mark.parametrize("plant", [link, dangling, hard_link, pipe, folder, device])
def test_what_stands_for_a_file(field: Field, plant: Any) -> None:
    if plant is device and os.geteuid() != 0:
        pytest.skip("only root makes devices")
    memory = field.reset()
    for path in field.places(*FILES, *IN_PROJECT):
        if path.is_file() and path.name != "project.json":
            plant(path, field.outside)
    before = state(field.outside)
    use_all(memory)
    assert state(field.outside) == before


@pytest.mark.parametrize(("plant", "pattern"), [(link, LOCKS), (hard_link, LOCKS), (link, [P + "project.json"])])
def test_what_stands_for_a_lock_or_the_identity(field: Field, plant: Any, pattern: list[str]) -> None:
    memory = field.reset()
    for path in field.places(*pattern):
        plant(path, field.outside)
    before = state(field.outside)
    use_all(memory, READING[::3])
    assert state(field.outside) == before


# Links that people make, and others may --------------------------------------------------------------


def test_the_store_itself_may_be_a_link(life: Life, tmp_path: Path) -> None:
    elsewhere = tmp_path / "synced"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    life.store.symlink_to(elsewhere)
    life.start()
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.", "cart.py")
    assert life.episode["files_changed"] == ["cart.py"]
    assert elsewhere.stat().st_mode & 0o777 == 0o755  # a folder that is not only ours keeps its mode
    world = World(life.home, life.cwd)
    assert "The totals are rounded once" in world.memory("list").stdout
    said = world.memory("verify")
    assert "mode 0755" in said.stdout
    assert "symbolic link" not in said.stdout


@pytest.mark.parametrize("scope", ["project", "local"])
def test_an_install_follows_no_link_out_of_the_project(home: Path, repo: Path, tmp_path: Path, scope: str) -> None:
    victim = tmp_path / "other.json"
    victim.write_text("{}\n", "utf-8")
    name = "settings.json" if scope == "project" else "settings.local.json"
    (repo / ".claude").mkdir()
    (repo / ".claude" / name).symlink_to(victim)
    code, _, err = run_here(command.main, ["--scope", scope], b"", support.clean_environment(home), str(repo), "utf-8")
    assert code == 1
    assert b"is a link to" in err
    assert victim.read_text("utf-8") == "{}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "other.json", "project"]


@pytest.mark.parametrize("rows", [["the project", "of the store"], ["stamps, archives, work", "state"]])
def test_purging_the_memory_takes_links_and_leaves_what_they_lead_to(field: Field, rows: list[str]) -> None:
    memory = field.reset()
    for path in field.places(*(pattern for row in rows for pattern in FOLDERS[row])):
        if path.is_dir() and not path.is_symlink():
            link(path, field.outside)
    before = state(field.outside)
    words = ["--uninstall", "--purge", "--yes"]
    code, _, err = run_here(command.main, words, b"", support.clean_environment(memory.home), str(memory.repo), "utf-8")
    assert (code, err) == (0, b"")
    assert state(field.outside) == before
    assert not [path for path in memory.root.rglob("*") if path.is_file() and not path.is_symlink()]


def test_a_planted_temporary_name_is_nobodys_file(life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the name could be known in advance."""
    victim = tmp_path / "victim"
    victim.write_text("mine", "utf-8")
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    (tmp_path / (".x.%d.1.tmp" % os.getpid())).symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.write(str(tmp_path / "x"), b"ours")
    assert victim.read_text("utf-8") == "mine"


@pytest.mark.parametrize("name", [".x.1.1.tmp", ".META.yaml.99.ff.tmp"])
def test_old_temporary_files_go_whatever_they_point_to(life: Life, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", "utf-8")
    life.start()
    (life.project / name).symlink_to(victim)
    os.utime(str(life.project / name), (1, 1), follow_symlinks=False)
    life.start("resume")
    assert not os.path.lexists(str(life.project / name))
    assert victim.read_text("utf-8") == "mine"


# Other users ---------------------------------------------------------------------------------------

as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
STRANGER = 54321
PYTHONS = [sys.executable, "/usr/bin/python3"]


def give_away(*paths: Path) -> None:
    for path in paths:
        for each in [path, *path.rglob("*")] if path.is_dir() and not path.is_symlink() else [path]:
            os.chown(str(each), STRANGER, STRANGER, follow_symlinks=False)


@as_root
def test_the_store_of_another_user_is_neither_read_nor_written(field: Field) -> None:
    memory = field.reset()
    give_away(memory.root)
    before = state(memory.root)
    for event, result in memory.events("canary note fact of the gateway rule"):
        assert "canary" not in result.stdout, event
        if event in ("start", "resume", "fork", "clear", "compact"):
            assert "belongs to another user, so nothing is remembered" in result.json["systemMessage"], event
        if event == "deny":
            assert result.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    for words in READING + WRITING:
        said = memory.memory(*words, stdin=b"# Page\n")
        assert "canary" not in said.stdout + said.stderr, words
        assert "belongs to another user" in said.stdout + said.stderr, words
        assert said.code, words
    assert state(memory.root) == before


@as_root
def test_a_link_that_another_user_made_is_no_store(life: Life, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    life.store.symlink_to(tmp_path / "mine")
    give_away(life.store)
    assert "belongs to another user" in life.start().json["systemMessage"]
    assert list((tmp_path / "mine").iterdir()) == []


@as_root
def test_files_of_another_user_are_not_believed(field: Field) -> None:
    memory = field.reset()
    for path in field.places(*FILES, *IN_PROJECT, "home/.claude/projects/*/*.jsonl"):
        if path.is_file() and path.name != "project.json":
            give_away(path)
    for event, result in memory.events("A note about the fact of the gateway rule"):
        assert "canary" not in result.stdout, event
    said = memory.memory("doctor").stdout
    assert "belongs to another user" in said


@as_root
def test_a_checkpoint_of_another_user_is_left_alone(life: Life) -> None:
    life.start()
    (life.cwd / ".claude").mkdir()
    path = life.cwd / ".claude" / "completion-checkpoint.json"
    path.write_text('{"what_was_done": "What a stranger says."}', "utf-8")
    give_away(path)
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.")
    assert "stranger" not in json.dumps(life.episode)
    assert path.read_text("utf-8") == '{"what_was_done": "What a stranger says."}'
    assert any("belongs to another user; it was left alone" in error for error in failures(life.store))


@as_root
def test_a_transcript_of_another_user_is_not_read(life: Life) -> None:
    life.start()
    life.prompt("Round the totals")
    life.transcript.write(life.cwd / "strange.py").text("The totals are rounded once, at the very end of it.")
    give_away(life.transcript.path)
    life.stop("The totals are rounded once, at the very end of it.")
    assert life.episode["files_changed"] == []
    assert life.episode["what_was_done"] == "The totals are rounded once, at the very end of it."
    assert any("belongs to another user" in error for error in failures(life.store))


@as_root
def test_root_may_work_in_the_folder_of_somebody(life: Life) -> None:
    """As in a container: all that is there belongs to the one who mounted it."""
    life.start()
    life.turn("Round the totals", "The totals are rounded once, at the very end of it.", "cart.py")
    (life.cwd / ".claude").mkdir()
    (life.cwd / ".claude" / "completion-checkpoint.json").write_text('{"what_was_done": "Said by the owner."}', "utf-8")
    give_away(life.home, life.cwd)
    life.prompt("Go on")
    life.stop("It went on.")
    assert life.episode["what_was_done"] == "Said by the owner."
    assert failures(life.store) == []


@pytest.fixture
def in_the_open() -> Iterator[Path]:
    """A folder that every user gets to; those of pytest are closed."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o777)
        yield Path(path)


@as_root
def test_a_user_without_rights_in_the_store_of_another(home: Path, repo: Path, in_the_open: Path) -> None:
    shared = in_the_open
    (shared / "guard.json").write_text('{"tiers": {"delete.home": "off"}}', "utf-8")
    give_away(shared)
    as_user = [shutil.which("setpriv") or "/", "--reuid=12345", "--regid=12345", "--clear-groups"]
    tries = [[*as_user, python, "-c", "open(%r)" % str(support.HOOKS / "stop.py")] for python in PYTHONS]
    usable = [python for python, words in zip(PYTHONS, tries) if not subprocess.run(words, check=False).returncode]
    if not usable:
        pytest.skip("another user can run no Python here")
    session = support.Session(repo, home)
    env = {"HARNESS_MEMORY_HOME": str(shared), "CLAUDE_CODE_SESSION_ATTENDED": "1"}
    calls = [
        ("session_start", session.start()),
        ("stop", session.stop("Done.")),
        ("pre_tool_use", session.tool_call("Bash", {"command": "rm -rf ~"})),
    ]
    said = []
    for script, payload in calls:
        done = subprocess.run(
            [*as_user, *support.hook_command(script, usable[0])],
            input=support.encode(payload),
            env=support.clean_environment(home, env),
            cwd="/",
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), script
        said.append(done.stdout.decode("utf-8"))
    assert "belongs to another user" in said[0]
    assert '"permissionDecision": "deny"' in said[2]  # whatever their rules say
    assert [path.name for path in shared.iterdir()] == ["guard.json"]


# Modes ---------------------------------------------------------------------------------------------


def test_a_hook_closes_a_store_that_others_can_read_and_says_so(life: Life) -> None:
    life.start()
    life.store.chmod(0o755)
    life.prompt("Round the totals")
    assert life.store.stat().st_mode & 0o777 == 0o700
    assert "other users could read the memory folder" in failures(life.store)[0]


def test_a_command_closes_a_store_that_others_can_read_and_says_so(life: Life) -> None:
    life.start()
    life.store.chmod(0o777)
    said = World(life.home, life.cwd).memory("remember", "Totals are rounded once")
    assert said.code == 0
    assert "other users could read the memory folder" in said.stderr
    assert life.store.stat().st_mode & 0o777 == 0o700
