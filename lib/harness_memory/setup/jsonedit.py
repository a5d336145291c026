"""Small edits to JSON text that leave every other byte as it is.

A new part takes on the layout around it: indentation, line ends, one line or many, spaces after `:` and `,`.
Removing it leaves the text as it was before.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

BOM = "\ufeff"
_KINDS = {"{": "an object", "[": "an array", '"': "a string", "t": "true", "f": "false", "n": "null"}
_NEWLINE = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r'[ \t\n\r]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\n\r{}\[\],:"]+)', re.DOTALL)


class Invalid(ValueError):
    """Text that is not JSON as the client reads it; `line` and `column` count from 1."""

    def __init__(self, message: str, text: str, position: int) -> None:
        lines = _NEWLINE.split(text[:position].lstrip(BOM))
        self.line, self.column, self.message = len(lines), len(lines[-1]) + 1, message
        super().__init__("line %d, column %d: %s" % (self.line, self.column, message))


class Node:
    """A value in `text[start:end]`; `begin` is where its key starts, if it has one. `value` is that of a string."""

    __slots__ = ("begin", "children", "end", "key", "key_end", "kind", "start", "value")

    def __init__(self, token: str, start: int) -> None:
        self.kind = token[0]
        self.start = self.begin = self.key_end = start
        self.end = start + len(token)
        self.value = json.loads(token, strict=False) if self.kind == '"' else ""
        self.key = ""
        self.children: list[Node] = []

    def find(self, *path: str | int) -> Node | None:
        """The node at a path; of equal keys the last one counts, as in JavaScript."""
        node: Node | None = self
        for key in path:
            if node is None or node.kind != ("[" if isinstance(key, int) else "{"):
                return None
            if isinstance(key, int):
                node = node.children[key] if key < len(node.children) else None
            else:
                node = next((child for child in reversed(node.children) if child.key == key), None)
        return node

    def describe(self) -> str:
        return _KINDS.get(self.kind, "a number")


@lru_cache(maxsize=8)  # an edit parses the same text many times; nodes never change
def parse(text: str) -> Node:
    """The tree of a document. `json` checks it first, so that the tokens are known to be in order."""
    content = text[len(BOM) :] if text.startswith(BOM) else text
    try:
        json.loads(content, parse_constant=_refuse_constant, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise Invalid(error.msg[:1].lower() + error.msg[1:], text, error.pos + len(text) - len(content)) from None
    except (RecursionError, ValueError) as error:
        raise Invalid(str(error) if isinstance(error, ValueError) else "nested too deeply", text, 0) from None
    open_nodes: list[Node] = []
    last, is_named = Node("n", 0), False
    for token in _TOKEN.finditer(text, len(text) - len(content)):
        word = token.group(1)
        if word in ("}", "]"):
            last = open_nodes.pop()
            last.end = token.end()
        elif word == ":":
            is_named = True
        elif word != ",":
            node = Node(word, token.start(1))
            if is_named:  # the string before the colon was the key of this value
                key = open_nodes[-1].children.pop()
                node.key, node.begin, node.key_end = key.value, key.start, key.end
                is_named = False
            if open_nodes:
                open_nodes[-1].children.append(node)
            if word in ("{", "["):
                open_nodes.append(node)
            last = node
    return last


def _refuse_constant(name: str) -> None:
    raise ValueError("%s is not a JSON value" % name)


def append(text: str, path: Path, value: Any, key: str = "") -> str:
    """Add `value` to the end of the array, or `key: value` to the end of the object, at `path`."""
    root = parse(text)
    parent, layout = _at(root, path), _Layout(text, root)
    indent = layout.child_indent(root, path)
    item = (json.dumps(key) + layout.colon if key else "") + layout.render(value, indent)
    if parent.children:
        end = parent.children[-1].end
        between = layout.comma if indent is None else "," + layout.newline + indent
        return text[:end] + between + item + text[end:]
    if indent is not None:
        item = layout.newline + indent + item + layout.newline + layout.line_indent(parent.start)
    return text[: parent.start + 1] + item + text[parent.end - 1 :]


def remove(text: str, path: Path) -> str:
    """Remove the member or element at `path` together with its comma."""
    root = parse(text)
    parent, node = _at(root, path[:-1]), _at(root, path)
    index = parent.children.index(node)
    if index:
        return text[: parent.children[index - 1].end] + text[node.end :]
    if len(parent.children) > 1:
        return text[: node.begin] + text[parent.children[1].begin :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


class _Layout:
    """How a document is written."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        newline = _NEWLINE.search(text)
        self.newline = newline.group() if newline else "\n"
        self.unit, self.colon = "  ", ": "
        if root.children:
            first, outer = self.indent_of(root, 0), self.line_indent(root.start)
            self.unit = first[len(outer) :] if first is not None and first.startswith(outer) else self.unit
            between = text[root.children[0].key_end : root.children[0].start]
            self.colon = between if not _NEWLINE.search(between) else self.colon
        self.comma = ", " if self.colon != ":" else ","

    def indent_of(self, parent: Node, index: int) -> str | None:
        """The indentation of a child that has a line of its own, else None."""
        previous = parent.children[index - 1].end if index else parent.start + 1
        lines = _NEWLINE.split(self.text[previous : parent.children[index].begin])
        return lines[-1].replace(",", " ") if len(lines) > 1 else None  # commas may lead their lines

    def child_indent(self, root: Node, path: Path) -> str | None:
        """The indentation of a new child; None where the children share one line."""
        node = _at(root, path)
        if node.children:
            return self.indent_of(node, len(node.children) - 1)
        if path:
            parent = _at(root, path[:-1])
            if self.indent_of(parent, parent.children.index(node)) is None:
                return None
        return self.line_indent(node.start) + self.unit

    def line_indent(self, position: int) -> str:
        line = _NEWLINE.split(self.text[:position])[-1]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def render(self, value: Any, indent: str | None) -> str:
        """`value` as text; `indent` is that of the line it starts on, None for all on one line."""
        if not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = None if indent is None else indent + self.unit
        if isinstance(value, dict):
            items = [json.dumps(key) + self.colon + self.render(item, inner) for key, item in value.items()]
        else:
            items = [self.render(item, inner) for item in value]
        left, right = "{}" if isinstance(value, dict) else "[]"
        if indent is None or inner is None:
            return left + self.comma.join(items) + right
        between = "," + self.newline + inner
        return left + between[1:] + between.join(items) + self.newline + indent + right


def _at(root: Node, path: Path) -> Node:
    node = root.find(*path)
    if node is None:
        raise KeyError(path)
    return node
