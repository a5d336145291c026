"""What a session did, gathered entry by entry from its transcript.

The state is a plain dict, kept as `capture.json` in the session's directory, so that each Stop
reads only what is new. Every text in it is redacted and cut before it enters. `absorb` is the only
writer of what comes from the transcript; prompts and answers told by a hook's payload come in
through `told` and `answered`, and count once when the transcript repeats them.
Of what Claude says in a turn only the last counts: while entries are taken in it waits in `_said`, and
is redacted and cut when the next prompt, or the end of the reading, shows that it was the last.
"""

from __future__ import annotations

import os

from ..base import clock, invocation, settings
from ..base.redact import redact
from ..base.sha256 import hexdigest
from ..base.text import brief, brief_of, clean, cut, identifier, passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# How the last turn stands.
ASKED = "asked"
WORKING = "working"
ANSWERED = "answered"
INTERRUPTED = "interrupted"
FAILED = "failed"

_FILE_TOOLS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_SHELL_TOOLS = ("Bash", "PowerShell")
_OUTSIDE_TOOLS = ("WebFetch", "WebSearch")
_NOT_A_PROMPT = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "<user-memory-input>",
    "[Request interrupted",
    "Stop hook feedback:",
)
_TOPICS = "/%s/%s/" % (settings.LEARNING_DIR, settings.TOPICS_DIR)
_EPISODE = "/%s/%s" % (settings.EPISODES_DIR, settings.EPISODE_PREFIX)
_OWN_COMMAND = invocation.SCRIPT + " memory "
_SAID = "_said"
_LEFT_OUT = "_left_out"
_SOME, _ALL = "some", "all"
_CARRIED = ("files", "earlier", "fixed", "tools", "subagents", "worked_seconds", "first", "root")
_PATHS_KEPT = 256
_paths: dict[str, str] = {}  # as told → redacted: a file is worked on many times
_relatives: dict[tuple[str, tuple[str, ...]], str] = {}
_DONE_STATUSES = ("completed", "deleted", "cancelled")
_STATUSES = ("pending", "in_progress", *_DONE_STATUSES)


def new(since: float = 0.0) -> dict[str, Any]:
    """An empty state; entries before `since` are a fork's inherited history, or forgotten."""
    return {
        "schema": settings.SCHEMA,
        "since": since,
        "cursor": {},
        "subagents": {},
        "known": [],
        "asks": [],
        "told": [],
        "answer": "",
        "left_out": "",
        "earlier": [],
        "turn": "",
        "turn_files": 0,
        "files": [],
        "files_total": 0,
        "todos": {},
        "pending": {},
        "failed": [],
        "fixed": [],
        "skills": [],
        "tools": {},
        "outside": [],
        "model": "",
        "branch": "",
        "title": "",
        "root": "",
        "first": None,
        "last": None,
        "ended": "",
        "thread": "",
        "worked_seconds": 0,
        "wrote_checkpoint": False,
        "checkpoints": {},
        "notes_read": [],
        "looked": [],
        "former": {},
        "given_up": "",
    }


def restarted(state: dict[str, Any]) -> dict[str, Any]:
    """The state for reading a replaced transcript from its start: what only we knew is kept."""
    fresh = new(state["since"])
    fresh["known"] = [*state["asks"], *state["known"]]
    for key in ("told", "answer", "checkpoints", "skills", "ended", "thread"):
        fresh[key] = state[key]
    fresh["former"] = state["former"] or {key: state[key] for key in _CARRIED}
    return fresh


def joined(state: dict[str, Any]) -> None:
    """Add what was known before a replaced transcript was read anew, now that it is, as far as it was not told again:
    it was done all the same."""
    former, given_up = state["former"], state["given_up"]
    state.update(former={}, given_up="")
    if not former:
        return
    is_told_again = not given_up and not state["known"]
    lost = [path for path in former["files"] if path not in state["files"]]
    if is_told_again and state["files_total"] > settings.FILES_KEPT:
        lost = []  # told, and too long ago to be kept
    state["files"] = [*lost, *state["files"]][-settings.FILES_KEPT :]
    state["files_total"] += len(lost)
    if is_told_again:
        return
    for key, most in (("earlier", settings.EARLIER_KEPT), ("fixed", settings.FIXES_KEPT)):
        state[key] = [*(each for each in former[key] if each not in state[key]), *state[key]][-most:]
    state["first"] = former["first"] if former["first"] is not None else state["first"]
    if given_up == _ALL and state["root"] != former["root"]:  # of a part nobody knows what was counted before
        state["worked_seconds"] += former["worked_seconds"]
        state["subagents"] = former["subagents"]
        for name, count in former["tools"].items():
            state["tools"][name] = state["tools"].get(name, 0) + count


def restored(value: object) -> dict[str, Any] | None:
    """A state read back, with defaults for what an older version did not keep; None when it is damaged."""
    if not isinstance(value, dict) or value.get("schema") != settings.SCHEMA:
        return None
    state = {key: value.get(key, example) for key, example in new().items()}
    is_whole = all(_is_like(state[key], example) for key, example in new().items())
    is_whole = is_whole and all(_holds(state[key], kinds) for key, kinds in _ITEMS.items())
    return state if is_whole and _is_sound(state) else None


_ITEMS: dict[str, tuple[Any, ...]] = {
    "known": (str, str),
    "asks": (str, str),
    "told": (str, str),
    "earlier": (str, int),
    "fixed": (str, str),
    "todos": (str, str),
    "pending": (str, object),
    "files": (),
    "failed": (),
    "skills": (),
    "outside": (),
    "notes_read": (),
    "looked": (),
}
_POINT_TEXTS = ("what_was_done", "skill_used", "outcome")
_POINT_LISTS = ("what_remains", "files_changed", "tags", "learnings")
_FAR = 1e12  # seconds; a transcript may tell of the year 9999


def _is_like(value: object, example: object) -> bool:
    if example is None:
        return value is None or _is_number(value)
    return _is_number(value) if isinstance(example, (int, float)) else isinstance(value, type(example))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _FAR


def _holds(items: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether every item is a list of these kinds, or plain text when there are none."""
    for item in items.values() if isinstance(items, dict) else items:
        if not kinds:
            if not isinstance(item, str):
                return False
        elif not isinstance(item, list) or len(item) != len(kinds) or not all(map(isinstance, item, kinds)):
            return False
    return True


def _is_sound(state: dict[str, Any]) -> bool:
    """Whether the parts whose shape depends on what they are about have it."""
    counts = all(isinstance(count, int) and _is_number(count) for count in state["tools"].values())
    pending = all(_is_detail(name, detail) for name, detail in state["pending"].values())
    cursors = all(_is_flat(cursor) for cursor in (state["cursor"], *state["subagents"].values()))
    points = all(_is_point(point) for point in state["checkpoints"].values())
    return counts and pending and cursors and points and _is_former(state["former"])


def _is_former(former: dict[str, Any]) -> bool:
    """Whether it is what a state carries over, or nothing."""
    return not former or (former.keys() == {*_CARRIED} and restored({"schema": settings.SCHEMA, **former}) is not None)


def _is_flat(cursor: object) -> bool:
    """Whether it holds plain values, and lists of numbers: `transcript` looks at each of them."""
    values = list(cursor.values()) if isinstance(cursor, dict) else cursor if isinstance(cursor, list) else [cursor]
    values = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return all(isinstance(value, (str, int)) for value in values)


def _is_detail(tool: str, detail: object) -> bool:
    if tool == "TodoWrite":
        return isinstance(detail, dict) and _holds(detail, (str, str))
    if tool == "TaskUpdate":
        return isinstance(detail, list) and len(detail) == 3 and _holds(detail, ())
    return isinstance(detail, str)


def _is_point(point: object) -> bool:
    """Whether it is a checkpoint as `checkpoint.normalize` leaves it, or the mark of one whose words are not kept."""
    if not isinstance(point, dict) or not {"task", "rating"} <= point.keys():
        return point == {}
    texts = all(isinstance(point.get(key), str) for key in _POINT_TEXTS)
    lists = all(isinstance(point.get(key), list) and _holds(point[key], ()) for key in _POINT_LISTS)
    task, rating = point.get("task"), point.get("rating")
    return texts and lists and (task is None or _is_task(task)) and (rating is None or _is_number(rating))


def _is_task(task: object) -> bool:
    if not isinstance(task, dict) or not all(isinstance(task.get(key), str) for key in ("id", "title")):
        return False
    lists = (task.get("remaining") or [], task.get("blockers") or [])
    return all(isinstance(items, list) and _holds(items, ()) for items in lists)


def has_substance(state: dict[str, Any]) -> bool:
    """A prompt was answered, or something was done."""
    return bool(state["checkpoints"] or state["files"] or state["answer"] or (asks(state) and state["tools"]))


def open_todos(state: dict[str, Any]) -> list[str]:
    return [text for text, status in state["todos"].values() if status not in _DONE_STATUSES]


def asks(state: dict[str, Any]) -> list[str]:
    """What was asked, in order: as the transcript has it, what was known of it before it was read anew, then
    what only the hooks were told yet. One that was forgotten leaves its place, but no words."""
    return [text for _, text in (*_ends([*state["asks"], *state["known"]]), *state["told"]) if text]


def is_prompt(text: str) -> bool:
    """Whether a person said it, and not the client."""
    return bool(text.strip()) and not text.startswith(_NOT_A_PROMPT)


def told(state: dict[str, Any], prompt_id: str, prompt: str) -> bool:
    """A prompt from a hook's payload; True when it is news."""
    ask = _ask(state, prompt_id, prompt)
    if ask is None or any(_is_same(ask, known) for known in (*state["asks"][-1:], *state["told"])):
        return False
    _begin_turn(state)
    _add(state["told"], ask, settings.ASKS_KEPT_LAST)
    return True


def _asked(state: dict[str, Any], prompt_id: str, prompt: str) -> None:
    ask = _ask(state, prompt_id, prompt)
    if ask is None:
        return
    missed = _waiting(state, "known", ["", ask[1]])
    if missed is None:
        missed = _waiting(state, "told", ask)
        if state["known"] and (missed is not None or not state["asks"]):
            # The transcript begins in another way than it did, or goes on after less than it told.
            state["given_up"] = _SOME if state["asks"] else _ALL
            state["asks"], state["known"] = _ends([*state["asks"], *state["known"]]), []
    if prompt_id and ask in state["asks"]:
        return
    _begin_turn(state)
    state["asks"] = _ends([*state["asks"], *(missed or ()), ask])


def _waiting(state: dict[str, Any], key: str, ask: list[str]) -> list[list[str]] | None:
    """Take an ask from those the transcript was to bring, None when it is not among them.

    What stands before it there and did not come up in the transcript was asked all the same: that is returned."""
    at = next((number for number, known in enumerate(state[key]) if _is_same(ask, known)), -1)
    if at < 0:
        return None
    missed, state[key] = state[key][:at], state[key][at + 1 :]
    return list(missed)


def _ends(asked: list[list[str]]) -> list[list[str]]:
    return asked[: settings.ASKS_KEPT_FIRST] + asked[settings.ASKS_KEPT_FIRST :][-settings.ASKS_KEPT_LAST :]


def _ask(state: dict[str, Any], prompt_id: str, prompt: str) -> list[str] | None:
    if prompt.startswith("<task-notification>"):
        _keep_answer(state)
        state["turn_files"] = 0  # a background task reports back: a turn of its own, nobody asked
    if not is_prompt(prompt):
        return None
    return [prompt_id, brief(prompt, settings.ASK_CHARS)]


def _is_same(one: list[str], other: list[str]) -> bool:
    # Clients without prompt ids have only the text to tell by; a fork may reuse an id for other text.
    return one[1] == other[1] and (one[0] == other[0] or not one[0] or not other[0])


def _begin_turn(state: dict[str, Any]) -> None:
    _keep_answer(state)
    state["turn"] = ASKED
    state["turn_files"] = 0


def _keep_answer(state: dict[str, Any]) -> None:
    """Keep what the turn before said of its work: the last answer alone may be a "you're welcome"."""
    _settle(state)
    answer, files = state["answer"], state["turn_files"]
    if not answer or not (files or len(answer) >= settings.SUBSTANTIAL_CHARS):
        return
    kept = cut(answer, settings.EARLIER_CHARS)
    files = max([files, *(changed for text, changed in state["earlier"] if text == kept)])
    state["earlier"] = [*(each for each in state["earlier"] if each[0] != kept), [kept, files]]
    if len(state["earlier"]) > settings.EARLIER_KEPT:
        idle = [number for number, (_, changed) in enumerate(state["earlier"][:-1]) if not changed]
        del state["earlier"][(idle or [1])[0]]


def answered(state: dict[str, Any], text: str) -> None:
    if not text.strip():
        return
    state["turn"] = ANSWERED
    state["answer"] = answer_text(text)


def answer_text(text: str) -> str:
    return passage(text, settings.DONE_CHARS)


def absorb(state: dict[str, Any], entries: Iterable[dict[str, Any]], roots: tuple[str, ...]) -> None:
    """Take in transcript entries. `roots` are the project's directories, for relative paths."""
    try:
        for entry in entries:
            _absorb(state, entry, roots)
    finally:
        _settle(state)


def _settle(state: dict[str, Any]) -> None:
    said, left_out = state.pop(_SAID, ""), state.pop(_LEFT_OUT, None)
    if said:
        state["answer"] = answer_text(said)
    if left_out is not None:
        state["left_out"] = hexdigest(answer_text(left_out)) if left_out else ""


def is_left_out(state: dict[str, Any], message: str) -> bool:
    """Whether it is the transcript's last word, and from before `since`."""
    return bool(state["left_out"]) and state["left_out"] == hexdigest(answer_text(message))


def _absorb(state: dict[str, Any], entry: dict[str, Any], roots: tuple[str, ...]) -> None:
    kind = entry.get("type")
    if kind in ("custom-title", "ai-title", "summary"):
        title = entry.get("customTitle") or entry.get("aiTitle") or entry.get("title") or entry.get("summary")
        state["title"] = brief_of(title, settings.SUMMARY_LINE_CHARS) or state["title"]
        return
    if entry.get("isSidechain") or entry.get("isMeta") or entry.get("isCompactSummary"):
        return
    if kind == "user" and not state["root"]:
        state["root"] = identifier(entry.get("uuid"))
    at = clock.parse(entry.get("timestamp"))
    if state["since"] and at is not None:
        state[_LEFT_OUT] = (_words(entry) or state.get(_LEFT_OUT, "")) if at < state["since"] else ""
        if at < state["since"]:
            return
    _tick(state, at)
    branch = brief_of(entry.get("gitBranch"), settings.NAME_CHARS)
    if branch != "HEAD":  # detached, or no repository at all
        state["branch"] = branch or state["branch"]
    message = entry.get("message")
    if not isinstance(message, dict):
        return
    if kind == "assistant":
        _assistant(state, entry, message)
    elif kind == "user":
        _user(state, entry, message, roots)


def bound(state: dict[str, Any], modified: float) -> None:
    """Nothing was said long after the transcript was last written, whatever a wrong clock told."""
    for key in ("first", "last"):
        if state[key] is not None and state[key] > modified + settings.DAY_SECONDS:
            state[key] = modified


def absorb_subagent(state: dict[str, Any], entry: dict[str, Any], roots: tuple[str, ...]) -> None:
    """Take in an entry of a subagent: its deeds are the session's, its words are not."""
    if state["since"] and (clock.parse(entry.get("timestamp")) or 0.0) < state["since"]:
        return
    message = entry.get("message")
    blocks = _blocks(message.get("content")) if isinstance(message, dict) else []
    turn = state["turn"]
    for block in blocks:
        if block.get("type") == "tool_use" and block.get("name") in (*_FILE_TOOLS, *_SHELL_TOOLS):
            _tool_use(state, block)
        elif block.get("type") == "tool_result":
            _tool_result(state, entry, block, roots)
    state["turn"] = turn


def _tick(state: dict[str, Any], at: float | None) -> None:
    if at is None:
        return
    if state["first"] is None or state["last"] is None:
        state["first"] = state["last"] = at
    gap = at - state["last"]
    if 0 < gap <= settings.ACTIVE_GAP_SECONDS:
        state["worked_seconds"] = round(state["worked_seconds"] + gap, 3)
    state["last"] = max(at, state["last"])


def _words(entry: dict[str, Any]) -> str:
    """The last text in an entry of Claude's; "" in one of anybody else."""
    message = entry.get("message")
    blocks = _blocks(message.get("content")) if entry.get("type") == "assistant" and isinstance(message, dict) else []
    texts = [clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS) for block in blocks if block.get("type") == "text"]
    return next((text for text in reversed(texts) if text.strip()), "")


def _assistant(state: dict[str, Any], entry: dict[str, Any], message: dict[str, Any]) -> None:
    if entry.get("isApiErrorMessage"):
        state["turn"] = FAILED
        return
    model = brief_of(message.get("model"), settings.NAME_CHARS)
    if model == "<synthetic>":
        return  # the client's own filler: "No response requested."
    state["model"] = model or state["model"]
    for block in _blocks(message.get("content")):
        if block.get("type") == "text":
            said = clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS)
            if said.strip():
                state["turn"] = ANSWERED
                state[_SAID] = said
        elif block.get("type") == "tool_use":
            _tool_use(state, block)


def _tool_use(state: dict[str, Any], block: dict[str, Any]) -> None:
    name = brief_of(block.get("name"), settings.SKILL_CHARS)
    given = block.get("input")
    given = given if isinstance(given, dict) else {}
    state["turn"] = WORKING
    if name in state["tools"] or len(state["tools"]) < 60:
        state["tools"][name] = state["tools"].get(name, 0) + 1
    if name in _OUTSIDE_TOOLS or name.startswith("mcp__"):
        _add(state["outside"], name, 20)
    if name == "Skill":
        _add_skill(state, clean(given.get("skill") or given.get("command"), 200))
    if name == "Read":
        _note_read(state, clean(given.get("file_path"), settings.PATH_CHARS))
    detail: Any = None
    if name in _FILE_TOOLS:
        detail = _path(given.get(_FILE_TOOLS[name]))
    elif name in _SHELL_TOOLS:
        _note_looked_up(state, clean(given.get("command"), settings.PATH_CHARS))
        detail = brief_of(given.get("command"), settings.COMMAND_CHARS)
    elif name == "TodoWrite":
        detail = _todo_list(given.get("todos"))
    elif name == "TaskCreate":
        detail = brief_of(given.get("subject"), settings.ITEM_CHARS)
    elif name == "TaskUpdate":
        detail = [
            identifier(given.get("taskId")),
            _status(given.get("status")),
            brief_of(given.get("subject"), settings.ITEM_CHARS),
        ]
    if detail:
        _remember(state["pending"], identifier(block.get("id")), [name, detail])


def _note_read(state: dict[str, Any], path: str) -> None:
    if _TOPICS in path.replace("\\", "/") and path.endswith(".md"):
        _add(state["notes_read"], path, settings.FILES_IN_EPISODE)
        _add(state["looked"], os.path.basename(path), settings.FILES_IN_EPISODE)
    elif _EPISODE in path.replace("\\", "/"):
        _add(state["looked"], os.path.basename(path), settings.FILES_IN_EPISODE)


def _note_looked_up(state: dict[str, Any], command: str) -> None:
    """What our own command line was asked to show."""
    if invocation.SCRIPT not in command:
        return
    told = command.replace('"', "").replace("'", "").partition(_OWN_COMMAND)[2].split("\n", 1)[0]
    for word in told.split()[1:6]:
        if identifier(word.replace("/", "-").replace(".", "-")):
            _add(state["looked"], word, settings.FILES_IN_EPISODE)


def _user(state: dict[str, Any], entry: dict[str, Any], message: dict[str, Any], roots: tuple[str, ...]) -> None:
    content = message.get("content")
    texts: list[object] = [content] if isinstance(content, str) else []
    for block in _blocks(content):
        if block.get("type") == "tool_result":
            _tool_result(state, entry, block, roots)
        elif block.get("type") == "text" and "toolUseResult" not in entry:
            texts.append(block.get("text"))
    if not texts:
        return
    parts = [clean(part, settings.TEXT_FIELD_MAX_CHARS) for part in texts]
    text = "\n".join(part for part in parts if not part.startswith("<system-reminder>"))
    if text.startswith("[Request interrupted"):
        state["turn"] = INTERRUPTED
    elif text.startswith("<command-message>"):
        _typed_skill(state, identifier(entry.get("promptId")), text)
    else:
        _asked(state, identifier(entry.get("promptId")), text)


def _tool_result(state: dict[str, Any], entry: dict[str, Any], block: dict[str, Any], roots: tuple[str, ...]) -> None:
    name, detail = state["pending"].pop(identifier(block.get("tool_use_id")), ("", None))
    rich = entry.get("toolUseResult")
    failed = bool(block.get("is_error"))
    if isinstance(rich, dict):
        _edited_by_shell(state, rich.get("bashEditDiff"), roots)
    if not name:
        return
    if name in _SHELL_TOOLS:
        if not (failed and entry.get("toolDenialKind")):  # a refusal says nothing about the command
            _command(state, detail, failed)
    elif failed:
        return
    elif name in _FILE_TOOLS:
        _changed(state, detail, roots)
    elif name == "TodoWrite":
        state["todos"] = detail
    elif name == "TaskCreate":
        task = rich.get("task") if isinstance(rich, dict) else None
        number = identifier(task.get("id")) if isinstance(task, dict) else ""
        _remember(state["todos"], number or str(len(state["todos"]) + 1), [detail, "pending"])
    elif name == "TaskUpdate":
        _update_todo(state["todos"], *detail)


def _update_todo(todos: dict[str, Any], number: str, status: str, subject: str) -> None:
    if number in todos:
        text, old = todos[number]
        todos[number] = [subject or text, status or old]


def _status(value: object) -> str:
    return str(value) if value in _STATUSES else ""


def _todo_list(todos: object) -> dict[str, Any]:
    listed = [todo for todo in todos if isinstance(todo, dict)] if isinstance(todos, list) else []
    return {
        str(n): [
            brief_of(todo.get("content"), settings.ITEM_CHARS),
            _status(todo.get("status")) or "pending",
        ]
        for n, todo in enumerate(listed[: settings.PENDING_KEPT], 1)
    } or {"0": ["", "completed"]}


def _edited_by_shell(state: dict[str, Any], diff: object, roots: tuple[str, ...]) -> None:
    files = diff.get("files") if isinstance(diff, dict) else None
    for file in files if isinstance(files, list) else []:
        if isinstance(file, dict):
            _changed(state, _path(file.get("filePath")), roots)


def _path(value: object) -> str:
    told = clean(value, settings.PATH_CHARS)
    known = _paths.get(told)
    if known is None:
        if len(_paths) >= _PATHS_KEPT:
            _paths.clear()
        known = _paths[told] = redact(told)
    return known


def _changed(state: dict[str, Any], path: str, roots: tuple[str, ...]) -> None:
    relative = relative_path(path, roots)
    if not relative:
        return
    if settings.CHECKPOINT_PREFIX in relative:
        state["wrote_checkpoint"] = True  # not work, but word of it
        return
    state["turn_files"] += 1
    if relative not in state["files"]:
        state["files_total"] += 1
        _add(state["files"], relative, settings.FILES_KEPT)


def relative_path(path: str, roots: tuple[str, ...]) -> str:
    """The path below the project's root with forward slashes; "" for anything outside it."""
    known = _relatives.get((path, roots))
    if known is None:
        if len(_relatives) >= _PATHS_KEPT:
            _relatives.clear()
        known = _relatives[path, roots] = _relative_path(path.replace("\\", "/"), roots)
    return known


def _relative_path(path: str, roots: tuple[str, ...]) -> str:
    for root in roots:
        head = root.replace("\\", "/").rstrip("/") + "/"
        if os.path.normcase(path).startswith(os.path.normcase(head)):
            parts = [part for part in path[len(head) :].split("/") if part not in ("", ".")]
            return "" if ".." in parts or not parts else brief("/".join(parts), 1000)
    return ""


def _command(state: dict[str, Any], command: str, failed: bool) -> None:
    if not failed and ">" in command.partition(settings.CHECKPOINT_PREFIX)[0] and settings.CHECKPOINT_PREFIX in command:
        state["wrote_checkpoint"] = True
    if failed:
        _add(state["failed"], command, settings.FAILED_KEPT)
        return
    if not state["failed"]:
        return
    from . import commands

    earlier = commands.put_right(state["failed"], command)
    if earlier:
        _add(state["fixed"], [earlier, command], settings.FIXES_KEPT)


def _typed_skill(state: dict[str, Any], prompt_id: str, text: str) -> None:
    # Skills come with <command-message> first; the client's built-in commands the other way round.
    name = _between(text, "<command-name>", "</command-name>").lstrip("/")
    _add_skill(state, name)
    _asked(state, prompt_id, ("/%s %s" % (name, _between(text, "<command-args>", "</command-args>"))).strip())


def _add_skill(state: dict[str, Any], name: str) -> None:
    name = brief(name, settings.SKILL_CHARS)
    if name:
        if name in state["skills"]:
            state["skills"].remove(name)
        _add(state["skills"], name, 20)


def _between(text: str, left: str, right: str) -> str:
    return text.partition(left)[2].partition(right)[0]


def _blocks(content: object) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _add(items: list[Any], item: Any, limit: int) -> None:
    if item not in items:
        items.append(item)
        del items[: max(0, len(items) - limit)]


def _remember(items: dict[str, Any], key: str, value: Any) -> None:
    if key:
        items[key] = value
        while len(items) > settings.PENDING_KEPT:
            del items[next(iter(items))]
