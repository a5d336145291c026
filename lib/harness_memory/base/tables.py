"""Tables that lie beside a module: `[name] remark`, then lines of fields separated by tabs; above that, remarks."""

from __future__ import annotations

import sys

from .typing import Any, Iterable


def read(path: str) -> dict[str, list[list[str]]]:
    with open(path, encoding="utf-8") as file:
        parts = [part.partition("]") for part in file.read().split("\n[")[1:]]
    return {name: [line.split("\t") for line in lines.split("\n")[1:] if line] for name, _, lines in parts}


def by_start(entries: Iterable[tuple[str, Any]]) -> dict[int, list[Any]]:
    """What needs a word, by the first four bytes of it as `fours` gives them; by 0 if it is shorter."""
    table: dict[int, list[Any]] = {}
    for word, entry in entries:
        start = word.encode()[:4]
        table.setdefault(int.from_bytes(start, sys.byteorder) if len(start) > 3 else 0, []).append(entry)
    return table


def fours(value: str) -> memoryview:
    """Each four bytes of a text as a number, those at its start first, and 0: which words may be in it, at one look."""
    data = value.encode("utf-8", "surrogatepass") + bytes(7)
    size = len(data) & -4
    return memoryview(data[:size] + data[1 : size - 3] + data[2 : size - 2] + data[3 : size - 1]).cast("I")
