"""What a rule or fact says, apart from how it is said: to tell that two are the same, and to name one."""

from __future__ import annotations

from ..session.rules import WORDS

_PAUSES, _EDGES = ",;:.!?", ",;:.!?\"'`()[]“”«»*-–—·"
_FRAMES = sorted([row.split() for name in ("frame", "lasting", "again") for row in WORDS[name]], key=len)[::-1]


def telling(text: str) -> list[tuple[str, str]]:
    """Its words that say something, each with the "not" or "never" that rules it out, or ""."""
    found: list[tuple[str, str]] = []
    rest, denial = text.replace("’", "'").split(), ""
    low = [word.strip(_EDGES).lower() for word in rest]
    while rest:
        size = next((len(frame) for frame in _FRAMES if frame[0] == low[0] and low[: len(frame)] == frame), 0)
        is_opener = not found and low[0] in WORDS["openers"] and (low[0] != "no" or rest[0][-1] in _PAUSES)
        if low[0] in WORDS["negations"] and not is_opener and not size:
            denial = low[0]
        elif low[0] and not size and not is_opener and low[0] not in WORDS["filler"]:
            found.append((denial, rest[0].strip(_EDGES)))
        denial = "" if rest[max(size, 1) - 1][-1] in _PAUSES or not low[0] else denial
        del rest[: size or 1], low[: size or 1]
    return found


def gist(text: str) -> frozenset[str]:
    """The words by which two rules are the same; "!" stands before those that it rules out."""
    return frozenset("!" * bool(denial) + (word.lower().rstrip("s") or word) for denial, word in telling(text))
