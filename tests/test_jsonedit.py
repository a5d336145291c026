"""Edits to JSON text leave every other byte alone."""

from __future__ import annotations

import json
import random

import pytest
import support

from harness_memory.setup import jsonedit
from harness_memory.setup.jsonedit import Invalid, parse

INVALID = {
    "": "1:1",
    '{"a": 1,}': "1:8|1:9",
    '{\r\n  "a": 1,\r\n}': "2:9|3:1",
    '{\n  // mine\n  "a": 1\n}': "2:3",
    "{'a': 1}": "1:2",
    '{"a": 1 "b": 2}': "1:9",
    '{"a": [1': "1:9",
    '{"a": "b\nc"}': "1:9",
    '{"a": 01}': "1:8",
    '{"a": NaN}': "1:1",
    "{} {}": "1:4",
    "\ufeff{]": "1:2",
    "[" * 100_000: "1:1",
}


@pytest.mark.parametrize("text", INVALID, ids=[repr(text)[:30] for text in INVALID])
def test_invalid_json_is_refused_with_its_position(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(text)
    assert str(caught.value).partition(": ")[0] in INVALID[text].split("|")


APPENDED = [
    ("{}", (), "k", 1, '{\n  "k": 1\n}'),
    ("{ }\n", (), "k", [1], '{\n  "k": [\n    1\n  ]\n}\n'),
    ("{\n}", (), "k", 1, '{\n  "k": 1\n}'),
    ("{\r\n}\r\n", (), "k", 1, '{\r\n  "k": 1\r\n}\r\n'),
    ('{"a":1}', (), "k", {"x": [1, 2]}, '{"a":1,"k":{"x":[1,2]}}'),
    ('{"a": 1}', (), "k", {"x": [1, 2]}, '{"a": 1, "k": {"x": [1, 2]}}'),
    ('{"a" : 1}', (), "k", 2, '{"a" : 1, "k" : 2}'),
    ('{\n\t"a": 1\n}', (), "k", {"x": 1}, '{\n\t"a": 1,\n\t"k": {\n\t\t"x": 1\n\t}\n}'),
    ('{\n    "a": 1\n}', (), "k", [1], '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}'),
    ('{\n"a": 1\n}', (), "k", [1], '{\n"a": 1,\n"k": [\n1\n]\n}'),
    ('  {\n    "a": 1\n  }', (), "k", 2, '  {\n    "a": 1,\n    "k": 2\n  }'),
    ('{\n  "a": {}\n}', ("a",), "k", [1], '{\n  "a": {\n    "k": [\n      1\n    ]\n  }\n}'),
    ('{\n  "a": []\n}', ("a",), "", 1, '{\n  "a": [\n    1\n  ]\n}'),
    ('{\n  "a": [1, 2]\n}', ("a",), "", {"x": 1}, '{\n  "a": [1, 2, {"x": 1}]\n}'),
    ('{"a": []}', ("a",), "", 1, '{"a": [1]}'),
    ('{\n  "a": {"b": []}\n}', ("a", "b"), "", 1, '{\n  "a": {"b": [1]}\n}'),
    ('{\n  "a": [\n    1,\n\n    2\n  ]\n}', ("a",), "", 3, '{\n  "a": [\n    1,\n\n    2,\n    3\n  ]\n}'),
    ('{\n  "a": 1\n, "b": 2\n}', (), "k", 3, '{\n  "a": 1\n, "b": 2,\n  "k": 3\n}'),
    ('{"a": 1, "a": [2]}', ("a",), "", 3, '{"a": 1, "a": [2, 3]}'),
    ('\ufeff{\n "a": "é\\u00e9"\n}', (), "k", "ü", '\ufeff{\n "a": "é\\u00e9",\n "k": "ü"\n}'),
]


@pytest.mark.parametrize(("before", "path", "key", "value", "after"), APPENDED, ids=[repr(c[0]) for c in APPENDED])
def test_what_is_appended_looks_like_its_surroundings(before, path, key, value, after) -> None:  # type: ignore[no-untyped-def]
    assert jsonedit.append(before, path, value, key) == after


REMOVED = [
    ('{"a": 1}', ("a",), "{}"),
    ('{ "a": 1 }', ("a",), "{}"),
    ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
    ('{"a": 1, "b": 2}', ("b",), '{"a": 1}'),
    ('{"a": 1 , "b": 2 , "c": 3}', ("b",), '{"a": 1 , "c": 3}'),
    ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    ('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}'),
    ('{\n  "a": [\n    1,\n    2\n  ]\n}', ("a", 0), '{\n  "a": [\n    2\n  ]\n}'),
    ('{\n  "a": [\n    1,\n    2\n  ]\n}', ("a", 1), '{\n  "a": [\n    1\n  ]\n}'),
    ('{"a": 1, "b": 2, "a": 3}', ("a",), '{"a": 1, "b": 2}'),
]


@pytest.mark.parametrize(("before", "path", "after"), REMOVED, ids=[repr(case[0]) for case in REMOVED])
def test_what_is_removed_takes_its_comma_along(before, path, after) -> None:  # type: ignore[no-untyped-def]
    assert jsonedit.remove(before, path) == after


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


@pytest.mark.parametrize("seed", range(support.volume(100)))
def test_adding_and_removing_gives_the_text_back(seed: int) -> None:
    scribe = Scribe(seed)
    text = scribe.container("{", 0) + scribe.newline
    value = {"list": [1, {"x": "y"}], "empty": {}}
    added = jsonedit.append(text, (), value, "new")
    assert json.loads(added) == {**json.loads(text), "new": value}
    assert not parse(text).children or jsonedit.remove(added, ("new",)) == text
    for child in parse(text).children:
        holder = parse(text).find(child.key)
        if holder is None or holder.kind != "[":
            continue
        grown = jsonedit.append(text, (child.key,), value)
        assert json.loads(grown)[child.key][-1] == value
        shrunk = jsonedit.remove(grown, (child.key, len(holder.children)))
        assert json.loads(shrunk) == json.loads(text)
        assert not holder.children or shrunk == text
