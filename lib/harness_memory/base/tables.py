"""Tables that lie beside a module: `[name] remark`, then lines of fields separated by tabs; above that, remarks."""

from __future__ import annotations


def read(path: str) -> dict[str, list[list[str]]]:
    with open(path, encoding="utf-8") as file:
        parts = [part.partition("]") for part in file.read().split("\n[")[1:]]
    return {name: [line.split("\t") for line in lines.split("\n")[1:] if line] for name, _, lines in parts}
