"""The time that a prompt names: "in May 2023", "on 8 May", "2023-05-08", "yesterday", "last week", "3 days ago"."""

from __future__ import annotations

from ..base import clock

_DAY = 86400.0
_TOLD_LATER = 7 * _DAY  # what happened on a day is told in the days after it
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november")
_BEFORE_A_MONTH = ("in", "last", "of", "since", "during", "this", "early", "late", "mid", "on", "until", "by")
_SPANS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30, "year": 365, "years": 365}
_SIGNS = dict.fromkeys(map(ord, ",.;:!?()[]\"'`/"), " ")


def window(text: str, now: float) -> tuple[float, float]:
    """(first, last) second of the time named first, or (1, 0)."""
    words = text[:1000].lower().translate(_SIGNS).split()
    for at, word in enumerate(words):
        before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        if word == "yesterday":
            return now - 2 * _DAY, now - _DAY / 4
        if word == "last" and after in _SPANS:
            return now - 2 * _SPANS[after] * _DAY, now - _SPANS[after] * _DAY / 4
        if word == "ago" and before in _SPANS:
            count = words[at - 2] if at > 1 else ""
            days = _SPANS[before] * (int(count) if count.isdigit() and len(count) < 4 else 1)
            return now - 1.5 * days * _DAY, now - 0.6 * days * _DAY
        if word[:3] in _MONTHS and (len(word) == 3 or word in (*_NAMES, "december")):
            years = [each for each in (words[at + 1 : at + 3]) if _is_year(each)]
            days = [each for each in (before, after) if _day(each)]
            if years or days or before in _BEFORE_A_MONTH:
                return _of_month(years[0] if years else "", _MONTHS.index(word[:3]) + 1, _day(*days[:1]), now)
        if _is_year(word) and before in ("in", "during", "since"):
            return _of_month(word, 1, 0, now)[0], _of_month(word, 12, 0, now)[1]
        if len(word) == 10 and clock.is_day(word):
            return _of_month(word[:4], int(word[5:7]), int(word[8:]), now)
    return 1.0, 0.0


def _of_month(year: str, month: int, day: int, now: float) -> tuple[float, float]:
    """A day, or a whole month when it is 0; without a year the last one before now."""
    last = int(clock.iso(now)[:4])
    for each in (int(year),) if year else (last, last - 1):
        start = clock.parse("%04d-%02d-%02dT00:00:00Z" % (each, month, day or 1)) or 0.0
        if start <= now:
            break
    return start - _DAY, start + (1 if day else 31) * _DAY + _TOLD_LATER


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")


def _day(word: str = "") -> int:
    digits = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") else word
    return int(digits) if digits.isdigit() and len(digits) < 3 and 0 < int(digits) < 32 else 0
