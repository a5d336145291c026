"""Our own command line: what it may not be told to do, and what it may do without a question."""

from __future__ import annotations

from . import shell
from .words import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .question import Question

# Verbs that only read, or record what this session says, each with those of its own verbs ("" for none) that do.
# None deletes, loosens, or leaves the project.
_FREE = {
    **dict.fromkeys("status list show search related transcript why stats open signals doctor verify".split(), ""),
    **dict.fromkeys("checkpoint remember rate consolidate lint rules".split(), ""),
    "note": "add show list",
    "briefing": "show set history",
    "profile": "list show set",
    "audit": "show verify stats",
    "thread": "list",
    "team": "list show",
    "task": "start checkpoint done list",
    "review": "list show",
}
_RISKY = frozenset("--project --all-projects --yes --force --delete --remove --enforce --output -o --fix".split())


def rule_for(name: str, args: list[str]) -> str:
    """The rule against a call of ours."""
    is_help = not {"--help", "-h"}.isdisjoint(args[: args.index("--")] if "--" in args else args)
    if args[:2] == ["guard", "allow-once"]:
        return "self.allow"
    if name == "install.py":
        return "self.uninstall" if {"--uninstall", "--purge", "--no-guard"} & set(args) else ""
    verb, rest = args[1:2], args[2:]
    if args[:1] != ["memory"] or is_help:
        return ""
    if verb in (["forget"], ["sync"]) and {"--yes", shell.UNKNOWN} & set(rest):
        return "self.forget"
    if verb in (["prune"], ["archive"]) and "--dry-run" not in rest:
        return "self.forget"
    if verb == ["note"] and rest[:1] not in (["add"], ["edit"], ["show"], ["list"], ["promote"], ["supersede"]):
        return "self.forget" if {"remove", shell.UNKNOWN} & set(rest) else ""
    is_beyond = verb in (["import"], ["export"]) or (verb == ["sync"] and "init" in rest)
    return "self.other-memory" if is_beyond or _has(rest, ("--project", "--all-projects")) else ""


def _has(args: list[str], options: Iterable[str]) -> bool:
    """Whether one of these options is among the arguments, shortened or not."""
    flags = [arg.partition("=")[0] for arg in args if arg[:1] == "-"]
    flags = [flag for flag in flags if flag != "--all"]  # an option of its own
    return any(flag == option or (len(flag) > 2 and option.startswith(flag)) for flag in flags for option in options)


def is_free(question: Question) -> bool:
    """Whether a command is exactly one call of ours with a free verb: no operator, expansion or redirection."""
    command = question.given.get("command")
    if question.tool != "Bash" or not isinstance(command, str) or len(command) > 20_000 or "harness" not in command:
        return False
    try:
        tree = shell.read(command)
    except shell.Unreadable:
        return False
    words = list(tree[2]) if tree[0] == "cmd" and not tree[1] and not tree[3] else []
    plain = [word for word in words if isinstance(word, str) and not any(mark in word for mark in shell.MARKERS)]
    if not words or plain != words:
        return False
    is_installed = words[0][:1] == "/" and not words[0].startswith(question.project.rstrip("/") + "/")
    if name_of(words[0]).rstrip("0123456789.") == "python" and ("/" not in words[0] or is_installed) and len(words) > 1:
        words = words[1:]
        if words[0] != question.tree + "/harness":
            return False
    elif words[0] not in ("harness", question.tree + "/harness", question.tree + "/bin/harness"):
        return False
    if words[1:2] != ["memory"] or len(words) < 3 or words[2] not in _FREE:
        return False
    verbs = _FREE[words[2]].split()
    return (not verbs or (len(words) > 3 and words[3] in verbs)) and not _has(words[3:], _RISKY)
