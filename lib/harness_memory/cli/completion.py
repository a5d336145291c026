"""`harness completion`: verbs, actions and options for the shells, read from the verbs' own help."""

from __future__ import annotations

import contextlib
import io
import re
from importlib import import_module

from . import FAMILIES, arguments

_BASH = """\
_harness() {
    local words
    case "${COMP_WORDS[*]:0:COMP_CWORD} " in
%s
    esac
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _harness harness"""
_BASH_CASE = "    '%s '%s) words='%s' ;;"
_FISH = 'complete -c harness -f -n \'string match -q -- "%s %s" (commandline -opc | string join " ")" "\' -a \'%s\''


def completion(argv: list[str]) -> int:
    examples = "completion bash >> ~/.bashrc\ncompletion zsh >> ~/.zshrc"
    examples += "\ncompletion fish > ~/.config/fish/completions/harness.fish"
    parser = arguments.parser("completion", examples=examples, family="", has_json=False)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    shell = parser.parse_args(argv).shell
    row = _FISH if shell == "fish" else _BASH_CASE
    lines = "\n".join(row % (words, rest, " ".join(following)) for words, rest, following in _rows())
    start = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" if shell == "zsh" else ""
    print(lines if shell == "fish" else start + _BASH % lines)
    return 0


def _rows() -> list[tuple[str, str, list[str]]]:
    """(words, "*" where others may follow, what completes them): after nothing, after a family, after a verb."""
    names = {family: [name for name, _, _ in verbs] for family, (verbs, _, _) in FAMILIES.items()}
    rows = [("harness", "", [*filter(None, FAMILIES), *names[""]])]
    rows += [("harness " + family, "", verbs) for family, verbs in names.items() if family]
    for family, (verbs, _, _) in FAMILIES.items():
        for name, target, _ in verbs:
            options = ["bash", "zsh", "fish"] if name == "completion" else _options(target)
            rows.append((" ".join(filter(None, ("harness", family, name))), "*", options))
    return rows


def _options(target: str) -> list[str]:
    module, _, function = target.partition(":")
    page = io.StringIO()
    with contextlib.redirect_stdout(page), contextlib.suppress(SystemExit):
        getattr(import_module("." + module, __package__), function)(["--help"])
    text = page.getvalue().partition("examples:")[0]
    actions = re.findall(r"^    ([a-z][a-z-]*)\s", text.partition("\n  ACTION\n")[2], re.M)
    return [*dict.fromkeys([*actions, *re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)])]
