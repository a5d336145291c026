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
_SHELL_VALUES = ("--rcfile", "--init-file", "-o", "-O", "+o", "+O")
_PACKAGE_RUNNERS = ("npm", "pnpm", "yarn", "bun")
_OWN_VERBS = frozenset(
    "install i ci add remove rm un uninstall update up audit init link ls list outdated why info".split()
)
_SCRIPT_VERBS = {"t": "test", "tst": "test"}
_XARGS_VALUES = frozenset(
    "-I -J -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file -j".split()
)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_GIT_TEXTS = ("--extcmd", "-x", "--exec")


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
    elif name in ("make", "gmake", "just"):
        _recipes(shell, call)
    elif name in ("at", "batch") and isinstance(call.stdin, str):
        shell.text(call.stdin, via=name)
    elif call.row is not None:
        _by_row(shell, call)
    if "/" in call.word and (call.row is None or joined(shell.cwd, call.word) in shell.files):
        _script(shell, [call.word, *args], call, needs_mark=True)


def _by_row(shell: Shell, call: Call) -> None:
    row, given, name = call.row, call.given, call.program
    assert row is not None
    words = given.operands
    directory = next((value for _, kind, value in given.values if kind == "D"), "")
    for _, kind, value in given.values:
        if kind == "s" or (kind == "v" and value.lstrip(":")[:1] == "!"):
            shell.text(value[5:] if value.startswith("exec=") else value.lstrip(":!"), via=name, directory=directory)
        elif kind == "S":  # with all that follows
            at = next((at for at, arg in enumerate(call.args) if arg.endswith(value)), len(call.args))
            shell.text(" ".join([value, *call.args[at + 1 :]]), via=name)
            return
    kinds = row.operands
    if kinds[-1:] == ["x"] and "N" not in [row.changes.get(flag) for flag in given.flags]:
        skipped = len(kinds) - 1
        if "=" in kinds:
            skipped = 0
            while skipped < len(words) and "=" in words[skipped]:
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
            if " " in word:
                shell.text(word, via=name)
    for effect in row.effects:
        if effect[:1] == ["tmux"] and programs.command_at(row, given, effect[:2]) > 0:
            for word in words[1:]:
                if " " in word:
                    shell.text(word, via=name)
        elif effect and effect[0] in ("run", "in", "at"):
            at = programs.command_at(row, given, effect)
            if at >= 0:
                _inside(shell, call, at, effect, directory)
                return
    if name in _PACKAGE_RUNNERS:
        _package(shell, call, directory)


def _inside(shell: Shell, call: Call, at: int, effect: list[str], directory: str) -> None:
    if effect[0] == "run":
        shell.follow(_rest(call, at), via=call.program, directory=directory)
        return
    values = call.given.values
    entry = [value for option, _, value in values if option == "--entrypoint"]
    rest = call.args[call.args.index("--") + 1 :] if "--" in call.args else _rest(call, at)
    mounts = tuple([pair for _, kind, value in values if kind == "B" for pair in [mount(value)] if pair[0]])
    shell.follow(entry + rest, via="container", where=CONTAINER, directory="/", mounts=mounts)


def mount(value: str) -> tuple[str, str]:
    """(inside, outside) of a bind mount: `/src:/app:ro`, `type=bind,src=/src,dst=/app`."""
    if "=" in value and "," in value:
        parts = dict([part.partition("=")[::2] for part in value.split(",")])
        inside = parts.get("target") or parts.get("dst") or parts.get("destination") or ""
        return (inside, parts.get("source") or parts.get("src") or "") if parts.get("type") == "bind" else ("", "")
    outside, _, rest = value.partition(":")
    is_path = outside[:1] in ("/", ".", TILDE, UNKNOWN)
    return (rest.partition(":")[0], outside) if is_path else ("", "")


def _rest(call: Call, skipped: int) -> list[str]:
    """The arguments from an operand on, options included."""
    places = call.given.places
    return call.args[places[skipped] :] if skipped < len(places) else []


def _shell(shell: Shell, call: Call) -> None:
    args = call.args
    at = 0
    while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
        flag = args[at]
        if flag.startswith("--command"):
            shell.text(flag.partition("=")[2] or "".join(args[at + 1 : at + 2]), via=call.program)
            return
        if flag[:1] == "-" and flag[1:2] != "-" and "c" in flag:
            rest = args[at + 1 :]
            rest = rest[1:] if rest[:1] == ["--"] else rest
            if rest:
                shell.text(rest[0], via=call.program, args=rest[2:])
            return
        at += 2 if flag in _SHELL_VALUES or (flag[1:2] != "-" and flag[-1:] in ("o", "O")) else 1
        at = len(args) if flag == "-s" else at
    operands = [arg for arg in args[at:] if arg not in ("-", "--")]
    if operands and operands[0] != "/dev/stdin":
        _script(shell, operands, call)
    elif isinstance(call.stdin, str):
        shell.text(call.stdin, via=call.program)


def _script(shell: Shell, operands: list[str], call: Call, *, needs_mark: bool = False) -> None:
    """A script that this script has written itself, a pipe with a known end, or a file on disk."""
    for name in operands[:1]:
        path = joined(shell.cwd, name)
        text = shell.files.get(path)
        made = shell.trace.made_by(name)
        if name in ("/dev/stdin", "-") and isinstance(call.stdin, str):
            text = call.stdin
        elif made:
            text = outputs.said(made[-1], shell.trace)
        via = "" if call.program in ("source", ".") else name_of(name)
        if text:
            shell.text(text, via=via, args=operands[1:])
            continue
        text = from_disk(shell, path)
        first = text.partition("\n")[0]
        if text and (not needs_mark or (first[:2] == "#!" and name_of(first.split()[-1]) in SHELLS)):
            _run_file(shell, text, operands[1:])


def _run_file(shell: Shell, text: str, args: list[str], directory: str = "") -> None:
    if shell.via.count(SCRIPT) < MAX_SCRIPTS_DEEP:
        shell.text(text, via=SCRIPT, args=args, directory=directory)


def from_disk(shell: Shell, path: str) -> str:
    """The text of a small file; "" for none."""
    return "" if shell.where else read_small(path, shell.trace)


def read_small(path: str, found: Trace) -> str:
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
    words = call.given.operands
    if not words or (words[0] in _OWN_VERBS and words[0] != "test"):
        return
    name = words[1] if words[0] in ("run", "run-script", "rum") and len(words) > 1 else words[0]
    name = _SCRIPT_VERBS.get(name, name)
    folder = joined(shell.cwd, directory) if directory else shell.cwd
    text = shell.files.get(folder + "/package.json") or from_disk(shell, folder + "/package.json")
    if not text or '"%s"' % name not in text:
        return
    from ..base import jsontext

    try:
        scripts = jsontext.loads(text).get("scripts")
    except (ValueError, AttributeError):
        return
    for each in ("pre" + name, name, "post" + name):
        script = scripts.get(each) if isinstance(scripts, dict) else None
        if isinstance(script, str):
            _run_file(shell, script, [], directory)


def _recipes(shell: Shell, call: Call) -> None:
    """The recipes of the targets that `make` or `just` is asked for, and of what those need."""
    values = {option: value for option, _, value in call.given.values}
    directory = values.get("-C") or values.get("--directory") or ""
    folder = joined(shell.cwd, directory) if directory else shell.cwd
    named = next((values[flag] for flag in ("-f", "--file", "--makefile", "--justfile") if flag in values), "")
    text, is_ours = "", False
    for name in [named] if named else _JUSTFILES if call.program == "just" else _MAKEFILES:
        path = joined(folder, name)
        text = call.stdin if name == "-" and isinstance(call.stdin, str) else shell.files.get(path, "")
        is_ours = bool(text)
        text = text or from_disk(shell, path)
        if text:
            break
    if not text or "-n" in call.given.flags:
        return
    recipes = "\n".join(_needed(text, [word for word in call.given.operands if "=" not in word]))
    if is_ours:
        shell.text(recipes, via=call.program, directory=directory)
    else:
        _run_file(shell, recipes, [], directory)


def _needed(text: str, targets: list[str]) -> list[str]:
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if line[:1] in ("\t", " ") and line.strip():
            current.append(line.strip().lstrip("@-+"))
        elif (
            ":" in line
            and line[:1] not in ("#", ".", "")
            and "=" not in line.partition(":")[0] + line.partition(":")[2][:1]
        ):
            heads, _, needs = line.partition(":")
            current = []
            for head in heads.split()[: 1 if "(" in heads else 20]:
                rules.setdefault(head, (needs.split(), current))
    waiting = targets or list(rules)[:1]
    found: list[str] = []
    seen: set[str] = set()
    while waiting and len(seen) < 30:
        target = waiting.pop(0)
        if target in rules and target not in seen:
            found += rules[target][1]
            waiting += rules[target][0]
        seen.add(target)
    return [line.replace("$(RM)", "rm -f").replace("$$", "$") for line in found]


def _fed(shell: Shell, call: Call) -> None:
    """xargs and parallel: the command with what standard input, or `:::`, adds to it."""
    args, at, place = call.args, 0, ""
    while at < len(args) and args[at][:1] == "-" and args[at] != "--":
        arg = args[at]
        if arg in ("-I", "-J") and at + 1 < len(args):
            place = args[at + 1]
        elif arg[:2] == "-I" and len(arg) > 2:
            place = arg[2:]
        elif arg in ("-i", "--replace") or arg.startswith("--replace="):
            place = arg.partition("=")[2] or "{}"
        at += 2 if arg in _XARGS_VALUES else 1
    rest = args[at:] or ["echo"]
    rest = rest[1:] if rest[0] == "--" else rest
    is_file = "-a" in args or any(arg.startswith("--arg-file") for arg in args)
    operands = outputs.fed_words(None if is_file else call.stdin, lines=bool(place))
    if call.program == "parallel":
        marks = [word for word in (":::", "::::") if word in rest]
        end = rest.index(marks[0]) if marks else len(rest)
        operands = rest[end + 1 :] if marks == [":::"] else outputs.fed_words(call.stdin, lines=True)
        rest, place = rest[:end], "{}" if any("{}" in word for word in rest[:end]) else ""
        if len(rest) == 1 and " " in rest[0]:
            shell.text(rest[0].replace("{}", " ".join(operands)), via="parallel")
            return
        if not rest:
            for operand in operands:
                shell.text(operand, via="parallel")
            return
    elif rest[-1] == "-c" and name_of(rest[0]) in SHELLS:
        operands = [" ".join(operands)]
    shell.follow(applied(rest, operands, place if any(place in word for word in rest) else ""), via=call.program)


def _found(shell: Shell, call: Call) -> None:
    flags = ("-exec", "-execdir", "-ok", "-okdir") if call.program == "find" else ("-x", "-X", "--exec", "--exec-batch")
    args, at = call.args, 0
    paths = outputs.found_by(call) if any(flag in args for flag in flags) else []
    while at < len(args):
        if args[at] in flags:
            end = at + 1
            while end < len(args) and args[end] not in (";", "+"):
                end += 1
            inner = args[at + 1 : end]
            has_place = any("{}" in word for word in inner)
            shell.follow(applied(inner, paths, "{}" if has_place or call.program == "find" else ""), via=call.program)
            at = end
        at += 1


def _git(shell: Shell, call: Call) -> None:
    """Aliases, commands in options, and the branch that is checked out from here on."""
    from .gitrules import split

    verb, args, _ = split(call.args)
    for flag, setting in zip(call.args, call.args[1:]):
        if flag == "-c" and setting.startswith("alias."):
            name, _, value = setting[6:].partition("=")
            shell.aliases["git " + name] = value
    known = shell.aliases.get("git " + verb)
    if known and known.split()[:1] != [verb]:
        if known[:1] == "!":
            shell.text(known[1:], via="git")
        else:
            shell.follow(["git", *known.split(), *args], via="git")
    elif verb in ("checkout", "switch"):
        names = [arg for arg in args if arg[:1] != "-"]
        if names and "--" not in args:
            shell.branch = names[0]
    elif verb == "config" and len(args) > 1 and args[-2].startswith("alias."):
        shell.aliases["git " + args[-2][6:]] = args[-1]
    elif verb == "submodule" and args[:1] == ["foreach"]:
        shell.text(" ".join([arg for arg in args[1:] if arg != "--recursive"]), via="git")
    elif verb == "bisect" and args[:1] == ["run"]:
        shell.follow(args[1:], via="git")
    elif verb in ("rebase", "difftool"):
        for option, value in zip(args, args[1:]):
            if option in _GIT_TEXTS:
                shell.text(value, via="git")


def _creates(shell: Shell, call: Call) -> None:
    """Paths that the script makes, and files that it copies or fetches."""
    name, words = call.program, [arg for arg in call.args if arg[:1] != "-"]
    made: list[str] = []
    if name in ("mkdir", "touch", "virtualenv"):
        made = words
    elif name == "git" and (words[:1] == ["clone"] or words[:2] in (["worktree", "add"], ["init"])):
        made = words[1 if words[0] != "worktree" else 2 :][-2:]
        made = (
            made[-1:]
            if len(made) > 1 or words[0] != "clone"
            else [words[1].rstrip("/").rpartition("/")[2].replace(".git", "")]
            if len(words) > 1
            else []
        )
    elif name == "python" and "venv" in call.args:
        made = words[-1:]
    elif name in ("tar", "unzip"):
        made = [value for option, _, value in call.given.values if option in ("-C", "-d")]
    elif name in ("cp", "mv", "ln", "install") and len(words) > 1:
        made = words[-1:]
        text = shell.files.get(joined(shell.cwd, words[-2]))
        if text is not None:
            shell.write(words[-1], text)
    elif name in ("tee", "dd") and isinstance(call.stdin, str):
        for word in words:
            shell.write(word[3:] if word.startswith("of=") else word, call.stdin, adds="-a" in call.args)
    elif name in ("curl", "wget", "aria2c"):
        shell.trace.fetched.update(joined(shell.cwd, word) for word in fetched_files(call))
    if name == "tee" and any(outputs.fetches(each) for each in call.sources()):
        shell.trace.fetched.update(joined(shell.cwd, word) for word in words)
    shell.trace.made.update(joined(shell.cwd, word) for word in made)


def fetched_files(call: Call) -> list[str]:
    """The files that a download leaves: by option, or named like the address."""
    files = [value for _, kind, value in call.given.values if kind == "w"]
    by_name = call.program != "curl" or not {"-O", "--remote-name", "-J"}.isdisjoint(call.given.flags)
    if by_name and not files:
        urls = [word for word in call.given.operands if "/" in word or "." in word]
        files = [url.partition("?")[0].rstrip("/").rpartition("/")[2] for url in urls]
    return files
