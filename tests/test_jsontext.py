"""The quick JSON must be the standard one, on every interpreter."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from typing import Any

import pytest
import support

from harness_memory.base import jsontext

DOCUMENTS = [
    "null",
    "true",
    "-0",
    "1e5",
    "1.5E-3",
    '""',
    '"\\u00e9\\ud83d\\ude00\\n"',
    "[]",
    "{}",
    ' [1, {"a": [null]}] ',
    '{"a": 1, "a": 2}',
    '"é😀"',
    "12345678901234567890123",
    "NaN",
    "[Infinity, -Infinity]",
    '"tab\tinside"',
]
BROKEN = [
    "",
    " ",
    "{",
    "[1,",
    '{"a"}',
    "{a: 1}",
    "nul",
    "01",
    "1 2",
    '"open',
    "[1]]",
    "'x'",
    '{"a": 1,}',
    "\x00",
    "[" * 100000,
    '{"a": ' * 50000,
    "// x\n{}",
    '"\\x"',
    '"\\ud8',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_reads_what_json_reads(text: str) -> None:
    expected = json.loads(text, strict=False)
    found = jsontext.loads(text)
    assert repr(found) == repr(expected)
    assert repr(jsontext.loads(b"\xef\xbb\xbf" + text.encode("utf-8"))) == repr(expected)


@pytest.mark.parametrize("text", BROKEN)
def test_refuses_what_json_refuses(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        jsontext.loads(text)


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert jsontext.loads(b'"\xff"') == "\ufffd"


@pytest.mark.parametrize("unit", ["a", "\\\\", '\\"', "\\u00e9", "é", "😀", "\\\\\\n", 'x\\"y'])
def test_long_strings_are_cut_and_the_rest_stays(unit: str) -> None:
    for extra in range(7):
        text = "z" * extra + unit * 400
        document = ('{"a": "one", "long": "%s", "b": ["two", "%s"], "c": 3}' % (text, text)).encode("utf-8")
        found = jsontext.loads(jsontext.shortened(document, 100, 100))
        whole = json.loads(document)["long"]
        assert found == {"a": "one", "long": found["long"], "b": ["two", found["long"]], "c": 3}
        assert whole.startswith(found["long"].rstrip("\ufffd"))
        assert len(found["long"]) <= 110
        assert len(found["long"]) > 10 or unit == "\\\\"  # nothing but escapes: nowhere safe to cut
        assert jsontext.shortened(document, len(document)) == document


def test_strings_are_cut_alike_however_they_arrive() -> None:
    """Seams fall anywhere: between the halves of an escape, before the closing quote, within a character."""
    source = random.Random(11)
    units = ["a", '"', "\\", "\n", "é", "\N{PARTY POPPER}", "plain words "]
    for _ in range(200):
        value = {str(n): "".join(source.choices(units, k=source.randrange(60))) for n in range(source.randrange(1, 5))}
        document = json.dumps(value, ensure_ascii=source.random() < 0.5).encode("utf-8")
        whole = jsontext.Shortener(30)
        whole.feed(document)
        pieces = jsontext.Shortener(30)
        at = 0
        while at < len(document):
            size = source.randrange(1, 9)
            pieces.feed(document[at : at + size])
            at += size
        assert pieces.text == whole.text
        found = jsontext.loads(bytes(whole.text))
        assert list(found) == list(value)
        # A character that takes several bytes, or two escapes, may be left by half.
        assert all(value[key].startswith(found[key].rstrip("\ufffd").rstrip("\ud83c")) for key in value)


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


def test_writes_what_json_writes() -> None:
    source = random.Random(7)
    for _ in range(500):
        value = arbitrary(source)
        assert jsontext.pretty(value) == json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        assert jsontext.compact(value) == json.dumps(value, ensure_ascii=False)
        assert jsontext.loads(jsontext.compact(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_word_for_is_null(value: float) -> None:
    assert jsontext.compact([value]) == "[null]"


@pytest.mark.parametrize("value", [{1, 2}, b"x", object()])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        jsontext.compact(value)


def test_reading_and_writing_load_neither_json_nor_re() -> None:
    code = (
        "import sys; sys.path.insert(0, %r)\n"
        "from harness_memory import jsontext as j\n"
        "j.loads(j.pretty({'a': [1.5, 'x']})); print(sorted({'json', 're'} & set(sys.modules)))"
    ) % str(support.LIB)
    assert subprocess.check_output([sys.executable, "-I", "-S", "-c", code]).strip() == b"[]"
