"""Shell commands that are forms of one attempt."""

from __future__ import annotations


def is_variant(one: str, other: str) -> bool:
    """Whether two commands are forms of the same attempt."""
    words, others = _words(one), _words(other)
    if not words or not others:
        return False
    if words[0] != others[0]:  # the same thing done by another program: `python x.py` → `python3 x.py`
        return len(words) > 1 and words[1:] == others[1:]
    return len(set(words) & set(others)) >= 2 or len(words) <= 2 or len(others) <= 2


def _words(command: str) -> list[str]:
    """A command's words from its program on, without a leading `cd x &&` and assignments."""
    words = (command.rsplit(" && ", 1)[-1] if command.startswith("cd ") else command).split()
    while words and ("=" in words[0].partition("/")[0] or words[0] in ("sudo", "env", "time")):
        words.pop(0)
    return words
