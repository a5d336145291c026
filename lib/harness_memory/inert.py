"""Making remembered text inert: what reads like an order, a command or a tag when it is injected.

The stored file keeps its words; only what is shown to the model is changed, and as little as it takes.
Tags lose their angle bracket, slash commands and role names at the start of a line their power to be
taken for one, and a line that addresses the model is said to be a quotation.
"""

from __future__ import annotations

from .text import one_line

_ROLES = ("system:", "human:", "user:", "assistant:", "developer:", "tool:", "claude:")
# Pairs of words that together make a sentence an order to the model.
_ORDERS = (
    ("ignore", "instruction"),
    ("ignore", "previous"),
    ("disregard", "instruction"),
    ("forget", "instruction"),
    ("override", "instruction"),
    ("new", "instructions:"),
    ("you are now", ""),
    ("you must", ""),
    ("system prompt", ""),
    ("do not tell the user", ""),
    ("without asking", ""),
)
_QUOTED = "(quoted from a record) "


def line(text: str) -> str:
    """One line of a record, safe to show."""
    text = one_line_of(text)
    bare = text.lstrip("-*#> \t")
    lower = bare.lower()
    if bare.startswith("/") and bare[1:2].isalpha() and "/" not in bare[1:].partition(" ")[0]:  # no path
        text = text.replace("/", "∕", 1)
    if lower.startswith(_ROLES) or any(one in lower and other in lower for one, other in _ORDERS):
        return text[: len(text) - len(bare)] + _QUOTED + text[len(text) - len(bare) :]
    return text


def one_line_of(text: str) -> str:
    """Indentation and words of a line, without control characters and with its tags disarmed."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    words = one_line(text)
    return indent[:8] + (_disarmed(words) if "<" in words or "`" in words else words)


def _disarmed(text: str) -> str:
    parts = text.split("<")
    for number, part in enumerate(parts[1:], 1):
        if part[:1].isalpha() or part[:1] in "/!?":
            parts[number] = "‹" + part
        else:
            parts[number] = "<" + part
    return "".join(parts).replace("```", "'''")
