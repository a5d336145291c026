from __future__ import annotations

import json
import random

import pytest
import support

from harness_memory.setup import jsonedit
from harness_memory.setup.jsontree import Invalid, equals, parse

INVALID = [
    ("", "1:1", "ends where a value"),
    ('{"a": 1,}', "1:8", "comma must not stand before '}'"),
    ('{\n  "a": [1, 2,\n  ]\n}', "2:13", "comma must not stand before ']'"),
    ('{\r\n  "a": 1,\r\n}', "2:9", "comma must not stand before '}'"),
    ('{\n  // mine\n  "a": 1\n}', "2:3", "no comments"),
    ('{"a": 1 /* x */}', "1:9", "no comments"),
    ('{"a": /* x */ 1}', "1:7", "no comments"),
    ('{"a": 1} // end', "1:10", "no comments"),
    ("{'a': 1}", "1:2", "double quotes only"),
    ("{\"a\": 'b'}", "1:7", "double quotes only"),
    ("{a: 1}", "1:2", "key in double quotes"),
    ('{"a" 1}', "1:6", "expected ':'"),
    ('{"a": 1 "b": 2}', "1:9", "expected ','"),
    ('{"a": 1,, "b": 2}', "1:9", "one comma too many"),
    ("{,}", "1:2", "one comma too many"),
    ('{"a": [1 2]}', "1:10", "expected ','"),
    ('{"a": 1', "1:8", "ends before the closing '}'"),
    ('{"a": [1', "1:9", "ends before the closing ']'"),
    ('{"a":', "1:6", "ends where a value"),
    ("{", "1:2", "ends before the closing '}'"),
    ('{"a": "b', "1:7", "unterminated"),
    ('{"a": "b\nc"}', "1:9", "end of its line"),
    ('{"a": "\\x"}', "1:8", "escape"),
    ('{"a": NaN}', "1:7", "not a JSON value"),
    ('{"a": 01}', "1:7", "not a JSON value"),
    ('{"a": .5}', "1:7", "not a JSON value"),
    ('{"a": 1.}', "1:7", "not a JSON value"),
    ('{"a": +1}', "1:7", "not a JSON value"),
    ('{"a": True}', "1:7", "not a JSON value"),
    ("{} {}", "1:4", "after the end"),
    ("\ufeff{]", "1:2", "key in double quotes"),
    ("{\u00a0}", "1:2", "key in double quotes"),
    ("[" * 5000, "1:201", "nested too deeply"),
]


@pytest.mark.parametrize(("text", "where", "message"), INVALID, ids=[repr(case[0])[:30] for case in INVALID])
def test_invalid_json_is_placed_and_explained(text: str, where: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(text)
    assert ("%d:%d" % (caught.value.line, caught.value.column), message in caught.value.message) == (where, True)


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
    ('{\n  "a": []\n}', ("a",), None, 1, '{\n  "a": [\n    1\n  ]\n}'),
    ('{\n  "a": [1, 2]\n}', ("a",), None, {"x": 1}, '{\n  "a": [1, 2, {"x": 1}]\n}'),
    ('{"a": []}', ("a",), None, 1, '{"a": [1]}'),
    ('{\n  "a": {"b": []}\n}', ("a", "b"), None, 1, '{\n  "a": {"b": [1]}\n}'),
    ('{\n  "a": [\n    1,\n\n    2\n  ]\n}', ("a",), None, 3, '{\n  "a": [\n    1,\n\n    2,\n    3\n  ]\n}'),
    ('{\n  "a": 1\n, "b": 2\n}', (), "k", 3, '{\n  "a": 1\n, "b": 2,\n  "k": 3\n}'),
    ('{"a": 1, "a": [2]}', ("a",), None, 3, '{"a": 1, "a": [2, 3]}'),
    ('\ufeff{\n "a": "é\\u00e9"\n}', (), "k", "ü", '\ufeff{\n "a": "é\\u00e9",\n "k": "ü"\n}'),
]


@pytest.mark.parametrize(("before", "path", "key", "value", "after"), APPENDED, ids=[repr(c[0]) for c in APPENDED])
def test_what_is_appended_looks_like_its_surroundings(before, path, key, value, after) -> None:  # type: ignore[no-untyped-def]
    if key is None:
        assert jsonedit.append(before, path, value) == after
    else:
        assert jsonedit.add_member(before, path, key, value) == after


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


def test_replacing_a_scalar_touches_nothing_around_it() -> None:
    assert jsonedit.replace('{"a" :\t[ 1.50,"x" ] }', ("a", 1), "y") == '{"a" :\t[ 1.50,"y" ] }'


def test_numbers_are_compared_as_they_are_written() -> None:
    text = "[5, 5.0, 50e-1, 12345678901234567890, true, null]"
    expected = [True, False, False, False, False, False]
    assert [equals(node, text, 5) for node in parse(text).children] == expected


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


@pytest.mark.parametrize("seed", range(support.volume(300)))
def test_adding_and_removing_gives_the_text_back(seed: int) -> None:
    scribe = Scribe(seed)
    text = scribe.container("{", 0) + scribe.newline
    value = {"list": [1, {"x": "y"}], "empty": {}}
    added = jsonedit.add_member(text, (), "new", value)
    assert json.loads(added) == {**json.loads(text), "new": value}
    if parse(text).children:
        assert jsonedit.remove(added, ("new",)) == text
    for path in _containers(parse(text), ()):
        node = parse(text).find(path)
        assert node is not None
        if node.kind == "[":
            shrunk = jsonedit.remove(jsonedit.append(text, path, value), (*path, len(node.children)))
        else:
            shrunk = jsonedit.remove(jsonedit.add_member(text, path, "new", value), (*path, "new"))
        assert json.loads(shrunk) == json.loads(text)
        assert not node.children or shrunk == text


def _containers(node, path):  # type: ignore[no-untyped-def]
    if node.kind in "{[":
        yield path
    for index, child in enumerate(node.children):
        step = index if child.key is None else child.key
        if node.get(step) is child:
            yield from _containers(child, (*path, step))
