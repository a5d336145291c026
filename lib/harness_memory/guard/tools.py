"""Tools other than the shell: which of their arguments are paths, commands or statements, and what they do to them."""

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
    **dict.fromkeys(("Read", "NotebookRead"), (("file_path", "notebook_path"), paths.READ)),
    **dict.fromkeys(("Write", "Edit", "MultiEdit", "NotebookEdit"), (("file_path", "notebook_path"), paths.WRITE)),
    **dict.fromkeys(("LS", "Glob"), ((), paths.READ)),  # names only
}
# Their arguments are words to people or models.
_TALK = frozenset(
    """
    Task Agent TodoWrite Skill WebSearch AskUserQuestion ExitPlanMode EnterPlanMode SlashCommand ToolSearch
    TaskCreate TaskUpdate SendMessage KillShell TaskStop TaskGet TaskList TaskOutput
    """.split()
)
_WRITE_WORDS = frozenset(
    "write edit create append update patch save put insert replace move rename copy upload".split()
)
_DELETE_WORDS = frozenset("delete remove unlink trash rmdir".split())
_EFFECTS = frozenset(
    "delete drop reset destroy purge wipe truncate terminate revoke merge publish force unpublish".split()
)
_PROSE = frozenset(
    """
    query title body text content message description prompt subject name summary comment old_string new_string
    """.split()
)
_COMMAND_KEYS = frozenset("command cmd script shell_command commands argv command_line cmdline".split())
_SQL_KEYS = frozenset("sql query statement queries".split())
_RUNNERS = frozenset("exec execute run shell bash terminal process command".split())  # in names of tools
_FETCHES = ("iwr", "irm", "invoke-webrequest", "invoke-restmethod", "downloadstring", "curl", "wget")
MAX_DEPTH = 12
MAX_VALUES = 250


def findings(
    tool: str, given: Mapping[str, Any], scope: Scope, env: Environment, policy: Any
) -> list[tuple[str, str, str]]:
    """All findings against a call of a tool: (rule, the call, the path)."""
    if tool in SHELL_TOOLS:
        command = given.get("command")
        if not isinstance(command, str):
            return []
        if tool == "PowerShell":  # which escapes with a backtick, not a backslash
            lower = command.lower()
            if ("iex" in lower or "invoke-expression" in lower) and any(word in lower for word in _FETCHES):
                return [("remote.pipe-to-shell", command[:200], "")]
            command = command.replace("`\r\n", " ").replace("`\n", " ").replace("`", "").replace("\\", "/")
        return _judged(command, scope, env, policy)
    if tool in _TALK:
        return []
    found: list[tuple[str, str, str]] = []
    for number, (access, word) in enumerate(accesses(tool, given)):
        if number >= MAX_VALUES:
            found.append(("guard.failed", tool, "more paths than can be judged"))
            break
        for rule in _of_path(access, word, given, scope, policy):
            found.append((rule, "%s %s" % (tool, plain(word)), plain(word)))
    if tool in ("Write", "Edit", "MultiEdit"):
        found += _content(tool, given, found, scope, env, policy)
    if tool.startswith("mcp__"):
        found += _of_server(tool, given, scope, env, policy)
    if tool == "WebFetch" and "169.254.169.254" in str(given.get("url")):
        found.append(("exfil.metadata", tool, str(given["url"])[:200]))
    return found


def _judged(text: str, scope: Scope, env: Environment, policy: Any) -> list[tuple[str, str, str]]:
    """The findings against shell text; most tools have none, and never load its reader."""
    from .judge import findings as judged

    return judged(text, scope, env, policy)


def _content(
    tool: str, given: Mapping[str, Any], found: list[tuple[str, str, str]], scope: Scope, env: Environment, policy: Any
) -> Iterator[tuple[str, str, str]]:
    """What is written where it will run by itself; and our own hooks, taken out of the settings."""
    rules = {rule for rule, _, _ in found}
    new = "\n".join(_texts([given.get("content"), given.get("new_string"), given.get("edits")]))
    if "self.settings" in rules or "self.project-settings" in rules:
        old = "\n".join(_texts([given.get("old_string"), given.get("edits")]))
        is_out = "pre_tool_use.py" in old and new.count("pre_tool_use.py") < old.count("pre_tool_use.py") + (
            tool == "MultiEdit"
        )
        if is_out or '"disableAllHooks": true' in new:
            yield "self.guard", tool, "the guard's hook"
    if not rules & {"path.ci", "path.startup", "path.git-hooks"} or len(new) > 50_000:
        return
    lines = []
    for line in new.split("\n"):
        text = line.strip()
        text = text[2:].strip() if text[:2] == "- " else text
        lines.append(
            text[4:].strip(" |>")
            if text.startswith("run:")
            else text
            if "path.ci" not in rules or ":" not in text[:30]
            else ""
        )
    for line in dict.fromkeys(lines[:400]):
        for rule, detail, about in _judged(line, scope, env, policy) if " " in line and line[:1] != "#" else ():
            if rule not in ("guard.unreadable", "delete.unknown", "service.delete") and not rule.startswith("path."):
                yield rule.rstrip("?") + "?", detail, about


def _of_server(
    tool: str, given: Mapping[str, Any], scope: Scope, env: Environment, policy: Any
) -> Iterator[tuple[str, str, str]]:
    """An MCP tool: commands and statements wherever they stand in its arguments, and the verb in its name."""
    names = _words_of(tool.rpartition("__")[2])
    is_runner = not _RUNNERS.isdisjoint(names)
    for key, value in _items(given, 0):
        if key in _COMMAND_KEYS or (is_runner and key in ("input", "text", "code", "args", "arguments")):
            for text in _command(value, given if value is given.get(key) else {}):
                yield from _judged(text, scope, env, policy)
        if key in _SQL_KEYS:
            from .code import destroys

            for text in _texts(value):
                if " " in text and destroys(text):
                    yield "db.destroy", "%s %s" % (tool, text[:120]), ""
    is_forced = any(key == "force" and value is True for key, value in _items(given, 0))
    is_file = any(word[:1] in ("/", "~", ".") for _, word in accesses(tool, given))
    if is_forced or not (_EFFECTS.isdisjoint(names) or is_file):
        yield "tool.effect", tool, ""
    if _is_deep(given):
        yield "guard.failed", tool, "arguments nested too deeply"


def _words_of(name: str) -> set[str]:
    """The words of a name in any spelling: `deleteRepo`, `delete_repo`, `delete-repo`."""
    spaced = "".join([" " + char if char.isupper() else char for char in name])
    return set(spaced.replace("_", " ").replace("-", " ").lower().split())


def _items(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in list(value.items())[:MAX_VALUES]:
            yield str(key).lower(), item
            yield from _items(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:MAX_VALUES]:
            yield from _items(item, depth + 1)


def _command(value: Any, given: Mapping[str, Any]) -> Iterator[str]:
    """Shell text: as text, as a list of words or of commands, or as a program with its `args`."""
    if isinstance(value, str):
        more = given.get("args")
        yield " ".join([value, *[_quoted(str(word)) for word in more]]) if isinstance(more, list) else value
    elif isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        if words and " " in words[0]:
            yield from words[:20]
        elif words:
            yield " ".join([_quoted(word) for word in words])


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _is_deep(value: Any, depth: int = 0) -> bool:
    """Whether there is more below than is looked at."""
    if depth > MAX_DEPTH:
        return bool(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_is_deep(item, depth + 1) for item in items if isinstance(item, (dict, list)))


def accesses(tool: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(access, path) of every argument that is a path."""
    if tool in _KNOWN:
        keys, access = _KNOWN[tool]
        yield from ((access, word) for key in keys for word in _texts(given.get(key)))
    elif tool == "Grep":
        yield from ((paths.READ, word) for word in _texts(given.get("path")))
        folder = str(given.get("path") or "").rstrip("/")
        for each in _alternatives(str(given.get("glob") or "")):
            if each and each[:1] != "!":
                yield paths.READ, folder + "/" + globbed(each) if folder else globbed(each)
    elif tool == "WebFetch":
        yield from ((paths.READ, word) for word in _texts(given.get("url")) if word.startswith("file:"))
    elif tool not in SHELL_TOOLS:
        names = _words_of(tool.rpartition("__")[2])
        writes = paths.WRITE if not _WRITE_WORDS.isdisjoint(names) else paths.READ
        access = paths.DELETE if not _DELETE_WORDS.isdisjoint(names) else writes
        for key, value in given.items():
            is_prose = str(key).lower() in _PROSE
            for word in _texts(value):
                if _may_be_path(word) and not (is_prose and (word[:1] not in ("/", "~") or " " in word)):
                    yield access, word


def _may_be_path(text: str) -> bool:
    if len(text) > 1000 or "\n" in text or (" " in text and text[:1] not in ("/", "~", ".") and text[1:2] != ":"):
        return False
    return "/" in text or "\\" in text or "." in text or text[:1] == "~"


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
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found: list[str] = []
    for item in items if depth <= MAX_DEPTH else ():
        found.extend(_texts(item, depth + 1))
        if len(found) > 5000:
            break
    return found


def _of_path(access: str, word: str, given: Mapping[str, Any], scope: Scope, policy: Any) -> Iterator[str]:
    text = TILDE + word[1:] if word[:1] == "~" else TILDE + word[5:] if word.startswith("$HOME") else word
    rule = paths.rule_for(text, access, scope.cwd, scope)
    if not rule and STAR in text:
        rule = paths.rule_for(text.replace(STAR + STAR + "/", ""), access, scope.cwd, scope)
    if rule in (paths.ENV, paths.SENSITIVE) and "pattern" in given and given.get("output_mode") != "content":
        rule = ""  # Grep, which then shows names only
    if access == paths.DELETE and not rule:
        from . import deletes
        from .expand import Call, Trace

        rule = deletes.target_rule(text, Call("rm", [], scope.cwd), scope, Trace(scope.home, scope.project, None))  # type: ignore[arg-type]
    if rule:
        yield rule
    yield from policy.path_findings(access, text, scope.cwd, scope) if policy.custom else ()
