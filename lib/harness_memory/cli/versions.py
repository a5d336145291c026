"""A file with its former versions beside it: `briefing.md`, `briefing.md.1` the one before, `briefing.md.2`.

Every step is one atomic rename, in an order in which a process killed at any instruction leaves the
present version in its place and each former one under some name. `.0` is there only while two
versions change places; `settle` finishes what was killed. The caller holds the file's lock.
"""

from __future__ import annotations

import os

from ..base import files


def former(path: str, number: int = 1) -> str:
    return "%s.%d" % (path, number)


def replace(path: str, data: bytes, kept: int) -> None:
    """Write a new version; up to `kept` former ones stay."""
    settle(path)
    if files.is_there(path) and not _same(path, former(path)):
        _push(path, kept)
        _copy(path, former(path))
    files.write(path, data, durable=True)


def swap(path: str) -> None:
    """The present version and the one before change places."""
    settle(path)
    if files.is_there(path):
        _copy(path, former(path, 0))
        _copy(former(path), path)
        files.move(former(path, 0), former(path))
    else:
        files.move(former(path), path)


def settle(path: str) -> None:
    """Finish, or take back, a swap that was killed."""
    beside = former(path, 0)
    if not files.is_there(beside):
        return
    if _same(path, beside):
        files.remove(beside)
        return
    if not _same(path, former(path)):  # somebody has written since
        _push(path, 2)
    files.move(beside, former(path))


def _push(path: str, kept: int) -> None:
    for number in range(kept - 1, 0, -1):
        if files.is_there(former(path, number)):
            files.move(former(path, number), former(path, number + 1))


def _copy(source: str, target: str) -> None:
    """With its time: the date of a version is when it was written."""
    try:
        data = files.read(source)
    except files.Unreadable:
        files.move(source, target)  # a link, or far too large: it is kept as it is
        return
    if data is not None:
        info = os.stat(source)
        files.write(target, data, durable=True)
        os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))


def _same(one: str, other: str) -> bool:
    try:
        data = files.read(one)
        return data is not None and data == files.read(other)
    except files.Unreadable:
        return False
