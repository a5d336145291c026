"""Documents that recall's file of postings does not hold yet: one JSON array each, written by their own session.

<project>/STATE/recall/recent/<episode>   [counts, pairs, length, time, strength, record]
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from .documents import Digest, episode_digest, is_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def folder(home: str) -> str:
    return os.path.join(home, settings.STATE_DIR, settings.RECALL_DIR)


def recent_dir(project_dir: str) -> str:
    return os.path.join(folder(project_dir), settings.RECENT_DIR)


def load(project_dir: str) -> list[Digest]:
    directory = recent_dir(project_dir)
    rows = [_read(os.path.join(directory, name)) for name in names(directory)]
    return [row for row in rows if row]


def _read(path: str) -> Digest | None:
    try:
        return read_row(files.read(path))
    except OSError:
        return None


def note_episode(project_dir: str, name: str, value: dict[str, Any]) -> None:
    """Take in one episode; the caller is its session, and about to write it."""
    digest = episode_digest(name, value)
    row = [digest.counts, digest.pairs, digest.length, digest.time, digest.strength, digest.record]
    data = jsontext.compact(row).encode("utf-8", "replace")
    try:
        files.write(os.path.join(recent_dir(project_dir), name), data)
    except FileNotFoundError:
        return  # the whole cache is being dropped, to be made anew of the episodes
    if len(names(recent_dir(project_dir))) > settings.RECENT_MOST:
        from . import cache

        cache.fold(project_dir)


def has(project_dir: str, name: str) -> bool:
    return os.path.exists(os.path.join(recent_dir(project_dir), name))


def read_row(data: bytes | None) -> Digest | None:
    try:
        counts, pairs, length, at, strength, record = jsontext.loads(data or b"")
        digest = Digest(counts, pairs, int(length), float(at), float(strength), record)
        is_whole = is_shown(record) and _are_numbers([*counts.values(), *pairs, digest.length])
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None
    return digest if is_whole and digest.time - digest.time == digest.strength - digest.strength == 0 else None


def _are_numbers(values: list[Any]) -> bool:
    """Whether an array of four bytes each can hold them."""
    return {type(value) for value in values} == {int} and min(values) >= 0 and max(values) < 1 << 32


def names(path: str) -> list[str]:
    """Names in a directory, in no order; none when it cannot be listed."""
    try:
        return [name for name in os.listdir(files.inside(path)) if name[0] != "."]
    except OSError:
        return []
