"""META.yaml: every parser reads back what we write, and we read what a person writes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import ruamel.yaml
import yaml as pyyaml

from harness_memory.base import yaml

DATA = Path(__file__).parent / "data" / "yaml"
HOSTILE = json.loads((DATA / "hostile.json").read_text())
BY_HAND = [json.loads(line) for line in (DATA / "by_hand.jsonl").read_text().splitlines()]
REFUSED = json.loads((DATA / "refused.json").read_text())
OTHERS = [None, True, False, 0, 1, -1, 10**30, 1.0, -0.5, 1e16, 1e-7, 1.5e300, 123456.789, [], ["a"], HOSTILE]


def by_ruamel(text: str) -> Any:
    return ruamel.yaml.YAML(typ="safe", pure=True).load(text)


def by_ruamel_11(text: str) -> Any:
    parser = ruamel.yaml.YAML(typ="safe", pure=True)
    parser.version = (1, 1)
    return parser.load(text)


# `repr` separates 1 from True and 1.0, and keeps the order of keys.
@pytest.mark.parametrize("read", [yaml.load, pyyaml.safe_load, by_ruamel, by_ruamel_11])
def test_values_that_we_write_read_back_exactly_in_every_parser(read: Any) -> None:
    fields = {"k%d" % number: value for number, value in enumerate([*HOSTILE, *OTHERS])}
    fields.update({key: key for key in HOSTILE})
    assert repr(read(yaml.dump(fields.items()))) == repr(fields)
    yaml.dump(fields.items()).encode("utf-8")


@pytest.mark.parametrize("read", [yaml.load, pyyaml.safe_load])
def test_random_text_that_we_write_reads_back_exactly(read: Any) -> None:
    rng = random.Random(20260213)
    alphabet = [*HOSTILE[:200], "\n\n", "  ", ": ", " #", "\n ", "\n#", "The quick"]
    for _ in range(20):
        fields = {"k%d" % number: "".join(rng.choices(alphabet, k=rng.randrange(9))) for number in range(50)}
        assert repr(read(yaml.dump(fields.items()))) == repr(fields)


def test_the_file_that_a_person_sees() -> None:
    fields = {
        "session_id": "a1b2c3d4",
        "date": "2026-02-13",
        "ended": None,
        "branch": "feature/auth",
        "summary": "Implemented middleware.\nAll tests pass: 12",
        "tags": ["api", "no"],
        "artifacts": [],
        "pid": 4711,
    }
    assert yaml.dump(fields.items()) == (
        'session_id: a1b2c3d4\ndate: "2026-02-13"\nended: null\nbranch: feature/auth\n'
        'summary: "Implemented middleware.\\nAll tests pass: 12"\ntags:\n  - api\n  - "no"\nartifacts: []\npid: 4711\n'
    )


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case["text"][:30])
def test_text_written_by_hand_is_read(case: dict[str, Any]) -> None:
    assert repr(yaml.load(case["text"])) == repr(case["value"])
    if case["is_general"]:  # the YAML versions agree on it, and so do we
        assert repr(pyyaml.safe_load(case["text"]) or {}) == repr(case["value"])


@pytest.mark.parametrize("text", REFUSED)
def test_text_that_is_not_a_flat_mapping_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(yaml.YamlError, match=r"^line [234]: "):
        yaml.load("# a comment\n" + text)


def test_any_text_is_read_or_refused() -> None:
    rng = random.Random(7)
    pool = [*"ab:-#'\"\\[]|> ,?\n\t0", "a: ", "\nb: ", "\n  - ", "|\n  ", ">\n  ", "---\n", "\\u00e9"]
    for _ in range(2000):
        try:
            fields = yaml.load("".join(rng.choices(pool, k=rng.randrange(25))))
        except yaml.YamlError:
            continue
        assert repr(yaml.load(yaml.dump(fields.items()))) == repr(fields)
