"""Many hooks at once, killed at random: a small storm on every run, the large one in `bench/storm.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
import storm
import support


@pytest.mark.parametrize(
    ("sessions", "processes", "turns", "seed"),
    [(5, support.volume(40), 1, 2)],
)
def test_nothing_is_lost(tmp_path: Path, sessions: int, processes: int, turns: int, seed: int) -> None:
    weather = storm.Storm(tmp_path, sessions=sessions, seed=seed)
    try:
        assert storm.rage(weather, processes, turns) == []
        assert weather.started >= processes + 2 * sessions * turns
        assert weather.killed
    finally:
        weather.close()
