"""`briefing`, `profile` and `edit`: pages that people keep, with the versions before them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import support
from commandline import World
from test_notes import table

from harness_memory.base import settings

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def put(world: World, text: str | bytes, *words: str) -> support.Result:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return world.memory(*(words or ("briefing", "set")), stdin=data)


def versions(world: World) -> dict[str, str]:
    """The versions of the briefing by the end of their names."""
    paths = sorted(world.project.glob("briefing.md*"))
    return {path.name[len("briefing.md") :]: path.read_bytes().decode("utf-8") for path in paths}


def editor(tmp_path: Path, code: str) -> dict[str, dict[str, str | None]]:
    """An editor that does to the text in `t` what `code` says."""
    script = tmp_path / "editor.py"
    head = "import sys\np = sys.argv[1]\nt = open(p, encoding='utf-8').read()\n"
    script.write_text(head + code + "\nopen(p, 'w', encoding='utf-8').write(t)\n", "utf-8")
    return {"env": {"EDITOR": '"%s" "%s"' % (sys.executable, script), "VISUAL": None}}


def test_set_keeps_two_versions_and_shows_the_difference(world: World) -> None:
    assert "+# One" in put(world, "# One\nshared\n").stdout
    second = put(world, "# Two\nshared\n")
    for text in ("-# One", "+# Two", " shared", "briefing.md"):
        assert text in second.stdout
    put(world, "# Three\n")
    put(world, "# Four\n")
    assert versions(world) == {"": "# Four\n", ".1": "# Three\n", ".2": "# Two\nshared\n"}
    assert world.memory("briefing", "show").stdout == "# Four\n"
    assert world.json("briefing")["text"] == "# Four\n"
    assert world.json("verify")["findings"] == []


@pytest.mark.parametrize(("given", "written"), table("pages.json"))
def test_set_writes_plain_lines_and_the_same_text_only_once(world: World, given: str, written: str) -> None:
    assert put(world, given).code == 0
    assert world.json("briefing", "set", stdin=given.encode())["changed"] is False
    assert "Nothing changed" in put(world, world.memory("briefing", "show").stdout).stdout
    assert versions(world) == {"": written}


def test_set_of_an_unfit_page_changes_nothing(world: World) -> None:
    put(world, "# One\n")
    before = world.files()
    for data, said in (
        (b" \n\t\n", "is empty"),
        (b"# A\n\xff\n", "not UTF-8 at byte 4"),
        (b"# A\n\x00\n", "binary"),
        (b"x" * (settings.CURATED_MAX_BYTES + 1), "larger than"),
    ):
        result = put(world, data)
        assert (result.code, result.stdout, said in result.stderr) == (2, "", True)
    assert world.files() == before


def test_set_redacts_secrets_and_warns_of_a_long_page(world: World) -> None:
    page = "Push with %s\n" % SECRET + "y\n" * settings.BRIEFING_LINES
    result = put(world, page, "briefing", "set")
    assert [text in result.stdout for text in ("redacted", "the first 80 lines", SECRET)] == [True, True, False]
    assert not [name for name, data in world.files().items() if SECRET.encode() in data]


def test_a_profile_is_set_shown_and_listed(world: World) -> None:
    assert "No profiles" in world.memory("profile").stdout
    assert world.memory("profile", "show", "melt").code == 2
    assert not world.root.exists()
    assert "+- low heat" in put(world, "- low heat\n", "profile", "set", "/kitchen:Melt").stdout
    assert "-- low heat" in put(world, "- lower heat\n", "profile", "set", "melt").stdout
    put(world, "- lowest heat\n", "profile", "set", "melt")
    folder = world.project / "profiles"
    assert sorted(path.name for path in folder.iterdir()) == ["melt.md", "melt.md.1", "melt.md.2"]
    assert world.memory("profile", "show", "melt").stdout == "- lowest heat\n"
    put(world, "- sharp knife\n", "profile", "set", "cut")
    assert [row["skill"] for row in world.json("profile", "list")] == ["cut", "melt"]
    assert "- sharp knife" in world.memory("profile").stdout
    assert world.json("verify")["findings"] == []


def test_edit_writes_pages_and_notes_as_saved(world: World, tmp_path: Path) -> None:
    assert world.memory("edit", "briefing", **editor(tmp_path, "t = '# Us\\n'")).code == 0
    assert world.memory("edit", "profile/melt", **editor(tmp_path, "t = '- melt\\n'")).code == 0
    second = world.memory("edit", "briefing", **editor(tmp_path, "t += '- Use %s\\n'" % SECRET)).stdout
    assert "Secrets in it were redacted." in second
    assert world.memory("profile", "show", "melt").stdout == "- melt\n"
    world.memory("note", "add", "cart", "Totals are rounded once")
    assert "Nothing changed" in world.memory("edit", "cart", **editor(tmp_path, "pass")).stdout
    assert world.memory("edit", "cart", **editor(tmp_path, "t += '- New\\n'")).code == 0
    assert world.json("note", "show", "cart")["facts"] == ["Totals are rounded once", "New"]
    assert not [name for name, data in world.files().items() if SECRET.encode() in data]


def test_a_refused_edit_keeps_the_old_version_and_names_the_draft(world: World, tmp_path: Path) -> None:
    put(world, "# Us\n")
    world.memory("note", "add", "cart", "Totals are rounded once")
    note = world.project / "LEARNING" / "topics" / "cart.md"
    before = note.read_text("utf-8")
    binary = world.memory("edit", "briefing", **editor(tmp_path, "t = 'a' + chr(0)"))
    wrong_type = world.memory("edit", "cart", **editor(tmp_path, "t = t.replace('type: project', 'type: idea')"))
    for result, said in ((binary, "binary"), (wrong_type, "line 4")):
        assert (result.code, said in result.stderr) == (2, True)
        draft = result.stderr.rpartition("kept: ")[2].strip().replace("~", str(world.home))
        assert Path(draft).is_file()
    assert world.memory("briefing").stdout == "# Us\n"
    assert note.read_text("utf-8") == before
    assert "type: idea" in Path(draft).read_text("utf-8")
    assert world.json("verify")["findings"] == []


def test_edit_without_a_working_editor_changes_nothing(world: World, tmp_path: Path) -> None:
    for command, said in ((None, "no editor"), ("/nowhere/editor", "cannot use"), ("false", "ended with")):
        done = world.memory("edit", "briefing", env={"EDITOR": command, "VISUAL": None})
        assert (done.code, said in done.stderr) == (2, True)
    assert world.memory("edit", "nothing", **editor(tmp_path, "pass")).code == 2
    assert not list(world.root.glob("*/briefing.md"))
