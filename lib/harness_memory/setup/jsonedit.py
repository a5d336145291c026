"""Small edits to JSON text that leave every other byte as it is.

A new part takes on the looks of its surroundings: indentation, line ends, one line or many,
spaces after `:` and `,`. Taking it out again leaves the text as it was before.
"""

from __future__ import annotations

import re

from ..base import jsontext
from .jsontree import Node, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

_NEWLINE = re.compile(r"\r\n|\n|\r")


class Layout:
    """How a document is written."""

    __slots__ = ("colon", "comma", "newline", "unit")

    def __init__(self, text: str, root: Node) -> None:
        match = _NEWLINE.search(text)
        self.newline = match.group() if match else "\n"
        self.unit = _unit(text, root)
        self.colon = ": "
        if root.kind == "{" and root.children:
            between = text[root.children[0].key_end : root.children[0].start]
            self.colon = between if not _NEWLINE.search(between) else ": "
        self.comma = ", " if self.colon != ":" else ","


def add_member(text: str, path: Path, key: str, value: Any) -> str:
    """Append `key: value` to the object at `path`."""
    return _append(text, path, key, value)


def append(text: str, path: Path, value: Any) -> str:
    """Append `value` to the array at `path`."""
    return _append(text, path, None, value)


def replace(text: str, path: Path, value: Any) -> str:
    """Put a scalar in the place of the value at `path`."""
    node = _at(parse(text), path)
    return text[: node.start] + jsontext.compact(value) + text[node.end :]


def remove(text: str, path: Path) -> str:
    """Take out the member or element at `path` together with the comma that it needed."""
    root = parse(text)
    parent, node = _at(root, path[:-1]), _at(root, path)
    index = next(i for i, child in enumerate(parent.children) if child is node)
    if index:
        return text[: parent.children[index - 1].end] + text[node.end :]
    if len(parent.children) > 1:
        return text[: _begin(text, parent, 0)] + text[_begin(text, parent, 1) :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def render(value: Any, layout: Layout, indent: str | None) -> str:
    """`value` as text; `indent` is that of the line it starts on, None for all on one line."""
    inner = None if indent is None else indent + layout.unit
    if isinstance(value, dict):
        members = [jsontext.quote(key) + layout.colon + render(item, layout, inner) for key, item in value.items()]
        return _bracket("{", members, "}", layout, indent)
    if isinstance(value, list):
        return _bracket("[", [render(item, layout, inner) for item in value], "]", layout, indent)
    return jsontext.compact(value)


def _append(text: str, path: Path, key: str | None, value: Any) -> str:
    root = parse(text)
    parent, layout = _at(root, path), Layout(text, root)
    indent = _child_indent(text, root, path, layout)
    item = (jsontext.quote(key) + layout.colon if key is not None else "") + render(value, layout, indent)
    if parent.children:
        end = parent.children[-1].end
        between = layout.comma if indent is None else "," + layout.newline + indent
        return text[:end] + between + item + text[end:]
    if indent is not None:
        item = layout.newline + indent + item + layout.newline + _line_indent(text, parent.start)
    return text[: parent.start + 1] + item + text[parent.end - 1 :]


def _child_indent(text: str, root: Node, path: Path, layout: Layout) -> str | None:
    """What a new child's line begins with; None when the children share one line."""
    node = _at(root, path)
    if node.children:
        return _indent_before(text, node, len(node.children) - 1)
    if path:
        parent = _at(root, path[:-1])
        index = next(i for i, child in enumerate(parent.children) if child is node)
        if _indent_before(text, parent, index) is None:
            return None
    return _line_indent(text, node.start) + layout.unit


def _indent_before(text: str, parent: Node, index: int) -> str | None:
    begin = _begin(text, parent, index)
    previous = parent.children[index - 1].end if index else parent.start + 1
    lines = _NEWLINE.split(text[previous:begin])
    # Where commas lead their lines, the child stands as far in as if they did not.
    return lines[-1].replace(",", " ") if len(lines) > 1 else None


def _begin(text: str, parent: Node, index: int) -> int:
    """Where the child starts, its key included."""
    child = parent.children[index]
    if child.key is None:
        return child.start
    previous = parent.children[index - 1].end if index else parent.start + 1
    return text.index('"', previous)


def _unit(text: str, root: Node) -> str:
    if not root.children:
        return "  "
    indent = _indent_before(text, root, 0)
    outer = _line_indent(text, root.start)
    return indent[len(outer) :] if indent is not None and indent.startswith(outer) else "  "


def _line_indent(text: str, position: int) -> str:
    line = _NEWLINE.split(text[:position])[-1]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _bracket(left: str, items: list[str], right: str, layout: Layout, indent: str | None) -> str:
    if not items:
        return left + right
    if indent is None:
        return left + layout.comma.join(items) + right
    start = layout.newline + indent
    inner = start + layout.unit
    return left + inner + ("," + inner).join(items) + start + right


def _at(root: Node, path: Path) -> Node:
    node = root.find(path)
    if node is None:
        raise KeyError(path)
    return node
