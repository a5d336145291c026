"""The quick JSON must be the standard one, on every interpreter."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from harness_memory.base import jsontext

DOCUMENTS = [
    *("null", "true", "-0", "1e5", "1.5E-3", '""', "[]", "{}", "12345678901234567890123", "NaN", "[-Infinity]"),
    *('"\\u00e9\\ud83d\\ude00\\n"', ' [1, {"a": [null]}] ', '{"a": 1, "a": 2}', '"é😀"', '"tab\tinside"'),
]
BROKEN = [
    *("", " ", "{", "[1,", '{"a"}', "{a: 1}", "nul", "01", "1 2", '"open', "[1]]", "'x'", '{"a": 1,}', "\x00"),
    *("[" * 100000, '{"a": ' * 50000, "// x\n{}", '"\\x"', '"\\ud8'),
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_loads_reads_what_json_reads(text: str) -> None:
    expected = json.loads(text, strict=False)
    found = jsontext.loads(text)
    assert repr(found) == repr(expected)
    assert repr(jsontext.loads(b"\xef\xbb\xbf" + text.encode("utf-8"))) == repr(expected)


@pytest.mark.parametrize("text", BROKEN)
def test_loads_refuses_what_json_refuses(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        jsontext.loads(text)
    assert jsontext.loads(b'"\xff"') == "\ufffd"


def arbitrary(source: random.Random, depth: int = 0) -> Any:
    kind = source.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return source.choice([None, True, False])
    if kind == 1:
        return source.randrange(-(10**20), 10**20)
    if kind == 2:
        return source.uniform(-1e9, 1e9)
    if kind < 6:
        return "".join(
            chr(source.choice([source.randrange(32, 127), source.randrange(0x20AC), 10, 34, 92, 0x1F600]))
            for _ in range(source.randrange(12))
        )
    if kind == 6:
        return [arbitrary(source, depth + 1) for _ in range(source.randrange(5))]
    return {str(arbitrary(source, 9)): arbitrary(source, depth + 1) for _ in range(source.randrange(5))}


def test_dumps_writes_what_json_writes() -> None:
    source = random.Random(7)
    for _ in range(300):
        value = arbitrary(source)
        assert jsontext.pretty(value) == json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        assert jsontext.compact(value) == json.dumps(value, ensure_ascii=False)
        assert jsontext.loads(jsontext.compact(value)) == value


def test_values_that_json_has_no_word_for_are_null_or_refused() -> None:
    assert jsontext.compact([math.nan, math.inf, -math.inf]) == "[null, null, null]"
    for value in ({1, 2}, b"x", object()):
        with pytest.raises(TypeError):
            jsontext.compact(value)
