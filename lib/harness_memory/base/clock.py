"""Instants as ISO 8601 in UTC, without importing `datetime`."""

from __future__ import annotations

import time

_days: dict[str, int] = {}  # days since 1970: a transcript names the same day on every line


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0.0, seconds)))


def fine_iso(seconds: float) -> str:
    return "%s.%03dZ" % (iso(seconds)[:-1], int(seconds * 1000) % 1000)


def stamp(text: str) -> str:
    """An ISO instant for a file name: without colons."""
    return text.replace(":", "")


def unstamp(text: str) -> str:
    """The ISO instant of a stamp, to the second; "" for anything else."""
    instant = "%s:%s:%sZ" % (text[:13], text[13:15], text[15:17])
    return instant if parse(instant) is not None else ""


def is_day(name: str) -> bool:
    return len(name) == 10 and name[4] == name[7] == "-" and name.isascii() and name.replace("-", "").isdigit()


def parse(text: object) -> float | None:
    """Seconds since 1970 of `2026-11-16T01:58:08.754Z`; None for anything else."""
    if not isinstance(text, str) or not 20 <= len(text) < 40 or text[10] != "T" or text[-1] != "Z":
        return None
    day, hour, minute, second = text[:10], text[11:13], text[14:16], text[17:-1]
    digits = hour + minute + second.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit() and is_day(day)):
        return None
    if day not in _days:  # in the Gregorian calendar, counting years from March
        year, month, number = int(day[:4]), int(day[5:7]), int(day[8:])
        if not (year >= 1970 and 1 <= month <= 12 and 1 <= number <= 31):
            return None
        year -= month <= 2
        of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + number - 1
        _days[day] = year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719468
    seconds = int(hour) * 3600 + int(minute) * 60 + float(second)
    return _days[day] * 86400 + seconds if seconds < 2 * 86400 else None
