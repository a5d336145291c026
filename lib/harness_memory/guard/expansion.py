"""Words as the shell makes them: quotes, variables, substitutions, braces and patterns.

What cannot be known is `shell.UNKNOWN` in a word; a variable of several possible values makes several words.
"""

from __future__ import annotations

from ..base.typing import Any
from . import calls, shell
from .calls import Call
from .shell import CLOSE, COMMA, MAX_PRODUCT, OPEN, TILDE, UNKNOWN, Reader, Unreadable, split, unbraced
from .words import HOME_PLACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from .calls import Trace

    Self = TypeVar("Self", bound="Words")

MAX_NESTED = 30  # brackets, blocks, and shells within shells
_LIVE = {"*": shell.STAR, "?": shell.QUESTION, "[": shell.BRACKET}
_BRACES = {"{": OPEN, ",": COMMA, "}": CLOSE}


class Words(Reader):
    """A shell as far as words need it; a copy reads what has a state of its own."""

    nested = 0
    is_kept = False

    def __init__(self, text: str, found: Trace, cwd: str) -> None:
        super().__init__(text, found.budget)
        self.trace = found
        self.cwd = cwd
        self.stack: list[str] = []
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, str] = {}

    def copy(self: Self, text: str | None = None) -> Self:
        other = type(self)(self.text, self.trace, self.cwd)
        other.__dict__.update(self.__dict__)
        other.variables, other.functions, other.stack = dict(self.variables), dict(self.functions), list(self.stack)
        if text is not None:
            other.deeper()
            other.text, other.at, other.jumps = text, 0, {}
        return other

    def deeper(self) -> None:
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise Unreadable("nested too deeply")

    def sequence(self, closer: str = "") -> Any:
        """Read commands up to a closing bracket, `;;` or the reserved word `closer`; what they write if it is one."""
        raise NotImplementedError

    def word(self, *, whole: bool = False) -> list[str]:
        """The words that stand here as the shell makes them; `whole`: not split at blanks."""
        self.budget.take(shell.WORD)
        text, start = self.text, self.at
        made, braces = [self.span(shell.SPECIAL, without=True)], 0
        if self.at > start and (self.at == len(text) or text[self.at] in shell.ENDS_WORD):
            return made
        is_bare = self.at == start
        if self.next(2) in ("<(", ">("):
            self.at += 1
            made = [self.trace.piped(self.bracketed()[1])]
        while self.at < len(text) and text[self.at] not in shell.ENDS_WORD:
            self.budget.take(shell.PIECE)
            char, is_split = self.next(), False
            self.at += 1
            if char == "'":
                values = [self.up_to("'")]
            elif char == '"':
                values = self.quoted('"')
            elif char == "\\":
                values = ["" if self.next() == "\n" else self.next() or char]
                if made[0][1:2] == ":" or made[0][:1] == "%":  # C:\\Users, %HOME%\\x
                    values = ["/" + values[0]]
                self.at += 1
            elif char in "$`":
                is_split = not whole and self.next() not in ("'", '"')
                values = self.substituted(char)
            elif char == "~":
                is_start = all(not each or each[-1] in "=:" + OPEN + COMMA for each in made)
                values = [TILDE if is_start else "~"]
            elif char == "{" and self.next() == "}":
                self.at += 1
                values = ["{}"]
            elif char == "{" or (char in ",}" and braces):
                values = [_BRACES[char]]
                braces += (char == "{") - (char == "}")
            else:
                values = [_LIVE.get(char) or char + self.span(shell.SPECIAL, without=True)]
            if is_split:  # each value may be several words, or none
                values = [shell.SPLIT.join(split(value)) or shell.SPLIT * bool(value) for value in values]
            is_bare = is_bare and is_split
            made = self.product(made, values)
        if self.at == start:
            raise self.fail("unexpected %r" % self.next())
        if whole:
            return made
        if made == [shell.BRACKET]:
            return ["["]
        words = [word for each in made for word in each.split(shell.SPLIT) if word or not is_bare]
        words = [each for word in words for each in (unbraced(word) if OPEN in word else [word])]
        self.budget.take(shell.WORD * (len(words) - 1))
        return words

    def product(self, heads: list[str], tails: list[str]) -> list[str]:
        """Every head with every tail; where that is too much, nothing is known: `x=$x$x`, thirty times over."""
        self.budget.left -= sum([len(each) for each in tails]) // 8 + len("".join(heads[:1])) // 1000
        if self.budget.left < 0 or (len(heads) > 1 and len(heads) * len(tails) > MAX_PRODUCT):
            tails = [UNKNOWN]
        return [head + tail for head in heads for tail in tails]

    def expanded(self, text: str) -> list[str]:
        """Text as between double quotes, where a quote itself means nothing."""
        return [text] if "$" not in text and "`" not in text else self.copy(text).quoted("")

    def quoted(self, quote: str) -> list[str]:
        """The values of the text up to a double quote, or to the end where `quote` is ""."""
        made = [""]
        while True:
            self.budget.take(shell.PIECE)
            made = self.product(made, [self.span(shell.IN_QUOTES, without=True)])
            char, follows = self.next(), self.next(2)[1:]
            self.at += 1
            if char in ("", quote):
                if char != quote:
                    raise self.fail("an open " + quote)
                return made
            values = [char]
            if char == "\\":
                is_escaped = follows and follows in ("$", "`", "\\", quote or "\0")
                values = ["" if follows == "\n" else follows if is_escaped else "\\" + follows]
                self.at += 1
            elif char != '"':
                values = self.substituted(char)
            made = self.product(made, values)

    def substituted(self, mark: str) -> list[str]:
        """What stands for `$…` or a text in backquotes, whose first character is read."""
        char, start = self.next(), self.at
        if mark == "`":
            text = self.until("`")
            for each in "`$\\":
                text = text.replace("\\" + each, each)
            before = len(self.trace.calls)
            written = self.copy(text).sequence()
            return self.output(written, self.trace.calls[before:])
        if char == "(":
            return [UNKNOWN] if self.arithmetic() else self.output(*self.bracketed())
        if char == "{":
            return self.parameter(self.bracket("{", "}"))
        if char == "'":
            self.at += 1
            return [shell.unescaped(self.until("'"))]
        if char == '"':
            return [""]  # a string to be translated: the quote is read next
        if char in shell.DIGITS or (char and char in "@*#?$!-"):
            self.at += 1
        name = self.text[start : self.at] or self.span(shell.NAME)
        return self.value(name) if name else ["$"]

    def bracketed(self) -> tuple[Any, list[Call]]:
        """Run what stands in brackets in a shell of its own: what it writes if it is one command, and its calls."""
        before = len(self.trace.calls)
        inner = self.copy()
        inner.at += 1
        written = inner.sequence()
        inner.expect(")")
        self.at = inner.at
        return written, self.trace.calls[before:]

    def arithmetic(self) -> bool:
        """Pass over `((...))`; False, and nothing read, where these are the brackets of two subshells."""
        start = self.at
        try:
            self.at += self.next(2) == "(("
            inner = self.bracket("(", ")") if self.at > start else ""
        except Unreadable:
            pass
        if self.at > start + 1 and self.next() == ")":
            self.at += 1
            self.expanded(inner)
            return True
        self.at = start
        return False

    def output(self, written: Any, made: list[Call]) -> list[str]:
        """The values that a substitution stands for."""
        self.budget.take(shell.SUBSTITUTION)
        if isinstance(written, str):
            return self.product([""], [written.rstrip("\n")])
        words = calls.fed_words(written, lines=True)
        is_telling = words == [UNKNOWN] and any(calls.is_telling(call) for call in made)
        return [UNKNOWN + self.trace.piped(made)] if is_telling else words

    def parameter(self, inner: str) -> list[str]:
        """`${...}`"""
        if inner[:1] in ("!", "#") and len(inner) > 1:
            self.expanded(inner[1:])
            return [UNKNOWN]
        name = inner[: max(len(inner) - len(inner.lstrip("".join(shell.NAME))), 1)]
        rest = inner[len(name) :]
        rest = rest.partition("]")[2] if rest[:1] == "[" else rest
        operator = rest[:2] if rest[:2] in shell.OPERATORS else rest[:1]
        argument = rest[len(operator) :]
        argument = argument[1:-1] if argument[:1] in ("'", '"') and argument[-1:] == argument[:1] else argument
        return self.value(name, operator, argument)

    def value(self, name: str, operator: str = "", argument: str = "") -> list[str]:
        known = self.variables[name] if name in self.variables else self.inherited(name)
        if operator in (":-", "-", ":=", "="):
            if known is None or known == [""]:
                known = self.expanded(argument)
                self.variables.update({name: known} if "=" in operator else {})
            return known
        others = self.expanded(argument)
        if operator in (":+", "+"):
            return others if known is not None else [""]
        if known is None:
            return [UNKNOWN]
        if operator in ("", ":?", "?"):
            return known
        if (operator, argument) in (("%", "/*"), ("##", "*/")):
            return [value.rpartition("/")[0 if operator == "%" else 2] for value in known]
        if operator in ("%", "%%") and set(argument).isdisjoint("*?[$`"):
            return [value[: -len(argument)] if argument and value.endswith(argument) else value for value in known]
        return [UNKNOWN]

    def inherited(self, name: str) -> list[str] | None:
        temporary = self.trace.env.get(name) or "/tmp"
        own = {"HOME": TILDE, "PWD": self.cwd, "IFS": " ", "TMPDIR": temporary, "TMP": temporary, "TEMP": temporary}
        if name in own:
            return [own[name]]
        call = Call("printenv", [name], self.cwd)
        if calls.shows_secret(call):
            return [UNKNOWN + self.trace.piped([call])]
        value = self.trace.env.get(name).translate(shell.PLAIN)
        value = value or (TILDE + HOME_PLACES[name.lower()] if name.lower() in HOME_PLACES else "")
        return [value] if value else None  # unset here may be set there
