"""Tools other than the shell: which of their arguments are paths, commands or statements, and what they do to them."""

from __future__ import annotations

from ..base.typing import Any, Callable, Iterator, Mapping
from . import paths
from .shell import CLOSE, COMMA, OPEN, TILDE, globbed, plain, unbraced, words_in
from .words import WORDS, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope

    Finding = tuple[str, str, str]
    Judge = Callable[[str], list[Finding]]

SHELL_TOOLS = ("Bash", "PowerShell", "Monitor", "BashOutput")
_READS = ("Read", "NotebookRead", "LS", "Glob")
_WRITES = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_PATH_KEYS = ("file_path", "notebook_path")  # LS and Glob, which only show names, have neither
_RUN_BY_ITSELF = {"path.ci", "path.startup", "path.git-hooks"}
MAX_DEPTH = 12
_TOO_DEEP = "\0"
MAX_VALUES = 250
MAX_CONTENT_CHARS = 50_000


def findings(tool: str, given: Mapping[str, Any], scope: Scope, policy: Any) -> list[Finding]:
    """All findings against a call of a tool: (rule, the call, the path)."""

    def judge(text: str) -> list[Finding]:
        from .judge import findings as judged  # most calls never load its reader

        return judged(text, scope, policy)

    if tool in SHELL_TOOLS:
        text = str(given.get("command") or "")
        return judge("pwsh -Command " + _quoted(text) if tool == "PowerShell" else text)
    words = list(accesses(tool, given))
    found = [("guard.failed", tool, "more paths than can be judged")] if len(words) > MAX_VALUES else []
    for access, word in words[:MAX_VALUES]:
        text = TILDE + word[1:] if word[:1] == "~" else TILDE + word[5:] if word.startswith("$HOME") else word
        rule = paths.rule_for(text, access, scope.cwd, scope)
        if rule in (paths.ENV, paths.SENSITIVE) and "pattern" in given and given.get("output_mode") != "content":
            continue  # Grep, which then shows names only
        if access == paths.DELETE and not rule:
            from . import deletes
            from .calls import Call, Trace

            rule = deletes.target_rule(text, Call("rm", [], scope.cwd), scope, Trace(scope))
        found += [(rule, "%s %s" % (tool, plain(word)), plain(word))] if rule else []
    if tool in _WRITES:
        found += _content(tool, given, {rule for rule, _, _ in found}, judge)
    elif tool.startswith("mcp__"):
        found += _of_server(tool, given, judge)
    elif tool == "WebFetch" and holds(str(given.get("url")), "metadata-hosts"):
        found.append(("exfil.metadata", tool, str(given["url"])[:200]))
    return found


def _content(tool: str, given: Mapping[str, Any], rules: set[str], judge: Judge) -> Iterator[Finding]:
    """What is written where it will run by itself; and our own hook, taken out of the settings."""
    new = "\n".join(_texts([given.get("content"), given.get("new_string"), given.get("edits")]))
    if rules & {"self.settings", "self.project-settings"}:
        old = str(given.get("old_string"))
        if ("pre_tool_use.py" in old and "pre_tool_use.py" not in new) or '"disableAllHooks": true' in new:
            yield "self.guard", tool, "the guard's hook"
    if not rules & _RUN_BY_ITSELF or len(new) > MAX_CONTENT_CHARS:
        return
    lines = [line.strip().lstrip("- ") for line in new.split("\n")[:400]]
    for line in dict.fromkeys([line[4:].strip(" |>") if line.startswith("run:") else line for line in lines]):
        is_yaml = ":" in line and " " not in line.partition(":")[0]
        for rule, detail, about in judge(line) if " " in line and line[0] != "#" and not is_yaml else ():
            if rule not in WORDS["minor-rules"] and not rule.startswith("path."):
                yield rule.rstrip("?") + "?", detail, about


def _of_server(tool: str, given: Mapping[str, Any], judge: Judge) -> Iterator[Finding]:
    """An MCP tool: commands and statements wherever they stand in its arguments, and the verb in its name."""
    from .code import destroys

    names, items = words_in(tool.rpartition("__")[2]), list(_items(given))
    for text in texts_to_run(given, names):
        yield from judge(text)
    for text in [text for key, value in items if key in WORDS["sql-keys"] for text in _texts(value) if destroys(text)]:
        yield "db.destroy", "%s %s" % (tool, text[:120]), ""
    is_file = any(word[:1] in ("/", "~", ".") for _, word in accesses(tool, given))
    is_told = ("force", True) in items or any(key == "method" and value in ("DELETE", "delete") for key, value in items)
    if is_told or not (names.isdisjoint(WORDS["effect-words"]) or is_file):
        yield "tool.effect", tool, ""
    if any(key == _TOO_DEEP for key, _ in items):
        yield "guard.failed", tool, "arguments nested too deeply"


def _items(value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every key with its value, at any depth; of a list the keys are "", below the limit _TOO_DEEP."""
    pairs = list(value.items()) if isinstance(value, dict) else []
    pairs = [("", item) for item in value] if isinstance(value, list) else pairs
    for key, item in pairs[:MAX_VALUES]:
        yield str(key).lower() if depth <= MAX_DEPTH else _TOO_DEEP, item
        yield from _items(item, depth + 1) if depth <= MAX_DEPTH else ()


def _texts(value: Any) -> list[str]:
    return [item for _, item in _items([value]) if isinstance(item, str)]


def texts_to_run(given: Mapping[str, Any], names: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    """Shell text in arguments: as text, as a list of words or of commands, or as a program with its `args`."""
    keys = WORDS["command-keys"] + (() if names.isdisjoint(WORDS["runners"]) else WORDS["runner-keys"])
    found = []
    for value in [value for key, value in _items(given) if key in keys]:
        words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
        more = given.get("args")
        if isinstance(value, str):
            found.append(" ".join([value, *(_quoted(str(word)) for word in (more if isinstance(more, list) else ()))]))
        elif words:
            found += words[:20] if " " in words[0] else [" ".join(map(_quoted, words))]
    return found


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def accesses(tool: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(access, path) of every argument that is a path."""
    if tool in _READS or tool in _WRITES:
        access = paths.READ if tool in _READS else paths.WRITE
        yield from ((access, word) for key in _PATH_KEYS for word in _texts(given.get(key)))
    elif tool == "Grep":
        # A search of the client's folder reads the store in it.
        yield from ((paths.READ, word + below) for word in _texts(given.get("path")) for below in ("", "/memory"))
        folder = str(given.get("path") or "").rstrip("/")
        glob = str(given.get("glob") or "").replace("{", OPEN).replace(",", COMMA).replace("}", CLOSE)
        for each in [each for each in unbraced(glob) if each and each[:1] != "!"]:
            yield paths.READ, folder + "/" + globbed(each) if folder else globbed(each)
    elif tool == "WebFetch":
        yield from ((paths.READ, word) for word in _texts(given.get("url")) if word.startswith("file:"))
    elif tool not in SHELL_TOOLS and tool not in WORDS["talking-tools"]:
        names = words_in(tool.rpartition("__")[2])
        writes = paths.WRITE if not names.isdisjoint(WORDS["write-words"]) else paths.READ
        access = paths.DELETE if not names.isdisjoint(WORDS["delete-words"]) else writes
        is_carried = not names.isdisjoint(WORDS["carry-words"])
        for key, word in [(key, word) for key, value in given.items() for word in _texts(value)]:
            is_prose = str(key).lower() in WORDS["prose-keys"]
            is_place = word[:1] in ("/", "~", ".") or word[1:2] == ":"
            is_path = " " not in word and (is_place or not is_prose)
            is_path = is_path or (is_place and not is_prose and "\n" not in word and len(word) < 1000)
            if is_path and not {"/", "\\", "."}.isdisjoint(word):
                yield from ((each, word) for each in ((paths.READ, access) if is_carried else (access,)))
