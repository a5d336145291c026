"""How a fact should not be worded: as a story, or with a date that only holds on the day it is written.

Both are found in one statement and, where nothing gets lost, corrected: the opening of a story is dropped before its
"that", and `yesterday`, `today`, `tomorrow` become the day they meant.
"""

from __future__ import annotations

import re
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
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_NUMBER = r"(?:\d{1,3}|a|one|two|three|four|five|six|seven|ten)"
_PERIOD = r"(?:week|month|year|morning|evening|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
# What stands in backticks matches as a whole, without a group.
_RELATIVE = re.compile(
    r"`[^`]*(?:`|$)|(?P<date>\bday before yesterday|\bday after tomorrow|\byesterday|\btoday|\btonight|\btomorrow"
    r"|\b%s (?:day|week|month|year)s? (?:ago|from now)"
    r"|(?<!\bthe )\b(?:last|past|previous|next|this|coming) %s)"
    r"\b(?!')(?!\W{0,3}\d{4}-\d\d)" % (_NUMBER, _PERIOD),  # `tomorrow (2026-11-17)` says which day
    re.IGNORECASE,
)


class Hit(NamedTuple):
    """Words of a statement and what to write instead, or "" where a person must decide."""

    match: re.Match[str]
    instead: str


def story(text: str) -> Hit | None:
    """A narrative instead of a fact."""
    opening = _OPENING.match(text)
    if opening:
        rest = text[opening.end() :]
        is_safe = bool(opening.group("that")) and len(rest.split()) > 1
        return Hit(opening, rest[:1].upper() + rest[1:] if is_safe else "")
    match = _STORY.search(text)
    return Hit(match, "") if match else None


def relative_dates(text: str, day: str) -> list[Hit]:
    """Each date that depends on when it is read, with the day it meant on `day` where that is certain."""
    return [Hit(match, _meaning(match, day)) for match in _RELATIVE.finditer(text) if match["date"]]


def corrected(text: str, day: str) -> str:
    """A statement with all that can be corrected without loss; without a `day`, its dates stay."""
    for _ in range(3):  # "Today we found that it turns out that …"
        hit = story(text)
        if hit is None or not hit.instead:
            break
        text = hit.instead
    return _RELATIVE.sub(lambda match: _meaning(match, day) or match[0], text)


def _meaning(match: re.Match[str], day: str) -> str:
    days, noon = _DAYS.get(match[0].lower()), clock.parse(day + "T12:00:00Z")
    return clock.iso(noon + days * settings.DAY_SECONDS)[:10] if days is not None and noon else ""
