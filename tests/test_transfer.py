"""A memory as one file, and Claude Code's own notes."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import support
from commandline import HARNESS
from machines import Machine, assert_same, settle
from test_sync import note, stop_something


def export(machine: Machine, path: Path, *words: str) -> Path:
    command = [sys.executable, str(HARNESS), "memory", "export", *words]
    env = support.clean_environment(machine.home)
    path.write_bytes(subprocess.run(command, env=env, cwd=str(machine.repo), capture_output=True, check=True).stdout)
    return path


def test_an_export_merges_as_a_sync_does(tmp_path: Path) -> None:
    pair = [Machine(tmp_path, name) for name in ("one", "two")]
    for number, machine in enumerate(pair):
        machine.live(3, day=number + 1)
        stop_something(machine)
        note(machine, "carts", "Carts hold %d items" % (10 + number), time.time() - 100 + number)
    old = export(pair[0], tmp_path / "old.tgz", "--project", ".")
    (first, *_) = pair[0].json("list")
    pair[0].memory("forget", first["id"], "--yes")
    pair[0].memory("note", "add", "news", "There is news")
    pair[0].memory("note", "remove", "news")
    assert pair[1].memory("import", str(export(pair[0], tmp_path / "one.tgz"))).code == 0
    assert pair[0].memory("import", str(export(pair[1], tmp_path / "two.tgz"))).code == 0
    assert pair[0].memory("import", str(old)).code == 0  # what was forgotten since stays so
    for machine in pair:
        assert first["id"] not in {each["id"] for each in machine.json("list")}
        assert len(machine.json("list")) == 5
        assert "Carts hold 11 items" in machine.memory("show", "carts").stdout
        assert machine.memory("verify").code == 0
        assert len([*machine.project.glob("SECURITY/*/*/*/audit.jsonl")]) == 2
    settle(pair)
    assert_same(pair)


def test_an_export_goes_to_the_project_that_is_named(tmp_path: Path) -> None:
    one, two = (Machine(tmp_path, name) for name in ("one", "two"))
    support.git(one.repo, "remote", "remove", "origin")
    one.live(2)
    note(one, "carts", "Carts hold 10 items", time.time())
    path = export(one, tmp_path / "one.tgz")
    assert "another project. Into this one: the same with --project ." in two.memory("import", str(path)).stdout
    assert two.json("list") == []
    taken = two.memory("import", str(path), "--project", ".").stdout
    assert (" into shop-" in taken, "another" in taken) == (True, False)
    assert len(two.json("list")) == 2
    assert "Carts hold 10 items" in two.memory("show", "carts").stdout
    assert two.memory("verify", "--all-projects").code == 0


def test_a_damaged_or_hostile_file_changes_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "one")
    machine.live(1)
    path = export(machine, tmp_path / "one.tgz")
    before = machine.files()
    damaged = tmp_path / "damaged.tgz"
    damaged.write_bytes(path.read_bytes()[:-20])
    assert machine.memory("import", str(damaged)).code == 2
    with tarfile.open(str(tmp_path / "evil.tgz"), "w:gz") as evil:
        for name in ("../evil", "/tmp/evil", "shop-2adf9f1e26ea/../../evil", "evil.sh", "sync/config.json"):
            evil.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    assert machine.memory("import", str(tmp_path / "evil.tgz")).code == 2
    assert machine.files() == before
    assert not [*tmp_path.glob("**/evil")]


def test_notes_of_claude_code_are_taken_over_once(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "one")
    folder = tmp_path / "one" / ".claude" / "projects" / "x" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n- [Build](build.md): how\n- Use pnpm, not npm\n", "utf-8")
    (folder / "build.md").write_text(
        "---\nname: Build\ndescription: How to build\ntype: project\n---\nRun make.\n", "utf-8"
    )
    assert machine.json("import", str(folder))["notes"] == ["auto-memory", "build"]
    assert machine.json("import", str(folder))["notes"] == []
    assert "source: Claude Code auto memory" in machine.memory("show", "build").stdout
    assert [each["facts"] for each in machine.json("list", "--notes")] == [["Use pnpm, not npm"], ["Run make."]]
    assert machine.memory("verify").code == 0
