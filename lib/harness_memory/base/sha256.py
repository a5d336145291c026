"""SHA-256 from the interpreter's own small module: `hashlib` would load all of OpenSSL."""

from __future__ import annotations

try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found,no-redef,unused-ignore]
    except ImportError:
        from hashlib import sha256 as _sha256  # type: ignore[assignment,no-redef,unused-ignore]


def hexdigest(data: bytes | str) -> str:
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return str(_sha256(data).hexdigest())
