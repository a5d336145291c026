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
STAR, QUESTION, BRACKET, TILDE = "\ue001", "\ue002", "\ue003", "\ue004"
OPEN, COMMA, CLOSE = "\ue005", "\ue006", "\ue007"  # of a brace expansion
MARKERS = "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007"
GLOBS = frozenset((STAR, QUESTION, BRACKET))
PLAIN = dict(zip(map(ord, MARKERS), "…*?[~{,}"))

MAX_DEPTH = 50
MAX_COST = 30_000  # of a script and all that it holds, in the units below
WORD, PIECE, COMMAND, SUBSTITUTION = 4, 2, 12, 20  # piece: of a word, between escapes, quotes and expansions
MAX_ARITHMETIC_CHARS = 1000
MAX_BRACKET_CHARS = 5_000

_ENDS_WORD = frozenset(" \t\r\n;&|<>()")
_SPECIAL = _ENDS_WORD | frozenset("\\'\"$`*?[~{},=:")
_IN_QUOTES = frozenset('"\\$`')
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS = frozenset("0123456789")
_RESERVED = frozenset("if then elif else fi while until for select do done case esac function { } [[ ! time in".split())
_CLOSERS = dict(
    zip("if while until for select case function { [[".split(), "fi done done done done esac . } ]]".split())
)
_JOINTS = ("then", "elif", "else", "do")  # between the parts of a compound command
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", ">>", ">&", ">|", "&>", "<", ">")
_OPERATORS = (":-", ":=", ":?", ":+", "%%", "##", "//")
DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_LIVE = {"*": STAR, "?": QUESTION, "[": BRACKET}
_SCRUBBED = dict.fromkeys(PLAIN, "�")


class Unreadable(ValueError):
    """Not shell text, or beyond the limits."""


class TooMuch(Unreadable):
    """Beyond the limits."""


class Budget:
    """What one question is worth; shared by all readers of its scripts."""

    left = MAX_COST
    files = 12  # scripts read from disk

    def take(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise TooMuch("too long")


def read(text: str, depth: int = 0, budget: Budget | None = None) -> Any:
    """The tree of a script; Unreadable when it is none."""
    if not depth and not text.isascii():
        text = text.translate(_SCRUBBED)  # only the reader may write markers
    reader = _Reader(text, depth, budget or Budget())
    tree = reader.sequence()
    if reader.at < len(reader.text):
        raise reader.fail("unexpected %r" % reader.next())
    reader.take_bodies()
    return tree


def plain(word: str) -> str:
    """A word as a person would write it."""
    return word if word.isascii() else word.translate(PLAIN)


class _Reader:
    def __init__(self, text: str, depth: int, budget: Budget) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.budget = budget
        self.bodies: list[list[Any]] = []  # here-documents announced on this line

    def next(self, width: int = 1) -> str:
        return self.text[self.at : self.at + width]

    def fail(self, what: str) -> Unreadable:
        return Unreadable("%s at character %d" % (what, self.at))

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")

    # Commands ------------------------------------------------------------------------------------

    def sequence(self, *stops: str) -> Any:
        """Commands up to a closing bracket, `;;` or one of the reserved words `stops`, which is left unread."""
        self.deeper()
        found: list[Any] = []
        while True:
            self.blanks()
            char, two, word = self.next(), self.next(2), self.peek()
            if not char or char == ")" or two == ";;" or (word and word in stops):
                break
            if char == "\n":
                self.newline()
            elif (char == "&" and two != "&>") or char in ";|":
                if found and two in ("&&", "||"):
                    found[-1] = ("and", found[-1])  # its failure is noticed
                    self.at += 1
                self.at += 1
            elif stops and word in _JOINTS:
                self.at += len(word)
            else:
                found.append(self.pipeline())
                if self.next() == "&" and self.next(2) not in ("&&", "&>"):
                    found[-1] = ("sub", found[-1], [])  # in the background, with a state of its own
        self.depth -= 1
        return found[0] if len(found) == 1 else ("seq", found)

    def pipeline(self) -> Any:
        found = []
        while True:
            while self.peek() in ("!", "time"):
                self.budget.take(WORD)
                self.at += len(self.peek())
                self.blanks()
            found.append(self.command())
            self.blanks()
            if self.next() != "|" or self.next(2) == "||":
                return found[0] if len(found) == 1 else ("pipe", found)
            self.at += 2 if self.next(2) == "|&" else 1
            self.lines()

    def command(self) -> Any:
        word = self.peek()
        if self.next() == "(":
            inner = self.arithmetic()
            if inner is not None:
                return ("cmd", [], ["((", inner], self.redirections())
            return ("sub", self.bracketed(), self.redirections())
        if word not in _RESERVED:
            return self.simple()
        if word not in _CLOSERS:
            raise self.fail("unexpected %r" % word)
        self.at += len(word)
        self.blanks()
        if word == "function":
            name = self.word()
            self.blanks()
            if self.next() == "(":
                self.bracketed()
            return self.definition(name)
        if word == "[[":
            return self.test()
        if word == "case":
            tree = self.cases()
        elif word in ("for", "select"):
            tree = self.iteration()
        else:
            tree = self.block(_CLOSERS[word])
        return ("group", tree, self.redirections())

    def bracketed(self) -> Any:
        self.at += 1
        tree = self.sequence()
        self.expect(")")
        return tree

    def block(self, closer: str) -> Any:
        tree = self.sequence(closer)
        self.expect(closer)
        return tree

    def arithmetic(self) -> Any:
        """What `((...))` holds, read; None where these are the brackets of two subshells."""
        end = self.closing("(", ")", self.at + 1, MAX_ARITHMETIC_CHARS) if self.next(2) == "((" else -1
        if end < 0 or self.text[end : end + 1] != ")":
            return None
        inner = self.text[self.at + 2 : end - 1]
        self.at = end + 1
        return self.substitutions(inner)

    def iteration(self) -> Any:
        if self.next(2) == "((":
            head = self.arithmetic()
            return ("seq", [("cmd", [], ["((", head or ""], []), self.loop()])
        name = self.word()
        self.lines()
        words: list[Any] | None = None
        if self.peek() == "in":
            self.at += 2
            words = []
            self.blanks()
            while self.next() not in ("", ";", "\n", "&"):
                words.append(self.word())
                self.blanks()
        return ("for", name if isinstance(name, str) else "", words, self.loop())

    def loop(self) -> Any:
        self.lines()
        while self.next() == ";":
            self.at += 1
            self.lines()
        is_braced = self.peek() == "{"
        self.expect("{" if is_braced else "do")
        return self.block("}" if is_braced else "done")

    def cases(self) -> Any:
        found: list[Any] = [("cmd", [], ["case", self.word()], [])]
        self.expect("in")
        while True:
            self.lines()
            if self.peek() == "esac":
                self.at += 4
                return ("seq", found)
            if self.next() == "(":
                self.at += 1
            while self.next() != ")":
                self.blanks()
                found[0][2].extend([part] for part in _aside(self.word()))
                self.blanks()
                self.at += self.next() == "|"
            self.at += 1
            found.append(self.sequence("esac"))
            while self.next() and self.next() in ";&":
                self.at += 1

    def definition(self, name: Any) -> Any:
        self.lines()
        self.deeper()
        tree = self.command()
        self.depth -= 1
        return ("function", name if isinstance(name, str) else "", tree)

    def test(self) -> Any:
        words: list[Any] = ["[["]
        while words[-1] != "]]" or len(words) == 1:
            self.lines()
            if not self.next():
                raise self.fail("a `[[` without `]]`")
            if self.next() in "<>&|();":
                self.at += 1
            else:
                words.append(self.word())
        return ("cmd", [], words[:-1], self.redirections())

    # Simple commands -----------------------------------------------------------------------------

    def simple(self) -> Any:
        self.budget.take(COMMAND)
        assignments: list[Any] = []
        words: list[Any] = []
        redirections: list[Any] = []
        while True:
            redirections += self.redirections()
            char = self.next()
            if not char or char in "\n;&|)":
                break
            if char == "(":
                if len(words) != 1 or assignments or redirections:
                    raise self.fail("unexpected '('")
                self.at += 1
                self.expect(")")
                return self.definition(words[0])
            word = self.word()
            is_declared = bool(words) and isinstance(words[0], str) and words[0] in DECLARERS
            name, value, before = _assigned(word) if not words or is_declared else ("", "", [])
            if name and self.next() == "(" and value == "":
                assignments.append((name, [*([before] if before else []), *self.elements()], "array"))
            elif name and not words:
                assignments.append((name, _joined([*before, value]) if before else value))
            else:
                words.append(word)
        if not words and not assignments and not redirections:
            raise self.fail("nothing to run")
        return ("cmd", assignments, words, redirections)

    def elements(self) -> list[Any]:
        self.at += 1
        values: list[Any] = []
        self.lines()
        while self.next() not in ("", ")"):
            values.append(self.word())
            self.lines()
        self.expect(")")
        return values

    def redirections(self) -> list[Any]:
        found: list[Any] = []
        while True:
            self.blanks()
            at = self.span(self.at, _DIGITS)
            operator = next((each for each in _REDIRECTIONS if self.text.startswith(each, at)), "")
            if not operator or (operator[0] == "&" and at > self.at) or self.text[at : at + 2] in ("<(", ">("):
                return found
            descriptor, self.at = self.text[self.at : at], at + len(operator)
            self.blanks()
            if self.next() in ("", "\n"):
                raise self.fail("a redirection to nothing")
            start, word = self.at, self.word()
            if operator in ("<<", "<<-"):
                raw = self.text[start : self.at]
                is_quoted = not {"'", '"', "\\"}.isdisjoint(raw)  # then nothing in the body is expanded
                end = plain(word) if isinstance(word, str) else raw.strip("\"'")
                word = [(end, is_quoted), operator == "<<-", ""]
                self.bodies.append(word)
            found.append((descriptor, operator[:2] if operator == "<<-" else operator, word))

    def span(self, at: int, chars: frozenset[str]) -> int:
        """The position after those of these characters that stand at `at`."""
        while at < len(self.text) and self.text[at] in chars:
            at += 1
        return at

    # Here-documents ------------------------------------------------------------------------------

    def take_bodies(self) -> None:
        """Read the here-documents that were announced; `self.at` is at the start of a line."""
        waiting, self.bodies = self.bodies, []
        for body in waiting:
            (end, is_quoted), has_tabs, _ = body
            text = self.body_text(end, "\t" if has_tabs else "")
            body[2] = text if is_quoted else self.substitutions(text)

    def body_text(self, end: str, tabs: str) -> str:
        text, start, at = self.text, self.at, self.at
        if self.depth > 1:  # read again at every depth
            self.budget.take(text.count("\n", at) // 2)
        while at < len(text):
            found = text.find(end, at)  # most lines are passed over at once
            if found < 0:
                break
            at = text.rfind("\n", at, found) + 1 or at
            stop = text.find("\n", found)
            stop = stop if stop >= 0 else len(text)
            if text[at:stop].lstrip(tabs or "\n").rstrip("\r") == end:
                self.at = min(stop + 1, len(text))
                return text[start:at]
            at = stop + 1
        self.at = len(text)
        return text[start:]

    def substitutions(self, text: str) -> Any:
        """Text as between double quotes, where a quote itself means nothing."""
        if "$" not in text and "`" not in text:
            return text
        inner = _Reader(text, self.depth, self.budget)
        inner.deeper()
        parts: list[Any] = []
        while inner.at < len(text):
            inner.quoted_piece(parts, quote="")
        return _joined(parts)

    # Words ---------------------------------------------------------------------------------------

    def word(self) -> Any:
        self.budget.take(WORD)
        text, start, size = self.text, self.at, len(self.text)
        end = start
        while end < size and text[end] not in _SPECIAL:
            end += 1
        self.at = end
        if end > start and (end == size or text[end] in _ENDS_WORD):
            return text[start:end]
        parts: list[Any] = [text[start:end]] if end > start else []
        braces = 0
        if self.next(2) in ("<(", ">("):
            self.at += 1
            parts.append(("file", self.bracketed()))
        while self.at < size and text[self.at] not in _ENDS_WORD:
            braces = self.piece(parts, text[self.at], braces)
        if self.at == start:
            raise self.fail("unexpected %r" % text[start : start + 1])
        word = _joined(parts)
        return "[" if word == BRACKET else word

    def piece(self, parts: list[Any], char: str, braces: int) -> int:
        self.budget.take(PIECE)
        text = self.text
        self.at += 1
        if char == "'":
            end = text.find("'", self.at)
            if end < 0:
                raise self.fail("an open '")
            parts.append(text[self.at : end])
            self.at = end + 1
        elif char == '"':
            parts.append("")
            while self.next() != '"':
                if self.at >= len(text):
                    raise self.fail('an open "')
                self.quoted_piece(parts, quote='"')
            self.at += 1
        elif char == "\\":
            parts.append("" if self.next() == "\n" else self.next() or "\\")
            self.at += 1
        elif char in "$`":
            self.dollar(parts, quoted=False) if char == "$" else parts.append(("run", self.backquoted(), False))
        elif char == "~":
            last = parts[-1][-1:] if parts and isinstance(parts[-1], str) else ""
            parts.append(TILDE if not parts or last in ("=", ":", OPEN, COMMA) else "~")
        elif char == "{":
            is_empty = self.next() == "}"
            parts.append("{}" if is_empty else OPEN)
            self.at += is_empty
            braces += not is_empty
        elif char in ",}" and braces:
            parts.append(COMMA if char == "," else CLOSE)
            braces -= char == "}"
        elif char in _LIVE:
            parts.append(_LIVE[char])
        else:
            end = self.at
            while end < len(text) and text[end] not in _SPECIAL:
                end += 1
            parts.append(text[self.at - 1 : end])
            self.at = end
        return braces

    def quoted_piece(self, parts: list[Any], quote: str) -> None:
        """One more piece of text between double quotes, or of a here-document (`quote` is "")."""
        self.budget.take(PIECE)
        text, end = self.text, self.at
        while end < len(text) and text[end] not in _IN_QUOTES:
            end += 1
        if end > self.at:
            parts.append(text[self.at : end])
            self.at = end
            return
        char = text[end]
        self.at += 1
        if char == "\\":
            follows = self.next()
            is_escaped = follows and follows in ("$", "`", "\\", quote or "\0")
            parts.append("" if follows == "\n" else follows if is_escaped else "\\" + follows)
            self.at += 1
        elif char == "$":
            self.dollar(parts, quoted=True)
        elif char == "`":
            parts.append(("run", self.backquoted(), True))
        else:
            parts.append(char)

    def dollar(self, parts: list[Any], *, quoted: bool) -> None:
        self.budget.take(PIECE)
        at, char = self.at, self.next()
        if char == "(":
            inner = self.arithmetic()
            if inner is not None:
                parts += [UNKNOWN, _aside(inner)]
                return
            self.budget.take(SUBSTITUTION)
            tree = self.bracketed()
            self.bodies = []  # `$(cat <<EOF ... EOF)`: a body cannot begin after the bracket
            parts.append(("run", tree, quoted))
        elif char == "{":
            parts.append(self.parameter(quoted))
        elif char == "'" and not quoted:
            parts.append(self.ansi())
        elif char == '"' and not quoted:
            pass  # a string to be translated: the quote is read next
        elif char and (char in _NAME or char in "@*#?$!-"):
            self.at = at + 1 if char not in _NAME or char in _DIGITS else self.span(at, _NAME)
            parts.append(("var", self.text[at : self.at], "", "", quoted))
        else:
            parts.append("$")

    def parameter(self, quoted: bool) -> Any:
        """`${...}`"""
        self.budget.take(3 * PIECE)
        opened = self.at
        self.at = self.closing("{", "}", opened)
        if self.at < 0:
            raise Unreadable("an open ${ at character %d" % opened)
        inner = self.text[opened + 1 : self.at - 1]
        if inner[:1] in ("!", "#") and len(inner) > 1:
            return [UNKNOWN, *_aside(self.substitutions(inner[1:]))]
        end = max(self.span(opened + 1, _NAME) - opened - 1, 1)
        rest = inner[end:].partition("]")[2] if inner[end : end + 1] == "[" else inner[end:]
        operator = rest[:2] if rest[:2] in _OPERATORS else rest[:1]
        argument = self.substitutions(rest[len(operator) :])
        if isinstance(argument, str) and argument[:1] in ("'", '"') and argument[-1:] == argument[:1]:
            argument = argument[1:-1]
        return ("var", inner[:end], operator, argument, quoted)

    def ansi(self) -> str:
        """The text of $'...'."""
        start = end = self.at + 1
        while self.text[end : end + 1] != "'":
            if end >= len(self.text):
                raise self.fail("an open $'")
            end += 2 if self.text[end] == "\\" else 1
        self.at = end + 1
        return unescaped(self.text[start:end])

    def backquoted(self) -> Any:
        text, at = self.text, self.at
        found = []
        while text[at : at + 1] != "`":
            if at >= len(text):
                raise self.fail("an open `")
            at += text[at] == "\\" and text[at + 1 : at + 2] in ("`", "\\", "$")
            found.append(text[at])
            at += 1
        self.at = at + 1
        self.budget.take(SUBSTITUTION)
        return read("".join(found), self.depth + 1, self.budget)

    # Between words -------------------------------------------------------------------------------

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

    def newline(self) -> None:
        self.at += 1
        if self.bodies:
            self.take_bodies()

    def lines(self) -> None:
        self.blanks()
        while self.next() == "\n":
            self.newline()
            self.blanks()

    def peek(self) -> str:
        """The reserved word that stands here, if one does."""
        end = self.at
        while end < len(self.text) and end - self.at < 9 and self.text[end] not in _ENDS_WORD:
            end += 1
        word = self.text[self.at : end]
        return word if word in _RESERVED else ""

    def expect(self, token: str) -> None:
        self.lines()
        if not self.text.startswith(token, self.at):
            raise self.fail("%r is missing" % token)
        self.at += len(token)

    def closing(self, opener: str, closer: str, at: int, limit: int = MAX_BRACKET_CHARS) -> int:
        """The position after the bracket that closes the one at `at`; -1 when it stays open."""
        text, depth, is_quoted = self.text, 0, False
        end = min(len(text), at + limit)
        while 0 <= at < end:
            char = text[at]
            if char == "\\":
                at += 1
            elif char == '"':
                is_quoted = not is_quoted
            elif char == "'" and not is_quoted:
                at = text.find("'", at + 1)
                if at < 0:
                    return -1
            elif not is_quoted:
                depth += (char == opener) - (char == closer)
                if depth == 0:
                    return at + 1
            at += 1
        return -1


def _assigned(word: Any) -> tuple[str, Any, list[Any]]:
    """The name, the value and what stands before that (`x+=y` is `x=$x"y"`) of an assignment; "" for another word."""
    text = word if isinstance(word, str) else word[0] if isinstance(word[0], str) else ""
    name, equals, rest = text.partition("=")
    bare = name.rstrip("+").partition(BRACKET)[0]
    if not equals or not bare or bare[0] in _DIGITS or not _NAME.issuperset(bare):
        return "", "", []
    before: list[Any] = [("var", bare, "", "", True)] if name[-1] == "+" else []
    return bare, rest if isinstance(word, str) else _joined([rest, *word[1:]]), before


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
        found.extend(part if isinstance(part, list) else [part])
    return "" if not found else found[0] if len(found) == 1 and isinstance(found[0], str) else found


def _aside(word: Any) -> list[Any]:
    """The part that runs what a word runs, and stands for nothing."""
    return [("aside", word, True)] if isinstance(word, list) else []


def unescaped(text: str) -> str:
    """Text as `echo -e`, `printf` and $'...' make it."""
    try:
        made = text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except ValueError:
        return text
    return made.translate(_SCRUBBED)
