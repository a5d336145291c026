"""What a program runs: the command in its arguments, the text it hands to a shell, the script it reads from disk."""

from __future__ import annotations

from ..base.process import system
from . import outputs, programs
from .expand import CONTAINER, REMOTE, SCRIPT, SHELLS
from .shell import TILDE, UNKNOWN
from .words import applied, joined, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expand import Call, Shell, Trace

MAX_SCRIPT_BYTES = 64 * 1024
MAX_SCRIPTS_DEEP = 3
_PACKAGE_RUNNERS = ("npm", "pnpm", "yarn", "bun")
_XARGS_VALUES = frozenset(
    "-I -J -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file -j".split()
)
_MAKEFILES = {"just": ("justfile", "Justfile"), "make": ("Makefile", "makefile", "GNUmakefile")}
_FIND_RUNS = frozenset("-exec -execdir -ok -okdir -x -X --exec --exec-batch".split())


def follow(shell: Shell, call: Call) -> None:
    name, args = call.program, call.args
    _creates(shell, call)
    if name in SHELLS:
        _shell(shell, call)
    elif name in ("xargs", "parallel"):
        _fed(shell, call)
    elif name in ("find", "fd", "fdfind"):
        _found(shell, call)
    elif name == "git":
        _git(shell, call)
    elif name in ("source", "."):
        _script(shell, args, call)
    elif name in _MAKEFILES:
        _recipes(shell, call)
    elif call.row is not None:
        _by_row(shell, call)
    if "/" in call.word and (call.row is None or joined(shell.cwd, call.word) in shell.files):
        _script(shell, [call.word, *args], call, needs_mark=True)


def _by_row(shell: Shell, call: Call) -> None:
    row, given, name = call.row, call.given, call.program
    assert row is not None
    words, kinds, directory = given.operands, row.operands, given.value("D")
    for _, kind, value in given.values:
        if kind == "s" or (kind == "v" and value.lstrip(":")[:1] == "!"):
            shell.text(value[5:] if value.startswith("exec=") else value.lstrip(":!"), via=name, directory=directory)
        elif kind == "S":  # with all that follows
            at = next((at for at, arg in enumerate(call.args) if arg.endswith(value)), len(call.args))
            shell.text(" ".join([value, *call.args[at + 1 :]]), via=name)
            return
    if kinds[-1:] == ["x"] and "N" not in [row.changes.get(flag) for flag in given.flags]:
        skipped = len(kinds) - 1 - kinds.count("=")
        while "=" in kinds and skipped < len(words) and "=" in words[skipped]:
            key, _, value = words[skipped].partition("=")
            shell.variables.setdefault(key, [value])
            skipped += 1
        shell.follow(_rest(call, skipped), via=name, directory=directory)
    elif kinds[-1:] in (["S"], ["S@"]):
        rest = _rest(call, len(kinds) - 1)
        rest = rest or ([call.stdin] if isinstance(call.stdin, str) and name == "ssh" else [])
        shell.text(" ".join(rest), via="" if name == "eval" else name, where=REMOTE if kinds[-1] == "S@" else "")
    elif kinds == ["s*"]:
        for word in words:
            shell.text(word if " " in word else "", via=name)
    for effect in row.effects:
        at = programs.command_at(given, effect)
        if at >= 0 and effect[0] == "run":
            rest = _rest(call, at)
            runner = ["python"] if "".join(rest[:1]).endswith(".py") else []
            shell.follow(runner + rest, via=name, directory=directory)
            return
        if at >= 0 and effect[0] == "in":
            entry = [value for option, _, value in given.values if option == "--entrypoint"]
            rest = call.args[call.args.index("--") + 1 :] if "--" in call.args else _rest(call, at)
            mounts = tuple([mount(value) for _, kind, value in given.values if kind == "B" and mount(value)[0]])
            shell.follow(entry + rest, via="container", where=CONTAINER, mounts=mounts)
            return
    if name in _PACKAGE_RUNNERS:
        _package(shell, call, directory)


def mount(value: str) -> tuple[str, str]:
    """(inside, outside) of a bind mount: `/src:/app:ro`, `type=bind,src=/src,dst=/app`."""
    if "=" in value and "," in value:
        parts = dict([part.partition("=")[::2] for part in value.split(",")])
        inside = parts.get("target") or parts.get("dst") or parts.get("destination") or ""
        return (inside, parts.get("source") or parts.get("src") or "") if parts.get("type") == "bind" else ("", "")
    outside, _, rest = value.partition(":")
    return (rest.partition(":")[0], outside) if outside[:1] in ("/", ".", TILDE, UNKNOWN) else ("", "")


def _rest(call: Call, skipped: int) -> list[str]:
    """The arguments from an operand on, options included."""
    places = call.given.places
    return call.args[places[skipped] :] if skipped < len(places) else []


def _shell(shell: Shell, call: Call) -> None:
    args, at = call.args, 0
    while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
        flag = args[at]
        if flag[:1] == "-" and flag[1:2] != "-" and "c" in flag:
            rest = args[at + 1 :]
            rest = rest[1:] if rest[:1] == ["--"] else rest
            shell.text("".join(rest[:1]), via=call.program, args=rest[2:])
            return
        at += 2 if flag in ("--rcfile", "--init-file") or (flag[1:2] != "-" and flag[-1:] in ("o", "O")) else 1
        at = len(args) if flag == "-s" else at
    operands = [arg for arg in args[at:] if arg not in ("-", "--", "/dev/stdin")]
    if operands:
        _script(shell, operands, call)
    elif isinstance(call.stdin, str):
        shell.text(call.stdin, via=call.program)
    else:  # `bash < x.sh`, `cat x.sh | bash`
        piped = [word for each in call.sources()[:1] if each.program == "cat" for word in each.given.operands]
        _script(shell, [word for operator, word in call.redirections if operator == "<"] + piped, call)


def _script(shell: Shell, operands: list[str], call: Call, *, needs_mark: bool = False) -> None:
    """A script that this script has written itself, a pipe with a known end, or a file on disk."""
    for name in operands[:1]:
        made = shell.trace.made_by(name)
        text = outputs.said(made[-1], shell.trace) if made else shell.files.get(joined(shell.cwd, name))
        text = call.stdin if name in ("/dev/stdin", "-") and isinstance(call.stdin, str) else text
        if text:
            shell.text(text, via="" if call.program in ("source", ".") else name_of(name), args=operands[1:])
            return
        text = from_disk(shell, joined(shell.cwd, name))
        first = text.partition("\n")[0]
        if text and (not needs_mark or (first[:2] == "#!" and name_of(first.split()[-1]) in SHELLS)):
            _run_file(shell, text, operands[1:])


def _run_file(shell: Shell, text: str, args: list[str], directory: str = "") -> None:
    if shell.via.count(SCRIPT) < MAX_SCRIPTS_DEEP:
        shell.text(text, via=SCRIPT, args=args, directory=directory)


def from_disk(shell: Shell, path: str) -> str:
    return "" if shell.where else read_small(path, shell.trace)


def read_small(path: str, found: Trace) -> str:
    """The text of a small file; "" for none."""
    full = found.home + path[1:] if path[:1] == TILDE else path
    if UNKNOWN in full or not full.startswith("/") or found.budget.files <= 0:
        return ""
    found.budget.files -= 1
    try:
        status = system.stat(full)
        if status.st_mode & 0o170000 != 0o100000 or status.st_size > MAX_SCRIPT_BYTES:
            return ""
        with open(full, "rb") as file:
            return file.read(MAX_SCRIPT_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _package(shell: Shell, call: Call, directory: str) -> None:
    """`npm run build`, `yarn build`: the script of package.json."""
    words = [word for word in call.given.operands if word not in ("run", "run-script")]
    name = {"t": "test", "tst": "test"}.get(words[0], words[0]) if words else ""
    path = joined(joined(shell.cwd, directory) if directory else shell.cwd, "package.json")
    text = (shell.files.get(path) or from_disk(shell, path)) if name else ""
    if '"%s"' % name not in text:
        return
    from ..base import jsontext

    try:
        scripts = jsontext.loads(text)["scripts"]
        texts = [scripts[each] for each in ("pre" + name, name, "post" + name) if each in scripts]
    except (ValueError, KeyError, TypeError):
        return
    for script in texts:
        _run_file(shell, str(script), [], directory)


def _recipes(shell: Shell, call: Call) -> None:
    """The recipes of the targets that `make` or `just` is asked for, and of what those need."""
    given = call.given
    directory, named = given.value("D"), given.value("u")
    folder = joined(shell.cwd, directory) if directory else shell.cwd
    for name in [named] if named else _MAKEFILES[call.program]:
        own = call.stdin if name == "-" and isinstance(call.stdin, str) else shell.files.get(joined(folder, name))
        text = own or from_disk(shell, joined(folder, name))
        if text and "-n" not in given.flags:
            recipes = "\n".join(_needed(text, [word for word in given.operands if "=" not in word]))
            if own:
                shell.text(recipes, via=call.program, directory=directory)
            else:
                _run_file(shell, recipes, [], directory)
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
    args, at, place = call.args, 0, ""
    while at < len(args) and args[at][:1] == "-" and args[at] != "--":
        arg = args[at]
        if arg[:2] in ("-I", "-J"):
            place = arg[2:] or "".join(args[at + 1 : at + 2])
        elif arg == "-i" or arg.startswith("--replace"):
            place = arg.partition("=")[2] or "{}"
        at += 2 if arg in _XARGS_VALUES else 1
    rest = [arg for arg in args[at:] if arg != "--"] or ["echo"]
    is_file = "-a" in args or any(arg.startswith("--arg-file") for arg in args)
    operands = outputs.fed_words(None if is_file else call.stdin, lines=bool(place) or call.program == "parallel")
    if call.program == "parallel":
        if ":::" in rest:
            rest, operands = rest[: rest.index(":::")], rest[rest.index(":::") + 1 :]
        place = "{}" if any("{}" in word for word in rest) else ""
        if len(rest) < 2 and (not rest or " " in rest[0]):
            for text in [rest[0].replace("{}", " ".join(operands))] if rest else operands:
                shell.text(text, via="parallel")
            return
    elif rest[-1] == "-c" and name_of(rest[0]) in SHELLS:
        operands = [" ".join(operands)]
    shell.follow(applied(rest, operands, place if any(place in word for word in rest) else ""), via=call.program)


def _found(shell: Shell, call: Call) -> None:
    args, at = call.args, 0
    while at < len(args):
        if args[at] in _FIND_RUNS:
            end = at + 1
            while end < len(args) and args[end] not in (";", "+"):
                end += 1
            inner = args[at + 1 : end]
            place = "{}" if call.program == "find" or any("{}" in word for word in inner) else ""
            shell.follow(applied(inner, outputs.found_by(call), place), via=call.program)
            at = end
        at += 1


def _git(shell: Shell, call: Call) -> None:
    """Aliases, commands in options, and the branch that is checked out from here on."""
    verb, args = call.verb()
    settings = [value for flag, value in zip(call.args, call.args[1:]) if flag == "-c"]
    settings += ["=".join(args[-2:])] if verb == "config" and len(args) > 1 else []
    for name, _, value in [setting[6:].partition("=") for setting in settings if setting.startswith("alias.")]:
        shell.aliases["git " + name] = value
    known = shell.aliases.get("git " + verb, verb)
    if known[:1] == "!":
        shell.text(known[1:], via="git")
    elif known.split()[:1] != [verb]:
        shell.follow(["git", *known.split(), *args], via="git")
    elif verb in ("checkout", "switch") and "--" not in args:
        shell.branch = next((arg for arg in args if arg[:1] != "-"), shell.branch)
    elif verb == "submodule" and args[:1] == ["foreach"]:
        shell.text(" ".join([arg for arg in args[1:] if arg != "--recursive"]), via="git")
    elif verb == "bisect" and args[:1] == ["run"]:
        shell.follow(args[1:], via="git")
    elif verb in ("rebase", "difftool"):
        for option, value in zip(args, args[1:]):
            shell.text(value if option in ("-x", "--exec", "--extcmd") else "", via="git")


def _creates(shell: Shell, call: Call) -> None:
    """Paths that the script makes, and files that it copies or fetches."""
    name, words = call.program, [arg for arg in call.args if arg[:1] != "-"]
    made: list[str] = []
    if name in ("mkdir", "touch", "virtualenv"):
        made = words
    elif name == "git" and words[:1] in (["clone"], ["init"], ["worktree"]):
        url = words[1] if words[0] == "clone" and len(words) == 2 else ""
        made = [url.rstrip("/").rpartition("/")[2].replace(".git", "")] if url else words[2:][-1:] or words[1:]
    elif name == "python" and "venv" in call.args:
        made = words[-1:]
    elif name in ("tar", "unzip"):
        made = [call.given.value("D") or call.given.value("t")]
    elif name == "ln" and len(words) == 2:
        shell.trace.links[joined(shell.cwd, words[1])] = joined(shell.cwd, words[0])
    elif name in ("cp", "mv", "install") and len(words) > 1:
        made = words[-1:]
        text = shell.files.get(joined(shell.cwd, words[-2]))
        if text is not None:
            shell.write(words[-1], text)
    elif name in ("tee", "dd"):
        for word in words:
            word = word[3:] if word.startswith("of=") else word
            if isinstance(call.stdin, str):
                shell.write(word, call.stdin, adds="-a" in call.args)
            elif any(outputs.fetches(each) for each in call.sources()):
                shell.trace.fetched.add(joined(shell.cwd, word))
    elif name in ("curl", "wget", "aria2c"):
        shell.trace.fetched.update(joined(shell.cwd, word) for word in fetched_files(call))
    shell.trace.made.update(joined(shell.cwd, word) for word in made if word)


def fetched_files(call: Call) -> list[str]:
    """The files that a download leaves: by option, or named like the address."""
    files = [value for _, kind, value in call.given.values if kind == "w"]
    if not files and (call.program != "curl" or call.given.has("-O,--remote-name,-J")):
        urls = [word for word in call.given.operands if "/" in word or "." in word]
        files = [url.partition("?")[0].rstrip("/").rpartition("/")[2] for url in urls]
    return files
