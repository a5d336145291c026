"""From shell text to the calls it would make: variables, directories, loops, pipes and wrappers followed.

Nothing is run. What cannot be known is `shell.UNKNOWN` in a word. Bounded by `MAX_CALLS` and `MAX_DEPTH`.
"""

from __future__ import annotations

from . import shell
from .shell import CLOSE, COMMA, OPEN, STAR, TILDE, UNKNOWN, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .gate import Environment

MAX_CALLS = 500
MAX_INNER_CHARS = 40_000  # of scripts within scripts, all levels together
MAX_DEPTH = 12
MAX_VALUES = 24
MAX_ROUNDS = 4
MAX_BRACED_CHARS = 1000

SHELLS = frozenset("sh bash zsh dash ksh ash fish rbash mksh".split())
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
    "npm": (("exec", "x"), "-p --package", 0),
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
_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "lxc", "finch"))
_CONTAINER_VALUES = frozenset(
    """
    -v -e -p -w -u -h -l -m -c -n -f --volume --env --publish --workdir --user --name --network --net --mount
    --platform --entrypoint --env-file --label --memory --cpus --hostname --ip --link --log-driver --restart --gpus
    --shm-size --tmpfs --ulimit --add-host --cap-add --cap-drop --device --dns --expose --index --detach-keys --pull
    --context --namespace --container --kubeconfig --cluster --file --project-name --profile --project-directory
    --runtime --security-opt --stop-signal --volumes-from --userns --pid --ipc --uts --cgroupns --annotation
    --cidfile
    """.split()
)
_SSH_VALUES = frozenset(
    """
    -i -p -l -o -F -L -R -D -J -b -c -E -m -S -W -w -B -e -I -O -Q
    """.split()
)
_XARGS_VALUES = frozenset(
    """
    -I -J -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file
    """.split()
)
_PARALLEL_VALUES = frozenset(
    """
    --halt --timeout --retries --delay -j -I -n -N -a --jobs --colsep -S --sshlogin --arg-file --joblog --results
    """.split()
)
_TEXT_OPTIONS = {  # programs that hand the value of an option to a shell
    "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command"),
    "script": ("-c", "--command"),
    "nix-shell": ("--run", "--command"),
    "flock": ("-c", "--command"),
    "npx": ("-c", "--call"),
    "tar": ("--to-command",),
    "cmd": ("/c", "/C", "/k", "/K"),
    "powershell": ("-c", "-command", "-Command", "-C"),
    "pwsh": ("-c", "-command", "-Command", "-C"),
}
_GIT_COMMANDS = ("core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "sequence.editor", "diff.external")
_DECLARERS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_LISTS_NAMES = frozenset(("find", "fd", "fdfind"))
_DECODES = frozenset(("base64", "gbase64", "base32", "xxd", "openssl", "rev", "tac"))
_MAKES = frozenset(("mkdir", "mktemp", "touch", "git", "tar", "unzip", "cp", "python", "python3", "virtualenv"))


class Call:
    """One program with its arguments, as far as they can be known.

    `stdin` is the text it reads, a list of the calls that produce it, or None. `is_kept`: its output goes into a
    variable of the shell, where nobody sees it.
    """

    __slots__ = ("args", "cwd", "is_kept", "program", "redirections", "stdin", "texts", "via", "where", "word")

    def __init__(self, program: str, args: list[str], cwd: str) -> None:
        self.word = program
        self.program = _name(program)
        self.args = args
        self.cwd = cwd
        self.redirections: list[tuple[str, str]] = []
        self.stdin: Any = None
        self.texts: dict[str, str] = {}  # files that this script itself wrote before
        self.via: tuple[str, ...] = ()
        self.where = ""
        self.is_kept = False

    def line(self) -> str:
        return " ".join([shell.plain(word) or "''" for word in (self.program, *self.args)])


class Trace:
    """All calls of one script, and what could not be read of it."""

    __slots__ = ("calls", "chars_left", "env", "fetched", "home", "left", "made", "pipes", "project", "unread", "user")

    def __init__(self, home: str, project: str, env: Environment) -> None:
        self.home = home
        self.project = project
        self.env = env
        self.user = env.get("USER") or env.get("LOGNAME") or ""
        self.calls: list[Call] = []
        self.unread: list[str] = []
        self.made: set[tuple[str, str]] = set()  # (directory, name): paths that the script itself creates
        self.pipes: list[list[Call]] = []  # who writes /dev/fd/<n>
        self.fetched: set[str] = set()  # files that come from the network or a decoder
        self.left = MAX_CALLS
        self.chars_left = MAX_INNER_CHARS


def trace(text: str, cwd: str, home: str, project: str, env: Environment, depth: int = 0) -> Trace:
    """Unreadable when the text is no shell script or goes beyond the limits; `depth` > 0 for text found in a script."""
    found = Trace(home, project, env)
    if depth:
        found.left = MAX_CALLS // 5
    _Shell(found, cwd).run(shell.read(text, depth))
    return found


class _Shell:
    __slots__ = (
        "active",
        "aliases",
        "cwd",
        "depth",
        "files",
        "functions",
        "is_kept",
        "local_names",
        "stdin",
        "trace",
        "variables",
        "via",
        "where",
    )

    def __init__(self, found: Trace, cwd: str) -> None:
        self.trace = found
        self.cwd = cwd
        self.variables: dict[str, list[str]] = {}
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, str] = {}
        self.local_names: set[str] = set()
        self.files: dict[str, str] = {}
        self.active: tuple[str, ...] = ()
        self.via: tuple[str, ...] = ()
        self.where = ""
        self.stdin: Any = None
        self.depth = 0
        self.is_kept = False

    def copy(self, *, deeper: int = 0) -> _Shell:
        other = _Shell(self.trace, self.cwd)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.aliases = self.aliases
        other.files = self.files
        other.active = self.active
        other.via = self.via
        other.where = self.where
        other.stdin = self.stdin
        other.is_kept = self.is_kept
        other.depth = self.depth + deeper
        if other.depth > MAX_DEPTH:
            raise Unreadable("nested too deeply")
        return other

    # Trees ---------------------------------------------------------------------------------------

    def run(self, tree: Any) -> None:
        kind = tree[0]
        if kind == "cmd":
            self.command(tree[1], tree[2], tree[3])
        elif kind == "seq":
            for each in tree[1]:
                self.run(each)
        elif kind == "pipe":
            self.pipe(tree[1])
        elif kind == "sub":
            self.copy().compound(tree[1], tree[2])
        elif kind == "group":
            self.compound(tree[1], tree[2])
        elif kind == "for":
            self.iterate(tree[1], tree[2], tree[3])
        else:
            self.functions[tree[1]] = tree[2]

    def compound(self, tree: Any, redirections: list[Any]) -> None:
        outer = self.stdin
        if redirections:
            call = self.record("", [])
            self.redirect(call, redirections)
            self.stdin = call.stdin if call.stdin is not None else outer
        self.run(tree)
        self.stdin = outer

    def pipe(self, trees: list[Any]) -> None:
        outer = self.stdin
        feed: Any = outer
        for tree in trees:
            before = len(self.trace.calls)
            side = self.copy()
            side.stdin = feed
            side.run(tree)
            made = self.trace.calls[before:]
            feed = self.output(made, tree)

    def output(self, made: list[Call], tree: Any) -> Any:
        """What a command writes: its text where that can be known, else the calls that write it."""
        if tree[0] == "cmd" and made:
            text = _said(made[0], self.trace)
            if text is not None:
                return text
        upstream = made[0].stdin if made and isinstance(made[0].stdin, list) else []
        return upstream + made

    def iterate(self, name: str, words: list[Any] | None, body: Any) -> None:
        values = _distinct(self.variables.get("@", []) if words is None else self.words(words)) or [UNKNOWN]
        for value in values[:MAX_ROUNDS]:
            self.variables[name] = [value]
            self.run(body)
        if values[MAX_ROUNDS:]:
            self.variables[name] = values[MAX_ROUNDS:]
            self.run(body)

    # Simple commands -----------------------------------------------------------------------------

    def command(self, assignments: list[Any], words: list[Any], redirections: list[Any]) -> None:
        self.assign(assignments, for_child=bool(words))
        declares = bool(words) and isinstance(words[0], str) and words[0] in _DECLARERS
        expanded = self.words(words, kept=declares)
        call = self.record(expanded[0] if expanded else "", expanded[1:])
        if redirections:
            self.redirect(call, redirections)
        if expanded:
            outer, self.stdin = self.stdin, call.stdin
            self.perform(call)
            self.stdin = outer
            if redirections:
                self.remember_file(call)

    def record(self, program: str, args: list[str]) -> Call:
        self.trace.left -= 1 + len(args) // 50
        if self.trace.left < 0:
            raise Unreadable("too many commands")
        call = Call(program, args, self.cwd)
        call.via = self.via
        call.where = self.where
        call.stdin = self.stdin
        call.is_kept = self.is_kept
        call.texts = self.files
        self.trace.calls.append(call)
        return call

    def assign(self, assignments: list[Any], *, for_child: bool) -> None:
        for assignment in assignments:
            name, value = assignment[0], assignment[1]
            values = self.words(value, kept=True) if len(assignment) == 3 else self.quoted(value)
            if not for_child:
                self.variables[name] = values
            elif name == "HOME" or name not in self.variables:
                self.variables[name] = values  # seen by the `sh -c '...$NAME'` that may follow

    def redirect(self, call: Call, redirections: list[Any]) -> None:
        for descriptor, operator, target in redirections:
            if operator == "<<":
                call.stdin = self.text_of(target[2])
            elif operator == "<<<":
                call.stdin = self.text_of(target)
            else:
                for word in self.words([target]):
                    if operator in (">&", "<&") and (word.isdigit() or word == "-"):
                        continue
                    call.redirections.append((operator, word))
                    if operator == "<" and descriptor in ("", "0"):
                        call.stdin = self.files.get(word) or self.pipe_of(word)

    def text_of(self, word: Any) -> str:
        return " ".join(self.words([word] if not isinstance(word, list) else [_quoted(word)]))

    def pipe_of(self, word: str) -> Any:
        if word.startswith("/dev/fd/") and word[8:].isdigit() and int(word[8:]) < len(self.trace.pipes):
            return self.trace.pipes[int(word[8:])]
        return None

    def remember_file(self, call: Call) -> None:
        """A script that the script writes itself can be followed when it is run."""
        targets = [word for operator, word in call.redirections if operator in (">", ">>", ">|")]
        text = _said(call, self.trace) if targets else None
        if (
            fetches(call)
            or decodes(call)
            or (isinstance(call.stdin, list) and any(fetches(each) for each in call.stdin))
        ):
            self.trace.fetched.update(targets)
        for target in targets:
            self.trace.made.add((call.cwd, target))
            if text is not None:
                self.files[target] = text

    def perform(self, call: Call) -> None:
        name, args = call.program, call.args
        if name == UNKNOWN and args:  # an empty variable before a command is no word at all
            self.follow([*args])
        elif name in self.functions:
            self.invoke(name, args, call.stdin)
        elif name in self.aliases and name not in self.active:
            inner = self.copy(deeper=1)
            inner.active = (*self.active, name)
            inner.text(" ".join([self.aliases[name], *args]), via=name)
        elif name == "alias":
            self.aliases.update(arg.split("=", 1) for arg in args if "=" in arg)  # type: ignore[misc]
        elif name in ("cd", "pushd", "chdir", "set-location"):
            self.change_directory(args)
        elif name in _DECLARERS:
            for arg in args:
                key, equals, value = arg.partition("=")
                if equals:
                    self.variables[key] = [value]
                if name in ("local", "declare", "typeset"):
                    self.local_names.add(key)
        elif name in ("read", "mapfile", "readarray"):
            self.read_names(args)
        elif name == "set":
            self.positional(args[1:] if args[:1] == ["--"] else [])
        elif name == "eval":
            self.text(" ".join(args))
        elif name in (".", "source"):
            self.script(args, call)
        elif name == "trap" and args:
            self.text(args[0])
        else:
            if name in _MAKES:
                self.creates(name, args)
            self.wrapper(call)

    def invoke(self, name: str, args: list[str], stdin: Any) -> None:
        if name in self.active:
            return
        inner = self.copy(deeper=1)
        inner.stdin = stdin
        inner.local_names = {str(number) for number in range(10)} | {"@", "*"}
        inner.active = (*self.active, name)
        inner.positional(args)
        if _calls_of(self.functions[name], name) > (0 if _is_background(self.functions[name]) else 1):
            self.record("fork-bomb", [name])
        inner.run(self.functions[name])
        self.cwd = inner.cwd
        self.variables.update((key, value) for key, value in inner.variables.items() if key not in inner.local_names)

    def positional(self, args: list[str]) -> None:
        self.variables["@"] = list(args)
        self.variables["*"] = list(args)
        for number, arg in enumerate(args[:9], 1):
            self.variables[str(number)] = [arg]

    def change_directory(self, args: list[str]) -> None:
        operands = [arg for arg in args if not arg.startswith("-") or arg == "-"]
        if not operands:
            self.cwd = TILDE
        elif operands[0] == "-" or not self.cwd:
            self.cwd = UNKNOWN
        else:
            self.cwd = joined(self.cwd, operands[0])

    def read_names(self, args: list[str]) -> None:
        values = [UNKNOWN]
        if isinstance(self.stdin, str):
            values = _distinct(self.stdin.split("\n"))[:MAX_VALUES]
        elif self.stdin and self.stdin[-1].program in _LISTS_NAMES:
            values = found_by(self.stdin[-1])
        for arg in args:
            if not arg.startswith("-"):
                self.variables[arg] = values

    def creates(self, name: str, args: list[str]) -> None:
        operands = [arg for arg in args if not arg.startswith("-")]
        if name == "git":
            operands = operands[-1:] if operands[:1] == ["clone"] or operands[:2] == ["worktree", "add"] else []
            if len(operands) == 1 and "/" in operands[0]:
                operands.append(operands[0].rsplit("/", 1)[1].replace(".git", ""))
        elif name in ("python", "python3"):
            operands = operands[-1:] if "venv" in args else []
        elif name == "cp":
            operands = operands[-1:]
        elif name in ("tar", "unzip"):
            operands = [arg for flag, arg in zip(args, args[1:]) if flag in ("-C", "-d")]
        self.trace.made.update((self.cwd, operand) for operand in operands)

    # Wrappers ------------------------------------------------------------------------------------

    def wrapper(self, call: Call) -> None:
        """Follow a program into what it runs."""
        name, args = call.program, call.args
        if name in _TEXT_OPTIONS and self.option_text(name, args):
            return
        if name in SHELLS:
            self.shell(call)
        elif name in _PREFIXES:
            self.prefix(name, args)
        elif name in _SUBCOMMANDS:
            verbs, values, operands = _SUBCOMMANDS[name]
            if args and args[0] in verbs:
                self.follow(_rest(args[1:], values, operands), via=name)
        elif name == "xargs":
            self.xargs(call)
        elif name == "parallel":
            self.parallel(call)
        elif name in _LISTS_NAMES:
            self.find(name, args, call)
        elif name in ("tee", "curl", "wget"):
            self.fetch(call)
        elif name in ("at", "batch") and isinstance(call.stdin, str):
            self.text(call.stdin, via=name)
        elif name == "tar":
            for arg in args:
                if arg.startswith(("--checkpoint-action=exec=", "--to-command=")):
                    self.text(arg.partition("exec=")[2] or arg.partition("=")[2], via=name)
        elif name == "watch":
            self.text(" ".join(_rest(args, "-n -d --interval", 0)), via="watch")
        elif name == "ssh":
            self.ssh(call)
        elif name in _CONTAINERS:
            self.container(args)
        elif name == "git":
            self.git(args)
        elif name == "tmux" and args[:1] in (
            ["send-keys"],
            ["send"],
            ["new-session"],
            ["new"],
            ["split-window"],
            ["neww"],
        ):
            for arg in args[1:]:
                if " " in arg:
                    self.text(arg, via="tmux")
        elif call.word in self.files or "./" + call.word in self.files:
            self.script([call.word], call)

    def fetch(self, call: Call) -> None:
        """Files that hold what the network sent."""
        if call.program == "tee":
            if isinstance(call.stdin, list) and any(fetches(each) for each in call.stdin):
                self.trace.fetched.update(arg for arg in call.args if arg[:1] != "-")
            return
        for flag, value in zip(call.args, call.args[1:]):
            if flag[:1] == "-" and (
                flag in ("--output", "--output-document") or (flag[1:2] != "-" and flag[-1:] in ("o", "O"))
            ):
                self.trace.fetched.update((value, "./" + value))

    def follow(self, words: list[str], *, via: str = "", where: str = "") -> None:
        if not words:
            return
        inner = self.copy(deeper=1)
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        inner.perform(inner.record(words[0], words[1:]))
        if via in ("", "command", "builtin"):
            self.cwd = inner.cwd

    def text(self, text: str, *, via: str = "", where: str = "", args: list[str] | None = None) -> None:
        """Shell text handed to a shell."""
        if not text.strip():
            return
        inner = self.copy(deeper=1)
        inner.via = (*self.via, via) if via else self.via
        inner.where = where or self.where
        if where:
            inner.cwd = TILDE if where == REMOTE else "/"
        if args is not None:
            inner.positional(args)
        source = (
            "".join([char if char == UNKNOWN else shell.plain(char) for char in text]) if not text.isascii() else text
        )
        self.trace.chars_left -= len(source)
        try:
            if self.trace.chars_left < 0:
                raise Unreadable("too long")
            tree = shell.read(source, max(1, self.depth))
        except Unreadable:
            self.trace.unread.append(source)
            return
        inner.run(tree)
        if not via:
            self.cwd = inner.cwd

    def prefix(self, name: str, args: list[str]) -> None:
        values, operands = _PREFIXES[name]
        if name in ("command", "builtin") and args[:1] in (["-v"], ["-V"]):
            return
        if name == "env":
            for flag in ("-S", "--split-string"):
                if flag in args[:-1]:
                    self.text(" ".join(args[args.index(flag) + 1 :]), via=name)
                    return
            for arg in args:
                if arg.startswith("-S") and len(arg) > 2:
                    self.text(" ".join([arg[2:], *args[args.index(arg) + 1 :]]), via=name)
                    return
        self.follow(_rest(args, values, operands, assignments=True), via=name)

    def option_text(self, name: str, args: list[str]) -> bool:
        for at, arg in enumerate(args):
            if arg in _TEXT_OPTIONS[name]:
                rest = args[at + 1 :]
                self.text(" ".join(rest) if name in ("cmd", "powershell", "pwsh") else (rest or [""])[0], via=name)
                return True
        return False

    def shell(self, call: Call) -> None:
        args = call.args
        at = 0
        while at < len(args) and args[at][:1] in ("-", "+") and args[at] not in ("-", "--"):
            flag = args[at]
            if flag.startswith("-") and not flag.startswith("--") and "c" in flag:
                rest = (
                    [arg for arg in args[at + 1 :] if arg != "--"]
                    if args[at + 1 : at + 2] == ["--"]
                    else args[at + 1 :]
                )
                if rest:
                    self.text(rest[0], via=call.program, args=rest[2:])
                return
            at += 2 if flag in ("--rcfile", "--init-file") or (flag[1:2] != "-" and flag[-1:] in ("o", "O")) else 1
            if flag == "-s":
                at = len(args)
        operands = [arg for arg in args[at:] if arg not in ("-", "--")]
        if operands and operands[0] != "/dev/stdin":
            self.script(operands, call)
        elif isinstance(call.stdin, str):
            self.text(call.stdin, via=call.program)

    def script(self, operands: list[str], call: Call) -> None:
        """A script file that this script has written itself, or a pipe with a known end."""
        for name in operands[:1]:
            known = self.files.get(name) or self.files.get(name[2:] if name.startswith("./") else "./" + name)
            made = self.pipe_of(name)
            if name in ("/dev/stdin", "-") and isinstance(call.stdin, str):
                known = call.stdin
            elif made:
                known = _said(made[-1], self.trace)
            if known:
                self.text(known, via=name, args=operands[1:])

    def xargs(self, call: Call) -> None:
        args = call.args
        rest = _rest(args, _XARGS_VALUES, 0) or ["echo"]
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
        if len(rest) > 1 and rest[-1] == "-c" and _name(rest[0]) in SHELLS:
            operands = [" ".join(operands)]
        self.follow(_applied(rest, operands, replaced if any(replaced in word for word in rest) else ""), via="xargs")

    def parallel(self, call: Call) -> None:
        args = _rest(call.args, _PARALLEL_VALUES, 0)
        given = [word for word in (":::", "::::") if word in args]
        at = args.index(given[0]) if given else len(args)
        operands = args[at + 1 :] if given and given[0] == ":::" else fed_words(call.stdin, lines=True)
        words = args[:at]
        if not words:
            for operand in operands:
                self.text(operand, via="parallel")
        elif len(words) == 1 and " " in words[0]:
            self.text(words[0].replace("{}", " ".join(operands)), via="parallel")
        else:
            self.follow(_applied(words, operands, "{}" if any("{}" in word for word in words) else ""), via="parallel")

    def find(self, name: str, args: list[str], call: Call) -> None:
        flags = ("-exec", "-execdir", "-ok", "-okdir") if name == "find" else ("-x", "-X", "--exec", "--exec-batch")
        at = 0
        while at < len(args):
            if args[at] in flags:
                end = at + 1
                while end < len(args) and args[end] not in (";", "+"):
                    end += 1
                inner = args[at + 1 : end]
                has_place = any("{}" in word for word in inner)
                self.follow(_applied(inner, found_by(call), "{}" if has_place or name == "find" else ""), via=name)
                at = end
            at += 1

    def ssh(self, call: Call) -> None:
        rest = _rest(call.args, _SSH_VALUES, 1)
        if not rest and isinstance(call.stdin, str):
            rest = [call.stdin]
        if rest:
            self.text(" ".join(rest), via="ssh", where=REMOTE)

    def container(self, args: list[str]) -> None:
        for at, arg in enumerate(args):
            if arg in ("exec", "run"):
                rest = args[at + 1 :]
                if "--" in rest:
                    rest = rest[rest.index("--") + 1 :]
                else:
                    entry = [value for flag, value in zip(rest, rest[1:]) if flag == "--entrypoint"]
                    rest = entry + _rest(rest, _CONTAINER_VALUES, 1)
                self.follow(rest, via="container", where=CONTAINER)
                return
            if arg in ("build", "get", "logs", "ps", "images"):
                return

    def git(self, args: list[str]) -> None:
        for at, arg in enumerate(args):
            if arg == "-c" and at + 1 < len(args):
                key, _, value = args[at + 1].partition("=")
                if value.startswith("!") or key.lower() in _GIT_COMMANDS:
                    self.text(value.lstrip("!"), via="git")
            elif arg == "config" and len(args) > at + 2 and args[-1].startswith("!"):
                self.text(args[-1][1:], via="git")
            elif arg in ("-x", "--exec") and "rebase" in args[:at]:
                self.text(" ".join(args[at + 1 : at + 2]), via="git")
            elif arg.startswith("--exec=") and "rebase" in args[:at]:
                self.text(arg[7:], via="git")
            elif arg == "foreach" and "submodule" in args[:at]:
                self.text(" ".join([word for word in args[at + 1 :] if word != "--recursive"]), via="git")
                return
            elif arg == "run" and args[at - 1 : at] == ["bisect"]:
                self.follow(args[at + 1 :], via="git")
                return

    # Expansion -----------------------------------------------------------------------------------

    def words(self, words: list[Any], *, kept: bool = False) -> list[str]:
        found: list[str] = []
        for word in words:
            if isinstance(word, str):
                if OPEN in word:
                    found.extend(_unbraced(word))
                else:
                    found.append(word)
            else:
                found.extend(self.expanded(word, kept))
        return found

    def quoted(self, word: Any) -> list[str]:
        """The values of an assignment: no splitting into words."""
        return [word] if isinstance(word, str) else self.expanded(_quoted(word), True) or [""]

    def expanded(self, parts: list[Any], kept: bool) -> list[str]:
        if len(parts) == 1 and not isinstance(parts[0], str):
            values = self.part(parts[0], kept)
            if not parts[0][-1]:  # unquoted: each value may be several words, or none
                return [each for value in values for each in _split(value)]
            return values
        results = [""]
        for part in parts:
            values = [part] if isinstance(part, str) else self.part(part, kept)
            if not values:
                continue
            if len(results) * len(values) > MAX_VALUES:
                values = [UNKNOWN]
            if not isinstance(part, str) and not part[-1]:
                values = (
                    [_SPLIT.join(value.split()) if value.strip() else _SPLIT for value in values]
                    if _has_blank(values)
                    else values
                )
            results = [result + value for result in results for value in values]
        found = []
        for result in results:
            for word in result.split(_SPLIT) if _SPLIT in result else [result]:
                found.extend(_unbraced(word) if OPEN in word else [word])
        return found

    def part(self, part: Any, kept: bool) -> list[str]:
        kind = part[0]
        if kind == "var":
            return self.value(part[1], part[2], part[3])
        before = len(self.trace.calls)
        inner = self.copy(deeper=1)
        inner.is_kept = kept or self.is_kept
        inner.run(part[1])
        made = self.trace.calls[before:]
        if kind == "file":
            self.trace.pipes.append(made)
            return ["/dev/fd/%d" % (len(self.trace.pipes) - 1)]
        output = self.output(made, part[1])
        if isinstance(output, str):
            return [output.rstrip("\n")]
        if part[1][0] == "pipe" and made and isinstance(made[-1].stdin, str):
            text = _said(made[-1], self.trace)
            if text is not None:
                return [text.rstrip("\n")]
        if made and made[-1].program in _LISTS_NAMES:
            return found_by(made[-1])
        if any(fetches(call) or decodes(call) for call in made):
            self.trace.pipes.append(made)
            return [UNKNOWN + "/dev/fd/%d" % (len(self.trace.pipes) - 1)]
        return [UNKNOWN]

    def value(self, name: str, operator: str, argument: Any) -> list[str]:
        known = self.variables.get(name)
        if known is None:
            known = self.inherited(name)
        if operator in ("", ":?", "?"):
            return known if known is not None else [UNKNOWN]
        if operator in (":-", "-", ":=", "="):
            if known is not None and known != [""]:
                return known
            return self.words([argument])
        if operator in (":+", "+"):
            return self.words([argument]) if known is not None else [""]
        if known is None or not isinstance(argument, str):
            return [UNKNOWN]
        if operator in ("%", "%%") and not (set(argument) & set("*?[")):
            return [value[: -len(argument)] if argument and value.endswith(argument) else value for value in known]
        if operator == "%" and argument == "/*":
            return [value.rpartition("/")[0] for value in known]
        if operator in ("/", "//") and not (set(argument) & set("*?[")):
            old, _, new = argument.partition("/")
            return [value.replace(old, new, 1 if operator == "/" else -1) if old else value for value in known]
        if operator == "##" and argument == "*/":
            return [value.rpartition("/")[2] for value in known]
        return [UNKNOWN]

    def inherited(self, name: str) -> list[str] | None:
        if name == "HOME":
            return [TILDE]
        if name == "PWD":
            return [self.cwd]
        if name == "IFS":
            return [" "]
        if name in ("TMPDIR", "TMP", "TEMP"):
            return [self.trace.env.get(name) or "/tmp"]
        value = self.trace.env.get(name)
        return None if value is None else [value.translate(shell.PLAIN)]


# What calls say and find ---------------------------------------------------------------------------


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


def _said(call: Call, found: Trace) -> str | None:
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
        return _printf([arg for arg in args if arg != "--"])
    if name in ("cat", "tee") and isinstance(call.stdin, str) and (name == "tee" or all(a[:1] == "-" for a in args)):
        return call.stdin
    if name == "cat" and len(args) == 1:
        return call.texts.get(args[0])
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


def _printf(args: list[str]) -> str:
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
    starts, names, _ = find_parts(call)
    return [start.rstrip("/") + "/" + name for start in starts for name in names or [STAR]][:MAX_VALUES]


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
            if not negated and args[at + 1] not in ("*", STAR):
                names.append(globbed(args[at + 1]))
            narrowed = narrowed or negated
            at += 1
        elif flag in ("-path", "-ipath", "-wholename", "-regex", "-iregex") and at + 1 < len(args):
            last = args[at + 1].rstrip("/*").rpartition("/")[2]
            narrowed = True
            if last and not negated and flag.endswith("path"):
                names.append(globbed(last))
            at += 1
        elif flag in (
            "-mtime",
            "-atime",
            "-ctime",
            "-mmin",
            "-amin",
            "-size",
            "-newer",
            "-user",
            "-perm",
            "-empty",
            "-inum",
        ):
            narrowed = True
        negated = flag in ("!", "-not")
        at += 1
    return starts or ["."], names, narrowed


def fed_words(stdin: Any, *, lines: bool = False) -> list[str]:
    """The arguments that a program reads from its standard input."""
    if isinstance(stdin, str):
        return [word for word in (stdin.split("\n") if lines else stdin.split()) if word][:MAX_VALUES]
    if stdin:
        for call in reversed(stdin):
            if call.program in _LISTS_NAMES:
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


def globbed(pattern: str) -> str:
    """A pattern that a program, not the shell, will match."""
    return pattern.replace("*", STAR).replace("?", shell.QUESTION).replace("[", shell.BRACKET)


def joined(cwd: str, path: str) -> str:
    """`path` as seen from `cwd`, with `.` and `..` folded; a path that begins unknown stays so."""
    if path[:1] in ("/", TILDE, UNKNOWN, "\\") or path[1:2] == ":":
        full = path
    else:
        full = cwd.rstrip("/") + "/" + path
    return folded(full)


def folded(path: str) -> str:
    if "." not in path and "//" not in path and not path.endswith("/"):
        return path
    kept: list[str] = []
    for piece in path.split("/"):
        if piece == "..":
            if kept and kept[-1] not in ("", "..", UNKNOWN, TILDE):
                kept.pop()
            elif kept != [""]:
                kept.append(piece)
        elif piece != "." and (piece or not kept):
            kept.append(piece)
    return "/".join(kept) or ("/" if path.startswith("/") else ".")


# Words ---------------------------------------------------------------------------------------------


def _name(program: str) -> str:
    """What a program is called, however it was reached."""
    if ("/" in program or "\\" in program) and program[-1:] not in ("/", "\\"):
        program = program.replace("\\", "/").rpartition("/")[2]
    name = program.lower()
    return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name


def _rest(args: list[str], values: Any, operands: int, *, assignments: bool = False) -> list[str]:
    """The arguments that are left after the options and the first `operands` others."""
    takes = values.split() if isinstance(values, str) else values
    at = 0
    while at < len(args):
        arg = args[at]
        if arg == "--":
            at += 1
            if not operands:
                break
        elif arg[:1] == "-" and len(arg) > 1:
            at += 2 if arg in takes else 1
        elif (
            assignments
            and (arg == "-" or "=" in arg)
            and arg.partition("=")[0].replace("_", "a").replace("-", "a").isalnum()
        ):
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return args[at:]


def _applied(words: list[str], operands: list[str], place: str) -> list[str]:
    if not place:
        return [*words, *operands]
    found: list[str] = []
    for word in words:
        if word == place:
            found.extend(operands)
        elif place in word:
            found.extend(word.replace(place, operand) for operand in operands[:4])
        else:
            found.append(word)
    return found


def _quoted(parts: Any) -> Any:
    if isinstance(parts, str):
        return parts
    return [part if isinstance(part, str) or part[0] == "file" else (*part[:-1], True) for part in parts]


def _split(value: str) -> list[str]:
    if value[:1] == UNKNOWN:
        return [value]
    words = value.split()
    return [globbed(word) for word in words]


_SPLIT = "\x1f"  # where an unquoted value falls into several words


def _has_blank(values: list[str]) -> bool:
    return any(char in value for value in values for char in " \t\n")


def _unbraced(word: str) -> list[str]:
    """Brace expansion: `a{b,c}` gives ab, ac; a brace that lists nothing is just a character."""
    if len(word) > MAX_BRACED_CHARS:
        return [word.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")]
    done: list[str] = []
    waiting = [word]
    while waiting:
        text = waiting.pop(0)
        close = text.find(CLOSE)
        start = text.rfind(OPEN, 0, close) if close >= 0 else -1
        if start < 0 or len(done) + len(waiting) > MAX_VALUES:
            done.append(text.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}"))
            continue
        inner = text[start + 1 : close]
        if COMMA in inner:
            waiting.extend(text[:start] + choice + text[close + 1 :] for choice in inner.split(COMMA)[:MAX_VALUES])
        elif ".." in inner:
            waiting.append(text[:start] + UNKNOWN + text[close + 1 :])
        else:
            waiting.append(text[:start] + "{" + inner + "}" + text[close + 1 :])
    return done


def _distinct(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))[:MAX_VALUES]


def _is_background(tree: Any) -> bool:
    """`{ f & }` and `{ f | f; }`: what a function starts this way outlives it."""
    return tree[0] in ("sub", "pipe") or (tree[0] == "group" and _is_background(tree[1]))


def _calls_of(tree: Any, name: str, depth: int = 0) -> int:
    """How often a tree calls `name`."""
    if not isinstance(tree, (tuple, list)) or depth > 20:
        return 0
    if isinstance(tree, tuple) and tree[:1] == ("cmd",):
        return 1 if tree[2][:1] == [name] else 0
    return sum(_calls_of(each, name, depth + 1) for each in tree)
