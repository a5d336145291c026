"""What a session's turns say, as statements that the fields of its episode are made of. Pure: text in, statements out.

Each unit of a prompt or an answer (see `units`) has features: where it stands, what stands above it, its mood, which
classes of words it holds, and which of these meet. `digest.json` has the words, the features that count together, and
the coefficients, in tenths, that turn features into scores: is it a headline, is it left to do, is it a decision, is
it a fact. They were fitted to answers that people had marked.
"""

from __future__ import annotations

from ..base import jsontext, settings
from ..base.text import cut
from ..base.typing import Any, Callable, Iterable
from . import units

_STEPS = ("ill ", "now i ", "now ill ", "now lets ", "lets ", "actually i ")  # Claude to itself
_ZERO = 1024  # a character above all that JSON escapes
_UNIT_CHARS = 100  # what a unit takes at least: a session of thousands of small turns keeps two hundred units
_PUNCTUATION: dict[int, str | None] = {code: " " for code in range(33, 127) if not chr(code).isalnum()}
_PUNCTUATION.update(dict.fromkeys(map(ord, "“”„«»—–…→·。、，：；！？（）「」"), " "))
_PUNCTUATION[ord("'")] = _PUNCTUATION[ord("’")] = None
_ACCENTS = str.maketrans("àáâãäçèéêëìíîïñòóôõöùúûü", "aaaaaceeeeiiiinooooouuuu")
_LINKS = frozenset(("now", "then", "and", "also", "just"))  # before the first word that says something
TABLES_FILE = __file__[: -len(".py")] + ".json"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    with open(TABLES_FILE, "rb") as _file:
        TABLES = jsontext.loads(_file.read())
    _names: dict[str, tuple[str, ...]] = {}
    for _name, _words in TABLES.pop("words").items():
        _folded = [word.translate(_ACCENTS) for word in _words.split() if len(word) > 4]  # as people type in haste
        _names.update([(word, (*_names.get(word, ()), _name)) for word in dict.fromkeys([*_words.split(), *_folded])])
    _shared = {names: names for names in _names.values()}  # a hook reads each of them once
    TABLES["class"] = {word: _shared[names] for word, names in _names.items()}
    TABLES["together"] = [(name, frozenset(need), frozenset(bar)) for name, (need, bar) in TABLES["together"].items()]
CLASS: dict[str, tuple[str, ...]] = TABLES["class"]
_PIECES: dict[str, list[str]] = TABLES["pieces"]
_TALK, _LATER, _BLOCKED, _CHOSEN, _OFFERED, _EMPTY, _OPEN, _BARE, _TOLD = map(frozenset, TABLES["groups"].values())


class Statement:
    """A sentence, heading or list item, as `capture` keeps it.

    `by` is "u" (the user) or "c" (Claude); `weight` how much it says; `headline` and `sure` how well it would do as a
    headline, and as a decision or fact, in tenths. `kinds` has a letter for each thing it is: "l" left to do, "o" put
    down as open, "b" blocked, "d" decision, "f" fact, "r" rule, "s" work that is done, "w" of a turn with changes.
    """

    __slots__ = ("by", "headline", "kinds", "sure", "text", "turn", "weight")

    def __init__(self, turn: int, by: str, weight: int, headline: int, sure: int, kinds: str, text: str) -> None:
        self.turn, self.by, self.weight, self.headline, self.sure = turn, by, weight, headline, sure
        self.kinds, self.text = kinds, text


def packed(statements: list[Statement]) -> list[Any]:
    """Statements as columns, each number a character: hundreds of numbers in digits would cost a Stop much time."""
    rows = [(each.turn, each.weight, each.headline, each.sure) for each in statements]
    numbers = ["".join([chr(number + _ZERO) for number in column]) for column in zip(*rows)]
    kinds = ",".join([each.kinds for each in statements])
    return [*numbers, "".join([each.by for each in statements]), kinds, [each.text for each in statements]]


def unpacked(columns: list[Any]) -> list[Statement]:
    """What was packed, without forgotten texts; ValueError or TypeError when it is damaged, or of an older version."""
    *numbers, by, kinds, texts = columns
    turns, weights, headlines, sure = [[ord(number) - _ZERO for number in column] for column in numbers]
    statements = map(Statement, turns, by, weights, headlines, sure, kinds.split(","), texts)
    return [each for each in statements if each.text + ""]


def of_prompt(text: str, turn: int) -> list[Statement]:
    """What a prompt says; its first words may do as a headline where no answer does better."""
    found: list[Statement] = []
    for said in [unit.text for unit in units.split(text) if unit.kind != units.ROW]:
        words = words_of(said)
        is_full = len(stems(words)) > 2 and len(words) > 3
        is_wish = is_full and said[-1:] not in "?？" and "wish" in classes(words[:2])
        is_chosen = is_wish and not {"over", "choose"}.isdisjoint(classes(words))  # with what it is to replace
        rank, sure = max(-len(found), -90) - 18 * (not is_full), 10 if is_chosen else -99
        found.append(Statement(turn, "u", weight(said), rank, sure, "d" * is_chosen, said))
    return found


def of_answer(text: str, turn: int, about: set[str], is_work: bool) -> list[Statement]:
    """What an answer says; `about` are stems of the prompt and of the files changed."""
    found = units.split(text)
    rows = features(found, about, is_work)
    scores = [[sum([each.get(name, 0) for name in row]) for each in TABLES["coefficients"].values()] for row in rows]
    statements: list[Statement] = []
    for at, (unit, row, (headline, left, decided, learned)) in enumerate(zip(found, rows, scores)):
        kinds = "s" if ("done" in row or "done early" in row) and unit.kind != units.HEAD else ""
        sure = max(decided, learned) if _TALK.isdisjoint(row) or not _CHOSEN.isdisjoint(row) else -99
        is_bare = "bare" in row and left > 0 and bool(statements)  # "Want me to do that?": that is what is left
        if is_bare and ("l" in statements[-1].kinds or not _OFFERED.isdisjoint(rows[at - 1])):
            statements[-1].kinds = statements[-1].kinds.replace("f", "").replace("l", "") + "l"
            continue
        if (left > 0 or unit.kind == units.OPEN) and unit.kind not in (units.DONE, units.HEAD):
            kinds += "lo" if unit.kind == units.OPEN or (unit.is_first and not _LATER.isdisjoint(row)) else "l"
            kinds += ("" if _BLOCKED.isdisjoint(row) else "b") + "d" * (decided > 0)
            sure = decided if decided > 0 else -99
        elif sure > -99:
            kinds += "d" if decided > 0 else "f"
        if "l" not in kinds and (("row" in row and sure < -8) or {"head", "content 0"} <= row):  # it says little
            continue
        headline -= 10 if "l" in kinds else 0
        line = unit.text.rstrip(":： ") + {units.HEAD: ":", units.DONE: " (done)"}.get(unit.kind, "")
        if "its remedy" in row and "l" in kinds and unit.section:  # "Fix: …", with what it mends
            line = cut("%s — %s" % (unit.section, line), settings.PASSAGE_CHARS)
        worth = weight(line) + (20 if "l" in kinds or sure > 0 else 10 if sure > -3 else 0)
        if "l" in kinds and statements and unit.lead == found[at - 1].text:  # the line above announces it
            statements[-1].kinds = statements[-1].kinds.replace("l", "").replace("f", "")
        statements.append(Statement(turn, "c", worth, headline, sure, kinds + "w" * is_work, line))
    return statements


def of_summary(block: str, turn: int) -> list[Statement]:
    """The lines of the block that PreCompact asks the client's summary for."""
    statements = []
    for line in block.split("\n"):
        label, _, rest = line.strip("-*• ").partition(":")
        kinds = settings.SUMMARY_LABELS.get(label.strip("* ").lower(), "")
        rest = cut(units.plain(rest.strip("* ")), settings.PASSAGE_CHARS)
        if kinds and rest[:1] != "<" and rest.lower().rstrip(".") not in ("", "none", "nothing", "n/a"):
            statements.append(Statement(turn, "c", 90, -90, 90, kinds, rest))
    return statements


def plan_steps(text: str) -> list[str]:
    """The title and the steps of a plan in Markdown; [] when the text is none."""
    found = units.split(text)
    titles = [unit.text for unit in found if unit.kind == units.HEAD]
    if not titles:
        return []
    title = titles[0].partition(": ")[2] if titles[0].lower().startswith("plan:") else titles[0]
    steps = [unit.text for unit in found if unit.kind in (units.ITEM, units.OPEN) and unit.is_first]
    numbered = [name for name in titles[1:] if name[:1].isdigit() or name.lower().startswith(("step", "phase", "task"))]
    return [cut(each, settings.ITEM_CHARS) for each in [title, *(numbered or steps)][: settings.REMAINS_ITEMS + 1]]


def weight(text: str) -> int:
    """How much a text says: its length, and its names, numbers and identifiers."""
    words = [word.strip("`.,;:()\"'") for word in text.split()]
    return min(len(words), 24) + 4 * sum([word[1:] != word[1:].lower() or not word.isalpha() for word in words[1:]])


def is_covered(text: str, others: Iterable[set[str]], least: int = 2, ignored: Iterable[str] = ()) -> bool:
    """Whether one of the others says most of the words of a text, of which there are at `least` so many."""
    own = stems([word for word in words_of(text) if not {*ignored} & {*CLASS.get(word, ())}])
    return len(own) >= least and any(len(own & other) >= 0.6 * len(own) for other in others)


def settle(statements: list[Statement], newer: list[Statement], turn: int, is_more: bool) -> None:
    """Now that a turn says more, only what was put down as open lately, and was not taken up since, is still left."""
    left = [each for each in statements if "l" in each.kinds and (is_more or each.turn != turn)]
    later = [stems(words_of(each.text)) for each in newer] if left else []
    said = "\n".join([each.text for each in newer]).replace("`", "").lower() if left else ""
    for each in left:
        is_over = "o" not in each.kinds and (each.turn != turn or len(newer) > 2)
        is_taken_up = each.text.strip("`. ").replace("`", "").lower() in said or is_covered(each.text, later)
        if is_over or is_taken_up or turn - each.turn > 3:
            each.kinds = each.kinds.replace("l", "").replace("o", "")


def ranked(statements: Iterable[Statement], key: Callable[[Statement], Any]) -> list[tuple[int, Statement]]:
    """Statements with their rank in their turn: the first of each turn, then the second of each."""
    ranks: dict[int, int] = {}
    found = []
    for each in sorted(statements, key=key):
        ranks[each.turn] = ranks.get(each.turn, -1) + 1
        found.append((ranks[each.turn], each))
    return sorted(found, key=lambda pair: pair[0])


def fitted(statements: list[Statement]) -> list[Statement]:
    """The statements that fit into an episode: what says least goes first, evenly over the turns."""
    costs = {each: max(len(each.text) + 24, _UNIT_CHARS) for each in statements}
    if sum(costs.values()) <= settings.PASSAGES_CHARS:
        return statements
    room = settings.PASSAGES_CHARS * 9 // 10  # so that not every turn has to sort
    for _, each in ranked(statements, lambda each: -each.weight - max(each.sure, -20)):
        room -= costs[each]
        if room < 0:
            del costs[each]
    return [*costs]


def words_of(text: str) -> list[str]:
    return text.lower().replace("i'd ", "i would ").replace("pre-ex", "preex").translate(_PUNCTUATION).split()


def stems(words: list[str]) -> set[str]:
    """Words that carry content, by their beginning; of a language without blanks each two characters."""
    found = {word.rstrip("s")[:6] for word in words if len(word) > 2 and _EMPTY.isdisjoint(CLASS.get(word, ()))}
    for word in [word for word in words if len(word) > 3 and "\u3040" <= word[0] <= "\ud7a3"]:
        found.update([word[at : at + 2] for at in range(len(word) - 1)])
    return found


def features(found: list[units.Unit], about: set[str], is_work: bool) -> list[set[str]]:
    titles = {title: _title(title) for title in {each for unit in found for each in (unit.section, unit.lead)}}
    sections = {title: ["section " + name for name in names] for title, names in titles.items()}
    leads = {title: ["lead " + name for name in names] for title, names in titles.items()}
    listed = [(unit.section, unit.lead) for unit in found if unit.kind in (units.ITEM, units.ROW) and unit.is_first]
    rows = []
    for number, unit in enumerate(found):
        left, is_last_line = len(found) - number, unit.at == found[-1].at and len(found) > 1
        place = "start" if number == 0 else "first" if number < 3 else "half" if number < left else "late"
        row = _worded(unit.text, words_of(unit.text), about) | {"", unit.kind, place}
        row.update(sections[unit.section] if unit.section != unit.text else (), leads[unit.lead])
        row.update(["listed"] * (unit.kind in (units.ITEM, units.ROW) and unit.is_first), ["work"] * is_work)
        row.update(["of many"] * (listed.count((unit.section, unit.lead)) > 9), ["led"] * bool(unit.lead))
        row.update(["short"] * (len(found) < 6), ["last line"] * is_last_line)
        row.update(["near end"] * (left <= 2 or is_last_line))
        row.update([name for name, needed, bars in TABLES["together"] if needed <= row and bars.isdisjoint(row)])
        rows.append(row)
    return rows


def _title(title: str) -> set[str]:
    """What a heading, or the line above a list, says of what stands below; a long one only if that is to be done."""
    words = words_of(title)[:12]
    if title[-1:] in "?？" or not words:
        return set()
    pairs, is_lead = [*zip(words, words[1:])], title[-1:] in ":："
    found = classes([*words, *map("_".join, pairs)], title)  # "to do"
    found.update(["done"] * (not units.TICKS.isdisjoint(title)))
    is_told = "stop" in CLASS.get(words[-1], ()) or not found.isdisjoint(_TOLD)  # "The plan is:"
    if "done" not in found and "usage" not in found and {"let", "because"}.isdisjoint((*words[:1], *words[-1:])):
        is_infinitive = any(a == "to" and "do" in CLASS.get(b, ()) for a, b in pairs)
        is_planned = is_infinitive or ("me" in found and not found.isdisjoint(("may", "do")))  # "What I would do next"
        tail = words[-3:] if words[-1] in ("to", "be", "que", "zu", "de", "à") else words[-1:]
        named = classes(tail) if is_lead else classes(words, title)  # "The fix would be:", "Changes needed"
        is_wished = "may" in named and words[0] not in ("this", "it", "that") if is_lead else "proposed" in named
        is_needed = ("must" in named or is_wished) and found.isdisjoint(("not", "leaning"))
        found.update(["planned"] * is_planned, ["needed"] * is_needed)
    found.update(["due"] * ("agenda" in found and not is_told and "done" not in found))
    if len(words) > 9 or len(title) >= 60:
        is_later = not is_lead and "later" in classes(words[:2])  # "Still outstanding from the first run"
        return found & {"due", "planned", "needed" if is_lead else "later" if is_later else ""}
    if "later" in found and not ("done" in found and "not" not in found):  # "Still to do", not "Left panel"
        is_pure = all(not _OPEN.isdisjoint(CLASS.get(word, ())) for word in words if len(word) > 2)
        found.update(["open"] * (is_pure or (len(title) < 9 and title > "\u3040")))
    return found | {"later"} if found >= {"yet", "not"} and "done" not in found else found  # "Not there yet"


def _worded(text: str, words: list[str], about: set[str]) -> set[str]:
    found = classes(words, text)
    opening = " ".join(words[:4])
    if opening.startswith(_STEPS) or ("let me" in opening and "let me know" not in opening):
        found.add("self")
    label, colon, rest = text.partition(" is " if words[:3:2] == ["what", "is"] else ": ")  # "What remains is …"
    if colon and rest.strip() and len(label) < 40 and "`" not in label:
        found.update(["label " + name for name in classes(words_of(label), label)])
    early, first = classes(words[:4]), next((word for word in words if word not in _LINKS), "")
    found.update(["first " + name for name in CLASS.get(first, ())])
    content = stems(words)
    share = len(content & about) / len(content) if content else 0.0
    size = len(text) * (2 if "\u3040" <= text[len(text) // 2 :][:1] <= "\ud7a3" else 1)
    is_deed = "done" in early or (first[-2:] == "ed" and len(first) > 4)
    state = words_of(text.rpartition("| ")[2])[:4] if " | " in text else []  # how a row says it stands
    found.update(["ended pending"] * bool({"pending", "status"} & classes(state, text[-20:])))
    is_bare = "you" in found and all(not _BARE.isdisjoint(CLASS.get(word, ())) for word in words)
    found.update(["bare"] * is_bare, ["done early"] * (is_deed and "first do" not in found and "not" not in early))
    found.update(["about %d" % (3 if share >= 0.67 else 2 if share >= 0.34 else bool(share))] * (len(about) > 1))
    found.update(["size %d" % ((size >= 25) + (size >= 50) + (size >= 160))], ["code"] * ("`" in text))
    found.update(["question"] * (text[-1:] in "?？"), ["colon"] * (text[-1:] in ":："), ["aside"] * (text[:1] == "("))
    if "not" in found:  # "not pushed", "haven't been tested yet"
        bare = [word for word in words if "yet" not in CLASS.get(word, ()) and word not in ("been", "be")]
        is_undone = any("not" in CLASS.get(a, ()) and "done" in CLASS.get(b, ()) for a, b in zip(bare, bare[1:]))
        found.update(["left undone"] * is_undone)
    is_ticked, digits = not units.TICKS.isdisjoint(text), [digit for digit in "0123456789" if digit in text]
    return found.union(["number"] * bool(digits), ["ticked"] * is_ticked, ["content %d" % min(len(content) // 2, 2)])


def classes(words: list[str], text: str = "") -> set[str]:
    found = {name for word in words for name in CLASS.get(word, ())}
    if not text.isascii():
        found.update([name for name, pieces in _PIECES.items() if any(piece in text for piece in pieces)])
    return found
