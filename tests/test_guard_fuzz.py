"""The guard on random and mutated calls: no exception, no hasty pass. The long run is bench/guard_fuzz.py."""

from __future__ import annotations

import sys
from itertools import islice

import support

sys.path.insert(0, str(support.ROOT / "bench"))

import guard_fuzz


def test_random_calls_get_a_verdict_and_no_hasty_pass() -> None:
    for command in islice(guard_fuzz.commands(seed=1), 600):
        guard_fuzz.verdict("Bash", {"command": command})
        assert not guard_fuzz.is_hasty(command), command
    for tool, given in islice(guard_fuzz.tool_calls(seed=2), 600):
        guard_fuzz.verdict(tool, given)


def test_repeated_text_is_bounded() -> None:
    """A unit that doubles with every repetition would never end; the suite's own limit would stop it."""
    for unit in guard_fuzz.UNITS:
        guard_fuzz.verdict("Bash", {"command": unit * 100})
