"""All that the command line prints: safe for any terminal and any encoding.

Stored text may hold anything. Control characters, escape sequences and the marks that reorder or
hide text are shown as `\\x1b`, `\\u202e`; what the terminal's encoding lacks becomes a near ASCII
form or `?`.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import time

from ..base import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

_JOINERS = "\u200c\u200d"  # part of words and emoji, and invisible to no effect
_NEAR = {"…": "...", "·": "-", "→": "->", "–": "-", "—": "-", "•": "*", "“": '"', "”": '"', "‘": "'", "’": "'"}
_ERRORS = "harness-near"


def prepare() -> None:
    """Make standard output and error able to take any text."""
    codecs.register_error(_ERRORS, _near)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  (closed by whoever started us)
    sys.stderr = sys.stderr or sys.stdout
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def drop() -> None:
    """Standard output takes nothing more: Python would try once more at its end, and fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str, file: TextIO | None = None) -> None:
    print(passage(text), file=file)


def complain(message: str) -> None:
    sys.stdout.flush()
    print("harness: " + passage(message), file=sys.stderr)


def emit_json(value: Any) -> None:
    """The only way JSON leaves: pretty, valid, and harmless when shown."""
    import json

    is_utf = codecs.lookup(sys.stdout.encoding or "ascii").name.startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=not is_utf)
    print(_escaped(text, _json_escape, "\n"))


def emit_stored(data: bytes) -> None:
    """A stored file: to a terminal made safe; to another program as it is, so that it can come back, but without
    what acts on a terminal, where it may end all the same."""
    text = data.decode("utf-8", "replace")
    if sys.stdout.isatty():
        print(passage(text.rstrip("\n")))
    else:
        sys.stdout.flush()
        kept = "\r\n".join(_escaped(part, lambda char: "", "\n\t") for part in text.split("\r\n"))
        sys.stdout.buffer.write(data if kept == text else kept.encode("utf-8"))


def line(text: object) -> str:
    """Any value on one line."""
    return _escaped(" ".join(str(text).split()), _escape, "")


def passage(text: str) -> str:
    """Text that keeps its lines."""
    return _escaped(text.replace("\r\n", "\n").expandtabs(4), _escape, "\n")


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    import unicodedata

    shown = [c for c in text if not unicodedata.combining(c) and c not in _JOINERS]
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    kept, used = "", 0
    for char in text:
        used += width(char)
        if used > columns - 1:
            break
        kept += char
    return kept.rstrip() + "…"


def table(rows: list[list[str]], right: tuple[int, ...] = (), *, is_cut: bool = False) -> list[str]:
    """Aligned columns; the last one may be cut at the edge of the terminal, never in a pipe."""
    if not rows:
        return []
    widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    edge = columns() if is_cut else sys.maxsize
    lines = []
    for row in rows:
        cells = [_padded(cell, wide, i in right) for i, (cell, wide) in enumerate(zip(row, widths))]
        head = "".join(cell + "  " for cell in cells)
        lines.append((head + cut(row[-1], max(20, edge - width(head)))).rstrip())
    return lines


def columns() -> int:
    if not sys.stdout.isatty():
        return 1000
    import shutil

    return shutil.get_terminal_size().columns


def short(path: str) -> str:
    """A path for a person: the home directory is `~`."""
    home = os.path.expanduser("~")
    if path == home or path.startswith(home + os.sep):
        path = "~" + path[len(home) :]
    return line(path)


def ago(seconds: float) -> str:
    """An instant as a person would say it."""
    passed = time.time() - seconds
    if passed < -60:
        return "in the future (%s)" % clock.iso(seconds)
    for limit, unit, name in ((90, 1, "s"), (5400, 60, "min"), (129600, 3600, "h")):
        if passed < limit:
            return "%d %s ago" % (max(0, passed) // unit, name)
    return "%d days ago" % (passed // 86400)


def local(iso: object) -> str:
    """`2026-11-16T06:00:48Z` in the person's own time."""
    seconds = clock.parse(iso)
    return line(iso or "-") if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def count(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def _padded(text: str, wide: int, is_right: bool) -> str:
    space = " " * (wide - width(text))
    return space + text if is_right else text + space


def _escaped(text: str, escape: Callable[[str], str], kept: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c in kept or c.isprintable() else _shown(c, escape) for c in text)


def _shown(char: str, escape: Callable[[str], str]) -> str:
    import unicodedata

    kind = unicodedata.category(char)
    if kind == "Zs":
        return " "
    return escape(char) if kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS else char


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _json_escape(char: str) -> str:
    import json

    return json.dumps(char)[1:-1]


def _near(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_NEAR.get(c, "?") for c in error.object[error.start : error.end]), error.end
