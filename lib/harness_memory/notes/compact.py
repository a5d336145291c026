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
    all_notes = notebook.read_all([shelf])
    changes = {note.slug: ["removed: " + note.fate] for note in all_notes if note.fate[:10] == "superseded"}
    left = {note.slug: note for note in all_notes if note.slug not in changes}
    facts = sorted(lint.statements(all_notes), key=lambda each: (index.rank(each[0]), each[1].first))
    gone: dict[int, tuple[Note, Fact]] = {}
    for pair in similar.pairs([fact.text for _, fact in facts]):
        if pair.spare >= 0 and not {pair.first, pair.second} & gone.keys():
            note, fact = gone[pair.spare] = facts[pair.spare]
            winner, same = facts[pair.first + pair.second - pair.spare]
            texts = cut(fact.text, _SHOWN_CHARS), winner.slug, cut(same.text, _SHOWN_CHARS)
            changes.setdefault(note.slug, []).append('dropped: "%s", as %s says "%s"' % texts)
    for note in {id(note): note for note, _ in gone.values()}.values():
        note.drop([fact for holder, fact in gone.values() if holder is note])
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
