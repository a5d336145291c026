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
from harness_memory.base import invocation, settings
from harness_memory.base.text import hexdigest
from harness_memory.setup import settingsfile
from harness_memory.setup.installation import PLUGIN_COMMAND, Installation

NAMES = ("harness-consolidate", "harness-recall", "harness-remember")


def source(name: str) -> str:
    return (support.ROOT / "skills" / name / "SKILL.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_short_named_and_uses_only_known_verbs(name: str) -> None:
    text = source(name)
    _, head, body = text.split("---\n", 2)
    assert len(text.splitlines()) <= 120
    assert re.findall(r"^name: (.+)$", head, re.M) == [name]
    assert len(re.findall(r"^description: .{40,}$", head, re.M)) == 1
    spans = re.findall(r"`([a-z]+)(?: [^`]*)?`", body)
    types = {*settings.NOTE_TYPES, "local"}
    verbs = {*spans, *re.findall(r"harness memory ([a-z]+)", text)} - types
    assert verbs
    assert verbs <= {*cli.verbs("memory")}
    assert PLUGIN_COMMAND in text


class Config:
    """A settings file to install into, and the copies of the skills beside it."""

    def __init__(self, folder: Path) -> None:
        (folder / "config").mkdir()
        self.settings, self.store = folder / "config" / "settings.json", folder / "memory"
        self.skills = folder / "config" / "skills"

    def copies(self) -> dict[str, str]:
        return {path.parent.name: path.read_text("utf-8") for path in self.skills.rglob("*") if path.is_file()}

    def put(self) -> list[str]:
        return self._installation().install(self._wanted(), sys.executable)

    def remove(self) -> list[str]:
        return self._installation().uninstall(self._wanted(), [])

    def _installation(self) -> Installation:
        return Installation(str(support.ROOT), "user", str(self.settings), str(self.store))

    def _wanted(self) -> settingsfile.Entries:
        return settingsfile.entries(str(support.ROOT), sys.executable, [str(self.store)], "/home/you")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path)


def test_skills_are_installed_upgraded_and_removed(config: Config) -> None:
    record = config.store / "installs.json"
    old = config.skills / NAMES[0] / "SKILL.md"
    assert config.put() == []
    text = old.read_bytes()
    old.write_bytes(b"old")
    record.write_text(record.read_text("utf-8").replace(hexdigest(text), hexdigest(b"old")), "utf-8")
    assert config.put() == []
    words = invocation.command(str(support.ROOT), sys.executable)
    assert config.copies() == {name: source(name).replace(PLUGIN_COMMAND, words) for name in NAMES}
    assert config.remove() == []
    assert not config.settings.parent.exists()


@pytest.mark.parametrize("is_upgraded", [True, False])
def test_an_edited_skill_stays_the_users(config: Config, is_upgraded: bool) -> None:
    config.put()
    path = config.skills / "harness-recall" / "SKILL.md"
    path.write_text("mine", "utf-8")
    if is_upgraded:
        assert config.put() == [str(path)]
    assert config.remove() == ([] if is_upgraded else [str(path)])
    assert config.copies() == {"harness-recall": "mine"}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_no_link_is_written_through(config: Config, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    config.skills.symlink_to(elsewhere)
    assert len(config.put()) == 3
    assert list(elsewhere.iterdir()) == []


def run(home: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(support.ROOT / "install.py"), *words]
    env = support.clean_environment(home)
    return subprocess.run(command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


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
