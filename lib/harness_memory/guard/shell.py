"""The text of shell scripts: markers for what is live in a word, limits, a reader that moves through the text, words.

Quotes are gone from a word; what was active in it is a marker character, so `r\\m "-rf" '*'` gives "rm", "-rf", "*" and
a bare `*` gives STAR. Linear in the text; deeper or longer than the limits is Unreadable.
"""

from __future__ import annotations

UNKNOWN = "\ue000"  # text that only the shell will know
STAR, QUESTION, BRACKET, TILDE = "\ue001", "\ue002", "\ue003", "\ue004"
OPEN, COMMA, CLOSE = "\ue005", "\ue006", "\ue007"  # of a brace expansion
MARKERS = "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007"
GLOBS = frozenset((STAR, QUESTION, BRACKET))
PLAIN = dict(zip(map(ord, MARKERS), "…*?[~{,}"))
SCRUBBED = dict.fromkeys(PLAIN, "�")  # only the reader may write markers

MAX_COST = 30_000  # of a script and all that it holds, in the units below
WORD, PIECE, COMMAND, SUBSTITUTION, CALL = 4, 2, 15, 20, 36  # piece: of a word, between quotes and expansions
MAX_BRACKET_CHARS = 5_000

ENDS_WORD = frozenset(" \t\r\n;&|<>()")
SPECIAL = ENDS_WORD | frozenset("\\'\"$`*?[~{},=:")
IN_QUOTES = frozenset('"\\$`')
NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
DIGITS = frozenset("0123456789")
PASSED = frozenset("if then elif else fi while until do done { } ! time".split())
_RESERVED = PASSED | frozenset("for select case esac in function [[".split())
REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", ">>", ">&", ">|", "&>", "<", ">")
REDIRECTS = DIGITS | {"<", ">", "&"}  # what one begins with
OPERATORS = (":-", ":=", ":?", ":+", "%%", "##", "//")

MAX_VALUES = 24  # of paths that a search hands on
MAX_LISTED = 1000  # of words that a script lists; what is cut off is UNKNOWN
MAX_PRODUCT = 200  # of the values of a word
MAX_BRACED_CHARS = 2000
_JOINTS = dict.fromkeys(map(ord, "_-:.,/=\\\"'`(){}[]"), " ")  # of words in a name
SPLIT = "\x1f"  # where an unquoted value falls into several words


class Unreadable(ValueError):
    """Not shell text, or beyond the limits."""


class Budget:
    """What one question is worth; shared by all readers of its scripts."""

    left = MAX_COST
    files = 12  # scripts read from disk

    def take(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise Unreadable("too long")


def plain(word: str) -> str:
    """A word as a person would write it."""
    if word.isascii():
        return word
    head, pipe, rest = word.partition(UNKNOWN + "/dev/fd/")  # what a call printed
    return (head + UNKNOWN + rest.lstrip("0123456789") if pipe else word).translate(PLAIN)


def from_windows(text: str) -> str:
    """Text for PowerShell or cmd, where a backtick escapes, and a backslash stands in paths."""
    return text.replace("`\r\n", " ").replace("`\n", " ").replace("`", "").replace('\\"', '"').replace("\\", "/")


def unescaped(text: str) -> str:
    """Text as `echo -e`, `printf` and $'...' make it."""
    try:
        made = text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except ValueError:
        return text
    return made.translate(SCRUBBED)


class Reader:
    at = 0

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text
        self.budget = budget
        self.jumps: dict[int, int] = {}  # from an end of line to behind the here-documents that begin there

    def next(self, width: int = 1) -> str:
        return self.text[self.at : self.at + width]

    def fail(self, what: str) -> Unreadable:
        return Unreadable("%s at character %d" % (what, self.at))

    def span(self, chars: frozenset[str], *, without: bool = False) -> str:
        """The text from here that is made of these characters, or of all others; passes over it."""
        start = at = self.at
        while at < len(self.text) and (self.text[at] in chars) is not without:
            at += 1
        self.at = at
        return self.text[start:at]

    def blanks(self) -> None:
        text = self.text
        while True:
            char = text[self.at : self.at + 1]
            if char and char in " \t\r":
                self.at += 1
            elif char == "\\" and text.startswith(("\n", "\r\n"), self.at + 1):
                self.at = text.index("\n", self.at) + 1
            elif char == "#" and (self.at == 0 or text[self.at - 1] in " \t\r\n;&|()`"):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def lines(self) -> None:
        """Pass over blanks, ends of lines, and the here-documents behind those."""
        self.blanks()
        while self.next() == "\n":
            self.at = self.jumps.get(self.at, self.at + 1)
            self.blanks()

    def peek(self) -> str:
        """The reserved word that stands here, if one does."""
        end = self.at
        while end < len(self.text) and end - self.at < 9 and self.text[end] not in ENDS_WORD:
            end += 1
        word = self.text[self.at : end]
        return word if word in _RESERVED else ""

    def expect(self, token: str) -> None:
        self.lines()
        if not self.text.startswith(token, self.at):
            raise self.fail("%r is missing" % token)
        self.at += len(token)

    def bracket(self, opener: str, closer: str) -> str:
        """The text inside the bracket that opens here, which is passed over; Unreadable when it stays open."""
        text, at, depth, is_quoted = self.text, self.at, 0, False
        end = min(len(text), at + MAX_BRACKET_CHARS)
        while 0 <= at < end:
            char = text[at]
            if char == "\\":
                at += 1
            elif char == '"':
                is_quoted = not is_quoted
            elif char == "'" and not is_quoted:
                at = text.find("'", at + 1)
                if at < 0:
                    break
            elif not is_quoted:
                depth += (char == opener) - (char == closer)
                if depth == 0:
                    start, self.at = self.at + 1, at + 1
                    return text[start:at]
            at += 1
        raise self.fail("an open " + opener)

    def until(self, closer: str) -> str:
        """The text up to a closing quote, raw; a backslash hides what follows it."""
        start = at = self.at
        while self.text[at : at + 1] != closer:
            if at >= len(self.text):
                raise self.fail("an open " + closer)
            at += 2 if self.text[at] == "\\" else 1
        self.at = at + 1
        return self.text[start:at]

    def up_to(self, mark: str) -> str:
        start, end = self.at, self.text.find(mark, self.at)
        if end < 0:
            raise self.fail("%r is missing" % mark)
        self.at = end + len(mark)
        return self.text[start:end]

    def here_document(self, end: str, tabs: str) -> str:
        """The body that begins behind this line, or behind the one before it."""
        text = self.text
        line = text.find("\n", self.at)
        start = at = self.jumps.get(line, line + 1) if line >= 0 else len(text)
        while at < len(text):
            found = text.find(end, at)  # most lines are passed over at once
            if found < 0:
                break
            at = text.rfind("\n", at, found) + 1 or at
            stop = text.find("\n", found)
            stop = stop if stop >= 0 else len(text)
            if text[at:stop].lstrip(tabs or "\n").rstrip("\r") == end:
                self.jumps[line] = min(stop + 1, len(text))
                return text[start:at]
            at = stop + 1
        self.jumps[line] = len(text)
        return text[start:]


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
        return [UNKNOWN]
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


def words_in(name: str) -> set[str]:
    """The words of a name in any spelling: `deleteRepo`, `delete_repo`, `delete-repo`."""
    spaced = [" " + char if char.isupper() and before.islower() else char for before, char in zip(" " + name, name)]
    return set("".join(spaced).translate(_JOINTS).lower().split())


def fits(text: str, pattern: str, separator: str) -> bool:
    """A glob by states, linear in both: `**` spans separators, `*` and `?` do not."""
    states = {0}
    for char in [*text, ""]:
        waiting = list(states)
        while waiting:  # stars may stand for nothing
            at = waiting.pop()
            steps = {at + 1, at + 3 if pattern.startswith("**/", at) else at + 1} - states
            if pattern[at : at + 1] == "*":
                states |= steps
                waiting += steps
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


def table(path: str) -> list[str]:
    """The rows of a table in a file: a row goes on where it is indented; `#` begins a remark."""
    with open(path, encoding="utf-8") as file:
        rows = file.read().replace("\n  ", " ").split("\n")
    return [row for row in rows if row and row[0] != "#"]
