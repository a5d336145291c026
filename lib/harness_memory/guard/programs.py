"""What the guard knows of each program: the rows of `programs.txt`, which says how to read them."""

from __future__ import annotations

from ..base.typing import Iterator
from .shell import STAR, UNKNOWN, table, words_in
from .words import WORDS

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: dict[str, str] = globals().get("TABLES") or {
    name: line for line in table(TABLES_FILE) for name in line.partition("|")[0].split()
}
MAX_OPERANDS = 400
ORDERS = WORDS["severe"] + WORDS["destroying"]
ACCESS = dict(zip("rafwtmndo", 3 * ["read"] + 4 * ["write"] + 2 * ["delete"]))  # of operands, by kind
RUNS = {"run": "", "any": "", "in": "container", "text": "", "remote": "remote"}  # where

_rows: dict[str, Row | None] = {}


class Row:
    def __init__(self, text: str) -> None:
        fields = [field.split() for field in text.split("|")]
        self.values: dict[str, str] = {}  # options that take one, with its kind
        self.changes: dict[str, str] = {}
        self.operands: list[str] = []
        self.effects = fields[2:]
        self.is_single = "1dash" in fields[1]
        for token in fields[1]:
            name, equals, kind = token.partition("=")
            if equals and name:
                self.values[name] = kind or "-"
            elif token[0] == "-" and ":" in token:
                self.changes[token.partition(":")[0]] = token.partition(":")[2]
            elif token != "1dash":
                self.operands.append(token)
        self.has_code = not {"c", "f", "f?"}.isdisjoint([*self.operands, *self.values.values()])
        # All that follows the operand at this place belongs to the command or script that it names.
        ends = [at for at, kind in enumerate(self.operands) if kind in ("f", "f?", "F")]
        ends += [each.count("-") for each in self.effects if each[0] in RUNS and {*each[1:]} <= {"-", "=", "!-v,-V"}]
        self.end = min(ends, default=MAX_OPERANDS)


# Of a program that we do not know: `acme buckets delete b`, `acme db reset --yes`.
ANY = Row("any | | service.delete @@ | service.delete @ +--force,--yes,-y,--auto-approve,--purge,--cascade")


class Arguments:
    def __init__(self) -> None:
        self.flags: list[str] = []
        self.values: list[tuple[str, str, str]] = []  # option, kind, value
        self.operands: list[str] = []
        self.places: list[int] = []  # of the operands, among the arguments
        self.unsure: set[int] = set()  # operands that may be the value of an option we do not know

    def of(self, kinds: str) -> list[str]:
        return [value for _, kind, value in self.values if kind in kinds]

    def value(self, kind: str) -> str:
        return "".join(self.of(kind)[:1])

    def has(self, flags: str) -> bool:
        return any(flag in self.flags for flag in flags.split(","))


def known_as(name: str) -> str:
    """The name of the row: `python3.12`, `nodejs.exe` and `mkfs.ext4` have one."""
    if name in TABLES:
        return name
    base = name.rstrip("0123456789.")
    if base in WORDS["versioned"] or name.startswith("python"):
        return base if base in TABLES else "python"
    return "mkfs" if name.startswith("mkfs.") else name[1:] if name[:1] == "g" and name[1:] in TABLES else name


def row_of(name: str) -> Row | None:
    if name not in _rows:
        line = TABLES.get(known_as(name))
        _rows[name] = Row(line) if line else None
    return _rows[name]


def parsed(row: Row | None, args: list[str]) -> Arguments:
    found = Arguments()
    values, changes = (row.values, row.changes) if row else ({}, {})
    before, at = "", 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--" or (row and len(found.operands) > row.end):
            start = at if arg == "--" else at - 1
            found.flags += [arg] if arg == "--" else []
            found.operands += args[start : start + MAX_OPERANDS]
            found.places += range(start, len(args))
            break
        name, equals, value = arg.partition("=")
        is_word = arg[:1] != "-" or len(arg) == 1 or arg[1:2].isdigit()
        if is_word and name not in values and arg not in changes:
            if len(found.operands) < MAX_OPERANDS:
                if before and "=" not in before:
                    found.unsure.add(len(found.operands))
                found.operands.append(arg)
                found.places.append(at - 1)
            before = ""
            continue
        before = arg
        found.flags += [name, arg] if equals and value != "false" else [arg]
        if arg[1:2] != "-" and name not in values and not (row and row.is_single):
            # `-xzf a.tgz`: letters up to the first one with a value, which is the rest or the next word
            letters = ["-" + letter for letter in arg[1:]]
            valued = next((place for place, letter in enumerate(letters) if letter in values), len(letters))
            found.flags += letters[: valued + 1]
            if valued == len(letters):
                continue
            name, value = letters[valued], arg[valued + 2 :]
            equals = value
        kind = values.get(name, "?")
        if kind == "S":
            value, at = " ".join([value, *args[at:]]), len(args)
        elif name in values and not equals:
            value = args[at] if at < len(args) else ""
            at += 2 if kind == "+" else 1
            while kind == "X" and at < len(args) and args[at][:1] != "-":  # everything up to the next option
                at += 1
        if name in values or equals:
            found.values.append((name, kind, value))
            before = ""
    return found


def accesses(row: Row, given: Arguments) -> Iterator[tuple[str, str]]:
    changed = next((row.changes[flag] for flag in given.flags if flag in row.changes), "")
    taken = {"G": ("g?", "f?"), "c": ("f?",)}  # instead of that operand
    left_out = [each for _, kind, _ in given.values for each in taken.get(kind, ())]
    kinds = [each for each in row.operands if each not in left_out]
    if any(command_at("", effect, given) >= 0 for effect in row.effects):
        kinds = ["-*"]  # of that command, which is a call of its own
    yield from ((kind, value) for _, kind, value in given.values)
    words = [word for word in given.operands if word or not changed]  # `sed -i "" …` of macOS
    star = next((at for at, each in enumerate(kinds) if each[-1:] == "*"), len(kinds))
    after = len(kinds) - star - 1
    for at, word in enumerate(words):
        place = min(at, star)
        if at >= star and len(words) - at <= after and len(words) > 1:
            place = len(kinds) - (len(words) - at)
        kind = kinds[min(place, len(kinds) - 1)].rstrip("?*") or "?" if kinds else "?"
        yield (changed if changed and kind in ("r", "w", "d", "o") else kind), word


def command_at(name: str, effect: list[str], given: Arguments) -> int:
    """Where, among the operands, stands the command that this effect runs; -1 when it does not apply."""
    at = applies(name, [token for token in effect if token not in ("-", "=")], given) if effect[0] in RUNS else -1
    return at + effect.count("-") if at >= 0 else -1


def effect_of(name: str, row: Row, given: Arguments) -> str:
    """The rule of the first effect that applies to a call."""
    is_help = given.flags[-1:] == ["-h"] and "-h" not in row.values and len(row.effects) > 1
    last = {flag.partition("=")[0].lower(): flag.partition("=")[2] for flag in given.flags}
    is_excused = any(last[each] not in ("false", "none", UNKNOWN) for each in WORDS["excuses"] if each in last)
    if is_help or is_excused or "help" in given.operands[:2]:
        return ""
    return next((each[0] for each in row.effects if each[0] not in RUNS and applies(name, each, given) >= 0), "")


def applies(name: str, effect: list[str], given: Arguments) -> int:
    """The place after the verbs of an effect among the operands; -1 where it does not apply."""
    verbs = []
    options = {*given.flags, *[value for _, _, value in given.values]}
    for token in effect[1:]:
        mark, words = token[0], set(token[1:].split(","))
        if mark not in "+!~?":
            verbs.append(token)
            continue
        is_met = not words.isdisjoint(options)
        if mark == "!":
            is_met = not is_met and words.isdisjoint([word.rstrip("/") for word in given.operands[:6]])
        elif mark == "~":
            is_met = name in words
        elif mark == "?":
            is_met = any((STAR if "*" in words else UNKNOWN) in word for word in given.operands)
        if not is_met:
            return -1
    at, operands = 0, given.operands
    if verbs and "@" in verbs[0]:  # what is made, listed or shown has any name
        end = next((place for place, word in enumerate(operands[:5]) if word in WORDS["building"]), 5)
        return next((place + 1 for place, word in enumerate(operands[:end]) if _is_one(verbs[0], word)), -1)
    for verb in verbs:
        while at < len(operands) and at in given.unsure and not _is_one(verb, operands[at]):
            at += 1
        if at >= len(operands) or not _is_one(verb, operands[at]):
            return -1
        at += 1
    return at


def _is_one(alternatives: str, word: str) -> bool:
    lower, is_name = word.lower(), {" ", "=", "/", "."}.isdisjoint(word)  # not a path
    for each in alternatives.lower().split(","):
        head, star, tail = each.partition("*")
        if (each == lower and each[0] != "@") or (star and lower.startswith(head) and lower.endswith(tail)):
            return True
        if each[:1] == "@" and is_name and is_destroying(word, WORDS["severe"] if each == "@@" else ORDERS):
            return True
    return False


def is_destroying(word: str, words: tuple[str, ...] = ORDERS) -> bool:
    return not words_in(word[:200]).isdisjoint(words)
