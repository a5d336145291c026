"""Charts of characters that the terminal can show."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = ".:-=+*%#"  # where the terminal's encoding lacks the others
_COLUMNS = 24


def sparkline(values: Sequence[float], lowest: float, highest: float) -> str:
    """A bar for each value."""
    bars, span = _bars(), highest - lowest or 1.0
    return "".join(bars[round((value - lowest) / span * (len(bars) - 1))] for value in values)


def bar(part: int, whole: int) -> str:
    """A share as a percentage and a bar."""
    share = part / whole if whole else 0.0
    return "%3d %% %s" % (round(share * 100), _bars()[-1] * round(share * _COLUMNS))


def _bars() -> str:
    try:
        _BARS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _PLAIN_BARS
    return _BARS
