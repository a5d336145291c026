"""How a fact should not be worded: as a story, or with a date that only holds on the day it is written.

Both are found in one statement and, where nothing gets lost, corrected: the opening of a story is dropped before its
"that", and `yesterday`, `today`, `tomorrow` become the day they meant.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from ..base import clock, settings

_LEARNED = r"(?:learn(?:ed|t)|discovered|found(?: out)?|noticed|realised|realized|figured out|saw)"
_OPENING = re.compile(
    r"^(?:(?:today|yesterday|so|then|finally|also|just now),?\s+)?"
    r"(?:(?:i|we|you|claude|the agent)(?:'ve| have| had)?(?: just| finally| also)? %s"
    r"|til|it turn(?:s|ed) out|turns out|note to self)(?P<that>,? that\b|:|,)?\s*" % _LEARNED,
    re.IGNORECASE,
)
_STORY = re.compile(
    r"(?:^|(?<=[.!?;] ))(?:today (?:i|we)\b"
    r"|(?:i|we) (?:had (?:a|an|the|to|trouble)|tried|ran into|struggled|spent|started|managed|fixed|changed|debugged"
    r"|ended up|went|got|asked|thought|was|were)\b"
    r"|(?:i|we)(?:'ve| have| had)? %s\b"
    r"|after (?:some|a lot of|much|hours of) \w+ing\b)" % _LEARNED,
    re.IGNORECASE,
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "day after tomorrow": 2}
_SAFE = ("yesterday", "today", "tomorrow")
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_SIGNS = {"ago": -1, "last": -1, "past": -1, "previous": -1, "this": 0}
# What stands in backticks matches as a whole, without a group.
_RELATIVE = re.compile(
    r"`[^`]*(?:`|$)|(?:\b(?P<day>%s)\b(?!')"
    r"|\b(?P<count>\d{1,3}|%s) (?P<unit>day|week|month|year)s? (?P<way>ago|from now)\b"
    r"|(?<!\bthe )\b(?P<which>last|past|previous|next|this|coming) (?P<period>week|month|year|morning|evening|%s)\b)"
    r"(?!\W{0,3}\d{4}-\d\d)"  # `tomorrow (2026-11-17)` says which day
    % ("|".join(sorted(_DAYS, key=len, reverse=True)), "|".join(_NUMBERS), "|".join(_WEEKDAYS)),
    re.IGNORECASE,
)


class Hit(NamedTuple):
    """Words of a statement and what to write instead, or ""; unless `is_safe`, a person must decide."""

    match: re.Match[str]
    instead: str
    is_safe: bool


def story(text: str) -> Hit | None:
    """A narrative instead of a fact."""
    opening = _OPENING.match(text)
    if opening:
        rest = text[opening.end() :]
        is_safe = bool(opening.group("that")) and len(rest.split()) > 1
        return Hit(opening, rest[:1].upper() + rest[1:] if is_safe else "", is_safe)
    match = _STORY.search(text)
    return Hit(match, "", False) if match else None


def relative_dates(text: str, day: str) -> list[Hit]:
    """Each date that depends on when it is read, with what it meant on `day`."""
    base = clock.parse(day + "T12:00:00Z") or time.time()
    matches = [match for match in _RELATIVE.finditer(text) if match.lastgroup]
    return [Hit(match, _meaning(base, match), match.group(0).lower() in _SAFE) for match in matches]


def corrected(text: str, day: str) -> str:
    """A statement with all that can be corrected without loss; without a `day`, its dates stay."""
    for _ in range(3):  # "Today we found that it turns out that …"
        hit = story(text)
        if hit is None or not hit.is_safe:
            break
        text = hit.instead
    base = clock.parse(day + "T12:00:00Z")
    if base is None:
        return text
    return _RELATIVE.sub(lambda match: _meaning(base, match) if match[0].lower() in _SAFE else match[0], text)


def _meaning(base: float, match: re.Match[str]) -> str:
    """`last week` is the week of its Monday, `next month` that month, `last Friday` that day."""
    day, count, unit, way, which, period = [(group or "").lower() for group in match.groups()]
    if day:
        return _shifted(base, _DAYS[day])
    number = (int(count) if count.isdecimal() else _NUMBERS[count]) if count else 1
    number *= _SIGNS.get(way or which, 1)
    weekday = time.gmtime(base).tm_wday
    if period in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(period) - weekday - 1) % 7 + 1
        return _shifted(base, ahead if number >= 0 else ahead - 7 or -7)
    if period == "week":
        return "the week of " + _shifted(base, number * 7 - weekday)
    if period == "year":
        return str(int(_shifted(base, 0)[:4]) + number)
    if unit in ("day", "week") or period in ("morning", "evening"):
        return _shifted(base, number * {"day": 1, "week": 7}.get(unit, 0))
    months = number * (12 if unit == "year" else 1)
    year, month = int(_shifted(base, 0)[:4]), int(_shifted(base, 0)[5:7]) - 1 + months
    return "%04d-%02d" % (year + month // 12, month % 12 + 1)


def _shifted(base: float, days: int) -> str:
    return clock.iso(base + days * settings.DAY_SECONDS)[:10]
