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
                payload = jsontext.loads(jsontext.shortened(data))
            except ValueError as error:
                if chunk:
                    continue
                raise BadPayload("the payload is no JSON (%d bytes): %s" % (len(data), error)) from None
            if not isinstance(payload, dict):
                raise BadPayload("the payload is a JSON %s, not an object" % type(payload).__name__)
            return payload


__all__ = ["BadPayload", "read_payload", "system"]
