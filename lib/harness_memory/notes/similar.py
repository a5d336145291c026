"""Statements that say the same, or the same of something with another value.

    duplicate       the same words; case, punctuation and spaces aside
    near-duplicate  nearly the same words; one that says all of the other, in the same order, makes the other spare
    contradiction   perhaps: the same subject with another number, a "not", or one word exchanged

Words are compared without articles and plural endings. Numbers and negations are a statement's *values*: statements
with different values are never the same. Only statements that share one of their rarest words are compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from ..base.text import cut
from . import index
from .note import Fact, Note, is_fence
from .shelf import Shelf, read_all

_STOP = re.compile(
    "an?|the|is|are|was|were|be|been|its?|th(?:is|at|ese|ose)|to|of|in|on|at|by|and|or|so|as|we|our|i|my|you"
)
_VALUE = re.compile(r".*\d.*|not|never|no|none|nor|cannot|without|off|\w+n't")
_SWITCHES = {"true", "false", "yes", "enable", "enabled", "disable", "disabled", "allowed", "forbidden"}
_CHOICES = {"use", "prefer", "choose", "pick", "take", "always", "never", "default", "run", "keep"}
_LEAST_SHARE = 0.7  # of the words of both
_NEAR_SHARE = 0.8
_COMPARED = 64  # of all that share a word: a thousand lines of one form are a table, not a finding
_SERIES = 5  # more statements that differ in one value are a list of things, not a contradiction
_SHOWN_CHARS = 100


class Pair(NamedTuple):
    """Two statements by number, the earlier first, and which of them adds nothing to the other, or -1."""

    first: int
    second: int
    kind: str
    spare: int = -1


class _Statement:
    __slots__ = ("bag", "number", "values", "words")

    def __init__(self, number: int, text: str) -> None:
        every = content(text)
        self.number = number
        self.values = {word for word in every if _VALUE.fullmatch(word)}
        self.words = [word for word in every if word not in self.values]
        self.bag = set(self.words)


def key(text: str) -> str:
    """The words of a statement: equal for those that say the same."""
    return " ".join(re.findall(r"\w+(?:[.\-/']\w+)*", text.lower().replace("’", "'")))


def content(text: str) -> list[str]:
    """The words that mean something, in the singular."""
    return [re.sub(r"(?<=\w{2}[^siu])s$", "", word) for word in key(text).split() if not _STOP.fullmatch(word)]


def pairs(texts: list[str]) -> list[Pair]:
    """Every two statements that are alike, each pair once, in the order of the texts."""
    firsts: dict[str, int] = {}
    alike = []
    for number, text in enumerate(texts):
        first = firsts.setdefault(key(text), number)
        if first != number:
            alike.append(Pair(first, number, "duplicate", number))
    statements = [_Statement(number, texts[number]) for words, number in firsts.items() if words]
    counts = Counter(word for statement in statements for word in statement.bag)
    holders: dict[str, list[_Statement]] = defaultdict(list)
    for statement in statements:
        rarest = sorted(statement.bag, key=lambda word: (counts[word], word))[: len(statement.bag) // 3 + 2]
        others = {other for word in rarest for other in holders[word][-_COMPARED:]}
        alike += [pair for pair in (_compare(other, statement) for other in others) if pair.kind]
        for word in rarest:
            holders[word].append(statement)
    doubts = Counter(number for pair in alike if pair.kind == "contradiction" for number in pair[:2])
    series = {number for number, count in doubts.items() if count > _SERIES}
    return sorted(pair for pair in alike if pair.kind != "contradiction" or series.isdisjoint(pair[:2]))


def _compare(one: _Statement, other: _Statement) -> Pair:
    """How two statements are alike; the kind is "" when they are not."""
    kind, spare, size = "", -1, len(one.words)
    share = len(one.bag & other.bag) / max(1, len(one.bag | other.bag))
    shorter, longer = (one, other) if size < len(other.words) else (other, one)
    rest = iter(longer.words)
    differing = [at for at, (left, right) in enumerate(zip(one.words, other.words)) if left != right]
    if one.values != other.values:
        kind = "contradiction" if share >= _LEAST_SHARE else ""
    elif share >= _LEAST_SHARE and all(word in rest for word in shorter.words):
        kind, spare = "near-duplicate", shorter.number
    elif size != len(other.words) or len(differing) != 1:
        kind = "near-duplicate" if share >= _NEAR_SHARE else ""
    elif size > 1:
        # One word is exchanged: is it the value, that is a switch, what a choice is about, or in the second half?
        at = differing[0]
        is_choice = at > 0 and size > 2 and one.words[0] in _CHOICES
        is_switch = _SWITCHES.issuperset((one.words[at], other.words[at]))
        is_value = is_choice or is_switch or at >= (size + 1) // 2 or share >= _NEAR_SHARE
        kind = "contradiction" if is_value else ""
    return Pair(one.number, other.number, kind, spare)


def statements(all_notes: list[Note]) -> list[tuple[Note, Fact]]:
    """Every fact of notes that are not superseded, with its note."""
    return [(note, fact) for note in all_notes if note.fate[:10] != "superseded" for fact in note.facts]


def _plan(shelf: Shelf) -> tuple[dict[str, list[str]], dict[str, Note]]:
    """What `compact` changes, by slug, and the notes that are left, as they are then.

    Of two alike facts the one in the higher ranked note stays; superseded notes and notes left without facts go.
    """
    all_notes = read_all([shelf])
    changes = {note.slug: ["removed: " + note.fate] for note in all_notes if note.fate[:10] == "superseded"}
    left = {note.slug: note for note in all_notes if note.slug not in changes}
    facts = sorted(statements(all_notes), key=lambda each: (index.rank(each[0]), each[1].first))
    gone: set[int] = set()
    for pair in pairs([fact.text for _, fact in facts]):
        if pair.spare >= 0 and gone.isdisjoint(pair[:2]):
            gone.add(pair.spare)
            (note, fact), (winner, same) = facts[pair.spare], facts[pair.first + pair.second - pair.spare]
            texts = cut(fact.text, _SHOWN_CHARS), winner.slug, cut(same.text, _SHOWN_CHARS)
            changes.setdefault(note.slug, []).append('dropped: "%s", as %s says "%s"' % texts)
    for slug in changes.keys() & left.keys():
        note = left[slug]
        note.drop([facts[number][1] for number in gone if facts[number][0] is note])
        if not note.facts and not any(map(is_fence, note.body)):
            del left[slug]
            changes[slug].append("removed: other notes say all that it says")
    return changes, left


def compact(shelf: Shelf, now: float, *, is_dry_run: bool = False) -> tuple[dict[str, list[str]], list[str]]:
    """What changed, or would, by slug, and the paths of the archived originals."""
    changes, _ = _plan(shelf)
    if is_dry_run or not changes:
        return changes, []
    with shelf:
        changes, left = _plan(shelf)  # as the notes are under the lock
        return changes, [shelf.put(left[slug], now) if slug in left else shelf.remove(slug, now) for slug in changes]
