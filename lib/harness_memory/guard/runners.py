"""Programs that run other programs in ways of their own: containers, git, makefiles, options that are commands."""

from __future__ import annotations

from .outputs import fed_words
from .words import applied, joined, name_of, rest_of
from .wrappers import CONTAINER, GUESSED, REMOTE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import Call, Shell

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
_PARALLEL_VALUES = frozenset(
    """
    --halt --timeout --retries --delay -j -I -n -N -a --jobs --colsep -S --sshlogin --arg-file --joblog --results
    """.split()
)
# Options whose value a shell gets, beside what else the program does.
_COMMAND_OPTIONS: dict[str, tuple[str, ...]] = {
    "tar": ("-I", "--use-compress-program", "--to-command", "--checkpoint-action"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S",),
    "zip": ("-TT",),
    "man": ("-P", "--pager"),
    "nodemon": ("-x", "--exec"),
    "gdb": ("-ex", "--ex", "-eval-command"),
    "watchman-make": ("--run",),
    "hyperfine": ("-p", "--prepare", "-c", "--cleanup", "-s", "--setup"),
}
# Programs that run the texts they are given.
_RUN_TEXTS = frozenset("hyperfine concurrently watchexec expect nodemon run-p run-s npm-run-all".split())
_FATAL = frozenset("rm dd shred mkfs mke2fs wipefs blkdiscard".split())
_FATAL_ENDS = frozenset("mdskd234tp")  # of the names above and their kin, to look at few words
_BEFORE_FATAL = frozenset("shell spawn exec sudo !".split())
_GIT_COMMANDS = ("core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "sequence.editor", "diff.external")
_GIT_OPTIONS = ("--extcmd", "--open-files-in-pager", "--upload-pack", "--receive-pack")
_TMUX = frozenset("send-keys send new-session new split-window splitw new-window neww run-shell run pipe-pane".split())


def follow(outer: Shell, call: Call) -> None:
    name, args = call.program, call.args
    if name in _COMMAND_OPTIONS:
        _command_options(outer, name, args)
    if name == "watch":
        outer.text(" ".join(rest_of(args, "-n -d --interval", 0)), via="watch")
    elif name == "parallel":
        _parallel(outer, call)
    elif name == "ssh":
        _ssh(outer, call)
    elif name in _CONTAINERS:
        _container(outer, args)
    elif name == "git":
        _git(outer, args)
    elif name in ("make", "gmake"):
        _make(outer, call)
    elif name == "tmux":
        for arg in args[1:] if args[0] in _TMUX else ():
            if " " in arg:
                outer.text(arg, via="tmux")
    elif name != "man":
        _guessed(outer, call)


def _guessed(outer: Shell, call: Call) -> None:
    """A program we know nothing of may run what it is given."""
    args = call.args
    if call.program in _RUN_TEXTS:
        for arg in args:
            if " " in arg:
                words = arg.split(None, 1)
                outer.text(words[1] if words[0] in _BEFORE_FATAL else arg, via=call.program)
    for at, arg in enumerate(args[:20]):
        if at + 1 < len(args) and arg[-1:] in _FATAL_ENDS and name_of(arg).partition(".")[0] in _FATAL:
            rest = args[at + 1 :]
            outer.follow([arg, *(rest[1:] if rest[0] == "--" else rest)], via=GUESSED)
            return


def _command_options(outer: Shell, name: str, args: list[str]) -> None:
    options = _COMMAND_OPTIONS[name]
    for at, arg in enumerate(args):
        option, equals, value = arg.partition("=")
        if option not in options:
            continue
        value = value if equals else "".join(args[at + 1 : at + 2])
        words = value.split(None, 1)
        if words and words[0] in _BEFORE_FATAL and len(words) > 1:
            value = words[1]
        outer.text(value[5:] if value.startswith("exec=") else value, via=name)


def _parallel(outer: Shell, call: Call) -> None:
    args = rest_of(call.args, _PARALLEL_VALUES, 0)
    given = [word for word in (":::", "::::") if word in args]
    at = args.index(given[0]) if given else len(args)
    operands = args[at + 1 :] if given and given[0] == ":::" else fed_words(call.stdin, lines=True)
    words = args[:at]
    if not words:
        for operand in operands:
            outer.text(operand, via="parallel")
    elif len(words) == 1 and " " in words[0]:
        outer.text(words[0].replace("{}", " ".join(operands)), via="parallel")
    else:
        outer.follow(applied(words, operands, "{}" if any("{}" in word for word in words) else ""), via="parallel")


def _ssh(outer: Shell, call: Call) -> None:
    for flag, value in zip(call.args, [*call.args[1:], ""]):
        if flag.startswith("-o"):
            setting = flag[2:] or value
            if setting.lower().startswith(("proxycommand", "localcommand")):
                outer.text(setting[12:].lstrip(" ="), via="ssh")
    rest = rest_of(call.args, _SSH_VALUES, 1)
    if not rest and isinstance(call.stdin, str):
        rest = [call.stdin]
    if rest:
        outer.text(" ".join(rest), via="ssh", where=REMOTE)


def _container(outer: Shell, args: list[str]) -> None:
    for at, arg in enumerate(args):
        if arg in ("exec", "run"):
            rest = args[at + 1 :]
            if "--" in rest:
                rest = rest[rest.index("--") + 1 :]
            else:
                entry = [value for flag, value in zip(rest, rest[1:]) if flag == "--entrypoint"]
                rest = entry + rest_of(rest, _CONTAINER_VALUES, 1)
            outer.follow(rest, via="container", where=CONTAINER)
            return
        if arg in ("build", "get", "logs", "ps", "images"):
            return


def _git(outer: Shell, args: list[str]) -> None:
    _git_alias(outer, args)
    for at, arg in enumerate(args):
        if arg == "-c" and at + 1 < len(args):
            key, _, value = args[at + 1].partition("=")
            _git_setting(outer, key, value)
        elif arg == "config" and len(args) > at + 2:
            _git_setting(outer, args[-2], args[-1])
        elif arg.partition("=")[0] in _GIT_OPTIONS or (arg == "-x" and "difftool" in args[:at]):
            outer.text(arg.partition("=")[2] or "".join(args[at + 1 : at + 2]), via="git")
        elif arg.startswith("-O") and len(arg) > 2 and "grep" in args[:at]:
            outer.text(arg[2:], via="git")
        elif arg.startswith("ext::"):
            outer.text(arg[5:], via="git")
        elif arg in ("-x", "--exec") and "rebase" in args[:at]:
            outer.text(" ".join(args[at + 1 : at + 2]), via="git")
        elif arg.startswith("--exec=") and "rebase" in args[:at]:
            outer.text(arg[7:], via="git")
        elif arg == "foreach" and "submodule" in args[:at]:
            outer.text(" ".join([word for word in args[at + 1 :] if word != "--recursive"]), via="git")
            return
        elif arg == "run" and args[at - 1 : at] == ["bisect"]:
            outer.follow(args[at + 1 :], via="git")
            return


def _make(outer: Shell, call: Call) -> None:
    """The recipes of a makefile that the script has written itself."""
    named = [value for flag, value in zip(call.args, call.args[1:]) if flag in ("-f", "--file", "--makefile")]
    for name in named or ("Makefile", "makefile", "GNUmakefile"):
        text = call.stdin if name == "-" else outer.files.get(joined(outer.cwd, name))
        if isinstance(text, str):
            recipes = [line.lstrip("\t@-") for line in text.split("\n") if line[:1] == "\t"]
            outer.text("\n".join(recipes), via=call.program)


def _git_setting(outer: Shell, key: str, value: str) -> None:
    key = key.lower()
    if value.startswith("!") or key in _GIT_COMMANDS or (key[:7] == "filter." and key.endswith((".clean", ".smudge"))):
        outer.text(value.lstrip("!"), via="git")
    elif key.startswith("alias."):
        outer.aliases["git " + key[6:]] = value


def _git_alias(outer: Shell, args: list[str]) -> None:
    """`git -c alias.x='reset --hard' x`, or an alias set before."""
    rest = rest_of(args, "-c -C --git-dir --work-tree", 0)
    for flag, setting in zip(args, args[1:]):
        if flag == "-c" and setting.startswith("alias."):
            _git_setting(outer, *setting.partition("=")[::2])
    known = outer.aliases.get("git " + rest[0]) if rest and outer.aliases else None
    if known and known.split()[:1] != rest[:1]:
        outer.follow(["git", *known.split(), *rest[1:]], via="git")
