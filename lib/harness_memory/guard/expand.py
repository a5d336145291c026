"""From shell text to the calls it would make: variables, directories, loops, functions, pipes and wrappers followed.

Nothing is run: each command is recorded as it is read, with its words as the shell would make them. What cannot be
known is `shell.UNKNOWN` in a word. What is conditional is taken to happen. Bounded in every direction by the limits.
"""

from __future__ import annotations

from ..base.process import system
from . import outputs, programs, shell
from .shell import OPEN, PASSED, TILDE, UNKNOWN, TooMuch, Unreadable, distinct, joined, name_of, split, unbraced
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .paths import Scope
    from .question import Question

MAX_INNER_CHARS = 60_000  # of a file that the script writes
MAX_NESTED = 30  # brackets, blocks, and shells within shells
MAX_SHOWN_WORDS = 60
SHELLS = frozenset("sh bash zsh dash ksh ash fish rbash mksh csh tcsh".split())
DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
CONTAINER, REMOTE, SCRIPT = "container", "remote", "a script"  # in `via`; not every line of a file on disk need run

_LIVE = {"*": shell.STAR, "?": shell.QUESTION, "[": shell.BRACKET}
_REREAD = {code: char for code, char in shell.PLAIN.items() if chr(code) != UNKNOWN}  # markers as first written


class Call:
    """One program with its arguments, as far as they can be known.

    `stdin` is the text it reads, a list of the calls that produce it, or None. `is_kept`: its output goes into a
    shell variable, where it stays unseen; `is_piped`: into another call. `elsewhere`: where it runs if the `cd` before
    it fails. `statements`: for a database, from files; the name of a file that cannot be read.
    """

    elsewhere = branch = where = ""
    stdin: Any = None
    is_kept = is_piped = False
    via: tuple[str, ...] = ()
    code: tuple[str, bool] = ("", False)  # that it runs, and whether that is a file on disk
    statements: tuple[str, ...] = ()
    _given: programs.Arguments | None = None

    def __init__(self, program: str, args: list[str], cwd: str) -> None:
        self.word = program
        self.program = programs.known_as(name_of(program))
        self.row = programs.row_of(self.program)
        self.args = args
        self.cwd = cwd
        self.redirections: list[tuple[str, str]] = []

    @property
    def given(self) -> programs.Arguments:
        if self._given is None:
            self._given = programs.parsed(self.row, self.args)
        return self._given

    def accesses(self) -> Iterator[tuple[str, str]]:
        """(kind, word) of every argument; of a program without a row, a guess."""
        return programs.accesses(self.row, self.given) if self.row else (("?", word) for word in self.args[:400])

    def redirected(self) -> list[tuple[str, str]]:
        return [("r" if operator == "<" else "w", word) for operator, word in self.redirections]

    def verb(self) -> tuple[str, list[str]]:
        """The first operand, as of `git`, and all arguments after it."""
        words = self.given.operands
        return (words[0], self.args[self.given.places[0] + 1 :]) if words else ("", [])

    def rest(self, skipped: int) -> list[str]:
        """The arguments from an operand on, options included."""
        places = self.given.places
        return self.args[places[skipped] :] if skipped < len(places) else []

    def line(self) -> str:
        via = programs.row_of("".join(self.via[-1:]))
        head = [self.via[-1] + ":"] if via and via.has_code else []  # python: rm -rf x
        return " ".join([*head, *(shell.plain(word) or "''" for word in (self.program, *self.args[:MAX_SHOWN_WORDS]))])

    def sources(self) -> list[Call]:
        """The calls whose output it reads."""
        return self.stdin if isinstance(self.stdin, list) else []


class Trace:
    """All calls of one script, and what could not be read of it."""

    def __init__(self, place: Question | Scope) -> None:
        self.budget = shell.Budget()
        self.home, self.project, self.env = place.home, place.project, place.env
        self.calls: list[Call] = []
        self.unread: list[str] = []
        self.problem = ""  # why the text itself could not be read
        self.traps: list[str] = []  # what runs in the end
        self.made: set[str] = set()  # paths that the script itself creates
        self.files: dict[str, str | list[Call]] = {}  # and pipes that it writes: the text, or the calls that make it

    def writers(self, cwd: str, word: str) -> list[Call]:
        """The calls that made a file whose text is not known, or whose output a word stands for: `/dev/fd/<n>`."""
        _, pipe, rest = word.partition("/dev/fd/")
        path = pipe + rest[: len(rest) - len(rest.lstrip("0123456789"))] if pipe else joined(cwd, word)
        calls = self.files.get(path)
        return calls if isinstance(calls, list) else []

    def piped(self, calls: list[Call]) -> str:
        path = "/dev/fd/%d" % len(self.files)
        self.files[path] = calls
        return path


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


class Shell(shell.Reader):
    """A shell that reads a text; a copy reads what has a state of its own."""

    elsewhere = branch = where = ""
    nested = 0
    is_kept = is_skipping = False  # skipping: nothing is recorded
    active: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    stdin: Any = None

    def __init__(self, text: str, found: Trace, cwd: str) -> None:
        super().__init__(text, found.budget)
        self.trace = found
        self.cwd = cwd
        self.stack: list[str] = []
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, str] = {}

    def copy(self, text: str | None = None) -> Shell:
        other = Shell(self.text, self.trace, self.cwd)
        other.__dict__.update(self.__dict__)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.stack = list(self.stack)
        if text is not None:
            other.deeper()
            other.text, other.at, other.jumps = text, 0, {}
        return other

    def deeper(self) -> None:
        self.nested += 1
        if self.nested > MAX_NESTED:
            raise TooMuch("nested too deeply")

    # Commands ------------------------------------------------------------------------------------

    def script(self) -> None:
        self.sequence()
        if self.at < len(self.text):
            raise self.fail("unexpected %r" % self.next())

    def sequence(self, closer: str = "") -> Any:
        """Read commands up to a closing bracket, `;;` or the reserved word `closer`; what they write if it is one."""
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
            text = outputs.said(made[0], self.trace) if is_simple and made else None
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
            if self.arithmetic() is None:
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
            else:
                self.loop()
        return False

    def arithmetic(self) -> str | None:
        inner = super().arithmetic()
        if inner is not None:
            self.expanded(inner)
        return inner

    def bracketed(self) -> tuple[Any, list[Call]]:
        """Run what stands in brackets in a shell of its own: what it writes if it is one command, and its calls."""
        before = len(self.trace.calls)
        inner = self.copy()
        inner.at += 1
        written = inner.sequence()
        inner.expect(")")
        self.at = inner.at
        return written, self.trace.calls[before:]

    def loop(self) -> None:
        """`for x in …`: the name stands for every word; what follows is read once."""
        if self.arithmetic() is not None:
            return
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

    def up_to(self, mark: str) -> str:
        start, end = self.at, self.text.find(mark, self.at)
        if end < 0:
            raise self.fail("%r is missing" % mark)
        self.at = end + len(mark)
        return self.text[start:end]

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

    # Simple commands -----------------------------------------------------------------------------

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
            if len(words) > 4 * shell.MAX_LISTED:
                raise TooMuch("too long")
        if self.at == start:
            raise self.fail("nothing to run")
        for name in assigned if words and words[0] not in DECLARERS and not self.is_skipping else ():
            if name.startswith(("HARNESS_MEMORY", "CLAUDE", "LD_", "DYLD_")):  # of the command alone
                self.record("export", [name + "=" + self.variables[name][0]])
            elif name == "HOME":
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
        before = self.value(name, "", "") if self.text[self.at - 2] == "+" else []
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
                text = outputs.said(call, self.trace)
                self.trace.made.add(joined(self.cwd, target))
                self.write(target, [*call.sources(), call] if text is None else text, adds=operator == ">>")

    def record(self, program: str, args: list[str]) -> Call:
        self.budget.take(shell.CALL + len(args))
        call = Call(program, args, self.cwd)
        for name in ("via", "where", "stdin", "is_kept", "branch", "elsewhere"):
            setattr(call, name, getattr(self, name))
        self.trace.calls.append(call)
        return call

    def write(self, name: str, content: str | list[Call], *, adds: bool = False) -> None:
        path = joined(self.cwd, name)
        before = self.trace.files.get(path, "") if adds else ""
        if isinstance(before, str) and isinstance(content, str):
            content = (before + content)[:MAX_INNER_CHARS]
        self.trace.files[path] = content

    def run(self, call: Call) -> None:
        name, args = call.program, call.args
        if (name == UNKNOWN or "=" in name) and args:  # an empty variable before a command vanishes
            self.follow([*args])
        elif name in self.functions:
            this = name + self.functions[name]  # one that redefines itself is another
            if this not in self.active:
                inner = self.inside(self.functions[name])
                inner.active, inner.stdin = (*self.active, this), call.stdin
                inner.positional(args)
                inner.script()
                self.take_over(inner)
        elif name in ("cd", "pushd", "chdir", "set-location", "popd"):
            self.change_directory(name, args)
        elif name in DECLARERS:
            self.variables.update({key: [value] for key, equals, value in [a.partition("=") for a in args] if value})
        elif name in ("read", "mapfile", "readarray"):
            values = outputs.fed_words(self.stdin, lines=True) or [UNKNOWN]
            self.variables.update({arg: values for arg in args if arg[:1] != "-"})
        elif name == "set":
            if args and (args[0] == "--" or args[0][:1] not in ("-", "+")):
                self.positional(args[args[0] == "--" :])
        elif name == "shift":
            self.positional(self.variables.get("@", [])[1:])
        elif name == "trap":
            self.trace.traps += [arg for arg in args if arg not in ("--", "-p", "-l")][:1]
        elif name == "alias":
            self.functions.update({key: value + ' "$@"' for key, _, value in [arg.partition("=") for arg in args]})
        else:
            from .follow import follow

            follow(self, call)

    def positional(self, args: list[str]) -> None:
        self.variables["@"] = self.variables["*"] = list(args)
        self.variables.update({str(number): [arg] for number, arg in enumerate(args[:9], 1)})

    def change_directory(self, name: str, args: list[str]) -> None:
        operands = [arg for arg in args if not arg.startswith("-") or arg == "-"]
        before = self.cwd
        if name == "popd":
            self.cwd = self.stack.pop() if self.stack else UNKNOWN
            return
        self.elsewhere = ""
        if not operands:
            self.cwd = self.variables.get("HOME", [TILDE])[0]
        elif operands[0] == "-" or not self.cwd:
            self.cwd = self.variables.get("OLDPWD", [UNKNOWN])[0]
        else:
            self.cwd = joined(self.cwd, operands[0])
            self.elsewhere = before if self.is_missing(self.cwd) else ""
        self.variables["OLDPWD"] = [before]
        self.stack += [before] if name == "pushd" else []

    def is_missing(self, path: str) -> bool:
        """Whether a folder that can be seen lacks this one, which nothing here makes either."""
        full = self.trace.home + path[1:] if path[:1] == TILDE else path
        if UNKNOWN in full or not full.startswith("/") or any(full.startswith(made) for made in self.trace.made):
            return False
        for place, is_seen in ((full.rpartition("/")[0] or "/", False), (full, True)):
            try:
                system.lstat(place)
            except (OSError, ValueError):
                return is_seen
        return False

    # Scripts within the script ------------------------------------------------------------------

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
        """Shell text handed to a shell."""
        if not text.strip():
            return
        inner = self.inside(text if text.isascii() else text.translate(_REREAD), via, where)
        if args is not None:
            inner.positional(args)
        try:
            self.budget.take(len(text) // 3)
            inner.script()
        except Unreadable:
            self.trace.unread += [inner.text] if SCRIPT not in inner.via else []
            return
        if not via:
            self.take_over(inner)

    # Words ---------------------------------------------------------------------------------------

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
                values = [self.until("'", "")]
            elif char == '"':
                values = self.quoted('"')
            elif char == "\\":
                values = ["" if self.next() == "\n" else self.next() or char]
                self.at += 1
            elif char in "$`":
                is_split = not whole and self.next() not in ("'", '"')
                values = self.dollar() if char == "$" else self.backquoted()
            elif char == "~":
                is_start = all(not each or each[-1] in "=:" + OPEN + shell.COMMA for each in made)
                values = [TILDE if is_start else "~"]
            elif char == "{" and self.next() == "}":
                self.at += 1
                values = ["{}"]
            elif char == "{" or (char in ",}" and braces):
                values = [{"{": OPEN, ",": shell.COMMA, "}": shell.CLOSE}[char]]
                braces += (char == "{") - (char == "}")
            elif char in _LIVE:
                values = [_LIVE[char]]
            else:
                values = [char + self.span(shell.SPECIAL, without=True)]
            if is_split:  # each value may be several words, or none
                values = [shell.SPLIT.join(split(value)) or shell.SPLIT * bool(value) for value in values]
            is_bare = is_bare and is_split
            made = self.product(made, values)
        if self.at == start:
            raise self.fail("unexpected %r" % self.next())
        if whole:
            return made
        words = [word for each in made for word in each.split(shell.SPLIT) if word or not is_bare]
        if made == [shell.BRACKET]:
            return ["["]
        return [each for word in words for each in (self.unbraced(word) if OPEN in word else [word])]

    def unbraced(self, word: str) -> list[str]:
        words = unbraced(word)
        self.budget.take(shell.WORD * len(words))
        return words

    def product(self, heads: list[str], tails: list[str]) -> list[str]:
        """Every head with every tail; where that is too much, nothing is known: `x=$x$x`, thirty times over."""
        self.budget.left -= sum([len(each) for each in tails]) // 8
        is_many = len(heads) > 1 and len(heads) * len(tails) > shell.MAX_PRODUCT
        if is_many or self.budget.left < 0:
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
            values = [self.span(shell.IN_QUOTES, without=True)]
            char, follows = self.next(), self.next(2)[1:]
            self.at += 1
            if char == "" or char == quote:
                if char != quote:
                    raise self.fail("an open " + quote)
                return self.product(made, values)
            made = self.product(made, values)
            if char == "\\":
                is_escaped = follows and follows in ("$", "`", "\\", quote or "\0")
                values = ["" if follows == "\n" else follows if is_escaped else "\\" + follows]
                self.at += 1
            else:
                values = self.dollar() if char == "$" else self.backquoted() if char == "`" else [char]
            made = self.product(made, values)

    def dollar(self) -> list[str]:
        """What `$…` stands for; the `$` is read."""
        char, start = self.next(), self.at
        if char == "(":
            return [UNKNOWN] if self.arithmetic() is not None else self.output(*self.bracketed())
        if char == "{":
            return self.parameter(self.bracket("{", "}"))
        if char == "'":
            self.at += 1
            return [shell.unescaped(self.until("'", "'\\"))]
        if char == '"':
            return [""]  # a string to be translated: the quote is read next
        if char in shell.DIGITS or (char and char in "@*#?$!-"):
            self.at += 1
        name = self.text[start : self.at] or self.span(shell.NAME)
        return self.value(name, "", "") if name else ["$"]

    def backquoted(self) -> list[str]:
        text = self.until("`", "`\\$")
        for char in "`$\\":
            text = text.replace("\\" + char, char)
        before, inner = len(self.trace.calls), self.copy(text)
        written = inner.sequence()
        return self.output(written, self.trace.calls[before:])

    def output(self, written: Any, made: list[Call]) -> list[str]:
        """The values that a substitution stands for."""
        self.budget.take(shell.SUBSTITUTION)
        if isinstance(written, str):
            return self.product([""], [written.rstrip("\n")])
        words = outputs.fed_words(written, lines=True)
        is_telling = words == [UNKNOWN] and any(outputs.is_telling(call) for call in made)
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
        if argument[:1] in ("'", '"') and argument[-1:] == argument[:1]:
            argument = argument[1:-1]
        return self.value(name, operator, argument)

    def value(self, name: str, operator: str, argument: str) -> list[str]:
        known = self.variables.get(name)
        known = self.inherited(name) if known is None else known
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
        own = {"HOME": TILDE, "PWD": self.cwd, "IFS": " "}
        if name in own:
            return [own[name]]
        if name in ("TMPDIR", "TMP", "TEMP"):
            return [self.trace.env.get(name) or "/tmp"]
        call = Call("printenv", [name], self.cwd)
        if outputs.shows_secret(call):
            return [UNKNOWN + self.trace.piped([call])]
        value = self.trace.env.get(name).translate(shell.PLAIN)
        return [value] if value else None  # unset here may be set there
