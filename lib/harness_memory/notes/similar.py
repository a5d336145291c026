"""Statements that say the same, or the same of something with another value, found without comparing all with all.

    SAME      the same words; case, punctuation and spaces aside
    WITHIN    one says all that the other says, in the same order, and a little more
    NEAR      nearly the same words, each with some of its own
    OTHERWISE the same subject with another number, a "not", or one word exchanged: perhaps a contradiction

Words are compared without articles and plural endings. Numbers and negations are a statement's
*values*: statements with different values are never the same. Pairs are sought among statements that
share two words in a row, the rarest ones first.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SAME = "same"
WITHIN = "within"
NEAR = "near"
OTHERWISE = "otherwise"

_WORD = re.compile(r"\w+(?:[.\-/'’]\w+)*")
_MARK = re.compile(r"\[redacted:[^\]\n]{0,60}\]")
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
_WITHIN_SHARE = 0.7
_NEAR_SHARE = 0.8
_OTHERWISE_SHARE = 0.75
_LEAST_SHARE = min(_WITHIN_SHARE, _NEAR_SHARE, _OTHERWISE_SHARE)
_EXCHANGED_MOST_WORDS = 16
_LOOKED_AT_MOST = 64  # of all that share two words: a thousand lines of one form are a table, not a finding
_SERIES = 5  # more that are otherwise alike are a list of things, not a contradiction


class Pair:
    """Two statements by number, the earlier first; of WITHIN `shorter` is the one that says less."""

    __slots__ = ("first", "kind", "second", "shorter")

    def __init__(self, kind: str, first: int, second: int, shorter: int = -1) -> None:
        self.kind = kind
        self.first = first
        self.second = second
        self.shorter = shorter


class _Statement:
    __slots__ = ("bag", "number", "values", "words")

    def __init__(self, number: int, words: list[str]) -> None:
        self.number = number
        told = [word for word in words if word not in _STOP]
        self.values = frozenset(word for word in told if word in _NOT or any(c.isdigit() for c in word))
        self.words = [_singular(word) for word in told if word not in self.values]
        self.bag = frozenset(self.words)


def words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(unmarked(text).lower())]


def unmarked(text: str) -> str:
    """Without the marks that stand for secrets: whoever has one does not speak of the same for that."""
    return _MARK.sub(" ", text)


def key(text: str) -> str:
    """Equal for statements of the same words."""
    return " ".join(words(text))


def topic_words(text: str) -> frozenset[str]:
    """What a text is about, for comparing with a topic."""
    return frozenset(_singular(word) for word in words(text) if word not in _STOP and word not in _NOT)


def pairs(texts: list[str]) -> list[Pair]:
    """Every two statements that are alike, each pair once, in the order of the texts."""
    firsts: dict[str, int] = {}
    found = []
    statements = []
    for number, text in enumerate(texts):
        told = words(text)
        first = firsts.setdefault(" ".join(told), number)
        if first != number:
            found.append(Pair(SAME, first, number))
        elif told:
            statements.append(_Statement(number, told))
    known: set[tuple[int, int]] = set()
    for one, other in _candidates(statements):
        pair = _judged(one, other) if (one.number, other.number) not in known else None
        if pair:
            known.add((one.number, other.number))
            found.append(pair)
    for one, other in _exchanged(statements):
        if (one.number, other.number) not in known:
            found.append(Pair(OTHERWISE, one.number, other.number))
    return sorted(_without_series(found), key=lambda pair: (pair.first, pair.second))


def _without_series(found: list[Pair]) -> list[Pair]:
    partners: dict[int, int] = {}
    for pair in found:
        if pair.kind == OTHERWISE:
            for number in (pair.first, pair.second):
                partners[number] = partners.get(number, 0) + 1
    return [
        pair for pair in found if pair.kind != OTHERWISE or max(partners[pair.first], partners[pair.second]) <= _SERIES
    ]


def _judged(one: _Statement, other: _Statement) -> Pair | None:
    shared = len(one.bag & other.bag)
    share = shared / (len(one.bag) + len(other.bag) - shared)
    first, second = one.number, other.number
    if one.values != other.values:
        return Pair(OTHERWISE, first, second) if share >= _OTHERWISE_SHARE else None
    shorter, longer = (one, other) if len(one.words) < len(other.words) else (other, one)
    if share >= _WITHIN_SHARE and _is_within(shorter.words, longer.words):
        return Pair(WITHIN, first, second, shorter.number)
    if share < _NEAR_SHARE:
        return None
    if _differing(one.words, other.words) is not None:
        return Pair(OTHERWISE, first, second)
    return Pair(NEAR, first, second)


def _candidates(statements: list[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """Pairs that share two words in a row. What is said within a longer statement has been broken up in so few
    places that one of its rarest such twos is left whole."""
    twos = {each.number: set(zip(each.words, each.words[1:])) for each in statements}
    counts: dict[tuple[str, str], int] = {}
    for found in twos.values():
        for two in found:
            counts[two] = counts.get(two, 0) + 1
    known: dict[tuple[str, str], list[_Statement]] = {}
    for statement in sorted(statements, key=lambda each: (-len(each.words), each.number)):
        mine, bag = twos[statement.number], statement.bag
        size = len(bag)
        broken = int(len(statement.words) * (1 / _LEAST_SHARE - 1))
        for two in sorted(mine, key=lambda each: (counts[each], each))[: broken + 1]:
            for other in known.get(two, ())[-_LOOKED_AT_MOST:]:
                shared = len(bag & other.bag)
                if shared >= _LEAST_SHARE * (size + len(other.bag) - shared):
                    yield (other, statement) if other.number < statement.number else (statement, other)
        for two in mine:
            known.setdefault(two, []).append(statement)


def _exchanged(statements: list[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """Pairs that differ in one word, the value: a later one, what a choice is about, or a switch."""
    known: dict[tuple[int, str], list[_Statement]] = {}
    for statement in statements:
        told = statement.words
        is_choice = bool(told) and told[0] in _CHOICES
        if not (3 if is_choice else 2) <= len(told) <= _EXCHANGED_MOST_WORDS:
            continue
        begins = 1 if is_choice else (len(told) + 1) // 2
        switches = [at for at in range(begins) if told[at] in _SWITCHES]
        for at in (*switches, *range(begins, len(told))):
            gap = " ".join([*told[:at], "", *told[at + 1 :], *sorted(statement.values)])
            others = known.setdefault((at, gap), [])
            for other in others[: _SERIES + 1]:
                if other.words[at] != told[at]:
                    yield other, statement
            others.append(statement)


def _differing(one: list[str], other: list[str]) -> int | None:
    """Where two statements of equal length differ, if in one word alone."""
    if len(one) != len(other):
        return None
    places = [at for at, (word, word2) in enumerate(zip(one, other)) if word != word2]
    return places[0] if len(places) == 1 else None


def _is_within(shorter: list[str], longer: list[str]) -> bool:
    rest = iter(longer)
    return all(word in rest for word in shorter)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
