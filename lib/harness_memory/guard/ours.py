"""What is ours (the store, the code, the client's settings), reached by programs with unknown arguments.

Reading it is free. Every program but the readers below is taken to write what it names, and where it stands.
"""

from __future__ import annotations

from . import gitrules, paths
from .operands import option_values, pieces
from .wrappers import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call
    from .paths import Scope

MAX_WORDS = 60
PROJECT_SETTINGS = "self.project-settings"

_READERS = SHELLS | frozenset(
    """
    cat tac less more head tail bat batcat nl od hexdump strings grep egrep fgrep zgrep rg ag ack ls ll exa eza lsd
    tree stat file wc diff cmp comm jq gojq yq sed gsed awk gawk mawk perl ruby node nodejs deno bun php lua python
    py pypy ipython pytest ruff mypy find fd du df cut tr column paste sort md5sum sha1sum sha256sum sha512sum
    shasum cksum readlink realpath basename dirname test [ [[ echo printf : true false cd pushd popd pwd export
    declare local readonly typeset set unset source . eval exec sudo doas env nice nohup time timeout command
    builtin busybox xargs parallel watch ssh harness install.py harness.py claude which type get-content gc
    get-childitem gci select-string sls test-path date sleep read alias jobs wait kill ps id return exit trap shift
    for case case-word xxd base64 uniq strace ltrace npx bunx uvx npm yarn pnpm uv poetry tmux screen curl man
    """.split()
)
# `operands` knows what these write.
_KNOWN = frozenset(
    """
    cp mv ln tee sponge rm unlink shred srm del erase remove-item ri dd truncate install rsync scp ditto copy xcopy
    robocopy copy-item move-item mi rename-item chmod chown chgrp chattr setfacl icacls set-content sc add-content ac
    out-file clear-content clc new-item ni tee-object
    """.split()
)
_NO_OUTPUT = frozenset("grep egrep fgrep zgrep rg ag ack ls ll exa eza jq find ssh set ps tree".split())  # their -o
_OUTPUTS = ("-o", "--output", "--trace", "--trace-ascii", "--dump-header", "--cookie-jar", "--output-file")
_FIND_OUTPUTS = ("-fprint", "-fprint0", "-fprintf", "-fls")
_GIT_READS = frozenset(
    """
    status log diff show ls-files ls-tree ls-remote rev-parse rev-list blame annotate grep cat-file describe shortlog
    reflog add commit fetch push tag remote branch config help version check-ignore diff-tree name-rev for-each-ref
    """.split()
)
_UNPACKERS = frozenset("patch tar gtar bsdtar unzip 7z 7za cpio mount bindfs".split())


def check(call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    name = call.program.rstrip("0123456789.") or call.program
    if call.where or not name or name in _KNOWN:
        return
    words, is_writer = _words(name, call)
    for word in words[:MAX_WORDS]:
        for path in paths.variants(word, call.cwd, scope, paths.WRITE):
            rule = paths.is_own(path, scope)
            if not rule and paths.is_config(path, scope):
                rule = _in_config(name, path, words, scope)
            if rule:
                yield rule, word
    if is_writer:
        here = paths.absolute(".", call.cwd, scope)
        rule = paths.is_own(here, scope)
        if paths.is_config(here, scope) and not option_values(call.args, ("-C", "-d", "--directory")):
            rule = _in_config(name, here, words, scope)
        if rule:
            yield rule, call.line()


def _in_config(name: str, folder: str, words: list[str], scope: Scope) -> str:
    """A write into the client's directory: to its settings by name, or to an unknown file."""
    if name in _UNPACKERS or (name == "git" and not {"apply", "am"}.isdisjoint(words)):
        return PROJECT_SETTINGS
    names = [word.rstrip("/").rpartition("/")[2].lower() for word in words]
    return next((rule for each in names for rule in [paths.is_own(folder + "/" + each, scope)] if rule), "")


def _words(name: str, call: Call) -> tuple[list[str], bool]:
    """The words that may be written, and whether the program writes at all."""
    args = call.args
    if name == "git":
        verb, _, _ = gitrules.split(args)
        if verb in _GIT_READS or not verb:
            return option_values(args, ("--output",)), False
    elif name in ("tar", "gtar", "bsdtar"):
        return _archived(args)
    elif name == "zip":
        return [arg for arg in args if arg[:1] != "-"][:1], False
    elif name == "curl":
        return _fetched(args), "-O" in args or "--remote-name" in args
    elif name in ("uniq", "xxd") and len([arg for arg in args if arg[:1] != "-"]) > 1:
        return args[-1:], False
    elif name in ("awk", "gawk") and "inplace" in args:
        return args, False
    elif name == "find":
        return option_values(args, _FIND_OUTPUTS), False
    elif name in _READERS:
        return ([] if name in _NO_OUTPUT else option_values(args, _OUTPUTS)), False
    return [word for arg in args for word in _pieces(arg)], True


def _pieces(arg: str) -> list[str]:
    return [arg.partition("?")[0].rpartition("/")[2]] if "://" in arg else pieces(arg)


def _fetched(args: list[str]) -> list[str]:
    written = option_values(args, (*_OUTPUTS, "-D", "-c", "--output-dir"))
    return written + [word for arg in args if "://" in arg for word in _pieces(arg) if "-O" in args]


def _archived(args: list[str]) -> tuple[list[str], bool]:
    """tar writes the archive, or below `-C`; what it packs it only reads."""
    letters = args[0] if args and args[0][:2] != "--" else ""
    letters += "".join([arg for arg in args[1:] if arg[:1] == "-" and arg[1:2] != "-"])
    if "x" in letters.replace("--exclude", "") or "--extract" in args or "--get" in args:
        return option_values(args, ("-C", "--directory", "--one-top-level")), True
    if "t" in letters.partition("f")[0]:
        return [], False
    archive = args[1:2] if args and args[0].endswith("f") else []
    return archive + option_values(args, ("-f", "--file")), False
