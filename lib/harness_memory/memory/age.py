"""From which instant age is counted: a clock that is wrong for a while must not make everything old.

A clock may jump ahead by years, and come back hours or days later. That time has really passed is shown by
work: after a long gap nothing counts as older than it was at the gap's beginning, until there was work on
several days since. Whoever was away keeps what they left a little longer.
"""

from __future__ import annotations

from ..base import clock, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def reckoned(days: Iterable[str], now: float, gap_days: float = settings.CLOCK_GAP_DAYS) -> float:
    """The instant to count from: `now`, or the end of the last day of work that is beyond doubt.

    `days` are those on which there was work, as `2026-11-16`; later ones than today are a wrong clock's.
    """
    today = clock.iso(now)[:10]
    instant, later, worked = now, clock.parse(today + "T00:00:00Z") or now, 0
    for day in sorted({day for day in days if settings.FIRST_DAY <= day <= today}, reverse=True):
        begins = clock.parse(day + "T00:00:00Z")
        if begins is None:
            continue
        if later - begins > gap_days * settings.DAY_SECONDS:
            instant, worked = begins + settings.DAY_SECONDS, 0
        worked += 1
        if worked >= settings.CLOCK_PROOF_DAYS:
            break
        later = begins
    return instant
