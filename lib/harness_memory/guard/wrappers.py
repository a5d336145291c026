"""Programs that run other programs: what they run, and where."""

from __future__ import annotations

from .outputs import LISTS_NAMES, fed_words, fetches, found_by
from .words import applied, joined, name_of, rest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import Call, Shell

SHELLS = frozenset("sh bash zsh dash ksh ash fish rbash mksh csh tcsh nu xonsh elvish".split())
GUESSED = "?"  # in `via`: an unknown program may run this; only deny rules count then
REMOTE = "remote"
CONTAINER = "container"

# Programs that run the program named in their arguments: (options that take a value, operands before it).
_PREFIXES: dict[str, tuple[str, int]] = {
    "sudo": ("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role --type", 0),
    "doas": ("-u -C", 0),
    "env": ("-u --unset -C --chdir", 0),
    "nice": ("-n --adjustment", 0),
    "nohup": ("", 0),
    "time": ("-f -o --format --output", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "gtimeout": ("-s -k --signal --kill-after", 1),
    "stdbuf": ("-i -o -e", 0),
    "setsid": ("", 0),
    "ionice": ("-c -n -p", 0),
    "chrt": ("", 1),
    "taskset": ("", 1),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "chroot": ("--userspec --groups", 1),
    "unshare": ("", 0),
    "nsenter": ("-t --target", 0),
    "strace": ("-e -o -p -s -u", 0),
    "ltrace": ("-e -o -p -s -u", 0),
    "pkexec": ("--user", 0),
    "gosu": ("", 1),
    "su-exec": ("", 1),
    "caffeinate": ("-t -w", 0),
    "xvfb-run": ("-s -n -e -f -w", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
    "torsocks": ("", 0),
    "rlwrap": ("", 0),
    "unbuffer": ("", 0),
    "winpty": ("", 0),
    "flock": ("-w --timeout -E", 1),
    "systemd-run": ("-p --property -u --unit --uid --gid --slice -E --setenv", 0),
    "screen": ("-S -t -c -h", 0),
    "runuser": ("-u --user -g --group", 0),
    "setarch": ("", 1),
    "wsl": ("-d -u --distribution --user", 0),
    "noglob": ("", 0),
    "nocorrect": ("", 0),
    "npx": ("-p --package -c --call", 0),
    "bunx": ("", 0),
    "uvx": ("--from --with -p --python", 0),
    "entr": ("", 0),
}
# The same, where words of its own come first: `poetry run pytest`.
_SUBCOMMANDS: dict[str, tuple[tuple[str, ...], str, int]] = {
    "poetry": (("run",), "", 0),
    "pipenv": (("run",), "", 0),
    "uv": (("run",), "--with --from -p --python --project --directory --extra --group --env-file", 0),
    "hatch": (("run",), "", 0),
    "pdm": (("run",), "", 0),
    "rye": (("run",), "", 0),
    "bundle": (("exec",), "", 0),
    "conda": (("run",), "-n -p --name --prefix --cwd", 0),
    "mamba": (("run",), "-n -p --name --prefix", 0),
    "micromamba": (("run",), "-n -p", 0),
    "pnpm": (("exec", "dlx"), "-C --dir --filter -F", 0),
    "yarn": (("exec", "dlx"), "", 0),
    "npm": (("exec", "x"), "-p --package --prefix", 0),
    "direnv": (("exec",), "", 1),
    "doppler": (("run",), "-p -c --project --config", 0),
    "op": (("run",), "--env-file", 0),
    "aws-vault": (("exec",), "-d --duration", 1),
    "lerna": (("exec",), "--scope --ignore", 0),
    "devbox": (("run",), "", 0),
    "mise": (("exec", "x"), "", 0),
    "asdf": (("exec",), "", 0),
    "pyenv": (("exec",), "", 0),
    "rbenv": (("exec",), "", 0),
    "heroku": (("run",), "-a --app", 0),
    "fly": (("ssh",), "", 0),
}
_XARGS_VALUES = frozenset(
    """
    -I -J -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file
    """.split()
)
_TEXT_OPTIONS = {  # programs that hand the value of an option to a shell
    "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command"),
    "script": ("-c", "--command"),
    "nix-shell": ("--run", "--command"),
    "flock": ("-c", "--command"),
    "npx": ("-c", "--call"),
    "npm": ("-c", "--call"),
    "capsh": ("-c",),
    "cmd": ("/c", "/C", "/k", "/K"),
    "powershell": ("-c", "-command", "-Command", "-C"),
    "pwsh": ("-c", "-command", "-Command", "-C"),
}
# Programs that run nothing that they are given.
_TALKERS = frozenset(
    """
    echo printf grep egrep fgrep rg ag ack info tldr which whereis type whatis apropos apt apt-get apk dnf yum brew
    pacman gh glab hub npm yarn pnpm pip cargo harness claude test [ [[ (( case aws
    gsutil gcloud rclone mc s3cmd heroku cat ls cd less head tail sed awk jq find export alias unalias unset hash wc
    sort uniq diff cmp file stat cut tr xxd od strings touch mkdir cp mv ln rm chmod chown rmdir du df sha256sum md5sum
    """.split()
)
_NEEDS_NONE = ("parallel", "make", "gmake")
_GIT_PLAIN = frozenset("status add commit push log diff show branch checkout switch restore stash merge tag".split())


def follow(outer: Shell, call: Call) -> None:
    """Follow a program into what it runs."""
    name, args = call.program, call.args
    if name in _TEXT_OPTIONS and _option_text(outer, name, args):
        return
    if name in SHELLS:
        _shell(outer, call)
    elif name in _PREFIXES:
        _prefix(outer, name, args)
    elif name in _SUBCOMMANDS:
        verbs, values, operands = _SUBCOMMANDS[name]
        words = rest_of(args, values, 0)
        if words and words[0] in verbs:
            outer.follow(rest_of(words[1:], values, operands), via=name)
    elif name == "xargs":
        _xargs(outer, call)
    elif name in LISTS_NAMES:
        _find(outer, name, args, call)
    elif name in ("tee", "curl", "wget"):
        _fetch(outer, call)
    elif name in ("at", "batch") and isinstance(call.stdin, str):
        outer.text(call.stdin, via=name)
    elif outer.files and joined(outer.cwd, call.word) in outer.files:
        outer.script([call.word, *args], call)
    elif (
        (args or name in _NEEDS_NONE)
        and name not in _TALKERS
        and not (name == "git" and args[0] in _GIT_PLAIN and not outer.aliases)
    ):
        from .runners import follow as follow_far

        follow_far(outer, call)


def _fetch(outer: Shell, call: Call) -> None:
    """Files that hold what the network sent."""
    if call.program == "tee":
        if isinstance(call.stdin, list) and any(fetches(each) for each in call.stdin):
            outer.trace.fetched.update(arg for arg in call.args if arg[:1] != "-")
        return
    for flag, value in zip(call.args, call.args[1:]):
        if flag[:1] == "-" and (
            flag in ("--output", "--output-document") or (flag[1:2] != "-" and flag[-1:] in ("o", "O"))
        ):
            outer.trace.fetched.update((value, "./" + value))


def _prefix(outer: Shell, name: str, args: list[str]) -> None:
    values, operands = _PREFIXES[name]
    if name == "screen":
        args = ["-S" if arg[:1] == "-" and arg[-1:] == "S" else arg for arg in args]
    if name in ("command", "builtin") and args[:1] in (["-v"], ["-V"]):
        return
    rest = rest_of(args, values, operands, assignments=True)
    own = args[: len(args) - len(rest)]
    if name == "env":
        for at, arg in enumerate(own):
            is_short = arg[:1] == "-" and arg[1:2] != "-" and "S" in arg
            if is_short or arg.startswith("--split-string"):
                text = arg.partition("S" if is_short else "=")[2]
                outer.text(" ".join([text, *args[at + 1 :]]), via=name)
                return
    for arg in own:
        key, equals, value = arg.partition("=")
        if equals and key[:1] != "-":
            outer.variables.setdefault(key, [value])
    outer.follow(rest, via=name, directory=_directory(name, own))


def _directory(name: str, own: list[str]) -> str:
    """Where `env -C` and `sudo -D` go first."""
    if name not in ("env", "sudo"):
        return ""
    flags = ("--chdir", "-C" if name == "env" else "-D")
    for at, arg in enumerate(own):
        if arg in flags:
            return "".join(own[at + 1 : at + 2])
        if arg.startswith("--chdir=") or (arg[:2] == flags[1] and len(arg) > 2):
            return arg[8:] if arg[1] == "-" else arg[2:]
    return ""


def _option_text(outer: Shell, name: str, args: list[str]) -> bool:
    for at, arg in enumerate(args):
        is_grouped = arg[:1] == "-" and arg[-1:] == "c" and arg[1:].isalpha() and len(arg) < 5
        if arg in _TEXT_OPTIONS[name] or (is_grouped and "-c" in _TEXT_OPTIONS[name]):
            rest = args[at + 1 :]
            outer.text(" ".join(rest) if name in ("cmd", "powershell", "pwsh") else (rest or [""])[0], via=name)
            return True
    return False


def _shell(outer: Shell, call: Call) -> None:
    args = call.args
    at = 0
    while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
        flag = args[at]
        if flag.startswith("--command"):
            outer.text(flag.partition("=")[2] or "".join(args[at + 1 : at + 2]), via=call.program)
            return
        if flag.startswith(("--rcfile", "--init-file")):
            outer.script([flag.partition("=")[2] or "".join(args[at + 1 : at + 2])], call)
        if flag.startswith("-") and not flag.startswith("--") and "c" in flag:
            rest = [arg for arg in args[at + 1 :] if arg != "--"] if args[at + 1 : at + 2] == ["--"] else args[at + 1 :]
            if rest:
                outer.text(rest[0], via=call.program, args=rest[2:])
            return
        at += 2 if flag in ("--rcfile", "--init-file") or (flag[1:2] != "-" and flag[-1:] in ("o", "O")) else 1
        if flag == "-s":
            at = len(args)
    operands = [arg for arg in args[at:] if arg not in ("-", "--")]
    if operands and operands[0] != "/dev/stdin":
        outer.script(operands, call)
    elif isinstance(call.stdin, str):
        outer.text(call.stdin, via=call.program)


def _xargs(outer: Shell, call: Call) -> None:
    args = call.args
    rest = rest_of(args, _XARGS_VALUES, 0) or ["echo"]
    replaced = ""
    for at, arg in enumerate(args[: len(args) - len(rest)]):
        if arg == "-I" and at + 1 < len(args):
            replaced = args[at + 1]
        elif arg.startswith("-I") and len(arg) > 2:
            replaced = arg[2:]
        elif arg in ("-i", "--replace") or arg.startswith("--replace="):
            replaced = arg.partition("=")[2] or "{}"
        elif arg == "-J" and at + 1 < len(args):
            replaced = args[at + 1]
    stdin = None if "-a" in args or any(arg.startswith("--arg-file") for arg in args) else call.stdin
    operands = fed_words(stdin, lines=bool(replaced))
    if len(rest) > 1 and rest[-1] == "-c" and name_of(rest[0]) in SHELLS:
        operands = [" ".join(operands)]
    outer.follow(applied(rest, operands, replaced if any(replaced in word for word in rest) else ""), via="xargs")


def _find(outer: Shell, name: str, args: list[str], call: Call) -> None:
    flags = ("-exec", "-execdir", "-ok", "-okdir") if name == "find" else ("-x", "-X", "--exec", "--exec-batch")
    at = 0
    paths = found_by(call) if any(flag in args for flag in flags) else []
    while at < len(args):
        if args[at] in flags:
            end = at + 1
            while end < len(args) and args[end] not in (";", "+"):
                end += 1
            inner = args[at + 1 : end]
            has_place = any("{}" in word for word in inner)
            outer.follow(applied(inner, paths, "{}" if has_place or name == "find" else ""), via=name)
            at = end
        at += 1
