"""Commands that failed and then passed in another form: what the next session need not find out again."""

from __future__ import annotations


def put_right(failed: list[str], command: str) -> str:
    """The failed command that this one, which passed, is another form of; "" when there is none.

    It is taken out of `failed`, as is one that simply passed at last.
    """
    for earlier in reversed(failed):
        if earlier == command:
            failed.remove(earlier)
            return ""
        if is_variant(earlier, command):
            failed.remove(earlier)
            return earlier
    return ""


def is_variant(one: str, other: str) -> bool:
    words, others = _words(one), _words(other)
    if not words or not others:
        return False
    if words[0] != others[0]:
        # The same thing done by another program: `python x.py` → `python3 x.py`.
        return len(words) > 1 and words[1:] == others[1:]
    shared = len(set(words) & set(others))
    return shared >= 2 or len(words) <= 2 or len(others) <= 2


def _words(command: str) -> list[str]:
    """A command's words from its program on, without a leading `cd x &&` and assignments."""
    last = command.rsplit(" && ", 1)[-1] if command.startswith("cd ") else command
    words = last.split()
    while words and ("=" in words[0].partition("/")[0] or words[0] in ("sudo", "env", "time")):
        words.pop(0)
    return words
