"""What is wrong with notes, each finding with file, line, reason and remedy. `corrected` does what is safe."""

from __future__ import annotations

import time
from typing import NamedTuple

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import cut
from . import freshness, index, similar, wording
from . import note as notes
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .note import Fact, Note
    from .shelf import Book, Shelf

_CODE_LINES = 12  # a longer listing belongs into the repository
_SHOWN_CHARS = 80
_REMEDIES = {
    "narrative": "state the fact alone",
    "relative-date": "write the day",
    "secret": "remove it, as --fix does",
    "duplicate": "keep one of them; harness memory compact merges those of one scope",
    "near-duplicate": "keep the better one; harness memory compact drops what adds nothing",
    "contradiction": "if so, drop the one that no longer holds, or: harness memory note supersede OLD NEW",
    "stale": "check that it still holds, then: harness memory note edit NAME --verified",
    "unused": "verify it (note edit NAME --verified), or: harness memory note remove NAME",
    "long": "keep the facts that still hold, condense related ones, or split the topic",
    "code": "keep it in the repository, and here the path and what to know of it",
    "frontmatter": "complete it, as --fix does, or: harness memory note edit NAME",
    "unreadable": "split the topic, or move it out of the store; archive/notes may hold a former version",
    "index": "merge topics, or remove what is not needed: harness memory compact, then list --unused",
}
_ALIKE = {
    similar.SAME: ("duplicate", 'says what %s says: "%s"'),
    similar.WITHIN: ("near-duplicate", 'says nearly what %s says: "%s"'),
    similar.NEAR: ("near-duplicate", 'says nearly what %s says: "%s"'),
    similar.OTHERWISE: ("contradiction", 'perhaps contradicts %s: "%s"'),
}


class Finding(NamedTuple):
    path: str
    line: int
    kind: str
    what: str
    remedy: str
    is_safe: bool  # `--fix` does it

    def as_json(self) -> dict[str, Any]:
        return dict(zip(("file", "line", "kind", "what", "remedy", "fixable"), self))


def _finding(note: Note, line: int, kind: str, what: str, is_safe: bool = False) -> Finding:
    return Finding(note.path, line, kind, what, _REMEDIES[kind].replace("NAME", note.slug), is_safe)


def check(places: list[Shelf], root: str, now: float) -> list[Finding]:
    """All findings in the notes of these shelves; `root` is the project's directory."""
    book = notebook.open_book(places)
    findings = [finding for note in book.notes for finding in check_note(note, root)]
    findings += check_pairs(book)
    for shelf in places:
        own = [note for note in book.notes if note.scope == shelf.scope and shelf.home]
        missing = index.render(notebook.Book(own).holding)[1]
        if missing:
            what = "is full: %d notes are not listed" % missing
            findings.append(Finding(shelf.index, 1, "index", what, _REMEDIES["index"], False))
        for note in unused(shelf, own, now):
            day = clock.iso(notebook.last_used(shelf, note))[:10]
            findings.append(_finding(note, 1, "unused", "neither used nor verified since %s" % day))
    return findings


def unused(shelf: Shelf, own: list[Note], now: float) -> list[Note]:
    since = now - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS
    return [note for note in own if notebook.last_used(shelf, note) < since]


def check_note(note: Note, root: str, day: str = "") -> Iterator[Finding]:
    """`day` is when its statements were made; by default the day the note was created or written."""
    if note.is_unreadable:
        yield _finding(note, 1, "unreadable", note.problems[0][1])
        return
    if note.lacks and not note.problems:
        yield _finding(note, 1, "frontmatter", "lacks %s in its frontmatter" % ", ".join(note.lacks), is_safe=True)
    for line, what in note.problems:
        yield _finding(note, line, "frontmatter", what)
    texts = {str(note.fields.get("description") or ""): 1}
    texts.update({fact.text: note.head_lines + fact.first + 1 for fact in note.facts})
    for text, line in texts.items():
        yield from _check_wording(note, line, text, day or _written(note))
    fences = [number for number, row in enumerate(note.body) if notes.is_fence(row)]
    for begin, end in zip(fences[::2], fences[1::2]):
        if end - begin - 1 > _CODE_LINES:
            what = "holds a listing of %d lines" % (end - begin - 1)
            yield _finding(note, note.head_lines + begin + 1, "code", what)
    size = note.head_lines + len(note.body)
    if size > settings.NOTE_LINES:
        yield _finding(note, settings.NOTE_LINES, "long", "has %d lines" % size)
    stale = freshness.stale_files(note, root) if note.scope != "user" else []
    if stale:
        yield _finding(note, 1, "stale", "changed or missing since it was verified: %s" % ", ".join(stale))


def _check_wording(note: Note, line: int, text: str, day: str) -> Iterator[Finding]:
    if redact(text) != text:
        yield _finding(note, line, "secret", "holds a secret", is_safe=True)
        return
    shown = cut(text, _SHOWN_CHARS)
    story = wording.story(text)
    if story:
        fact = '; the fact is "%s"' % cut(story.instead, _SHOWN_CHARS) if story.instead else ""
        yield _finding(note, line, "narrative", 'is a story: "%s"%s' % (shown, fact), bool(story.instead))
    opening = story.match.end() if story and story.instead else 0
    for date in wording.relative_dates(text, day):
        if date.match.start() >= opening:  # else it goes with the opening of the story
            meaning = "means %s, if" % date.instead if date.instead else "was"
            what = '"%s" %s written on %s: "%s"' % (date.match[0], meaning, day, shown)
            yield _finding(note, line, "relative-date", what, bool(date.instead) and _is_dated(note, day))


def statements(book: Book) -> list[tuple[Note, Fact]]:
    """Every fact of notes that are not superseded, with its note."""
    return [(note, fact) for note in book.notes if note.ref not in book.superseded for fact in note.facts]


def check_pairs(book: Book, last: str = "") -> Iterator[Finding]:
    """Of two alike facts the later is the finding; `last` is the note that counts as the latest."""
    facts = sorted(statements(book), key=lambda each: each[0].ref == last)
    for pair in similar.pairs([fact.text for _, fact in facts]):
        (one, first), (other, second) = facts[pair.first], facts[pair.second]
        if one.slug != other.slug or one.scope == other.scope:  # else one overrides the other
            kind, what = _ALIKE[pair.kind]
            where = '%s:%d ("%s")' % (one.ref, one.head_lines + first.first + 1, cut(first.text, _SHOWN_CHARS))
            what %= (where, cut(second.text, _SHOWN_CHARS))
            yield _finding(other, other.head_lines + second.first + 1, kind, what)


def corrected(note: Note) -> list[str]:
    """Correct a note as far as it is safe; what was done."""
    done = []
    if note.lacks and not note.problems:
        note.fields.update(name=note.name, description=note.description or note.name, type=note.type)
        note.has_head = True
        done.append("frontmatter added")
    day = _written(note) if _is_dated(note, _written(note)) else ""
    about = wording.corrected(redact(note.description), day)
    if note.fields.get("description", about) != about:
        note.fields["description"] = about
        done.append("description corrected")
    for fact in reversed(note.facts):
        clean = redact(fact.text)
        text = wording.corrected(clean, day)
        if text != fact.text:
            done.append('"%s" is now "%s"' % (cut(clean, _SHOWN_CHARS), cut(text, _SHOWN_CHARS)))
            line = note.body[fact.first]
            indent = len(line) - len(line.lstrip())
            note.body[fact.first : fact.last] = [line[: indent + notes.bullet_width(line.strip())] + text]
    return done


def _written(note: Note) -> str:
    """The day a note's statements were made, as far as is known."""
    return str(note.fields.get("created") or "") or _changed(note)


def _is_dated(note: Note, day: str) -> bool:
    """Whether the whole note is of that day: nothing was added later."""
    return bool(note.fields.get("created")) and (not note.path or _changed(note) <= day)


def _changed(note: Note) -> str:
    """The local day its file was last written."""
    return time.strftime("%Y-%m-%d", time.localtime(files.modified(note.path)))
