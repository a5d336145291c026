"""Statements that say the same, or the same of something with another value.

    duplicate       the same words; case, punctuation and spaces aside
    near-duplicate  nearly the same words
    contradiction   perhaps: nearly the same words with another number, a "not", or a switch set otherwise

Words are compared without articles and plural endings. Numbers, negations and switches are a statement's *values*.
Only statements that share one of their rarest words are compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import ExitStack

from ..base.text import cut
from . import index
from .note import is_fence
from .shelf import Shelf, read_all

_STOP = re.compile(
    "an?|the|is|are|was|were|be|been|its?|th(?:is|at|ese|ose)|to|of|in|on|at|by|and|or|so|as|we|our|i|my|you"
)
_VALUE = re.compile(
    r".*\d.*|not|never|no|none|nor|cannot|without|off|\w+n't|true|false|yes|(?:en|dis)abled?|allowed|forbidden"
)
_LEAST_SHARE = 0.75  # of the words of both
_COMPARED = 64  # of all that share a word: a thousand lines of one form are a table, not a finding
_SERIES = 5  # more statements that differ in one value are a list of things, not a contradiction


def key(text: str) -> str:
    """The words of a statement: equal for those that say the same."""
    return " ".join(re.findall(r"\w+(?:[.\-/']\w+)*", text.lower().replace("’", "'")))


def content(text: str) -> list[str]:
    """The words that mean something, in the singular."""
    return [re.sub(r"(?<=\w{2}[^siu])s$", "", word) for word in key(text).split() if not _STOP.fullmatch(word)]


def pairs(texts: list[str]) -> list[tuple[int, int, str]]:
    """Every two statements that are alike: their numbers, the earlier first, and the kind."""
    firsts: dict[str, int] = {}
    alike = []
    for number, text in enumerate(texts):
        first = firsts.setdefault(key(text), number)
        if first != number:
            alike.append((first, number, "duplicate"))
    every = {number: {*content(texts[number])} for words, number in firsts.items() if words}
    values = {number: {*filter(_VALUE.fullmatch, words)} for number, words in every.items()}
    bags = {number: words - values[number] for number, words in every.items()}
    counts = Counter(word for bag in bags.values() for word in bag)
    holders: dict[str, list[int]] = defaultdict(list)
    for number, bag in bags.items():
        rarest = sorted(bag, key=lambda word: (counts[word], word))[: len(bag) // 3 + 2]
        for other in {other for word in rarest for other in holders[word][-_COMPARED:]}:
            if len(bag & bags[other]) >= _LEAST_SHARE * len(bag | bags[other]):
                kind = "near-duplicate" if values[number] == values[other] else "contradiction"
                alike.append((other, number, kind))
        for word in rarest:
            holders[word].append(number)
    doubts = Counter(number for *pair, kind in alike if kind == "contradiction" for number in pair)
    series = {number for number, count in doubts.items() if count > _SERIES}
    return sorted(pair for pair in alike if pair[2] != "contradiction" or series.isdisjoint(pair[:2]))


def compact(shelf: Shelf, now: float, *, is_dry_run: bool = False) -> tuple[dict[str, list[str]], list[str]]:
    """What changed, or would, by slug, and the paths of the archived originals.

    Of two equal facts the one in the higher ranked note stays; superseded notes and notes left without facts go.
    """
    with ExitStack() as stack:
        if not is_dry_run:
            stack.enter_context(shelf)
        all_notes = read_all([shelf])
        changes = {note.slug: ["removed: " + note.fate] for note in all_notes if note.fate[:10] == "superseded"}
        left = {note.slug: note for note in sorted(all_notes, key=index.rank) if note.slug not in changes}
        winners: dict[str, str] = {}
        for slug, note in [*left.items()]:
            spare = []
            for fact in note.facts:
                winner = winners.get(key(fact.text))
                if winner:
                    spare.append(fact)
                    changes.setdefault(slug, []).append('dropped: "%s", as %s says it' % (cut(fact.text, 100), winner))
                else:
                    winners[key(fact.text)] = slug
            note.drop(spare)
            if spare and not note.facts and not any(map(is_fence, note.body)):
                del left[slug]
                changes[slug].append("removed: other notes say all that it says")
        done = [] if is_dry_run else changes
        return changes, [shelf.put(left[slug], now) if slug in left else shelf.remove(slug, now) for slug in done]
