"""Instants as ISO 8601 in UTC, without importing `datetime`."""

from __future__ import annotations

import time


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, seconds)))


def stamp(text: str) -> str:
    """An ISO instant as it may stand in a file name: no colons."""
    return text.replace(":", "")


def unstamp(text: str) -> str:
    """The ISO instant of a stamp, to the second; "" for anything else."""
    instant = "%s:%s:%sZ" % (text[:13], text[13:15], text[15:17])
    return instant if parse(instant) is not None else ""


def fine_iso(seconds: float) -> str:
    return "%s.%03dZ" % (iso(seconds)[:-1], int(seconds * 1000) % 1000)


def fine_stamp(seconds: float) -> str:
    """A stamp with milliseconds: names that sort in the order things were written."""
    return stamp(fine_iso(seconds))


def parse(text: object) -> float | None:
    """Seconds since 1970 of `2026-11-16T01:58:08.754Z`; None for anything else."""
    if not isinstance(text, str) or not 20 <= len(text) < 40 or text[10] != "T" or text[-1] != "Z":
        return None
    midnight = _midnights.get(text[:10]) or _midnight(text[:10])
    hour, minute, second = text[11:13], text[14:16], text[17:-1]
    digits = hour + minute + second.replace(".", "", 1)
    if midnight is None or not (digits.isascii() and digits.isdigit()):
        return None
    seconds = int(hour) * 3600 + int(minute) * 60 + float(second)
    return midnight + seconds if seconds < 2 * 86400 else None


_MIDNIGHTS_KEPT = 64
_midnights: dict[str, int] = {}  # a transcript tells the same day on every line


def _midnight(day: str) -> int | None:
    digits = day[:4] + day[5:7] + day[8:10]
    if not (digits.isascii() and digits.isdigit()):
        return None
    year, month, number = int(day[:4]), int(day[5:7]), int(day[8:10])
    if not (1970 <= year <= 9999 and 1 <= month <= 12 and 1 <= number <= 31):
        return None
    if len(_midnights) >= _MIDNIGHTS_KEPT:
        _midnights.clear()
    _midnights[day] = _days(year, month, number) * 86400
    return _midnights[day]


def is_day(name: str) -> bool:
    return len(name) == 10 and name[4] == name[7] == "-" and name.isascii() and name.replace("-", "").isdigit()


def _days(year: int, month: int, day: int) -> int:
    # Days since 1970 in the Gregorian calendar, counting years from March.
    year -= month <= 2
    era_year = year % 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year // 400 * 146097 + era_year * 365 + era_year // 4 - era_year // 100 + day_of_year - 719468
