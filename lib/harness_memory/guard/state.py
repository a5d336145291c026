"""Programs that change the shell itself: where it is, its variables, functions and traps."""

from __future__ import annotations

from .calls import Call, fed_words
from .question import exists
from .shell import TILDE, UNKNOWN, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expand import Shell

DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))


def change(shell: Shell, call: Call) -> bool:
    """Whether this call is one of them."""
    name, args = call.program, call.args
    if name in ("cd", "pushd", "chdir", "set-location", "popd"):
        _move(shell, name, args)
    elif name == "alias":
        shell.functions.update({key: value + ' "$@"' for key, _, value in [arg.partition("=") for arg in args]})
    elif name in ("read", "mapfile", "readarray"):
        values = fed_words(shell.stdin, lines=True) or [UNKNOWN]
        shell.variables.update({arg: values for arg in args if arg[:1] != "-"})
    elif name == "set" and args and (args[0] == "--" or args[0][:1] not in ("-", "+")):
        set_arguments(shell, args[args[0] == "--" :])
    elif name == "shift":
        set_arguments(shell, shell.variables.get("@", [])[1:])
    elif name == "trap":
        shell.trace.traps += [arg for arg in args if arg not in ("--", "-p", "-l")][:1]
    else:
        return False
    return True


def set_arguments(shell: Shell, args: list[str]) -> None:
    shell.variables["@"] = shell.variables["*"] = list(args)
    shell.variables.update({str(number): [arg] for number, arg in enumerate(args[:9], 1)})


def _move(shell: Shell, name: str, args: list[str]) -> None:
    if name == "popd":
        shell.cwd = shell.stack.pop() if shell.stack else UNKNOWN
        return
    before, target = shell.cwd, next((arg for arg in args if arg[:1] != "-" or arg == "-"), None)
    shell.elsewhere = ""
    if target is None:
        shell.cwd = shell.variables.get("HOME", [TILDE])[0]
    elif target == "-" or not before:
        shell.cwd = shell.variables.get("OLDPWD", [UNKNOWN])[0]
    else:
        shell.cwd = joined(before, target)
        shell.elsewhere = before if _is_missing(shell, shell.cwd) else ""
    shell.variables["OLDPWD"] = [before]
    shell.stack += [before] if name == "pushd" else []


def _is_missing(shell: Shell, path: str) -> bool:
    """Whether a folder that can be seen lacks this one, which nothing here makes either."""
    full = shell.trace.home + path[1:] if path[:1] == TILDE else path
    is_made = any(full.startswith(made) for made in shell.trace.made)
    is_known = UNKNOWN not in full and full.startswith("/") and not is_made
    return is_known and exists(full.rpartition("/")[0] or "/") and not exists(full)
