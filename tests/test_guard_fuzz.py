"""The guard on nonsense: no exception, no wait, no growth beyond bounds. The long run is bench/guard_fuzz.py."""

from __future__ import annotations

from itertools import islice

import guard_fuzzer as fuzzer
import pytest

COUNT = 1_200
LIMIT = 2 * fuzzer.LIMIT_SECONDS  # others run tests beside us


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Whatever is loaded late is loaded now."""
    for tool, given in [("Bash", {"command": command}) for command in fuzzer.COMMANDS[::20]] + fuzzer.TOOLS:
        fuzzer.verdict(tool, given)


def test_commands() -> None:
    with fuzzer.Uncollected():
        for command in islice(fuzzer.commands(seed=1), COUNT):
            assert fuzzer.seconds("Bash", {"command": command}) < LIMIT, command[:200]


def test_tool_calls() -> None:
    with fuzzer.Uncollected():
        for tool, given in islice(fuzzer.tool_calls(seed=2), COUNT):
            assert fuzzer.seconds(tool, given) < LIMIT, (tool, given)


def test_a_glance_is_never_hasty() -> None:
    hasty = [command for command in islice(fuzzer.commands(seed=3), COUNT) if fuzzer.is_hasty(command)]
    assert hasty == []


@pytest.mark.parametrize("size", [100, 3_000])
def test_repetition(size: int) -> None:
    """What doubles with every repetition would take for ever; what is squared shows at the larger size."""
    with fuzzer.Uncollected():
        slow = {
            unit: taken
            for unit in fuzzer.UNITS
            for taken in [fuzzer.seconds("Bash", {"command": unit * size})]
            if taken > LIMIT
        }
    assert slow == {}
