"""A progress line for long work, on a terminal only."""

from __future__ import annotations

import sys

_CELLS = 20


class Meter:
    """`with Meter("Reading", total) as meter: meter.add(n)`."""

    __slots__ = ("_percent", "done", "total", "what")

    def __init__(self, what: str, total: int) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._percent = -1

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._percent >= 0:
            sys.stderr.write("\r" + " " * (len(self.what) + _CELLS + 8) + "\r")

    def add(self, number: int = 1) -> None:
        self.done += number
        percent = min(100, self.done * 100 // max(1, self.total))
        if sys.stderr.isatty() and percent > self._percent:
            self._percent = percent
            bar = "#" * (percent * _CELLS // 100)
            sys.stderr.write("\r%s [%s] %3d%%" % (self.what, bar.ljust(_CELLS, "."), percent))
            sys.stderr.flush()
