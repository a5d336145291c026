"""A reader of shell text: what would run, as a tree, without running or expanding anything.

    tree    ("cmd", assignments, words, redirections)   one simple command
            ("seq", trees)     in order, however they are joined; the branches of if, while and case too
            ("and", tree)      what follows depends on its success
            ("pipe", trees)    each one's output is the next one's input
            ("sub", tree, redirections)     ( ... ), with a state of its own
            ("group", tree, redirections)   { ...; }, loops and conditions
            ("for", name, words, tree)      words is None where the positional parameters are meant
            ("function", name, tree)
    word    str, or a list of parts: str, ("var", name, operator, word, quoted), ("run", tree, quoted), ("file", tree),
            ("aside", word, True) for what is run on the way and leaves no text
    assignment   (name, word) or (name, list of words, "array")
    redirection  (descriptor, operator, word); of a here-document the word is its body

Quotes are gone from a word; what was active in it is a marker character (below), so `r\\m "-rf" '*'` gives
"rm", "-rf", "*" and a bare `*` gives STAR. Linear in the text; deeper or longer than the limits is TooMuch.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNKNOWN = "\ue000"  # text that only the shell will know
STAR = "\ue001"
QUESTION = "\ue002"
BRACKET = "\ue003"
TILDE = "\ue004"
OPEN = "\ue005"  # of a brace expansion
COMMA = "\ue006"
CLOSE = "\ue007"
MARKERS = "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007"
GLOBS = frozenset((STAR, QUESTION, BRACKET))
PLAIN = {0xE000: "…", 0xE001: "*", 0xE002: "?", 0xE003: "[", 0xE004: "~", 0xE005: "{", 0xE006: ",", 0xE007: "}"}

MAX_DEPTH = 50
MAX_WORDS = 6_000  # of a script and all that it holds
COMMAND_WORDS = 3  # what a command counts for beside its words
SUBSTITUTION_WORDS = 5  # what a command within a word counts for
MAX_ARITHMETIC_CHARS = 1000
MAX_BRACKET_CHARS = 5_000
MAX_INDEX_CHARS = 200  # of an array
MAX_PIECES = 12_000  # of words: escapes, quotes, expansions and what stands between them

_BLANK = " \t\r"
_ENDS_WORD = frozenset(" \t\r\n;&|<>()")
_SPECIAL = _ENDS_WORD | frozenset("\\'\"$`*?[~{},=:")
_IN_QUOTES = frozenset('"\\$`')
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS = frozenset("0123456789")
_ARROWS = ("<", ">")
_SPECIAL_VARIABLES = frozenset("@*#?$!-")
_RESERVED = frozenset(
    """
    if then elif else fi while until for select do done case esac function { } [[ ! time
    """.split()
)
DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_SCRUBBED = dict.fromkeys(PLAIN, "�")


class Unreadable(ValueError):
    """Not shell text, or beyond the limits."""


class TooMuch(Unreadable):
    """Beyond the limits."""


class Budget:
    """How much may still be read, by all readers of one script together."""

    __slots__ = ("pieces", "words")

    def __init__(self) -> None:
        self.words = MAX_WORDS
        self.pieces = MAX_PIECES

    def take(self, *, words: int = 0, pieces: int = 0) -> None:
        self.words -= words
        self.pieces -= pieces
        if self.words < 0 or self.pieces < 0:
            raise TooMuch("too long")


def read(text: str, depth: int = 0, budget: Budget | None = None) -> Any:
    """The tree of a script; Unreadable when it is none."""
    if not depth and not text.isascii():
        text = text.translate(_SCRUBBED)  # only the reader may write markers
    reader = _Reader(text, depth, budget or Budget())
    tree = reader.sequence(frozenset())
    if reader.at < len(reader.text):
        raise Unreadable("unexpected %r at character %d" % (reader.text[reader.at], reader.at))
    reader.take_bodies()
    return tree


def plain(word: str) -> str:
    """A word as a person would write it."""
    return word if word.isascii() else word.translate(PLAIN)


class _Reader:
    __slots__ = ("at", "bodies", "budget", "depth", "text")

    def __init__(self, text: str, depth: int, budget: Budget) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.budget = budget
        self.bodies: list[list[Any]] = []  # here-documents announced on this line

    # Lists and pipelines -------------------------------------------------------------------------

    def sequence(self, stops: frozenset[str]) -> Any:
        """Commands up to a closing bracket, `;;` or one of the reserved words `stops`, which is left unread."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")
        text = self.text
        found: list[Any] = []
        while True:
            self.blanks()
            char = text[self.at : self.at + 1]
            if not char or char == ")" or text.startswith(";;", self.at):
                break
            if char == "\n":
                self.newline()
            elif (char == "&" and text[self.at + 1 : self.at + 2] != ">") or char in ";|":
                if found and text[self.at : self.at + 2] in ("&&", "||"):
                    found[-1] = ("and", found[-1])  # its failure is noticed
                    self.at += 1
                self.at += 1
            elif stops and self.peek() in stops:
                break
            else:
                found.append(self.pipeline())
                if text[self.at : self.at + 1] == "&" and text[self.at + 1 : self.at + 2] not in ("&", ">"):
                    found[-1] = ("sub", found[-1], [], "&")  # in the background, with a state of its own
        self.depth -= 1
        return found[0] if len(found) == 1 else ("seq", found)

    def pipeline(self) -> Any:
        found = []
        while True:
            while self.peek() in ("!", "time"):
                self.budget.take(words=1)
                self.at += len(self.peek())
                self.blanks()
                if self.text.startswith("-p", self.at):
                    self.at += 2
                    self.blanks()
            found.append(self.command())
            self.blanks()
            if self.text[self.at : self.at + 1] != "|" or self.text[self.at + 1 : self.at + 2] == "|":
                break
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self.lines()
        return found[0] if len(found) == 1 else ("pipe", found)

    def command(self) -> Any:
        char = self.text[self.at : self.at + 1]
        if self.text.startswith("()", self.at):  # a function without a name runs at once
            self.at += 2
            self.lines()
            return self.command()
        if char == "(":
            return self.arithmetic() if self.text.startswith("((", self.at) else self.subshell()
        word = self.peek()
        if word not in _RESERVED:
            return self.simple()
        compound = {
            "{": self.braces,
            "if": self.condition,
            "while": self.loop,
            "until": self.loop,
            "for": self.iteration,
            "select": self.iteration,
            "case": self.cases,
            "function": self.function,
            "[[": self.test,
        }.get(word)
        if compound is None:
            raise Unreadable("unexpected %r at character %d" % (word, self.at))
        self.at += len(word)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")
        tree = compound()
        self.depth -= 1
        return tree

    # Compound commands ---------------------------------------------------------------------------

    def subshell(self) -> Any:
        self.at += 1
        tree = self.sequence(frozenset())
        self.expect(")")
        return ("sub", tree, self.redirections())

    def arithmetic(self) -> Any:
        end = self.arithmetic_end(self.at)
        if end < 0:
            return self.subshell()
        inner = self.text[self.at + 2 : end - 2]
        self.at = end
        return ("cmd", [], ["((", self.substitutions(inner)], self.redirections())

    def arithmetic_end(self, at: int) -> int:
        """The position after `((...))`; -1 where these are the brackets of two subshells."""
        end = self.closing("(", ")", at + 1, MAX_ARITHMETIC_CHARS)
        return end + 1 if end > 0 and self.text[end : end + 1] == ")" else -1

    def braces(self) -> Any:
        tree = self.sequence(frozenset("}"))
        self.expect("}")
        return ("group", tree, self.redirections())

    def condition(self) -> Any:
        found = [self.sequence(frozenset(("then",)))]
        self.expect("then")
        while True:
            found.append(self.sequence(frozenset(("elif", "else", "fi"))))
            word = self.peek()
            self.at += len(word)
            if word == "fi":
                return ("group", ("seq", found), self.redirections())
            if word == "elif":
                found.append(self.sequence(frozenset(("then",))))
                self.expect("then")
            elif word != "else":
                raise Unreadable("an `if` without `fi`")

    def loop(self) -> Any:
        head = self.sequence(frozenset(("do",)))
        return ("group", ("seq", [head, self.body()]), self.redirections())

    def body(self) -> Any:
        self.lines()
        if self.peek() == "{":
            self.at += 1
            return self.braces()
        self.expect("do")
        tree = self.sequence(frozenset(("done",)))
        self.expect("done")
        return tree

    def iteration(self) -> Any:
        self.blanks()
        if self.text.startswith("((", self.at):
            head = self.arithmetic()
            self.lines_and_semicolons()
            return ("group", ("seq", [head, self.body()]), self.redirections())
        name = self.word()
        self.lines()
        words: list[Any] | None = None
        if self.peek() == "in":
            self.at += 2
            words = []
            self.blanks()
            while self.text[self.at : self.at + 1] not in ("", ";", "\n", "&"):
                words.append(self.word())
                self.blanks()
        self.lines_and_semicolons()
        tree = ("for", name if isinstance(name, str) else "", words, self.body())
        return ("group", tree, self.redirections())

    def cases(self) -> Any:
        self.blanks()
        found: list[Any] = [("cmd", [], ["case", self.word()], [])]
        self.lines()
        self.expect("in")
        while True:
            self.lines()
            if self.peek() == "esac":
                self.at += 4
                return ("group", ("seq", found), self.redirections())
            if self.text[self.at : self.at + 1] == "(":
                self.at += 1
            while True:
                self.blanks()
                found[0][2].extend([part] for part in _aside(self.word()))
                self.blanks()
                if self.text[self.at : self.at + 1] != "|":
                    break
                self.at += 1
            self.expect(")")
            found.append(self.sequence(frozenset(("esac",))))
            while self.text[self.at : self.at + 1] in (";", "&") and self.at < len(self.text):
                self.at += 1

    def function(self) -> Any:
        self.blanks()
        name = self.word()
        self.blanks()
        if self.text[self.at : self.at + 1] == "(":
            self.at += 1
            self.blanks()
            self.expect(")")
        return self.definition(name)

    def definition(self, name: Any) -> Any:
        self.lines()
        return ("function", name if isinstance(name, str) else "", self.command())

    def test(self) -> Any:
        words: list[Any] = ["[["]
        while True:
            self.lines()
            char = self.text[self.at : self.at + 1]
            if not char:
                raise Unreadable("a `[[` without `]]`")
            if char in "<>&|();":
                self.at += 1
                continue
            word = self.word()
            if word == "]]":
                return ("cmd", [], words, self.redirections())
            words.append(word)

    # Simple commands -----------------------------------------------------------------------------

    def simple(self) -> Any:
        self.budget.take(words=COMMAND_WORDS)
        assignments: list[Any] = []
        words: list[Any] = []
        redirections: list[Any] = []
        text = self.text
        while True:
            is_redirected = self.is_redirected()
            char = text[self.at : self.at + 1]
            if char in _ARROWS and text[self.at + 1 : self.at + 2] == "(":
                words.append(self.word())
            elif is_redirected:
                redirections.append(self.redirection())
            elif not char or char in "\n;&|)":
                break
            elif char == "(":
                if len(words) != 1 or assignments or redirections:
                    raise Unreadable("unexpected '(' at character %d" % self.at)
                self.at += 1
                self.blanks()
                self.expect(")")
                return self.definition(words[0])
            else:
                self.operand(assignments, words)
        if not words and not assignments and not redirections:
            raise Unreadable("nothing to run at character %d" % self.at)
        return ("cmd", assignments, words, redirections)

    def operand(self, assignments: list[Any], words: list[Any]) -> None:
        start = self.at
        is_declared = bool(words) and isinstance(words[0], str) and words[0] in DECLARERS
        name = self.assigned() if not words or is_declared else ""
        if is_declared and self.text[self.at : self.at + 1] != "(":
            self.at = start
            name = ""
        # `x+=y` is `x=$x"y"`
        before = [("var", name, "", "", True)] if self.text[self.at - 2 : self.at] == "+=" else []
        if not name:
            words.append(self.word())
        elif self.text[self.at : self.at + 1] == "(":
            assignments.append((name, ([before] if before else []) + self.elements(), "array"))
        else:
            self.budget.take(words=1)
            at = self.at
            value = "" if self.text[at : at + 1] in _ENDS_WORD or at >= len(self.text) else self.word(assigning=True)
            assignments.append((name, _joined([*before, value]) if before else value))

    def elements(self) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        while True:
            self.lines()
            if self.text[self.at : self.at + 1] in ("", ")"):
                break
            close = self.text.find("]=", self.at, self.at + MAX_INDEX_CHARS) if self.text[self.at] == "[" else -1
            if close > 0:
                self.at = close + 2
            is_empty = close > 0 and self.text[self.at : self.at + 1] in _ENDS_WORD
            values.append("" if is_empty else self.word())
        self.expect(")")
        return values

    def assigned(self) -> str:
        """The name of the assignment that begins here, read up to its value; else "" and nothing read."""
        text, at = self.text, self.at
        end = at
        while end < len(text) and text[end] in _NAME:
            end += 1
        name = text[at:end]
        if not name or name[0] in _DIGITS:
            return ""
        if text[end : end + 1] == "[":
            close = self.closing("[", "]", end, MAX_INDEX_CHARS)
            if close < 0 or text[close : close + 1] not in ("=", "+"):
                return ""
            end = close
        if text[end : end + 2] == "+=":
            end += 1
        if text[end : end + 1] != "=":
            return ""
        self.at = end + 1
        return name

    def redirections(self) -> list[Any]:
        found: list[Any] = []
        while self.is_redirected():
            found.append(self.redirection())
        return found

    def is_redirected(self) -> bool:
        """Whether a redirection stands here, after blanks."""
        self.blanks()
        end = self.at
        while end < len(self.text) and self.text[end] in _DIGITS:
            end += 1
        return self.text[end : end + 1] in _ARROWS or self.text.startswith("&>", self.at)

    def redirection(self) -> Any:
        text, at = self.text, self.at
        while text[at] in _DIGITS:
            at += 1
        descriptor = text[self.at : at]
        for operator in ("<<<", "<<-", "&>>", "<<", "<>", "<&", ">>", ">&", ">|", "&>", "<", ">"):
            if text.startswith(operator, at):
                break
        else:
            raise Unreadable("no redirection at character %d" % at)
        self.at = at + len(operator)
        self.blanks()
        if operator in ("<<", "<<-"):
            body = [self.delimiter(), operator == "<<-", ""]
            self.bodies.append(body)
            return (descriptor, "<<", body)
        if self.text[self.at : self.at + 1] in ("", "\n"):
            raise Unreadable("a redirection to nothing")
        return (descriptor, operator, self.word())

    # Here-documents ------------------------------------------------------------------------------

    def delimiter(self) -> tuple[str, bool]:
        """The word that ends the body, and whether it was quoted: then nothing in the body is expanded."""
        start = self.at
        word = self.word()
        raw = self.text[start : self.at]
        quoted = "'" in raw or '"' in raw or "\\" in raw
        return (plain(word) if isinstance(word, str) else raw.strip("\"'"), quoted)

    def take_bodies(self) -> None:
        """Read the here-documents that were announced; `self.at` is at the start of a line."""
        waiting, self.bodies = self.bodies, []
        for body in waiting:
            (end, quoted), tabs, _ = body
            text = self.body_text(end, tabs)
            body[2] = text if quoted else self.substitutions(text)

    def body_text(self, end: str, tabs: bool) -> str:
        text, start = self.text, self.at
        at = start
        if self.depth > 1:  # read again at every depth
            self.budget.take(words=text.count("\n", at) // 10)
        while 0 <= at < len(text):
            found = text.find(end, at)  # most lines are passed over at once
            if found < 0:
                break
            at = text.rfind("\n", at, found) + 1 or at
            stop = text.find("\n", found)
            line = text[at:stop] if stop >= 0 else text[at:]
            if (line.lstrip("\t") if tabs else line).rstrip("\r") == end:
                self.at = stop + 1 if stop >= 0 else len(text)
                return text[start:at]
            # Inside $( ) the closing bracket may follow the delimiter on its line.
            if line.startswith(end) and line[len(end) :].lstrip()[:1] == ")" and self.depth > 1:
                self.at = at + len(end)
                return text[start:at]
            at = stop + 1 if stop >= 0 else -1
        self.at = len(text)
        return text[start:]

    def substitutions(self, text: str) -> Any:
        """Text as between double quotes, where a quote itself means nothing."""
        if "$" not in text and "`" not in text:
            return text
        if self.depth >= MAX_DEPTH:
            raise TooMuch("nested too deeply")
        inner = _Reader(text, self.depth + 1, self.budget)
        parts: list[Any] = []
        while inner.at < len(text):
            inner.quoted_piece(parts, quote="")
        return _joined(parts)

    # Words ---------------------------------------------------------------------------------------

    def word(self, *, assigning: bool = False) -> Any:
        self.budget.take(words=1)
        text = self.text
        start = self.at
        end = start
        size = len(text)
        while end < size and text[end] not in _SPECIAL:
            end += 1
        self.at = end
        if end > start and (end == size or text[end] in _ENDS_WORD) and not text.startswith("(", end):
            return text[start:end]
        parts: list[Any] = [text[start:end]] if end > start else []
        braces = 0
        while self.at < size:
            char = text[self.at]
            if char in _ENDS_WORD:
                if char in "<>" and text[self.at + 1 : self.at + 2] == "(" and not parts:
                    parts.append(self.process())
                    continue
                if (
                    char == "("
                    and parts
                    and isinstance(parts[-1], str)
                    and parts[-1][-1:] in (STAR, QUESTION, "@", "+", "!")
                ):
                    end = self.closing("(", ")", self.at)
                    if end > 0:  # an extended pattern
                        parts[-1] = parts[-1][:-1]
                        parts.append(STAR)
                        self.at = end
                        continue
                break
            braces = self.piece(parts, char, braces, assigning)
        if self.at == start:
            raise Unreadable("unexpected %r at character %d" % (text[start : start + 1], start))
        word = _joined(parts)
        return "[" if word == BRACKET else word

    def piece(self, parts: list[Any], char: str, braces: int, assigning: bool) -> int:
        self.budget.take(pieces=1)
        text = self.text
        self.at += 1
        if char == "'":
            end = text.find("'", self.at)
            if end < 0:
                raise Unreadable("an open '")
            parts.append(text[self.at : end])
            self.at = end + 1
        elif char == '"':
            parts.append("")
            end = text.find('"', self.at)
            if end > 0 and _IN_QUOTES.isdisjoint(text[self.at : end]):
                parts.append(text[self.at : end])
                self.at = end
            while text[self.at : self.at + 1] != '"':
                if self.at >= len(text):
                    raise Unreadable('an open "')
                self.quoted_piece(parts, quote='"')
            self.at += 1
        elif char == "\\":
            follows = text[self.at : self.at + 1]
            before = text[max(0, self.at - 60) : self.at - 1].rpartition(" ")[2]
            if follows.isalnum() and (before[1:2] == ":" or before[:5].lower() in ("%user", "$env:")):
                follows = "\\" + follows  # a path of Windows
            parts.append("" if follows == "\n" else follows or "\\")
            self.at += 1
        elif char == "$":
            self.dollar(parts, quoted=False)
        elif char == "`":
            parts.append(("run", self.backquoted(), False))
        elif char == "~":
            last = parts[-1][-1:] if parts and isinstance(parts[-1], str) else ""
            parts.append(TILDE if not parts or last in ("=", ":", OPEN, COMMA) else "~")
        elif char == "{":
            if text.startswith("}", self.at):
                parts.append("{}")
                self.at += 1
            else:
                parts.append(OPEN)
                braces += 1
        elif char == "," and braces:
            parts.append(COMMA)
        elif char == "}" and braces:
            parts.append(CLOSE)
            braces -= 1
        elif char in "*?[":
            parts.append(STAR if char == "*" else QUESTION if char == "?" else BRACKET)
        else:
            end = self.at
            while end < len(text) and text[end] not in _SPECIAL:
                end += 1
            parts.append(text[self.at - 1 : end])
            self.at = end
        return braces

    def quoted_piece(self, parts: list[Any], quote: str) -> None:
        """One more piece of text between double quotes, or of a here-document (`quote` is "")."""
        self.budget.take(pieces=1)
        text, at = self.text, self.at
        end = at
        size = len(text)
        while end < size and text[end] not in _IN_QUOTES:
            end += 1
        if end > at:
            parts.append(text[at:end])
            self.at = end
            return
        char = text[at]
        self.at += 1
        if char == "\\":
            follows = text[self.at : self.at + 1]
            if follows == "\n":
                parts.append("")
            else:
                parts.append(follows if follows and follows in ("$", "`", "\\", quote or "\0") else "\\" + follows)
            self.at += 1
        elif char == "$":
            self.dollar(parts, quoted=True)
        elif char == "`":
            parts.append(("run", self.backquoted(), True))
        else:
            parts.append(char)

    def dollar(self, parts: list[Any], *, quoted: bool) -> None:
        self.budget.take(pieces=1)
        text, at = self.text, self.at
        char = text[at : at + 1]
        if char == "(":
            end = self.arithmetic_end(at) if text.startswith("((", at) else -1
            if end > 0:
                parts.append(UNKNOWN)  # arithmetic
                parts.append(_aside(self.substitutions(text[at + 2 : end - 2])))
                self.at = end
                return
            self.at += 1
            self.budget.take(words=SUBSTITUTION_WORDS)
            tree = self.sequence(frozenset())
            if self.bodies:  # `$(cat <<EOF ... EOF)`: a body cannot begin after the bracket
                self.bodies = []
            self.expect(")")
            parts.append(("run", tree, quoted))
        elif char == "{":
            parts.append(self.parameter(quoted))
        elif char == "'" and not quoted:
            parts.append(self.ansi())
        elif char == '"' and not quoted:
            pass  # a string to be translated: the quote is read next
        elif char and char in _NAME and char not in _DIGITS:
            end = at
            while end < len(text) and text[end] in _NAME:
                end += 1
            self.at = end
            parts.append(("var", text[at:end], "", "", quoted))
        elif char and (char in _DIGITS or char in _SPECIAL_VARIABLES):
            self.at += 1
            parts.append(("var", char, "", "", quoted))
        else:
            parts.append("$")

    def parameter(self, quoted: bool) -> Any:
        self.budget.take(pieces=3)
        text = self.text
        self.at += 1
        end = self.at
        opened = self.at - 1
        if text[end : end + 1] in ("!", "#") and text[end + 1 : end + 2] != "}":
            self.at = self.closed(opened)
            inner = text[end + 1 : self.at - 1]
            if text[end] == "!" and _NAME.issuperset(inner):
                return ("var", inner, "!", "", quoted)
            return [UNKNOWN, *_aside(self.substitutions(inner))] if "$" in inner or "`" in inner else UNKNOWN
        while end < len(text) and text[end] in _NAME:
            end += 1
        if end == self.at:
            end += 1
        name = text[self.at : end]
        self.at = end
        if text[end : end + 1] == "[":
            close = self.closing("[", "]", end)
            if close < 0:
                raise Unreadable("an open ${")
            self.at = close
        close = self.closed(opened)
        rest = text[self.at : close - 1]
        self.at = close
        operator = rest[:2] if rest[:2] in (":-", ":=", ":?", ":+", "%%", "##", "//") else rest[:1]
        argument = self.substitutions(rest[len(operator) :]) if rest else ""
        if isinstance(argument, str) and argument[:1] in ("'", '"') and argument[-1:] == argument[:1]:
            argument = argument[1:-1]
        return ("var", name, operator, argument, quoted)

    def closed(self, at: int) -> int:
        """The position after the `}` of the `${` at `at`."""
        close = self.closing("{", "}", at)
        if close < 0:
            raise Unreadable("an open ${")
        return close

    def ansi(self) -> str:
        """The text of $'...'."""
        text = self.text
        at = self.at + 1
        found = []
        while True:
            char = text[at : at + 1]
            if not char:
                raise Unreadable("an open $'")
            at += 1
            if char == "'":
                break
            if char == "\\":
                decoded, at = _escape(text, at)
                found.append(decoded)
            else:
                found.append(char)
        self.at = at
        return "".join(found).translate(_SCRUBBED)

    def backquoted(self) -> Any:
        text, at = self.text, self.at
        found = []
        while True:
            char = text[at : at + 1]
            if not char:
                raise Unreadable("an open `")
            at += 1
            if char == "`":
                break
            if char == "\\" and text[at : at + 1] in ("`", "\\", "$"):
                char = text[at]
                at += 1
            found.append(char)
        self.at = at
        self.budget.take(words=SUBSTITUTION_WORDS)
        return read("".join(found), self.depth + 1, self.budget)

    def process(self) -> Any:
        self.at += 2
        tree = self.sequence(frozenset())
        self.expect(")")
        return ("file", tree)

    # Between words -------------------------------------------------------------------------------

    def blanks(self) -> None:
        text = self.text
        while True:
            char = text[self.at : self.at + 1]
            if char and char in _BLANK:
                self.at += 1
            elif char == "\\" and text[self.at + 1 : self.at + 2] == "\n":
                self.at += 2
            elif char == "\\" and text.startswith("\r\n", self.at + 1):
                self.at += 3
            elif char == "#" and (self.at == 0 or text[self.at - 1] in " \t\r\n;&|()`"):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def newline(self) -> None:
        self.at += 1
        if self.bodies:
            self.take_bodies()

    def lines(self) -> None:
        self.blanks()
        while self.text[self.at : self.at + 1] == "\n":
            self.newline()
            self.blanks()

    def lines_and_semicolons(self) -> None:
        self.lines()
        while self.text[self.at : self.at + 1] == ";":
            self.at += 1
            self.lines()

    def peek(self) -> str:
        """The reserved word that stands here, if one does."""
        text, at = self.text, self.at
        end = at
        while end < len(text) and end - at < 9 and text[end] not in _ENDS_WORD:
            end += 1
        word = text[at:end]
        return word if word in _RESERVED or word == "in" else ""

    def expect(self, token: str) -> None:
        self.lines()
        if not self.text.startswith(token, self.at):
            raise Unreadable("%r is missing at character %d" % (token, self.at))
        self.at += len(token)

    def closing(self, opener: str, closer: str, at: int, limit: int = MAX_BRACKET_CHARS) -> int:
        """The position after the bracket that closes the one at `at`; -1 when it stays open."""
        text = self.text
        depth = 0
        end = min(len(text), at + limit)
        is_quoted = False
        while at < end:
            char = text[at]
            if char == "\\":
                at += 1
            elif char == '"':
                is_quoted = not is_quoted
            elif is_quoted:
                pass
            elif char == "'":
                at = text.find("'", at + 1)
                if at < 0:
                    return -1
            elif char == opener:
                depth += 1
            elif char == closer:
                depth -= 1
                if depth == 0:
                    return at + 1
            at += 1
        return -1


def _joined(parts: list[Any]) -> Any:
    """Neighbouring strings made one; a word of nothing else is a plain string."""
    found: list[Any] = []
    texts: list[str] = []
    for part in (*parts, []):
        if isinstance(part, str):
            texts.append(part)
            continue
        if any(texts):
            found.append("".join(texts))
        texts = []
        if isinstance(part, list):
            found.extend(part)
        else:
            found.append(part)
    if not found:
        return ""
    return found[0] if len(found) == 1 and isinstance(found[0], str) else found


def _aside(word: Any) -> list[Any]:
    """The part that runs what a word runs, and stands for nothing."""
    return [("aside", word, True)] if isinstance(word, list) else []


def unescaped(text: str) -> str:
    """Text as `echo -e` and `printf` print it."""
    pieces: list[str] = []
    at = 0
    while True:
        next_at = text.find("\\", at)
        if next_at < 0 or next_at + 1 >= len(text) or len(pieces) > MAX_PIECES:
            return ("".join(pieces) + text[at:]).translate(_SCRUBBED if pieces else {})
        decoded, end = _escape(text, next_at + 1)
        pieces.append(text[at:next_at] + decoded)
        at = end


def _escape(text: str, at: int) -> tuple[str, int]:
    char = text[at : at + 1]
    if char in _ESCAPES:
        return _ESCAPES[char], at + 1
    if char and char in "01234567":
        return _number(text, at, 3, 8)
    if char in ("x", "u", "U"):
        return _number(text, at + 1, {"x": 2, "u": 4, "U": 8}[char], 16)
    if char == "c":
        return chr(ord(text[at + 1 : at + 2] or "@") & 31), at + 2
    return char, at + 1


def _number(text: str, at: int, most: int, base: int) -> tuple[str, int]:
    end = at
    digits = "0123456789abcdefABCDEF" if base == 16 else "01234567"
    while end < len(text) and end - at < most and text[end] in digits:
        end += 1
    code = int(text[at:end] or "0", base)
    return (chr(code) if code < 0x110000 else "\ufffd"), end
