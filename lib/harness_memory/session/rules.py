"""Lasting rules in a prompt: the sentences that say how work is done from now on, in the user's own words.

A sentence is kept when its score reaches `_LEAST`: signs that it lasts, binds or generalises count for it; signs that
it belongs to this moment, asks or reports count against it. `rules.txt` and `_shape` are the whole judgement. A sign
is a piece of the sentence in lower case, with "^" where a clause begins, and blanks around words where a language has
them. What was pasted (code, logs, quotations, plans) is not the user's word.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import brief

_MOST = 12  # rules of one prompt
_LEAST = 3.0
_VETO = -5.0  # such a clause speaks for its whole sentence
_HEADED = 3.0  # for an item of a list of rules
_IN_PAGE = -1.0  # for a line of a long, structured prompt
_PAGE_LINES = 20
_SHORT = 24  # words; rules are
_LONGEST = 400  # characters of a sentence
_READ_CHARS = 8000  # of a prompt's beginning, and as many of its end
_QUOTES = ('"', "“", "«", "「")
_NEGATED = ((["don't"], 2), (["dont"], 2), (["do", "not"], 3), (["avoid"], 1), (["we", "don't"], 3))  # and steps to go
_EXTRA = " henceforth such in our project in our repo in our repository in our codebase"  # what spellings may become
_words: dict[str, list[str]] = {}  # the named lists of the table


def stated(prompt: str) -> list[str]:
    """The rules in a prompt, each as the user put it."""
    rows = _rows(" ".join(prompt.lower().replace("’", "'").split()) + _EXTRA)
    rules = [_rule(sentence, place, rows) for sentence, place in _sentences(prompt)]
    return [*dict.fromkeys(brief(rule, settings.ITEM_CHARS) for rule in rules if rule)][:_MOST]


def _rows(text: str) -> list[tuple[float, list[str]]]:
    """The rows of the table, with the signs that a text may hold; the named lists go to `_words`."""
    with open(__file__.rpartition(".")[0] + ".txt", encoding="utf-8") as file:
        lines = [line for line in file.read().replace("|\n     ", "|").split("\n") if line[:1] not in ("", "#")]
    rows = []
    for name, _, items in [line.partition(" ") for line in lines]:
        if name[0] in "+-":
            signs = [sign for sign in items.split("|") if sign.lstrip("^* ").partition(" ^")[0] in text]
            rows.append((float(name), [_sign(sign) for sign in signs]))
        else:
            _words[name] = items.split("|")
    return [row for row in rows if row[1]]


def _sentences(prompt: str) -> list[tuple[str, float]]:
    """What the user wrote, sentence by sentence, with what its place adds to its score."""
    if len(prompt) > 2 * _READ_CHARS:
        prompt = prompt[:_READ_CHARS] + "\n" + prompt[-_READ_CHARS:]
    lines = [] if prompt.startswith(tuple(_words["pasted"])) else prompt.replace("’", "'").split("\n")
    place = _IN_PAGE if len(lines) > _PAGE_LINES else 0.0
    is_code = is_headed = False
    found = []
    for line in lines:
        bare = line.strip()
        is_fence = bare[:3] in ("```", "~~~")
        is_code = is_code != is_fence
        if is_code or is_fence or not bare:
            continue
        if _is_heading(bare):
            words = [word for word in bare.lower().strip("#*:： ").split() if word not in _words["modifiers"]]
            is_headed = len(words) == 1 and any(word in words[0] for word in _words["headings"])
            continue
        is_item = bare[0] in "-*•+0123456789"
        is_headed = is_headed and is_item
        if bare[0] in "><|$%@{}[" or line[:4] == "    " or any(mark in bare for mark in _words["code"]):
            continue
        bare = bare.lstrip("-*•+ ").lstrip("0123456789.) ") if is_item else bare
        for stop in _words["stops"]:
            bare = bare.replace(stop, stop.rstrip() + "\n")
        sentences = [sentence.strip() for sentence in bare.split("\n") if sentence.strip()[:1] not in _QUOTES]
        found += [(sentence, _HEADED if is_headed else place) for sentence in sentences]
    return found


def _is_heading(line: str) -> bool:
    bare = line.strip("#* ")
    is_bold = line[:2] == "**" and line.rstrip(":").endswith("**")
    return len(bare) < 60 and (line[0] == "#" or is_bold or bare[-1:] in (":", "："))


def _rule(sentence: str, place: float, rows: list[tuple[float, list[str]]]) -> str:
    """The sentence without clauses before it that speak of this moment; "" when it is no rule."""
    while 3 < len(sentence) <= _LONGEST:
        ends = [(at, joint) for at, joint in ((sentence.find(joint), joint) for joint in _words["joints"]) if at > 0]
        at, joint = min(ends, default=(0, ""))
        rest = sentence[at + len(joint) :].strip()
        head = _score(sentence[:at], rows) if at and len(rest) >= 8 else 0.0
        if head <= _VETO:
            break
        if head >= 0 or not _begins(rest):
            return sentence if _score(sentence, rows) + place >= _LEAST else ""
        sentence = rest
    return ""


def _begins(clause: str) -> bool:
    """Whether a clause begins as rules do, and can stand alone."""
    words = _normal(clause)
    return clause[:1] not in _QUOTES and (not clause.isascii() or (len(words) > 2 and words[2] in _words["starters"]))


def _score(text: str, rows: list[tuple[float, list[str]]]) -> float:
    words = _normal(text)
    normal = " %s " % " ".join(words)
    return sum([weight for weight, signs in rows if any(sign in normal for sign in signs)]) + _shape(text, words)


def _sign(sign: str) -> str:
    is_spaced = all(char < "\u3000" for char in sign)  # not so Chinese, Japanese, Korean
    return sign if not is_spaced else "%s%s " % ("" if sign[:1] in "^*" else " ", sign.lstrip("*"))


def _shape(text: str, words: list[str]) -> float:
    """What signs do not show: a question, a report in the third person, a habit, an object at hand, names of code."""
    score = -4.0 if text.rstrip(" )\"'").endswith(("?", "？")) or text[:1] == "¿" else 0.0
    for at, (before, word, after) in enumerate(zip(words, words[1:], [*words[2:], ""]), 1):
        if word in ("always", "never"):
            is_third = after[-1:] == "s" and after[-2:] not in ("ss", "us") and before not in _words["binders"]
            score -= 4.0 if is_third or (after[-2:] == "ed" and after[-3:] != "eed" and after != "allowed") else 0.0
        elif (before, word) == ("^", "we") and after not in _words["once"] and after[-2:] != "ed":
            score += 1.5
        elif word in ("must", "should"):  # "tests must", but "the tooltip must"
            score += (1.0 if before[-1:] == "s" else 0.0) + (1.0 if before in _words["work"] else 0.0)
            score -= 2.0 if words[max(0, at - 2) : at - 1] == ["the"] else 0.0
        elif (before, word) == ("^", "stop") and after[-3:] == "ing":
            score += 3.0
    for at in [at for at, word in enumerate(words) if word == "^"]:
        steps = next((steps for no, steps in _NEGATED if words[at + 1 : at + 1 + len(no)] == no), 0)
        thing = words[at + 1 + steps : at + 2 + steps]
        if steps and thing and thing[0] not in _words["definite"]:
            score += 1.5
            break
    names = [word for word in text.split() if word.isascii() and word[1:] not in (word[1:].lower(), word[1:].upper())]
    if words[2:3] and words[2] in _words["manner"] and len(words) < _SHORT and not {*words}.isdisjoint(_words["work"]):
        score += 1.0  # how commits, tests, comments, answers are to be
    definite = sum([word in ("the", "this", "that", "these", "those", "it") for word in words])
    score += 0.5 if not definite else -0.5 if definite > 1 else 0.0
    score -= 1.0 if len(words) > 2 * _SHORT else 0.0
    return score - 0.5 * max(0, len(names) - 1)


def _normal(text: str) -> list[str]:
    """Words in lower case, "^" where a clause begins, "^^" before all; code in backquotes is one word."""
    parts = text.lower().split("`")
    parts[1::2] = ["code"] * len(parts[1::2])
    marked = [" ^ " if char in ",;:(—–，：" else char for char in "".join(parts)]
    chars = [char if char == " ^ " or char.isalnum() or char in "'-_." else " " for char in marked]
    bare = " %s " % "".join(chars)
    for old, _, new in [spelling.partition("=") for spelling in _words["spellings"]]:
        bare = bare.replace(" %s " % old, " %s " % new)
    words = [*filter(None, [word.strip(".'") for word in bare.split()])]
    if "please" in words:
        words = [*[word for word in words if word != "please"], "please"]
    while words[1:] and (words[0] == "^" or (words[0] in _words["openers"] and (words[0] != "no" or words[1] == "^"))):
        del words[0]
    return ["^^", "^", *words]
