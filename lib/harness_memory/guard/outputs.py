"""What calls hand on: the text they print where it can be known, the paths they find, where it comes from."""

from __future__ import annotations

from ..base.process import system
from . import programs, shell
from .shell import QUESTION, STAR, TILDE, UNKNOWN
from .words import MAX_VALUES, globbed, joined, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .expand import Call, Trace

MAX_SAID_CHARS = 1 << 16
FETCHERS = frozenset("curl wget fetch aria2c http https xh nc ncat lynx iwr irm invoke-webrequest".split())
PACKERS = frozenset("tar gtar bsdtar zip 7z cpio pax".split())
_LISTS_NAMES = ("find", "fd", "fdfind")
_PASS_ON = frozenset("grep egrep rg sort head tail uniq awk sed cut tr xargs tac".split())
_NARROW = frozenset("grep egrep rg head tail awk sed".split())
_NARROWING = ("-mtime", "-atime", "-ctime", "-mmin", "-amin", "-newer", "-empty", "-inum")
_DECODES = ("-d", "-D", "--decode", "-di")


def fetches(call: Call) -> bool:
    return call.program in FETCHERS and "--version" not in call.args and "--help" not in call.args


def decodes(call: Call) -> bool:
    """Whether a call turns text that cannot be read into text that can."""
    if call.program in ("base64", "gbase64", "base32"):
        return any(arg in _DECODES for arg in call.args)
    if call.program in ("openssl", "xxd"):
        return "-d" in call.args or any(arg.startswith("-r") for arg in call.args)
    return call.program in ("uudecode", "rev", "gunzip", "zcat", "bzcat", "xzcat", "unxz")


def shows_environment(call: Call) -> bool:
    if call.program in ("env", "printenv"):
        return not [arg for arg in call.args if arg not in ("-0", "--null")]
    return (call.program == "set" and not call.args) or (call.program in ("export", "declare") and call.args == ["-p"])


def shows_secret(call: Call) -> bool:
    return call.row is not None and programs.effect_of(call.program, call.row, call.given) == "secret.show"


def is_telling(call: Call) -> bool:
    """Whether it matters later that a text came from this call."""
    is_shown = shows_environment(call) or shows_secret(call)
    return is_shown or fetches(call) or decodes(call) or call.program in PACKERS


def is_missing(path: str, found: Trace) -> bool:
    """Whether a folder that can be seen lacks this one, which nothing here makes either."""
    full = found.home + path[1:] if path[:1] == TILDE else path
    if UNKNOWN in full or not full.startswith("/") or any(full.startswith(made) for made in found.made):
        return False
    try:
        system.lstat(full.rpartition("/")[0] or "/")
    except (OSError, ValueError):
        return False
    try:
        system.lstat(full)
    except (OSError, ValueError):
        return True
    return False


def said(call: Call, found: Trace) -> str | None:
    """The text that a call prints, where it can be known."""
    name, args = call.program, call.args
    if name == "echo":
        escapes = False
        while args and args[0] in ("-n", "-e", "-ne", "-en", "-E"):
            escapes = escapes or "e" in args[0]
            args = args[1:]
        text = " ".join(args) + "\n"
        return shell.unescaped(text) if escapes else text
    if name == "printf" and args:
        return printed([arg for arg in args if arg != "--"])
    if name in ("cat", "tee") and isinstance(call.stdin, str) and (name == "tee" or all(a[:1] == "-" for a in args)):
        return call.stdin
    if name == "cat" and len(args) == 1:
        return call.texts.get(joined(call.cwd, args[0]))
    if name == "which" and len(args) == 1:
        return "/usr/bin/" + args[0]
    if name == "pwd":
        return call.cwd
    if name == "mktemp":
        made = joined(found.env.get("TMPDIR") or "/tmp", "mktemp.made")
        made = made if not args or "/" not in args[-1] else shell.plain(args[-1])
        found.made.add(made)
        return made
    if name in ("whoami", "logname"):
        return found.env.get("USER") or found.env.get("LOGNAME") or UNKNOWN
    if name == "dirname" and len(args) == 1:
        return args[0].rstrip("/").rpartition("/")[0] or ("/" if args[0].startswith("/") else ".")
    if name == "basename" and args:
        return args[0].rstrip("/").rpartition("/")[2]
    if name in ("realpath", "readlink") and args:
        return joined(call.cwd, args[-1]) if call.cwd and UNKNOWN not in args[-1] else None
    if name == "git" and "rev-parse" in args and "--show-toplevel" in args:
        return found.project or None
    return None


def printed(args: list[str]) -> str:
    """What `printf` makes of its arguments."""
    if sum([len(arg) for arg in args]) > MAX_SAID_CHARS:
        return UNKNOWN
    form = shell.unescaped(args[0]) if args else ""
    text = ""
    rest = args[1:]
    while "%" in form:
        pieces = form.split("%")
        text += pieces[0]
        for piece in pieces[1:]:
            text += (rest.pop(0) if rest else "") + piece[1:] if piece[:1] in ("s", "b", "q", "d") else "%" + piece
        if not rest or "%s" not in form:
            return text
    return form


def found_by(call: Call) -> list[str]:
    """The paths that `find` or `fd` hands on: each start with the names that were asked for below it."""
    starts, names, narrowed = find_parts(call)
    if not names:
        names = [UNKNOWN if narrowed and call.program == "find" else STAR]
    return [start.rstrip("/") + "/" + name for start in starts for name in names][:MAX_VALUES]


def find_parts(call: Call) -> tuple[list[str], list[str], bool]:
    """Where `find` starts, the names it looks for, and whether anything else narrows it."""
    args = call.args
    operands = [arg for arg in args if not arg.startswith("-")]
    if call.program != "find":
        return (operands[1:] or ["."], [globbed(operands[0])] if operands else [], True)
    first = next(
        (at for at, arg in enumerate(args) if arg[:1] in ("-", "(", "!") and arg not in ("-L", "-P", "-H")), len(args)
    )
    names = []
    narrowed = False
    last_or = max([at for at, arg in enumerate(args) if arg in ("-o", "-or")], default=-1)
    for at, (before, flag, value) in enumerate(zip(["", *args], args, [*args[1:], ""])):
        # `-name x -prune -o …` is about all but x, `-name x -prune -exec …` about x.
        is_left_out = before in ("!", "-not") or (args[at + 2 : at + 3] == ["-prune"] and at < last_or)
        if flag in ("-name", "-iname"):
            names += [globbed(value)] if not is_left_out and narrows(value) else []
        elif flag in ("-path", "-ipath", "-wholename", "-regex", "-iregex") and not is_left_out:
            last = value.rstrip("/*").rpartition("/")[2]
            narrowed = narrowed or narrows(value.replace("/", ""))
            names += [globbed(last)] if last and flag.endswith("path") else []
        elif flag in _NARROWING or (flag == "-size" and value != "+0"):
            narrowed = True
    return [arg for arg in args[:first] if arg[:1] != "-"] or ["."], names, narrowed


def narrows(pattern: str) -> bool:
    """Whether a pattern leaves anything out: `?*`, `*.*` and `[a-z]*` hardly do."""
    start, end = pattern.find("["), pattern.find("]")
    if 0 <= start < end and not set("-!^").isdisjoint(pattern[start:end]):
        pattern = pattern[:start] + pattern[end + 1 :]
    return pattern.strip("*?." + STAR + QUESTION) != ""


def fed_words(stdin: Any, *, lines: bool = False) -> list[str]:
    """The arguments that a program reads from its standard input."""
    if isinstance(stdin, str):
        return listed([word for word in (stdin.split("\n") if lines else stdin.split()) if word])
    narrowed = False
    for call in reversed(stdin or ()):
        words = _listed_by(call)
        if words:
            return [word.replace(STAR, UNKNOWN) for word in words] if narrowed else words
        if call.program not in _PASS_ON:
            break
        narrowed = narrowed or (call.program in _NARROW and "-v" not in call.args)
    return [UNKNOWN]


def _listed_by(call: Call) -> list[str]:
    """The files of a listing: all of the project is `./*`."""
    if call.program in _LISTS_NAMES:
        return found_by(call)
    operands = [arg for arg in call.args if arg[:1] != "-"]
    if call.program == "ls":
        patterns = [arg for arg in operands if STAR in arg or "." in arg.rpartition("/")[2][1:]]
        return patterns or [(operands[0].rstrip("/") if operands else ".") + "/" + STAR]
    if call.program == "git" and operands[:1] in (["ls-files"], ["ls-tree"]):
        is_other = not {"-o", "--others", "-d", "--deleted", "-i", "--ignored"}.isdisjoint(call.args)
        narrow = [arg for arg in operands[1:] if arg not in ("HEAD", ".")]
        return ["./" + (UNKNOWN if is_other or narrow else STAR)]
    if call.program == "git" and operands[:1] in (["diff"], ["status"]):
        return ["./" + UNKNOWN]
    return []
