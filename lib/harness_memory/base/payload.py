"""The JSON object on standard input, without `os`: the guard must answer before that would be loaded.

`system` is what `os` itself is made of.
"""

from __future__ import annotations

from . import jsontext, settings

try:
    import posix as system
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef,import-not-found,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BadPayload(ValueError):
    """Standard input held no usable payload."""


def read_payload(fd: int = 0, limit: int = settings.STDIN_MAX_BYTES) -> dict[str, Any]:
    """The payload, as soon as it is whole: the other end may never close the pipe."""
    data = bytearray()
    long: jsontext.Shortener | None = None
    size = tried = 0
    while True:
        try:
            chunk = system.read(fd, 1 << 16)
        except OSError:
            chunk = b""
        size += len(chunk)
        if size > limit:
            raise BadPayload("the payload is larger than %d bytes" % limit)
        if long is None:
            data += chunk
            if size > jsontext.SHORT_BYTES:
                long = jsontext.Shortener()
                long.feed(data)
                data = long.text
        else:
            long.feed(chunk)
        # Tried again only when there is twice as much: every attempt reads it all.
        if not chunk or (chunk[-1:] in (b"\n", b"}") and size >= 2 * tried):
            tried = size
            try:
                payload = jsontext.loads(jsontext.crowdless(data))
            except ValueError as error:
                if chunk:
                    continue
                raise BadPayload("the payload is no JSON (%d bytes): %s" % (size, error)) from None
            if not isinstance(payload, dict):
                raise BadPayload("the payload is a JSON %s, not an object" % type(payload).__name__)
            if len(data) < size:
                _cut.append(size)
            return payload


_cut: list[int] = []


def was_cut() -> bool:
    """Whether the payload was so long that its texts were cut."""
    return bool(_cut)


__all__ = ["BadPayload", "read_payload", "system", "was_cut"]
