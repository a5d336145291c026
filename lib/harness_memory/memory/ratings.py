"""How well skills did: `LEARNING/SIGNALS/ratings.jsonl`, one rating a line, appended under a lock.

{"session_id", "date", "skill", "rating": 1-5, "signal": positive|negative|neutral, "note", "at"}
"""

from __future__ import annotations

import os

from ..base import clock, files, jsonl, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGNALS = ("positive", "negative", "neutral")


def path(project_dir: str) -> str:
    return os.path.join(project_dir, *settings.RATINGS_PATH)


def append(project_dir: str, session: str, skill: str, rating: int, note: str, now: float, signal: str = "") -> bool:
    """False when the log's lock was not to be had: nothing was written."""
    at = clock.iso(now)
    record: dict[str, Any] = {"session_id": session, "date": at[:10], "skill": skill, "rating": rating}
    record.update(signal=signal or signal_of(rating), note=note, at=at)
    return jsonl.append(path(project_dir), record)


def signal_of(rating: int) -> str:
    return "neutral" if rating == 3 else "positive" if rating > 3 else "negative"


def load(project_dir: str, limit: int = settings.FILE_MAX_BYTES) -> list[dict[str, Any]]:
    """The ratings in the last `limit` bytes of the log, oldest first; damaged lines are left out."""
    found: list[dict[str, Any]] = []
    for line in files.read_tail(path(project_dir), limit).split(b"\n"):
        try:
            record: Any = jsontext.loads(line) if line else None
        except ValueError:
            continue
        if is_rating(record):
            found.append(record)
    return found


def is_rating(record: object) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("skill"), str):
        return False
    rating = record.get("rating")
    return isinstance(rating, (int, float)) and not isinstance(rating, bool) and 1 <= rating <= 5


def poor(project_dir: str, skill: str) -> list[dict[str, Any]]:
    """The poor ones among a skill's latest ratings, newest first."""
    mine = [each for each in load(project_dir, settings.RATINGS_TAIL_BYTES) if each["skill"] == skill]
    return [each for each in reversed(mine[-settings.RECENT_RATINGS :]) if each["rating"] <= settings.POOR_RATING]


def trend(ratings: list[float]) -> str:
    """Whether the latest ratings are better or worse than those before; "" when there are too few."""
    recent, before = ratings[-settings.RECENT_RATINGS :], ratings[: -settings.RECENT_RATINGS]
    if not before:
        half = len(ratings) // 2
        before, recent = ratings[:half], ratings[half:]
    if len(ratings) < 4:
        return ""
    change = mean(recent) - mean(before)
    return "steady" if abs(change) < 0.5 else "better" if change > 0 else "worse"


def mean(ratings: list[float]) -> float:
    return sum(ratings) / len(ratings) if ratings else 0.0
