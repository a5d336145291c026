"""Lasting rules in a prompt: the sentences that say how work is done from now on, in the user's own words.

A sentence is kept when the weights of its signs in `rules.txt` reach `_LEAST`: that it lasts, binds or is about the way
of working counts for it; that it belongs to this moment, to a program or to pasted text, against it. They are looked up
in lower case, with "^" where a clause begins, and with marks such as "@asks". Reading ends where others speak.
A rule below `_SURE`, or of a team lead, ends with its doubt in parentheses: it waits for review, outside of starts.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import brief
from .episode import DOUBTS

_MOST, _MANY, _READ_CHARS = 12, 10, 8000  # rules of a prompt; sentences; characters of its beginning and of its end
_LEAST, _SURE, _AGAIN, _LASTS = 2.5, 3.25, 2.0, 2.0  # a rule; one without doubt; a repetition; a lead
_HEAD_CHARS, _SHORTEST, _LONGEST = 80, 14, 400  # of what leads a line, a clause that stands alone, a sentence
_QUOTES, _ENDS = ('"', "“", "«", "「", "（", "("), dict.fromkeys(",;:(—–，：^", " ^ ")  # or asides; where clauses end
TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: list[tuple[str, str]] = globals().get("TABLES", [])  # a hook has them already, see `bundle`
if not TABLES:
    with open(TABLES_FILE, encoding="utf-8") as _file:
        _rows = [line.partition(" ") for line in _file.read().replace("|\n     ", "|").split("\n")]
    _rows = [row for row in _rows if row[0].isalpha() or row[0][:1] in ("+", "-")]  # with ":": words without blanks
    _spaced = [row[2] if ":" in row[0] or row[0].isalpha() else " %s " % row[2].replace("|", " | ") for row in _rows]
    TABLES = [(row[0].rstrip(":"), items) for row, items in zip(_rows, _spaced)]
WORDS = {name: items.split("|") for name, items in TABLES if name.isalpha()}
_turns = {"always", "never", "stop", "before", "you", *WORDS["duties"], *WORDS["contrasts"]}  # words of the marks
_spellings = [(" %s " % pair.replace("=", " = ")).split("=") for pair in WORDS["spellings"]]  # written so, read so


def stated(prompt: str) -> list[str]:
    """The rules in a prompt, each as the user put it."""
    sentences = _sentences(prompt)
    normals = [_normal(*each).replace(" ^ ", " ^ ^^ ^ ").replace(" and ", " and ^^ ^ ") for each in sentences]
    signs = _present("+", "\n".join(normals))  # in which every clause may begin a sentence
    likely = [each for each, normal in zip(sentences, normals) if _score(normal, signs) >= _LEAST]
    signs += _present("-", "\n".join(normals)) if likely else []
    found = [_rule(sentence, marks, signs) for sentence, marks in likely][::-1]  # of two, the first
    shown = {brief(rule, settings.ITEM_CHARS): score for rule, score in found if score >= _LEAST}
    doubt = " (%s)" % DOUBTS[prompt.startswith((*WORDS["lead"],))]
    is_role = prompt.startswith((*WORDS["lead"], *WORDS["roles"]))  # rarely the user's own words
    return [rule + doubt * (is_role or score < _SURE) for rule, score in shown.items()][::-1][:_MOST]


def _present(side: str, text: str) -> list[tuple[float, list[str]]]:
    """The signs that a text holds, with their weights."""
    rows = [(name, [sign for sign in items.split("|") if sign in text]) for name, items in TABLES if name[0] == side]
    return [(float(name), signs) for name, signs in rows if signs]


def _sentences(prompt: str) -> list[tuple[str, str]]:
    """What the user wrote, sentence by sentence, with marks of its place."""
    prompt = prompt if len(prompt) <= 2 * _READ_CHARS else prompt[:_READ_CHARS] + "\n" + prompt[-_READ_CHARS:]
    is_lead, is_role, is_foreign = [prompt.startswith((*WORDS[kind],)) for kind in ("lead", "roles", "pasted")]
    lines = [] if is_foreign and not is_lead else prompt.replace("’", "'").split("\n")
    is_code = is_headed = is_spaced = is_spec = False
    found: list[tuple[str, str]] = []
    for line in lines:
        bare = line.strip()
        is_tag = bare[:1] == "<" and all(mark + bare.strip("</") in prompt for mark in ("<", "</"))  # of what is given
        is_fence = is_tag or bare[:3] in ("```", "~~~")
        is_code = is_code != is_fence
        is_spaced = is_spaced or not (bare or not found or found[-1][1][-6:] != "@rules")
        if is_code or is_fence or not bare or bare[0] in "><|$%@{}[✅❌":
            continue
        low, heading, is_bold = bare.lower(), bare.strip("#* "), bare[:2] == "**" and bare.rstrip(":").endswith("**")
        is_heading = len(heading) < 60 and (bare[0] == "#" or is_bold or heading[-1:] in (":", "："))
        head = low if is_heading else low[:_HEAD_CHARS].rpartition(": ")[0]
        is_letter = low.partition(" ")[0] in WORDS["greetings"] and bare[-1] == "," and "claude" not in low
        if is_letter or low.startswith((*WORDS["mail"],)) or any(word in head for word in WORDS["cited"]):
            break  # others speak from here on
        is_list, lead = "1. " in bare and " 2. " in bare, low.partition("1. ")[0].strip()
        is_item = bare[0] in "-*•+0123456789" and not is_heading
        if lead and not is_item:  # to a list that is not said to last: of a plan, or of what something is to be
            is_spec = lead[-1] == ":" and " " in lead and _score(_normal(lead, ""), _present("+", lead)) < _LASTS
            is_spec = is_spec or not {*lead.replace(":", " ").split()}.isdisjoint(WORDS["works"])
        if is_heading:
            is_headed, is_spaced = heading.count(" ") < 7 and any(word in low for word in WORDS["headings"]), False
            continue
        is_headed, is_spaced = is_headed and (is_item or not is_spaced), False
        is_pasted = line[:4] == "    " or any(mark in bare.replace("://", ":") for mark in WORDS["code"])
        is_chore = is_lead and not {word.strip(".,:()`") for word in low.split()}.isdisjoint(WORDS["task"])
        if is_pasted or is_chore or ((is_role or is_lead) and not is_headed):
            continue  # of a role, only the rules count, and not those of the task alone
        bare, is_item = bare.lstrip("-*•+ ").lstrip("0123456789.) ") if is_item else bare, is_item or is_list
        for number in range(1, 10) if is_list else ():
            bare = bare.replace(" %d. " % number, "\n")
        marks = " @lead" * is_lead + " @rules" if is_headed else " @item" + " @spec" * is_spec if is_item else ""
        pieces = bare.replace("**", "").split('"')  # a quote is part of its sentence
        for stop in WORDS["stops"]:
            pieces[::2] = [piece.replace(stop, stop.rstrip() + "\n") for piece in pieces[::2]]
        parts = [part.strip() for part in '"'.join(pieces).split("\n")]
        for at in range(len(parts) - 1):  # "Going forward. Ask first."
            if parts[at].lower().rstrip(".,:。：").endswith((*WORDS["lasting"],)):
                parts[at : at + 2] = ["", parts[at] + " " + parts[at + 1]]
        found += [(part, marks) for part in parts if part[:1] not in ("", *_QUOTES) and part.count('"') % 2 == 0]
    bans = [part.lower().startswith((*WORDS["bans"],)) for part, _ in found]
    is_task = len(found) > max(2, 2 * sum(bans) - 1)  # what it forbids is of what it orders
    size = " @long" * (len(found) > _MANY)
    return [(part, marks + size + " @ban" * (is_ban and is_task)) for (part, marks), is_ban in zip(found, bans)]


def _rule(sentence: str, marks: str, rows: list[tuple[float, list[str]]]) -> tuple[str, float]:
    """The sentence without clauses before it that speak of this moment, and its weight."""
    past, (opener, _, saying) = 0.0, sentence.partition(", ")  # what those clauses count against it
    if opener.lower() in WORDS["openers"] and saying.lower().startswith((*WORDS["again"],)):
        sentence = saying  # "No, I told you: …"
    while 3 < len(sentence) <= _LONGEST:
        ends = [(sentence.find(joint), -len(joint)) for joint in WORDS["joints"]]
        at, length = min([end for end in ends if end[0] > 0], default=(0, 0))
        rest = sentence[at - length :].strip()
        head = _score(_normal(sentence[:at], ""), rows) if at and len(rest) > _SHORTEST else 0.0
        if sentence[:at].lower() in WORDS["again"]:
            sentence, past = rest, past + _AGAIN
            continue
        if head >= 0 or rest[:1] in _QUOTES or (rest.isascii() and rest.lower().split()[0] not in WORDS["starters"]):
            return sentence, _score(_normal(sentence, marks), rows) + past
        sentence, past = rest, past + head / 2
    return "", 0.0


def _score(normal: str, rows: list[tuple[float, list[str]]]) -> float:
    return sum([weight for weight, signs in rows if any(sign in normal for sign in signs)])


def _normal(text: str, marks: str) -> str:
    """Words in lower case, "^" where a clause begins, "^^" before all, marks behind; what is quoted is "_"."""
    parts = text.lower().replace(". ", " ^ ").replace("“", "`").replace("”", "`").replace('"', "`").split("`")
    parts[1:-1:2] = ["_"] * len(parts[1:-1:2])
    bare = " %s " % "".join([c if c.isalnum() or c in "'-_." else _ENDS.get(c, " ") for c in "".join(parts)])
    for old, new in _spellings:
        bare = bare.replace(old, new)
    words = [*filter(None, [word.strip(".'") for word in bare.split()])]
    while words[1:] and (words[0] == "^" or (words[0] in WORDS["openers"] and (words[0] != "no" or words[1] == "^"))):
        del words[0]
    return " ^^ ^ %s $ %s %s " % (" ".join(words), marks, " ".join(_marks(text, ["^^", "^", *words])))


def _marks(text: str, words: list[str]) -> list[str]:
    """What single words do not show: a question, a report, what it excludes, whose duty it is, a kind."""
    held, start, end = {*words}, [*words, ""][2], text.rstrip(" )\"'")[-1:]
    marks = ["@asks"] if end in ("?", "？") or text[:1] == "¿" or start in WORDS["questions"] else []
    is_work = not held.isdisjoint(WORDS["work"])
    is_program = not is_work and not held.isdisjoint(WORDS["program"])
    for before, word, after in [each for each in zip(words, words[1:], [*words[2:], ""]) if each[1] in _turns]:
        marks += ["@behaves"] if after in WORDS["behaviour"] and word in (*WORDS["duties"], "always", "never") else []
        marks += ["@habit"] if word == "you" and before in WORDS["whens"] and after not in WORDS["states"] else []
        marks += ["@" + word] if word in ("stop", "before") and after[-3:] == "ing" else []
        if word in ("always", "never"):
            is_third = after[-1:] == "s" and after[-2:] not in ("ss", "us") and before not in WORDS["binders"]
            is_past = after.endswith(("ed", "ing")) and not after.endswith(("eed", "allowed", "asked"))
            marks += ["@reports"] if is_third or is_past else []
        elif word in WORDS["duties"]:  # "the tooltip must", but "we must"
            marks += ["@product"] if is_program and before not in WORDS["binders"] else []
        elif word in WORDS["contrasts"] and after != "if" and start in ("we", *WORDS["work"]):
            marks += ["@contrast"]
    marks += ["@how-work"] if is_work and start in WORDS["manner"] else []
    is_kind = held.isdisjoint(WORDS["definite"])  # things of a kind, not this one
    marks += ["@norm"] if is_kind and start in WORDS["work"] and {*words[3:8]} & {*WORDS["norms"]} else []
    marks += ["@these"] if sum([word in WORDS["these"] for word in words]) > 1 else []
    is_plural = any(word[-1] == "s" and word[-2:] not in ("ss", "us", "is") and len(word) > 4 for word in words[3:])
    if is_kind and (is_plural or not held.isdisjoint(WORDS["universal"])):
        marks += ["@forbids" if start in WORDS["refusals"] else "@general"]
    return marks
