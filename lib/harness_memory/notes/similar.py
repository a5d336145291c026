"""Statements that say the same, or the same of something with another value.

    SAME      the same words; case, punctuation and spaces aside
    WITHIN    one says all that the other says, in the same order, and a little more
    NEAR      nearly the same words, each with some of its own
    OTHERWISE the same subject with another number, a "not", or one word exchanged: a possible contradiction

Words are compared without articles and plural endings. Numbers and negations are a statement's *values*: statements
with different values are never the same. Only statements that share one of their rarest words are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from .note import without_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SAME = "same"
WITHIN = "within"
NEAR = "near"
OTHERWISE = "otherwise"

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


class Pair(NamedTuple):
    """Two statements by number, the earlier first, and which of them adds nothing to the other, or -1."""

    kind: str
    first: int
    second: int
    spare: int = -1


class _Statement:
    __slots__ = ("bag", "number", "values", "words")

    def __init__(self, number: int, words: list[str]) -> None:
        self.number = number
        self.values = {word for word in words if word in _NOT or any(char.isdigit() for char in word)}
        self.words = [_singular(word) for word in words if word not in _STOP and word not in self.values]
        self.bag = set(self.words)


def words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(without_marks(text).lower())]


def key(text: str) -> str:
    """Equal for statements of the same words."""
    return " ".join(words(text))


def topic_words(text: str) -> frozenset[str]:
    """What a text is about, for comparing with a topic."""
    return frozenset(_singular(word) for word in words(text) if word not in _STOP and word not in _NOT)


def is_filler(word: str) -> bool:
    return not any(each not in _STOP for each in words(word))


def pairs(texts: list[str]) -> list[Pair]:
    """Every two statements that are alike, each pair once, in the order of the texts."""
    firsts: dict[str, int] = {}
    alike: dict[tuple[int, int], Pair] = {}
    statements = []
    for number, text in enumerate(texts):
        first = firsts.setdefault(key(text), number)
        if first != number:
            alike[first, number] = Pair(SAME, first, number, number)
        elif key(text):
            statements.append(_Statement(number, words(text)))
    for one, other in _candidates(statements):
        kind, spare = _judged(one, other)
        if kind:
            alike[one.number, other.number] = Pair(kind, one.number, other.number, spare)
    doubts = Counter(number for numbers, pair in alike.items() if pair.kind == OTHERWISE for number in numbers)
    series = {number for number, count in doubts.items() if count > _SERIES}
    return [alike[key] for key in sorted(alike) if alike[key].kind != OTHERWISE or not series.intersection(key)]


def _candidates(statements: list[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """Pairs that share one of their rarest words: those that share enough of all words do."""
    counts: dict[str, int] = {}
    for statement in statements:
        for word in statement.bag:
            counts[word] = counts.get(word, 0) + 1
    holders: dict[str, list[_Statement]] = {}
    for statement in statements:
        size = len(statement.bag)
        rarest = sorted(statement.bag, key=lambda word: (counts[word], word))[: int(size * (1 - _LEAST_SHARE)) + 2]
        for word in rarest:
            for other in holders.get(word, ())[-_COMPARED:]:
                yield other, statement
        for word in rarest:
            holders.setdefault(word, []).append(statement)


def _judged(one: _Statement, other: _Statement) -> tuple[str, int]:
    """How two statements are alike ("" when they are not), and the one that adds nothing, or -1."""
    shared = len(one.bag & other.bag)
    share = shared / max(1, len(one.bag) + len(other.bag) - shared)
    if one.values != other.values:
        return OTHERWISE if share >= _LEAST_SHARE else "", -1
    shorter, longer = (one, other) if len(one.words) < len(other.words) else (other, one)
    rest = iter(longer.words)
    if share >= _LEAST_SHARE and all(word in rest for word in shorter.words):
        return WITHIN, shorter.number
    differing = [at for at, pair in enumerate(zip(one.words, other.words)) if pair[0] != pair[1]]
    if len(one.words) == len(other.words) and len(differing) == 1:
        return OTHERWISE if share >= _NEAR_SHARE or _is_value(one.words, other.words, differing[0]) else "", -1
    return NEAR if share >= _NEAR_SHARE else "", -1


def _is_value(one: list[str], other: list[str], at: int) -> bool:
    """Whether the one word that differs is the value: a later one, what a choice is about, or a switch."""
    is_choice = one[0] == other[0] and one[0] in _CHOICES
    begins = 1 if is_choice else (len(one) + 1) // 2
    is_switch = one[at] in _SWITCHES and other[at] in _SWITCHES
    return len(one) > (2 if is_choice else 1) and (at >= begins or is_switch)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
