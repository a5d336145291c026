"""The skills: short, on the command line alone, installed as the user's own and taken back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import support

from harness_memory import cli
from harness_memory.base import invocation
from harness_memory.setup import registry, skills
from harness_memory.setup.installation import Target

NAMES = ("harness-consolidate", "harness-recall", "harness-remember")
WORDS = "python3 /opt/harness memory"
VERBS = {row[0] for row in cli.VERBS}


def source(name: str) -> str:
    return (support.ROOT / "skills" / name / "SKILL.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
class TestText:
    def test_is_short_and_named(self, name: str) -> None:
        text = source(name)
        assert len(text.splitlines()) <= 120
        head = text.split("---\n")[1]
        assert re.findall(r"^name: (.+)$", head, re.M) == [name]
        assert len(re.findall(r"^description: .{40,}$", head, re.M)) == 1

    def test_knows_only_verbs_there_are(self, name: str) -> None:
        spans = re.findall(r"`([a-z]+)(?: [^`]*)?`", source(name).split("---\n", 2)[2])
        commands = re.findall(r"harness\" memory ([a-z]+)", source(name))
        known = {*spans, *commands} - {"feedback", "project", "user", "reference", "local"}
        assert known
        assert known <= VERBS

    def test_works_as_a_plugin_from_where_it_lies(self, name: str) -> None:
        assert skills.PLUGIN_COMMAND in source(name)
        assert source(name).count('harness" memory') == source(name).count(skills.PLUGIN_COMMAND)
        assert (support.ROOT / "skills" / name / ".." / ".." / invocation.SCRIPT).is_file()


@pytest.fixture
def place(tmp_path: Path) -> Target:
    config, store = tmp_path / "config", tmp_path / "config" / "memory"
    store.mkdir(parents=True)
    made = Target(str(support.ROOT), "user", str(config / "settings.json"), str(store))
    registry.put(made.store, {"settings": made.settings, "scope": "user"})
    return made


def copies(place: Target) -> dict[str, str]:
    found = sorted(Path(skills.folder(place.settings)).rglob("*"))
    return {path.parent.name: path.read_text("utf-8") for path in found if path.is_file()}


def test_installed_with_the_command_that_is_allowed(place: Target) -> None:
    assert skills.install(place, WORDS) == []
    found = copies(place)
    assert tuple(found) == NAMES
    for name, text in found.items():
        assert WORDS in text
        assert "CLAUDE_SKILL_DIR" not in text
        assert text == source(name).replace(skills.PLUGIN_COMMAND, WORDS)


def test_taken_back(place: Target) -> None:
    before = sorted(Path(place.settings).parent.iterdir())
    skills.install(place, WORDS)
    assert skills.uninstall(registry.find(place.store, place.settings)["skills"]) == []
    assert copies(place) == {}
    os.rmdir(skills.folder(place.settings))
    assert sorted(Path(place.settings).parent.iterdir()) == before


def test_upgraded_while_it_is_as_we_left_it(place: Target) -> None:
    skills.install(place, WORDS)
    assert skills.install(place, "python3 /other/harness memory") == []
    assert all("/other/harness" in text for text in copies(place).values())


def test_an_edited_one_is_the_users(place: Target) -> None:
    skills.install(place, WORDS)
    path = Path(skills.folder(place.settings)) / "harness-recall" / "SKILL.md"
    path.write_text("mine", "utf-8")
    assert skills.install(place, "python3 /other/harness memory") == [str(path)]
    assert path.read_text("utf-8") == "mine"
    assert skills.uninstall(registry.find(place.store, place.settings)["skills"]) == []
    assert copies(place) == {"harness-recall": "mine"}


def test_one_edited_after_the_last_install_stays(place: Target) -> None:
    skills.install(place, WORDS)
    path = Path(skills.folder(place.settings)) / "harness-recall" / "SKILL.md"
    path.write_text("mine", "utf-8")
    assert skills.uninstall(registry.find(place.store, place.settings)["skills"]) == [str(path)]
    assert copies(place) == {"harness-recall": "mine"}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_no_link_is_written_through(place: Target, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    os.symlink(str(elsewhere), skills.folder(place.settings))
    assert len(skills.install(place, WORDS)) == 3
    assert list(elsewhere.iterdir()) == []


def run(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(support.ROOT / "install.py"), *words]
    env = support.clean_environment(home)
    return subprocess.run(
        command, env=env, cwd=str(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )


def test_install_py_there_and_back(home: Path, repo: Path) -> None:
    session = support.Session(repo, home)
    session.transcript().turn("Correct the totals", "Totals are rounded once, at the end.", files=[repo / "t.py"])
    os.utime(session.transcript_path, (1, os.stat(session.transcript_path).st_mtime - 86400))
    before = support.snapshot(home)

    done = run(home)
    assert done.returncode == 0, done.stdout
    assert b"memory backfill --all" in done.stdout
    assert len(list((home / ".claude" / "skills").glob("harness-*/SKILL.md"))) == 3
    assert run(home, "--uninstall").returncode == 0
    assert support.snapshot(home) == before
    assert not (home / ".claude" / "skills").exists()

    done = run(home, "--backfill")
    assert b"1 session in 1 project" in done.stdout, done.stdout
    assert [value["session_id"] for value in support.episodes(home / ".claude" / "memory")] == [session.id]
    assert run(home, "--uninstall", "--backfill").returncode == 2
