"""Our own command line: what it may not be told to do, and what it may do without a question."""

from __future__ import annotations

import sys

from . import shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .expand import Call
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
_FREE_OPTIONS = frozenset(
    """
    --json --limit -n -k --branch --since --until --notes --sessions --archived --unused --grep --event --session --all
    --topic --description --type --scope --file --done --learned --remains --tag --skill --outcome --rating --note
    --next --blocked
    """.split()
)
# Not allowed by itself, but nothing to ask about either: it can be undone, and stays in this project.
_QUIET = {
    **dict.fromkeys("forget prune archive restore compact backfill rebuild view digest help".split(), ""),
    "note": "edit promote supersede",
    "thread": "close reopen rename",
    "review": "accept edit reject",
    "sync": "run status",
}
_ORDERS = ("--require", "--after")  # steps that later sessions would be told to take
_PLACES = ("CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=", "HARNESS_MEMORY_HOME=")


def rule_for(name: str, args: list[str]) -> str:
    """The rule against a call of ours."""
    is_help = not {"--help", "-h"}.isdisjoint(args[: args.index("--")] if "--" in args else args)
    if args[:2] == ["guard", "allow-once"]:
        return "self.allow"
    if name == "install.py":
        return "self.uninstall" if {"--uninstall", "--purge", "--no-guard"} & set(args) else ""
    if args[:1] == ["upgrade"] and not is_help:
        return "self.decide"
    if args[:1] != ["memory"] or is_help or not args[1:]:
        return ""
    verb, rest = args[1], args[2:]
    if verb in ("forget", "sync") and {"--yes", shell.UNKNOWN} & set(rest):
        return "self.forget"
    if verb in ("prune", "archive") and "--dry-run" not in rest:
        return "self.forget"
    is_named = rest[:1] in (["add"], ["edit"], ["show"], ["list"], ["promote"], ["supersede"])
    if verb == "note" and not is_named and {"remove", shell.UNKNOWN} & set(rest):
        return "self.forget"
    is_beyond = verb in ("import", "export") or (verb, *rest[:1]) == ("sync", "init")
    if is_beyond or _has(rest, ("--project", "--all-projects")) or (verb == "backfill" and "--all" in rest):
        return "self.other-memory"
    return "" if _is_quiet(verb, rest) else "self.decide"


def _is_quiet(verb: str, rest: list[str]) -> bool:
    if verb[:1] == "-" or (verb not in _FREE and verb not in _QUIET):
        return verb == "--version"
    verbs = (_FREE.get(verb, "") + " " + _QUIET.get(verb, "")).split()
    is_named = not verbs or not rest or rest[0] in verbs or rest[0][:1] == "-"
    is_all = verb == "review" and rest[:1] != ["list"] and rest[:1] and "--all" in rest
    is_loose = any(_value(rest, "--enforce", at) in ("off", shell.UNKNOWN) for at in range(len(rest)))
    return is_named and not (is_all or is_loose or _has(rest, _ORDERS) or _has(rest, ("--auto",)))


def _value(args: list[str], option: str, at: int) -> str:
    """The value that an option has at this place: as the next word, or behind `=`."""
    name, equals, value = args[at].partition("=")
    return "" if name != option else value if equals else "".join(args[at + 1 : at + 2])


def written(args: list[str]) -> str:
    """The file that a call of ours writes."""
    return next(filter(None, (_value(args, "--out", at) for at in range(len(args)))), "")


def is_displaced(calls: list[Call]) -> bool:
    """Whether the environment is changed so that our command line sees another project's memory."""
    words = [word for each in calls if each.program in ("env", "export", "declare") for word in each.args]
    return any(word.startswith(_PLACES) for word in words)


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
    live = command if '"' in command else "".join(command.split("'")[::2])
    if "$" in live or "`" in live:
        return False
    from . import expand

    made = expand.trace(command, question.cwd, question.home, question.project, question.env)
    first, last = (made.calls[0], made.calls[-1]) if made.calls and not made.unread else (None, None)
    if not first or not last or len(made.calls) != 1 + len(last.via) or first.redirections or first.stdin is not None:
        return False
    words = [first.word, *first.args]
    is_set = not command.lstrip("'\" ").startswith(words[0])  # a variable before it
    if is_set or any(mark in word for word in words for mark in shell.MARKERS):
        return False
    if words[0] in ("python3", sys.executable, sys.executable.replace("\\", "/")):  # no other interpreter is known
        words = words[1:]
        if words[:1] != [question.tree + "/harness"]:
            return False
    elif words[0] not in ("harness", question.tree + "/harness", question.tree + "/bin/harness"):
        return False
    if words[1:2] != ["memory"] or len(words) < 3 or words[2] not in _FREE:
        return False
    verbs, rest = _FREE[words[2]].split(), words[3:]
    return (not verbs or "".join(rest[:1]) in verbs) and _is_plain(words[2], rest)


def _is_plain(verb: str, rest: list[str]) -> bool:
    """Whether every option is a free one; what is written must not follow the user into other projects."""
    flags = [word.partition("=")[0] for word in rest if word[:1] == "-"]
    is_wide = any(_value(rest, option, at) == "user" for option in ("--type", "--scope") for at in range(len(rest)))
    return _FREE_OPTIONS.issuperset(flags) and not (is_wide and verb in ("remember", "note") and rest[:1] != ["list"])
