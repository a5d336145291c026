"""Words of the shell and paths in them: splitting, joining, braces and patterns."""

from __future__ import annotations

from .shell import BRACKET, CLOSE, COMMA, OPEN, QUESTION, STAR, TILDE, UNKNOWN

MAX_VALUES = 24  # of paths that a search hands on
MAX_LISTED = 1000  # of words that a script lists; what is cut off is UNKNOWN
MAX_PRODUCT = 200  # of the values of a word
MAX_BRACED_CHARS = 2000
SPLIT = "\x1f"  # where an unquoted value falls into several words


def globbed(pattern: str) -> str:
    """A pattern that a program, not the shell, will match."""
    return pattern.replace("*", STAR).replace("?", QUESTION).replace("[", BRACKET)


def joined(cwd: str, path: str) -> str:
    """`path` as seen from `cwd`, with `.` and `..` folded; a path that begins unknown stays so."""
    if path[:1] in ("/", TILDE, UNKNOWN, "\\") or path[1:2] == ":":
        return folded(path)
    return folded(cwd.rstrip("/") + "/" + path)


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
    name = program.replace("\\", "/").rstrip("/").rpartition("/")[2].lower() or program
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name


def split(value: str) -> list[str]:
    """The words of an unquoted value; a `~` in it is taken for what its writer meant."""
    if value[:1] == UNKNOWN:
        return [value]
    return [TILDE + word[1:] if word[:2] in ("~", "~/") else globbed(word) for word in value.split()]


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
        choices = inner.split(COMMA) if COMMA in inner else [UNKNOWN] if ".." in inner else ["{" + inner + "}"]
        waiting += [text[:start] + choice + text[close + 1 :] for choice in choices]
    return done


def distinct(values: list[str]) -> list[str]:
    values = list(dict.fromkeys(values))
    return values if len(values) <= MAX_LISTED else [*values[:MAX_LISTED], UNKNOWN]


def narrows(pattern: str) -> bool:
    """Whether a pattern leaves anything out: `?*`, `*.*` and `[a-z]*` hardly do."""
    start, end = pattern.find("["), pattern.find("]")
    if 0 <= start < end and not set("-!^").isdisjoint(pattern[start:end]):
        pattern = pattern[:start] + pattern[end + 1 :]
    return pattern.strip("*?." + STAR + QUESTION) != ""


def fits(text: str, pattern: str, separator: str) -> bool:
    """A glob by states, linear in both: `**` spans separators, `*` and `?` do not."""
    states = {0}
    for char in [*text, ""]:
        waiting = list(states)
        while waiting:  # stars may stand for nothing
            at = waiting.pop()
            for step in (
                (at + 1, at + 3 if pattern.startswith("**/", at) else at + 1) if pattern[at : at + 1] == "*" else ()
            ):
                if step not in states:
                    states.add(step)
                    waiting.append(step)
        if not char:
            return len(pattern) in states
        ahead = set()
        for at in states:
            wanted = pattern[at : at + 1]
            is_open = char != separator or pattern[at : at + 2] == "**" or pattern[at - 1 : at + 1] == "**"
            if wanted == "*" and is_open:
                ahead.add(at)
            elif wanted and (wanted == char or (wanted == "?" and char != separator)):
                ahead.add(at + 1)
        states = ahead
    return False
