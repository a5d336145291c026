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
_NEWLINE = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r'[ \t\n\r]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\n\r{}\[\],:"]+)', re.DOTALL)


class Invalid(ValueError):
    """Text that is not JSON as the client reads it; the message starts with line and column."""


class Node:
    """A value in `text[start:end]`; `begin` is where its key starts, if it has one. `value` is that of a string."""

    __slots__ = ("begin", "children", "end", "key", "key_end", "kind", "parent", "start", "value")

    def __init__(self, token: str, start: int, parent: Node | None) -> None:
        self.kind = token[0]
        self.parent = parent
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

    def below(self, *path: str | int) -> list[Node]:
        """The children of the node at a path."""
        node = self.find(*path)
        return node.children if node is not None else []


@lru_cache(maxsize=8)  # an edit parses the same text many times; nodes never change
def parse(text: str) -> Node:
    """The tree of a document. `json` checks it first, so that the tokens are known to be in order."""

    def refuse(constant: str) -> None:
        raise ValueError("%s is not a JSON value" % constant)

    content = text[len(BOM) :] if text.startswith(BOM) else text
    try:
        json.loads(content, parse_constant=refuse, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise Invalid("%d:%d: not valid JSON: %s" % (error.lineno, error.colno, error.msg)) from None
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise Invalid("1:1: not valid JSON: %s" % reason) from None
    parent: Node | None = None
    last, is_named = Node("n", 0, None), False
    for token in _TOKEN.finditer(text, len(text) - len(content)):
        word = token.group(1)
        if word in ("}", "]") and parent is not None:
            last, parent = parent, parent.parent
            last.end = token.end()
        elif word == ":":
            is_named = True
        elif word != ",":
            last = Node(word, token.start(1), parent)
            if parent is not None:
                if is_named:  # the string before the colon was the key of this value
                    key = parent.children.pop()
                    last.key, last.begin, last.key_end = key.value, key.start, key.end
                    is_named = False
                parent.children.append(last)
            parent = last if word in ("{", "[") else parent
    return last


def append(text: str, path: Path, value: Any, key: str = "") -> str:
    """Add `value` to the end of the array, or `key: value` to the end of the object, at `path`."""
    node, layout = _at(text, path), _Layout(text)
    indent = layout.child_indent(node)
    item = (json.dumps(key) + layout.colon if key else "") + layout.render(value, indent)
    if node.children:
        end = node.children[-1].end
        return text[:end] + (layout.comma if indent is None else "," + layout.newline + indent) + item + text[end:]
    if indent is not None:
        item = layout.newline + indent + item + layout.newline + layout.line_indent(node.start)
    return text[: node.start + 1] + item + text[node.end - 1 :]


def remove(text: str, path: Path) -> str:
    """Remove the member or element at `path` together with its comma."""
    parent, node = _at(text, path[:-1]), _at(text, path)
    index = parent.children.index(node)
    if index:
        return text[: parent.children[index - 1].end] + text[node.end :]
    if len(parent.children) > 1:
        return text[: node.begin] + text[parent.children[1].begin :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _at(text: str, path: Path) -> Node:
    node = parse(text).find(*path)
    if node is None:
        raise KeyError(path)
    return node


class _Layout:
    """How a document is written."""

    def __init__(self, text: str) -> None:
        self.text = text
        root, newline = parse(text), _NEWLINE.search(text)
        self.newline = newline.group() if newline else "\n"
        self.unit, self.colon = "  ", ": "
        for child in root.children[:1]:
            first, outer = self.indent_of(child), self.line_indent(root.start)
            self.unit = first[len(outer) :] if first is not None and first.startswith(outer) else self.unit
            between = text[child.key_end : child.start]
            self.colon = between if not _NEWLINE.search(between) else self.colon
        self.comma = ", " if self.colon != ":" else ","

    def indent_of(self, node: Node) -> str | None:
        """The indentation of a node that has a line of its own, else None."""
        if node.parent is None:
            return ""
        index = node.parent.children.index(node)
        previous = node.parent.children[index - 1].end if index else node.parent.start + 1
        lines = _NEWLINE.split(self.text[previous : node.begin])
        return lines[-1].replace(",", " ") if len(lines) > 1 else None  # commas may lead their lines

    def child_indent(self, node: Node) -> str | None:
        """The indentation of a new child; None where the children share one line."""
        if node.children:
            return self.indent_of(node.children[-1])
        return None if self.indent_of(node) is None else self.line_indent(node.start) + self.unit

    def line_indent(self, position: int) -> str:
        line = _NEWLINE.split(self.text[:position])[-1]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def render(self, value: Any, indent: str | None) -> str:
        """`value` as text; `indent` is that of the line it starts on, None for all on one line."""
        if not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, ensure_ascii=False)
        if indent is None:
            return json.dumps(value, ensure_ascii=False, separators=(self.comma, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return text.replace("\n", self.newline + indent)  # strings hold no line ends, they are escaped
