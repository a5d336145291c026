"""Words of the shell and paths in them: splitting, joining, braces and patterns."""

from __future__ import annotations

from .shell import BRACKET, CLOSE, COMMA, OPEN, QUESTION, STAR, TILDE, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_VALUES = 24  # of paths that a search hands on
MAX_LISTED = 1000  # of words that a script lists; what is cut off is UNKNOWN
MAX_PRODUCT = 200  # of the values of a word
MAX_BRACED_CHARS = 2000


def globbed(pattern: str) -> str:
    """A pattern that a program, not the shell, will match."""
    return pattern.replace("*", STAR).replace("?", QUESTION).replace("[", BRACKET)


def joined(cwd: str, path: str) -> str:
    """`path` as seen from `cwd`, with `.` and `..` folded; a path that begins unknown stays so."""
    if path[:1] in ("/", TILDE, UNKNOWN, "\\") or path[1:2] == ":":
        full = path
    else:
        full = cwd.rstrip("/") + "/" + path
    return folded(full)


def folded(path: str) -> str:
    if "." not in path and "//" not in path and not path.endswith("/"):
        return path
    kept: list[str] = []
    for piece in path.split("/"):
        if piece == "..":
            if kept and kept[-1] not in ("", "..", UNKNOWN, TILDE):
                kept.pop()
            elif kept != [""]:
                kept.append(piece)
        elif piece != "." and (piece or not kept):
            kept.append(piece)
    return "/".join(kept) or ("/" if path.startswith("/") else ".")


def name_of(program: str) -> str:
    """What a program is called, however it was reached."""
    if ("/" in program or "\\" in program) and program[-1:] not in ("/", "\\"):
        program = program.replace("\\", "/").rpartition("/")[2]
    name = program.lower()
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name


def applied(words: list[str], operands: list[str], place: str) -> list[str]:
    if not place:
        return [*words, *operands]
    found: list[str] = []
    for word in words:
        if word == place:
            found.extend(operands)
        elif place in word:
            found.extend(word.replace(place, operand) for operand in operands[:4])
        else:
            found.append(word)
    return found


def quoted(parts: Any) -> Any:
    if isinstance(parts, str):
        return parts
    return [part if isinstance(part, str) or part[0] == "file" else (*part[:-1], True) for part in parts]


def split(value: str) -> list[str]:
    """The words of an unquoted value; a `~` in it is taken for what its writer meant."""
    if value[:1] == UNKNOWN:
        return [value]
    return [TILDE + word[1:] if word[:2] in ("~", "~/") else globbed(word) for word in value.split()]


SPLIT = "\x1f"  # where an unquoted value falls into several words


def has_blank(values: list[str]) -> bool:
    return any(char in value for value in values for char in " \t\n")


def unbraced(word: str) -> list[str]:
    """Brace expansion: `a{b,c}` gives ab, ac; a brace that lists nothing is just a character."""
    if len(word) > MAX_BRACED_CHARS:
        pieces = word.replace(OPEN, COMMA).replace(CLOSE, COMMA).split(COMMA)
        return distinct([*pieces[:1], UNKNOWN, *pieces[1:]])
    done: list[str] = []
    waiting = [word]
    while waiting:
        text = waiting.pop(0)
        close = text.find(CLOSE)
        start = text.rfind(OPEN, 0, close) if close >= 0 else -1
        if start < 0:
            done.append(text.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}"))
            continue
        if len(done) + len(waiting) > MAX_PRODUCT:
            return [*done, UNKNOWN]
        inner = text[start + 1 : close]
        if COMMA in inner:
            waiting.extend(text[:start] + choice + text[close + 1 :] for choice in inner.split(COMMA))
        elif ".." in inner:
            waiting.append(text[:start] + UNKNOWN + text[close + 1 :])
        else:
            waiting.append(text[:start] + "{" + inner + "}" + text[close + 1 :])
    return done


def distinct(values: list[str]) -> list[str]:
    return listed(list(dict.fromkeys(values)))


def listed(values: list[str]) -> list[str]:
    return values if len(values) <= MAX_LISTED else [*values[:MAX_LISTED], UNKNOWN]
