"""What a program runs: the command in its arguments, the text it hands to a shell, the script it reads from disk."""

from __future__ import annotations

from ..base.process import system
from . import calls, code, programs
from .calls import SCRIPT, SHELLS, Call
from .shell import TILDE, UNKNOWN, from_windows, joined, name_of
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expand import Shell

MAX_SCRIPT_BYTES = 64 * 1024
MAX_SCRIPTS_DEEP = 3
MAX_COMMANDS = 40  # of one body
_SCRIPT_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")


def follow(shell: Shell, call: Call) -> None:
    outer, directory = shell.cwd, call.given.value("D")
    if directory:
        shell.cwd = call.cwd = joined(outer, directory)
    _creates(shell, call)
    special = _SPECIAL.get(call.program, _by_row if call.row is not None else None)
    if special:
        special(shell, call)
    elif "--" in call.args:
        shell.follow(call.args[call.args.index("--") + 1 :], via=call.program)
    if "/" in call.word and (call.row is None or joined(shell.cwd, call.word) in shell.trace.files):
        _script(shell, [call.word, *call.args], call, needs_mark=True)
    shell.cwd = outer if directory else shell.cwd


def _by_row(shell: Shell, call: Call) -> None:
    row, given, name = call.row, call.given, call.program
    assert row is not None
    words, kinds = given.operands, row.operands
    texts = [value for kind, value in call.accesses() if kind in ("s", "S")]
    if texts and name in WORDS["windows-shells"]:
        texts = [from_windows(text) for text in texts]
        _code(shell, call, "\n".join(texts))
    for text in texts:
        shell.read_text(text[5:] if text.startswith("exec=") else text, via=name, args=words[1:])
    if texts:
        return
    if kinds == ["i*"] and isinstance(call.stdin, str) and not words:
        outer, shell.stdin = shell.stdin, None
        for line in call.stdin.split("\n")[:MAX_COMMANDS]:
            shell.follow([name, *line.split()], via=name)
        shell.stdin = outer
    if kinds[-1:] == ["F"]:
        _shell(shell, call)
    elif "q*" in kinds:
        call.statements = tuple([_read(shell, each)[0] or each for each in given.of("Q") or _fed_files(call)])
    for effect in row.effects:
        at = programs.command_at(name, effect, given)
        if at >= 0:
            _command(shell, call, effect, at)
            return
    script = [each for each in (given.value("P"), *call.rest(0)) if each and kinds[:1] in (["f"], ["f?"])]
    if row.has_code and script and programs.row_of(name_of(script[0])):  # python -m twine, php artisan
        shell.follow(script, via=name)
    elif row.has_code:
        _code(shell, call)
    if name in ("npm", "pnpm", "yarn", "bun"):
        _package(shell, call)


def _command(shell: Shell, call: Call, effect: list[str], at: int) -> None:
    words, name, where = call.given.operands, call.program, programs.RUNS[effect[0]]
    while "=" in effect and at < len(words) and ("=" in words[at] or words[at] == "-"):
        at += 1
    if effect[0] == "any":  # options set aside, from the first program on that we know
        rest = call.args[call.args.index("--") + 1 :] if "--" in call.args else call.rest(at)
        starts = [i for i, word in enumerate(rest) if " " in word or (word != "." and programs.row_of(name_of(word)))]
        shell.follow(rest[starts[0] :] if starts and "/" not in rest[0] else rest, via=name)
        return
    rest = [value for option, _, value in call.given.values if option == "--entrypoint"] + call.rest(at)
    if effect[0] in ("text", "remote"):
        text = " ".join(rest) or (call.stdin if isinstance(call.stdin, str) and where else "")
        shell.read_text(text, via="" if name == "eval" else name, where=where)
    else:
        package, _, version = "".join(rest[:1]).rpartition("@")  # npx npm@latest
        rest = [package, *rest[1:]] if package and "/" not in version else rest
        rest = ["python", *rest] if "".join(rest[:1]).endswith(".py") else rest
        image = "".join(words[at - 1 : at]).partition(":")[0] if where and at else ""  # amazon/aws-cli:2 runs aws
        entry = name_of(image).replace("-cli", "") if "/" in image else ""
        if programs.row_of(entry) and not programs.row_of(name_of("".join(rest[:1]))):
            rest = [entry, *call.args[call.given.places[at - 1] + 1 :]]
        shell.follow(rest, via=where or name, where=where)


def _code(shell: Shell, call: Call, body: str = "") -> None:
    """The commands that code amounts to: code in an argument, on standard input, or in a file."""
    kinds, via = call.row.operands if call.row else [], call.program
    scripts = [word for word in call.given.operands if word != "-" and kinds]
    body = body or "\n".join(call.given.of("c"))
    if not body and kinds[:1] == ["c"]:
        body = "".join(scripts[:1])
    elif not body and scripts:
        body, origin = _read(shell, scripts[0])
        via = origin or via
        body = body if not origin or scripts[0].endswith(_SCRIPT_SUFFIXES) else ""
    elif not body and isinstance(call.stdin, str):
        body = call.stdin
    if body:
        shell.budget.take(code.BODY_COST)
        call.code = body[: code.MAX_CHARS], via == SCRIPT
        outer, shell.stdin = shell.stdin, None
        for words in list(code.commands(call.code[0], call.program, is_script=via == SCRIPT))[:MAX_COMMANDS]:
            shell.follow(words, via=via) if len(words) > 1 else shell.read_text("".join(words), via=via)
        shell.stdin = outer


def _shell(shell: Shell, call: Call) -> None:
    """`bash x.sh`, `bash < x.sh`, `cat x.sh | bash`"""
    operands = [word for word in call.given.operands if word not in ("-", "/dev/stdin") and word[:1] != "+"]
    is_named = operands and "-s" not in call.given.flags
    if isinstance(call.stdin, str) and not is_named:
        shell.read_text(call.stdin, via=call.program)
    else:
        _script(shell, operands if is_named else _fed_files(call), call)


def _fed_files(call: Call) -> list[str]:
    """The files on standard input: `< x`, `cat x |`"""
    piped = [word for each in call.sources()[:1] if each.program == "cat" for word in each.given.operands]
    return [word for operator, word in call.redirections if operator == "<"] + piped


def _script(shell: Shell, operands: list[str], call: Call, *, needs_mark: bool = False) -> None:
    """A script that this script has written itself, a pipe with a known end, or a file on disk."""
    for name in operands[:1]:
        made = shell.trace.writers("", name)
        piped = calls.said(made[-1], shell.trace) if made else call.stdin if name in ("/dev/stdin", "-") else None
        text, via = (piped, "") if isinstance(piped, str) else _read(shell, name)
        first = text.partition("\n")[0]
        if via and needs_mark and (first[:2] != "#!" or name_of(first.split()[-1]) not in SHELLS):
            return
        via = via or ("" if call.program in ("source", ".") else name_of(name))
        shell.read_text(text, via=via, args=operands[1:])


def _read(shell: Shell, name: str) -> tuple[str, str]:
    """The text of a file, "" for none or a large one; and SCRIPT if it is on disk, not written by the script itself."""
    path = joined(shell.cwd, name)
    found, own = shell.trace, shell.trace.files.get(path)
    if isinstance(own, str):
        return own, ""
    full = found.home + path[1:] if path[:1] == TILDE else path
    is_near = shell.via.count(SCRIPT) < MAX_SCRIPTS_DEEP and not shell.where and found.budget.files > 0
    if not is_near or UNKNOWN in full or full[:1] != "/" or full.startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return "", SCRIPT
    found.budget.files -= 1
    try:
        status = system.stat(full)
        if status.st_mode & 0o170000 == 0o100000 and status.st_size <= MAX_SCRIPT_BYTES:
            with open(full, "rb") as file:
                return file.read(MAX_SCRIPT_BYTES).decode("utf-8", "replace"), SCRIPT
    except (OSError, ValueError):
        pass
    return "", SCRIPT


def _package(shell: Shell, call: Call) -> None:
    """`npm run build`, `yarn build`: the script of package.json."""
    words = [word for word in call.given.operands if word not in ("run", "run-script")]
    name = {"t": "test", "tst": "test"}.get(words[0], words[0]) if words else ""
    text = _read(shell, "package.json")[0] if name else ""
    if '"%s"' % name not in text:
        return
    from ..base import jsontext

    try:
        scripts = jsontext.loads(text)["scripts"]
        texts = [str(scripts[each]) for each in ("pre" + name, name, "post" + name) if each in scripts]
    except (ValueError, KeyError, TypeError):
        return
    for script in texts:
        shell.read_text(script, via=SCRIPT)


def _recipes(shell: Shell, call: Call) -> None:
    """The recipes of the targets that `make` or `just` is asked for, and of what those need."""
    given = call.given
    for name in (given.of("u") or WORDS["makefiles-" + call.program]) if "-n" not in given.flags else ():
        text, via = (call.stdin, "") if name == "-" else _read(shell, name)
        if text and isinstance(text, str):
            recipes = "\n".join(_needed(text, [word for word in given.operands if "=" not in word]))
            shell.read_text(recipes, via=via or call.program)
            return


def _needed(text: str, waiting: list[str]) -> list[str]:
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        heads, colon, needs = line.partition(":")
        if line[:1] in ("\t", " "):
            current.append(line.strip().lstrip("@-+").replace("$(RM)", "rm -f").replace("$$", "$"))
        elif colon and heads[:1] not in ("#", ".", "") and "=" not in heads + needs[:1]:
            current = []
            rules.update({head: (needs.split(), current) for head in heads.split()[:20] if head not in rules})
    waiting = waiting or list(rules)[:1]
    for target in waiting:  # grows on the way
        waiting += [each for each in rules.get(target, ([], []))[0] if each in rules and each not in waiting][:30]
    return [line for target in waiting[:50] for line in rules.get(target, ([], []))[1]]


def _fed(shell: Shell, call: Call) -> None:
    """xargs and parallel: the command with what standard input, or `:::`, adds to it."""
    given, rest = call.given, call.rest(0) or ["echo"]
    place = given.value("I") or ("{}" if given.has("-i,--replace") or call.program == "parallel" else "")
    operands = calls.fed_words(None if given.value("A") else call.stdin, lines=bool(place))
    if ":::" in rest:
        rest, operands = rest[: rest.index(":::")], rest[rest.index(":::") + 1 :]
    operands = [" ".join(operands)] if rest[-1:] == ["-c"] else operands
    shell.follow(_applied(rest, operands, place), via=call.program)


def _applied(words: list[str], operands: list[str], place: str) -> list[str]:
    if not place or not any(place in word for word in words):
        return [*words, *operands]
    found: list[str] = []
    for word in words:
        choices = [""] if place not in word else [" ".join(operands)] if " " in word else operands
        found += [word.replace(place, each) for each in choices]
    return found


def _found(shell: Shell, call: Call) -> None:
    end = -1  # of the command before
    for at, arg in enumerate(call.args):
        if arg in WORDS["find-runs"] and at > end:
            end = next((end for end in range(at, len(call.args)) if call.args[end] in (";", "+")), len(call.args))
            words = call.args[at + 1 : end]
            operands = calls.found_by(call) if call.program != "find" or "{}" in words else []
            shell.follow(_applied(words, operands, "{}"), via=call.program)


def _git(shell: Shell, call: Call) -> None:
    """Commands in arguments, and the branch that is checked out from here on."""
    verb, args = call.verb()
    if verb in ("checkout", "switch") and "--" not in args:
        shell.branch = next((arg for arg in args if arg[:1] != "-"), shell.branch)
    aliases = [value.partition("=")[2] for _, _, value in call.given.values if value.startswith("alias.%s=" % verb)]
    texts = [text[1:] if text[0] == "!" else "git " + text for text in aliases] + call.given.of("s")
    if [verb, *args[:1]] in (["submodule", "foreach"], ["bisect", "run"]):
        texts.append(" ".join([arg for arg in args[1:] if arg != "--recursive"]))
    for text in texts:
        shell.read_text(text, via="git")


def _creates(shell: Shell, call: Call) -> None:
    """Paths that the script makes, and what it writes or fetches into files."""
    name, words = call.program, [arg for arg in call.args if arg[:1] != "-"]
    made = [word for kind, word in call.accesses() if kind in ("n", "w")] if call.row else []
    content: str | list[Call] | None = None
    if name == "git" and words[:1] in (["clone"], ["init"], ["worktree"]):
        made = words[2:][-1:] or [words[-1].rstrip("/").rpartition("/")[2].replace(".git", "")]
    elif name in ("tee", "dd"):
        content = call.stdin if isinstance(call.stdin, str) else call.sources()
    elif name in ("curl", "wget", "aria2c"):
        if not made and (name != "curl" or call.given.has("-O,--remote-name,-J")):  # named like the address
            made = [url.partition("?")[0].rstrip("/").rpartition("/")[2] for url in call.given.operands]
        content = [call]
    for path in [joined(shell.cwd, word) for word in made if word]:
        shell.trace.make(path)
        if content is not None:
            shell.trace.write(path, content, adds="-a" in call.args)


_SPECIAL = {
    **dict.fromkeys(("find", "fd", "fdfind"), _found),
    **dict.fromkeys(("xargs", "parallel"), _fed),
    **dict.fromkeys(("source", "."), lambda shell, call: _script(shell, call.args, call)),
    **dict.fromkeys(("make", "just"), _recipes),
    "git": _git,
}
