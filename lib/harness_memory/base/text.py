"""Cutting and cleaning text for records: whole words, one line, no control characters, no secrets."""

from __future__ import annotations

import sys

from . import settings
from .typing import Any, Mapping

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), " ")
_BLOCK_CONTROLS = {**_CONTROLS, 9: "\t", 10: "\n"}
_HIDDEN_CODES = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0, *range(0xE0000, 0xE01F0)),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0xFFF9, 0xFFFC), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)),
)
_HIDDEN = dict.fromkeys(_HIDDEN_CODES)  # what reorders a shown text, or hides in it
_ASCII = bytes(range(128))
_NAME_CHARS = 100
_names: dict[tuple[str, int], str] = {}  # branch, model and tools stand on every line of a transcript


def clean(value: object, limit: int) -> str:
    """A string that any file can hold, without half surrogate pairs; "" for anything that is not text."""
    return value[:limit].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def from_outside(episode: Mapping[str, Any]) -> str:
    """A mark for what a session says that took in text from the web or a server."""
    return " (with text from %s)" % episode["taint"][0] if episode.get("taint") else ""


def one_line(value: str) -> str:
    value = translated(value, _HIDDEN)
    return " ".join((value if value.isprintable() else value.translate(_CONTROLS)).split())


def long_words(text: str) -> set[str]:
    """Words of four letters and more, to see what two texts share."""
    return {word for word in "".join([c if c.isalnum() else " " for c in text.lower()]).split() if len(word) > 3}


def block(value: str) -> str:
    """Text with its lines, without control characters and trailing spaces."""
    shown = translated(value, _HIDDEN).replace("\r\n", "\n").translate(_BLOCK_CONTROLS)
    return "\n".join([line.rstrip() for line in shown.split("\n")]).strip("\n ")


def cut(value: str, limit: int) -> str:
    """At most `limit` characters, ended at a word with an ellipsis."""
    if len(value) <= limit:
        return value
    head = value[: limit - 1]
    space = max(head.rfind(" "), head.rfind("\n"))
    return head[: space if space > limit // 3 else limit].rstrip(" \n,;:") + "…"


def brief(value: str, limit: int) -> str:
    """One redacted line of at most `limit` characters."""
    return cut(one_line(_redacted(value, limit)), limit)


def brief_of(value: object, limit: int) -> str:
    if not isinstance(value, str) or len(value) > _NAME_CHARS:
        return brief(clean(value, settings.TEXT_FIELD_MAX_CHARS), limit)
    if (value, limit) not in _names:
        _names[value, limit] = brief(clean(value, _NAME_CHARS), limit)
    return _names[value, limit]


def passage(value: str, limit: int) -> str:
    """A redacted passage of at most `limit` characters that keeps its lines."""
    return cut(block(_redacted(value, limit)), limit)


def first_sentence(value: str, limit: int) -> str:
    """The opening statement of a passage, on one line."""
    lines = (one_line(line).replace("**", "").lstrip("#*->• ").rstrip("*: ") for line in value.split("\n"))
    line = next(filter(None, lines), "")
    for mark in (". ", "! ", "? "):
        end = line.find(mark)
        if 20 <= end < limit and line[end + 2] != "(":
            line = line[: end + 1]
    return cut(line, limit)


def identifier(value: object) -> str:
    """An id as programs make them; "" for anything else."""
    text = value if isinstance(value, str) and len(value) <= 64 and value.isascii() else ""
    return text if text.replace("-", "").replace("_", "").isalnum() else ""


def hexdigest(data: bytes | str) -> str:
    """SHA-256 from the interpreter's own small module: `hashlib` would load all of OpenSSL."""
    try:
        sha256 = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except ImportError:
        from hashlib import sha256
    return str(sha256(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest())


def _redacted(value: str, limit: int) -> str:
    # Far more than is kept, ended at a word: no secret is cut into something that redaction cannot recognise.
    size = limit * 4 + 4096
    if len(value) > size:
        value = value[: max(value.rfind(" ", 0, size), value.rfind("\n", 0, size), size - 4096)]
    # Neither a hidden character inside a token nor a colour before it may shield it.
    head, *parts = value.replace("\x9b", "\x1b[").split("\x1b")
    for part in parts:  # an escape sequence may end in a letter
        tail = part[1:].lstrip("0123456789;:?<=>") if part[:1] == "[" else part.lstrip(" #%()*+-./")
        head += " " + tail[1:]
    value = translated(head, _HIDDEN)
    # The shortest token has 15 characters, and what hides a shorter secret stands around one of these marks.
    if len(value) < 15 and value.isprintable() and set("=:>@ ").isdisjoint(value):
        return value
    from .redact import redact

    return redact(value)


def foreign(value: str) -> str:
    """The characters of a text beyond ASCII; few have many."""
    data = b"" if value.isascii() else value.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return data.decode("utf-8", "surrogatepass")


def translated(value: str, table: Mapping[int, Any]) -> str:
    """Text by a table of rare characters, none in ASCII: to look up all others too takes long."""
    return value if table.keys().isdisjoint(map(ord, foreign(value))) else value.translate(table)
