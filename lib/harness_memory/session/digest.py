"""What a session's turns say, as the fields of its episode. Pure: text in, fields out.

Each unit of a prompt or an answer (see `units`) has features: where it stands, what stands above it, its mood, which
classes of words it holds (see `cues`). A table of coefficients turns them into scores: is it a headline, is it left to
do, is it a decision, is it a fact. The coefficients were fitted once, to answers that people had marked.
"""

from __future__ import annotations

from ..base import settings
from . import units
from .cues import CLASS, PIECES

_OVERHEAD_CHARS = 24  # of a unit beside its text
_PUNCTUATION = {code: " " for code in range(33, 127) if not chr(code).isalnum()}
_PUNCTUATION.update({ord("'"): None, ord("’"): None, **dict.fromkeys(map(ord, "“”„«»—–…→·。、，：；！？（）「」"), " ")})
_QUANTITIES = frozenset("no none nothing without keine kein ohne aucun sans sin ningún sem nenhum geen нет без".split())
_SPEAKERS = frozenset("i ive id ich je ik я eu yo io".split())


def words_of(text: str) -> list[str]:
    return text.lower().translate(_PUNCTUATION).split()


def stems(words: list[str]) -> set[str]:
    """Words that carry content, by their beginning."""
    return {word[:6] for word in words if len(word) > 2 and "filler" not in CLASS.get(word, ())}


def features(found: list[units.Unit], about: set[str]) -> list[list[str]]:
    """The features of each unit of one text; `about` are the stems of what the turn was about."""
    words = [words_of(unit.text) for unit in found]
    content = [stems(each) for each in words]
    counts: dict[str, int] = {}
    for each in content:
        for stem in each:
            counts[stem] = counts.get(stem, 0) + 1
    above: dict[str, set[str]] = {"": set()}
    for title in {title for unit in found for title in (unit.section, unit.lead)} - {""}:
        own = words_of(title)  # a long heading is a statement, not a title
        above[title] = _classes(own, title) if len(own) <= 7 and len(title) < 60 else set()
    # A question closes the answer when nothing but a list follows it.
    last_text = max([at for at, unit in enumerate(found) if unit.kind == units.TEXT], default=0)
    if found and found[-1].kind == units.TEXT:
        last_text = min(last_text, max(0, len(found) - 3))
    rows = []
    for number, unit in enumerate(found):
        told = content[number]
        left = len(found) - number
        is_last_line = unit.at == found[-1].at and len(found) > 1
        place = "start" if number == 0 else "first" if number < 3 else "half" if number * 2 < len(found) else "late"
        row = [unit.kind, place, "told %d" % min(len(told) // 2, 2)]
        row += ["end %d" % left] if left <= 2 else []
        row += ["last line"] if is_last_line else []
        size = len(unit.text)
        row += ["size 0"] if size < 25 else ["size 2"] if 50 <= size < 160 else ["size 4"] if size >= 240 else []
        row += _worded(unit.text, words[number], is_last_line or left <= 2)
        if unit.text[-1:] in "?？":
            row += ["question", "closing question" if number >= last_text else "early question"]
        share = len(told & about) / len(told) if told else 0.0
        row += ["about %d" % (2 if share < 0.67 else 3)] if share >= 0.34 else []
        row += ["recurs"] if told and sum(counts[stem] > 1 for stem in told) >= 0.67 * len(told) else []
        row += ["section " + name for name in above[unit.section if unit.section != unit.text else ""]]
        row += ["lead " + name for name in above[unit.lead]]
        rows.append(row)
    return rows


def _worded(text: str, words: list[str], is_late: bool) -> set[str]:
    """Features of the words alone."""
    found = _classes(words, text)
    for at, word in enumerate(words if "not" in found else ()):
        if "not" in CLASS.get(word, ()):
            near = words[at + 1 : at + 5]
            kinds = {name for each in near for name in CLASS.get(each, ())}
            if word in _QUANTITIES:
                found |= {"none left"} if "later" in kinds else set()
            elif not kinds.isdisjoint(("done", "do")) or any(each[-2:] == "ed" and len(each) > 4 for each in near):
                found.add("undone")
    if "not" in found and not _SPEAKERS.isdisjoint(words):
        found.add("i not")
    label, colon, rest = text.partition(":")
    if colon and rest.strip() and len(label) < 40:
        found.update(["label " + name for name in _classes(words_of(label), label)])
    if "undone" in found:
        found.discard("done")
    elif words and ((words[0][-2:] == "ed" and len(words[0]) > 4) or "done" in _classes(words[:4], "")):
        found.add("done early")
    found.update(["first " + name for name in CLASS.get(words[0], ())] if words else [])
    found |= {"you may"} if "you" in found and not found.isdisjoint(("may", "must")) else set()
    found |= {"must last"} if "must" in found and is_late else set()
    signs = (("colon", text[-1:] in ":："), ("code", "`" in text), ("number", any(map(str.isdigit, text))))
    found.update([name for name, is_there in signs if is_there])
    if not text.isascii():
        found |= {"ticked"} if any(mark in text for mark in "✅✓✔☑") else set()
        found |= {"warned"} if any(mark in text for mark in "❌⚠✗🔴") else set()
    return found


def _classes(words: list[str], text: str) -> set[str]:
    """The classes of words that a text holds."""
    found = {name for word in words for name in CLASS.get(word, ())}
    if "to" in words and ("has" in words or "have" in words):
        found.add("must")
    if not text.isascii():
        found.update([name for name, pieces in PIECES.items() if any(piece in text for piece in pieces)])
    return found
