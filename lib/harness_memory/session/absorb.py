"""Transcript entries into a session's capture: what was asked, said, changed, run and planned."""

from __future__ import annotations

from ..base import clock, settings
from ..base.redact import redact
from ..base.text import brief, brief_of, clean, identifier
from ..project.context import relative_path
from .capture import ANSWERED, FAILED, INTERRUPTED, WORKING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .capture import Capture

_FILE_TOOLS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_SHELL_TOOLS = ("Bash", "PowerShell")
_OUTSIDE_TOOLS = ("WebFetch", "WebSearch")
_TOOLS_KEPT = 60
_NAMES_KEPT = 20
_TOPICS = "/%s/%s/" % (settings.LEARNING_DIR, settings.TOPICS_DIR)
_EPISODE = "/%s/%s" % (settings.EPISODES_DIR, settings.EPISODE_PREFIX)
_OWN_COMMAND = "harness memory "
_STATUSES = ("pending", "in_progress", "completed", "deleted", "cancelled")


def absorb(state: Capture, entries: Iterable[dict[str, Any]], roots: tuple[str, ...]) -> None:
    """Add a session's own entries. `roots` are the project's directories, for relative paths."""
    try:
        for entry in entries:
            _absorb(state, entry, roots)
    finally:
        state.settle()


def absorb_subagent(state: Capture, entries: Iterable[dict[str, Any]], roots: tuple[str, ...]) -> None:
    """Add a subagent's entries: its deeds are the session's, its words are not."""
    turn = state.turn
    for entry in entries:
        if state.since and (clock.parse(entry.get("timestamp")) or 0.0) < state.since:
            continue
        for block in _blocks(entry):
            if block.get("type") == "tool_use" and block.get("name") in (*_FILE_TOOLS, *_SHELL_TOOLS):
                _call(state, block)
            elif block.get("type") == "tool_result":
                _result(state, entry, block, roots)
    state.turn = turn


def _absorb(state: Capture, entry: dict[str, Any], roots: tuple[str, ...]) -> None:
    kind = entry.get("type")
    if kind in ("custom-title", "ai-title", "summary"):
        title = entry.get("customTitle") or entry.get("aiTitle") or entry.get("title") or entry.get("summary")
        state.title = brief_of(title, settings.SUMMARY_LINE_CHARS) or state.title
        return
    if entry.get("isSidechain") or entry.get("isMeta") or entry.get("isCompactSummary"):
        return
    if kind == "user" and not state.root:
        state.root = identifier(entry.get("uuid"))
    at = clock.parse(entry.get("timestamp"))
    if at is not None:
        if at < state.since:
            return
        last = at if state.last is None else state.last
        if 0 < at - last <= settings.ACTIVE_GAP_SECONDS:
            state.worked_seconds = round(state.worked_seconds + at - last, 3)
        state.last = max(at, last)
    branch = brief_of(entry.get("gitBranch"), settings.NAME_CHARS)
    if branch != "HEAD":  # detached, or no repository at all
        state.branch = branch or state.branch
    if kind == "assistant":
        _answer(state, entry)
    elif kind == "user":
        _user(state, entry, roots)


def _answer(state: Capture, entry: dict[str, Any]) -> None:
    if entry.get("isApiErrorMessage"):
        state.turn = FAILED
        return
    message = entry.get("message")
    model = brief_of(message.get("model"), settings.NAME_CHARS) if isinstance(message, dict) else ""
    if model == "<synthetic>":
        return  # the client's own filler: "No response requested."
    state.model = model or state.model
    for block in _blocks(entry):
        if block.get("type") == "text":
            said = clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS)
            if said.strip():
                state.turn = ANSWERED
                state.said = said
        elif block.get("type") == "tool_use":
            _call(state, block)


def _user(state: Capture, entry: dict[str, Any], roots: tuple[str, ...]) -> None:
    parts = []
    for block in _blocks(entry):
        if block.get("type") == "tool_result":
            _result(state, entry, block, roots)
        elif block.get("type") == "text" and "toolUseResult" not in entry:
            parts.append(clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS))
    text = "\n".join(part for part in parts if not part.startswith("<system-reminder>"))
    prompt_id = identifier(entry.get("promptId"))
    if text.startswith("[Request interrupted"):
        state.turn = INTERRUPTED
    elif text.startswith("<command-message>"):
        # Skills come with <command-message> first; the client's built-in commands the other way round.
        name = text.partition("<command-name>")[2].partition("</command-name>")[0].lstrip("/")
        arguments = text.partition("<command-args>")[2].partition("</command-args>")[0]
        _add_skill(state, name)
        state.add_prompt(prompt_id, ("/%s %s" % (name, arguments)).strip())
    elif parts:
        state.add_prompt(prompt_id, text)


def _call(state: Capture, block: dict[str, Any]) -> None:
    name = brief_of(block.get("name"), settings.SKILL_CHARS)
    options = block.get("input")
    options = options if isinstance(options, dict) else {}
    state.turn = WORKING
    if name in state.tools or len(state.tools) < _TOOLS_KEPT:
        state.tools[name] = state.tools.get(name, 0) + 1
    if name in _OUTSIDE_TOOLS or name.startswith("mcp__"):
        _add(state.outside, name, _NAMES_KEPT)
    detail: Any = None
    if name == "Skill":
        _add_skill(state, clean(options.get("skill") or options.get("command"), 200))
    elif name == "Read":
        _add_looked(state, clean(options.get("file_path"), settings.PATH_CHARS).replace("\\", "/"), "")
    elif name in _FILE_TOOLS:
        detail = _path(options.get(_FILE_TOOLS[name]))
    elif name in _SHELL_TOOLS:
        _add_looked(state, "", clean(options.get("command"), settings.PATH_CHARS))
        detail = brief_of(options.get("command"), settings.COMMAND_CHARS)
    elif name == "TodoWrite":
        detail = _todos(options.get("todos"))
    elif name == "TaskCreate":
        detail = brief_of(options.get("subject"), settings.ITEM_CHARS)
    elif name == "TaskUpdate":
        subject = brief_of(options.get("subject"), settings.ITEM_CHARS)
        detail = [identifier(options.get("taskId")), _status(options.get("status")), subject]
    if detail:
        _put(state.pending, identifier(block.get("id")), [name, detail])


def _result(state: Capture, entry: dict[str, Any], block: dict[str, Any], roots: tuple[str, ...]) -> None:
    name, detail = state.pending.pop(identifier(block.get("tool_use_id")), ["", ""])
    is_error = bool(block.get("is_error"))
    rich = entry.get("toolUseResult")
    rich = rich if isinstance(rich, dict) else {}
    diff = rich.get("bashEditDiff")
    for file in _dicts(diff.get("files")) if isinstance(diff, dict) else ():
        _add_file(state, _path(file.get("filePath")), roots)
    if name in _SHELL_TOOLS:
        if not (is_error and entry.get("toolDenialKind")):  # a refusal says nothing about the command
            _add_command(state, detail, is_error)
    elif is_error:
        return
    elif name in _FILE_TOOLS:
        _add_file(state, detail, roots)
    elif name == "TodoWrite":
        state.todos = detail
    elif name == "TaskCreate":
        task = rich.get("task")
        number = identifier(task.get("id")) if isinstance(task, dict) else ""
        _put(state.todos, number or str(len(state.todos) + 1), [detail, "pending"])
    elif name == "TaskUpdate":
        number, status, subject = detail
        if number in state.todos:
            text, old = state.todos[number]
            state.todos[number] = [subject or text, status or old]


def _add_file(state: Capture, path: str, roots: tuple[str, ...]) -> None:
    relative = relative_path(path, roots)
    if settings.CHECKPOINT_PREFIX in relative:
        state.wrote_checkpoint = True  # a report of work, not work
    elif relative:
        state.turn_files += 1
        if relative not in state.files:
            state.files_total += 1
            _add(state.files, relative, settings.FILES_KEPT)


def _add_command(state: Capture, command: str, is_error: bool) -> None:
    before, prefix, _ = command.partition(settings.CHECKPOINT_PREFIX)
    if is_error:
        _add(state.failed, command, settings.FAILED_KEPT)
        return
    if prefix and ">" in before:
        state.wrote_checkpoint = True
    if state.failed:
        from .commands import is_variant

        earlier = next((each for each in reversed(state.failed) if is_variant(each, command)), "")
        if earlier:
            state.failed.remove(earlier)
        if earlier not in ("", command):
            _add(state.fixed, [earlier, command], settings.FIXES_KEPT)


def _add_looked(state: Capture, path: str, command: str) -> None:
    """What the session looked up of our memory: a note or an episode it read, what it asked our commands for."""
    if _TOPICS in path and path.endswith(".md"):
        _add(state.notes_read, path, settings.FILES_IN_EPISODE)
    words = [path.rpartition("/")[2]] if _TOPICS in path or _EPISODE in path else []
    words += command.replace('"', "").replace("'", "").partition(_OWN_COMMAND)[2].split("\n", 1)[0].split()[1:6]
    for word in words:
        if identifier(word.replace("/", "-").replace(".", "-")):
            _add(state.looked, word, settings.FILES_IN_EPISODE)


def _todos(todos: object) -> dict[str, Any]:
    listed = enumerate(_dicts(todos)[: settings.PENDING_KEPT], 1)
    return {
        str(number): [brief_of(todo.get("content"), settings.ITEM_CHARS), _status(todo.get("status")) or "pending"]
        for number, todo in listed
    } or {"0": ["", "completed"]}


def _status(value: object) -> str:
    return str(value) if value in _STATUSES else ""


def _add_skill(state: Capture, name: str) -> None:
    name = brief(name, settings.SKILL_CHARS)
    if name:
        state.skills = [*(other for other in state.skills if other != name), name][-_NAMES_KEPT:]


def _path(value: object) -> str:
    return redact(clean(value, settings.PATH_CHARS))


def _blocks(entry: dict[str, Any]) -> list[dict[str, Any]]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [{"type": "text", "text": content}] if isinstance(content, str) else _dicts(content)


def _dicts(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _add(items: list[Any], item: Any, limit: int) -> None:
    if item not in items:
        items.append(item)
        del items[: max(0, len(items) - limit)]


def _put(items: dict[str, Any], key: str, value: Any) -> None:
    if key:
        items[key] = value
        while len(items) > settings.PENDING_KEPT:
            del items[next(iter(items))]
