"""A line that shows how far long work is: on a terminal, and nowhere else."""

from __future__ import annotations

import os
import sys
import time

from .output import columns, cut

_SECONDS_BETWEEN = 0.1
_CELLS = 20


class Meter:
    """`with Meter("Reading", total) as meter: meter.add(n)`; `total` may be 0 when it is not known."""

    __slots__ = ("_is_shown", "_next", "_wide", "done", "total", "what")

    def __init__(self, what: str, total: int = 0) -> None:
        self.what = what
        self.total = total
        self.done = 0
        self._is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = 0.0
        self._wide = 0

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._wide:
            self._show("")

    def add(self, number: int = 1, note: str = "") -> None:
        self.done += number
        now = time.monotonic()
        if self._is_shown and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._show(text(self.what, self.done, self.total, note))

    def one(self) -> None:
        self.add()

    def _show(self, line: str) -> None:
        line = cut(line, min(columns(), 200) - 1)
        sys.stderr.write("\r" + line + " " * (self._wide - len(line)) + ("" if line else "\r"))
        sys.stderr.flush()
        self._wide = len(line)


def text(what: str, done: int, total: int, note: str = "") -> str:
    if not total:
        return "%s %d %s" % (what, done, note)
    share = min(1.0, done / total)
    full = int(share * _CELLS)
    return "%s [%s%s] %3d%% %s" % (what, "#" * full, "." * (_CELLS - full), int(share * 100), note)
