"""All that the command line prints: safe for any terminal and any encoding.

Stored text may hold anything. Control characters, escape sequences and marks that reorder or hide text are shown as
`\\x1b`, `\\u202e`; a character that the terminal's encoding lacks becomes `?`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
import time
import unicodedata
from typing import Any, Callable, Iterable, Sequence

from ..base import clock
from ..base.typing import Fields as Fields

COULD_NOT = 2
WIDE = 100
_CLOSED_PIPE, _INTERRUPTED = 141, 130  # exit codes, as a shell reports them
_STATES = re.compile(
    r"(?<=  )(COMPLETED|ACTIVE|ABANDONED|DIED|BLOCKED|interrupted|failed)(?=  )|^(ok|warn|FAIL|BLOCKED)(?=  )",
    re.MULTILINE,
)
_HEAD = re.compile(r"(?:\S+(?: \S+)?  +)* *(?:[-*] +)*")
_COLOURS = {"COMPLETED": "32", "ACTIVE": "1;32", "ok": "32", "warn": "33", "interrupted": "33"}  # others: red
_JOINERS = "\u200c\u200d"  # parts of words and emoji


class Refusal(Exception):
    """What failed, where, and what to do, in one or two sentences."""


def run(
    work: Callable[[], int],
    program: str,
    code: int = COULD_NOT,
    refused: str = "",
    failed: str = "See: harness memory doctor",
) -> int:
    """The exit code of a command; `refused` and `failed` end the message of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code_of_work = work()
        sys.stdout.flush()
        return code_of_work
    except SystemExit as leaving:  # argparse, after help or a wrong argument
        return leaving.code if isinstance(leaving.code, int) else COULD_NOT
    except KeyboardInterrupt:
        complain("stopped", program)
        return _INTERRUPTED
    except Refusal as refusal:
        complain(str(refusal) + refused, program)
    except OSError as error:
        if error.filename is None:  # of standard output: the rest goes nowhere, else Python fails again when it exits
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has closed the pipe
            return _CLOSED_PIPE
        what = "cannot use %s" % error.filename if error.filename else "cannot write output"
        hint = getattr(error, "remedy", "Name another" if isinstance(error, FileNotFoundError) else failed)
        complain("%s: %s. %s" % (what, error.strerror or error, hint), program)
    return code


def complain(message: str, program: str = "harness") -> None:
    sys.stdout.flush()
    rows = passage("%s: %s" % (program, message)).split("\n")
    print("\n".join(_folded(row, columns(sys.stderr)) for row in rows), file=sys.stderr)


def has_input() -> bool:
    return sys.stdin is not None and not sys.stdin.isatty()


def read_input(limit: int, how: str) -> bytes:
    """Standard input as bytes; `how` says what to do when there is none."""
    if not has_input():
        raise Refusal("standard input is a terminal; nothing was read. " + how)
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise Refusal("standard input is larger than %d KB; nothing was written" % (limit >> 10))
    return data


def ask(question: str) -> str:
    print(passage(question), end="", flush=True)
    return sys.stdin.readline().strip().lower()


def show(lines: Iterable[str]) -> None:
    """Print lines, which may hold anything; on a terminal folded, and states in colour."""
    for row in [_folded(row, columns()) for text in lines for row in passage(text).split("\n")]:
        if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            row = _STATES.sub(lambda at: "\x1b[%sm%s\x1b[0m" % (_COLOURS.get(at[0], "31"), at[0]), row)
        print(row)


def _folded(text: str, edge: int) -> str:
    """A line in several, below its last column, unless it is a command to copy; a path stays one word."""
    if width(text) <= edge or "-> " in text:
        return text
    first, rest = (" " * len(part) for part in (text[: -len(text.lstrip())], (_HEAD.match(text) or [""])[0]))
    wrapper = textwrap.TextWrapper(edge, first, rest, break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(text.lstrip())


def findings(found: Sequence[Any], root: str) -> list[str]:
    """How much lint or verify found, and what, as lines above their remedies, of many the first few."""
    groups: dict[str, list[str]] = {}
    for each in found:
        place = os.path.relpath(each.file, root) + (":%d" % each.line if hasattr(each, "line") else "")
        groups.setdefault(each.remedy, []).append("  %s %s" % (place, line(each.what)))
    rows = [row for remedy, group in groups.items() for row in ("", *some(group, 5, "  "), "  -> " + remedy)]
    return ["%s in %s" % (count(len(found), "finding"), short(root)), *rows]


def some(lines: list[str], most: int, indent: str = "") -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *(["%sand %d more" % (indent, more)] if more > 0 else [])]


def line(text: object) -> str:
    """Any value on one line."""
    return _escaped(" ".join(str(text).split()))


def passage(text: str) -> str:
    """Text that keeps its lines and tabs."""
    return _escaped(text.replace("\r\n", "\n"), "\n\t")


def _escaped(text: str, safe: str = "") -> str:
    def shown(char: str) -> str:
        kind = unicodedata.category(char)
        if char in safe or char in _JOINERS or kind not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return " " if kind == "Zs" else char
        return char.encode("unicode_escape").decode("ascii")

    return text if text.isprintable() else "".join(map(shown, text))


def width(text: str) -> int:
    shown = [char for char in text if not unicodedata.combining(char) and char not in _JOINERS]
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in shown)


def cut(text: str, columns: int) -> str:
    is_long = width(text) > columns
    while is_long and text and width(text) > columns - 1:
        text = text[: -max(1, (width(text) - columns) // 2)]
    return text.rstrip() + "…" if is_long else text


def columns(stream: Any = None) -> int:
    # Python 3.8 passes on the 0 of a terminal without a size.
    return (shutil.get_terminal_size().columns or 80) if (stream or sys.stdout).isatty() else sys.maxsize


def table(rows: Sequence[Sequence[object]], *, is_cut: bool = False) -> list[str]:
    """Aligned columns, cut at the edge of a terminal, of which one takes a third at most."""
    texts = [[*map(line, row)] for row in rows]
    edge, lines = columns() if is_cut else sys.maxsize, []
    widths = [min(max(map(width, column)), edge // 3) for column in [*zip(*texts)][:-1]]
    for row in texts:
        head = ""
        for text, size in zip(row, widths):
            shown = cut(text, size)
            head += shown + " " * (size - width(shown) + 2)
        lines.append((head + cut(row[-1], max(10, edge - width(head)))).rstrip())
    return lines


def page(value: Any) -> list[str]:
    """Any value for a person: a table of its fields that are set; of a list one for each."""
    if isinstance(value, list):
        return [line for each in value for line in ("", *page(each))][1:]
    rows = []
    for key, item in value.items():
        if isinstance(item, dict):
            item = ["%s: %s" % (name, _joined(each)) for name, each in item.items() if each]
        lines = (item or ["none"]) if isinstance(item, list) else [item] * (item not in (None, ""))
        rows += [[" " * bool(at) or key.replace("_", " "), short(str(text))] for at, text in enumerate(lines)]
    return table(rows) if rows else []


def _joined(value: object) -> object:
    return ", ".join("%s %s" % pair for pair in value.items() if pair[1]) if isinstance(value, dict) else value


def cell(value: object) -> str:
    """A value in a table: of a list its length, a time in local time."""
    return line(len(value)) if isinstance(value, list) else local("-" if value in (None, "") else str(value))


def short(path: str) -> str:
    """A path for a person: the home directory is `~`."""
    home = os.path.expanduser("~")
    return line("~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path)


def ago(seconds: float) -> str:
    """An instant as a person says it."""
    passed = time.time() - seconds
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
