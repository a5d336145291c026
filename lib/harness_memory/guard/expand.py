"""From shell text to the calls it would make: pipelines, loops, functions and scripts within the script followed.

Nothing is run: each command is recorded as it is read, with its words as the shell would make them (`expansion`). What
is conditional is taken to happen. Bounded in every direction by the limits.
"""

from __future__ import annotations

from ..base.typing import Any
from . import calls, shell
from .calls import REMOTE, SCRIPT, Call, Trace
from .expansion import Words
from .follow import follow
from .shell import PASSED, TILDE, UNKNOWN, Unreadable, distinct, joined
from .state import DECLARERS, change, set_arguments
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope
    from .question import Question

_REREAD = {code: char for code, char in shell.PLAIN.items() if chr(code) != UNKNOWN}  # markers as first written


def trace(text: str, place: Question | Scope) -> Trace:
    """The calls of a script; where it is not shell text, or beyond the limits, it is `unread` from there on."""
    found = Trace(place)
    try:
        outer = Shell(text if text.isascii() else text.translate(shell.SCRUBBED), found, place.cwd)
        outer.script()
        for trap in found.traps:
            outer.read_text(trap)
    except Unreadable as error:
        found.unread.append(text)
        found.problem = str(error)
    return found


class Shell(Words):
    elsewhere = branch = where = ""
    is_skipping = False  # nothing is recorded
    active: tuple[str, ...] = ()  # functions
    via: tuple[str, ...] = ()
    stdin: Any = None

    def script(self) -> None:
        self.sequence()
        if self.at < len(self.text):
            raise self.fail("unexpected %r" % self.next())

    def sequence(self, closer: str = "") -> Any:
        self.deeper()
        written: list[Any] = []
        braces = 0
        while True:
            self.lines()
            char, two, word = self.next(), self.next(2), self.peek()
            if not char or char == ")" or two == ";;" or (word and word == closer and not braces):
                break
            if (char == "&" and two != "&>") or char in ";|":
                self.elsewhere = "" if two in ("&&", "||") else self.elsewhere  # a failure is noticed
                self.at += 2 if written and two in ("&&", "||") else 1
            elif word in PASSED:
                braces += (word == "{") - (word == "}")
                self.budget.take(shell.WORD)
                self.at += len(word)
            else:
                written.append(self.pipeline())
        self.nested -= 1
        return written[0] if len(written) == 1 else None

    def pipeline(self) -> Any:
        outer = self.stdin
        while True:
            while self.peek() in PASSED:
                self.budget.take(shell.WORD)
                self.at += len(self.peek())
                self.lines()
            before = len(self.trace.calls)
            is_simple = self.command()
            made = self.trace.calls[before:]
            text = calls.said(made[0], self.trace) if is_simple and made else None
            written: Any = (made[0].sources() if made else []) + made if text is None else text
            self.blanks()
            if self.next() != "|" or self.next(2) == "||":
                self.stdin = outer
                return written
            self.stdin = written
            for call in made:
                call.is_piped = True
            self.at += 2 if self.next(2) == "|&" else 1
            self.lines()

    def command(self) -> bool:
        """Whether it was a simple one."""
        word = self.peek()
        if self.next() == "(":
            if not self.arithmetic():
                self.bracketed()
            self.perform([], self.redirections())
        elif not word or word in PASSED:
            self.simple()
            return True
        else:
            self.at += len(word)
            self.blanks()
            if word == "function":
                name = "".join(self.word())
                self.blanks()
                if self.next() == "(":
                    self.bracketed()
                self.define(name)
            elif word == "[[":
                self.expanded(self.up_to("]]"))
            elif word == "case":
                self.cases()
            elif not self.arithmetic():
                self.loop()
        return False

    def loop(self) -> None:
        """`for x in …`: the name stands for every word; what follows is read once."""
        name, values = "".join(self.word()), self.variables.get("@", [])
        self.lines()
        if self.peek() == "in":
            self.at += 2
            values = []
            self.blanks()
            while self.next() not in ("", ";", "\n", "&"):
                values += self.word()
                self.blanks()
        self.variables[name] = distinct(values) or [UNKNOWN]

    def cases(self) -> None:
        self.word()
        self.expect("in")
        while True:
            self.lines()
            if self.peek() == "esac":
                self.at += 4
                return
            self.expanded(self.up_to(")"))
            self.sequence("esac")
            while self.next() and self.next() in ";&":
                self.at += 1

    def define(self, name: str) -> None:
        """A function is its text, read again at every call."""
        self.lines()
        inner = self.copy()
        inner.deeper()
        inner.is_skipping = True
        if inner.peek() == "{":
            inner.at += 1
            inner.sequence("}")
            inner.expect("}")
        else:
            inner.command()
        self.functions[name] = self.text[self.at : inner.at]
        self.at = inner.at

    def simple(self) -> None:
        self.budget.take(shell.COMMAND)
        words: list[str] = []
        redirections: list[tuple[str, str, str]] = []
        assigned: list[str] = []
        start = self.at
        while True:
            redirections += self.redirections()
            char = self.next()
            if not char or char in "\n;&|)":
                break
            if char == "(":
                if len(words) != 1 or assigned or redirections:
                    raise self.fail("unexpected '('")
                self.at += 1
                self.expect(")")
                self.define(words[0])
                return
            is_declared = bool(words) and words[0] in DECLARERS
            name = self.assignment() if not words or is_declared else ""
            is_telling = not {*words[:1], " ".join(words[:2])}.isdisjoint(WORDS["tellers"])  # what it is given
            outer, self.is_kept = self.is_kept, self.is_kept or bool(name) or (bool(words) and not is_telling)
            if name:
                self.variables[name] = self.assigned_value(name)
                assigned.append(name)
            words += self.word() if not name else [name + "=" + self.variables[name][0]] if is_declared else []
            self.is_kept = outer
        if self.at == start:
            raise self.fail("nothing to run")
        for name in assigned if words and words[0] not in DECLARERS and not self.is_skipping else ():
            if name.startswith(("HARNESS_MEMORY", "CLAUDE", "LD_", "DYLD_", "HOME")):  # of the command alone
                self.record("export", [name + "=" + self.variables[name][0]])
            if name == "HOME":
                del self.variables[name]
        self.perform(words, redirections)

    def assignment(self) -> str:
        """The name of the assignment that begins here, read up to its value; else "" and nothing read."""
        self.budget.take(shell.WORD)
        start = self.at
        name = self.span(shell.NAME)
        if name and self.next() == "[":
            self.at = max(self.text.find("]", self.at) + 1, self.at)
        self.at += self.next(2) == "+="
        if not name or name[0] in shell.DIGITS or self.next() != "=":
            self.at = start
            return ""
        self.at += 1
        return name

    def assigned_value(self, name: str) -> list[str]:
        before = self.value(name) if self.text[self.at - 2] == "+" else []
        if self.next() != "(":
            is_empty = not self.next() or self.next() in shell.ENDS_WORD
            values = [""] if is_empty else self.word(whole=True)
            return self.product(before, values) if before else values
        values = list(before)
        self.at += 1
        self.lines()
        while self.next() not in ("", ")"):
            values += self.word()
            self.lines()
        self.expect(")")
        return distinct(values) or [""]

    def redirections(self) -> list[tuple[str, str, str]]:
        """(descriptor, operator, word or text) of the redirections that stand here."""
        found: list[tuple[str, str, str]] = []
        while True:
            self.blanks()
            if self.next() not in shell.REDIRECTS:
                return found
            start, descriptor = self.at, self.span(shell.DIGITS)
            operator = next((each for each in shell.REDIRECTIONS if self.text.startswith(each, self.at)), "")
            if not operator or (operator[0] == "&" and descriptor) or self.next(2) in ("<(", ">("):
                self.at = start
                return found
            self.at += len(operator)
            self.blanks()
            if self.next() in ("", "\n"):
                raise self.fail("a redirection to nothing")
            start = self.at
            words = self.word(whole=operator == "<<<")
            if operator in ("<<", "<<-"):
                raw = self.text[start : self.at]
                body = self.here_document("".join(words), "\t" if operator == "<<-" else "")
                is_quoted = not {"'", '"', "\\"}.isdisjoint(raw)  # then nothing in the body is expanded
                words = [body] if is_quoted else [" ".join(self.expanded(body))]
            found += [(descriptor, operator[:2] if operator == "<<-" else operator, word) for word in words]

    def perform(self, words: list[str], redirections: list[tuple[str, str, str]]) -> None:
        if self.is_skipping or not (words or redirections):
            return
        if "HOME" in self.variables:
            home = self.variables["HOME"][0]
            words = [home + word[1:] if word[:2] in (TILDE, TILDE + "/") else word for word in words]
        call = self.record(words[0] if words else "", words[1:])
        for descriptor, operator, word in redirections:
            if operator in ("<<", "<<<"):
                call.stdin = word
            elif operator not in (">&", "<&") or not (word.isdigit() or word == "-"):
                call.redirections.append((operator, word))
                if operator == "<" and descriptor in ("", "0"):
                    call.stdin = self.trace.files.get(joined(self.cwd, word))
        if words:
            outer, self.stdin = self.stdin, call.stdin
            self.run(call)
            self.stdin = outer
        for operator, target in call.redirections:
            if operator in (">", ">>", ">|"):  # a script that the script writes itself can be followed when it is run
                text, path = calls.said(call, self.trace), joined(self.cwd, target)
                self.trace.make(path)
                self.trace.write(path, [*call.sources(), call] if text is None else text, adds=operator == ">>")

    def record(self, program: str, args: list[str]) -> Call:
        self.budget.take(shell.CALL + 2 * len(args))
        call = Call(program, args, self.cwd)
        call.number = len(self.trace.calls)
        for name in ("via", "where", "stdin", "is_kept", "branch", "elsewhere"):
            setattr(call, name, getattr(self, name))
        self.trace.calls.append(call)
        return call

    def run(self, call: Call) -> None:
        name, args = call.program, call.args
        if (name == UNKNOWN or "=" in name) and args[name == "=" :]:  # an empty variable before a command vanishes
            self.follow([*args])
        elif name in self.functions:
            this = name + self.functions[name]  # one that redefines itself is another
            if this not in self.active:
                inner = self.inside(self.functions[name])
                inner.active, inner.stdin = (*self.active, this), call.stdin
                set_arguments(inner, args)
                inner.script()
                self.take_over(inner)
        elif not change(self, call):
            follow(self, call)

    def inside(self, text: str, via: str = "", where: str = "") -> Shell:
        """The shell that runs what a program was given."""
        inner = self.copy(text)
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        inner.cwd = TILDE if where == REMOTE else "/" if where else self.cwd
        return inner

    def take_over(self, inner: Shell) -> None:
        self.cwd, self.elsewhere, self.branch = inner.cwd, inner.elsewhere, inner.branch
        self.variables = inner.variables

    def follow(self, words: list[str], *, via: str = "", where: str = "") -> None:
        if len(words) == 1 and " " in words[0]:
            self.read_text(words[0], via=via, where=where)
        elif words:
            inner = self.inside("", via, where)
            inner.run(inner.record(words[0], words[1:]))
            if via in ("", "command", "builtin"):
                self.cwd = inner.cwd

    def read_text(self, text: str, *, via: str = "", where: str = "", args: list[str] | None = None) -> None:
        inner = self.inside(text if text.isascii() else text.translate(_REREAD), via, where)
        if args is not None:
            set_arguments(inner, args)
        try:
            self.budget.take(len(text) // 3)
            inner.script()
        except Unreadable:
            self.trace.unread += [inner.text] if SCRIPT not in inner.via else []
            return
        if not via:
            self.take_over(inner)
