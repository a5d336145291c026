"""The time that a prompt names: "in May 2023", "on 8 May", "2023-05-08", "yesterday", "last week"."""

from __future__ import annotations

from ..base import clock

_DAY = 86400.0
_TOLD_LATER = 7 * _DAY  # what happened on a day is told in the days after it
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_BEFORE_A_MONTH = ("in", "last", "of", "since", "during", "this", "early", "late", "on", "until", "by")
_SPANS = {"last week": 7, "last month": 30, "last year": 365}
_SIGNS = dict.fromkeys(map(ord, ",.;:!?()[]\"'`/"), " ")


def window(text: str, now: float) -> tuple[float, float]:
    """(first, last) second of the time that a text in lower case names first, or (1, 0)."""
    words = ["", *text.translate(_SIGNS).split(), "", "", ""]
    for before, word, after, last in zip(words, words[1:], words[2:], words[3:]):
        if len(word) == 10 and clock.is_day(word):
            return _span(word[:4], word[5:7], word[8:], now)
        if word in _MONTHS:
            year = next((each for each in (after, last) if each.isdigit() and len(each) == 4), "")
            day = next((each.zfill(2) for each in (before, after) if each.isdigit() and len(each) < 3), "")
            if year or day or before in _BEFORE_A_MONTH:
                return _span(year, "%02d" % (_MONTHS.index(word) + 1), day, now)
    days = 1 if "yesterday" in words else max([_SPANS.get("%s %s" % pair, 0) for pair in zip(words, words[1:])])
    return (now - 2 * days * _DAY, now - days * _DAY / 4) if days else (1.0, 0.0)


def _span(year: str, month: str, day: str, now: float) -> tuple[float, float]:
    """A day or a whole month, without a year the last one before now."""
    last = int(clock.iso(now)[:4])
    starts = [clock.parse("%s-%s-%sT00:00:00Z" % (each, month, day or "01")) for each in (year or last, last - 1)]
    start = next((each for each in starts if each and each <= now), now)
    return start - _DAY, start + (1 if day else 31) * _DAY + _TOLD_LATER
