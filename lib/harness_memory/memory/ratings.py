"""How well skills did: `LEARNING/SIGNALS/ratings.jsonl`, one rating a line, appended under a lock.

{"session_id", "date", "skill", "rating": 1-5, "signal": positive|negative|neutral, "note", "at"}
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings, shape
from ..base.lock import Lock
from ..base.typing import Any, Callable, Fields, Iterator


def append(project_dir: str, session: str, skill: str, rating: int, note: str, now: float) -> Fields:
    """The rating as it was written; OSError when another process holds the lock of the log."""
    at = clock.iso(now)
    record: Fields = {"session_id": session, "date": at[:10], "skill": skill, "rating": rating}
    record["signal"] = "neutral" if rating == 3 else "positive" if rating > 3 else "negative"
    record.update(note=note, at=at)
    append_record(os.path.join(project_dir, *settings.RATINGS_PATH), record)
    return record


def append_record(path: str, record: Fields) -> None:
    with Lock(path + settings.LOCK_SUFFIX, busy="another process is writing there; nothing was recorded. Try again"):
        files.append_line(path, jsontext.compact(record).encode("utf-8", "replace"))


def load(project_dir: str, limit: int = settings.FILE_MAX_BYTES) -> list[Fields]:
    """The ratings in the last `limit` bytes of the log, oldest first; damaged lines are skipped."""
    return load_records(os.path.join(project_dir, *settings.RATINGS_PATH), problem, limit)


def load_records(path: str, problem: Callable[[object], str], limit: int) -> list[Fields]:
    return [record for record, wrong in parsed(files.read_part(path, limit, from_end=True), problem) if not wrong]


def parsed(data: bytes, problem: Callable[[object], str]) -> Iterator[tuple[Any, str]]:
    """Each line of a log, and what is wrong with it."""
    for line in data.splitlines():
        try:
            record = jsontext.loads(line)
            yield record, problem(record)
        except ValueError:
            yield None, "not JSON"


def problem(record: object) -> str:
    """What is wrong with a line of the log, or ""."""
    wrong = shape.problem(record, {"skill": "text", "rating": "number"})
    return wrong or ("" if 1 <= record["rating"] <= 5 else "rating is not 1 to 5")  # type: ignore[index]


def poor(project_dir: str, skill: str) -> list[Fields]:
    """The poor ones among a skill's latest ratings, newest first."""
    mine = [each for each in load(project_dir, 64 << 10) if each["skill"] == skill]
    return [each for each in reversed(mine[-settings.RECENT_RATINGS :]) if each["rating"] <= 2]
