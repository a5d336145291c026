"""META.yaml: what we write, every parser reads back; what a person writes, we read."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import time
from typing import Any

import pytest
import ruamel.yaml
import support
import yaml as pyyaml

from harness_memory.base import yaml

HOSTILE = [
    "", " ", "  x", "x  ", "a: b", "a:b", "a #b", "#a", "a#b", "'", '"', "'a'", '"a"', "\t", "a\tb", "\ta", "a\t",
    "🎉", "naïve café", "日本語 テキスト", "no", "No", "NO", "n", "y", "Y", "yes", "on", "On", "off", "true", "True",
    "false", "~", "null", "Null", "NULL", "12:30", "1:2:3", "190:20:30", "1e3", "1E3", "1.5", "-1", "+1", "0o7", "07",
    "0x1f", "0b11", "1_000", ".inf", "-.inf", ".NaN", ".", "..", "2026-02-13", "2026-02-13T09:15:00Z", "2026-02-13 1",
    "=", "<<", "- x", "-", "--", "---", "--- a", "...", "? x", "?", ": x", ":", "a:", "%", "%YAML 1.2", "@", "@x", "`",
    "`x`", "!", "!x", "&x", "*x", "|", ">", "|-", "[", "]", "{", "}", "[]", "{}", "{a: b}", ",", "a, b", "\\", "\\n",
    "a\\", "C:\\x\\new", "\0", "a\0b", "\x07", "\x1b[31m", "\x7f", "\x80", "\x85", "a\x85b", "\xa0", "\xad", "\u2028",
    "a\u2028b", "\u2029", "\ufeff", "\ufeffx", "x\ufeff", "\ufffe", "\uffff", "\ufffd", "\U0001fffe", "\U0010ffff",
    "\ud800", "\udfff x", "\ud83d\ude00", "\r", "a\rb", "\r\n", "a\r\nb", "\n", "\n\n", "a\n", "a\n\n", "a\nb",
    "a\nb\n", "a\nb\n\n\n", "\na", " a\nb", "a\n  b\n c", "a\n\n\nb", "a\n   \nb", "a\n   ", "a\n\t\nb", "a\n\tb",
    "a \nb ", "#a\n#b", "a\n# b\n", "---\na", "a\n---\nb\n", "a\n...\n", "a: b\nc: d\n", "- a\n- b", "a\n\x85\n",
    "a\n\0", "don't", "it's: a", "feature/auth", "src/x.ts", "/abs/path", "a  b", "e3", "a1b2c3d4", "12345678",
    "1234e567",
    "x" * 5000, "word " * 3000, "line of text\n" * 500, "%TAG ! x\n", "\u200b", "\u200e", "e\u0301", "²", "x²", "٣",
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, False, 0, 1, -1, 10**30, 1.0, -0.5, 1e16, 1e-7, 1.5e300, 123456.789, float("inf"), float("-inf"), [],
    ["a"], ["", "no", "- x", "a\nb\n", "x: y", "#", "[", "12", "a\n\nb\n\n", "🎉"],
]  # fmt: skip


def by_pyyaml(text: str) -> Any:
    return pyyaml.safe_load(text)


def by_ruamel(text: str) -> Any:
    return ruamel.yaml.YAML(typ="safe", pure=True).load(text)


def by_ruamel_11(text: str) -> Any:
    parser = ruamel.yaml.YAML(typ="safe", pure=True)
    parser.version = (1, 1)
    return parser.load(text)


def by_us(text: str) -> Any:
    return yaml.load(text)


READERS = [by_us, by_pyyaml, by_ruamel, by_ruamel_11]


def exact(value: Any) -> str:
    """`repr` tells 1 from True and 1.0, and keeps the order of keys."""
    return repr(value)


@pytest.mark.parametrize("read", READERS)
def test_hostile_text_reads_back_exactly(read: Any) -> None:
    for value in HOSTILE:
        fields = {"before": "x", "value": value, "after": [value, "y"], "end": value}
        text = yaml.dump(fields.items())
        assert exact(read(text)) == exact(fields), text


@pytest.mark.parametrize("read", READERS)
def test_other_values_read_back_exactly(read: Any) -> None:
    fields = {"k%d" % i: value for i, value in enumerate(OTHERS)}
    assert exact(read(yaml.dump(fields.items()))) == exact(fields)


@pytest.mark.parametrize("read", READERS)
def test_keys_read_back_exactly(read: Any) -> None:
    fields = {key: "v" for key in HOSTILE if len(key) < 100}
    assert exact(read(yaml.dump(fields.items()))) == exact(fields)


def test_not_a_number() -> None:
    assert repr(yaml.load(yaml.dump([("a", float("nan"))]))["a"]) == "nan"


@pytest.mark.parametrize("read", READERS)
def test_random_values_read_back_exactly(read: Any) -> None:
    rng = random.Random(20260213)
    # Many values to a document: the parsers' set-up would dominate otherwise.
    for _ in range(support.volume(60 if read in (by_us, by_pyyaml) else 20)):
        fields = {"k%d" % i: random_value(rng) for i in range(50)}
        text = yaml.dump(fields.items())
        assert exact(read(text)) == exact(fields), text


ALPHABET = list(" \t\n\n:-#'\"\\[]{}|>&*!%@`,?=~.<0123456789eExXoOabnyNY_+") + [
    "\r", "\0", "\x1b", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\ud800", "\udc00", "\uffff", "é", "漢",
    "🎉", "\n\n", "  ", ": ", " #", "---", "...", "- ", "no", "null", "word", "The quick", "\n ", "\n#",
]  # fmt: skip


def random_value(rng: random.Random) -> Any:
    kind = rng.random()
    if kind < 0.7:
        return random_text(rng)
    if kind < 0.85:
        return [random_text(rng) for _ in range(rng.randrange(5))]
    numbers = [None, True, False, rng.randrange(-(10**20), 10**20), rng.uniform(-1e30, 1e30), rng.random() * 1e-9]
    return rng.choice(numbers)


def random_text(rng: random.Random) -> str:
    pool = ALPHABET if rng.random() < 0.5 else rng.sample(ALPHABET, 6)
    if rng.random() < 0.1:
        return "".join(chr(rng.randrange(0x11000)) for _ in range(rng.randrange(12)))
    return "".join(rng.choice(pool) for _ in range(rng.randrange(14)))


def test_the_file_a_person_sees() -> None:
    text = yaml.dump(
        [
            ("session_id", "a1b2c3d4"),
            ("date", "2026-02-13"),
            ("started", "2026-02-13T09:15:00Z"),
            ("ended", None),
            ("status", "ACTIVE"),
            ("branch", "feature/auth"),
            ("summary", "Implemented middleware.\n\n  - indented: yes\nAll tests passing.\n"),
            ("tags", ["api", "no"]),
            ("artifacts", []),
            ("pid", 4711),
        ]
    )
    assert text == (
        "session_id: a1b2c3d4\n"
        'date: "2026-02-13"\n'
        'started: "2026-02-13T09:15:00Z"\n'
        "ended: null\n"
        "status: ACTIVE\n"
        "branch: feature/auth\n"
        "summary: |\n  Implemented middleware.\n\n    - indented: yes\n  All tests passing.\n"
        "tags:\n  - api\n"
        '  - "no"\n'
        "artifacts: []\n"
        "pid: 4711\n"
    )


def test_written_text_can_always_be_encoded() -> None:
    for value in HOSTILE:
        yaml.dump([(value, value)]).encode("utf-8")


# Text a person might write; PyYAML and ruamel must agree where the two YAML versions do.
BY_HAND: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("\n# nothing\n\n", {}),
    ("---\n", {}),
    ("a: 1\n", {"a": 1}),
    ("a: b", {"a": "b"}),
    ("\ufeffa: b\n", {"a": "b"}),
    ("# c\n---\na: b # c\n\n# c\nc: d\n...\n", {"a": "b", "c": "d"}),
    ("%YAML 1.2\n---\na: b\n", {"a": "b"}),
    ("a: b\r\nc:\r\n  - d\r\n  - e\r\n", {"a": "b", "c": ["d", "e"]}),
    ("a:\nb: ~\nc: null\nd: Null # x\n", {"a": None, "b": None, "c": None, "d": None}),
    ("a: true\nb: False\nc: TRUE\n", {"a": True, "b": False, "c": True}),
    (
        "a: -12\nb: +3\nc: 1.5\nd: 0x1F\ne: 1.0e+3\nf: .inf\n",
        {"a": -12, "b": 3, "c": 1.5, "d": 31, "e": 1e3, "f": 1e999},
    ),
    ("a: b: c\n".replace(": c", ":c"), {"a": "b:c"}),
    ("a: http://x/y#z\n", {"a": "http://x/y#z"}),
    ("a:    spaced   out   \n", {"a": "spaced   out"}),
    ('a: it\'s "fine"\n', {"a": 'it\'s "fine"'}),
    ("a: 'it''s' # c\n", {"a": "it's"}),
    ("a: ''\nb: \"\"\n", {"a": "", "b": ""}),
    ('a: "x\\ty\\u00e9\\x41\\n\\"" # c\n', {"a": 'x\ty\xe9A\n"'}),
    ('a: "one\n  two\n\n  three"\n', {"a": "one two\nthree"}),
    ('a: "one\\\n  two"\n', {"a": "onetwo"}),
    ("a: 'one\n  two'\n", {"a": "one two"}),
    ("a: one\n  two\n  three # c\nb: c\n", {"a": "one two three", "b": "c"}),
    ("a: one\n\n  two\nb: c\n", {"a": "one\ntwo", "b": "c"}),
    ("a:\n  one\n  two\n", {"a": "one two"}),
    ("a:\n  'one'\n", {"a": "one"}),
    ("a: |\n  x\n  y\nb: c\n", {"a": "x\ny\n", "b": "c"}),
    ("a: | # c\n  # not a comment\n  y: z\n", {"a": "# not a comment\ny: z\n"}),
    ("a: |-\n  x\n\n\nb: c\n", {"a": "x", "b": "c"}),
    ("a: |+\n  x\n\n\nb: c\n", {"a": "x\n\n\n", "b": "c"}),
    ("a: |\n\n  x\n    y\n  z\n", {"a": "\nx\n  y\nz\n"}),
    ("a: |2\n   x\n  y\n", {"a": " x\ny\n"}),
    ("a: |2-\n   x\n", {"a": " x"}),
    ("a: |-2\n   x\n", {"a": " x"}),
    ("a: >\n  x\n  y\n\n  z\nb: c\n", {"a": "x y\nz\n", "b": "c"}),
    ("a: >-\n  x\n    y\n  z\n", {"a": "x\n  y\nz"}),
    ("a: >+\n  x\n\n", {"a": "x\n\n"}),
    ("a: |\nb: c\n", {"a": "", "b": "c"}),
    ("a:\n- x\n- y z # c\nb: c\n", {"a": ["x", "y z"], "b": "c"}),
    ("a:\n  # c\n  - x\n\n  - 'y: z'\n  # c\n  - \"#\"\n", {"a": ["x", "y: z", "#"]}),
    ("a:\n  - |\n    x\n    y\n  - >-\n    p\n    q\n", {"a": ["x\ny\n", "p q"]}),
    ("a:\n  - one\n    two\n  - three\n", {"a": ["one two", "three"]}),
    ("a: [x, \"b, c\", 'd]'] # c\n", {"a": ["x", "b, c", "d]"]}),
    ("a: []\nb: [ ]\nc: [x,]\n", {"a": [], "b": [], "c": ["x"]}),
    ("a: [x,\n  y, # c\n  z\n  ]\nb: c\n", {"a": ["x", "y", "z"], "b": "c"}),
    ("a:\n  [x, y]\n", {"a": ["x", "y"]}),
    ("a:   \n  - x\n", {"a": ["x"]}),
    ("\"a b\": c\n'd' : e\n", {"a b": "c", "d": "e"}),
    ("a b: c\nunknown-key: d\n", {"a b": "c", "unknown-key": "d"}),
    ("a: -x\nb: ?x\nc: :x\n", {"a": "-x", "b": "?x", "c": ":x"}),
]


@pytest.mark.parametrize(("text", "expected"), BY_HAND)
def test_text_written_by_hand(text: str, expected: dict[str, Any]) -> None:
    assert exact(yaml.load(text)) == exact(expected)
    assert exact(by_pyyaml(text) or {}) == exact(expected)
    assert exact(by_ruamel(text) or {}) == exact(expected)


# Where the YAML versions, or a list of text, make us differ from a general parser on purpose.
OURS: list[tuple[str, dict[str, Any]]] = [
    ("a: 2026-02-13\nb: 2026-02-13T09:15:00Z\n", {"a": "2026-02-13", "b": "2026-02-13T09:15:00Z"}),
    ("a: 12:30\nb: 1:2:3\n", {"a": "12:30", "b": "1:2:3"}),
    ("a: yes\nb: no\nc: on\nd: y\n", {"a": "yes", "b": "no", "c": "on", "d": "y"}),
    ("a: 1e3\nb: 0o17\nc: 010\nd: 1_000\ne: 0b1\n", {"a": 1e3, "b": 15, "c": 10, "d": "1_000", "e": "0b1"}),
    ("a: tRUE\nb: +\nc: 1.2.3\nd: 0x\ne: 0xg\n", {"a": "tRUE", "b": "+", "c": "1.2.3", "d": "0x", "e": "0xg"}),
    ("a: 1\nb: 2\na: 3\n", {"a": 3, "b": 2}),
    ("t:\n  - 404\n  - 1.0\n  - true\n  -\nmore: [1, null]\n", {"t": ["404", "1.0", "true", ""], "more": ["1",
    "null"]}),
    ("a: " + "9" * 5000, {"a": "9" * 5000}),
    ("1: x\ntrue: y\n", {"1": "x", "true": "y"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), OURS)
def test_choices_of_our_own(text: str, expected: dict[str, Any]) -> None:
    assert exact(yaml.load(text)) == exact(expected)


REFUSED = [
    ("a:\n  b: c\n", 2), ("x: y\na: {b: c}\n", 2), ("a: &x b\n", 1), ("a: *x\n", 1), ("a: !x b\n", 1), ("a: b: c\n", 1),
    ("- a\n- b\n", 1), ("just text\n", 1), ("a: b\n  c: d\n", 2), (" a: b\n", 1), ("a: 'x\n", 1), ('a: "x\nb: c\n', 1),
    ("a: 'x' y\n", 1), ('a: "\\q"\n', 1), ('a: "\\u12"\n', 1), ('a: "\\U00110000"\n', 1), ("a: |x\n  y\n", 1),
    ("a: [x\n", 1), ("a: [[x]]\n", 1), ("a: [{x: y}]\n", 1), ("a: [x: y]\n", 1), ("a: ['x' 'y']\n", 1),
    ("a: [x] y\n", 1), ("a:\n  - b: c\n", 2), ("a:\n  - - b\n", 2), ("a:\n  - [b]\n", 2), ("a:\n  - b\n - c\n",
    3), ("a: - b\n", 1),
    ("a: 1\n---\nb: 2\n", 2), ("--- x\n", 1), ("? a\n: b\n", 1), ("a: @x\n", 1), ("a: `x`\n", 1), ("a: %x\n", 1),
    ("\ta: b\n", 1), ("'a' b\n", 1), ("a:\n\tb: c\n", 2), ("[a]\n", 1), ("a: [,]\n", 1), ("a: 'b': c\n", 1),
    (": x\n", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_what_is_no_flat_mapping_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(yaml.YamlError) as caught:
        yaml.load(text)
    assert caught.value.line == line
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "line %d: %s" % (line, caught.value.message)


def test_random_text_is_read_or_refused() -> None:
    rng = random.Random(7)
    pool = [c for c in ALPHABET if c not in "\0\x7f"] + ["a: ", "\nb: ", "\n  - ", "|\n  ", ">\n  ", "[", "]", '"', "'"]
    for _ in range(support.volume(5000)):
        text = "".join(rng.choice(pool) for _ in range(rng.randrange(25)))
        try:
            fields = yaml.load(text)
        except yaml.YamlError as error:
            fields = {"line": error.line}
        assert exact(yaml.load(yaml.dump(fields.items()))) == exact(fields)


MEGABYTE = support.volume(1 << 20)
QUARTER = MEGABYTE // 4
EIGHTH = MEGABYTE // 8
LARGE = {
    "word": "x" * MEGABYTE,
    "words": "word " * (MEGABYTE // 5),
    "lines": "some line of text\n" * (MEGABYTE // 18),
    "quotes": "\"'\\" * (QUARTER // 3),
    "controls": "\0\x01" * (QUARTER // 2),
    "breaks": "\n" * QUARTER,
}


@pytest.mark.parametrize("name", sorted(LARGE))
def test_a_megabyte_is_quick(name: str) -> None:
    started = time.perf_counter()
    assert yaml.load(yaml.dump([("a", LARGE[name])])) == {"a": LARGE[name]}
    assert time.perf_counter() - started < 3


HOSTILE_FILES = {
    "colons": "a: " + "x:y " * (EIGHTH // 4),
    "comments": "a: " + "x#y" * (EIGHTH // 3),
    "escapes": 'a: "' + ("\\" * 65 + 'x\\"') * (EIGHTH // 68),
    "open quotes": "a: '" + "x\n" * (EIGHTH // 2),
    "doubled quotes": "a: '" + "''" * (EIGHTH // 2),
    "flow": "a: [" + "x," * (EIGHTH // 2) + "]",
    "flow of quotes": "a: [" + "'x', " * (EIGHTH // 5) + "]",
    "flow of lines": "a: [" + "x,\n" * (EIGHTH // 3) + "]",
    "items": "a:\n" + "- x\n" * (EIGHTH // 4),
    "empty items": "a:\n" + "-\n" * (EIGHTH // 2),
    "empty keys": "a:\n" * (EIGHTH // 3),
    "keys before comments": "a:\n" + "# c\n" * (EIGHTH // 4),
    "folds": "a: x\n" + "  y\n\n" * (EIGHTH // 5),
    "blank tail": "a: |\n  x\n" + "\n" * EIGHTH,
    "brackets": "[" * EIGHTH,
    "continued": 'a: "' + "x\\\n" * (EIGHTH // 3) + '"',
}


@pytest.mark.parametrize("name", sorted(HOSTILE_FILES))
def test_no_file_makes_the_reader_slow(name: str) -> None:
    started = time.process_time()
    try:
        yaml.load(HOSTILE_FILES[name])
    except yaml.YamlError:
        pass
    assert time.process_time() - started < 1.5


def test_needs_no_other_module() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import __future__, harness_memory; before = set(sys.modules)\n"
        "from harness_memory import yaml\n"
        "yaml.load(yaml.dump([('a', 'x: y\\n'), ('b', ['\\0'])]))\n"
        "print(sorted(set(sys.modules) - before))"
    )
    lib = str(support.LIB)
    out = subprocess.run([sys.executable, "-I", "-S", "-c", code, lib], stdout=subprocess.PIPE, check=True, text=True)
    assert out.stdout.strip() == "['harness_memory.yaml']"


def test_agrees_with_pyyaml_dumps() -> None:
    rng = random.Random(3)
    odd = "\ud800\udc00\x85\u2028\u2029"  # cannot be encoded, or breaks of YAML 1.1 only
    for _ in range(support.volume(300)):
        fields = {"k%d" % i: "".join(c for c in random_text(rng) if c not in odd) for i in range(5)}
        out = io.StringIO()
        style = rng.choice("'\"|>")  # quoted or block: plain ones mean what YAML 1.1 says
        pyyaml.safe_dump(fields, out, default_style=style, allow_unicode=rng.random() < 0.5, sort_keys=False)
        assert exact(yaml.load(out.getvalue())) == exact(fields), out.getvalue()
