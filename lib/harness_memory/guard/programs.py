"""Single programs whose arguments decide: disks, permissions, processes, downloads that run, ourselves."""

from __future__ import annotations

from . import paths
from .outputs import decodes, fetches
from .shell import UNKNOWN
from .wrappers import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call, Trace
    from .paths import Scope

_DISKS = tuple(
    """
    /dev/sd /dev/nvme /dev/hd /dev/vd /dev/xvd /dev/mmcblk /dev/disk /dev/rdisk /dev/dm- /dev/md /dev/mapper/
    /dev/mem /dev/kmem /dev/port /dev/root /dev/block
    """.split()
)
MAX_TARGETS = 1000
_CORE_FILES = tuple(
    """
    /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/fstab /boot/ /etc/ld.so.preload /etc/pam.d/
    /proc/sysrq-trigger /proc/sys/ /sys/ /etc/crontab /etc/cron
    """.split()
)
_INTERPRETERS = SHELLS | {
    "python",
    "python3",
    "python2",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "pwsh",
    "powershell",
    "iex",
}
_WIDE_MODES = ("777", "0777", "a+rwx", "ugo+rwx", "a=rwx", "666", "0666", "+rwx", "o+w", "a+w", "o+rwx", "1777")


def is_disk(path: str) -> bool:
    return path.startswith(_DISKS) or "physicaldrive" in path


def is_core(path: str) -> bool:
    return path.startswith(_CORE_FILES)


def check(call: Call, scope: Scope, found: Trace) -> Iterator[tuple[str, str]]:
    name = call.program
    if name == "fork-bomb":
        yield "system.fork-bomb", " ".join(call.args)
    elif name == "endless-spawning":
        yield "system.endless-spawning", "a loop without end that starts processes"
    elif name.startswith("mkfs") or name in (
        "mke2fs",
        "mkswap",
        "wipefs",
        "blkdiscard",
        "newfs",
        "badblocks",
        "format",
    ):
        yield from _formats(call)
    elif name in ("chmod", "chown", "chgrp", "setfacl", "chattr"):
        yield from _permissions(call, scope)
    elif name in ("kill", "killall", "pkill", "killall5"):
        yield from _kills(call)
    elif name == "gh" and "api" in call.args[:1]:
        yield from _gh_api(call)
    elif name in (
        "security",
        "gpg",
        "gpg2",
        "pass",
        "secret-tool",
        "op",
        "bw",
        "lpass",
        "keyctl",
        "cmdkey",
        "vaultcmd",
    ):
        yield from _reveals(call)
    elif name in ("harness", "install.py", "harness.py"):
        yield from _ourselves(name, call.args)
    elif name.startswith("python") or name in ("py", "php"):
        yield from _scripts(call)
    elif name == "crontab" and _replaces_jobs(call):
        yield "system.schedule", call.line()
    elif name == "claude":
        if _goes_unguarded(call.args) or not set(_SWITCHES).isdisjoint(found.assigned):
            yield "self.uninstall", call.line()
    elif name in ("export", "env", "declare", "typeset"):
        yield from _switched(call)
    elif name in ("docker", "podman", "nerdctl"):
        yield from _mounts(call, scope)
    elif name in ("nc", "ncat", "netcat", "socat"):
        yield from _network_shell(call)
    elif (
        name in ("powershell", "pwsh")
        and any(arg.lower().startswith(("-enc", "-e", "/enc")) and len(arg) < 17 for arg in call.args)
        and not any(arg.lower() in ("-executionpolicy", "-ep") for arg in call.args if arg.lower().startswith("-e"))
    ):
        yield "code.hidden", call.line()
    for _, target in call.redirections:
        if target.startswith(("/dev/tcp/", "/dev/udp/")) and not (name == "exec" and _is_local(target[9:])):
            yield "remote.shell", call.line()
    if name in _INTERPRETERS or call.word in found.fetched:
        if call.word in found.fetched or (
            call.args and not call.args[0].startswith("-") and call.args[0] in found.fetched
        ):
            yield "remote.pipe-to-shell", call.line()
        yield from _piped(call, found)
    if name in ("eval", "source", ".", *SHELLS) or name.startswith("python"):
        yield from _fetched(call, found)


_SWITCHES = ("HARNESS_MEMORY", "HARNESS_MEMORY_HOME", "CLAUDE_CONFIG_DIR")
_UNGUARDED = ("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--bare", "bypassPermissions")


def _goes_unguarded(args: list[str]) -> bool:
    """Another session, without us or without questions."""
    if any(arg in _UNGUARDED or arg.endswith("=bypassPermissions") or "disableAllHooks" in arg for arg in args):
        return True
    return args[:2] in (
        ["plugin", "disable"],
        ["plugin", "uninstall"],
        ["plugin", "remove"],
        ["config", "set"],
    ) and any(
        "hooks" in arg.lower() or "harness" in arg.lower() for arg in [*args[2:], "hooks" * (args[0] == "plugin")]
    )


def _switched(call: Call) -> Iterator[tuple[str, str]]:
    """`export HARNESS_MEMORY=off`, `env CLAUDE_CONFIG_DIR=... claude`."""
    for arg in call.args:
        name, _, value = arg.partition("=")
        if (name == _SWITCHES[0] and value) or (name in _SWITCHES and "claude" in call.args):
            yield "self.uninstall", call.line()


def _replaces_jobs(call: Call) -> bool:
    operands = [arg for flag, arg in zip(["", *call.args], call.args) if arg[:1] != "-" and flag != "-u"]
    return bool(operands) or (call.args[-1:] == ["-"] and isinstance(call.stdin, (str, list)))


def _is_local(text: str) -> bool:
    return text.lstrip("/").startswith(("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "host.docker.internal"))


def _formats(call: Call) -> Iterator[tuple[str, str]]:
    name = call.program
    if "--help" in call.args or "-n" in call.args or "--no-act" in call.args:
        return
    operands = [arg for arg in call.args if arg[:1] != "-"]
    if name == "format":  # a word that other tools use too
        if any(len(arg) == 2 and arg[1] == ":" for arg in call.args):
            yield "disk.overwrite", call.line()
    elif name == "badblocks":
        if "-w" in call.args:
            yield "disk.overwrite", call.line()
    elif name == "wipefs":
        if {"-a", "--all", "-af", "-fa"} & set(call.args):
            yield "disk.overwrite", call.line()
    elif operands and not all(
        arg.endswith((".img", ".raw", ".iso", ".qcow2")) or arg.startswith("/tmp/") for arg in operands[:1]
    ):
        yield "disk.overwrite", call.line()


def _permissions(call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    args = call.args
    flags = [arg for arg in args if arg[:1] == "-" and not arg[1:2].isdigit()]
    recursive = "--recursive" in flags or any("R" in flag for flag in flags if flag[1:2] != "-")
    operands = [arg for arg in args if arg[:1] != "-" or arg[1:2].isdigit()]
    count = 0 if any(flag.startswith("--reference") for flag in flags) else 1
    modes, targets = operands[:count], operands[count:]
    wide = any(mode in _WIDE_MODES or not mode.strip("0") for mode in modes) and call.program == "chmod"
    for target in list(dict.fromkeys(targets))[:MAX_TARGETS]:
        base = target.rstrip("*\ue001") if target[-1:] in ("*", "\ue001") else target
        path = paths.absolute(base or ".", call.cwd, scope)
        local = paths.home_relative(path, scope)
        if call.where == "container":
            continue
        is_root = path in ("/", "") or path.count("/") == 1 or local == "~"
        if (
            recursive
            and not paths.is_temporary(path, scope)
            and (is_root or paths.is_system(path))
            and not _is_project(path, scope)
        ) or (wide and (is_root or paths.is_system(path)) and not paths.is_temporary(path, scope)):
            yield "system.permissions", call.line()
        elif (recursive and wide) or (recursive and UNKNOWN in path and path.startswith(UNKNOWN) and wide):
            yield "system.world-writable", call.line()


def _is_project(path: str, scope: Scope) -> bool:
    return paths.is_inside(path, scope.project)


def _kills(call: Call) -> Iterator[tuple[str, str]]:
    args = call.args
    if call.program == "killall5" or (
        call.program == "kill" and ("-1" in args[1:] or args[-1:] == ["1"] or args[-1:] == ["-1"])
    ):
        signal = args[0].upper().replace("-SIG", "-") if args[0][:1] == "-" and len(args) > 1 else ""
        if signal in ("-S", "-N"):
            signal = "-" + args[1].upper().replace("SIG", "")
        is_last = call.program == "killall5" or signal in ("", "-TERM", "-KILL", "-9", "-15", "-STOP", "-19", "--")
        if not (args and args[0] == "-l") and args != ["-1"] and (is_last or args[-1] == "-1"):
            yield "system.kill-all", call.line()
    elif call.program == "pkill" and any(arg in (".", ".*", "") for arg in args if arg[:1] != "-"):
        yield "system.kill-all", call.line()


def _gh_api(call: Call) -> Iterator[tuple[str, str]]:
    args = call.args
    for flag, value in zip(args, args[1:]):
        if flag in ("-X", "--method") and value.upper() == "DELETE":
            yield "repo.delete", call.line()
    if any(arg.upper() in ("-XDELETE", "--METHOD=DELETE") for arg in args):
        yield "repo.delete", call.line()


def _reveals(call: Call) -> Iterator[tuple[str, str]]:
    args = call.args
    first = next((arg for arg in args if arg[:1] != "-"), "")
    if (
        call.program == "security"
        and first.startswith(("find-generic-password", "find-internet-password", "dump-keychain", "export"))
    ) or (call.program in ("gpg", "gpg2") and any(arg.startswith("--export-secret") for arg in args)):
        yield "path.secret", call.line()
    elif call.program == "pass" and (
        first == "show" or (first and first not in ("ls", "list", "git", "init", "help", "version"))
    ):
        yield "path.sensitive", call.line()
    elif call.program == "secret-tool" and first in ("lookup", "search"):
        yield "path.secret", call.line()
    elif call.program in ("op", "bw", "lpass") and first in (
        "read",
        "get",
        "item",
        "show",
        "export",
        "document",
        "list",
    ):
        yield "path.sensitive", call.line()
    elif call.program == "keyctl" and first in ("print", "read", "pipe"):
        yield "path.secret", call.line()


def _ourselves(name: str, args: list[str]) -> Iterator[tuple[str, str]]:
    line = " ".join([name, *args])
    if args[:2] == ["guard", "allow-once"]:
        yield "self.allow", line
    elif args[:1] == ["memory"] and _forgets(args[1:2], args[2:]):
        yield "self.forget", line
    elif name == "install.py" and any(arg in ("--uninstall", "--purge", "--no-guard") for arg in args):
        yield "self.uninstall", line


def _forgets(verb: list[str], rest: list[str]) -> bool:
    """Whether the command line removes something now, not only shows what it would remove."""
    if not {"--help", "-h"}.isdisjoint(rest[: rest.index("--")] if "--" in rest else rest):
        return False
    if verb == ["forget"]:
        return not {"--yes", UNKNOWN}.isdisjoint(rest)
    if verb in (["prune"], ["archive"]):
        return "--dry-run" not in rest
    is_other = rest[:1] in (["add"], ["edit"], ["show"], ["list"], ["promote"], ["supersede"])
    return verb == ["note"] and not is_other and not {"remove", UNKNOWN}.isdisjoint(rest)


def _scripts(call: Call) -> Iterator[tuple[str, str]]:
    """`python3 harness guard ...`, `python manage.py flush`, `php artisan db:wipe`: the script is the program."""
    from . import rules

    operands = call.args
    at = 0
    while at < len(operands) and operands[at][:1] == "-" and operands[at] not in ("-c", "-m"):
        at += 2 if operands[at] in ("-X", "-W") else 1
    if at >= len(operands) or operands[at] == "-c":
        return
    if operands[at] == "-m":
        at += 1
    name = operands[at].replace("\\", "/").rpartition("/")[2] if at < len(operands) else ""
    rest = operands[at + 1 :]
    yield from _ourselves(name, rest)
    rule = rules.matched(name, rest)
    if rule:
        yield rule, call.line()
    if name == "manage.py" and rest[:1] == ["migrate"] and "zero" in rest:
        yield "db.destroy", call.line()


def _piped(call: Call, found: Trace) -> Iterator[tuple[str, str]]:
    """Code that arrives through a pipe from the network, or encoded."""
    if not isinstance(call.stdin, list):
        if (
            isinstance(call.stdin, str)
            and call.program in SHELLS
            and call.stdin.strip() == UNKNOWN
            and _reads_stdin(call)
        ):
            yield "code.hidden", call.line()
        return
    if not _reads_stdin(call) or (call.program in SHELLS and "-n" in call.args):
        return
    if any(fetches(each) and "--version" not in each.args and "--help" not in each.args for each in call.stdin):
        yield "remote.pipe-to-shell", call.line()
    elif (
        any(decodes(each) for each in call.stdin)
        or any(each.program == "history" for each in call.stdin)
        or (
            call.program in SHELLS
            and any(each.program in ("echo", "printf") or isinstance(each.stdin, str) for each in call.stdin[-1:])
        )
    ):
        yield "code.hidden", call.line()


def _reads_stdin(call: Call) -> bool:
    """Whether an interpreter takes its program, not just its data, from standard input."""
    if "xargs" in call.via and "-c" in call.args:
        return any(UNKNOWN in arg for arg in call.args)
    if call.program not in SHELLS and not {"-c", "-e", "-m", "-ne", "-pe", "-p"}.isdisjoint(call.args):
        return False
    operands = []
    skip = False
    for arg in call.args:
        if not skip and (arg[:1] not in ("-", "+") or arg == "-"):
            operands.append(arg)
        elif call.program in SHELLS and not skip and "c" in arg and arg[1:2] != "-":
            return False
        skip = call.program in SHELLS and arg[:1] in ("-", "+") and arg[1:2] != "-" and arg[-1:] in ("o", "O")
    return not operands or operands[0] in ("-", "/dev/stdin") or "-s" in call.args


def _mounts(call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    from .operands import option_values

    sources = [value.partition(":")[0] for value in option_values(call.args, ("-v", "--volume"))]
    for value in option_values(call.args, ("--mount",)):
        if "type=bind" in value:
            sources += [part.partition("=")[2] for part in value.split(",") if part.startswith(("source=", "src="))]
    for source in sources:
        path = paths.absolute(source, call.cwd, scope) if source else ""
        if path == "/" or (path and paths.home_relative(path, scope) == "~"):
            yield "docker.mount", call.line()


def _network_shell(call: Call) -> Iterator[tuple[str, str]]:
    args = call.args
    flags = "".join([arg[1:] for arg in args if arg[:1] == "-" and arg[1:2] != "-"])
    runs = "e" in flags or any(arg.startswith(("--exec", "--sh-exec", "--lua-exec")) for arg in args)
    if call.program == "socat":
        runs = any(arg.upper().startswith(("EXEC:", "SYSTEM:")) for arg in args) and any(
            "TCP" in arg.upper() or "UDP" in arg.upper() for arg in args
        )
    if runs or (isinstance(call.stdin, list) and any(each.program in SHELLS for each in call.stdin)):
        yield "remote.shell", call.line()


def _fetched(call: Call, found: Trace) -> Iterator[tuple[str, str]]:
    """`bash <(curl ...)`, `eval "$(curl ...)"`."""
    for arg in call.args:
        at = arg.find("/dev/fd/")
        number = arg[at + 8 :].split()[0] if at >= 0 and arg[at + 8 :].split() else ""
        if number.isdecimal() and len(number) < 10 and int(number) < len(found.pipes):
            made = found.pipes[int(number)]
            if any(fetches(each) for each in made):
                yield "remote.pipe-to-shell", call.line()
            elif any(decodes(each) and not isinstance(each.stdin, str) for each in made):
                yield "code.hidden", call.line()
            return


def downloads(call: Call) -> Iterator[tuple[str, str]]:
    """What is asked of, or sent to, the network."""
    for arg in call.args:
        if "169.254.169.254" in arg or "metadata.google.internal" in arg or "[fd00:ec2::254]" in arg:
            yield "exfil.metadata", call.line()
    sends = any(
        arg[:2] in ("-d", "-F", "-T") or arg.startswith(("--data", "--upload", "--post", "--form")) for arg in call.args
    )
    takes_input = isinstance(call.stdin, list) and (sends or call.program in ("nc", "ncat", "netcat"))
    is_local = any(_is_local(arg.partition("://")[2] or arg) for arg in call.args)
    if (
        takes_input
        and not is_local
        and any(each.program in ("env", "printenv", "set") and not each.args for each in call.stdin)
    ):
        yield "exfil.environment", call.line()
    if call.program in ("curl", "http", "https", "xh") and any(
        arg.upper() in ("DELETE", "-XDELETE") for arg in call.args
    ):
        if not is_local:
            yield "cloud.delete", call.line()
        elif any(":9200/" in arg for arg in call.args):
            yield "db.destroy", call.line()


SENDERS = frozenset(("curl", "wget", "nc", "ncat", "netcat", "http", "https", "xh"))
PROGRAMS = frozenset(
    (
        "fork-bomb",
        "endless-spawning",
        "mke2fs",
        "mkswap",
        "wipefs",
        "blkdiscard",
        "newfs",
        "badblocks",
        "format",
        "chmod",
        "chown",
        "chgrp",
        "setfacl",
        "chattr",
        "kill",
        "killall",
        "pkill",
        "killall5",
        "gh",
        "security",
        "gpg",
        "gpg2",
        "pass",
        "secret-tool",
        "op",
        "docker",
        "podman",
        "nerdctl",
        "nc",
        "ncat",
        "netcat",
        "socat",
        "bw",
        "lpass",
        "keyctl",
        "harness",
        "install.py",
        "py",
        "php",
        "crontab",
        "claude",
        "declare",
        "env",
        "exec",
        "export",
        "typeset",
        "eval",
        "source",
        ".",
        *_INTERPRETERS,
    )
)
