"""Strict JSON, as the client's `JSON.parse` reads it, to a tree of nodes that know their place in the text.

Numbers stay text: nobody here counts with them, and no digit of somebody else's may change.
Where a key stands twice, the last one is the one that counts, as in JavaScript.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json.decoder import JSONDecodeError, JSONDecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 200  # a settings file has 5; beyond this the parser would meet Python's recursion limit
BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DECODER = JSONDecoder()
_WORD = re.compile(r"[A-Za-z0-9_$.+-]+")
_LITERALS = {"true": True, "false": False, "null": None}
_KINDS = {"{": "an object", "[": "an array", '"': "a string", "0": "a number"}


class Invalid(ValueError):
    """Text that is not JSON; `line` and `column` count from 1."""

    def __init__(self, message: str, text: str, position: int) -> None:
        lines = re.split(r"\r\n|\r|\n", text[:position])
        self.line = len(lines)
        self.column = len(lines[-1].lstrip(BOM)) + 1
        self.message = message
        super().__init__("line %d, column %d: %s" % (self.line, self.column, message))


class Node:
    """A value in `text[start:end]`. `kind` is one of `{ [ " 0` or a literal's name."""

    __slots__ = ("children", "end", "key", "key_end", "kind", "start", "string")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.string = ""
        self.children: list[Node] = []
        self.key: str | None = None  # of a member of an object
        self.key_end = start

    def get(self, key: str | int) -> Node | None:
        if isinstance(key, int):
            return self.children[key] if self.kind == "[" and key < len(self.children) else None
        if self.kind != "{":
            return None
        return next((child for child in reversed(self.children) if child.key == key), None)

    def find(self, path: tuple[str | int, ...]) -> Node | None:
        node: Node | None = self
        for key in path:
            node = node.get(key) if node is not None else None
        return node

    def describe(self) -> str:
        return _KINDS.get(self.kind, self.kind)


@lru_cache(maxsize=8)  # an edit looks at the same text many times; nobody changes a node
def parse(text: str) -> Node:
    start = _skip(text, len(BOM) if text.startswith(BOM) else 0)
    node = _value(text, start, 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise Invalid("text after the end of the document" + _hint(text, end), text, end)
    return node


def equals(node: Node, text: str, value: Any) -> bool:
    """Whether the node stands for this Python value."""
    if isinstance(value, str):
        return node.kind == '"' and node.string == value
    if isinstance(value, dict):
        if node.kind != "{" or {child.key for child in node.children} != set(value):
            return False
        return all(equals(child, text, value[key]) for key in value for child in [node.get(key)] if child)
    if isinstance(value, list):
        same_length = node.kind == "[" and len(node.children) == len(value)
        return same_length and all(equals(child, text, item) for child, item in zip(node.children, value))
    if value is None or isinstance(value, bool):
        return node.kind in _LITERALS and _LITERALS[node.kind] is value
    return node.kind == "0" and text[node.start : node.end] == repr(value)


def _value(text: str, start: int, depth: int) -> Node:
    char = text[start : start + 1]
    node = Node(char, start)
    if char in ("{", "["):
        if depth >= MAX_DEPTH:
            raise Invalid("nested too deeply", text, start)
        _fill(text, node, depth)
    elif char == '"':
        node.string, node.end = _string(text, start)
    else:
        _scalar(text, node)
    return node


def _scalar(text: str, node: Node) -> None:
    word = _WORD.match(text, node.start)
    found = word.group() if word else ""
    if found in _LITERALS:
        node.kind = found
    elif found and _NUMBER.fullmatch(found):
        node.kind = "0"
    elif node.start >= len(text):
        raise Invalid("the document ends where a value should stand", text, node.start)
    else:
        what = "%r is not a JSON value" % (found or text[node.start])
        raise Invalid(what + _hint(text, node.start), text, node.start)
    node.end = node.start + len(found)


def _fill(text: str, node: Node, depth: int) -> None:
    closing = "}" if node.kind == "{" else "]"
    at = _skip(text, node.start + 1)
    while text[at : at + 1] != closing:
        if node.children:
            at = _after_comma(text, at, closing)
        child = _member(text, at, depth) if node.kind == "{" else _value(text, at, depth + 1)
        node.children.append(child)
        at = _skip(text, child.end)
    node.end = at + 1


def _after_comma(text: str, at: int, closing: str) -> int:
    if at >= len(text):
        raise Invalid("the document ends before the closing %r" % closing, text, at)
    if text[at] != ",":
        raise Invalid("expected ',' or %r" % closing + _hint(text, at), text, at)
    following = _skip(text, at + 1)
    if text[following : following + 1] == closing:
        raise Invalid("a comma must not stand before %r: remove it" % closing, text, at)
    return following


def _member(text: str, at: int, depth: int) -> Node:
    if text[at : at + 1] != '"':
        if at >= len(text):
            raise Invalid("the document ends before the closing '}'", text, at)
        raise Invalid("expected a key in double quotes" + _hint(text, at), text, at)
    key, key_end = _string(text, at)
    colon = _skip(text, key_end)
    if text[colon : colon + 1] != ":":
        raise Invalid("expected ':' after the key %r" % key, text, colon)
    child = _value(text, _skip(text, colon + 1), depth + 1)
    child.key, child.key_end = key, key_end
    return child


def _string(text: str, start: int) -> tuple[str, int]:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return str(value), end
    except JSONDecodeError as error:
        if error.msg.startswith("Invalid control character"):
            raise Invalid("a string must not run over the end of its line", text, error.pos) from None
        raise Invalid(error.msg[:1].lower() + error.msg[1:], text, error.pos) from None


def _hint(text: str, at: int) -> str:
    here = text[at : at + 2]
    if here in ("//", "/*") or here[:1] == "#":
        return ": JSON knows no comments"
    if here[:1] == "'":
        return ": JSON knows double quotes only"
    if here[:1] == ",":
        return ": there is one comma too many"
    return ""


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
