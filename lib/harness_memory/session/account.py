"""The fields of an episode, from what its turns say (see `digest`)."""

from __future__ import annotations

from ..base import settings
from ..base.text import cut
from .digest import is_covered, stems, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LANGUAGES = {
    "py": "python", "rs": "rust", "go": "go", "ts": "typescript", "tsx": "typescript", "js": "javascript",
    "jsx": "javascript", "java": "java", "kt": "kotlin", "rb": "ruby", "php": "php", "cs": "csharp", "c": "c",
    "cpp": "cpp", "swift": "swift", "sql": "sql", "sh": "shell", "tf": "terraform", "css": "css", "html": "html",
    "vue": "vue", "md": "docs", "ex": "elixir", "scala": "scala", "lua": "lua",
}  # fmt: skip
_COMMON = ("src", "lib", "app", "main", "internal", "pkg", "packages", "source", "cmd")


class Statement:
    """A unit as `capture` keeps it: a mark and a text.

    The mark is "turn by weight headline kinds": who said it ("u" or "c"), how much it says, how well it would do as a
    headline (in tenths), and what it is: "l" left to do, "o" put down as open, "b" blocked, "d" decision,
    "f" fact, "r" rule, "s" says that work is done, "w" of a turn that changed files; a last
    digit tells how surely it is a decision or a fact.
    """

    __slots__ = ("by", "headline", "kinds", "text", "turn", "weight")

    def __init__(self, mark: str, text: str) -> None:
        turn, self.by, weight, headline, self.kinds = mark.split(" ")
        self.turn, self.weight, self.headline, self.text = int(turn), int(weight), int(headline), text


def load(marks: list[str], texts: list[str]) -> list[Statement]:
    # What was forgotten has no text.
    return [Statement(mark, text) for mark, text in zip(marks, texts) if text and mark.count(" ") == 4]


def of_kind(statements: list[Statement], kind: str) -> list[str]:
    """The units that are most surely of a kind, in order."""
    found = [unit for unit in statements if kind in unit.kinds]
    best = sorted(found, key=lambda unit: (unit.kinds[-1], unit.weight), reverse=True)[: settings.KIND_ITEMS]
    return [cut(unit.text, settings.ITEM_CHARS) for unit in found if unit in best]


def passages(statements: list[Statement]) -> list[dict[str, object]]:
    numbers = {turn: number for number, turn in enumerate(dict.fromkeys(unit.turn for unit in statements))}
    names = {"u": "user", "c": "claude"}
    return [{"turn": numbers[unit.turn], "by": names[unit.by], "text": unit.text} for unit in statements]


def headline(statements: list[Statement], files: list[str]) -> str:
    """The line that says best what the session was about; a line that others resemble is a safer choice."""
    about = stems(words_of(" ".join([*(unit.text for unit in statements if unit.by == "u"), *files])))
    is_work = any("w" in unit.kinds for unit in statements)
    ranked = []
    for unit in sorted(statements, key=lambda unit: -unit.headline)[:40]:
        line = cut(unit.text.rstrip(":： "), settings.SUMMARY_LINE_CHARS)
        own = stems(words_of(line))
        score = unit.headline / 10 + (0.7 if "w" in unit.kinds else 0.0)
        score += 0.3 if unit.by == "u" and not is_work else 0.0
        is_thin = len(own) < 2 if unit.by == "u" else len(about) > 1 and not own & about
        ranked.append((score - (1.5 if is_thin else 0.0), line, own))
    ranked = sorted(ranked, key=lambda each: -each[0])[:8]
    chances = [2.718 ** (score - ranked[0][0]) for score, _, _ in ranked]
    best, line = -1.0, ""
    for _, text, own in ranked:
        alike = [2 * len(own & other) >= 0.5 * (len(own) + len(other)) for _, _, other in ranked]
        chance = sum(each for each, is_like in zip(chances, alike) if is_like)
        if chance > best:
            best, line = chance, text
    return line


def done(statements: list[Statement], limit: int) -> str:
    """The units that carry the work of every turn, in order, whole; a blank line between turns."""
    units_said = [
        unit for unit in statements if unit.by == "c" and not {"l", "r"} & {*unit.kinds} and unit.text[-1:] not in "?？"
    ]

    def worth(unit: Statement) -> float:
        return unit.headline / 10 + unit.weight / 40 + 0.8 * ("d" in unit.kinds) + 0.4 * ("f" in unit.kinds)

    best: dict[int, Statement] = {}
    for unit in units_said:
        if unit.turn not in best or worth(unit) > worth(best[unit.turn]):
            best[unit.turn] = unit
    ranked = sorted(units_said, key=worth, reverse=True)
    order = [*reversed([*best.values()]), *ranked]
    chosen: set[Statement] = set()
    for unit in order:
        if unit not in chosen and len(unit.text) + 2 <= limit and (worth(unit) > 0 or unit is ranked[0]):
            chosen.add(unit)
            limit -= len(unit.text) + 2
    text, turn = "", -1
    for unit in units_said:
        if unit in chosen and unit.text not in text:
            text += ("" if not text else "\n" if unit.turn == turn else "\n\n") + unit.text
            turn = unit.turn
    return text


def closed(statements: list[Statement], commits: list[str], steps: Iterable[str]) -> list[str]:
    """The open steps of earlier sessions that this one says it has done."""
    turns = {unit.turn for unit in statements if unit.by == "c" and "s" in unit.kinds}
    said = [unit for unit in statements if unit.turn in turns and "l" not in unit.kinds]
    others = [stems(words_of(text)) for text in (*(unit.text for unit in said), *commits)]
    return [step for step in steps if is_covered(step, others)]


def ticked(plan: list[str], statements: list[Statement]) -> list[str]:
    """The steps of a plan, each with a box that is ticked when the session says it is done."""
    said = [stems(words_of(unit.text)) for unit in statements if unit.by == "c" and "l" not in unit.kinds]
    return ["[%s] %s" % ("x" if is_covered(step, said) else " ", step) for step in plan[1:]]


def tags(files: list[str], skill: str, statements: list[Statement]) -> list[str]:
    """Folders, languages and names that come up again and again; none where nothing does."""
    found: dict[str, int] = {}
    for file in files:
        parts = file.split("/")
        ending = _LANGUAGES.get(parts[-1].rpartition(".")[2].lower(), "")
        for name in (*(part for part in parts[:-1] if len(part) > 2 and part not in _COMMON), ending):
            found[name] = found.get(name, 0) + 1
    found.pop("", None)
    ranked = sorted(found, key=lambda name: -found[name])[:5]
    names: dict[str, int] = {}
    for unit in statements:
        quoted = unit.text.split("`")[1::2]
        for name in {part for part in quoted if part.isidentifier() and len(part) > 3}:
            names[name] = names.get(name, 0) + 1
    often = sorted((name for name, count in names.items() if count > 1), key=lambda name: -names[name])[:3]
    return [*dict.fromkeys([*([skill] if skill else []), *ranked, *often])]
