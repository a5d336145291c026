"""The audit trail of a project: what was stopped, chained so that a later change shows.

    SECURITY/YYYY/MM/audit.jsonl   one event a line, months in UTC, only ever appended to
    SECURITY/audit.lock            held while a line is appended; one for all months

A line is `jsontext.compact` of one object, in UTF-8, with its fields in this order:

    ts, event               when (UTC), and one of `settings.AUDIT_EVENTS`
    tool, command, path     what it was about, where there is one; secrets redacted first, then cut
    command_chars           after `command`: its whole length, when that is more than is kept
    reason, session, rule   why, Claude's id of the session, the rule's id; "" where there is none
    …                       further fields of an event, sorted by name
    seq                     1, 2, 3 and so on through all months
    prev                    the `hash` of the event before; "" in the first
    torn                    only after a torn line, see below
    hash                    SHA-256 (hex) of the line's bytes as they are without this field

A torn line is the beginning of a line, left by a writer that was killed or out of disk; its event was
never acknowledged. The next writer ends that line and appends its own: `seq` and `prev` go on from the
last whole event, `torn` is the SHA-256 of all bytes in between. So no line can be made a torn one later
but the very last, and that is no more than cutting the trail's end, which the heads kept in episodes show.
Verification is in `chain`.
"""

from __future__ import annotations

import errno
import os

from ..base import clock, jsontext, settings
from ..base import files as store
from ..base.lock import Lock
from ..base.sha256 import hexdigest
from ..base.text import brief_of, clean, passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_BEGINNING = b'{"ts": "'
_HASH_KEY = b', "hash": "'
_HASH_CHARS = 64
_SEAL_BYTES = len(_HASH_KEY) + _HASH_CHARS + len(b'"}')

_TEXTS = ("reason", "session", "rule")
_ABOUT = ("tool", "command", "path")
_OURS = ("ts", "event", *_ABOUT, "command_chars", *_TEXTS, "seq", "prev", "torn", "hash")


def append(
    project_dir: str, fields: dict[str, Any], now: float, wait_seconds: float = settings.LOCK_WAIT_SECONDS
) -> str:
    """Record an event, on disk for good when this returns its hash. OSError: it may not be recorded."""
    content = _content(fields, now)
    top = os.path.join(project_dir, settings.SECURITY_DIR)
    fd = -1
    try:
        with Lock(os.path.join(top, settings.AUDIT_LOCK), wait_seconds) as held:
            if not held:
                raise TimeoutError(errno.ETIMEDOUT, "another process holds the lock of the audit trail", top)
            fd, gap = store.open_to_append(_target(top, now))
            seq, prev, loose = _end(top)
            line = _sealed(content, seq + 1, prev, hexdigest(loose + gap) if is_torn(loose) else "")
            store.write_all(fd, gap + line + b"\n")
        os.fsync(fd)  # after the lock: processes that wait for the disk wait together
    finally:
        if fd >= 0:
            os.close(fd)
    return line[-_HASH_CHARS - 2 : -2].decode()


def head(project_dir: str) -> str:
    """`<seq>:<hash>` of the last whole event; "" when there is none."""
    seq, digest, _ = _end(os.path.join(project_dir, settings.SECURITY_DIR))
    return "%d:%s" % (seq, digest) if seq else ""


def next_head(project_dir: str, known: str) -> str:
    """The head to keep after `known`: the latest, unless the trail cannot be seen to have grown from `known`."""
    try:
        latest = head(project_dir)
        return latest if latest and (not known or _holds(project_dir, known)) else known
    except OSError:
        return known


def events(project_dir: str) -> Iterator[dict[str, Any]]:
    """Every event that can be read, oldest first; whether it is true is for `chain` to say."""
    for _, _, line in lines(project_dir):
        event = parse(line)
        if event:
            yield event


def files(project_dir: str) -> list[str]:
    return list(_files(os.path.join(project_dir, settings.SECURITY_DIR)))[::-1]


def lines(project_dir: str) -> Iterator[tuple[str, int, bytes]]:
    """File, number and bytes of every line; a last one without its end may be growing under our eyes."""
    for path in files(project_dir):
        with os.fdopen(store.open_plain(path), "rb") as file:
            number, line = 0, b"\n"
            while line.endswith(b"\n") or len(line) == settings.AUDIT_LINE_MAX_BYTES:
                number, line = number + 1, file.readline(settings.AUDIT_LINE_MAX_BYTES)
                if line:
                    yield path, number, line


def parse(line: bytes) -> dict[str, Any] | None:
    """The event of a whole line; None for anything that is no event of this form."""
    line = line[:-1] if line.endswith(b"\n") else line
    if not line.startswith(_BEGINNING) or line[-_SEAL_BYTES:][: len(_HASH_KEY)] != _HASH_KEY:
        return None
    try:
        event = jsontext.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or type(event.get("seq")) is not int or event["seq"] < 1:
        return None
    texts = [event.get(key) for key in ("ts", "event", "prev", "hash")]
    return event if all(isinstance(text, str) for text in texts) and len(event["hash"]) == _HASH_CHARS else None


def is_sealed(line: bytes, event: dict[str, Any]) -> bool:
    """Whether the hash is that of the line."""
    line = line[:-1] if line.endswith(b"\n") else line
    return hexdigest(line[:-_SEAL_BYTES] + b"}") == str(event["hash"])


def is_torn(loose: bytes) -> bool:
    """Whether bytes without an event are what killed writers leave: beginnings of lines, the last without its end."""
    return bool(loose) and not loose.endswith(b"\n") and all(map(_is_beginning, loose.split(b"\n")))


def _is_beginning(piece: bytes) -> bool:
    if not piece or not (piece.startswith(_BEGINNING) or _BEGINNING.startswith(piece)):
        return False
    seal = piece.rfind(_HASH_KEY)
    return seal < 0 or len(piece) - seal < _SEAL_BYTES


# Content -------------------------------------------------------------------------------------------


def _content(fields: dict[str, Any], now: float) -> dict[str, Any]:
    if fields.get("event") not in settings.AUDIT_EVENTS:
        raise ValueError("no event of the audit trail: %r" % fields.get("event"))
    content: dict[str, Any] = {"ts": clock.iso(now), "event": fields["event"]}
    for key in _ABOUT:
        text = _kept(key, fields.get(key))
        if text:
            content[key] = text
        if key == "command" and text and len(fields[key]) > settings.AUDIT_COMMAND_CHARS:
            content["command_chars"] = len(fields[key])
    for key in _TEXTS:
        content[key] = _kept(key, fields.get(key))
    for key in sorted(fields):
        if key not in _OURS:
            value = fields[key]
            content[key] = value if isinstance(value, (bool, int)) else _kept(key, value)
    return content


def _kept(key: str, value: object) -> str:
    # Both redact before they cut, and what they look at ends at a word: no secret is cut in two.
    if key == "command":
        return passage(clean(value, settings.TEXT_FIELD_MAX_CHARS), settings.AUDIT_COMMAND_CHARS)
    return brief_of(value, settings.AUDIT_PATH_CHARS if key == "path" else settings.AUDIT_TEXT_CHARS)


def _sealed(content: dict[str, Any], seq: int, prev: str, torn: str) -> bytes:
    event = {**content, "seq": seq, "prev": prev, **({"torn": torn} if torn else {})}
    body = jsontext.compact(event).encode("utf-8", "replace")
    return body[:-1] + _HASH_KEY + hexdigest(body).encode() + b'"}'


# Files ---------------------------------------------------------------------------------------------


def _files(top: str) -> Iterator[str]:
    """The files there are, newest first."""
    for year in _numbers(top, 4):
        for month in _numbers(os.path.join(top, year), 2):
            path = os.path.join(top, year, month, settings.AUDIT_FILE)
            if os.path.lexists(path):
                yield path


def _numbers(folder: str, digits: int) -> list[str]:
    # A folder that cannot be listed is an error here: taken for empty, it would begin a second chain.
    try:
        listed = os.listdir(store.inside(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted([name for name in listed if len(name) == digits and name.isascii() and name.isdigit()], reverse=True)


def _target(top: str, now: float) -> str:
    """The file of the month, or a later one that is there: clocks are set back now and then."""
    day = clock.iso(now)
    path = os.path.join(top, day[:4], day[5:7], settings.AUDIT_FILE)
    return max(path, next(_files(top), path))


def _end(top: str) -> tuple[int, str, bytes]:
    """Number and hash of the last whole event, and the bytes after it."""
    loose = b""
    for path in _files(top):
        event, rest = _last(path)
        loose = rest + loose
        if event:
            return event["seq"], event["hash"], loose
    return 0, "", loose


def _last(path: str) -> tuple[dict[str, Any] | None, bytes]:
    """The last whole event of a file, and all bytes after its line."""
    fd = store.open_plain(path)
    try:
        length = settings.AUDIT_TAIL_BYTES
        while True:
            data = _read_end(fd, length)
            event, rest = _last_in(data, len(data) < length)
            if event or len(data) < length:
                return event, rest
            if length >= settings.AUDIT_TAIL_MAX_BYTES:
                raise store.Unreadable(errno.EINVAL, "ends in %d bytes without an event" % length, path)
            length *= 4
    finally:
        os.close(fd)


def _last_in(data: bytes, is_all: bool) -> tuple[dict[str, Any] | None, bytes]:
    end = len(data)
    while end > 0:
        start = data.rfind(b"\n", 0, end - 1) + 1
        if start == 0 and not is_all:
            return None, b""
        event = parse(data[start:end])
        if event:
            return event, data[end:]
        end = start
    return None, data


def _holds(project_dir: str, known: str) -> bool:
    """Whether the end of the trail holds the event of a head."""
    wanted = _HASH_KEY + known.partition(":")[2].encode("utf-8", "replace") + b'"}'
    left = settings.AUDIT_CONFIRM_BYTES
    for path in _files(os.path.join(project_dir, settings.SECURITY_DIR)):
        fd = store.open_plain(path)
        try:
            data = _read_end(fd, left)
        finally:
            os.close(fd)
        left -= len(data)
        if wanted in data or left <= 0:
            return wanted in data
    return False


def _read_end(fd: int, length: int) -> bytes:
    """The last bytes of a file: all of it when they are fewer than `length`."""
    os.lseek(fd, max(0, os.lseek(fd, 0, os.SEEK_END) - length), os.SEEK_SET)
    data = b""
    while len(data) < length:
        chunk = os.read(fd, length - len(data))
        if not chunk:
            break
        data += chunk
    return data
