"""From shell text to the calls it would make: variables, directories, loops, functions, pipes and wrappers followed.

Nothing is run. What cannot be known is `shell.UNKNOWN` in a word. Bounded in every direction by the limits below.
"""

from __future__ import annotations

from ..base.process import system
from . import outputs, programs, shell
from .shell import DECLARERS, OPEN, TILDE, UNKNOWN, TooMuch, Unreadable
from .words import MAX_LISTED, MAX_PRODUCT, SPLIT, distinct, joined, name_of, split, unbraced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .question import Environment

CALL, TREE = 36, 5  # what a call and a walk through a tree cost
MAX_INNER_CHARS = 60_000  # of a file that the script writes
MAX_DEPTH = 12
MAX_ROUNDS = 4
MAX_SHOWN_WORDS = 60
SHELLS = frozenset("sh bash zsh dash ksh ash fish rbash mksh csh tcsh".split())
CONTAINER, REMOTE = "container", "remote"
NEVER_SENT = ("SECRET_ACCESS_KEY", "PRIVATE_KEY", "SIGNING_KEY", "ENCRYPTION_KEY")  # unlike tokens
SCRIPT = "a script"  # in `via`: read from a file on disk, where not every line need run

_REREAD = {code: char for code, char in shell.PLAIN.items() if chr(code) != UNKNOWN}  # markers as first written


class Call:
    """One program with its arguments, as far as they can be known.

    `stdin` is the text it reads, a list of the calls that produce it, or None. `is_kept`: its output goes into a
    shell variable, where it stays unseen. `elsewhere`: where it runs if the `cd` before it fails.
    """

    elsewhere = branch = where = ""
    stdin: Any = None
    is_kept = False
    via: tuple[str, ...] = ()
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

    def verb(self) -> tuple[str, list[str]]:
        """The first operand, as of `git`, and all arguments after it."""
        words = self.given.operands
        return (words[0], self.args[self.given.places[0] + 1 :]) if words else ("", [])

    def rest(self, skipped: int) -> list[str]:
        """The arguments from an operand on, options included."""
        places = self.given.places
        return self.args[places[skipped] :] if skipped < len(places) else []

    def line(self) -> str:
        return " ".join([shell.plain(word) or "''" for word in (self.program, *self.args[:MAX_SHOWN_WORDS])])

    def sources(self) -> list[Call]:
        """The calls whose output it reads."""
        return self.stdin if isinstance(self.stdin, list) else []


class Trace:
    """All calls of one script, and what could not be read of it."""

    def __init__(self, home: str, project: str, env: Environment, budget: shell.Budget | None = None) -> None:
        self.budget = budget or shell.Budget()
        self.home = home
        self.project = project
        self.env = env
        self.calls: list[Call] = []
        self.unread: list[str] = []
        self.made: set[str] = set()  # paths that the script itself creates
        self.files: dict[str, str | list[Call]] = {}  # that it writes: the text, or the calls that make it
        self.pipes: list[list[Call]] = []  # who writes /dev/fd/<n>

    def made_by(self, word: str) -> list[Call]:
        """The calls whose output a word stands for: `/dev/fd/<n>`."""
        number = word.partition("/dev/fd/")[2].split()[:1]
        is_number = bool(number) and number[0].isdecimal() and len(number[0]) < 6
        return self.pipes[int(number[0])] if is_number and int(number[0]) < len(self.pipes) else []

    def writers(self, cwd: str, word: str) -> list[Call]:
        """The calls that made a file whose text is not known."""
        calls = self.files.get(joined(cwd, word))
        return calls if isinstance(calls, list) else []

    def piped(self, calls: list[Call]) -> str:
        self.pipes.append(calls)
        return "/dev/fd/%d" % (len(self.pipes) - 1)


def trace(text: str, cwd: str, home: str, project: str, env: Environment, within: Trace | None = None) -> Trace:
    """Unreadable when the text is not a shell script; beyond the limits it is `unread`, but for the calls before that.

    `within`: whose commands hold the text.
    """
    found = Trace(home, project, env, within.budget if within else None)
    found.made = within.made if within else found.made
    try:
        Shell(found, cwd).run(shell.read(text, 2 if within else 0, found.budget))
    except TooMuch:
        found.unread.append(text)
    return found


class Shell:
    """The state of a shell; a copy runs what has a state of its own."""

    elsewhere = branch = where = ""
    depth = 0
    is_kept = is_strict = False  # strict: a failure ends it, or is noticed
    active: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    stdin: Any = None

    def __init__(self, found: Trace, cwd: str) -> None:
        self.trace = found
        self.cwd = cwd
        self.stack: list[str] = []
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, str] = {}  # of git
        self.local_names: set[str] = set()

    def copy(self, *, deeper: int = 0) -> Shell:
        other = Shell(self.trace, self.cwd)
        other.__dict__.update(self.__dict__)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.stack = list(self.stack)
        other.local_names = set()
        other.depth += deeper
        if other.depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")
        return other

    # Trees ---------------------------------------------------------------------------------------

    def run(self, tree: Any) -> None:
        self.trace.budget.take(TREE)
        kind = tree[0]
        if kind == "cmd":
            self.command(tree[1], tree[2], tree[3])
        elif kind == "seq":
            for each in tree[1]:
                self.run(each)
        elif kind == "and":
            before, self.is_strict = self.is_strict, True
            self.run(tree[1])
            self.is_strict = before
        elif kind == "pipe":
            self.pipe(tree[1])
        elif kind in ("sub", "group"):
            (self.copy() if kind == "sub" else self).compound(tree[1], tree[2])
        elif kind == "for":
            self.iterate(tree[1], tree[2], tree[3])
        else:
            self.functions[tree[1]] = tree[2]

    def compound(self, tree: Any, redirections: list[Any]) -> None:
        outer = self.stdin
        if redirections:
            call = self.record("", [])
            self.redirect(call, redirections)
            self.stdin = call.stdin if call.stdin is not None else outer
        self.run(tree)
        self.stdin = outer

    def pipe(self, trees: list[Any]) -> None:
        feed = self.stdin
        for tree in trees:
            before = len(self.trace.calls)
            side = self.copy()
            side.stdin = feed
            side.run(tree)
            feed = self.output(self.trace.calls[before:], tree)

    def output(self, made: list[Call], tree: Any) -> Any:
        """What a command writes: its text where that can be known, else the calls that write it."""
        if tree[0] in ("cmd", "pipe") and made:
            text = outputs.said(made[0] if tree[0] == "cmd" else made[-1], self.trace)
            if text is not None:
                return text
        return (made[0].sources() if made else []) + made

    def iterate(self, name: str, words: list[Any] | None, body: Any) -> None:
        values = distinct(self.variables.get("@", []) if words is None else self.words(words)) or [UNKNOWN]
        rounds = [[value] for value in values[:MAX_ROUNDS]] + [values[MAX_ROUNDS:]]
        for each in [each for each in rounds if each]:
            self.variables[name] = each
            self.run(body)

    # Simple commands -----------------------------------------------------------------------------

    def command(self, assignments: list[Any], words: list[Any], redirections: list[Any]) -> None:
        declares = bool(words) and isinstance(words[0], str) and words[0] in DECLARERS
        self.assign(assignments, for_child=bool(words) and not declares)
        expanded = self.words(words, kept=declares)
        call = self.record(expanded[0] if expanded else "", expanded[1:])
        self.redirect(call, redirections)
        if expanded:
            outer, self.stdin = self.stdin, call.stdin
            self.perform(call)
            self.stdin = outer
        self.keep_output(call)

    def record(self, program: str, args: list[str]) -> Call:
        self.trace.budget.take(CALL + len(args))
        call = Call(program, args, self.cwd)
        for name in ("via", "where", "stdin", "is_kept", "branch", "elsewhere"):
            setattr(call, name, getattr(self, name))
        self.trace.calls.append(call)
        return call

    def assign(self, assignments: list[Any], *, for_child: bool) -> None:
        for assignment in assignments:
            name, value = assignment[0], assignment[1]
            values = self.words(value, kept=True) if len(assignment) == 3 else self.quoted(value)
            if for_child and name.startswith(("HARNESS_MEMORY", "CLAUDE")):
                self.record("export", [name + "=" + values[0]])
            if not for_child or (name not in self.variables and name != "HOME"):
                self.variables[name] = values  # seen by the `sh -c '...$NAME'` that may follow

    def redirect(self, call: Call, redirections: list[Any]) -> None:
        for descriptor, operator, target in redirections:
            if operator in ("<<", "<<<"):
                word = target[2] if operator == "<<" else target
                call.stdin = " ".join(self.words([word]) if isinstance(word, str) else self.quoted(word))
                continue
            for word in self.words([target]):
                if operator in (">&", "<&") and (word.isdigit() or word == "-"):
                    continue
                call.redirections.append((operator, word))
                if operator == "<" and descriptor in ("", "0"):
                    call.stdin = self.trace.files.get(joined(self.cwd, word)) or self.trace.made_by(word) or None

    def keep_output(self, call: Call) -> None:
        """A script that the script writes itself can be followed when it is run."""
        for operator, target in call.redirections:
            if operator in (">", ">>", ">|"):
                text = outputs.said(call, self.trace)
                self.trace.made.add(joined(self.cwd, target))
                self.write(target, [*call.sources(), call] if text is None else text, adds=operator == ">>")

    def write(self, name: str, content: str | list[Call], *, adds: bool = False) -> None:
        path = joined(self.cwd, name)
        before = self.trace.files.get(path, "") if adds else ""
        if isinstance(before, str) and isinstance(content, str):
            content = (before + content)[:MAX_INNER_CHARS]
        self.trace.files[path] = content

    def perform(self, call: Call) -> None:
        name, args = call.program, call.args
        if name == UNKNOWN and args:  # an empty variable before a command vanishes
            self.follow([*args])
        elif name in self.functions:
            self.invoke(name, args, call.stdin)
        elif name in ("cd", "pushd", "chdir", "set-location", "popd"):
            self.change_directory(name, args)
        elif name in DECLARERS:
            for key, equals, value in [arg.partition("=") for arg in args]:
                if equals:
                    self.variables[key] = [value]
                if name in ("local", "declare", "typeset"):
                    self.local_names.add(key)
        elif name in ("read", "mapfile", "readarray"):
            values = outputs.fed_words(self.stdin, lines=True) or [UNKNOWN]
            self.variables.update({arg: values for arg in args if arg[:1] != "-"})
        elif name == "set":
            self.set_options(args)
        elif name == "shift":
            count = int(args[0]) if args and args[0].isdecimal() and len(args[0]) < 10 else 1
            self.positional(self.variables.get("@", [])[count:])
        elif name == "trap":
            for arg in [arg for arg in args if arg not in ("--", "-p", "-l")][:1]:
                self.text(arg)
        else:
            from .follow import follow

            follow(self, call)

    def invoke(self, name: str, args: list[str], stdin: Any) -> None:
        tree = self.functions[name]
        this = "%s %d" % (name, id(tree))  # one that redefines itself is another
        if this in self.active:
            return
        inner = self.copy(deeper=1)
        inner.stdin = stdin
        inner.local_names = {str(number) for number in range(10)} | {"@", "*"}
        inner.active = (*self.active, this)
        inner.positional(args)
        inner.run(tree)
        self.cwd, self.elsewhere, self.branch = inner.cwd, inner.elsewhere, inner.branch
        self.variables.update((key, value) for key, value in inner.variables.items() if key not in inner.local_names)

    def positional(self, args: list[str]) -> None:
        self.variables["@"] = self.variables["*"] = list(args)
        self.variables.update({str(number): [arg] for number, arg in enumerate(args[:9], 1)})

    def set_options(self, args: list[str]) -> None:
        at = 0
        while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
            self.is_strict = self.is_strict or (args[at][0] == "-" and "e" in args[at]) or "errexit" in args
            at += 2 if args[at][-1:] == "o" else 1
        if at < len(args):
            self.positional(args[at + 1 :] if args[at] in ("-", "--") else args[at:])

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
            self.elsewhere = before if not self.is_strict and self.is_missing(self.cwd) else ""
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

    def inside(self, via: str, where: str, directory: str) -> Shell:
        """The shell that runs what a program was given."""
        inner = self.copy(deeper=1)
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        inner.cwd = TILDE if where == REMOTE else "/" if where else self.cwd
        inner.cwd = joined(self.cwd, directory) if directory else inner.cwd
        return inner

    def follow(self, words: list[str], *, via: str = "", where: str = "", directory: str = "") -> None:
        if not words:
            return
        inner = self.inside(via, where, directory)
        inner.perform(inner.record(words[0], words[1:]))
        if via in ("", "command", "builtin"):
            self.cwd = inner.cwd

    def text(
        self, text: str, *, via: str = "", where: str = "", args: list[str] | None = None, directory: str = ""
    ) -> None:
        """Shell text handed to a shell."""
        if not text.strip():
            return
        inner = self.inside(via, where, directory)
        if args is not None:
            inner.positional(args)
        source = text if text.isascii() else text.translate(_REREAD)
        try:
            self.trace.budget.take(len(source) // 3)
            tree = shell.read(source, max(1, self.depth), self.trace.budget)
        except Unreadable:
            if SCRIPT not in inner.via:
                self.trace.unread.append(source)
            return
        inner.run(tree)
        if not via:
            self.cwd, self.elsewhere, self.variables = inner.cwd, inner.elsewhere, inner.variables

    # Expansion -----------------------------------------------------------------------------------

    def words(self, words: list[Any], *, kept: bool = False) -> list[str]:
        found: list[str] = []
        for word in words:
            found += self.expanded([word] if isinstance(word, str) else word, kept)
            if len(found) > 4 * MAX_LISTED:
                raise TooMuch("too long")
        if "HOME" in self.variables:
            home = self.variables["HOME"][0]
            found = [home + word[1:] if word[:2] in (TILDE, TILDE + "/") else word for word in found]
        return found

    def quoted(self, word: Any) -> list[str]:
        """The values of an assignment: no splitting into words."""
        if isinstance(word, str):
            return [word]
        parts = [part if isinstance(part, str) or part[0] == "file" else (*part[:-1], True) for part in word]
        return self.expanded(parts, True) or [""]

    def expanded(self, parts: list[Any], kept: bool) -> list[str]:
        results = [""]
        for part in parts:
            values = [part] if isinstance(part, str) else self.part(part, kept)
            if not isinstance(part, str) and not part[-1]:  # each value may be several words, or none
                values = [SPLIT.join(split(value)) or SPLIT * bool(value) for value in values]
            if not values:
                continue
            if len(results) > 1 and (len(results) * len(values) > MAX_PRODUCT or not self.can_afford(values)):
                values = [UNKNOWN]
            results = [result + value for result in results for value in values]
        found = []
        for word in [word for result in results for word in result.split(SPLIT)]:
            found.extend(self.unbraced(word) if OPEN in word else [word])
        is_bare = len(parts) == 1 and not isinstance(parts[0], str) and not parts[0][-1]
        return [word for word in found if word] if is_bare else found

    def unbraced(self, word: str) -> list[str]:
        words = unbraced(word)
        self.trace.budget.take(TREE * len(words))
        return words

    def can_afford(self, values: list[str]) -> bool:
        """Whether so much more text may be made: `x=$x$x`, thirty times over, would be all there is."""
        self.trace.budget.left -= sum([len(value) for value in values]) // 8
        return self.trace.budget.left >= 0

    def part(self, part: Any, kept: bool) -> list[str]:
        kind = part[0]
        if kind == "var":
            values = self.value(part[1], part[2], part[3])
            return values if self.can_afford(values) else [UNKNOWN]
        if kind == "aside":
            self.quoted(part[1])
            return []
        before = len(self.trace.calls)
        inner = self.copy(deeper=1)
        inner.is_kept = kept or self.is_kept
        inner.run(part[1])
        made = self.trace.calls[before:]
        if kind == "file":
            return [self.trace.piped(made)]
        output = self.output(made, part[1])
        if isinstance(output, str):
            return [output.rstrip("\n")] if self.can_afford([output]) else [UNKNOWN]
        words = outputs.fed_words(output, lines=True)
        if words == [UNKNOWN] and any(outputs.is_telling(call) for call in made):
            return [UNKNOWN + self.trace.piped(made)]
        return words

    def value(self, name: str, operator: str, argument: Any) -> list[str]:
        known = self.variables.get(name)
        known = self.inherited(name) if known is None else known
        if operator in (":-", "-", ":=", "="):
            if known is not None and known != [""]:
                return known
            given = self.words([argument])
            if "=" in operator:
                self.variables[name] = given
            return given
        if isinstance(argument, list):
            self.words([argument])
        if operator in ("", ":?", "?"):
            return known if known is not None else [UNKNOWN]
        if operator in (":+", "+"):
            return self.words([argument]) if known is not None else [""]
        if known is None or not isinstance(argument, str):
            return [UNKNOWN]
        if (operator, argument) in (("%", "/*"), ("##", "*/")):
            return [value.rpartition("/")[0 if operator == "%" else 2] for value in known]
        if not set(argument).isdisjoint("*?["):
            return [UNKNOWN]
        if operator in ("%", "%%"):
            return [value[: -len(argument)] if argument and value.endswith(argument) else value for value in known]
        if operator in ("/", "//"):
            old, _, new = (piece.replace("\0", "/") for piece in argument.replace("\\/", "\0").partition("/"))
            return [value.replace(old, new, 1 if operator == "/" else -1) if old else value for value in known]
        return [UNKNOWN]

    def inherited(self, name: str) -> list[str] | None:
        if name == "HOME":
            return [TILDE]
        if name == "PWD":
            return [self.cwd]
        if name == "IFS":
            return [" "]
        if name in ("TMPDIR", "TMP", "TEMP"):
            return [self.trace.env.get(name) or "/tmp"]
        if name.endswith(NEVER_SENT):
            return [UNKNOWN + self.trace.piped([Call("printenv", [name], self.cwd)])]
        value = self.trace.env.get(name).translate(shell.PLAIN)
        return [value] if value else None  # unset here may be set there
