"""What lint finds and corrects, and what compact merges."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from commandline import World
from test_notes import DATA, made, put, table

from harness_memory.base import clock
from harness_memory.notes import lint
from harness_memory.notes import shelf as notebook

DAY = "2026-11-16"
NOW = clock.parse(DAY + "T12:00:00Z") or 0.0


@pytest.mark.parametrize(("text", "fact"), table("stories.json"))
def test_a_story_is_found_with_its_fact(text: str, fact: str) -> None:
    assert lint.plain(text) == (fact or text)
    assert "narrative" in [kind for kind, _ in lint.wording(text, "")]


@pytest.mark.parametrize("text", table("facts.json"))
def test_a_fact_is_left_alone(text: str) -> None:
    assert (lint.plain(text), [*lint.wording(text, DAY)]) == (text, [])


@pytest.mark.parametrize(("text", "meaning"), table("dates.json"))
def test_a_relative_date_is_found_with_its_day(text: str, meaning: str) -> None:
    ((kind, what),) = lint.wording(text, DAY)
    assert (kind, "means" in what, meaning in what) == ("relative-date", bool(meaning), True)


@pytest.mark.parametrize(("kind", "one", "other"), table("pairs.json"))
def test_two_statements_are_alike_or_not(kind: str, one: str, other: str) -> None:
    pairs = lint.pairs([one, "Something else entirely, of no account", other])
    assert [found for *_, found in pairs] == [kind] * bool(kind)


def test_a_table_of_values_is_not_a_contradiction() -> None:
    assert lint.pairs(["Service number %d listens on port %d" % (n, 8000 + n) for n in range(500)]) == []


# lint ----------------------------------------------------------------------------------------------
def findings(tmp_path: Path) -> list[lint.Finding]:
    return lint.check(notebook.shelves(str(tmp_path), str(tmp_path / "p")), str(tmp_path), NOW)


@pytest.fixture
def shelf(tmp_path: Path) -> notebook.Shelf:
    return notebook.Shelf("project", str(tmp_path / "p"))


def test_every_kind_of_finding_is_found_in_its_sample(tmp_path: Path, shelf: notebook.Shelf) -> None:
    shutil.copytree(DATA / "findings", shelf.folder)
    for path in Path(shelf.folder).iterdir():
        os.utime(path, (NOW, NOW))
    kinds: dict[str, list[str]] = {"a-fine": []}
    for finding in findings(tmp_path):
        kinds.setdefault(Path(finding.file).stem, []).append(finding.kind)
        assert finding.line > 0
        assert finding.what
        assert finding.remedy
        if finding.kind == "relative-date":
            assert Path(finding.file).read_text("utf-8").split("\n")[finding.line - 1] == "- Release is tomorrow"
            assert "2026-11-17" in finding.what
    assert kinds == {slug: [slug] if slug != "a-fine" else [] for slug in shelf.slugs()}


def test_a_superseded_note_contradicts_nothing(tmp_path: Path, shelf: notebook.Shelf) -> None:
    put(shelf, made("old", "Sessions last 10 minutes"), made("new", "Sessions last 20 minutes"))
    assert [finding.kind for finding in findings(tmp_path)] == ["contradiction"]
    put(shelf, made("new", "Sessions last 20 minutes", supersedes=["old"]))
    assert findings(tmp_path) == []


# compact -------------------------------------------------------------------------------------------
def test_compact_keeps_every_fact_once_and_archives_every_original(shelf: notebook.Shelf) -> None:
    sample = table("compact.json")
    put(shelf, *(made(slug, *facts, **fields) for slug, fields, facts in sample["notes"]))
    before = {slug: Path(shelf.path(slug)).read_bytes() for slug in shelf.slugs()}
    changes, _ = lint.compact(shelf, NOW)
    assert sorted(fact.text for note in shelf.read() for fact in note.facts) == sample["left"]
    archived = {notebook.archived_slug(path.name): path.read_bytes() for path in Path(shelf.archive).iterdir()}
    assert sorted(archived) == sorted(changes) == sample["archived"]
    assert all(archived[slug] == before[slug] for slug in archived)
    assert lint.compact(shelf, NOW) == ({}, [])


def test_compact_says_where_originals_are_and_leaves_what_takes_a_mind(world: World) -> None:
    facts = ("Sessions last 10 minutes at most", "Sessions last 20 minutes at most")
    world.memory("note", "add", "First", facts[0], "The cart holds nine parcels")
    world.memory("note", "add", "Second", *facts)
    world.memory("note", "add", "Third", facts[1], "--scope", "user")
    world.memory("note", "add", "Fourth", facts[1], "Own", "--scope", "user")
    shown = world.memory("compact").stdout
    for folder in (world.project.name, "user"):
        assert "~/.claude/memory/%s/archive/notes" % folder in shown
    assert world.json("compact")["changes"] == []
    left = world.json("lint", code=1)["findings"]
    assert {finding["kind"] for finding in left} == {"contradiction", "duplicate"}
    for finding in left:
        line = Path(finding["file"]).read_text("utf-8").split("\n")[finding["line"] - 1]
        assert line.startswith("- ")
        assert line[2:] in finding["what"]
