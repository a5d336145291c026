"""Git: what throws away work, rewrites history or changes what others share."""

from __future__ import annotations

from . import paths
from .shell import STAR, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call
    from .paths import Scope

PROTECTED = ("main", "master", "production", "prod", "release", "develop", "trunk", "stable", "staging")
_GLOBAL_VALUES = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
)
_VALUES = ("--", "-o", "--push-option", "--receive-pack", "--exec", "--repo", "-m", "-b", "-B", "-s", "--source")
_WHOLE = frozenset((".", "./", ":/", ":/*", STAR, "*", ":", "..", "./*", "./" + STAR, ":(top)"))


def split(args: list[str]) -> tuple[str, list[str], str]:
    """The verb, what follows it, and the directory of `-C`."""
    at = 0
    directory = ""
    while at < len(args) and args[at][:1] == "-":
        if args[at] == "-C" and at + 1 < len(args):
            directory = args[at + 1]
        at += 2 if args[at] in _GLOBAL_VALUES else 1
    return (args[at] if at < len(args) else ""), args[at + 1 :], directory


def check(call: Call, scope: Scope, protected: tuple[str, ...], branch: str) -> Iterator[tuple[str, str]]:
    """`branch` is the one checked out, where known."""
    verb, args, _ = split(call.args)
    if args == ["-h"] or any(arg == "--help" and before not in _VALUES for before, arg in zip(["", *args], args)):
        return
    if verb in ("reset", "push", "clean") and "--" in args:
        args = args[: args.index("--")]
    rule = _RULES.get(verb)
    found = rule(args) if rule else ""
    if verb == "push":
        found = _push(args, protected, branch)
    if found:
        yield found, call.line()


def _flags(args: list[str]) -> str:
    """The single letters of all short options."""
    return "".join([arg[1:] for arg in args if arg[:1] == "-" and arg[1:2] != "-"])


def _operands(args: list[str]) -> list[str]:
    return [arg for arg in args if arg[:1] != "-"]


def _reset(args: list[str]) -> str:
    return "git.reset-hard" if not {"--hard", "--merge", "--har", "--ha"}.isdisjoint(args) else ""


def _clean(args: list[str]) -> str:
    flags = _flags(args)
    if "n" in flags or "--dry-run" in args or "i" in flags:
        return ""
    return "git.clean" if "f" in flags or "--force" in args else ""


def _checkout(args: list[str]) -> str:
    if "--force" in args or "f" in _flags([arg for arg in args if arg not in ("-b", "-B")]):
        return "git.discard"
    operands = _operands(args)
    named = args[args.index("--") + 1 :] if "--" in args else operands
    if _WHOLE.intersection(named):
        return "git.discard"
    return "git.discard-file" if "--" in args and named else ""


def _restore(args: list[str]) -> str:
    flags = _flags(args)
    staged = "--staged" in args or "S" in flags
    if staged and not ("--worktree" in args or "W" in flags):
        return ""
    return "git.discard" if _WHOLE.intersection(args) else "git.discard-file" if _operands(args) else ""


def _switch(args: list[str]) -> str:
    return "git.discard" if "--force" in args or "--discard-changes" in args or "f" in _flags(args) else ""


def _stash(args: list[str]) -> str:
    return "git.stash-drop" if args[:1] in (["drop"], ["clear"]) else ""


def _branch(args: list[str]) -> str:
    flags = _flags(args)
    deletes = "d" in flags or "--delete" in args
    forced = "--force" in args or "f" in flags
    if "D" in flags or (deletes and forced):
        return "git.branch-delete"
    return "git.rewrite" if ("f" in flags or "--force" in args) and len(_operands(args)) > 1 else ""


def _rm(args: list[str]) -> str:
    if "--cached" in args or "-n" in args or "--dry-run" in args:
        return ""
    return "git.discard" if _WHOLE.intersection(args) else ""


def _reflog(args: list[str]) -> str:
    return (
        "git.rewrite" if args[:1] in (["expire"], ["delete"]) and "--dry-run" not in args and "-n" not in args else ""
    )


def _gc(args: list[str]) -> str:
    return "git.rewrite" if any(arg in ("--prune=now", "--prune=all", "--prune=0") for arg in args) else ""


def _prune(args: list[str]) -> str:
    return "" if "-n" in args or "--dry-run" in args else "git.rewrite"


def _update_ref(args: list[str]) -> str:
    moved = [arg for arg in _operands(args)[:1] if arg.startswith("refs/heads/")]
    return "git.rewrite" if "-d" in args or "--stdin" in args or (moved and len(_operands(args)) > 1) else ""


def _rewrites(args: list[str]) -> str:
    return "" if "--dry-run" in args or "--analyze" in args else "git.rewrite"


def _worktree(args: list[str]) -> str:
    return "git.worktree" if args[:1] == ["remove"] and ("--force" in args or "f" in _flags(args)) else ""


def _read_tree(args: list[str]) -> str:
    return "git.discard" if "--reset" in args and "-u" in args else ""


def _checkout_index(args: list[str]) -> str:
    flags = _flags(args)
    return "git.discard" if "f" in flags and "n" not in flags and ("a" in flags or "--all" in args) else ""


def _rebase(args: list[str]) -> str:
    return "git.rewrite" if "--root" in args else ""


def _submodule(args: list[str]) -> str:
    return "git.discard" if args[:1] == ["deinit"] and ("f" in _flags(args) or "--force" in args) else ""


def _config(args: list[str]) -> str:
    names = [arg.lower() for arg in args if arg[:1] != "-"]
    if "--remove-section" in args or "--get" in args or "--list" in args or len(names) < 2:
        return ""
    if names[0] in ("core.hookspath", "core.sshcommand", "core.fsmonitor"):
        return (
            "path.git-hooks"
            if not (names[0] == "core.hookspath" and names[1] in (".husky", ".githooks", ".husky/_", "hooks"))
            else ""
        )
    return ""


def _push(args: list[str], protected: tuple[str, ...], branch: str) -> str:
    flags = _flags(args)
    if "--dry-run" in args or "n" in flags:
        return ""
    operands = _operands(args)
    refs = operands[1:]
    if "--mirror" in args or "--prune" in args:
        return "git.force-push"
    if "--delete" in args or "d" in flags or any(ref[:1] == ":" and len(ref) > 1 for ref in refs):
        return "git.push-delete"
    lease = any(arg.startswith("--force-with-lease") or arg == "--force-if-includes" for arg in args)
    forced = "--force" in args or "f" in flags or any(ref[:1] == "+" for ref in refs)
    if not forced and not lease:
        return ""
    if not {"--all", "--branches", "--tags"}.isdisjoint(args):
        return "git.force-push"
    targets = [ref.lstrip("+").rpartition(":")[2].replace("refs/heads/", "") for ref in refs]
    targets = [branch if target in ("HEAD", "@") else target for target in targets] or [branch]
    if all(target and UNKNOWN not in target and not is_protected(target, protected) for target in targets):
        return "git.force-push-own"
    if lease and not forced and targets == [""]:
        return "git.force-push-own"  # git itself refuses when another person has pushed
    return "git.force-push"


def is_protected(branch: str, protected: tuple[str, ...]) -> bool:
    if STAR in branch or "*" in branch:
        return True
    return any(branch == name or branch.startswith(name.rstrip("*").rstrip("/") + "/") for name in protected)


_RULES = {
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _switch,
    "stash": _stash,
    "branch": _branch,
    "rm": _rm,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _prune,
    "update-ref": _update_ref,
    "filter-branch": _rewrites,
    "filter-repo": _rewrites,
    "replace": _rewrites,
    "worktree": _worktree,
    "read-tree": _read_tree,
    "checkout-index": _checkout_index,
    "rebase": _rebase,
    "submodule": _submodule,
    "config": _config,
}

VERBS = frozenset((*_RULES, "push"))


def reads(call: Call) -> list[str]:
    """The paths whose content a git command shows or hands on."""
    verb, args, _ = split(call.args)
    if verb in ("show", "diff", "cat-file", "blame", "annotate", "grep", "archive", "checkout", "log", "hash-object"):
        operands = args[args.index("--") + 1 :] if "--" in args else _operands(args)
        if verb == "log" and "-p" not in args and "--patch" not in args:
            return []
        if verb == "grep" and "--" not in args:
            operands = operands[1:]
        return [piece for operand in operands for piece in (operand.rpartition(":")[2],) if piece]
    return []


def adds(call: Call) -> list[str]:
    verb, args, _ = split(call.args)
    return [arg for arg in _operands(args) if arg not in (".", "-A")] if verb in ("add", "stage") else []


__all__ = ["PROTECTED", "VERBS", "adds", "check", "is_protected", "paths", "reads", "split"]
