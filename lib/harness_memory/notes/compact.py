"""Makes notes fewer without losing a fact: planned first, so that it can be shown, then done.

Within a scope, a fact that two notes state stays in the note that ranks higher; a fact within a longer one goes, as do
superseded notes and notes left without facts. Originals go into the archive first.
"""

from __future__ import annotations

from ..base.text import cut
from . import index, lint, similar
from . import note as notes
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .note import Fact, Note
    from .shelf import Shelf

_SHOWN_CHARS = 100


def plan(shelf: Shelf) -> tuple[dict[str, list[str]], dict[str, Note]]:
    """What changes by slug, and the notes that are left, as they are then."""
    book = notebook.open_book([shelf])
    left = {note.slug: note for note in book.notes}
    changes: dict[str, list[str]] = {}
    for ref, heir in book.superseded.items():
        slug = ref.partition("/")[2]
        if ref == "%s/%s" % (shelf.scope, slug) and slug in left:
            del left[slug]
            changes[slug] = ["removed: superseded by %s" % heir.slug]
    facts = sorted(lint.statements(book), key=lambda each: (index.rank(each[0]), each[1].first))
    gone: dict[int, tuple[Note, Fact]] = {}
    for pair in similar.pairs([fact.text for _, fact in facts]):
        if pair.spare >= 0 and not {pair.first, pair.second} & gone.keys():
            note, fact = gone[pair.spare] = facts[pair.spare]
            winner, same = facts[pair.first + pair.second - pair.spare]
            what = 'dropped: "%s", as %s says "%s"'
            what %= (cut(fact.text, _SHOWN_CHARS), winner.slug, cut(same.text, _SHOWN_CHARS))
            changes.setdefault(note.slug, []).append(what)
    for note in [*left.values()]:
        dropped = [fact for holder, fact in gone.values() if holder is note]
        if dropped:
            note.body = notes.without(note.body, dropped)
            if not note.facts and not any(map(notes.is_fence, note.body)):
                del left[note.slug]
                changes[note.slug].append("removed: other notes say all that it says")
    return changes, left


def carry_out(shelf: Shelf, now: float) -> tuple[dict[str, list[str]], list[str]]:
    """Plan under the lock and do it; what changed, and the paths of the archived originals."""
    with notebook.Writing(shelf) as writing:
        changes, left = plan(shelf)
        archived = []
        for slug in changes:
            archived.append(writing.archive(slug, now) if slug in left else writing.remove(slug, now))
            if slug in left:
                writing.put(left[slug])
    return changes, archived
