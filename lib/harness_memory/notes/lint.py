"""What is wrong with notes, each finding with file, line, reason and remedy. `corrected` does what is safe.

narrative       a story instead of a fact             relative-date   only right on the day it was written
duplicate       the same fact twice                   near-duplicate  nearly the same fact twice
contradiction   same subject, other value: perhaps    drifted         a file it is about has changed
orphaned        the files it is about are gone        long            over 200 lines
code            a listing instead of a fact           secret          a credential
frontmatter     missing or wrong fields               index           MEMORY.md is nearly full
unreadable      not a plain file, too large, no text
unused          neither used nor verified for six months: a proposal, never removed unasked
"""

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
_MERGE = "merge them: harness memory compact"


class Finding(NamedTuple):
    path: str
    line: int
    kind: str
    what: str
    remedy: str
    is_safe: bool = False  # `--fix` does it

    def as_json(self) -> dict[str, Any]:
        return dict(zip(("file", "line", "kind", "what", "remedy", "fixable"), self))


def check(places: list[Shelf], root: str, now: float) -> list[Finding]:
    """All findings in the notes of these shelves; `root` is the project's directory."""
    book = notebook.open_book(places)
    findings = [finding for note in book.notes for finding in check_note(note, root)]
    findings += check_pairs(book)
    for shelf in places if book.notes else ():
        own = [note for note in book.notes if note.scope == shelf.scope and shelf.home]
        warning = index.render(notebook.Book(own).holding)[1]
        if warning:
            remedy = "merge topics, or remove what is not needed: harness memory compact, then list --unused"
            findings.append(Finding(shelf.index, 1, "index", warning, remedy))
        for note in unused(shelf, own, now):
            what = "neither used nor verified since %s" % clock.iso(notebook.last_used(shelf, note))[:10]
            remedy = "verify it (note edit %s --verified), or: harness memory note remove %s" % (note.slug, note.slug)
            findings.append(Finding(note.path, 1, "unused", what, remedy))
    return findings


def unused(shelf: Shelf, own: list[Note], now: float) -> list[Note]:
    return [
        note for note in own if notebook.last_used(shelf, note) < now - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS
    ]


# One note ----------------------------------------------------------------------------------------


def check_note(note: Note, root: str, day: str = "") -> Iterator[Finding]:
    """`day` is when its statements were made; by default the day the note was created or written."""
    if note.is_unreadable:
        remedy = "split the topic, or move it out of the store; archive/notes may hold a former version"
        yield Finding(note.path, 1, "unreadable", note.problems[0][1], remedy)
        return
    if note.lacks and not note.problems:
        what = "lacks %s in its frontmatter" % ", ".join(note.lacks)
        yield Finding(note.path, 1, "frontmatter", what, "add it, as --fix does", is_safe=True)
    for line, what in note.problems:
        yield Finding(note.path, line, "frontmatter", what, "correct it: harness memory note edit %s" % note.ref)
    about = [str(note.fields.get(key) or "") for key in ("name", "description")]
    statements = [(1, text) for text in about if text not in [fact.text for fact in note.facts]]
    statements += [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
    for line, text in statements:
        yield from _check_statement(note, line, text, day or _written(note))
    yield from _check_size(note)
    state, paths = freshness.state(note, root) if note.scope != "user" else ("", [])
    if state in (freshness.DRIFTED, freshness.ORPHANED):
        shown = ", ".join(paths[:3]) + (" and %d more" % (len(paths) - 3) if len(paths) > 3 else "")
        what = "%s: %s since it was verified: %s"
        what %= (state, "missing" if state == freshness.ORPHANED else "changed or missing", shown)
        remedy = "check that it still holds, then: harness memory note edit %s --verified" % note.slug
        yield Finding(note.path, 1, state.lower(), what, remedy)


def _check_statement(note: Note, line: int, text: str, day: str) -> Iterator[Finding]:
    if redact(text) != text:
        yield Finding(note.path, line, "secret", "holds a secret", "remove it, as --fix does", is_safe=True)
        return
    shown = cut(text, _SHOWN_CHARS)
    story = wording.story(text)
    if story:
        fact = ': "%s"' % cut(story.instead, _SHOWN_CHARS) if story.instead else ""
        what = 'tells a story ("%s"): %s' % (story.text, shown)
        yield Finding(note.path, line, "narrative", what, "state the fact alone" + fact, story.is_safe)
    for date in wording.relative_dates(text, day):
        if not (
            story and story.is_safe and date.match.start() < story.match.end()
        ):  # goes with the opening of the story
            what = '"%s" is only right on the day it was written: %s' % (date.text, shown)
            remedy = 'write "%s" (if written on %s)' % (date.instead, day)
            yield Finding(note.path, line, "relative-date", what, remedy, date.is_safe and _is_dated(note, day))


def _check_size(note: Note) -> Iterator[Finding]:
    fences = [number for number, line in enumerate(note.body) if notes.is_fence(line)]
    for begin, end in zip(fences[::2], fences[1::2]):
        if end - begin - 1 > _CODE_LINES:
            remedy = "keep it in the repository, and here the path and what to know of it"
            what = "holds a listing of %d lines" % (end - begin - 1)
            yield Finding(note.path, note.head_lines + begin + 1, "code", what, remedy)
    size = note.head_lines + len(note.body)
    if size > settings.NOTE_LINES:
        remedy = "summarise it: keep the facts that still hold, condense related ones, or split the topic"
        yield Finding(note.path, settings.NOTE_LINES, "long", "has %d lines" % size, remedy)


# Two notes ---------------------------------------------------------------------------------------


def statements(book: Book) -> list[tuple[Note, Fact]]:
    """Every fact of notes that are not superseded, with its note."""
    return [(note, fact) for note in book.notes if note.ref not in book.superseded for fact in note.facts]


def check_pairs(book: Book, last: str = "") -> Iterator[Finding]:
    """Of two alike facts the later is the finding; `last` is the note that counts as the latest."""
    told = sorted(statements(book), key=lambda each: each[0].ref == last)
    for pair in similar.pairs([fact.text for _, fact in told]):
        (one, fact), (other, later) = told[pair.first], told[pair.second]
        if one.slug == other.slug and one.scope != other.scope:
            continue  # an override
        line = other.head_lines + later.first + 1
        where = "%s:%d" % (one.ref, one.head_lines + fact.first + 1)
        shown = cut(later.text, _SHOWN_CHARS)
        is_merged = one.scope == other.scope and pair.kind in (similar.SAME, similar.WITHIN)
        remedy = _MERGE if is_merged else "keep the better one"
        if pair.kind == similar.SAME:
            what = "says what %s says: %s" % (where, shown)
            yield Finding(other.path, line, "duplicate", what, remedy, is_safe=one.ref == other.ref)
        elif pair.kind == similar.OTHERWISE:
            what = 'perhaps contradicts %s ("%s"): %s' % (where, cut(fact.text, _SHOWN_CHARS), shown)
            remedy = "if so, drop the one that no longer holds, or: harness memory note supersede OLD NEW"
            yield Finding(other.path, line, "contradiction", what, remedy)
        else:
            yield Finding(other.path, line, "near-duplicate", "says nearly what %s says: %s" % (where, shown), remedy)


# Correcting --------------------------------------------------------------------------------------


def corrected(note: Note) -> list[str]:
    """Correct a note as far as it is safe; what was done."""
    done = []
    if note.lacks and not note.problems:
        note.fields.update(name=note.name, description=note.description or note.name, type=note.type)
        note.has_head = True
        done.append("frontmatter added")
    firsts: dict[str, Fact] = {}
    repeated = [fact for fact in note.facts if firsts.setdefault(similar.key(fact.text), fact).first != fact.first]
    note.body = notes.without(note.body, repeated) if repeated else note.body
    done += ["dropped, said before: %s" % cut(fact.text, _SHOWN_CHARS) for fact in repeated]
    day = _written(note) if _is_dated(note, _written(note)) else ""
    for key in ("name", "description"):
        text = str(note.fields.get(key) or "")
        clean = redact(text) if key == "name" else wording.corrected(redact(text), day)
        if clean != text:
            note.fields[key] = clean
            done.append("%s corrected" % key)
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
