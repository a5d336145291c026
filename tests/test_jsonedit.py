"""Edits to JSON text leave every other byte alone."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import support

from harness_memory.setup import jsonedit
from harness_memory.setup.jsonedit import Invalid, Node, parse

EDITS = support.rows("install/json-edits.jsonl")


def at(text: str, path: list[str | int]) -> Node:
    node = parse(text)
    for key in path:
        node = node.children[key] if isinstance(key, int) else node.find(key) or Node("n", 0, None)
    return node


@pytest.mark.parametrize("row", EDITS, ids=["%s %r" % (row["do"], row["text"]) for row in EDITS])
def test_an_edit_looks_like_its_surroundings_and_leaves_the_rest(row: dict[str, Any]) -> None:
    if row["do"] == "append":
        assert jsonedit.append(row["text"], at(row["text"], row["path"]), row["value"], row["key"]) == row["after"]
    elif row["do"] == "remove":
        assert jsonedit.remove(row["text"], at(row["text"], row["path"])) == row["after"]
    else:
        with pytest.raises(Invalid) as caught:
            parse(row["text"])
        assert str(caught.value).partition(": ")[0] in row["at"].split("|")


def test_nesting_beyond_the_limit_of_python_is_refused() -> None:
    with pytest.raises(Invalid, match="1:1"):
        parse("[" * 100_000)


class Scribe:
    """Random documents, in one of many layouts."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.newline = self.random.choice(["", "\n", "\r\n"])
        self.unit = self.random.choice(["", " ", "  ", "    ", "\t"])
        self.colon = self.random.choice([":", ": ", " : "])

    def value(self, depth: int) -> str:
        kind = self.random.randrange(7 if depth < 4 else 4)
        if kind == 0:
            return self.random.choice(["0", "-0", "1e400", "12345678901234567890", "-1.50E+3", "5"])
        if kind == 1:
            return self.random.choice(["true", "false", "null"])
        if kind in (2, 3):
            return self.random.choice(['"x"', '"\\u00e9\\ud83d\\ude00"', '"é😀"', '"a\\"b,]}"', '""', '"// no"'])
        return self.container("[" if kind == 4 else "{", depth)

    def container(self, left: str, depth: int) -> str:
        right = "]" if left == "[" else "}"
        items = [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if left == "{":
            keys = self.random.choices(["a", "b", "hooks", "é", "x y", "allow"], k=len(items))
            items = [json.dumps(key) + self.colon + item for key, item in zip(keys, items)]
        if not items:
            return left + self.random.choice(["", "", " ", self.newline]) + right
        if self.newline and self.random.random() < 0.8:
            inner = self.newline + self.unit * (depth + 1)
            comma = self.random.choice(["," + inner, "," + inner, " ," + inner, inner + ", "])
            return left + inner + comma.join(items) + self.newline + self.unit * depth + right
        return left + self.random.choice([",", ", "]).join(items) + right


@pytest.mark.parametrize("seed", range(100))
def test_adding_and_removing_gives_the_text_back(seed: int) -> None:
    scribe = Scribe(seed)
    text = scribe.container("{", 0) + scribe.newline
    value = {"list": [1, {"x": "y"}], "empty": {}}
    added = jsonedit.append(text, parse(text), value, "new")
    assert json.loads(added) == {**json.loads(text), "new": value}
    assert not parse(text).children or jsonedit.remove(added, at(added, ["new"])) == text
    for child in parse(text).children:
        holder = parse(text).find(child.key)
        if holder is None or holder.kind != "[":
            continue
        grown = jsonedit.append(text, holder, value)
        assert json.loads(grown)[child.key][-1] == value
        shrunk = jsonedit.remove(grown, at(grown, [child.key, len(holder.children)]))
        assert json.loads(shrunk) == json.loads(text)
        assert not holder.children or shrunk == text
