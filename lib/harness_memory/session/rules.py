"""Lasting rules in a prompt: the sentences that say how work is done from now on, in the user's own words.

A sentence is kept when the weights of its signs reach `_LEAST`. Signs that it lasts, binds or is about the way of
working count for it; signs that it belongs to this moment, to a program's behaviour or to pasted text count against it.
`rules.txt` holds all signs and weights. They are looked up in the sentence in lower case, with "^" where a clause
begins, and with marks such as "@asks" for what single words do not show. Reading ends where others speak.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import brief

_MOST = 12  # rules of one prompt
_LEAST, _VETO, _AGAIN = 2.5, -5.0, 2.0  # a rule; a clause that speaks for all; a repetition
_HEAD_CHARS = 80  # of a line, where it says what follows
_SHORTEST, _LONGEST = 14, 400  # characters of a clause that stands alone, and of a sentence
_READ_CHARS = 8000  # of a prompt's beginning, and as many of its end
_QUOTES = ('"', "“", "«", "「", "（", "(")  # or an aside
TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    with open(TABLES_FILE, encoding="utf-8") as _file:
        _rows = [line.partition(" ") for line in _file.read().replace("|\n     ", "|").split("\n")]
    _lists = {name: items.split("|") for name, _, items in _rows if name.isalpha()}
    _pairs = [(" %s " % pair.replace("=", " = ")).split("=") for pair in _lists["spellings"]]
    _spaced = [(name, items if name[-1:] == ":" else " %s " % items.replace("|", " | ")) for name, _, items in _rows]
    _weights = [(float(name.rstrip(":")), items.split("|")) for name, items in _spaced if name[:1] in ("+", "-")]
    TABLES = _lists, _pairs, _weights  # ":" after a weight: a language without blanks between words
_words, _spellings, _signs = TABLES  # named lists; what is written so is read so; weights with their signs


def stated(prompt: str) -> list[str]:
    """The rules in a prompt, each as the user put it."""
    sentences = _sentences(prompt)
    normals = [_normal(*each).replace(" ^ ", " ^ ^^ ^ ").replace(" and ", " and ^^ ^ ") for each in sentences]
    text = "\n".join(normals)  # in which every clause may begin a sentence
    signs = [(weight, [sign for sign in row if sign in text]) for weight, row in _signs if weight > 0]
    likely = [each for each, normal in zip(sentences, normals) if _score(normal, signs) >= _LEAST]
    signs += [(weight, [sign for sign in row if sign in text]) for weight, row in _signs if weight < 0 and likely]
    rules = [_rule(sentence, marks, signs) for sentence, marks in likely]
    return [*dict.fromkeys(brief(rule, settings.ITEM_CHARS) for rule in rules if rule)][:_MOST]


def _sentences(prompt: str) -> list[tuple[str, str]]:
    """What the user wrote, sentence by sentence, with marks of its place."""
    if len(prompt) > 2 * _READ_CHARS:
        prompt = prompt[:_READ_CHARS] + "\n" + prompt[-_READ_CHARS:]
    lines = [] if prompt.startswith((*_words["pasted"],)) else prompt.replace("’", "'").split("\n")
    place = " @undo" if prompt.lower().startswith((*_words["undoes"],)) else ""  # what was done was against a rule
    is_code, is_headed, found = False, False, []
    for line in lines:
        bare = line.strip()
        is_fence = bare[:3] in ("```", "~~~")
        is_code = is_code != is_fence
        if is_code or is_fence or not bare:
            continue
        low, heading, is_bold = bare.lower(), bare.strip("#* "), bare[:2] == "**" and bare.rstrip(":").endswith("**")
        is_heading = len(heading) < 60 and (bare[0] == "#" or is_bold or heading[-1:] in (":", "："))
        head = low if is_heading else low[:_HEAD_CHARS].rpartition(": ")[0]
        is_letter = low.partition(" ")[0] in _words["greetings"] and bare[-1] == "," and "claude" not in low
        if is_letter or any(word in head for word in _words["cited"]):
            break  # others speak from here on
        if is_heading:
            words = [word for word in low.strip("#*:： ").split() if word not in _words["modifiers"]]
            is_headed = len(words) == 1 and any(word in words[0] for word in _words["headings"])
            continue
        is_item = bare[0] in "-*•+0123456789"
        is_headed = is_headed and is_item
        if bare[0] in "><|$%@{}[✅❌" or line[:4] == "    " or any(mark in bare for mark in _words["code"]):
            continue
        bare = bare.lstrip("-*•+ ").lstrip("0123456789.) ") if is_item else bare
        marks = place + (" @rules" if is_headed else " @item" if is_item else "")
        pieces = bare.split('"')  # a quote is part of its sentence
        for stop in _words["stops"]:
            pieces[::2] = [piece.replace(stop, stop.rstrip() + "\n") for piece in pieces[::2]]
        parts = [part.strip() for part in '"'.join(pieces).split("\n")]
        for at in range(len(parts) - 1):  # "Going forward. Ask first."
            if parts[at].lower().rstrip(".,:。：").endswith((*_words["lasting"],)):
                parts[at : at + 2] = ["", parts[at] + " " + parts[at + 1]]
        found += [(part, marks) for part in parts if part[:1] not in ("", *_QUOTES) and part.count('"') % 2 == 0]
    return found


def _rule(sentence: str, marks: str, rows: list[tuple[float, list[str]]]) -> str:
    """The sentence without clauses before it that speak of this moment; "" when it is no rule."""
    past = 0.0  # what those clauses count against it
    while 3 < len(sentence) <= _LONGEST:
        ends = [(at, joint) for at, joint in ((sentence.find(joint), joint) for joint in _words["joints"]) if at > 0]
        at, joint = min(ends, default=(0, ""))
        rest = sentence[at + len(joint) :].strip()
        head = _score(_normal(sentence[:at], ""), rows) if at and len(rest) > _SHORTEST else 0.0
        if sentence[:at].lower() in _words["again"]:
            sentence, past = rest, past + _AGAIN
            continue
        if head <= _VETO:
            break
        can_stand = rest[:1] not in _QUOTES and (not rest.isascii() or rest.lower().split()[0] in _words["starters"])
        if head >= 0 or not can_stand:
            return sentence if _score(_normal(sentence, marks), rows) + past >= _LEAST else ""
        sentence, past = rest, past + head / 2
    return ""


def _score(normal: str, rows: list[tuple[float, list[str]]]) -> float:
    return sum([weight for weight, signs in rows if any(sign in normal for sign in signs)])


def _normal(text: str, marks: str) -> str:
    """Words in lower case, "^" where a clause begins, "^^" before all, marks behind; what is quoted is "_"."""
    parts = text.lower().replace(". ", " ^ ").replace("“", "`").replace("”", "`").replace('"', "`").split("`")
    parts[1:-1:2] = ["_"] * len(parts[1:-1:2])
    marked = [" ^ " if char in ",;:(—–，：" else char for char in "".join(parts)]
    chars = [char if char == " ^ " or char.isalnum() or char in "'-_." else " " for char in marked]
    bare = " %s " % "".join(chars)
    for old, new in _spellings:
        bare = bare.replace(old, new)
    words = [*filter(None, [word.strip(".'") for word in bare.split()])]
    while words[1:] and (words[0] == "^" or (words[0] in _words["openers"] and (words[0] != "no" or words[1] == "^"))):
        del words[0]
    return " ^^ ^ %s $ %s %s " % (" ".join(words), marks, " ".join(_marks(text, ["^^", "^", *words])))


def _marks(text: str, words: list[str]) -> list[str]:
    """What single words do not show: a question, a report, a habit and what it excludes, whose duty it is, a kind."""
    held, start, end = {*words}, [*words, ""][2], text.rstrip(" )\"'")[-1:]
    marks = ["@asks"] if end in ("?", "？") or text[:1] == "¿" or start in _words["questions"] else []
    is_work = not held.isdisjoint(_words["work"])
    is_program = not is_work and not held.isdisjoint(_words["program"])
    for before, word, after in zip(words, words[1:], [*words[2:], ""]):
        if after in _words["behaviour"] and word in (*_words["duties"], "always", "never"):
            marks += ["@behaves"]
        if word in ("always", "never"):
            is_third = after[-1:] == "s" and after[-2:] not in ("ss", "us") and before not in _words["binders"]
            is_past = after.endswith(("ed", "ing")) and not after.endswith(("eed", "allowed", "asked"))
            marks += ["@reports"] if is_third or is_past else []
        elif word in _words["duties"]:  # "the tooltip must", but "we must"
            marks += ["@product"] if is_program and before not in _words["binders"] else []
        elif word == "you" and before in _words["times"] and after in _words["deeds"]:
            marks += ["@habit"]
        elif word in _words["contrasts"] and after != "if" and (start == "we" or start in _words["work"]):
            marks += ["@contrast"]
    marks += ["@product"] if is_program and start in _words["general"] else []
    marks += ["@how-work"] if is_work and start in _words["manner"] else []
    is_kind = held.isdisjoint(_words["definite"])  # things of a kind, not this one
    is_norm = start in _words["work"] and not {*words[3:8]}.isdisjoint((*_words["duties"], *_words["norms"]))
    marks += ["@norm"] if is_norm and is_kind else []
    marks += ["@these"] if sum([word in _words["these"] for word in words]) > 1 else []
    marks += ["@exact"] if sum([any(map(str.isdigit, word)) for word in words]) > 1 else []
    is_plural = any(word[-1] == "s" and word[-2:] not in ("ss", "us", "is") and len(word) > 4 for word in words[3:])
    if is_kind and (is_plural or not held.isdisjoint(_words["universal"])):
        marks += ["@forbids" if start in _words["refusals"] else "@general"]
    return marks
