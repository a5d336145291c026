"""Tools that carry a path: which of their arguments it is, and what they do to it."""

from __future__ import annotations

from . import judge, paths
from .shell import STAR, TILDE, plain
from .words import globbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from .gate import Environment
    from .paths import Scope

SHELL_TOOLS = ("Bash", "PowerShell", "Monitor", "BashOutput")
_KNOWN = {  # tool: (arguments that are paths, what it does)
    "Read": (("file_path",), paths.READ),
    "Write": (("file_path",), paths.WRITE),
    "Edit": (("file_path",), paths.WRITE),
    "MultiEdit": (("file_path",), paths.WRITE),
    "NotebookEdit": (("notebook_path",), paths.WRITE),
    "NotebookRead": (("notebook_path",), paths.READ),
    "LS": (("path",), "list"),
}
# Their arguments are words to people or models.
_TALK = frozenset(
    """
    Task Agent TodoWrite Skill WebSearch AskUserQuestion ExitPlanMode EnterPlanMode SlashCommand ToolSearch
    TaskCreate TaskUpdate SendMessage KillShell TaskStop TaskGet TaskList TaskOutput
    """.split()
)
_WRITE_WORDS = tuple(
    """
    write edit create append update patch save put insert replace move rename copy upload
    """.split()
)
_DELETE_WORDS = ("delete", "remove", "unlink", "trash", "rmdir")
_PROSE = frozenset(
    """
    query title body text content message description prompt subject name summary comment old_string new_string
    """.split()
)
_COMMAND_KEYS = ("command", "cmd", "script", "shell_command")
MAX_VALUES = 500


def findings(
    tool: str, given: Mapping[str, Any], scope: Scope, env: Environment, policy: Any
) -> list[tuple[str, str, str]]:
    """All findings against a call of a tool: (rule, the call, the path)."""
    if tool in SHELL_TOOLS:
        command = given.get("command")
        return judge.findings(command, scope, env, policy) if isinstance(command, str) else []
    if tool in _TALK:
        return []
    found: list[tuple[str, str, str]] = []
    for access, word in accesses(tool, given):
        found.extend(
            (rule, "%s %s" % (tool, plain(word)), plain(word)) for rule in _of_path(access, word, scope, policy)
        )
    if tool.startswith("mcp__"):
        for key in _COMMAND_KEYS:
            if isinstance(given.get(key), str) and " " in given[key]:
                found.extend(judge.findings(given[key], scope, env, policy))
    return found


def accesses(tool: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if tool in _KNOWN:
        keys, access = _KNOWN[tool]
        for key in keys:
            yield from ((access, word) for word in _texts(given.get(key)))
    elif tool == "Glob":
        yield from _searched(given.get("path"), given.get("pattern"))
    elif tool == "Grep":
        yield from _searched(given.get("path"), given.get("glob"))
        yield from (("read", word) for word in _texts(given.get("path")))
    elif tool == "WebFetch":
        yield from (("read", word) for word in _texts(given.get("url")) if word.startswith("file:"))
    else:
        access = _access(tool)
        for word in _texts({key: value for key, value in given.items() if str(key).lower() not in _PROSE}):
            if _may_be_path(word):
                yield access, word


def _may_be_path(text: str) -> bool:
    if len(text) > 1000 or "\n" in text:
        return False
    if " " in text and text[:1] not in ("/", "~", ".") and text[1:2] != ":":
        return False
    return "/" in text or "\\" in text or "." in text or text[:1] == "~"


def _access(tool: str) -> str:
    name = tool.rpartition("__")[2].lower()
    if any(word in name for word in _DELETE_WORDS):
        return paths.DELETE
    return paths.WRITE if any(word in name for word in _WRITE_WORDS) else paths.READ


def _searched(folder: Any, pattern: Any) -> Iterator[tuple[str, str]]:
    """A pattern is looked for below a folder: both may name a secret, or only together."""
    base = folder if isinstance(folder, str) else ""
    if isinstance(pattern, str) and pattern:
        for each in _alternatives(pattern):
            marked = globbed(each.lstrip("!"))
            if each[:1] == "!":
                continue
            yield "search", (base.rstrip("/") + "/" + marked if base and marked[:1] not in ("/", "~") else marked)
    elif base:
        yield "search", base


def _alternatives(pattern: str) -> list[str]:
    start, end = pattern.find("{"), pattern.find("}")
    if start < 0 or end < start:
        return [pattern]
    return [pattern[:start] + choice + pattern[end + 1 :] for choice in pattern[start + 1 : end].split(",")[:20]]


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > 5:
        return []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found: list[str] = []
    for item in items:
        found.extend(_texts(item, depth + 1))
        if len(found) > MAX_VALUES:
            break
    return found[:MAX_VALUES]


def _of_path(access: str, word: str, scope: Scope, policy: Any) -> Iterator[str]:
    text = TILDE + word[1:] if word[:1] == "~" else TILDE + word[5:] if word.startswith("$HOME") else word
    kind = paths.READ if access in ("search", "list") else access
    rule = paths.rule_for(text, kind, scope.cwd, scope)
    if access == "search" and rule in ("", paths.SENSITIVE) and STAR in text:
        rule = paths.rule_for(text.replace(STAR + STAR + "/", ""), kind, scope.cwd, scope) or rule
    if access == "list":
        rule = paths.SENSITIVE if rule == paths.SECRET else ""
    if rule == paths.ENV and kind != paths.READ:
        rule = "path.env-write"
    if rule:
        yield rule
    for own in policy.custom:
        if own["match"].get("path") and policy.fits_path(own, kind, text, scope.cwd, scope):
            yield own["id"]
