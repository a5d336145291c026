"""Git where words alone do not tell: discards of work, pushes, settings. The other verbs stand in the row of `git`."""

from __future__ import annotations

from .shell import GLOBS, STAR, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expand import Call

PROTECTED = ("main", "master", "production", "prod", "release", "develop", "trunk", "stable", "staging")
_HARMLESS_HOOKS = (".husky", ".githooks", ".husky/_", "hooks", ".git/hooks")
_SHOWS = frozenset("show diff cat-file blame annotate grep archive hash-object".split())


def rule_for(call: Call, protected: tuple[str, ...], branch: str) -> str:
    """`branch` is the one checked out, where known."""
    verb, args = call.verb()
    if args == ["-h"] or "--help" in args:
        return ""
    if verb == "checkout":
        return _discarded(_checked_out(call, args))
    if verb == "restore":
        flags = call.given.flags
        is_staged = ("--staged" in flags or "-S" in flags) and not ("--worktree" in flags or "-W" in flags)
        return "" if is_staged else _discarded(call.given.operands[1:])
    if verb == "push":
        return _push(call, protected, branch)
    return _config(args) if verb == "config" else ""


def _checked_out(call: Call, args: list[str]) -> list[str]:
    """The paths of `git checkout`, if it is about paths."""
    given = call.given
    if "--" in args:
        return args[args.index("--") + 1 :]
    if given.has("-b,-B,--orphan,-t,--track,--detach,-d"):
        return []
    words = given.operands[1:]
    if len(words) == 1:
        name = words[0].rpartition("/")[2]
        stem, dot, ending = name.rpartition(".")
        is_file = bool(dot and stem and ending.isalpha() and len(ending) < 6)
        is_path = is_file or words[0] in (".", "..", ":/", "*") or words[0][:2] == "./" or STAR in words[0]
        return words if is_path or words[0].startswith("./" + UNKNOWN) else []
    return words[1:]


def _discarded(paths: list[str]) -> str:
    if not paths:
        return ""
    name = paths[0].rpartition("/")[2]
    is_file = len(paths) < 4 and "." in name[1:] and not any(UNKNOWN in path or GLOBS & set(path) for path in paths)
    return "git.discard-file" if is_file else "git.discard"


def _config(args: list[str]) -> str:
    names = [arg.lower() for arg in args if arg[:1] != "-"]
    if {"--get", "--list", "-l", "--remove-section", "--unset"} & set(args) or len(names) < 2:
        return ""
    if names[0] == "core.hookspath" and names[1] in _HARMLESS_HOOKS:
        return ""
    return "path.git-hooks" if names[0] in ("core.hookspath", "core.sshcommand", "core.fsmonitor") else ""


def _push(call: Call, protected: tuple[str, ...], branch: str) -> str:
    given = call.given
    if given.has("--dry-run,-n"):
        return ""
    refs = given.operands[2:]
    if any(ref[:1] == ":" and len(ref) > 1 for ref in refs):
        return "git.push-delete"
    has_lease = given.has("--force-with-lease,--force-if-includes")
    is_forced = given.has("--force,-f") or any(ref[:1] == "+" for ref in refs)
    if not is_forced and not has_lease:
        return ""
    if given.has("--all,--branches,--tags"):
        return "git.force-push"
    targets = [ref.lstrip("+").rpartition(":")[2].replace("refs/heads/", "") for ref in refs]
    targets = [branch if target in ("HEAD", "@") else target for target in targets] or [branch]
    if all(target and UNKNOWN not in target and not is_protected(target, protected) for target in targets):
        return "git.force-push-own"
    if has_lease and not is_forced and targets == [""]:
        return "git.force-push-own"  # git itself refuses when another person has pushed
    return "git.force-push"


def is_protected(branch: str, protected: tuple[str, ...]) -> bool:
    if STAR in branch or "*" in branch:
        return True
    return any(branch == name or branch.startswith(name.rstrip("*").rstrip("/") + "/") for name in protected)


def shown(call: Call) -> list[str]:
    """The paths whose content a git command shows or hands on."""
    verb, args = call.verb()
    if verb not in _SHOWS and not (verb == "log" and not {"-p", "--patch"}.isdisjoint(args)):
        return []
    if not {"--stat", "--name-only", "--name-status", "--shortstat", "--numstat", "-q", "--quiet"}.isdisjoint(args):
        return []
    words = args[args.index("--") + 1 :] if "--" in args else call.given.operands[2 if verb == "grep" else 1 :]
    return [word.rpartition(":")[2] for word in words]
