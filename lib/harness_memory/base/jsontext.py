"""JSON in and out without importing `json`, which costs a hook more than all its own work.

The interpreter's C scanner is used directly where it exists; anything unexpected falls back to the standard module.
`compact` writes one line, `pretty` writes for people.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

try:
    from _json import encode_basestring as _quote
    from _json import make_scanner as _make_scanner
except ImportError:  # not CPython
    _quote = None  # type: ignore[assignment]
    _make_scanner = None  # type: ignore[assignment,misc]

_WHITESPACE = " \t\n\r"
_WORDS = {None: "null", True: "true", False: "false"}
MAX_DEPTH = 200  # ours are below 10; deeper input is an attack on the recursion limit


class _Context:
    """What the C scanner reads its options from."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012  (the scanner wants a plain attribute)


def loads(data: bytes | str) -> Any:
    """The value of a JSON document; ValueError when it is none."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    if text[:1] == "\ufeff":
        text = text[1:]
    text = text.strip(_WHITESPACE)
    if _scan is None:
        return _loads_slowly(text)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON value") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except SystemError:
        # 3.9 to 3.12 can only word their complaint once `json.decoder` is loaded.
        return _loads_slowly(text)
    if end != len(text):
        raise ValueError("text after the JSON value at character %d" % end)
    return value


def compact(value: Any) -> str:
    if _encode is not None:
        try:
            return "".join(_encode(value, 0))
        except (ValueError, TypeError, RecursionError):
            pass  # NaN becomes null below, other values are refused
    return _render(value, None, 0)


def pretty(value: Any) -> str:
    """Two spaces of indentation; the same layout as `json.dumps(indent=2, ensure_ascii=False)`."""
    return _render(value, "\n", 0) + "\n"


def quote(text: str) -> str:
    if _quote is None:
        import json

        return json.dumps(text, ensure_ascii=False)
    return _quote(text)


def _render(value: Any, newline: str | None, depth: int) -> str:
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else "null"  # JSON has no NaN and no infinities
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        left, right = "{", "}"
        items = [quote(str(k)) + ": " + _render(v, newline, depth + 1) for k, v in value.items()]
    elif isinstance(value, (list, tuple)):
        left, right = "[", "]"
        items = [_render(v, newline, depth + 1) for v in value]
    else:
        _refuse(value)
    if not items or newline is None:
        return left + ", ".join(items) + right
    inner = newline + "  " * (depth + 1)
    return left + inner + ("," + inner).join(items) + newline + "  " * depth + right


def _refuse(value: object) -> NoReturn:
    raise TypeError("not a JSON value: %s" % type(value).__name__)


def _loads_slowly(text: str) -> Any:
    import json

    try:
        return json.loads(text, strict=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _make_scan() -> Any:
    if _make_scanner is None:
        return None
    try:
        scan: Any = _make_scanner(_Context)  # type: ignore[arg-type]
        if scan('{"a": [1, "b", null]}', 0) == ({"a": [1, "b", None]}, 21):
            return scan
    except Exception:  # noqa: BLE001  (a private interface: any surprise means "do without")
        pass
    return None


def _make_encode() -> Any:
    try:
        from _json import make_encoder

        encode: Any = make_encoder(None, _refuse, _quote, None, ": ", ", ", False, False, False)
        if "".join(encode({"a": [1, "é", None]}, 0)) == '{"a": [1, "é", null]}':
            return encode
    except Exception:  # noqa: BLE001  (a private interface: any surprise means "do without")
        pass
    return None


_scan = _make_scan()
_encode = _make_encode()
