"""Cutting and cleaning text for records: whole words, one line, no control characters."""

from __future__ import annotations

from .redact import redact

_CONTROLS: dict[int, str | None] = dict.fromkeys((*range(32), *range(127, 160), 8232, 8233), " ")
# Bidirectional overrides reorder what a terminal shows; zero-width characters hide text.
_HIDDEN = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_CONTROLS.update(dict.fromkeys(_HIDDEN))
_KEPT_IN_BLOCKS = {**_CONTROLS, 9: "\t", 10: "\n"}


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
    return cut(one_line(redact(value[: _window(limit)])), limit)


def passage(value: str, limit: int) -> str:
    """A redacted passage of at most `limit` characters that keeps its lines."""
    return cut(block(redact(value[: _window(limit)])), limit)


def first_sentence(value: str, limit: int) -> str:
    """The opening statement of a passage, on one line."""
    line = ""
    for candidate in value.split("\n"):
        line = one_line(candidate).lstrip("#*->• ").rstrip("*: ")
        if line:
            break
    for mark in (". ", "! ", "? "):
        end = line.find(mark)
        if 20 <= end < limit:
            line = line[: end + 1]
    return cut(line, limit)


def _window(limit: int) -> int:
    # Redaction sees more than is kept, so that no secret is cut into something it cannot recognise.
    return limit * 4 + 4096
