"""What a session's turns say, as the fields of its episode. Pure: text in, fields out."""

from __future__ import annotations

from ..base import settings
from . import units

_OVERHEAD_CHARS = 24  # of a unit beside its text


def of_text(text: str, by: str, turn: int) -> list[tuple[str, str]]:
    """(mark, text) of each unit of a redacted prompt ("u") or answer ("c"); a mark is "turn by weight"."""
    found = [unit for unit in units.split(text) if unit.kind not in (units.HEAD, units.ROW)]
    return [("%d %s %d" % (turn, by, weight(unit.text)), unit.text) for unit in found]


def weight(text: str) -> int:
    """How much a unit tells, 0 to 99: names, numbers, identifiers and length against courtesy."""
    words = text.split()
    told = min(len(words), 24)
    for word in words[1:]:
        bare = word.strip("`.,;:()\"'")
        if any(char in bare for char in "0123456789_/.") or bare[1:] != bare[1:].lower():
            told += 4
        elif bare[:1].isupper():
            told += 2
    return min(told, 99)


def fitted(marks: list[str], texts: list[str]) -> tuple[list[str], list[str]]:
    """The units that fit into an episode: what tells least goes first, evenly over the turns."""
    sizes: dict[str, int] = {}
    for mark, text in zip(marks, texts):
        turn = mark.partition(" ")[0]
        sizes[turn] = sizes.get(turn, 0) + len(text) + _OVERHEAD_CHARS
    if sum(sizes.values()) <= settings.PASSAGES_CHARS:
        return marks, texts
    share, room, left = 0, settings.PASSAGES_CHARS, len(sizes)
    for size in sorted(sizes.values()):  # small turns stay whole; the others have equal shares of the rest
        share = room // left
        if size > share:
            break
        room, left = room - size, left - 1
    dropped = set()
    order = sorted(range(len(marks)), key=lambda at: int(marks[at].split(" ")[2]))
    for at in order:
        turn = marks[at].partition(" ")[0]
        if sizes[turn] > share:
            sizes[turn] -= len(texts[at]) + _OVERHEAD_CHARS
            dropped.add(at)
    kept = [at for at in range(len(marks)) if at not in dropped]
    return [marks[at] for at in kept], [texts[at] for at in kept]


def passages(marks: list[str], texts: list[str]) -> list[dict[str, object]]:
    """The units as an episode holds them."""
    numbers: dict[str, int] = {}
    found: list[dict[str, object]] = []
    for mark, text in zip(marks, texts):
        turn, by = mark.split(" ")[:2]
        if text:  # else it was forgotten
            number = numbers.setdefault(turn, len(numbers))
            found.append({"turn": number, "by": "user" if by == "u" else "claude", "text": text})
    return found
