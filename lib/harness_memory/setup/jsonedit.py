"""Small edits to JSON text that leave every other byte as it is.

A new part takes on the layout around it: indentation, line ends, one line or many, spaces after `:` and `,`.
Removing it leaves the text as it was before.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

BOM = "\ufeff"
_NEWLINE = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r'[ \t\n\r]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^ \t\n\r{}\[\],:"]+)', re.DOTALL)


class Invalid(ValueError):
    """Text that is not JSON as the client reads it; the message starts with line and column."""


class Node:
    """A value in `text[start:end]`; `begin` is where its key starts, if it has one. `value` is that of a string."""

    def __init__(self, token: str, start: int, parent: Node | None) -> None:
        self.kind, self.parent, self.key = token[0], parent, ""
        self.start, self.begin, self.end = start, start, start + len(token)
        self.value = json.loads(token, strict=False) if self.kind == '"' else ""
        self.children: list[Node] = []

    def find(self, *path: str) -> Node | None:
        """The node at a path of keys; of equal keys the last one counts, as in JavaScript."""
        node: Node | None = self
        for key in path:
            children = node.children if node is not None and node.kind == "{" else []
            node = next((child for child in reversed(children) if child.key == key), None)
        return node

    def below(self, *path: str) -> list[Node]:
        """The children of the node at a path."""
        node = self.find(*path)
        return node.children if node is not None else []


@lru_cache(maxsize=8)  # an edit parses the same text many times; nodes never change
def parse(text: str) -> Node:
    """The tree of a document. `json` checks it first, so that the tokens are known to be in order."""
    content = text[len(BOM) :] if text.startswith(BOM) else text
    try:
        json.loads(content, parse_constant=int, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise Invalid("%d:%d: not valid JSON: %s" % (error.lineno, error.colno, error.msg)) from None
    except (RecursionError, ValueError):  # `int` refuses NaN and Infinity
        raise Invalid("1:1: not valid JSON") from None
    last, parent, is_named = Node("n", 0, None), None, False
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
                    last.key, last.begin, is_named = key.value, key.start, False
                parent.children.append(last)
            parent = last if word in ("{", "[") else parent
    return last


def append(text: str, node: Node, value: Any, key: str = "") -> str:
    """Add `value` to the end of the array, or `key: value` to the end of the object, `node` of `parse(text)`."""
    newline = (_NEWLINE.search(text) or ["\n"])[0]
    unit, colon = "  ", ": "
    for child in parse(text).children[:1]:  # it shows how the document is written
        first, between = _own_indent(text, child), text[child.begin : child.start].rpartition('"')[2]
        unit = first if first is not None else unit
        colon = between if not _NEWLINE.search(between) else colon
    comma = ", " if colon != ":" else ","
    indent = _own_indent(text, node.children[-1] if node.children else node)
    if indent is None:  # all on one line
        item = json.dumps(value, ensure_ascii=False, separators=(comma, colon))
    else:
        indent = indent if node.children else _line_indent(text, node) + unit
        item = json.dumps(value, ensure_ascii=False, indent=unit, separators=(",", colon))
        item = item.replace("\n", newline + indent)  # strings hold no line ends, they are escaped
        comma = "," + newline + indent
    item = (json.dumps(key) + colon if key else "") + item
    if node.children:
        end = node.children[-1].end
        return text[:end] + comma + item + text[end:]
    if indent is not None:
        item = newline + indent + item + newline + _line_indent(text, node)
    return text[: node.start + 1] + item + text[node.end - 1 :]


def remove(text: str, node: Node) -> str:
    """Remove a member or element of `parse(text)` together with its comma."""
    around = node.parent or node
    index = around.children.index(node)
    if index:
        return text[: around.children[index - 1].end] + text[node.end :]
    end = around.children[1].begin if len(around.children) > 1 else around.end - 1
    return text[: node.begin if len(around.children) > 1 else around.start + 1] + text[end:]


def _own_indent(text: str, node: Node) -> str | None:
    """The indentation of a node that has a line of its own, else None."""
    if node.parent is None:
        return ""
    index = node.parent.children.index(node)
    previous = node.parent.children[index - 1].end if index else node.parent.start + 1
    lines = _NEWLINE.split(text[previous : node.begin])
    return lines[-1].replace(",", " ") if len(lines) > 1 else None  # commas may lead their lines


def _line_indent(text: str, node: Node) -> str:
    line = _NEWLINE.split(text[: node.start])[-1]
    return line[: len(line) - len(line.lstrip(" \t"))]
