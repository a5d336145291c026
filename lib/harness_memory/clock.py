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
    if not isinstance(text, str) or len(text) < 20 or text[10] != "T" or text[-1] != "Z":
        return None
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:-1].replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit() and len(text) < 40):
        return None
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    seconds = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + float(text[17:-1])
    if not (1970 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31 and seconds < 2 * 86400):
        return None
    return _days(year, month, day) * 86400 + seconds


def is_day(name: str) -> bool:
    return len(name) == 10 and name[4] == name[7] == "-" and name.replace("-", "").isdigit()


def _days(year: int, month: int, day: int) -> int:
    # Days since 1970 in the Gregorian calendar, counting years from March.
    year -= month <= 2
    era_year = year % 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year // 400 * 146097 + era_year * 365 + era_year // 4 - era_year // 100 + day_of_year - 719468
