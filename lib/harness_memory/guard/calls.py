"""From shell text to the calls it would make: variables, directories, loops, pipes and wrappers followed.

Nothing is run. What cannot be known is `shell.UNKNOWN` in a word. Bounded in every direction by the limits below.
"""

from __future__ import annotations

from . import shell, wrappers
from .outputs import LISTS_NAMES, decodes, fetches, found_by, printed, said
from .shell import DECLARERS, GLOBS, OPEN, TILDE, UNKNOWN, TooMuch, Unreadable
from .words import (
    MAX_LISTED,
    MAX_PRODUCT,
    SPLIT,
    distinct,
    has_blank,
    joined,
    name_of,
    quoted,
    spaced,
    split,
    unbraced,
)
from .wrappers import REMOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .question import Environment

MAX_CALLS = 650
MAX_STEPS = 5_000  # of trees walked and words made
MAX_INNER_CHARS = 40_000  # of scripts within scripts, all levels together
MAX_VALUE_CHARS = 200_000  # of variables and substitutions, all together
MAX_DEPTH = 12
MAX_ROUNDS = 4
MAX_SHOWN_WORDS = 60

_REREAD = {code: char for code, char in shell.PLAIN.items() if chr(code) != UNKNOWN}  # markers as first written
_RUN_BY_OTHERS = frozenset(  # variables whose value some program hands to a shell
    """
    GIT_PAGER GIT_EDITOR GIT_SSH_COMMAND GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF PAGER MANPAGER EDITOR VISUAL LESSOPEN
    PROMPT_COMMAND BROWSER
    """.split()
)
_INDEXING = frozenset(("let", "read", "test", "[", "[[", "printf", "unset"))  # builtins that take `name[index]`
_FATAL = ("rm", "dd", "shred", "mkfs", "wipefs")
_MAKES = frozenset(("mkdir", "mktemp", "touch", "git", "tar", "unzip", "cp", "python", "python3", "virtualenv"))


class Call:
    """One program with its arguments, as far as they can be known.

    `stdin` is the text it reads, a list of the calls that produce it, or None. `is_kept`: its output goes into a
    shell variable, where it stays unseen.
    """

    __slots__ = ("args", "cwd", "is_kept", "program", "redirections", "stdin", "texts", "via", "where", "word")

    def __init__(self, program: str, args: list[str], cwd: str) -> None:
        self.word = program
        self.program = name_of(program)
        self.args = args
        self.cwd = cwd
        self.redirections: list[tuple[str, str]] = []
        self.stdin: Any = None
        self.texts: dict[str, str] = {}  # files that this script itself wrote before
        self.via: tuple[str, ...] = ()
        self.where = ""
        self.is_kept = False

    def line(self) -> str:
        return " ".join([shell.plain(word) or "''" for word in (self.program, *self.args[:MAX_SHOWN_WORDS])])


class Budget(shell.Budget):
    """What one question is worth; shared with the scripts that are found in its commands."""

    __slots__ = ("calls", "chars", "steps", "value_chars")

    def __init__(self) -> None:
        super().__init__()
        self.calls = MAX_CALLS
        self.steps = MAX_STEPS
        self.chars = MAX_INNER_CHARS
        self.value_chars = MAX_VALUE_CHARS

    def step(self, count: int = 1) -> None:
        self.steps -= count
        if self.steps < 0:
            raise TooMuch("too much to follow")


class Trace:
    """All calls of one script, and what could not be read of it."""

    __slots__ = (
        "assigned",
        "bombs",
        "budget",
        "calls",
        "copies",
        "env",
        "fetched",
        "home",
        "links",
        "made",
        "pipes",
        "project",
        "unread",
        "user",
    )

    def __init__(self, home: str, project: str, env: Environment, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.bombs: dict[int, tuple[Any, bool]] = {}  # of functions, by the id of their trees
        self.home = home
        self.project = project
        self.env = env
        self.user = env.get("USER") or env.get("LOGNAME") or ""
        self.assigned: set[str] = set()  # names of variables
        self.calls: list[Call] = []
        self.unread: list[str] = []
        self.made: set[tuple[str, str]] = set()  # (directory, name): paths that the script itself creates
        self.pipes: list[list[Call]] = []  # who writes /dev/fd/<n>
        self.fetched: set[str] = set()  # files that come from the network or a decoder
        self.links: dict[str, str] = {}  # that the script makes, and where they lead
        self.copies: dict[str, str] = {}  # of programs: where, and of which


def trace(text: str, cwd: str, home: str, project: str, env: Environment, within: Trace | None = None) -> Trace:
    """Unreadable when the text is not a shell script; beyond the limits it is `unread`, but for the calls before that.

    `within`: whose commands hold the text.
    """
    found = Trace(home, project, env, within.budget if within else None)
    try:
        Shell(found, cwd).run(shell.read(text, 2 if within else 0, found.budget))
    except TooMuch:
        found.unread.append(text)
    return found


class Shell:
    __slots__ = (
        "active",
        "aliases",
        "cwd",
        "depth",
        "files",
        "functions",
        "is_kept",
        "local_names",
        "stdin",
        "trace",
        "variables",
        "via",
        "where",
    )

    def __init__(self, found: Trace, cwd: str) -> None:
        self.trace = found
        self.cwd = cwd
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, str] = {}
        self.local_names: set[str] = set()
        self.files: dict[str, str] = {}
        self.active: tuple[str, ...] = ()
        self.via: tuple[str, ...] = ()
        self.where = ""
        self.stdin: Any = None
        self.depth = 0
        self.is_kept = False

    def copy(self, *, deeper: int = 0) -> Shell:
        other = Shell(self.trace, self.cwd)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.aliases = self.aliases
        other.files = self.files
        other.active = self.active
        other.via = self.via
        other.where = self.where
        other.stdin = self.stdin
        other.is_kept = self.is_kept
        other.depth = self.depth + deeper
        if other.depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")
        return other

    # Trees ---------------------------------------------------------------------------------------

    def run(self, tree: Any) -> None:
        self.trace.budget.step()
        kind = tree[0]
        if kind == "cmd":
            self.command(tree[1], tree[2], tree[3])
        elif kind == "seq":
            for each in tree[1]:
                self.run(each)
        elif kind == "pipe":
            self.pipe(tree[1])
        elif kind == "sub":
            self.copy().compound(tree[1], tree[2])
        elif kind == "group":
            self.compound(tree[1], tree[2])
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
        outer = self.stdin
        feed: Any = outer
        for tree in trees:
            before = len(self.trace.calls)
            side = self.copy()
            side.stdin = feed
            side.run(tree)
            made = self.trace.calls[before:]
            feed = self.output(made, tree)

    def output(self, made: list[Call], tree: Any) -> Any:
        """What a command writes: its text where that can be known, else the calls that write it."""
        if tree[0] == "cmd" and made:
            text = said(made[0], self.trace)
            if text is not None:
                return text
        upstream = made[0].stdin if made and isinstance(made[0].stdin, list) else []
        return upstream + made

    def iterate(self, name: str, words: list[Any] | None, body: Any) -> None:
        values = distinct(self.variables.get("@", []) if words is None else self.words(words)) or [UNKNOWN]
        for value in values[:MAX_ROUNDS]:
            self.variables[name] = [value]
            self.run(body)
        if values[MAX_ROUNDS:]:
            self.variables[name] = values[MAX_ROUNDS:]
            self.run(body)

    # Simple commands -----------------------------------------------------------------------------

    def command(self, assignments: list[Any], words: list[Any], redirections: list[Any]) -> None:
        declares = bool(words) and isinstance(words[0], str) and words[0] in DECLARERS
        separators = self.variables.get("IFS")
        self.assign(assignments, for_child=bool(words) and not declares)
        if words and isinstance(words[0], list) and len(words[0]) > 1:
            words = [self.filled(words[0]), *words[1:]]
        expanded = self.words(words, kept=declares)
        call = self.record(expanded[0] if expanded else "", expanded[1:])
        if redirections:
            self.redirect(call, redirections)
        if expanded:
            outer, self.stdin = self.stdin, call.stdin
            self.perform(call)
            self.stdin = outer
            if redirections:
                self.remember_file(call)
            if assignments and separators != self.variables.get("IFS"):
                self.variables["IFS"] = separators or [" "]

    def record(self, program: str, args: list[str]) -> Call:
        budget = self.trace.budget
        budget.calls -= 1 + len(args) // 25
        if budget.calls < 0:
            raise TooMuch("too many commands")
        call = Call(self.known_as(program), args, self.cwd)
        call.via = self.via
        call.where = self.where
        call.stdin = self.stdin
        call.is_kept = self.is_kept
        call.texts = self.files
        self.trace.calls.append(call)
        return call

    def known_as(self, program: str) -> str:
        """The program behind a copy, a link or a pattern."""
        copies = self.trace.copies
        if copies and program:
            return copies.get(joined(self.cwd, program), program)
        if program.isascii() or GLOBS.isdisjoint(program):
            return program
        from .paths import matches

        name = program.rpartition("/")[2]
        return next((fatal for fatal in _FATAL if matches(name, fatal)), program)

    def filled(self, parts: list[Any]) -> list[Any]:
        """The parts of a program's name without those that are empty in a shell that sets nothing: `r${x}m`."""
        if not any(isinstance(part, str) for part in parts):
            return parts
        return [part for part in parts if isinstance(part, str) or not self.is_empty(part)]

    def is_empty(self, part: Any) -> bool:
        if part[0] == "run":
            return bool(part[1] == ("seq", []))
        return part[0] == "var" and not part[2] and part[1] not in self.variables and self.inherited(part[1]) is None

    def assign(self, assignments: list[Any], *, for_child: bool) -> None:
        for assignment in assignments:
            name, value = assignment[0], assignment[1]
            self.trace.assigned.add(name)
            values = self.words(value, kept=True) if len(assignment) == 3 else self.quoted(value)
            if not for_child:
                self.variables[name] = values
            elif name == "HOME" or name not in self.variables:
                self.variables[name] = values  # seen by the `sh -c '...$NAME'` that may follow
            if name in _RUN_BY_OTHERS:
                for value in values[:2]:
                    self.text(value.lstrip("|"), via=name)
            elif name in ("BASH_ENV", "ENV") and values[0] != UNKNOWN:
                self.script(values[:1], Call(name, [], self.cwd))

    def redirect(self, call: Call, redirections: list[Any]) -> None:
        for descriptor, operator, target in redirections:
            if operator == "<<":
                call.stdin = self.text_of(target[2])
            elif operator == "<<<":
                call.stdin = self.text_of(target)
            else:
                for word in self.words([target]):
                    if operator in (">&", "<&") and (word.isdigit() or word == "-"):
                        continue
                    call.redirections.append((operator, word))
                    if operator == "<" and descriptor in ("", "0"):
                        call.stdin = self.files.get(joined(self.cwd, word)) or self.pipe_of(word)

    def text_of(self, word: Any) -> str:
        return " ".join(self.words([word] if not isinstance(word, list) else [quoted(word)]))

    def pipe_of(self, word: str) -> Any:
        number = word[8:] if word.startswith("/dev/fd/") else ""
        if number.isdecimal() and len(number) < 10 and int(number) < len(self.trace.pipes):
            return self.trace.pipes[int(number)]
        return None

    def remember_file(self, call: Call) -> None:
        """A script that the script writes itself can be followed when it is run."""
        targets = [word for operator, word in call.redirections if operator in (">", ">>", ">|")]
        adds = any(operator == ">>" for operator, _ in call.redirections)
        text = said(call, self.trace) if targets else None
        if (
            fetches(call)
            or decodes(call)
            or (isinstance(call.stdin, list) and any(fetches(each) for each in call.stdin))
        ):
            self.trace.fetched.update(targets)
        for target in targets:
            self.trace.made.add((call.cwd, target))
            if text is not None:
                self.write(target, text, adds=adds)

    def write(self, name: str, text: str, *, adds: bool = False) -> None:
        path = joined(self.cwd, name)
        before = self.files.get(path, "") if adds else ""
        self.files[path] = before + text if len(before) < MAX_INNER_CHARS else before

    def copy_files(self, call: Call) -> None:
        """`cp`, `mv`, `ln`, `install`, `tee`, `dd`: scripts, programs and links under another name."""
        name = call.program
        operands = [arg for arg in call.args if arg[:1] != "-"]
        fed = call.stdin if isinstance(call.stdin, str) else None
        if name == "tee" or name == "dd":
            adds = "-a" in call.args
            for operand in dict.fromkeys(operands):
                target = operand[3:] if operand.startswith("of=") else operand
                if fed is not None and "=" not in target:
                    self.write(target, fed, adds=adds)
            return
        if len(operands) != 2 and not (name == "install" and len(operands) == 3):
            return
        source, target = operands[-2:]
        path = joined(self.cwd, source)
        text = fed if source in ("/dev/stdin", "-") else self.files.get(path)
        if text is not None:
            self.write(target, text)
        elif name_of(source) in _FATAL:
            self.trace.copies[joined(self.cwd, target)] = source
        if name == "ln":
            self.trace.links[joined(self.cwd, target)] = path

    def perform(self, call: Call) -> None:
        name, args = call.program, call.args
        if name in _INDEXING:
            for arg in args[:10]:
                self.aside(arg)
        if name == UNKNOWN and args:  # an empty variable before a command vanishes
            self.follow([*args])
        elif name in self.functions:
            self.invoke(name, args, call.stdin)
        elif name in self.aliases and name not in self.active:
            inner = self.copy(deeper=1)
            inner.active = (*self.active, name)
            inner.text(" ".join([self.aliases[name], *args]), via=name)
        elif name == "alias":
            self.aliases.update(arg.split("=", 1) for arg in args if "=" in arg)  # type: ignore[misc]
        elif name in ("cd", "pushd", "chdir", "set-location"):
            self.change_directory(args)
        elif name in DECLARERS:
            for arg in args:
                key, equals, value = arg.partition("=")
                if equals:
                    self.variables[key] = [value]
                    self.aside(key)
                if name in ("local", "declare", "typeset"):
                    self.local_names.add(key)
        elif name in ("read", "mapfile", "readarray"):
            self.read_names(args)
        elif name == "set":
            self.set_positional(args)
        elif name == "shift":
            count = int(args[0]) if args and args[0].isdecimal() and len(args[0]) < 10 else 1
            self.positional(self.variables.get("@", [])[count:])
        elif name == "printf" and args[:1] == ["-v"] and len(args) > 2:
            self.variables[args[1]] = [printed(args[2:])]
        elif name == "hash" and args:
            if args[0] == "-p" and len(args) > 2:
                self.aliases[args[2]] = args[1]
            self.aliases.update(arg.split("=", 1) for arg in args if "=" in arg)  # type: ignore[misc]
        elif name == "eval":
            self.text(" ".join(args))
        elif name in (".", "source"):
            self.script(args, call)
        elif name == "trap":
            for arg in [arg for arg in args if arg not in ("--", "-p", "-l")][:1]:
                self.text(arg)
        else:
            if name in _MAKES:
                self.creates(name, args)
            if name in ("cp", "mv", "ln", "install", "tee", "dd"):
                self.copy_files(call)
            wrappers.follow(self, call)

    def invoke(self, name: str, args: list[str], stdin: Any) -> None:
        this = "%s %d" % (name, id(self.functions[name]))  # one that redefines itself is another
        if this in self.active:
            return
        inner = self.copy(deeper=1)
        inner.stdin = stdin
        inner.local_names = {str(number) for number in range(10)} | {"@", "*"}
        inner.active = (*self.active, this)
        inner.positional(args)
        if self.is_bomb(name):
            self.record("fork-bomb", [name])
        inner.run(self.functions[name])
        self.cwd = inner.cwd
        self.variables.update((key, value) for key, value in inner.variables.items() if key not in inner.local_names)

    def is_bomb(self, name: str) -> bool:
        tree = self.functions[name]
        if id(tree) not in self.trace.bombs:
            is_bomb = _calls_of(tree, name) > (0 if _is_background(tree) else 1)
            self.trace.bombs[id(tree)] = (tree, is_bomb)
        return self.trace.bombs[id(tree)][1]

    def positional(self, args: list[str]) -> None:
        self.variables["@"] = list(args)
        self.variables["*"] = list(args)
        for number, arg in enumerate(args[:9], 1):
            self.variables[str(number)] = [arg]

    def set_positional(self, args: list[str]) -> None:
        at = 0
        while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
            at += 2 if args[at][1:] == "o" else 1
        if at < len(args):
            self.positional(args[at + 1 :] if args[at] in ("-", "--") else args[at:])

    def aside(self, text: str) -> None:
        """What an index of an array runs when a builtin is given it as text."""
        if "[" in text and "$(" in text:
            self.text(": " + text.partition("[")[2].rpartition("]")[0])

    def change_directory(self, args: list[str]) -> None:
        operands = [arg for arg in args if not arg.startswith("-") or arg == "-"]
        if not operands:
            self.cwd = TILDE
        elif operands[0] == "-" or not self.cwd:
            self.cwd = UNKNOWN
        else:
            self.cwd = joined(self.cwd, operands[0])

    def read_names(self, args: list[str]) -> None:
        values = [UNKNOWN]
        names = [arg for arg in args if not arg.startswith("-")]
        if isinstance(self.stdin, str):
            values = distinct(self.stdin.rstrip("\n").split("\n"))
            if len(names) > 1 or any(arg[:1] == "-" and arg[-1:] == "a" for arg in args):
                self.read_fields(names, values)
                return
        elif self.stdin and self.stdin[-1].program in LISTS_NAMES:
            values = found_by(self.stdin[-1])
        for name in names:
            self.variables[name] = values

    def read_fields(self, names: list[str], lines: list[str]) -> None:
        rows = [spaced(line, self.separators()).split() for line in lines]
        if len(names) == 1:
            self.variables[names[0]] = [field for row in rows for field in row]
        for at, name in enumerate(names[:-1]):
            self.variables[name] = distinct([row[at] for row in rows if len(row) > at]) or [""]
        if len(names) > 1:
            self.variables[names[-1]] = distinct([" ".join(row[len(names) - 1 :]) for row in rows])

    def separators(self) -> str:
        value = self.variables.get("IFS", [""])[0]
        return "" if UNKNOWN in value else value.strip()

    def creates(self, name: str, args: list[str]) -> None:
        operands = [arg for arg in args if not arg.startswith("-")]
        if name == "git":
            operands = operands[-1:] if operands[:1] == ["clone"] or operands[:2] == ["worktree", "add"] else []
            if len(operands) == 1 and "/" in operands[0]:
                operands.append(operands[0].rsplit("/", 1)[1].replace(".git", ""))
        elif name in ("python", "python3"):
            operands = operands[-1:] if "venv" in args else []
        elif name == "cp":
            operands = operands[-1:]
        elif name in ("tar", "unzip"):
            operands = [arg for flag, arg in zip(args, args[1:]) if flag in ("-C", "-d")]
        self.trace.made.update((self.cwd, operand) for operand in operands)

    # Scripts within the script ------------------------------------------------------------------

    def follow(self, words: list[str], *, via: str = "", where: str = "", directory: str = "") -> None:
        if not words:
            return
        inner = self.copy(deeper=1)
        if directory:
            inner.change_directory([directory])
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        inner.perform(inner.record(words[0], words[1:]))
        if via in ("", "command", "builtin"):
            self.cwd = inner.cwd

    def text(self, text: str, *, via: str = "", where: str = "", args: list[str] | None = None) -> None:
        """Shell text handed to a shell."""
        if not text.strip():
            return
        inner = self.copy(deeper=1)
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        if where:
            inner.cwd = TILDE if where == REMOTE else "/"
        if args is not None:
            inner.positional(args)
        source = text if text.isascii() else text.translate(_REREAD)
        budget = self.trace.budget
        budget.chars -= len(source)
        try:
            if budget.chars < 0:
                raise TooMuch("too long")
            tree = shell.read(source, max(1, self.depth), budget)
        except Unreadable:
            self.trace.unread.append(source)
            return
        inner.run(tree)
        if not via:
            self.cwd = inner.cwd

    def script(self, operands: list[str], call: Call) -> None:
        """A script file that this script has written itself, or a pipe with a known end."""
        for name in operands[:1]:
            known = self.files.get(joined(self.cwd, name))
            made = self.pipe_of(name)
            if name in ("/dev/stdin", "-") and isinstance(call.stdin, str):
                known = call.stdin
            elif made:
                known = said(made[-1], self.trace)
            if known:
                self.text(known, via=name, args=operands[1:])

    # Expansion -----------------------------------------------------------------------------------

    def words(self, words: list[Any], *, kept: bool = False) -> list[str]:
        found: list[str] = []
        for word in words:
            if isinstance(word, str):
                if OPEN in word:
                    found.extend(self.unbraced(word))
                else:
                    found.append(word)
            else:
                found.extend(self.expanded(word, kept))
                if len(found) > 4 * MAX_LISTED:
                    raise TooMuch("too long")
        return found

    def unbraced(self, word: str) -> list[str]:
        words = unbraced(word)
        self.trace.budget.step(len(words))
        return words

    def quoted(self, word: Any) -> list[str]:
        """The values of an assignment: no splitting into words."""
        return [word] if isinstance(word, str) else self.expanded(quoted(word), True) or [""]

    def expanded(self, parts: list[Any], kept: bool) -> list[str]:
        if len(parts) == 1 and not isinstance(parts[0], str):
            values = self.part(parts[0], kept)
            if not parts[0][-1]:  # unquoted: each value may be several words, or none
                separators = self.separators()
                return [each for value in values for each in split(value, separators)]
            return values
        results: list[list[str]] = [[]]
        for part in parts:
            values = [part] if isinstance(part, str) else self.part(part, kept)
            if not values:
                continue
            if len(results) * len(values) > MAX_PRODUCT or not self.can_afford(values):
                values = [UNKNOWN]
            if not isinstance(part, str) and not part[-1]:
                separators = self.separators()
                values = [spaced(value, separators) for value in values] if separators else values
                values = (
                    [SPLIT.join(value.split()) if value.strip() else SPLIT for value in values]
                    if has_blank(values)
                    else values
                )
            if len(values) == 1:
                for result in results:
                    result.append(values[0])
            else:
                results = [[*result, value] for result in results for value in values]
        found = []
        for result in results:
            for word in "".join(result).split(SPLIT):
                found.extend(self.unbraced(word) if OPEN in word else [word])
        return found

    def can_afford(self, values: list[str]) -> bool:
        """Whether so much more text may be made: `x=$x$x`, thirty times over, would be all there is."""
        budget = self.trace.budget
        budget.value_chars -= sum([len(value) for value in values])
        return budget.value_chars >= 0

    def part(self, part: Any, kept: bool) -> list[str]:
        kind = part[0]
        if kind == "var":
            return self.value(part[1], part[2], part[3])
        if kind == "aside":
            self.words([quoted(part[1])])
            return []
        before = len(self.trace.calls)
        inner = self.copy(deeper=1)
        inner.is_kept = kept or self.is_kept
        inner.run(part[1])
        made = self.trace.calls[before:]
        if kind == "file":
            self.trace.pipes.append(made)
            return ["/dev/fd/%d" % (len(self.trace.pipes) - 1)]
        output = self.output(made, part[1])
        if isinstance(output, str):
            return [output.rstrip("\n")] if self.can_afford([output]) else [UNKNOWN]
        if part[1][0] == "pipe" and made and isinstance(made[-1].stdin, str):
            text = said(made[-1], self.trace)
            if text is not None:
                return [text.rstrip("\n")] if self.can_afford([text]) else [UNKNOWN]
        if made and made[-1].program in LISTS_NAMES:
            return found_by(made[-1])
        if any(fetches(call) or decodes(call) for call in made):
            self.trace.pipes.append(made)
            return [UNKNOWN + "/dev/fd/%d" % (len(self.trace.pipes) - 1)]
        return [UNKNOWN]

    def value(self, name: str, operator: str, argument: Any) -> list[str]:
        known = self.variables.get(name)
        if known is None:
            known = self.inherited(name)
        if operator == "!":
            return [each for other in (known or [UNKNOWN])[:4] for each in self.value(other, "", "")]
        if operator in (":-", "-", ":=", "="):
            if known is not None and known != [""]:
                return known
            given = self.words([argument])
            if "=" in operator:
                self.variables[name] = given
            return given
        if isinstance(argument, list):
            given = self.words([argument])
        if operator in ("", ":?", "?"):
            return known if known is not None else [UNKNOWN]
        if operator in (":+", "+"):
            return self.words([argument]) if known is not None else [""]
        if known is None or not isinstance(argument, str):
            return [UNKNOWN]
        if operator in ("%", "%%") and not (set(argument) & set("*?[")):
            return [value[: -len(argument)] if argument and value.endswith(argument) else value for value in known]
        if operator == "%" and argument == "/*":
            return [value.rpartition("/")[0] for value in known]
        if operator in ("/", "//") and not (set(argument) & set("*?[")):
            old, _, new = (piece.replace("\0", "/") for piece in argument.replace("\\/", "\0").partition("/"))
            return [value.replace(old, new, 1 if operator == "/" else -1) if old else value for value in known]
        if operator == "##" and argument == "*/":
            return [value.rpartition("/")[2] for value in known]
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
        value = self.trace.env.get(name)
        return [value.translate(shell.PLAIN)] if value else None  # unset here may be set there


def _is_background(tree: Any) -> bool:
    """`{ f & }` and `{ f | f; }`: what a function starts this way outlives it."""
    return tree[0] in ("sub", "pipe") or (tree[0] == "group" and _is_background(tree[1]))


def _calls_of(tree: Any, name: str, depth: int = 0) -> int:
    """How often a tree calls `name`."""
    if not isinstance(tree, (tuple, list)) or depth > 20:
        return 0
    if isinstance(tree, tuple) and tree[:1] == ("cmd",):
        return 1 if tree[2][:1] == [name] else 0
    return sum(_calls_of(each, name, depth + 1) for each in tree)
