"""What a script amounts to: its calls, what each is given and hands on, and the files it leaves for later ones."""

from __future__ import annotations

from ..base.typing import Any, Iterator
from . import programs, shell
from .shell import MAX_VALUES, STAR, UNKNOWN, distinct, globbed, joined, name_of, narrows
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope
    from .question import Question

MAX_INNER_CHARS = 60_000  # of a file that the script writes
MAX_SHOWN_WORDS = 60
MAX_SAID_CHARS = 1 << 16
SHELLS = frozenset("sh bash zsh dash ksh ash fish rbash mksh csh tcsh".split())
CONTAINER, REMOTE, SCRIPT = "container", "remote", "a script"  # in `via`; not every line of a file on disk need run


class Call:
    """One program with its arguments, as far as they can be known.

    `stdin` is the text it reads, a list of the calls that produce it, or None. `is_kept`: its output goes into a
    shell variable, where it stays unseen; `is_piped`: into another call. `elsewhere`: where it runs if the `cd` before
    it fails. `statements`: for a database, from files; the name of a file that cannot be read.
    """

    elsewhere = branch = where = ""
    number = 0  # of calls before it
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
        places = self.given.places
        return self.args[places[skipped] :] if skipped < len(places) else []

    def line(self, about: str = "") -> str:
        via = programs.row_of("".join(self.via[-1:]))
        head = [self.via[-1] + ":"] if via and via.has_code else []  # python: rm -rf x
        shown = [self.program, *self.args[:MAX_SHOWN_WORDS]] if self.program else []
        aimed = ["%s %s" % (sign, about) for sign, word in self.redirections if shell.plain(word) == about]
        return " ".join([*head, *(shell.plain(word) or "''" for word in shown), *aimed])

    def sources(self) -> list[Call]:
        return self.stdin if isinstance(self.stdin, list) else []


class Trace:
    def __init__(self, place: Question | Scope) -> None:
        self.budget = shell.Budget()
        self.home, self.project, self.env = place.home, place.project, place.env
        self.calls: list[Call] = []
        self.unread: list[str] = []
        self.problem = ""  # why the text itself could not be read
        self.traps: list[str] = []  # what runs in the end
        self.made: dict[str, int] = {}  # paths that the script itself creates, and how many calls came before
        self.files: dict[str, str | list[Call]] = {}  # and pipes that it writes: the text, or the calls that make it

    def make(self, path: str) -> None:
        self.made.setdefault(path, len(self.calls))

    def write(self, path: str, content: str | list[Call], *, adds: bool = False) -> None:
        before = self.files.get(path, "") if adds else ""
        if isinstance(before, str) and isinstance(content, str):
            content = (before + content)[:MAX_INNER_CHARS]
        self.files[path] = content

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


def fetches(call: Call) -> bool:
    return call.program in WORDS["fetchers"] and {"--version", "--help"}.isdisjoint(call.args)


def decodes(call: Call) -> bool:
    """Whether a call turns text that cannot be read into text that can."""
    is_told = call.given.has("-d,-D,--decode,-di,-r")
    return is_told if call.program in WORDS["both-ways"] else call.program in WORDS["decoders"]


def shows_environment(call: Call) -> bool:
    return call.program in WORDS["listers"] and {"-0", "--null", "-p"}.issuperset(call.args)


def shows_secret(call: Call) -> bool:
    return call.row is not None and programs.effect_of(call.program, call.row, call.given) == "secret.show"


def is_telling(call: Call) -> bool:
    """Whether it matters later that a text came from this call."""
    is_secret = shows_environment(call) or shows_secret(call)
    return is_secret or fetches(call) or decodes(call) or call.program in WORDS["packers"]


def said(call: Call, found: Trace) -> str | None:
    name, args = call.program, call.args
    if name in ("echo", "true"):
        flags = [arg for arg in args[:2] if arg in ("-n", "-e", "-ne", "-en", "-E")]
        text = " ".join(args[len(flags) :]) + "\n"
        return shell.unescaped(text) if "e" in "".join(flags) else text
    if name == "printf" and args and len(args[0]) * len(args) < MAX_SAID_CHARS:
        text, *rest = [arg for arg in args if arg != "--"] or [""]
        text *= len(rest) if rest and text.count("%") == 1 else 1
        for each in rest:
            text = text.replace("%s", each, 1)
        return shell.unescaped(text)
    if name in ("cat", "tee") and isinstance(call.stdin, str) and (name == "tee" or all(a[:1] == "-" for a in args)):
        return call.stdin
    if name == "pwd":
        return call.cwd
    if name == "mktemp":
        return args[-1] if args and "/" in args[-1] else joined(found.env.get("TMPDIR") or "/tmp", "mktemp.made")
    if name == "git" and "rev-parse" in args and "--show-toplevel" in args:
        return found.project or None
    if len(args) != 1:
        return None
    head, _, tail = args[0].rstrip("/").rpartition("/")
    parts = {"dirname": head or ("/" if args[0][:1] == "/" else "."), "basename": tail, "which": tail}
    return joined(call.cwd, args[0]) if name in ("realpath", "readlink") else parts.get(name)


def found_by(call: Call) -> list[str]:
    """The paths that `find` or `fd` hands on: each start with the names that were asked for below it."""
    starts, names, is_narrowed = find_parts(call)
    names = names or [UNKNOWN if is_narrowed and call.program == "find" else STAR]
    return [start.rstrip("/") + "/" + name for start in starts for name in names][:MAX_VALUES]


def find_parts(call: Call) -> tuple[list[str], list[str], bool]:
    """Where `find` starts, the names it looks for, and whether anything else narrows it."""
    args = call.args
    if call.program != "find":
        operands = [arg for arg in args if not arg.startswith("-")]
        return (operands[1:] or ["."], [globbed(operands[0])] if operands else [], True)
    starts, names, is_narrowed, is_start = [], [], False, True
    # `-name x -prune -o …` is about all but x, `-name x -prune -exec …` about x.
    pruned = max([at for at, arg in enumerate(args) if arg == "-prune" and "-o" in args[at + 1 : at + 3]], default=0)
    for at, (before, flag, value) in enumerate(zip(["", *args], args, [*args[1:], ""])):
        is_start = is_start and (flag[:1] not in ("-", "(", "!") or flag in ("-L", "-P", "-H"))
        starts += [flag] if is_start and flag[:1] != "-" else []
        if before in ("!", "-not") or at < pruned:
            continue
        if flag in ("-name", "-iname"):
            names += [globbed(value)] if narrows(value) else []
        elif flag in ("-path", "-ipath", "-wholename", "-regex", "-iregex"):
            is_narrowed = is_narrowed or narrows(value.replace("/", ""))
        is_narrowed = is_narrowed or (flag in WORDS["narrowing-flags"] and value != "+0")
    return starts or ["."], names, is_narrowed


def fed_words(stdin: Any, *, lines: bool = False) -> list[str]:
    """The arguments that a program reads from its standard input."""
    if isinstance(stdin, str):
        return distinct([word for word in (stdin.split("\n") if lines else stdin.split()) if word])
    is_narrowed = False
    for call in reversed(stdin or ()):
        words = _listed_by(call)
        if words:
            return [word.replace(STAR, UNKNOWN) for word in words] if is_narrowed else words
        if call.program not in WORDS["passing-on"]:
            break
        is_narrowed = is_narrowed or (call.program in WORDS["narrowing"] and "-v" not in call.args)
    return [UNKNOWN]


def _listed_by(call: Call) -> list[str]:
    """The files of a listing: all of the project is `./*`."""
    operands = [arg for arg in call.args if arg[:1] != "-"]
    if call.program in ("find", "fd", "fdfind"):
        return found_by(call)
    if call.program == "ls":
        patterns = [arg for arg in operands if STAR in arg or "." in arg.rpartition("/")[2][1:]]
        return patterns or [(operands[0].rstrip("/") if operands else ".") + "/" + STAR]
    if call.program in ("docker", "podman", "nerdctl") and not {"ps", "images", "ls"}.isdisjoint(operands[:2]):
        return [] if call.given.has("-f,--filter") else [STAR]
    if call.program == "redis-cli":
        return [] if any(narrows(word) for word in operands if "*" in word) else [STAR]
    if call.program == "git" and operands[:1] in (["ls-files"], ["ls-tree"], ["diff"], ["status"]):
        is_some = operands[0] in ("diff", "status") or call.given.has("-o,--others,-d,--deleted,-i,--ignored")
        is_some = is_some or any(arg not in ("HEAD", ".") for arg in operands[1:])
        return ["./" + (UNKNOWN if is_some else STAR)]
    return []
