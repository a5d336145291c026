"""Tools that carry a path: which of their arguments it is, and what they do to it."""

from __future__ import annotations

from . import paths
from .shell import STAR, TILDE, plain
from .words import globbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from .paths import Scope
    from .question import Environment

SHELL_TOOLS = ("Bash", "PowerShell", "Monitor", "BashOutput")
_KNOWN = {  # tool: (arguments that are paths, what it does)
    "Read": (("file_path",), paths.READ),
    "Write": (("file_path",), paths.WRITE),
    "Edit": (("file_path",), paths.WRITE),
    "MultiEdit": (("file_path",), paths.WRITE),
    "NotebookEdit": (("notebook_path", "file_path"), paths.WRITE),
    "NotebookRead": (("notebook_path", "file_path"), paths.READ),
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
_COMMAND_KEYS = ("command", "cmd", "script", "shell_command", "code", "commands")
_SQL_KEYS = ("sql", "query", "statement", "queries")
_RUNNERS = ("exec", "run", "shell", "bash", "terminal", "process", "command")  # of names of tools
_FETCHES = ("iwr", "irm", "invoke-webrequest", "invoke-restmethod", "downloadstring", "curl", "wget")
MAX_DEPTH = 12
MAX_TEXTS = 5000
MAX_VALUES = 250


def findings(
    tool: str, given: Mapping[str, Any], scope: Scope, env: Environment, policy: Any
) -> list[tuple[str, str, str]]:
    """All findings against a call of a tool: (rule, the call, the path)."""
    if tool in SHELL_TOOLS:
        command = given.get("command")
        if not isinstance(command, str):
            return []
        if tool == "PowerShell":
            return _powershell(command, scope, env, policy)
        return _judged(command, scope, env, policy)
    if tool in _TALK:
        return []
    found: list[tuple[str, str, str]] = []
    for number, (access, word) in enumerate(accesses(tool, given)):
        if number >= MAX_VALUES:
            found.append(("guard.failed", tool, "more paths than can be judged"))
            break
        found.extend(
            (rule, "%s %s" % (tool, plain(word)), plain(word)) for rule in _of_path(access, word, scope, policy)
        )
    if tool.startswith("mcp__"):
        for text in _commands(tool, given):
            found.extend(_judged(text, scope, env, policy))
        found.extend(_statements(tool, given))
        if _is_deep(given):
            found.append(("guard.failed", tool, "arguments nested too deeply"))
    if tool == "WebFetch" and "169.254.169.254" in str(given.get("url")):
        found.append(("exfil.metadata", tool, str(given["url"])[:200]))
    return found


def _powershell(command: str, scope: Scope, env: Environment, policy: Any) -> list[tuple[str, str, str]]:
    """PowerShell escapes with a backtick, not a backslash; `-WhatIf` runs nothing."""
    text = command.replace("`\r\n", " ").replace("`\n", " ").replace("`", "").replace("\\", "/")
    lower = text.lower()
    if any(word in lower for word in ("iex", "invoke-expression")) and any(word in lower for word in _FETCHES):
        return [("remote.pipe-to-shell", command[:200], "")]
    if "-whatif" in lower:
        return []
    found = _judged(text.replace("& {", "{").replace(" }", "; }"), scope, env, policy)
    if (
        ("get-childitem" in lower or "gci " in lower)
        and "remove-item" in lower
        and "-recurse" in lower
        and "~" in lower
    ):
        found.append(("delete.home", command[:200], ""))
    for piece in text.replace("'", '"').split('"')[1::2]:
        found.extend((rule, command[:200], piece) for rule in _of_path(paths.READ, piece, scope, policy))
    if lower.startswith(("iex ", "invoke-expression ")):
        found.extend(_judged(text.partition(" ")[2].strip("'\""), scope, env, policy))
    return found


def _commands(tool: str, given: Mapping[str, Any]) -> Iterator[str]:
    """The shell text among the arguments: as text, as a list of words, or as a program with its `args`."""
    keys: tuple[str, ...] = _COMMAND_KEYS
    if any(word in tool.rpartition("__")[2].lower() for word in _RUNNERS):
        keys += ("input", "text")
    for key in keys:
        value = given.get(key)
        words = [str(word) for word in value] if isinstance(value, list) else []
        if isinstance(value, str):
            more = given.get("args")
            words = [value, *[_quoted(str(word)) for word in more]] if isinstance(more, list) else [value]
        elif not any(" " in word for word in words[:1]):
            words = [_quoted(word) for word in words]
        text = " ".join(words) if isinstance(value, str) or " " not in "".join(words[:1]) else "\n".join(words)
        if " " in text:
            yield text


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _statements(tool: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for key in _SQL_KEYS:
        for text in _texts(given.get(key)):
            if " " in text:
                from .bodies import destroys

                if destroys(text):
                    yield "db.destroy", "%s %s" % (tool, text[:120]), ""


def _is_deep(value: Any, depth: int = 0) -> bool:
    """Whether there is more below than is looked at."""
    if depth > MAX_DEPTH:
        return bool(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deep(item, depth + 1) for item in items if isinstance(item, (dict, list)))


def _judged(text: str, scope: Scope, env: Environment, policy: Any) -> list[tuple[str, str, str]]:
    """The findings against shell text; most tools have none, and never load its reader."""
    from .judge import findings as judged

    return judged(text, scope, env, policy)


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
        for key, value in given.items():
            is_prose = str(key).lower() in _PROSE
            for word in _texts(value):
                if _may_be_path(word) and not (is_prose and (word[:1] not in ("/", "~") or " " in word)):
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
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) < 60:
        text = waiting.pop()
        start, end = text.find("{"), text.find("}")
        if start < 0 or end < start:
            done.append(text)
        else:
            waiting += [text[:start] + choice + text[end + 1 :] for choice in text[start + 1 : end].split(",")[:20]]
    return done + waiting


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > MAX_DEPTH:
        return []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found: list[str] = []
    for item in items:
        found.extend(_texts(item, depth + 1))
        if len(found) > MAX_TEXTS:
            break
    return found


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
    if access == paths.DELETE and not rule:
        from . import deletes
        from .calls import Call

        rule = deletes.target_rule(text, Call("rm", [], scope.cwd), scope, set())
    if rule:
        yield rule
    for own in policy.custom:
        if own["match"].get("path") and policy.fits_path(own, kind, text, scope.cwd, scope):
            yield own["id"]
