"""What is wrong with notes, each finding with file, line, reason and remedy. Reads; `corrected` makes what is safe.

narrative       a story instead of a fact             relative-date   only right on the day it was written
duplicate       the same fact twice                   near-duplicate  nearly the same fact twice
contradiction   same subject, other value: perhaps    drifted         a file it is about has changed
orphaned        the files it is about are gone        long            over 200 lines
code            a listing instead of a fact           secret          a credential
frontmatter     missing or wrong fields               index           MEMORY.md is nearly full
unreadable      no plain file, too large, or no text
unused          neither used nor verified for six months: a proposal, nothing removes it unasked
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import cut
from . import freshness, similar, wording
from . import index as notes_index
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
_ARCHIVED = "%s/%s" % (settings.ARCHIVE_DIR, settings.NOTES_ARCHIVE_DIR)


class Finding:
    __slots__ = ("is_safe", "kind", "line", "path", "remedy", "what")

    def __init__(self, path: str, line: int, kind: str, what: str, remedy: str, is_safe: bool = False) -> None:
        self.path = path
        self.line = line
        self.kind = kind
        self.what = what
        self.remedy = remedy
        self.is_safe = is_safe  # `--fix` does it

    def as_json(self) -> dict[str, Any]:
        found = {"file": self.path, "line": self.line, "kind": self.kind, "what": self.what}
        return {**found, "remedy": self.remedy, "fixable": self.is_safe}


def check(places: list[Shelf], root: str, now: float) -> list[Finding]:
    """Everything there is to say about the notes of these shelves; `root` is the project's directory."""
    book = notebook.open_book(places)
    found: list[Finding] = []
    for note in book.notes:
        found += check_note(note, root)
    found += check_pairs(book)
    for shelf in places:
        found += _check_index(shelf, [note for note in book.notes if note.scope == shelf.scope])
        found += _check_use(shelf, book, now)
    return found


# One note ----------------------------------------------------------------------------------------


def check_note(note: Note, root: str, day: str = "") -> Iterator[Finding]:
    """`day` is when its statements were made; by default when the note says it was."""
    yield from _check_head(note)
    for fact in note.facts:
        yield from _check_fact(note, fact, day or _written(note))
    yield from _check_code(note)
    size = note.head_lines + len(note.body)
    if size > settings.NOTE_LINES:
        remedy = "summarise it: keep the facts that still hold, condense related ones, or split the topic"
        yield Finding(note.path, settings.NOTE_LINES, "long", "has %d lines" % size, remedy)
    yield from _check_files(note, root)


def _check_head(note: Note) -> Iterator[Finding]:
    if note.is_unreadable:
        yield Finding(note.path, 1, "unreadable", note.problems[0][1], _unreadable_remedy(note))
        return
    if not note.has_head and not note.problems:
        what = "has no frontmatter: name, description and type are guessed"
        yield Finding(note.path, 1, "frontmatter", what, "add it, as --fix does", is_safe=True)
    if note.lacks:
        what = "lacks %s: guessed from the rest" % ", ".join(note.lacks)
        yield Finding(note.path, 1, "frontmatter", what, "add it, as --fix does", is_safe=True)
    for line, what in note.problems:
        yield Finding(note.path, line, "frontmatter", what, "correct it: %s" % _edit(note))
    about = str(note.fields.get("description") or "")
    if about and about not in [fact.text for fact in note.facts]:
        yield from _check_words(note, about, 1, _written(note))
    told = "%s\n%s" % (note.fields.get("name") or "", about)
    if redact(told) != told:
        yield Finding(note.path, 1, "secret", "its name or description holds a secret", "remove it", is_safe=True)


def _check_fact(note: Note, fact: Fact, day: str) -> Iterator[Finding]:
    line = note.head_lines + fact.first + 1
    if redact(fact.text) != fact.text:
        yield Finding(note.path, line, "secret", "holds a secret", "remove it, as --fix does", is_safe=True)
    else:
        yield from _check_words(note, fact.text, line, day)


def _check_words(note: Note, text: str, line: int, day: str) -> Iterator[Finding]:
    shown = cut(text, _SHOWN_CHARS)
    hit = wording.story(text)
    if hit:
        instead = (
            'state the fact alone: "%s"' % cut(hit.instead, _SHOWN_CHARS) if hit.instead else "state the fact alone"
        )
        yield Finding(
            note.path, line, "narrative", 'tells a story ("%s"): %s' % (hit.text, shown), instead, hit.is_safe
        )
    for date in wording.relative_dates(text, day):
        if hit and hit.is_safe and date.start < hit.end:
            continue  # goes with the story's opening
        what = '"%s" is only right on the day it was written: %s' % (date.text, shown)
        is_safe = date.is_safe and _is_dated(note, day)
        yield Finding(
            note.path, line, "relative-date", what, 'write "%s" (if said on %s)' % (date.instead, day), is_safe
        )


def _check_code(note: Note) -> Iterator[Finding]:
    begin = -1
    for number, line in enumerate(note.body):
        if line.strip()[:3] not in ("```", "~~~"):
            continue
        if begin < 0:
            begin = number
            continue
        if number - begin - 1 > _CODE_LINES:
            what = "holds a listing of %d lines" % (number - begin - 1)
            remedy = "keep it in the repository, and here the path and what to know of it"
            yield Finding(note.path, note.head_lines + begin + 1, "code", what, remedy)
        begin = -1


def _check_files(note: Note, root: str) -> Iterator[Finding]:
    state, paths = freshness.state(note, root) if note.scope != "user" else ("", [])
    if state in (freshness.DRIFTED, freshness.ORPHANED):
        shown = ", ".join(paths[:3]) + (" and %d more" % (len(paths) - 3) if len(paths) > 3 else "")
        what = "%s: gone since it was verified: %s" if state == freshness.ORPHANED else "%s: changed or gone: %s"
        remedy = "see whether it still holds, then: harness memory note edit %s --verified" % note.slug
        yield Finding(note.path, 1, state.lower(), what % (state, shown), remedy)


# Several notes -----------------------------------------------------------------------------------


class Place:
    """A fact and the note it stands in."""

    __slots__ = ("fact", "note")

    def __init__(self, note: Note, fact: Fact) -> None:
        self.note = note
        self.fact = fact

    @property
    def line(self) -> int:
        return self.note.head_lines + self.fact.first + 1

    def __str__(self) -> str:
        return "%s:%d" % (self.note.ref, self.line)


def places_of(book: Book) -> list[Place]:
    """Every fact of notes that are not superseded."""
    return [Place(note, fact) for note in book.notes if note.ref not in book.superseded for fact in note.facts]


def check_pairs(book: Book, last: str = "") -> Iterator[Finding]:
    """Of two alike the later is found, and the other named: `last` is the note that comes after all others."""
    told = sorted(places_of(book), key=lambda place: place.note.ref == last)
    for pair in similar.pairs([place.fact.text for place in told]):
        one, other = told[pair.first], told[pair.second]
        if one.note.slug == other.note.slug and one.note.scope != other.note.scope:
            continue  # the nearer note overrides the other: that is what it is for
        yield pair_finding(pair.kind, one, other)


def pair_finding(kind: str, one: Place, other: Place) -> Finding:
    path, shown = other.note.path, cut(other.fact.text, _SHOWN_CHARS)
    is_one_note = one.note.ref == other.note.ref
    if kind == similar.SAME:
        what = "says what %s says: %s" % (one, shown)
        remedy = "merge them: harness memory compact" if one.note.scope == other.note.scope else "keep one of them"
        return Finding(path, other.line, "duplicate", what, remedy, is_safe=is_one_note)
    if kind in (similar.WITHIN, similar.NEAR):
        what = "says nearly what %s says: %s" % (one, shown)
        remedy = "merge them: harness memory compact" if kind == similar.WITHIN else "keep the better one"
        return Finding(path, other.line, "near-duplicate", what, remedy)
    what = 'perhaps contradicts %s ("%s"): %s' % (one, cut(one.fact.text, _SHOWN_CHARS), shown)
    remedy = "if so, drop the one that no longer holds, or: harness memory note supersede OLD NEW"
    return Finding(path, other.line, "contradiction", what, remedy)


def _check_index(shelf: Shelf, found: list[Note]) -> Iterator[Finding]:
    size = notes_index.render(found)[1] if shelf.home and found else None
    if size and size.warning:
        remedy = "merge topics, or remove what nobody needs: harness memory compact, then list --unused"
        yield Finding(shelf.index, 1, "index", size.warning, remedy)


def _check_use(shelf: Shelf, book: Book, now: float) -> Iterator[Finding]:
    for note in unused(shelf, book.notes, now):
        day = clock.iso(notebook.last_used(shelf, note))[:10]
        remedy = "verify it (note edit %s --verified), or: harness memory note remove %s" % (note.slug, note.slug)
        yield Finding(note.path, 1, "unused", "neither used nor verified since %s" % day, remedy)


def unused(shelf: Shelf, found: list[Note], now: float, days: float = settings.NOTE_UNUSED_DAYS) -> list[Note]:
    mine = [note for note in found if note.scope == shelf.scope and shelf.home]
    return [note for note in mine if notebook.last_used(shelf, note) < now - days * 86400]


# Correcting --------------------------------------------------------------------------------------


def corrected(note: Note, day: str = "") -> list[str]:
    """Do to a note what is safe; names what was done."""
    done = []
    if (not note.has_head or note.lacks) and not note.problems:
        note.fields.update(name=note.name, description=note.description or note.name, type=note.type)
        done.append("frontmatter added")
        note.has_head, note.lacks = True, []
    done += _repeated_dropped(note)
    day = day or (_written(note) if _is_dated(note, _written(note)) else "")
    for key in ("name", "description"):
        text = str(note.fields.get(key) or "")
        clean = _reworded(redact(text), day) if key == "description" else redact(text)
        if clean != text:
            note.fields[key] = clean
            done.append("%s put right" % key)
    for fact in reversed(note.facts):
        text = redact(fact.text)
        text = _reworded(text, day)
        if text != fact.text:
            done.append('"%s" is now "%s"' % (cut(redact(fact.text), _SHOWN_CHARS), cut(text, _SHOWN_CHARS)))
            note.body[fact.first : fact.last] = [_mark(note.body[fact.first]) + text]
    return done


def _reworded(text: str, day: str) -> str:
    if day:
        return wording.put_right(text, day)
    hit = wording.story(text)
    return hit.instead if hit and hit.is_safe else text


def _repeated_dropped(note: Note) -> list[str]:
    seen: set[str] = set()
    again = []
    for fact in note.facts:
        key = similar.key(fact.text)
        if key in seen:
            again.append(fact)
        seen.add(key)
    if again:
        note.body = notes.without(note.body, again)
    return ["dropped, said before: %s" % cut(fact.text, _SHOWN_CHARS) for fact in again]


def _mark(line: str) -> str:
    """The indentation and the bullet of a line."""
    bare = line.lstrip(" \t")
    indent = line[: len(line) - len(bare)]
    mark, blank, _ = bare.partition(" ")
    is_mark = mark in ("-", "*", "+") or (mark[:-1].isdigit() and mark[-1:] in (".", ")"))
    return indent + mark + blank if is_mark else indent


def _written(note: Note) -> str:
    """The day a note's statements were made, as far as one can tell."""
    return str(note.fields.get("created") or "") or _changed(note)


def _is_dated(note: Note, day: str) -> bool:
    """Whether a note is of that day as a whole: nothing was added later."""
    return bool(note.fields.get("created")) and (not note.path or _changed(note) <= day)


def _changed(note: Note) -> str:
    """The day its file was last written, in the person's own time, as the dates in it are."""
    return time.strftime("%Y-%m-%d", time.localtime(files.modified(note.path)))


def _unreadable_remedy(note: Note) -> str:
    if not notebook.is_plain(note.path):
        return "move it out of the store"
    if note.is_damaged:
        return "take a former version from %s, or move it out of the store" % _ARCHIVED
    return "split the topic" if os.path.getsize(note.path) > settings.NOTE_MAX_BYTES else "make it readable for you"


def _edit(note: Note) -> str:
    scope = "" if note.scope == "project" else " --scope " + note.scope
    return "harness memory note edit %s%s" % (note.slug, scope)
