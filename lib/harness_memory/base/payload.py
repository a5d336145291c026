"""The JSON object on standard input, read without `os`: the guard answers before `os` would be loaded.

`system` is the module that `os` itself is made of.
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

__all__ = ["BadPayload", "read_payload", "system"]


class BadPayload(ValueError):
    """Standard input held no usable payload."""


def read_payload(fd: int = 0, limit: int = settings.STDIN_MAX_BYTES) -> dict[str, Any]:
    """The payload, as soon as it is whole: the other end may never close the pipe."""
    data = bytearray()
    tried = 0
    while True:
        try:
            chunk = system.read(fd, 1 << 16)
        except OSError:
            chunk = b""
        data += chunk
        if len(data) > limit:
            raise BadPayload("the payload is larger than %d bytes" % limit)
        # Each attempt reads everything: try again only when there is twice as much.
        if chunk and (chunk[-1:] not in (b"\n", b"}") or len(data) < 2 * tried):
            continue
        tried = len(data)
        try:
            payload = jsontext.loads(bytes(data))
        except ValueError as error:
            if chunk:
                continue
            raise BadPayload("the payload is not JSON (%d bytes): %s" % (tried, error)) from None
        if not isinstance(payload, dict):
            raise BadPayload("the payload is a JSON %s, not an object" % type(payload).__name__)
        return payload
