"""Secrets leave the text; everything else stays to the letter.

In the data files `{MIX:36}` stands for the first 36 characters of a body in `bodies.json`: no scanner of repositories
takes them for leaks.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import support

from harness_memory.base.redact import redact, redact_tree

DATA = Path(__file__).parent / "data" / "redact"
BODIES = json.loads((DATA / "bodies.json").read_text())
BODY = re.compile(r"\{([A-Z]{2,4}):(\d+)\}")


def spelled_out(value: Any) -> Any:
    if isinstance(value, list):
        return [spelled_out(item) for item in value]
    return BODY.sub(lambda match: BODIES[match.group(1)][: int(match.group(2))], value)


def rows(name: str) -> list[Any]:
    return [spelled_out(json.loads(line)) for line in (DATA / name).read_text().splitlines()]


TOKENS = rows("tokens.jsonl")
CHANGED = rows("changed.jsonl")
LEFT_ALONE = rows("left_alone.jsonl")


@pytest.mark.parametrize(("kind", "token"), TOKENS)
def test_a_token_is_replaced_whole_wherever_it_stands(kind: str, token: str) -> None:
    for form in ("%s", "see %s", "(%s)", "é%s", "a\n%s\n"):
        assert redact(form % token) == form % ("[redacted:%s]" % kind)


@pytest.mark.parametrize(("before", "after"), CHANGED)
def test_a_secret_in_context_is_replaced_and_nothing_else(before: str, after: str) -> None:
    assert redact("é\n" + before + "\n") == "é\n" + after + "\n"
    assert redact(before) == redact(after) == after


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_random_mixtures_are_stable_and_keep_their_frame() -> None:
    rng = random.Random(11)
    texts = [token for _, token in TOKENS] + [before for before, _ in CHANGED] + LEFT_ALONE
    words = ["\\n", "://", "password", "TOKEN", "secret=", "--", "[redacted:x]", "İ"]
    glue = [*" \n\t:=\"'`\\,;()[]{}<>@/&?-_.$%", *words]
    for _ in range(1500):
        pieces = [rng.choice(texts) if rng.random() < 0.3 else rng.choice(glue) for _ in range(rng.randrange(1, 8))]
        text = "".join(piece[rng.randrange(len(piece) + 1) if rng.random() < 0.2 else 0 :] for piece in pieces)
        once = redact(text)
        assert redact(once) == once, text
        framed = redact("start of it\n\n" + text + "\n\nend of it")
        assert framed.startswith("start of it\n\n")
        assert framed.endswith("end of it")


@pytest.mark.parametrize(("before", "after"), support.rows("redact/trees.jsonl"))
def test_a_tree_is_redacted_by_its_keys_and_texts(before: Any, after: Any) -> None:
    copy = repr(before)
    assert redact_tree(before) == redact_tree(after) == after
    assert repr(before) == copy


def test_a_tree_that_is_too_deep_is_refused() -> None:
    tree: Any = "PASSWORD=hunter2"
    for _ in range(5000):
        tree = [tree]
    with pytest.raises(ValueError, match="nested too deeply"):
        redact_tree(tree)


@pytest.mark.parametrize("length", [100, 767, 768, 769, 60_000])
@pytest.mark.parametrize("before", ["API_TOKEN=", "password: ", "Authorization: Bearer ", "token: str = "])
def test_a_long_value_is_replaced_whole(before: str, length: int) -> None:
    value = (BODIES["MIX"] * 1000)[:length]
    assert redact(before + value + " and on").endswith("] and on")
    assert len(redact(before + value)) < 80


def test_hostile_repetition_ends() -> None:
    """A pattern that tries every way to read a text would not end: hence a process of its own."""
    units = rows("repeated.jsonl")
    words = ["a.", "a ", "-a ", " Abc: x", "\nAbc: x", " -p", "a=b; ", BODIES["LINE"] + "\n "]
    fillers = [*"a1 \t\\'\"\n-=:./@é$[%;", *words]
    texts = [unit * (20_000 // len(unit)) for unit in units]
    texts += [unit + filler * (2000 // len(filler)) + "!" for unit in units for filler in fillers]
    code = "import json, sys; sys.path.insert(0, sys.argv[1]); from harness_memory.base.redact import redact\n"
    code += "print(max(map(len, map(redact, json.load(sys.stdin)))) > 0)"
    command = [sys.executable, "-I", "-S", "-c", code, str(support.LIB)]
    data = json.dumps(texts).encode("utf-8")
    assert subprocess.check_output(command, input=data, timeout=120).strip() == b"True"


def test_the_standard_library_is_left_alone() -> None:
    paths = sorted(Path(json.__file__).parents[1].glob("*.py"))
    lines = [line for path in paths for line in path.read_text("utf-8", "replace").splitlines()]
    changed = [line for line in lines if redact(line) != line]
    assert len(changed) <= len(lines) * 0.00002, changed
