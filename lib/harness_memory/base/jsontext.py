"""JSON in and out without importing `json`, which costs a hook more than all its own work.

The interpreter's C scanner and encoder are used directly where they exist; anything unexpected falls back to the
standard module. `compact` writes one line, `pretty` writes for people.
"""

from __future__ import annotations

import sys

from .typing import Any, NoReturn

MAX_DEPTH = 200  # ours are below 10; deeper input is an attack on the recursion limit


def _refuse(value: object, _: int = 0) -> NoReturn:
    raise TypeError("not a JSON value: %s" % type(value).__name__)


def _scan_slowly(text: str, _: int) -> tuple[Any, int]:
    import json

    return json.loads(text, strict=False), len(text)


_scan: Any
_encode: Any
quote: Any
try:
    from _json import encode_basestring as quote
    from _json import make_encoder, make_scanner

    _options = {"strict": False, "object_hook": None, "object_pairs_hook": None, "parse_int": int, "parse_float": float}
    _scan = make_scanner(type(sys.implementation)(parse_constant=float, **_options))  # type: ignore[arg-type, call-arg]
    _encode = make_encoder(None, _refuse, quote, None, ": ", ", ", False, False, False)
    if _scan('{"a": [1]}', 0) != ({"a": [1]}, 10) or "".join(_encode({"a": ["é"]}, 0)) != '{"a": ["é"]}':
        raise ValueError("another interface")
except Exception:  # noqa: BLE001  (not CPython, or a private interface that has changed: do without)
    from json.encoder import py_encode_basestring as quote  # type: ignore[attr-defined,no-redef,unused-ignore]

    _scan, _encode = _scan_slowly, _refuse


def loads(data: bytes | str) -> Any:
    """The value of a JSON document; ValueError for anything else."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    text = text[text[:1] == "\ufeff" :].strip(" \t\n\r")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON value") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except SystemError:  # 3.9 to 3.12 can only word their complaint once `json.decoder` is loaded
        value, end = _scan_slowly(text, 0)
    if end != len(text):
        raise ValueError("text after the JSON value at character %d" % end)
    return value


def compact(value: Any) -> str:
    try:
        return "".join(_encode(value, 0))
    except (ValueError, TypeError, RecursionError):
        return _render(value, None, 0)  # here NaN becomes null, other values are refused


def pretty(value: Any) -> str:
    """Two spaces of indentation; the same layout as `json.dumps(indent=2, ensure_ascii=False)`."""
    return _render(value, "\n", 0) + "\n"


def encoded(value: Any) -> bytes:
    # The name of a file may hold bytes that are not UTF-8: JSON spells them as escapes.
    return pretty(value).encode("utf-8", "backslashreplace")


def _render(value: Any, newline: str | None, depth: int) -> str:
    if isinstance(value, str):
        return str(quote(value))
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value) if value - value == 0 else "null"  # JSON has no NaN and no infinities
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        edges = "{%s}"
        pairs = [(quote(str(key)), item) for key, item in value.items()]
        items = [key + ": " + (quote(v) if v.__class__ is str else _render(v, newline, depth + 1)) for key, v in pairs]
    elif isinstance(value, (list, tuple)):
        edges = "[%s]"
        items = [quote(item) if item.__class__ is str else _render(item, newline, depth + 1) for item in value]
    else:
        _refuse(value)
    if not items or newline is None:
        return edges % ", ".join(items)
    inner = newline + "  " * (depth + 1)
    return edges % (inner + ("," + inner).join(items) + newline + "  " * depth)
