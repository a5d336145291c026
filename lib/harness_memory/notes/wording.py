"""How a fact should not be worded: as a story, or with a date that only holds on the day it is written.

Both are found in one statement and, where nothing can be lost, put right: a story's opening is dropped
before its "that", and a relative date is replaced by the day it meant when the statement was written.
"""

from __future__ import annotations

import re
import time

from ..base import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DAY_SECONDS = 86400
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# Openings of a story. Before "that" they can go without loss.
_WHO = r"(?:i|we|you|claude|the agent)"
_FOUND = r"(?:learn(?:ed|t)|discovered|found(?: out)?|noticed|realised|realized|figured out|saw)"
_OPENING = re.compile(
    r"^(?:(?:today|yesterday|so|then|finally|also|just now),?\s+)?"
    r"(?:%s(?:'ve| have| had)?(?: just| finally| also)? %s|til|it turn(?:s|ed) out|turns out|note to self)"
    r"(?P<that>,? that\b|:|,)?\s*" % (_WHO, _FOUND),
    re.IGNORECASE,
)
_STORY = re.compile(
    r"(?:^|(?<=[.!?;] ))(?:today (?:i|we)\b"
    r"|(?:i|we) (?:had (?:a|an|the|to|trouble)|tried|ran into|struggled|spent|started|managed|fixed|changed|debugged"
    r"|ended up|went|got|asked|thought|was|were)\b"
    r"|(?:i|we)(?:'ve| have| had)? %s\b"
    r"|after (?:some|a lot of|much|hours of) \w+ing\b)" % _FOUND,
    re.IGNORECASE,
)

_UNITS = {"day": 1, "week": 7}
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_COUNT = r"(?P<count>\d{1,3}|a|one|two|three|four|five|six|seven|ten)"

_DATED = re.compile(r"\W{0,3}\d{4}-\d\d")  # `tomorrow (2026-11-17)`: somebody has said which day


class Hit:
    """Where in a statement, what is said there, and what to say instead ("" when that takes a mind)."""

    __slots__ = ("end", "instead", "is_safe", "start", "text")

    def __init__(self, match: re.Match[str], instead: str, is_safe: bool) -> None:
        self.start, self.end = match.span()
        self.text = match.group(0).strip()
        self.instead = instead
        self.is_safe = is_safe


def story(text: str) -> Hit | None:
    """A narrative instead of a fact."""
    opening = _OPENING.match(text)
    if opening:
        rest = text[opening.end() :]
        is_safe = bool(opening.group("that")) and len(rest.split()) > 1
        return Hit(opening, rest[:1].upper() + rest[1:] if is_safe else "", is_safe)
    found = _STORY.search(text)
    return Hit(found, "", False) if found else None


def relative_dates(text: str, day: str) -> list[Hit]:
    """Each date that depends on when it is read, with what it meant on `day`."""
    base = clock.parse(day + "T12:00:00Z") or time.time()
    hits: list[Hit] = []
    taken = _quoted(text)
    for pattern, mean, is_safe in _RELATIVE:
        for match in pattern.finditer(text):
            start, end = match.span()
            if 1 in taken[start:end] or _DATED.match(text, end):
                continue
            taken[start:end] = b"\1" * (end - start)
            hits.append(Hit(match, mean(base, match), is_safe))
    return sorted(hits, key=lambda hit: hit.start)


def put_right(text: str, day: str) -> str:
    """A statement with all that can be corrected without loss."""
    for _ in range(3):  # "Today we found that it turns out that …"
        hit = story(text)
        if hit is None or not hit.is_safe:
            break
        text = hit.instead
    pieces, at = [], 0
    for hit in relative_dates(text, day):
        if hit.is_safe and hit.instead:
            pieces += [text[at : hit.start], hit.instead]
            at = hit.end
    return "".join([*pieces, text[at:]])


def _quoted(text: str) -> bytearray:
    """A byte for each character, 1 where it stands between backticks."""
    parts = text.split("`")
    return bytearray(b"\0".join([bytes([number % 2]) * len(part) for number, part in enumerate(parts)]))


def _day(seconds: float) -> str:
    return clock.iso(seconds)[:10]


def _shifted(days: int) -> Callable[[float, re.Match[str]], str]:
    return lambda base, match: _day(base + days * _DAY_SECONDS)


def _counted(sign: int) -> Callable[[float, re.Match[str]], str]:
    def mean(base: float, match: re.Match[str]) -> str:
        word = match.group("count").lower()
        count = int(word) if word.isdecimal() else _NUMBERS[word]
        unit = match.group("unit").lower()
        if unit in _UNITS:
            return _day(base + sign * count * _UNITS[unit] * _DAY_SECONDS)
        return _month(base, sign * count * (12 if unit == "year" else 1))

    return mean


def _month(base: float, shift: int) -> str:
    year, month = int(_day(base)[:4]), int(_day(base)[5:7]) - 1 + shift
    return "%04d-%02d" % (year + month // 12, month % 12 + 1)


def _period(base: float, match: re.Match[str]) -> str:
    """`last week` as the week of its Monday, `next month` as that month, `last Friday` as that day."""
    which, unit = match.group("which").lower(), match.group("unit").lower()
    sign = {"last": -1, "past": -1, "previous": -1, "this": 0}.get(which, 1)
    weekday = time.gmtime(base).tm_wday
    if unit in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(unit) - weekday - 1) % 7 + 1
        return _day(base + (ahead if sign >= 0 else ahead - 7 or -7) * _DAY_SECONDS)
    if unit == "week":
        return "the week of " + _day(base + (sign * 7 - weekday) * _DAY_SECONDS)
    if unit == "year":
        return str(int(_day(base)[:4]) + sign)
    if unit == "month":
        return _month(base, sign)
    return _day(base)  # this morning


def _patterns() -> Iterator[tuple[re.Pattern[str], Callable[[float, re.Match[str]], str], bool]]:
    unit = r" (?P<unit>day|week|month|year)s?"
    named = r"(?P<unit>week|month|year|morning|evening|%s)" % "|".join(_WEEKDAYS)
    rows: tuple[tuple[str, Callable[[float, re.Match[str]], str], bool], ...] = (
        (r"\bday before yesterday\b", _shifted(-2), False),
        (r"\bday after tomorrow\b", _shifted(2), False),
        (r"\byesterday\b(?!')", _shifted(-1), True),
        (r"\btomorrow\b(?!')", _shifted(1), True),
        (r"\btoday\b(?!')", _shifted(0), True),
        (r"\btonight\b", _shifted(0), False),
        (r"\b" + _COUNT + unit + r" ago\b", _counted(-1), False),
        (r"\b" + _COUNT + unit + r" from now\b", _counted(1), False),
        (r"(?<!\bthe )\b(?P<which>last|past|previous|next|this|coming) " + named + r"\b", _period, False),
    )
    for pattern, mean, is_safe in rows:
        yield re.compile(pattern, re.IGNORECASE), mean, is_safe


_RELATIVE = tuple(_patterns())
