"""Reading what was appended to Claude Code's transcript since the last time.

The transcript is JSON Lines, one entry a line, and most of its bytes are entries that say nothing about the work
(request snapshots, attachments, tool output). Those are recognised by their first bytes and skipped unparsed.

A place in a transcript is kept in the session's capture file: [offset, length of head, CRC of head, CRC of tail].
`offset` is where the next unread line starts; head and tail are the first bytes of the file and the bytes before
`offset`, which a rewritten file does not have.
"""

from __future__ import annotations

import errno
import os
import stat
import zlib

from ..base import files, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_HEAD_BYTES = 512
_TAIL_BYTES = 64
_WANTED_FIRST = frozenset((b"user", b"assistant", b"custom-title", b"ai-title", b"summary"))


class Reading:
    """One pass over the new part of a transcript."""

    __slots__ = ("fd", "is_restart", "place", "size")

    def __init__(self, path: str, place: object) -> None:
        """Raises OSError when the file is missing, not a plain file, or another user's."""
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        self.fd = os.open(path, flags)
        try:
            info = os.fstat(self.fd)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(errno.EINVAL, "not a plain file", path)
            if not files.is_trusted(info.st_uid, os.path.dirname(path)):
                raise files.Foreign(errno.EPERM, "belongs to another user", path)
            self.size = info.st_size
            self.place = offset, head_size, head, tail = _place(place)
            is_same = offset <= self.size and head == self._crc(0, head_size) and tail in (0, self._tail(offset))
            self.is_restart = offset > 0 and not is_same
            self.place = self.place if is_same else [0, 0, 0, 0]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self.fd)

    def entries(self, has_time: Callable[[], bool], *, is_sidechain: bool = False) -> Iterator[dict[str, Any]]:
        """Entries that matter, oldest first; `place` moves past each whole line read."""
        for line in self._lines(has_time):
            if is_wanted(line, is_sidechain):
                entry = _decode(line)
                if entry is not None:
                    yield entry
        offset = self.place[0]
        head_size = min(_HEAD_BYTES, offset)
        self.place = [offset, head_size, self._crc(0, head_size), self._tail(offset)]

    def _lines(self, has_time: Callable[[], bool]) -> Iterator[bytes]:
        os.lseek(self.fd, self.place[0], os.SEEK_SET)
        rest, skipped = b"", 0
        while has_time():
            # Ask for no more than is there: the buffer is allocated in full.
            chunk = os.read(self.fd, min(settings.TRANSCRIPT_CHUNK_BYTES, max(4096, self.size - self.place[0])))
            if not chunk:
                return
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            if skipped and lines:
                self.place[0] += skipped + len(lines.pop(0)) + 1
                skipped = 0
            for line in lines:
                self.place[0] += len(line) + 1
                yield line
            if skipped or len(rest) > settings.TRANSCRIPT_LINE_MAX_BYTES:
                skipped += len(rest)
                rest = b""

    def _tail(self, offset: int) -> int:
        return self._crc(max(0, offset - _TAIL_BYTES), min(offset, _TAIL_BYTES))

    def _crc(self, offset: int, length: int) -> int:
        os.lseek(self.fd, offset, os.SEEK_SET)
        return zlib.crc32(os.read(self.fd, length))


def _place(value: object) -> list[int]:
    """A place from a capture file; older versions wrote a mapping, or a list without the tail."""
    if isinstance(value, dict):
        head = value.get("head")
        value = [value.get("offset"), *(head if isinstance(head, list) else ()), value.get("tail", 0)]
    numbers = value if isinstance(value, list) and all(isinstance(item, int) and item >= 0 for item in value) else []
    return [*numbers, 0][:4] if len(numbers) in (3, 4) and numbers[1] <= _HEAD_BYTES else [0, 0, 0, 0]


def is_read(path: str, place: object) -> bool:
    """Whether a transcript ends at its place, without opening it."""
    try:
        return isinstance(place, list) and place[:1] == [os.stat(path).st_size]
    except OSError:
        return False


def is_wanted(line: bytes, is_sidechain: bool = False) -> bool:
    """Whether a line may be an entry worth decoding, from its bytes alone.

    Inside JSON strings quotes are escaped, so `"type":"user"` cannot come from a text.
    """
    if line[:9] == b'{"type":"':
        return line[9 : line.find(b'"', 9)] in _WANTED_FIRST
    start = line[:200]
    if b'"attachment":{' in start or (b'"isSidechain":true' in start and not is_sidechain):
        return False
    if b'"type":"user"' in line or b'"type":"assistant"' in line:
        return True
    return b'": "' in start and (b'"type": "user"' in line or b'"type": "assistant"' in line)


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        entry = jsontext.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
