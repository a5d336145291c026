"""A progress line for long work, on a terminal only."""

from __future__ import annotations

import os
import sys
import time

from .output import columns, cut

_SECONDS_BETWEEN = 0.1
_CELLS = 20


class Meter:
    """`with Meter("Reading", total) as meter: meter.add(n)`."""

    __slots__ = ("_is_shown", "_next", "_width", "done", "total", "what")

    def __init__(self, what: str, total: int) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = 0.0
        self._width = 0

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")

    def add(self, number: int = 1, note: str = "") -> None:
        self.done += number
        if not self._is_shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN
        share = min(1.0, self.done / max(1, self.total))
        bar = "#" * int(share * _CELLS)
        line = cut("%s [%s] %3d%% %s" % (self.what, bar.ljust(_CELLS, "."), int(share * 100), note), columns() - 1)
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)
