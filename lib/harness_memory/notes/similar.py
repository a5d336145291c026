"""Statements that say the same, or the same of something with another value.

    duplicate       the same words; case, punctuation and spaces aside
    near-duplicate  nearly the same words; one that says all of the other, in the same order, makes the other spare
    contradiction   perhaps: the same subject with another number, a "not", or one word exchanged

Words are compared without articles and plural endings. Numbers and negations are a statement's *values*: statements
with different values are never the same. Only statements that share one of their rarest words are compared.

`compact` makes the notes of a scope fewer without losing a fact: of two alike facts the one in the higher ranked note
stays; superseded notes and notes left without facts go. Originals go into the archive first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from ..base.text import cut
from . import index
from . import note as notes
from . import shelf as notebook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .note import Fact, Note
    from .shelf import Shelf

_WORD = re.compile(r"\w+(?:[.\-/'’]\w+)*")
_STOP = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these", "those", "to",
    "of", "in", "on", "at", "by", "and", "or", "so", "as", "we", "our", "i", "my", "you",
))  # fmt: skip
_NOT = frozenset((
    "not", "never", "no", "none", "cannot", "can't", "don't", "doesn't", "isn't", "aren't", "mustn't", "shouldn't",
    "won't", "without", "nor", "off",
))  # fmt: skip
_SWITCHES = frozenset(("true", "false", "yes", "enable", "enabled", "disable", "disabled", "allowed", "forbidden"))
_CHOICES = frozenset(("use", "prefer", "choose", "pick", "take", "always", "never", "default", "run", "keep"))
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
        every = words(text)
        self.number = number
        self.values = {word for word in every if word in _NOT or any(char.isdigit() for char in word)}
        self.words = [_singular(word) for word in every if word not in _STOP and word not in self.values]
        self.bag = set(self.words)


def words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def key(text: str) -> str:
    """Equal for statements of the same words."""
    return " ".join(words(text))


def topic_words(text: str) -> frozenset[str]:
    """What a text is about, for comparing with a topic."""
    return frozenset(_singular(word) for word in words(text) if word not in _STOP and word not in _NOT)


def is_filler(word: str) -> bool:
    return _STOP.issuperset(words(word))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def pairs(texts: list[str]) -> list[Pair]:
    """Every two statements that are alike, each pair once, in the order of the texts."""
    firsts: dict[str, int] = {}
    alike = set()
    statements = []
    for number, text in enumerate(texts):
        first = firsts.setdefault(key(text), number)
        if first != number:
            alike.add(Pair(first, number, "duplicate", number))
        elif key(text):
            statements.append(_Statement(number, text))
    for one, other in _candidates(statements):
        kind, spare = _judge(one, other)
        if kind:
            alike.add(Pair(one.number, other.number, kind, spare))
    doubts = Counter(number for pair in alike if pair.kind == "contradiction" for number in pair[:2])
    series = {number for number, count in doubts.items() if count > _SERIES}
    return sorted(pair for pair in alike if pair.kind != "contradiction" or not series.intersection(pair[:2]))


def _candidates(statements: list[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """Pairs that share one of their rarest words: those that share enough of all words do."""
    counts = Counter(word for statement in statements for word in statement.bag)
    holders: dict[str, list[_Statement]] = defaultdict(list)
    for statement in statements:
        number = int(len(statement.bag) * (1 - _LEAST_SHARE)) + 2
        for word in sorted(statement.bag, key=lambda word: (counts[word], word))[:number]:
            for other in holders[word][-_COMPARED:]:
                yield other, statement
            holders[word].append(statement)


def _judge(one: _Statement, other: _Statement) -> tuple[str, int]:
    """How two statements are alike ("" when they are not), and the one that adds nothing, or -1."""
    shared = len(one.bag & other.bag)
    share = shared / max(1, len(one.bag) + len(other.bag) - shared)
    if one.values != other.values:
        return "contradiction" if share >= _LEAST_SHARE else "", -1
    shorter, longer = (one, other) if len(one.words) < len(other.words) else (other, one)
    rest = iter(longer.words)
    if share >= _LEAST_SHARE and all(word in rest for word in shorter.words):
        return "near-duplicate", shorter.number
    differing = [at for at, (left, right) in enumerate(zip(one.words, other.words)) if left != right]
    if len(one.words) != len(other.words) or len(differing) != 1:
        return "near-duplicate" if share >= _NEAR_SHARE else "", -1
    # One word is exchanged: is it the value, that is a switch, what a choice is about, or in the second half?
    at, size = differing[0], len(one.words)
    is_choice = at > 0 and one.words[0] in _CHOICES
    is_switch = _SWITCHES.issuperset((one.words[at], other.words[at]))
    is_value = size > (2 if is_choice else 1) and (is_choice or is_switch or at >= (size + 1) // 2)
    return "contradiction" if share >= _NEAR_SHARE or is_value else "", -1


def statements(all_notes: list[Note]) -> list[tuple[Note, Fact]]:
    """Every fact of notes that are not superseded, with its note."""
    return [(note, fact) for note in all_notes if note.fate[:10] != "superseded" for fact in note.facts]


def plan(shelf: Shelf) -> tuple[dict[str, list[str]], dict[str, Note]]:
    """What `compact` changes, by slug, and the notes that are left, as they are then."""
    all_notes = notebook.read_all([shelf])
    changes = {note.slug: ["removed: " + note.fate] for note in all_notes if note.fate[:10] == "superseded"}
    left = {note.slug: note for note in all_notes if note.slug not in changes}
    facts = sorted(statements(all_notes), key=lambda each: (index.rank(each[0]), each[1].first))
    gone: dict[int, tuple[Note, Fact]] = {}
    for pair in pairs([fact.text for _, fact in facts]):
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


def compact(shelf: Shelf, now: float) -> tuple[dict[str, list[str]], list[str]]:
    """Plan under the lock and do it; what changed, and the paths of the archived originals."""
    with notebook.Writing(shelf) as writing:
        changes, left = plan(shelf)
        archived = []
        for slug in changes:
            archived.append(writing.archive(slug, now) if slug in left else writing.remove(slug, now))
            if slug in left:
                writing.put(left[slug])
    return changes, archived
