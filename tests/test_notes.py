"""Notes as files, shelves of them, and the index that is a view of a shelf."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from life import Life

from harness_memory.base import settings
from harness_memory.notes import index
from harness_memory.notes import note as notes
from harness_memory.notes import shelf as notebook
from harness_memory.notes.note import Note

PAGE = """\
---
name: Parser
description: "How errors are told: by line"
type: project
created: "2026-11-16"
supersedes:
  - old-parser
files:
  - src/my parser.py sha256:0f3a1b2c4d5e
triggers:
  - "command: make parser"
---

# Parser

- Errors carry a line
  and a column
- Tabs count as one

A paragraph is one fact
even over two lines.

```python
- not a fact
```

## Limits
1. At most 1,000 levels
"""


def made(slug: str, *facts: str, scope: str = "project", **fields: object) -> Note:
    note = notes.new(slug, type=str(fields.pop("type", "project")), day=str(fields.pop("day", "2026-11-16")))
    note.fields.update(fields, description=str(fields.get("description") or facts[0]))
    note.scope = scope
    for fact in facts:
        notes.add_fact(note, fact)
    return note


def put(shelf: notebook.Shelf, *found: Note) -> None:
    with notebook.Writing(shelf) as writing:
        for note in found:
            writing.put(note)


# The format ----------------------------------------------------------------------------------------


def test_a_page_is_read_as_it_stands() -> None:
    note = notes.parse("parser", PAGE)
    assert note.problems == []
    assert (note.name, note.type, note.day) == ("Parser", "project", "2026-11-16")
    assert note.description == "How errors are told: by line"
    assert note.files == [("src/my parser.py", "0f3a1b2c4d5e")]
    assert [fact.text for fact in note.facts] == [
        "Errors carry a line and a column",
        "Tabs count as one",
        "A paragraph is one fact even over two lines.",
        "At most 1,000 levels",
    ]
    lines = PAGE.split("\n")
    assert lines[note.head_lines + note.facts[1].first] == "- Tabs count as one"


def test_what_is_rendered_is_read_back() -> None:
    text = notes.render(notes.parse("parser", PAGE))
    assert notes.render(notes.parse("parser", text)) == text
    assert notes.parse("parser", text).body == notes.parse("parser", PAGE).body


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        (
            "# Authentication\n\n## JWT\n- Access tokens expire in 15 minutes\n",
            "Authentication",
            "Access tokens expire",
        ),
        ("Just a fact", "slug", "Just a fact"),
        ("", "slug", ""),
        ("---\nno end", "slug", ""),
        ("\ufeff---\r\nname: A\r\n---\r\n\r\n- b\r\n", "A", "b"),
    ],
)
def test_what_is_missing_is_derived(text: str, name: str, description: str) -> None:
    note = notes.parse("slug", text)
    assert note.name == name
    assert note.description.startswith(description)


@pytest.mark.parametrize(
    ("head", "line", "what"),
    [
        ("name: 7\ndescription: b\ntype: user", 2, "name"),
        ("name: a\ndescription: b\ntype: idea", 4, "one of feedback, project, reference, user"),
        ("name: a\ndescription: b\ntype: user\ncreated: tomorrow", 5, "day"),
        ("name: a\ndescription: b\ntype: user\nfiles: 7", 5, "a list"),
        ("name: a\ndescription: b\ntype: user\ntriggers: [make]", 5, "neither"),
        ("name: {a: b}", 2, "frontmatter is invalid"),
    ],
)
def test_what_is_wrong_with_frontmatter(head: str, line: int, what: str) -> None:
    note = notes.parse("x", "---\n%s\n---\n- fact\n" % head)
    assert [at for at, _ in note.problems if at == line]
    assert what in " ".join(text for _, text in note.problems)


def test_half_a_frontmatter_is_completed() -> None:
    note = notes.parse("x", "---\nname: a\n---\n- fact\n")
    assert (note.lacks, note.problems, note.description, note.type) == (["description", "type"], [], "fact", "project")


def test_dropping_facts_drops_headings_left_bare() -> None:
    body = ["# Top", "", "## One", "- a", "", "## Two", "", "### Deep", "- b", "- c"]
    facts = notes.facts(body)
    assert notes.without(body, facts[:1]) == ["# Top", "", "## Two", "", "### Deep", "- b", "- c"]
    assert notes.without(body, facts[1:]) == ["# Top", "", "## One", "- a"]
    assert notes.without(body, []) == body


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Cart totals!", "cart-totals"),
        ("../../etc", "etc"),
        ("日本 語", "日本-語"),
        ("...", ""),
        ("A" * 300, "a" * 80),
        ("Con", "con-note"),
        ("NUL", "nul-note"),
        ("com1", "com1-note"),
        ("contract", "contract"),
        ("com10", "com10"),
    ],
)
def test_slugs_name_files_anywhere(name: str, slug: str) -> None:
    assert notes.slug_of(name) == slug


# Which hold ----------------------------------------------------------------------------------------


def test_the_nearer_scope_stands_before_the_other() -> None:
    book = notebook.Book(
        [made("editor", "Nano now", scope="local"), made("editor", "Emacs"), made("editor", "Vim", scope="user")]
    )
    assert [note.ref for note in book.holding] == ["local/editor"]
    assert book.fate(book.notes[2]) == "overridden by local/editor"


@pytest.mark.parametrize(
    ("edges", "holding"),
    [
        ({"b": ["a"]}, ["b", "c"]),
        ({"b": ["a"], "c": ["b"]}, ["c"]),
        ({"a": ["b"], "b": ["a"]}, ["a", "b", "c"]),
        ({"a": ["a"]}, ["a", "b", "c"]),
        ({"a": ["nobody", "user/a"]}, ["a", "b", "c"]),
    ],
)
def test_what_is_superseded_does_not_hold(edges: dict[str, list[str]], holding: list[str]) -> None:
    found = [made(slug, "Fact of " + slug, supersedes=edges.get(slug, [])) for slug in "abc"]
    assert [note.slug for note in notebook.Book(found).holding] == holding


# The index -----------------------------------------------------------------------------------------


def test_the_index_is_a_view_of_its_shelf(tmp_path: Path) -> None:
    shelf = notebook.project_shelf(str(tmp_path))
    put(shelf, made("old", "Old fact", day="2026-01-01"), made("new", "New fact"), made("gone", "Gone fact"))
    put(shelf, made("heir", "It is otherwise", supersedes=["gone", "user/editor"], type="feedback"))
    text = (tmp_path / "MEMORY.md").read_text("utf-8")
    lines = text.split("\n")[2:-1]
    assert [index.read_line(line)[0] for line in lines] == ["heir", "new", "old"]
    assert index.read_line(lines[0])[1] == ["user/editor"]
    assert notebook.expected_index(shelf) == text.encode()


def test_a_note_written_by_hand_is_listed_by_the_next_start(life: Life, home: Path) -> None:
    life.start()
    life.turn("Ask something", "An answer that is long enough to be of substance.")
    topics = life.project / "LEARNING" / "topics"
    topics.mkdir(parents=True, mode=0o700)
    (topics / "auth.md").write_text("# Auth\n\n- Tokens expire in 15 minutes\n", "utf-8")
    told = Life(home, life.cwd, pid=life.pid).start().context
    assert "[Auth](LEARNING/topics/auth.md): Tokens expire in 15 minutes" in told


def test_an_index_by_hand_is_archived_before_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- my own words\n", "utf-8")
    shelf = notebook.project_shelf(str(tmp_path))
    put(shelf, made("a", "Fact"))
    (kept,) = (tmp_path / "archive" / "notes").iterdir()
    assert kept.read_text("utf-8") == "- my own words\n"


@pytest.mark.parametrize("long", [False, True])
def test_a_full_index_says_what_it_leaves_out(long: bool) -> None:
    found = [made("note-%03d" % n, "Fact %d " % n + "word " * (60 if long else 1)) for n in range(400)]
    text, warning = index.render(found)
    assert text.count("\n") <= settings.NOTES_INDEX_LINES
    assert len(text.encode()) <= settings.NOTES_INDEX_BYTES
    shown = text.count("](LEARNING/topics/")
    assert "(%d more notes are not listed" % (400 - shown) in text.split("\n")[-2]
    assert "100 % full" in warning


@pytest.mark.parametrize(("number", "warned"), [(10, False), (158, True), (198, True), (199, True)])
def test_the_index_warns_from_eighty_percent(number: int, warned: bool) -> None:
    text, warning = index.render([made("n%03d" % n, "Fact %d" % n) for n in range(number)])
    assert bool(warning) == warned
    assert text.count("\n") <= settings.NOTES_INDEX_LINES
    assert ("not listed" in text) == (number > 198)


def test_changing_a_shelf_waits_for_nobody_forever(tmp_path: Path) -> None:
    shelf = notebook.project_shelf(str(tmp_path))
    with notebook.Writing(shelf), pytest.raises(notebook.Busy), notebook.Writing(shelf, 0.05):
        pass
    assert os.listdir(tmp_path / "LEARNING") == []


# What a session is told ----------------------------------------------------------------------------


def test_a_session_is_told_the_nearest_note(life: Life, home: Path) -> None:
    life.start()
    life.turn("Ask something", "An answer that is long enough to be of substance.")
    user = notebook.user_shelf(str(life.store))
    put(user, made("editor", "Uses vim", scope="user"), made("shell", "Uses fish", scope="user"))
    put(user, made("tabs", "Uses tabs", scope="user"))
    put(notebook.project_shelf(str(life.project)), made("editor", "Uses emacs", supersedes=["user/shell"]))
    put(notebook.local_shelf(str(life.directory)), made("tabs", "Spaces, this once", scope="local"))
    told = life.start("compact").context
    assert "Uses emacs" in told
    assert "[local] [tabs](local/tabs.md): Spaces, this once" in told
    for hidden in ("Uses vim", "Uses fish", "Uses tabs"):
        assert hidden not in told
    life.end()
    assert not (life.directory / "local").exists()
    other = Life(home, life.cwd, pid=life.pid).start().context
    assert "Uses tabs" in other
    assert "Spaces, this once" not in other


def test_a_note_that_a_session_read_was_of_use(life: Life) -> None:
    life.start()
    life.turn("Ask something", "An answer that is long enough to be of substance.")
    shelf = notebook.project_shelf(str(life.project))
    put(shelf, made("read", "Read by Claude", day="2020-01-01"), made("unread", "By nobody", day="2020-01-01"))
    life.prompt("And now?")
    life.transcript.read(shelf.path("read"))
    life.stop("Read it.")
    used = {note.slug: notebook.last_used(shelf, note) > 1_700_000_000 for note in shelf.read()}
    assert used == {"read": True, "unread": False}
