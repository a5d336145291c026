"""What calls hand on: the text they print where it can be known, the paths they find, where it comes from."""

from __future__ import annotations

from . import shell
from .shell import QUESTION, STAR, UNKNOWN
from .words import MAX_VALUES, globbed, joined, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .calls import Call, Trace

LISTS_NAMES = frozenset(("find", "fd", "fdfind"))
MAX_SAID_CHARS = 1 << 16

_DECODES = frozenset(("base64", "gbase64", "base32", "xxd", "openssl", "rev", "tac"))


def fetches(call: Call) -> bool:
    return call.program in (
        "curl",
        "wget",
        "fetch",
        "aria2c",
        "http",
        "https",
        "nc",
        "ncat",
        "lynx",
        "scp",
        "iwr",
        "irm",
    )


def decodes(call: Call) -> bool:
    """Whether a call turns text that cannot be read into text that can."""
    if call.program in ("base64", "gbase64", "base32"):
        return any(arg in ("-d", "-D", "--decode", "-di") for arg in call.args)
    if call.program in ("openssl", "xxd"):
        return "-d" in call.args or any(arg.startswith("-r") for arg in call.args)
    return call.program in ("uudecode", "rev", "gunzip", "zcat", "bzcat", "xzcat", "unxz")


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
        return _made_by_mktemp(args, found)
    if name in ("whoami", "logname"):
        return found.user or UNKNOWN
    if name == "dirname" and len(args) == 1:
        return args[0].rstrip("/").rpartition("/")[0] or ("/" if args[0].startswith("/") else ".")
    if name == "basename" and args:
        return args[0].rstrip("/").rpartition("/")[2]
    if name in ("realpath", "readlink") and args:
        return joined(call.cwd, args[-1]) if call.cwd and UNKNOWN not in args[-1] else None
    if name == "git" and "rev-parse" in args and "--show-toplevel" in args:
        return found.project or None
    if name in _DECODES and isinstance(call.stdin, str) and UNKNOWN not in call.stdin:
        return _decoded(name, args, call.stdin)
    return None


def _made_by_mktemp(args: list[str], found: Trace) -> str:
    base = found.env.get("TMPDIR") or "/tmp"
    return joined(base, "mktemp.made") if not args or "/" not in args[-1] else shell.plain(args[-1])


def printed(args: list[str]) -> str:
    """What `printf` makes of its arguments."""
    if sum([len(arg) for arg in args]) > MAX_SAID_CHARS:
        return UNKNOWN
    form = shell.unescaped(args[0]) if args else ""
    if "%" not in form:
        return form
    text = ""
    rest = args[1:]
    while True:
        pieces = form.split("%")
        text += pieces[0]
        for piece in pieces[1:]:
            text += (rest.pop(0) if rest else "") + piece[1:] if piece[:1] in ("s", "b", "q", "d") else "%" + piece
        if not rest or "%s" not in form:
            return text


def _decoded(name: str, args: list[str], text: str) -> str | None:
    import binascii

    flags = [arg for arg in args if arg.startswith("-")]
    try:
        if name in ("base64", "gbase64") and any(flag in ("-d", "-D", "--decode", "-di") for flag in flags):
            return binascii.a2b_base64(text).decode("utf-8", "replace")
        if name == "openssl" and "base64" in args + flags and "-d" in flags:
            return binascii.a2b_base64(text).decode("utf-8", "replace")
        if name == "xxd" and "-r" in "".join(flags) and "p" in "".join(flags):
            return binascii.unhexlify("".join(text.split())).decode("utf-8", "replace")
    except ValueError:
        return None
    if name == "rev":
        return "\n".join([line[::-1] for line in text.split("\n")])
    return None


def found_by(call: Call) -> list[str]:
    """The paths that `find` or `fd` hands on: each start with the names that were asked for below it."""
    starts, names, narrowed = find_parts(call)
    if not names:
        names = [UNKNOWN if narrowed and call.program == "find" else STAR]
    return [start.rstrip("/") + "/" + name for start in starts for name in names][:MAX_VALUES]


def find_parts(call: Call) -> tuple[list[str], list[str], bool]:
    """Where `find` starts, the names it looks for, and whether anything else narrows it."""
    args = call.args
    if call.program != "find":
        operands = [arg for arg in args if not arg.startswith("-")]
        return (operands[1:] or ["."], [globbed(operands[0])] if operands else [], True)
    at = 0
    starts = []
    while at < len(args) and (args[at][:1] not in ("-", "(", "!") or args[at] in ("-L", "-P", "-H")):
        if args[at][:1] != "-":
            starts.append(args[at])
        at += 1
    names = []
    narrowed = False
    negated = False
    while at < len(args):
        flag = args[at]
        if flag in ("-name", "-iname") and at + 1 < len(args):
            if not negated and narrows(args[at + 1]):
                names.append(globbed(args[at + 1]))
            at += 1
        elif flag in ("-path", "-ipath", "-wholename", "-regex", "-iregex") and at + 1 < len(args):
            last = args[at + 1].rstrip("/*").rpartition("/")[2]
            is_left_out = negated or args[at + 2 : at + 3] == ["-prune"]
            narrowed = narrowed or (not is_left_out and narrows(args[at + 1].replace("/", "")))
            if last and not is_left_out and flag.endswith("path"):
                names.append(globbed(last))
            at += 1
        elif flag in (
            "-mtime",
            "-atime",
            "-ctime",
            "-mmin",
            "-amin",
            "-newer",
            "-empty",
            "-inum",
        ):
            narrowed = True
        elif flag == "-size":
            narrowed = narrowed or args[at + 1 : at + 2] != ["+0"]
        negated = flag in ("!", "-not")
        at += 1
    return starts or ["."], names, narrowed


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
    if stdin:
        for call in reversed(stdin):
            if call.program in LISTS_NAMES:
                return found_by(call)
            if call.program == "ls":
                return [arg for arg in call.args if arg[:1] != "-"] or [UNKNOWN]
            if call.program == "git" and "ls-files" in call.args:
                return ["./" + UNKNOWN]
            if call.program not in (
                "grep",
                "egrep",
                "rg",
                "sort",
                "head",
                "tail",
                "uniq",
                "awk",
                "sed",
                "cut",
                "tr",
                "xargs",
            ):
                break
    return [UNKNOWN]
