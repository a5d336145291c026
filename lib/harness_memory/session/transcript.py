"""Reading what was appended to Claude Code's transcript since the last time.

The transcript is JSON Lines, one entry a line, and most of its bytes are entries that say nothing
about the work (request snapshots, attachments, tool output). Those are told by their first bytes
and skipped unparsed; only what a person asked and what Claude did is decoded.

A cursor is a small dict kept in the session's capture file:

    path, device, inode   which file was read
    head                  length and CRC of its first bytes: tells a replaced file from a grown one
    tail                  CRC of the bytes before `offset`: tells one that was cut off and grew again
    offset                where the next unread line starts
    passed                bytes of that line passed over, if it is too long to be read and its end was not found

Of a subagent's transcript, of which a session may have hundreds, only its place is kept: [offset, *head].
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
_SKIM_BYTES = 2048  # tool results longer than this are not decoded for their id alone
_AROUND_BYTES = 512

_WANTED_FIRST = frozenset((b"user", b"assistant", b"custom-title", b"ai-title", b"summary"))


class Reading:
    """One pass over the new part of a transcript."""

    __slots__ = ("cursor", "fd", "is_restart", "modified", "size")

    def __init__(self, path: str, cursor: dict[str, Any]) -> None:
        """Raises OSError when the file is not there (yet)."""
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        self.fd = os.open(path, flags)
        try:
            info = os.fstat(self.fd)
            if not stat.S_ISREG(info.st_mode):
                raise OSError("%s is not a plain file" % path)
            if not files.is_trusted(info.st_uid, os.path.dirname(path)):
                raise files.Foreign(errno.EPERM, "belongs to another user", path)
            self.size = info.st_size
            self.modified = info.st_mtime
            old = cursor
            self.cursor: dict[str, Any] = {
                "path": path,
                "device": info.st_dev,
                "inode": info.st_ino,
                "offset": 0,
                "head": [0, 0],
                "passed": 0,
            }
            self.is_restart = bool(old.get("offset"))
            if self._continues(old):
                self.cursor.update(offset=old["offset"], head=old["head"], passed=_number(old.get("passed")))
                self.is_restart = False
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self.fd)

    def entries(self, has_time: Callable[[], bool], *, is_sidechain: bool = False) -> Iterator[dict[str, Any]]:
        """Entries that matter, oldest first; the cursor moves past each whole line read."""
        for line in self._lines(has_time):
            if is_wanted(line, is_sidechain):
                entry = _decode(line)
                if entry is not None:
                    yield entry
        self._remember_head()
        self.cursor["tail"] = self._tail(self.cursor["offset"])

    def _lines(self, has_time: Callable[[], bool]) -> Iterator[bytes]:
        cursor = self.cursor
        os.lseek(self.fd, cursor["offset"] + cursor["passed"], os.SEEK_SET)
        rest = b""
        while has_time():
            chunk = os.read(self.fd, settings.TRANSCRIPT_CHUNK_BYTES)
            if not chunk:
                return
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            if cursor["passed"] and lines:
                cursor["offset"] += cursor["passed"] + len(lines.pop(0)) + 1
                cursor["passed"] = 0
            for line in lines:
                cursor["offset"] += len(line) + 1
                yield line
            if cursor["passed"] or len(rest) > settings.TRANSCRIPT_LINE_MAX_BYTES:
                cursor["passed"] += len(rest)
                rest = b""

    def _continues(self, old: dict[str, Any]) -> bool:
        offset, head, passed = old.get("offset"), old.get("head"), _number(old.get("passed"))
        if not isinstance(offset, int) or not isinstance(head, list) or not 0 <= offset <= self.size - passed:
            return False
        named = [old.get(key, self.cursor[key]) for key in ("device", "inode")]
        if named != [self.cursor["device"], self.cursor["inode"]] or old.get("tail", 0) not in (0, self._tail(offset)):
            return False
        return len(head) == 2 and isinstance(head[0], int) and head == self._head(head[0])

    def _remember_head(self) -> None:
        if self.cursor["head"][0] < _HEAD_BYTES:
            self.cursor["head"] = self._head(min(_HEAD_BYTES, self.cursor["offset"]))

    def _tail(self, offset: int) -> int:
        os.lseek(self.fd, max(0, offset - _TAIL_BYTES), os.SEEK_SET)
        return zlib.crc32(os.read(self.fd, min(offset, _TAIL_BYTES)))

    def _head(self, length: int) -> list[int]:
        os.lseek(self.fd, 0, os.SEEK_SET)
        data = os.read(self.fd, min(length, _HEAD_BYTES))
        return [len(data), zlib.crc32(data)]


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def place_of(cursor: dict[str, Any]) -> list[int]:
    return [cursor["offset"], *cursor["head"]]


def cursor_of(place: object) -> dict[str, Any]:
    """What was kept of a subagent's transcript: its place, or a whole cursor as older versions kept it."""
    if isinstance(place, dict):
        return place
    return {"offset": place[0], "head": place[1:]} if isinstance(place, list) and len(place) == 3 else {}


def is_read(path: str, place: object) -> bool:
    """Whether a transcript ends at its place, told without opening it."""
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
    return (
        b'"type":"user"' in line
        or b'"type":"assistant"' in line
        or (b'": "' in start and (b'"type": "user"' in line or b'"type": "assistant"' in line))
    )


def _decode(line: bytes) -> dict[str, Any] | None:
    if len(line) > _SKIM_BYTES:
        skimmed = _skim_result(line)
        if skimmed is not None:
            return skimmed
    try:
        entry = jsontext.loads(jsontext.shortened(line))
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _skim_result(line: bytes) -> dict[str, Any] | None:
    """A long single tool result without its output; None where a full decode is needed.

    Each search ends at the result's rich form, or begins there: most of the line is passed over few times.
    """
    rich = line.find(b'"toolUseResult":')
    named = line.find(b'"tool_use_id":"', 0, rich)
    if rich < 0 or named < 0 or line.find(b'"tool_use_id":"', named + 1, rich) >= 0:
        return None
    if line.find(b'"type":"user"', 0, rich) < 0 or line.find(b'"type":"tool_result"', 0, rich) < 0:
        return None
    if line.find(b'"bashEditDiff"', rich) >= 0 or line.find(b'"task":{', rich) >= 0:
        return None
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": _value(line, named + len(b'"tool_use_id":"'))}
    result["is_error"] = line.find(b'"is_error":true', 0, rich) >= 0
    entry: dict[str, Any] = {"type": "user", "message": {"content": [result]}, "toolUseResult": {}}
    for key in ("timestamp", "gitBranch", "uuid"):
        mark = b'"%s":"' % key.encode()
        at = line.rfind(mark, rich - _AROUND_BYTES, rich)
        at = line.rfind(mark, -_AROUND_BYTES) if at < 0 else at
        at = line.find(mark) if at < 0 else at
        entry[key] = _value(line, at + len(mark)) if at >= 0 else ""
    if result["is_error"] and b'"toolDenialKind":"' in line:
        entry["toolDenialKind"] = "denied"
    return entry


def _value(line: bytes, at: int) -> str:
    return line[at : line.find(b'"', at)].decode("utf-8", "replace")
