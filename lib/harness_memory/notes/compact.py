"""Making notes fewer and shorter without losing a fact: planned first, so that it can be shown, then done.

Within a scope, a fact that stands twice is kept once, in the note that ranks higher; one that is said
within a longer one goes. Superseded notes and notes left without facts go. Whatever is changed is put
into the archive first, and a second run finds nothing to do. What takes a mind is only listed.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import cut
from . import lint, similar
from . import note as notes
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lint import Finding, Place
    from .note import Fact, Note
    from .shelf import Book, Shelf

_SHOWN_CHARS = 100


class Plan:
    """What to do to one shelf: facts to drop from notes, notes to remove; each with the reason."""

    __slots__ = ("dropped", "reasons", "removed", "shelf", "tidied")

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.dropped: dict[str, list[Fact]] = {}
        self.removed: list[str] = []
        self.tidied: list[str] = []
        self.reasons: list[tuple[str, str]] = []  # (slug, what is done and why)

    @property
    def slugs(self) -> list[str]:
        """The notes that change, and so go into the archive first."""
        return sorted({*self.dropped, *self.removed, *self.tidied})


def plan(places: list[Shelf]) -> tuple[list[Plan], list[Finding]]:
    """What to do, shelf by shelf, and what needs a mind."""
    book = notebook.open_book(places)
    plans = {shelf.scope: Plan(shelf) for shelf in places if shelf.home}
    for note in book.notes:
        by = book.superseded.get(note.ref)
        if by and by.scope == note.scope and note.scope in plans:
            plans[note.scope].removed.append(note.slug)
            plans[note.scope].reasons.append((note.slug, "removed: superseded by %s" % by.slug))
    minded = [finding for note in book.notes for finding in _needs_mind(note)]
    minded += _merge(book, plans)
    for note in book.notes:
        if note.scope in plans:
            _finish(plans[note.scope], note)
    return list(plans.values()), minded


def carry_out(planned: Plan, now: float) -> list[str]:
    """Do it, originals first into the archive; where they are.

    It is planned again when nobody else can write: a fact may have come to a note since, or gone from one.
    """
    kept = []
    with notebook.Writing(planned.shelf) as writing:
        (due,), _ = plan([planned.shelf])
        planned.reasons = due.reasons
        for slug in due.slugs:
            note = due.shelf.note(slug)
            if note is None or note.is_unreadable:
                continue
            kept.append(writing.archive(slug, now))
            if slug in due.removed:
                writing.remove(slug)
                continue
            gone = due.dropped.get(slug, [])
            note.body = _tidy(notes.without(note.body, gone))
            _describe(note, gone)
            writing.put(note)
    return [path for path in kept if path]


def _describe(note: Note, gone: list[Fact]) -> None:
    """A description that was the wording of a fact which is gone is made anew of those that are left."""
    told = str(note.fields.get("description") or "")
    size = settings.NOTE_DESCRIPTION_CHARS
    if told in [cut(f.text, size) for f in gone] and told not in [cut(f.text, size) for f in note.facts]:
        note.fields["description"] = ""
        note.fields["description"] = note.description


def _merge(book: Book, plans: dict[str, Plan]) -> list[Finding]:
    """Drop what is said twice within a shelf; the rest is for somebody to decide."""
    told = sorted(lint.places_of(book), key=lambda place: _rank(place))
    undecided = []
    gone: set[int] = set()
    for pair in similar.pairs([place.fact.text for place in told]):
        one, other = told[pair.first], told[pair.second]
        is_override = one.note.slug == other.note.slug and one.note.scope != other.note.scope
        if pair.first in gone or pair.second in gone or is_override:
            continue
        is_same_shelf = one.note.scope == other.note.scope and one.note.scope in plans
        if pair.kind in (similar.SAME, similar.WITHIN) and is_same_shelf:
            loser = pair.second if pair.kind == similar.SAME else pair.shorter
            kept = one if loser == pair.second else other
            gone.add(loser)
            _drop(plans[one.note.scope], told[loser], kept)
        else:
            undecided.append(pair)
    left = [pair for pair in undecided if pair.first not in gone and pair.second not in gone]
    return [lint.pair_finding(pair.kind, told[pair.first], told[pair.second]) for pair in left]


def _drop(plan: Plan, place: Place, kept: Place) -> None:
    slug = place.note.slug
    plan.dropped.setdefault(slug, []).append(place.fact)
    what = 'dropped: "%s", as %s says "%s"' % (
        cut(place.fact.text, _SHOWN_CHARS),
        kept.note.slug if kept.note is not place.note else "it",
        cut(kept.fact.text, _SHOWN_CHARS),
    )
    plan.reasons.append((slug, what))


def _finish(plan: Plan, note: Note) -> None:
    """Remove a note that is left without facts, tidy one whose lines can be."""
    if note.slug in plan.removed or note.problems:
        return
    gone = plan.dropped.get(note.slug, [])
    if gone and len(gone) == len(note.facts) and not _has_code(note):
        plan.dropped.pop(note.slug)
        plan.removed.append(note.slug)
        plan.reasons.append((note.slug, "removed: all it says is said elsewhere"))
    elif not gone and _tidy(note.body) != note.body:
        plan.tidied.append(note.slug)
        plan.reasons.append((note.slug, "tidied: blank lines and trailing spaces"))


def _needs_mind(note: Note) -> list[Finding]:
    return [finding for finding in lint.check_note(note, "") if finding.kind == "long"]


def _rank(place: Place) -> tuple[int, float, str, int]:
    """The better place for a fact first: the nearer scope, the note that ranks higher, the earlier line."""
    from . import index as notes_index

    return (settings.NOTE_SCOPES.index(place.note.scope), *notes_index.rank(place.note), place.fact.first)


def _has_code(note: Note) -> bool:
    return any(line.strip()[:3] in ("```", "~~~") for line in note.body)


def _tidy(body: list[str]) -> list[str]:
    """No trailing spaces, no two blank lines in a row; code as it is."""
    kept: list[str] = []
    is_code = False
    for line in body:
        if line.strip()[:3] in ("```", "~~~"):
            is_code = not is_code
        line = line if is_code else line.rstrip()
        if line or is_code or (kept and kept[-1]):
            kept.append(line)
    return kept
