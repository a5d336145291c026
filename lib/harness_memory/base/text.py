"""Cutting and cleaning text for records: whole words, one line, no control characters."""

from __future__ import annotations

from . import settings
from .redact import redact

_CONTROLS: dict[int, str | None] = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), " ")
# Bidirectional overrides reorder what a terminal shows; zero-width characters hide text.
_HIDDEN = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF9, 0xFFFC),
    *range(0x1BCA0, 0x1BCA4),
    *range(0x1D173, 0x1D17B),
    *range(0xE0000, 0xE01F0),
)
_HIDDEN_GONE: dict[int, str | None] = dict.fromkeys(_HIDDEN)
_CONTROLS.update(_HIDDEN_GONE)
_KEPT_IN_BLOCKS = {**_CONTROLS, 9: "\t", 10: "\n"}

# Branch, model and tools are named on every line of a transcript: redacting them once makes reading twice as quick.
_NAME_CHARS = 100
_NAMES_KEPT = 256
_names: dict[tuple[str, int], str] = {}


def clean(value: object, limit: int) -> str:
    """A string that any file can hold; "" for anything that is not text."""
    if not isinstance(value, str):
        return ""
    value = value[:limit]
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        value = value.encode("utf-8", "replace").decode("utf-8")
    return value


def one_line(value: str) -> str:
    return " ".join(value.translate(_CONTROLS).split())


def composed(value: str) -> str:
    """The same for every way to write a text: without hidden characters, letters and their accents as one."""
    if value.isascii():
        return value
    import unicodedata

    return unicodedata.normalize("NFC", value.translate(_HIDDEN_GONE))


def block(value: str) -> str:
    """Text with its line structure, tidied: no control characters, no trailing spaces."""
    lines = [line.rstrip() for line in value.replace("\r\n", "\n").translate(_KEPT_IN_BLOCKS).split("\n")]
    return "\n".join(lines).strip("\n ")


def cut(value: str, limit: int) -> str:
    """At most `limit` characters, ended at a word with an ellipsis."""
    if len(value) <= limit:
        return value
    head = value[: limit - 1]
    space = max(head.rfind(" "), head.rfind("\n"))
    if space > limit // 2:
        head = head[:space]
    return head.rstrip(" \n,;:") + "…"


def brief(value: str, limit: int) -> str:
    """One redacted line of at most `limit` characters."""
    return cut(one_line(redact(_visible(_head(value, limit)))), limit)


def brief_of(value: object, limit: int) -> str:
    """The same of anything; "" for what is no text."""
    if not isinstance(value, str) or len(value) > _NAME_CHARS:
        return brief(clean(value, settings.TEXT_FIELD_MAX_CHARS), limit)
    known = _names.get((value, limit))
    if known is None:
        if len(_names) >= _NAMES_KEPT:
            _names.clear()
        known = _names[value, limit] = brief(clean(value, _NAME_CHARS), limit)
    return known


def passage(value: str, limit: int) -> str:
    """A redacted passage of at most `limit` characters that keeps its lines."""
    return cut(block(redact(_visible(_head(value, limit)))), limit)


def first_sentence(value: str, limit: int) -> str:
    """The opening statement of a passage, on one line."""
    line = ""
    for candidate in value.split("\n"):
        line = one_line(candidate).replace("**", "").lstrip("#*->• ").rstrip("*: ")
        if line:
            break
    for mark in (". ", "! ", "? "):
        end = line.find(mark)
        if 20 <= end < limit:
            line = line[: end + 1]
    return cut(line, limit)


def identifier(value: object) -> str:
    """An id as programs make them; "" for anything that could be something else."""
    is_id = isinstance(value, str) and 0 < len(value) <= 64 and value.isascii()
    return str(value) if is_id and str(value).replace("-", "").replace("_", "").isalnum() else ""


def _visible(value: str) -> str:
    # Before redaction: neither a hidden character inside a token nor a colour before it may shield it.
    if "\x1b" in value or "\x9b" in value:
        head, *rest = value.replace("\x9b", "\x1b[").split("\x1b")
        value = head + "".join([" " + _after_escape(part) for part in rest])
    return value if value.isascii() else value.translate(_HIDDEN_GONE)


def _after_escape(text: str) -> str:
    """What follows an escape sequence whose escape is gone: it may end in a letter."""
    if text[:1] == "[":
        return text[1:].lstrip("0123456789;:?<=>")[1:]
    return text.lstrip(" #%()*+-./")[1:]


def _head(value: str, limit: int) -> str:
    """Far more than is kept, ended at a word: no secret is cut into something redaction cannot recognise."""
    size = limit * 4 + 4096
    if len(value) <= size:
        return value
    head = value[:size]
    return head[: max(head.rfind(" "), head.rfind("\n"), size - 4096)]
