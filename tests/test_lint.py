"""What lint finds, what it puts right, and what compact merges."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from commandline import World
from test_notes import made, put

from harness_memory.base import clock, settings
from harness_memory.notes import compact, freshness, lint, similar, wording
from harness_memory.notes import note as notes
from harness_memory.notes import shelf as notebook

NOW = clock.parse("2026-11-16T12:00:00Z") or 0.0
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


# Wording -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("Today I learned that JSONB needs a different index", "JSONB needs a different index"),
        ("We discovered that the API route was static", "The API route was static"),
        ("It turns out that caching is off", "Caching is off"),
        ("TIL: caching is off", "Caching is off"),
        ("I had a type error with Uint8Array and Blob", ""),
        ("We tried X. It failed", ""),
        ("Done. We ran into a wall", ""),
    ],
)
def test_stories(text: str, instead: str) -> None:
    hit = wording.story(text)
    assert hit is not None
    assert hit.instead == instead


@pytest.mark.parametrize(
    "text",
    [
        "PostgreSQL JSONB indexes require GIN, not B-tree",
        "Use `uint8Array as BlobPart` for strict TypeScript",
        "The user said we were late",
        "Retry if we discovered nothing",
        "Note the order: first A, then B",
    ],
)
def test_facts_are_left_alone(text: str) -> None:
    assert wording.story(text) is None
    assert wording.corrected(text, "2026-11-16") == text


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("Exit tomorrow", "2026-11-17"),
        ("It broke yesterday", "2026-11-15"),
        ("released today", "2026-11-16"),
        ("3 days ago it worked", "2026-11-13"),
        ("Since two weeks ago", "2026-11-02"),
        ("a month ago", "2026-10"),
        ("last week", "the week of 2026-11-09"),
        ("next month it ends", "2026-12"),
        ("last year", "2025"),
        ("next friday", "2026-11-20"),
        ("last Monday", "2026-11-09"),
        ("this morning", "2026-11-16"),
    ],
)
def test_relative_dates_and_what_they_meant(text: str, instead: str) -> None:
    (hit,) = wording.relative_dates(text, "2026-11-16")
    assert hit.instead == instead


@pytest.mark.parametrize(
    "text",
    [
        "exit on Monday 03/23",
        "tomorrow (2026-11-17)",
        "the column `today`",
        "Runs in the last week of a month",
        "daily",
    ],
)
def test_dates_that_are_left_alone(text: str) -> None:
    assert wording.relative_dates(text, "2026-11-16") == []


@pytest.mark.parametrize("words", ["yesterday ", "`yesterday` ", "3 days ago ", "yesterday 2026-01-01 ", "today, "])
def test_absurd_wording_takes_no_longer_than_it_is_long(words: str) -> None:
    text = "The customer called " + words * 20_000
    began = time.process_time()
    wording.relative_dates(text, "2026-11-16")
    wording.corrected(text, "2026-11-16")
    assert time.process_time() - began < 3


def test_quotations_end_where_they_end() -> None:
    text = "`today` today ``today`` tomorrow `tomorrow"
    assert wording.corrected(text, "2026-11-16") == "`today` 2026-11-16 ``2026-11-16`` 2026-11-17 `tomorrow"


# Alike ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Access tokens expire in 15 minutes", "access  tokens expire in 15 minutes!", similar.SAME),
        ("Access tokens expire in 15 minutes", "Access tokens always expire in 15 minutes", similar.WITHIN),
        ("Access tokens expire in 15 minutes", "Access tokens expire in 20 minutes", similar.OTHERWISE),
        ("Never push to main", "Push to main", similar.OTHERWISE),
        ("Use tabs for indentation", "Use spaces for indentation", similar.OTHERWISE),
        ("Set DEBUG to true", "Set DEBUG to false", similar.OTHERWISE),
        ("Set `DEBUG=true` in .env for the cart", "Set `DEBUG=false` in .env for the cart", similar.OTHERWISE),
        ("Caching is enabled on staging", "Caching is disabled on staging", similar.OTHERWISE),
        ("Feature flags are on in staging", "Feature flags are off in staging", similar.OTHERWISE),
        ("The database is Postgres", "The database is MongoDB", similar.OTHERWISE),
        ("Service A calls service B over HTTP", "Service B calls service A over HTTP", similar.NEAR),
        ("Access tokens expire in 15 minutes", "Refresh tokens live in cookies", ""),
        ("The parser reads UTF-8", "The lexer reads UTF-8", ""),
    ],
)
def test_two_statements(one: str, other: str, kind: str) -> None:
    assert [pair.kind for pair in similar.pairs([one, "Something else entirely, of no account", other])] == [
        kind
    ] * bool(kind)


def test_a_table_is_no_contradiction() -> None:
    assert similar.pairs(["Service number %d listens on port %d" % (n, 8000 + n) for n in range(500)]) == []


# Lint ----------------------------------------------------------------------------------------------


def findings(tmp_path: Path, root: Path | None = None) -> list[lint.Finding]:
    shelves = notebook.shelves(str(tmp_path), str(tmp_path / "p"))
    return lint.check(shelves, str(root or tmp_path), NOW)


def project(tmp_path: Path) -> notebook.Shelf:
    return notebook.project_shelf(str(tmp_path / "p"))


def test_every_kind_of_finding_names_file_line_reason_and_remedy(tmp_path: Path) -> None:
    shelf = project(tmp_path)
    long = made(
        "long", *("Fact %d about thing number %d and nothing else" % (n, n * n) for n in range(settings.NOTE_LINES))
    )
    code = made("code", "See below")
    code.body += ["```", *("x = %d" % n for n in range(20)), "```"]
    put(
        shelf,
        long,
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
    (tmp_path / "p/LEARNING/topics/key.md").write_text("- The key is %s\n" % SECRET, "utf-8")
    (tmp_path / "p/LEARNING/topics/bare.md").write_text("- a fact without frontmatter\n", "utf-8")
    (tmp_path / "p/LEARNING/topics/odd.md").write_text("---\nname: odd\n---\n- a fact with half of it\n", "utf-8")
    os.utime(shelf.path("unused"), (0, 0))
    found = findings(tmp_path)
    kinds = {finding.kind for finding in found}
    assert kinds == {
        "narrative", "relative-date", "duplicate", "near-duplicate", "contradiction", "drifted", "orphaned", "long",
        "code", "secret", "frontmatter", "unused",
    }  # fmt: skip
    for finding in found:
        assert os.path.isfile(finding.path)
        assert finding.line > 0
        assert finding.what
        assert finding.remedy
    (date,) = [finding for finding in found if finding.kind == "relative-date"]
    assert Path(date.path).read_text("utf-8").split("\n")[date.line - 1] == "- Release is tomorrow"
    assert "2026-11-17" in date.remedy


def test_notes_in_order_have_no_findings(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    put(project(tmp_path), made("a", "A is about a.py", files=[freshness.stamped("a.py", str(tmp_path))]))
    put(notebook.user_shelf(str(tmp_path)), made("a", "A is about a.py, for me", scope="user"))
    assert findings(tmp_path) == []


def test_superseded_notes_contradict_nobody(tmp_path: Path) -> None:
    put(project(tmp_path), made("old", "The database is Postgres"), made("new", "The database is MongoDB"))
    assert [finding.kind for finding in findings(tmp_path)] == ["contradiction"]
    put(project(tmp_path), made("new", "The database is MongoDB", supersedes=["old"]))
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- Today I learned that tests need tox", "- Tests need tox"),
        ("* It ends tomorrow", "* It ends 2026-11-17"),
        ("1. It ends last week", "1. It ends last week"),
        ("- I had trouble", "- I had trouble"),
    ],
)
def test_what_is_put_right(before: str, after: str) -> None:
    note = notes.parse(
        "x", "---\nname: a\ndescription: b c d\ntype: user\ncreated: 2026-11-16\n---\n- Fact\n%s\n- Fact\n" % before
    )
    lint.corrected(note)
    assert note.body == ["- Fact", after]


def test_a_note_without_frontmatter_gets_one() -> None:
    note = notes.parse("auth", "# Auth\n\n- Tokens expire\n")
    lint.corrected(note)
    again = notes.parse("auth", notes.render(note))
    assert (again.name, again.description, again.type, again.problems) == ("Auth", "Tokens expire", "project", [])


def test_a_date_in_an_older_note_is_offered_but_not_written(tmp_path: Path) -> None:
    put(project(tmp_path), made("a", "It ends tomorrow", day="2026-11-01"))
    (note,) = project(tmp_path).read()
    assert lint.corrected(note) == []


# Compact -------------------------------------------------------------------------------------------


def compacted(tmp_path: Path) -> tuple[list[str], list[str]]:
    shelves = notebook.shelves(str(tmp_path), str(tmp_path / "p"))
    changes = [change for shelf in shelves for change in compact.carry_out(shelf, NOW)[0]]
    minded = lint.check_pairs(notebook.open_book(shelves))
    return [change.note.slug for change in changes], [finding.kind for finding in minded]


def test_compact_keeps_every_fact_once_and_every_original(tmp_path: Path) -> None:
    shelf = project(tmp_path)
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
    )
    before = {slug: Path(shelf.path(slug)).read_bytes() for slug in shelf.slugs()}
    changed, minded = compacted(tmp_path)
    facts = [fact.text for note in shelf.read() for fact in note.facts]
    assert sorted(facts) == sorted(
        [
            "Totals are rounded once!",
            "Refunds take 3 days",
            "Tax is included in every price shown",
            "C alone says this",
            "Deploys happen by robot",
            "Sessions last 10 minutes at most",
            "Sessions last 20 minutes at most",
        ]
    )
    assert minded == ["contradiction"]
    kept = {notebook.archived_slug(path.name): path.read_bytes() for path in (tmp_path / "p/archive/notes").iterdir()}
    assert set(kept) == set(changed) == {"a", "d", "e"}
    assert all(kept[slug] == before[slug] for slug in kept)
    assert compacted(tmp_path) == ([], ["contradiction"])


def test_compact_leaves_other_scopes_and_overrides_alone(tmp_path: Path) -> None:
    put(project(tmp_path), made("editor", "Prefers tabs over spaces"), made("x", "Lives in Lisbon since 2020"))
    put(notebook.user_shelf(str(tmp_path)), made("editor", "Prefers tabs over spaces", scope="user"))
    put(notebook.user_shelf(str(tmp_path)), made("me", "Lives in Lisbon since 2020", scope="user"))
    assert compacted(tmp_path) == ([], ["duplicate"])


def test_compact_leaves_no_description_that_no_fact_says(tmp_path: Path) -> None:
    shelf = project(tmp_path)
    told = made("b", "Totals are rounded once", "Refunds take 3 days")
    told.fields["description"] = "Totals are rounded once"
    own = made("c", "Totals are rounded once", "Parcels leave at noon")
    own.fields["description"] = "How money is handled"
    put(shelf, made("a", "Totals are rounded once", day="2026-11-30"), told, own)
    compacted(tmp_path)
    assert {note.slug: note.description for note in shelf.read() if note.slug != "a"} == {
        "b": "Refunds take 3 days",
        "c": "How money is handled",
    }


def test_compact_names_no_line_that_it_drops(home: Path, repo: Path) -> None:
    world = World(home, repo)
    world.memory("note", "add", "First", "Sessions last 10 minutes at most", "The cart holds nine parcels")
    world.memory("note", "add", "Second", "Sessions last 10 minutes at most", "Sessions last 20 minutes at most")
    world.memory("note", "add", "Third", "Sessions last 20 minutes at most", "--scope", "user")
    world.memory("note", "add", "Fourth", "Sessions last 20 minutes at most", "Own", "--scope", "user")
    done = world.json("compact", code=1)
    again = world.json("compact", code=1)
    assert done["changes"]
    assert done["needs_a_mind"] == again["needs_a_mind"] != []
    for finding in done["needs_a_mind"]:
        line = Path(finding["file"]).read_text("utf-8").split("\n")[finding["line"] - 1]
        assert line.startswith("- ")
        assert line[2:] in finding["what"]


def test_compact_says_where_each_original_is(home: Path, repo: Path) -> None:
    world = World(home, repo)
    for scope in ("project", "user"):
        for name in ("One", "Two"):
            fact = "Totals of the %s are rounded once" % scope
            world.memory("note", "add", name + scope, fact, "--scope", scope)
    shown = world.memory("compact").stdout
    assert "1 original kept in ~/.claude/memory/%s/archive/notes" % world.project.name in shown
    assert "1 original kept in ~/.claude/memory/user/archive/notes" in shown
