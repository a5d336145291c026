"""Notes as files, which of them hold, and the index that is a view of a shelf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from life import Life

from harness_memory.base import settings
from harness_memory.notes import index
from harness_memory.notes import note as notes
from harness_memory.notes import shelf as notebook
from harness_memory.notes.note import Note

DATA = Path(__file__).parent / "data" / "notes"
PAGE = (DATA / "parser.md").read_text("utf-8")


def table(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


def made(slug: str, *facts: str, scope: str = "project", **fields: object) -> Note:
    note = notes.new(slug, type=str(fields.pop("type", "project")), day=str(fields.pop("day", "2026-11-16")))
    note.fields.update(fields, description=str(fields.get("description") or facts[0]))
    note.scope = scope
    for fact in facts:
        note.add(fact)
    return note


def put(shelf: notebook.Shelf, *some: Note) -> None:
    with shelf:
        for note in some:
            shelf.put(note, 1e9)


def test_a_page_reads_as_written() -> None:
    note = notes.parse("parser", PAGE)
    assert (note.problems, note.name, note.type, note.day) == ([], "Parser", "project", "2026-11-16")
    assert note.description == "How errors are told: by line"
    assert note.files == ["src/my parser.py"]
    assert note.patterns("triggers") == ["command: make parser"]
    assert [fact.text for fact in note.facts] == [
        "Errors carry a line and a column",
        "Tabs count as one",
        "A paragraph is one fact even over two lines.",
        "At most 1,000 levels",
    ]
    assert PAGE.split("\n")[note.head_lines + note.facts[1].first] == "- Tabs count as one"


def test_a_rendered_note_reads_back_with_fields_of_others() -> None:
    text = notes.render(notes.parse("parser", PAGE))
    assert notes.render(notes.parse("parser", text)) == text
    assert notes.parse("parser", text).body == notes.parse("parser", PAGE).body
    assert "\nowner: kept as it is\n" in text


@pytest.mark.parametrize(("text", "name", "description"), table("derived.json"))
def test_missing_fields_are_derived(text: str, name: str, description: str) -> None:
    note = notes.parse("slug", text)
    assert note.name == name
    assert note.description.startswith(description)


@pytest.mark.parametrize(("line", "what", "head"), table("frontmatter.json"))
def test_an_invalid_field_is_named_with_its_line(line: int, what: str, head: str) -> None:
    note = notes.parse("x", "---\n%s\n---\n- fact\n" % head)
    assert [(at, what in text) for at, text in note.problems] == [(line, True)]


@pytest.mark.parametrize(("name", "slug"), table("slugs.json"))
def test_a_slug_names_a_file_on_every_system(name: str, slug: str) -> None:
    assert notes.slug_of(name) == slug


@pytest.mark.parametrize(("edges", "holding"), table("superseded.json"))
def test_a_superseded_note_does_not_hold(tmp_path: Path, edges: dict[str, list[str]], holding: list[str]) -> None:
    shelf = notebook.Shelf("project", str(tmp_path))
    put(shelf, *(made(slug, "Fact of " + slug, supersedes=edges.get(slug, [])) for slug in "abc"))
    assert [note.slug for note in notebook.holding([shelf])] == holding


def test_the_index_lists_notes_that_hold_best_first(tmp_path: Path) -> None:
    shelf = notebook.Shelf("project", str(tmp_path))
    put(shelf, made("old", "Old fact", day="2026-01-01"), made("new", "New fact"), made("gone", "Gone fact"))
    put(shelf, made("heir", "It is otherwise", supersedes=["gone"], type="feedback"))
    text = (tmp_path / "MEMORY.md").read_text("utf-8")
    assert [index.read_line(line)[0] for line in text.split("\n")[2:-1]] == ["heir", "new", "old"]
    assert text == index.render(notebook.holding([shelf]))


def test_an_index_made_by_hand_is_archived_before_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- my own words\n", "utf-8")
    put(notebook.Shelf("project", str(tmp_path)), made("a", "Fact"))
    (archived,) = (tmp_path / "archive" / "notes").iterdir()
    assert archived.read_text("utf-8") == "- my own words\n"


@pytest.mark.parametrize(("number", "words"), [(10, 1), (197, 1), (198, 1), (400, 60)])
def test_a_full_index_counts_what_it_leaves_out(number: int, words: int) -> None:
    text = index.render([made("n%03d" % n, "Fact %d " % n + "word " * words) for n in range(number)])
    assert text.count("\n") <= settings.NOTES_INDEX_LINES
    assert len(text.encode()) <= settings.NOTES_INDEX_BYTES
    missing = number - text.count("](LEARNING/topics/")
    assert (missing > 0) == (number > 197)
    assert not missing or "(%d more note" % missing in text.split("\n")[-2]


def test_a_note_made_by_hand_is_injected_at_the_next_start(life: Life, home: Path) -> None:
    life.start()
    life.turn("Ask something", "An answer that is long enough to be of substance.")
    topics = life.project / "LEARNING" / "topics"
    topics.mkdir(parents=True, mode=0o700)
    (topics / "auth.md").write_text("# Auth\n\n- Tokens expire in 15 minutes\n", "utf-8")
    context = Life(home, life.cwd, pid=life.pid).start().context
    assert "] auth: Tokens expire in 15 minutes\n" in context


def test_a_session_is_given_the_nearest_note(life: Life, home: Path) -> None:
    life.start()
    life.turn("Ask something", "An answer that is long enough to be of substance.")
    user = notebook.user_shelf(str(life.store))
    put(user, made("editor", "Uses vim", scope="user"), made("tabs", "Uses tabs for indents", scope="user"))
    put(notebook.Shelf("project", str(life.project)), made("editor", "Uses emacs"))
    put(notebook.Shelf("local", str(life.directory)), made("tabs", "Spaces, this once", scope="local"))
    context = life.start("compact").context + life.prompt("Are tabs for indents what one uses?").context
    assert "Uses emacs" in context
    assert "[local] tabs: Spaces, this once" in context
    assert not [hidden for hidden in ("Uses vim", "Uses tabs") if hidden in context]
    life.end()
    assert not (life.directory / "local").exists()
    other = Life(home, life.cwd, pid=life.pid).start().context
    assert (" user] tabs: Uses tabs for indents" in other, "Spaces, this once" in other) == (True, False)


def test_a_fact_goes_to_the_section_that_it_is_about() -> None:
    note = notes.parse("build", "# Build\n\n## Frontend\n\nVite makes the bundle.\n\n## Backend\n\n- Go, one binary\n")
    for fact in ("The bundle of Vite stays below 200 kB", "The binary is static", "Releases are on Tuesdays"):
        note.add(fact)
    frontend, backend = "\n".join(note.body).split("## Backend")
    assert "Vite makes the bundle.\n\n- The bundle of Vite stays below 200 kB\n" in frontend
    assert backend.endswith("- Go, one binary\n- The binary is static\n- Releases are on Tuesdays")
