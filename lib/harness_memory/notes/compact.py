"""Makes notes fewer without losing a fact: planned first, so that it can be shown, then done.

Within a scope, a fact that two notes state stays in the note that ranks higher; a fact within a longer one goes, as do
superseded notes and notes left without facts. Originals go into the archive first.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import cut
from . import index, lint, similar
from . import note as notes
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Fact, Note
    from .shelf import Shelf

_SHOWN_CHARS = 100


class Change:
    """A note as it becomes, whether it is removed, and why."""

    __slots__ = ("dropped", "is_removed", "note", "reasons")

    def __init__(self, note: Note) -> None:
        self.note = note
        self.dropped: list[Fact] = []
        self.is_removed = False
        self.reasons: list[str] = []


def plan(shelf: Shelf) -> tuple[list[Change], list[Note]]:
    """What changes on a shelf, and its notes as they are then."""
    book = notebook.open_book([shelf])
    changes = {note.slug: Change(note) for note in book.notes}
    for note in book.notes:
        if note.ref in book.superseded:
            changes[note.slug].is_removed = True
            changes[note.slug].reasons.append("removed: superseded by %s" % book.superseded[note.ref].slug)
    told = sorted(lint.statements(book), key=lambda each: (index.rank(each[0]), each[1].first))
    gone: set[int] = set()
    for pair in similar.pairs([fact.text for _, fact in told]):
        if pair.spare >= 0 and not gone & {pair.first, pair.second}:
            (note, fact), (winner, kept) = told[pair.spare], told[pair.first + pair.second - pair.spare]
            gone.add(pair.spare)
            changes[note.slug].dropped.append(fact)
            what = 'dropped: "%s", as %s says "%s"'
            where = winner.slug if winner is not note else "it"
            what %= (cut(fact.text, _SHOWN_CHARS), where, cut(kept.text, _SHOWN_CHARS))
            changes[note.slug].reasons.append(what)
    for change in changes.values():
        _apply(change)
    left = [change.note for change in changes.values() if not change.is_removed]
    return [change for change in changes.values() if change.reasons], left


def _apply(change: Change) -> None:
    note, size = change.note, settings.NOTE_DESCRIPTION_CHARS
    note.body = notes.without(note.body, change.dropped) if change.dropped else note.body
    if change.dropped and not note.facts and not any(map(notes.is_fence, note.body)):
        change.is_removed = True
        change.reasons.append("removed: other notes say all that it says")
    elif note.fields.get("description") in [cut(fact.text, size) for fact in change.dropped]:
        note.fields["description"] = ""  # derived from the facts that are left
        note.fields["description"] = note.description


def carry_out(shelf: Shelf, now: float) -> tuple[list[Change], list[str]]:
    """Plan under the lock and do it; what changed, and the paths of the archived originals."""
    with notebook.Writing(shelf) as writing:
        changes, _ = plan(shelf)
        archived = []
        for change in changes:
            slug = change.note.slug
            archived.append(writing.remove(slug, now) if change.is_removed else writing.archive(slug, now))
            if not change.is_removed:
                writing.put(change.note)
    return changes, archived
