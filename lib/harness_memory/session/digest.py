"""What a session's turns say, as the fields of its episode. Pure: text in, fields out.

Each unit of a prompt or an answer (see `units`) has features: where it stands, what stands above it, its mood, which
classes of words it holds. `digest.json` has those words, and the coefficients that turn features into scores: is it a
headline, is it left to do, is it a decision, is it a fact. They were fitted once, to answers that people had marked.
"""

from __future__ import annotations

from ..base import jsontext, settings
from ..base.text import cut
from . import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_UNIT_CHARS = 74  # what a unit takes at least: a session of thousands of small turns keeps some hundred units
_PUNCTUATION: dict[int, str | None] = {code: " " for code in range(33, 127) if not chr(code).isalnum()}
_PUNCTUATION.update(
    {ord("'"): None, ord("’"): None, **dict.fromkeys(map(ord, "“”„«»—–…→·。、，：；！？（）「」"), " ")}
)

with open(__file__[: -len(".py")] + ".json", "rb") as _file:
    _TABLES: Any = jsontext.loads(_file.read())
CLASS: dict[str, list[str]] = {}
for _name, _words in _TABLES["words"].items():
    for _word in _words.split():
        CLASS.setdefault(_word, []).append(_name)
_PIECES: dict[str, list[str]] = _TABLES["pieces"]
_HEADLINE, _ASK, _LEFT, _DECISION, _FACT = _TABLES["coefficients"].values()
_LEFT_LEAST = -0.4
_KEPT_LEAST = -0.3  # of decisions and facts: a session has many, and its best three are shown
_TALK = frozenset(("self", "aside", "label tip", "question", units.ROW, units.HEAD))
_DEED = frozenset(("first why", "done early", "i"))
_CALLS = (
    *("question", "open", "undone", "i not", "pending", "later", "first do", "first may", "first ready", "ready do"),
    *("label later", "lead later", "lead must", "section later", "section must", "section caveat"),
)
_NOT_UNDONE = ("unchanged", "unrelated", "unexpected", "underlined", "unlimited", "unneeded", "undefined")
_EMPTY = frozenset(("filler", "stop", "you", "i", "me", "courtesy"))  # classes of words that say nothing of the work


def of_prompt(text: str, turn: int) -> dict[str, str]:
    """The marks of a prompt's units, by their texts."""
    found = [unit for unit in units.split(text) if unit.kind != units.ROW]
    marks = {}
    for unit, row in zip(found, features(found[:12], set()) + [[]] * len(found)):
        headline = sum(_ASK.get(name, 0.0) for name in row) if row else -9
        marks[unit.text] = "%d u %d %d -" % (turn, weight(unit.text, ""), headline * 10)
    return marks


def of_answer(text: str, turn: int, about: set[str], is_work: bool) -> dict[str, str]:
    """The marks of an answer's units, by their texts; `about` are stems of the prompt and of the files changed."""
    found = units.split(text)
    marks = {}
    for number, (unit, row) in enumerate(zip(found, features(found, about))):
        left = _score(_LEFT, row) + (0.0 if is_work else 0.1)
        kinds = ("w" if is_work else "") + ("s" if "done" in row or "done early" in row else "")
        is_call = any(name in row for name in _CALLS)  # else it says how things are
        if left > _LEFT_LEAST and is_call and unit.kind not in (units.DONE, units.HEAD):
            is_listed = unit.kind == units.ITEM and ("section later" in row or "lead later" in row)
            kinds += "lo" if unit.kind == units.OPEN or (is_listed and "explains" not in row) else "l"
            kinds += "" if {"blocked", "lead blocked", "section blocked"}.isdisjoint(row) else "b"
        elif _TALK.isdisjoint(row) and len(unit.text) > 24:
            decided, learned = _score(_DECISION, row), _score(_FACT, row)
            is_choice = decided > 0 or ("why" in row and not _DEED.isdisjoint(row))  # something done, and why
            sure = 5 * (max(decided, learned) - _KEPT_LEAST)
            kinds += "%s%d" % ("d" if is_choice else "f", min(sure, 9)) if sure > 0 else ""
        if "l" not in kinds and (unit.kind == units.ROW or (unit.kind == units.HEAD and "content 0" in row)):
            continue
        headline = sum(_HEADLINE.get(name, 0.0) for name in row) - (1.0 if "l" in kinds else 0.0)
        line = unit.text
        if line[-1:] in ":：" and unit.kind != units.HEAD:  # a lead alone says nothing
            after = found[number + 1] if number + 1 < len(found) else unit
            is_listed = after is not unit and after.kind not in (units.HEAD, units.ROW)
            line = cut("%s %s" % (line, after.text), settings.PASSAGE_CHARS) if is_listed else line
            headline -= 0.0 if is_listed else 0.5
        marks[line] = "%d c %d %d %s" % (turn, weight(line, kinds), headline * 10, kinds or "-")
    return marks


def _score(table: dict[str, float], row: list[str]) -> float:
    return table[""] + sum(table.get(name, 0.0) for name in row)


def weight(text: str, kinds: str) -> int:
    """How much a unit says, 0 to 99: names, numbers, identifiers and length against courtesy."""
    words = text.split()
    worth = min(len(words), 24) + 20 * ("d" in kinds or "l" in kinds) + 10 * ("f" in kinds)
    for word in words[1:]:
        bare = word.strip("`.,;:()\"'")
        if any(char in bare for char in "0123456789_/.") or bare[1:] != bare[1:].lower():
            worth += 4
        elif bare[:1].isupper():
            worth += 2
    return min(worth, 99)


def is_covered(text: str, others: Iterable[set[str]]) -> bool:
    """Whether one of the others says most of the words of a text."""
    own = stems(words_of(text))
    return len(own) > 1 and any(len(own & other) >= 0.6 * len(own) for other in others)


def settled(marks: list[str], texts: list[str], newer: Iterable[str], turn: int) -> list[str]:
    """The marks, now that a turn says more: only what was put down as open, and not taken up since, is still left."""
    later = [stems(words_of(text)) for text in newer]
    after = []
    for mark, text in zip(marks, texts):
        head, _, kinds = mark.rpartition(" ")
        if "l" in kinds and not mark.startswith("%d " % turn) and ("o" not in kinds or is_covered(text, later)):
            mark = "%s %s" % (head, kinds.replace("l", "").replace("o", "") or "-")
        after.append(mark)
    return after


def fitted(marks: list[str], texts: list[str]) -> tuple[list[str], list[str]]:
    """The units that fit into an episode: what says least goes first, evenly over the turns."""
    sizes: dict[str, int] = {}
    turns = [mark.partition(" ")[0] for mark in marks]
    costs = [max(len(text) + 24, _UNIT_CHARS) for text in texts]
    for turn, cost in zip(turns, costs):
        sizes[turn] = sizes.get(turn, 0) + cost
    room, share = settings.PASSAGES_CHARS, settings.PASSAGES_CHARS
    if sum(costs) <= room:
        return marks, texts
    room = share = room * 9 // 10  # so that not every turn has to sort
    excess = sum(costs) - room
    for number, size in enumerate(sorted(sizes.values())):  # small turns stay whole, the others share the rest
        share = room // (len(sizes) - number)
        if size > share:
            break
        room -= size
    dropped: set[int] = set()
    for at in sorted(range(len(marks)), key=lambda at: int(marks[at].split(" ")[2])):
        if excess > 0 and sizes[turns[at]] > share:
            sizes[turns[at]] -= costs[at]
            excess -= costs[at]
            dropped.add(at)
    kept = [at for at in range(len(marks)) if at not in dropped]
    return [marks[at] for at in kept], [texts[at] for at in kept]


def words_of(text: str) -> list[str]:
    return text.lower().translate(_PUNCTUATION).split()


def stems(words: list[str]) -> set[str]:
    """Words that carry content, by their beginning; of a language without blanks each two characters."""
    found = {word.rstrip("s")[:6] for word in words if len(word) > 2 and _EMPTY.isdisjoint(CLASS.get(word, ()))}
    for word in [word for word in words if len(word) > 3 and "\u3040" <= word[0] <= "\ud7a3"]:
        found.update([word[at : at + 2] for at in range(len(word) - 1)])
    return found


def features(found: list[units.Unit], about: set[str]) -> list[list[str]]:
    """The features of each unit of one text; `about` are the stems of what the turn was about."""
    words = [words_of(unit.text) for unit in found]
    content = [stems(each) for each in words]
    above: dict[str, set[str]] = {"": set()}
    for title in {title for unit in found for title in (unit.section, unit.lead)} - {""}:
        own = words_of(title)  # a long heading is a statement, not a title
        is_title = len(own) <= 7 and len(title) < 60 and title[-1:] not in "?？"
        above[title] = _classes(own, title) if is_title else set()
        if is_title and (
            {"still", "yet"}.intersection(own) or {"to", "do"}.issubset(own)
        ):  # "Still to do", "Not done yet"
            above[title].add("later")
    # A question closes the answer when nothing but a list follows it.
    last_text = max([at for at, unit in enumerate(found) if unit.kind == units.TEXT], default=0)
    if found and found[-1].kind == units.TEXT:
        last_text = min(last_text, max(0, len(found) - 3))
    rows = []
    for number, (unit, stems_here) in enumerate(zip(found, content)):
        left = len(found) - number
        is_last_line = unit.at == found[-1].at and len(found) > 1
        place = "start" if number == 0 else "first" if number < 3 else "half" if number * 2 < len(found) else "late"
        row = [unit.kind, place, "content %d" % min(len(stems_here) // 2, 2)]
        row += ["end %d" % left] if left <= 2 else []
        row += ["last line"] if is_last_line else []
        size = len(unit.text) * (2 if "\u3040" <= unit.text[len(unit.text) // 2 :][:1] <= "\ud7a3" else 1)
        row += ["size 0"] if size < 25 else ["size 2"] if 50 <= size < 160 else ["size 4"] if size >= 240 else []
        row += _worded(unit.text, words[number], is_last_line or left <= 2)
        if unit.text[-1:] in "?？":
            row += ["question", "closing question" if number >= last_text else "early question"]
        share = len(stems_here & about) / len(stems_here) if stems_here else 0.0
        row += ["about %d" % (2 if share < 0.67 else 3)] if share >= 0.34 else []
        row += ["section " + name for name in above[unit.section if unit.section != unit.text else ""]]
        row += ["lead " + name for name in above[unit.lead]]
        row += ["explains"] if not unit.is_first and ("section later" in row or "lead later" in row) else []
        rows.append(row)
    return rows


def _worded(text: str, words: list[str], is_late: bool) -> set[str]:
    """Features of the words alone."""
    found = _classes(words, text)
    for at, word in enumerate(words if "not" in found else ()):
        if "not" in CLASS.get(word, ()):
            near = words[at + 1 : at + 5]
            kinds = {name for each in near for name in CLASS.get(each, ())}
            is_work = not kinds.isdisjoint(("done", "do")) or any(each[-2:] == "ed" and len(each) > 4 for each in near)
            if "zero" in CLASS[word] and "later" in kinds:
                found.add("none left")
            elif is_work and ("zero" not in CLASS[word] or ("nothing" in CLASS[word] and "else" not in near)):
                found.add("undone")
    if any(word[:2] == "un" and word[-2:] == "ed" and len(word) > 7 and word not in _NOT_UNDONE for word in words):
        found.add("undone")
    found |= {"i not"} if "not" in found and "i" in found else set()
    if words[:1] == ["ill"] or (words[:2] == ["let", "me"] and words[2:3] != ["know"]):
        found.add("self")
    label, colon, rest = text.partition(": ")
    if colon and rest.strip() and len(label) < 40 and "`" not in label:
        found.update(["label " + name for name in _classes(words_of(label), label)])
    if "undone" in found:
        found.discard("done")
    elif words and ((words[0][-2:] == "ed" and len(words[0]) > 4) or "done" in _classes(words[:4], "")):
        found.add("done early")
    found.update(["first " + name for name in CLASS.get(words[0], ())] if words else [])
    found -= {"must", "may"} if "first this" in found else set()  # "this should show …" asks nobody for anything
    found |= {"ready do"} if "ready" in words and not found.isdisjoint(("do", "done")) else set()
    found |= {name + " last" for name in ("must", "later") if is_late and name in found}
    signs = (("colon", text[-1:] in ":："), ("code", "`" in text), ("number", any(map(str.isdigit, text))))
    found.update([name for name, is_there in signs if is_there])
    found |= {"aside"} if text[:1] == "(" else {"ticked"} if any(mark in text for mark in "✅✓✔☑") else set()
    return found


def _classes(words: list[str], text: str) -> set[str]:
    """The classes of words that a text holds."""
    found = {name for word in words for name in CLASS.get(word, ())}
    if "to" in words and ("has" in words or "have" in words):
        found.add("must")
    if not text.isascii():
        found.update([name for name, pieces in _PIECES.items() if any(piece in text for piece in pieces)])
    return found
