"""Claude Code's own notes, taken over."""

from __future__ import annotations

from pathlib import Path

from machines import Machine


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
