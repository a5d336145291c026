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
    tried = 0
    while True:
        try:
            chunk = system.read(fd, 1 << 20)
        except OSError:
            chunk = b""
        data += chunk
        if len(data) > limit:
            raise BadPayload("the payload is larger than %d bytes" % limit)
        # Tried again only when there is twice as much: every attempt reads it all.
        if not chunk or (chunk[-1:] in (b"\n", b"}") and len(data) >= 2 * tried):
            tried = len(data)
            try:
                short = jsontext.shortened(data)
                payload = jsontext.loads(short)
            except ValueError as error:
                if chunk:
                    continue
                raise BadPayload("the payload is no JSON (%d bytes): %s" % (len(data), error)) from None
            if not isinstance(payload, dict):
                raise BadPayload("the payload is a JSON %s, not an object" % type(payload).__name__)
            if len(short) < len(data):
                _cut.append(len(data))
            return payload


_cut: list[int] = []


def was_cut() -> bool:
    """Whether the payload was so long that its texts were cut."""
    return bool(_cut)


__all__ = ["BadPayload", "read_payload", "system", "was_cut"]
