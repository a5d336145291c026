"""What lint finds and corrects, and what compact merges."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import World
from test_notes import made, put, table

from harness_memory.base import clock, settings
from harness_memory.notes import compact, lint, similar
from harness_memory.notes import note as notes
from harness_memory.notes import shelf as notebook

DAY = "2026-11-16"
NOW = clock.parse(DAY + "T12:00:00Z") or 0.0
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(("text", "fact"), table("stories.json"))
def test_a_story_is_found_and_corrected_where_nothing_is_lost(text: str, fact: str) -> None:
    assert lint.story(text)[0]
    assert lint.reworded(text, "") == (fact or text)


@pytest.mark.parametrize("text", table("facts.json"))
def test_a_fact_is_left_alone(text: str) -> None:
    assert (lint.story(text), lint.relative_dates(text, DAY)) == (("", ""), [])
    assert lint.reworded(text, DAY) == text


@pytest.mark.parametrize(("text", "meaning"), table("dates.json"))
def test_a_relative_date_is_found_with_its_day(text: str, meaning: str) -> None:
    ((words, day),) = lint.relative_dates(text, DAY)
    assert day == meaning
    assert lint.reworded(text, DAY) == text.replace(words, meaning or words)


@pytest.mark.parametrize(("kind", "one", "other"), table("pairs.json"))
def test_two_statements_are_alike_or_not(kind: str, one: str, other: str) -> None:
    pairs = similar.pairs([one, "Something else entirely, of no account", other])
    assert [pair.kind for pair in pairs] == [kind] * bool(kind)


def test_a_table_of_values_is_not_a_contradiction() -> None:
    assert similar.pairs(["Service number %d listens on port %d" % (n, 8000 + n) for n in range(500)]) == []


# lint ----------------------------------------------------------------------------------------------


def findings(tmp_path: Path) -> list[lint.Finding]:
    return lint.check(notebook.shelves(str(tmp_path), str(tmp_path / "p")), str(tmp_path), NOW)


@pytest.fixture
def shelf(tmp_path: Path) -> notebook.Shelf:
    return notebook.Shelf("project", str(tmp_path / "p"))


def test_every_kind_of_finding_names_file_line_reason_and_remedy(tmp_path: Path, shelf: notebook.Shelf) -> None:
    many = ("Fact %d about thing number %d and nothing else" % (n, n * n) for n in range(settings.NOTE_LINES))
    code = made("code", "See below")
    code.body += ["```", *("x = %d" % n for n in range(20)), "```"]
    put(
        shelf,
        made("long", *many),
        code,
        made("story", "We found the bug in the parser", "Release is tomorrow"),
        made("one", "Totals are rounded once, at the end", "Sessions last 10 minutes at most"),
        made("two", "Totals are rounded once, at the end", "Sessions last 20 minutes at most"),
        made("three", "Totals are always rounded once, at the end"),
        made("drifted", "About files", files=["here.py sha256:000000000000", "gone.py"]),
        made("orphaned", "About a file", files=["gone.py sha256:000000000000"]),
        made("unused", "Nobody reads this", day="2026-01-01"),
    )
    (tmp_path / "here.py").write_text("changed")
    topics = Path(shelf.folder)
    (topics / "key.md").write_text("- The key is %s\n" % SECRET, "utf-8")
    (topics / "odd.md").write_text("---\nname: odd\n---\n- a fact with half of it\n", "utf-8")
    (topics / "damaged.md").write_bytes(b"- by \xff\xfe hand\n")
    os.utime(shelf.path("unused"), (0, 0))
    os.utime(shelf.path("story"), (NOW, NOW))
    found = findings(tmp_path)
    assert {finding.kind for finding in found} == {
        "narrative", "relative-date", "duplicate", "near-duplicate", "contradiction", "stale", "long",
        "code", "secret", "frontmatter", "unused", "unreadable",
    }  # fmt: skip
    for finding in found:
        assert os.path.isfile(finding.file)
        assert finding.line > 0
        assert finding.what
        assert finding.remedy
    (date,) = [finding for finding in found if finding.kind == "relative-date"]
    assert Path(date.file).read_text("utf-8").split("\n")[date.line - 1] == "- Release is tomorrow"
    assert "2026-11-17" in date.what


def test_notes_in_order_have_no_findings(tmp_path: Path, shelf: notebook.Shelf) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    put(shelf, made("a", "A is about a.py", files=[notes.stamped("a.py", str(tmp_path))]))
    put(notebook.user_shelf(str(tmp_path)), made("a", "A is about a.py, for me", scope="user"))
    assert findings(tmp_path) == []


def test_a_superseded_note_contradicts_nothing(tmp_path: Path, shelf: notebook.Shelf) -> None:
    put(shelf, made("old", "The database is Postgres"), made("new", "The database is MongoDB"))
    assert [finding.kind for finding in findings(tmp_path)] == ["contradiction"]
    put(shelf, made("new", "The database is MongoDB", supersedes=["old"]))
    assert findings(tmp_path) == []


@pytest.mark.parametrize(("before", "after"), table("corrected.json"))
def test_a_note_of_one_day_is_corrected(before: str, after: str) -> None:
    head = "---\nname: a\ndescription: b c d\ntype: user\ncreated: %s\n---\n" % DAY
    note = notes.parse("x", head + "- Fact\n%s\n" % before)
    lint.correct(note)
    assert note.body == ["- Fact", after]


def test_a_date_in_a_note_that_grew_is_offered_but_not_written(shelf: notebook.Shelf) -> None:
    put(shelf, made("a", "It ends tomorrow", day="2026-11-01"))
    (note,) = shelf.read()
    assert lint.correct(note) == []


def test_a_note_without_frontmatter_gets_one() -> None:
    note = notes.parse("auth", "# Auth\n\n- Tokens expire\n")
    lint.correct(note)
    again = notes.parse("auth", notes.render(note))
    assert (again.name, again.description, again.type, again.problems) == ("Auth", "Tokens expire", "project", [])


# compact -------------------------------------------------------------------------------------------


def test_compact_keeps_every_fact_once_and_archives_every_original(tmp_path: Path, shelf: notebook.Shelf) -> None:
    put(
        shelf,
        made("a", "Totals are rounded once", "Tax is included in every price", day="2026-11-15"),
        made("b", "Totals are rounded once!", "Refunds take 3 days"),
        made("c", "Tax is included in every price shown", "C alone says this"),
        made("d", "Totals are rounded once"),
        made("e", "Deploys happen by hand"),
        made("f", "Deploys happen by robot", supersedes=["e"]),
        made("g", "Sessions last 10 minutes at most"),
        made("h", "Sessions last 20 minutes at most"),
        made("money", "Totals are rounded once", "Parcels leave at noon"),
    )
    before = {slug: Path(shelf.path(slug)).read_bytes() for slug in shelf.slugs()}
    changes, _ = compact.carry_out(shelf, NOW)
    facts = [fact.text for note in shelf.read() for fact in note.facts]
    assert sorted(facts) == [
        "C alone says this",
        "Deploys happen by robot",
        "Parcels leave at noon",
        "Refunds take 3 days",
        "Sessions last 10 minutes at most",
        "Sessions last 20 minutes at most",
        "Tax is included in every price shown",
        "Totals are rounded once!",
    ]
    archived = {notebook.archived_slug(path.name): path.read_bytes() for path in Path(shelf.archive).iterdir()}
    assert set(archived) == set(changes) == {"a", "d", "e", "money"}
    assert all(archived[slug] == before[slug] for slug in archived)
    assert compact.carry_out(shelf, NOW) == ({}, [])


def test_compact_names_what_it_leaves_to_decide_and_where_originals_are(world: World) -> None:
    facts = ("Sessions last 10 minutes at most", "Sessions last 20 minutes at most")
    world.memory("note", "add", "First", facts[0], "The cart holds nine parcels")
    world.memory("note", "add", "Second", *facts)
    world.memory("note", "add", "Third", facts[1], "--scope", "user")
    world.memory("note", "add", "Fourth", facts[1], "Own", "--scope", "user")
    before = world.files()
    planned = world.json("compact", "--dry-run", code=1)
    assert world.files() == before
    shown = world.memory("compact").stdout
    for folder in (world.project.name, "user"):
        assert "1 original kept in ~/.claude/memory/%s/archive/notes" % folder in shown
    again = world.json("compact", code=1)
    assert (again["changes"], len(planned["changes"])) == ([], 3)
    assert {finding["kind"] for finding in again["needs_a_mind"]} == {"contradiction", "duplicate"}
    for finding in again["needs_a_mind"]:
        line = Path(finding["file"]).read_text("utf-8").split("\n")[finding["line"] - 1]
        assert line.startswith("- ")
        assert line[2:] in finding["what"]
