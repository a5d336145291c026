"""The storm at its full size, once: 200 hook processes over 20 sessions, a third of them killed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "bench"))

import storm


def test_nothing_is_lost_in_the_full_storm(tmp_path: Path) -> None:
    weather = storm.Storm(tmp_path, sessions=20, seed=3)
    try:
        assert storm.rage(weather, 200, 1) == []
        assert weather.killed > 10
    finally:
        weather.close()
