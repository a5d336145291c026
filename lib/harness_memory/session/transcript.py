"""Claude Code's transcript: reading what was appended since the last time, and what it says about the work.

It is JSON Lines, one entry a line, and most of its bytes are entries that say nothing about the work (request
snapshots, attachments, tool output). Those are recognised by their first bytes and skipped unparsed.

A place in it is [offset of the next unread line, checksum of the bytes before it]. A file with other bytes there was
rewritten and is read from its start, as after any other value (older versions had other forms).
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..base.text import brief, brief_of, clean, cut, identifier, passage
from ..base.typing import Any, Callable, Iterable, Iterator
from ..project import relative_path
from . import capture, digest
from .capture import ANSWERED, ASKED, FAILED, INTERRUPTED, WORKING, Capture, keep
from .digest import Statement

_O_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # follows links, unlike our files
_TEXT_CHARS = settings.TEXT_FIELD_MAX_CHARS
_TITLES = ("custom-title", "ai-title")
_WANTED_FIRST = frozenset(name.encode() for name in ("user", "assistant", *_TITLES))

_FILE_TOOLS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_SHELL_TOOLS = ("Bash", "PowerShell")
_NAMES_KEPT = 20
_PLAN = "implement the following plan:"
_OURS = ("/%s/%s/" % (settings.LEARNING_DIR, settings.TOPICS_DIR), "/%s/" % settings.EPISODES_DIR)


class Reading:
    __slots__ = ("file", "is_restart", "place")

    def __init__(self, path: str, place: Any) -> None:
        """Raises OSError when the file is missing, not a plain file, or another user's."""
        fd = files.open_plain(path, _O_READ)
        size = os.fstat(fd).st_size
        self.file = os.fdopen(fd, "rb", settings.TRANSCRIPT_CHUNK_BYTES)
        offset = place[0] if isinstance(place, list) and place and isinstance(place[0], int) else 0
        self.is_restart = self._place(max(0, min(offset, size))) != place
        self.place = [0, 0] if self.is_restart else list(place)

    def entries(self, has_time: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Entries that matter, oldest first; `place` moves past each whole line read."""
        self.file.seek(self.place[0])
        size, part = 0, b"-"  # a line may come in parts
        while part and has_time():
            part = self.file.readline(settings.TRANSCRIPT_LINE_MAX_BYTES)
            size += len(part)
            if part[-1:] == b"\n":
                self.place[0] += size
                is_whole, size = size == len(part), 0
                try:
                    entry = jsontext.loads(part) if is_whole and _is_wanted(part) else None
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield entry
        self.place = self._place(self.place[0])

    def _place(self, offset: int) -> list[int]:
        size = min(512, offset)
        self.file.seek(offset - size)
        # By arithmetic, as loading `zlib` takes a millisecond.
        return [offset, int.from_bytes(self.file.read(size), "big") % (2**31 - 1)]


def _is_wanted(line: bytes) -> bool:
    # Inside JSON strings quotes are escaped, so `"type":"user"` cannot come from a text.
    if line[:9] == b'{"type":"':
        return line[9 : line.find(b'"', 9)] in _WANTED_FIRST
    start, space = line[:200], b" " if b'": "' in line[:200] else b""
    if b'"attachment":{' in start:
        return False
    return b'"type":%b"user"' % space in line or b'"type":%b"assistant"' % space in line


def blocks(entry: dict[str, Any]) -> list[dict[str, Any]]:
    content = _dict(entry.get("message")).get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else _dicts(content)


def absorb(state: Capture, entries: Iterable[dict[str, Any]], roots: tuple[str, ...]) -> None:
    """Add the entries of a session, of its subagents what they did; `roots` are the project's directories."""
    for entry in entries:
        kind, at = entry.get("type"), clock.parse(entry.get("timestamp"))
        is_own = not (entry.get("isSidechain") or entry.get("isMeta") or entry.get("isCompactSummary"))
        if kind == "user" and is_own and not state.root:
            state.root = identifier(entry.get("uuid"))
        if at is not None and at < state.since:
            continue
        if entry.get("isSidechain"):
            _add_blocks(state, entry, roots)
        elif entry.get("isCompactSummary"):
            summary = "".join([clean(each.get("text"), _TEXT_CHARS) for each in blocks(entry)])
            block = summary.rpartition(settings.SUMMARY_BLOCK[0])[2].partition(settings.SUMMARY_BLOCK[1])[0]
            if len(block) < len(summary):
                _keep(state, digest.of_summary(passage(block, settings.TURN_CHARS), state.number), "")
        elif kind in _TITLES:
            title = brief_of(entry.get("customTitle") or entry.get("aiTitle"), settings.SUMMARY_LINE_CHARS)
            state.title = title or state.title
        elif is_own:
            _add_entry(state, entry, at or state.last, roots)
    settle(state)
    for items in (state.pending, state.todos):
        for key in [*items][:-64]:
            del items[key]


def _add_entry(state: Capture, entry: dict[str, Any], at: float, roots: tuple[str, ...]) -> None:
    pause = at - (state.last or at)
    if 0 < pause <= 30 * 60:  # a longer one is not work
        state.worked_seconds = round(state.worked_seconds + pause, 3)
    state.last = max(at, state.last)
    branch = brief_of(entry.get("gitBranch"), settings.NAME_CHARS)
    if branch != "HEAD":  # detached, or no repository at all
        state.branch = branch or state.branch
    if entry.get("type") == "user":
        texts = _add_blocks(state, entry, roots)
        if texts:
            _add_prompt(state, entry, "\n".join(text for text in texts if not text.startswith("<system-reminder>")))
    elif entry.get("isApiErrorMessage"):
        state.turn = FAILED
    elif entry.get("type") == "assistant":
        model = brief_of(_dict(entry.get("message")).get("model"), settings.NAME_CHARS)
        if model != "<synthetic>":  # the client's own filler: "No response requested."
            state.model = model or state.model
            _add_blocks(state, entry, roots)


def _add_blocks(state: Capture, entry: dict[str, Any], roots: tuple[str, ...]) -> list[str]:
    """Add tool calls, results and answers, of a subagent what changes files; the texts of the entry."""
    texts, is_own = [], not entry.get("isSidechain")
    for block in blocks(entry):
        kind = block.get("type")
        if is_own and "\n" in state.said.strip():  # a report: it counts beside the last words of its turn
            settle(state)
        if kind == "tool_result":
            _add_result(state, entry, block, roots)
        elif kind == "tool_use" and (is_own or block.get("name") in (*_FILE_TOOLS, *_SHELL_TOOLS)):
            _add_call(state, block, clean(entry.get("cwd"), settings.PATH_CHARS), roots)
            state.turn = WORKING if is_own else state.turn
        elif is_own and kind == "text" and "toolUseResult" not in entry:
            texts.append(clean(block.get("text"), _TEXT_CHARS))
            if entry.get("type") == "assistant" and texts[-1].strip():
                state.turn, state.said = ANSWERED, texts[-1]
    return texts


def _add_prompt(state: Capture, entry: dict[str, Any], text: str) -> None:
    if text.startswith("[Request interrupted"):
        state.turn = INTERRUPTED
    # Skills come with <command-message> first; the client's built-in commands the other way round.
    if text.startswith("<command-message>"):
        name = text.partition("<command-name>")[2].partition("</command-name>")[0].lstrip("/")
        arguments = text.partition("<command-args>")[2].partition("</command-args>")[0]
        keep(state.skills, brief(name, settings.SKILL_CHARS), _NAMES_KEPT)
        text = ("/%s %s" % (name, arguments)).strip()
    ask = [identifier(entry.get("promptId")), brief(text, settings.ASK_CHARS)]
    if text.startswith("<task-notification>"):
        _begin_turn(state)  # without a prompt: a background task reports back
    if not capture.is_prompt(text) or (ask[0] and ask in state.asks):
        return
    _begin_turn(state)
    at = next((number for number, other in enumerate(state.announced) if capture.is_same(ask, other)), -1)
    if at < 0 and ask[1] not in [asked for _, asked in state.asks]:  # else its rules are known
        state.add_rules(text, state.last)
    state.turn, state.asks = ASKED, capture.ends([*state.asks, *state.announced[: max(at, 0)], ask])
    state.announced = state.announced[at + 1 :]
    if not capture.is_housekeeping(ask[1]):
        text = passage(text, settings.TURN_CHARS)
        if text.lower().startswith(_PLAN):
            state.plan = digest.plan_steps(text.partition(":")[2]) or state.plan
        _keep(state, digest.of_prompt(text, state.number), "u")


def restart(state: Capture) -> None:
    """Prepare for a new or rewritten transcript: what it says again counts once, what it lost stays."""
    _begin_turn(state)
    state.announced = capture.ends([*state.asks, *state.announced])
    state.clear(capture.RESET)


def _begin_turn(state: Capture) -> None:
    settle(state)
    state.number, state.turn_files = state.number + 1, 0


def settle(state: Capture) -> None:
    if state.said != state.settled:
        text, is_more = passage(state.said, settings.TURN_CHARS), "\n" in state.answer
        state.answer, state.settled = cut(text, settings.DONE_CHARS), state.said
        if not capture.is_housekeeping(next(reversed(state.prompts()), "")):
            about = [each.text for each in state.words if each.turn == state.number and each.by == "u"]
            about += state.files[len(state.files) - state.turn_files :]
            subject = digest.stems(digest.words_of(" ".join(about)))
            newer = digest.of_answer(text, state.number, subject, bool(state.turn_files))
            _keep(state, newer, "c", is_more)
            state.words = digest.fitted(state.words)


def _keep(state: Capture, newer: list[Statement], by: str, is_more: bool = False) -> None:
    """Add statements, in place of the same words, and of what this turn said before, unless they are more of it."""
    added, number = {(each.by, each.text): each for each in newer}, state.number
    lasting = frozenset("wdf" if state.turn_files else "wdflso") if is_more else frozenset()  # no plan of this work
    earlier = [each for each in state.words if (each.by, each.text) not in added]
    known = [each for each in earlier if each.turn != number or each.by != by or not lasting.isdisjoint(each.kinds)]
    digest.settle(known, newer, number, is_more)
    state.words = [*known, *added.values()]


def _add_call(state: Capture, block: dict[str, Any], cwd: str, roots: tuple[str, ...]) -> None:
    name, options = brief_of(block.get("name"), settings.SKILL_CHARS), _dict(block.get("input"))
    subject = brief_of(options.get("subject"), settings.ITEM_CHARS)
    state.calls += 1
    detail: Any = ""  # what its result will be about
    if name in ("WebFetch", "WebSearch") or name.startswith("mcp__"):
        keep(state.outside, name, _NAMES_KEPT)
    elif name == "Skill":
        skill = clean(options.get("skill") or options.get("command"), 200)
        keep(state.skills, brief(skill, settings.SKILL_CHARS), _NAMES_KEPT)
    elif name == "Read":
        path = clean(options.get("file_path"), settings.PATH_CHARS).replace("\\", "/")
        _add_looked(state, [path.rpartition("/")[2]] if any(folder in path for folder in _OURS) else [])
        keep(state.read, relative_path(path, roots), settings.FILES_IN_EPISODE)
    elif name in _FILE_TOOLS:
        detail = brief_of(options.get(_FILE_TOOLS[name]), settings.PATH_CHARS)
    elif name in _SHELL_TOOLS:
        from . import shell

        command = clean(options.get("command"), _TEXT_CHARS)
        asked = command.replace('"', "").replace("'", "").partition("harness memory ")[2]
        _add_looked(state, asked.partition("\n")[0].split()[1:6])
        message = brief_of(shell.message(command), settings.SUMMARY_LINE_CHARS)
        written = [os.path.join(cwd, path) for path in shell.written(command)]
        detail = [brief(passage(command, 200).replace("\n", "; "), 200), message, *written]
    elif name == "ExitPlanMode":
        detail = digest.plan_steps(passage(clean(options.get("plan"), settings.TURN_CHARS), settings.TURN_CHARS))
    elif name == "TodoWrite":
        todos = _dicts(options.get("todos"))[:64]
        texts = [brief_of(todo.get("content"), settings.ITEM_CHARS) for todo in todos]
        states = [brief_of(todo.get("status"), 20) for todo in todos]
        state.todos = {str(number): [*todo] for number, todo in enumerate(zip(texts, states), 1)}
    elif name == "TaskCreate":
        detail = subject
    elif name == "TaskUpdate" and identifier(options.get("taskId")) in state.todos:
        todo = state.todos[options["taskId"]]
        todo[:] = subject or todo[0], brief_of(options.get("status"), 20) or todo[1]
    if detail != "":
        state.pending[identifier(block.get("id"))] = [name, detail]


def _add_result(state: Capture, entry: dict[str, Any], block: dict[str, Any], roots: tuple[str, ...]) -> None:
    name, detail = state.pending.pop(identifier(block.get("tool_use_id")), ["", ""])
    is_error, rich = bool(block.get("is_error")), _dict(entry.get("toolUseResult"))
    paths = [file.get("filePath") for file in _dicts(_dict(rich.get("bashEditDiff")).get("files"))]
    if is_error and (name not in _SHELL_TOOLS or entry.get("toolDenialKind")):
        name = ""  # a refusal says nothing about the command
    if name in _SHELL_TOOLS:
        from . import shell

        if not is_error:
            state.do("command", detail[0])
        paths += shell.add_result(state, block, detail, is_error) if not paths else []
    elif name == "ExitPlanMode":
        state.plan = detail
    elif name in _FILE_TOOLS:
        paths.append(detail)
    elif name == "TaskCreate":
        number = identifier(_dict(rich.get("task")).get("id")) or str(len(state.todos) + 1)
        state.todos[number] = [detail, "pending"]
    for path in (brief_of(each, settings.PATH_CHARS) for each in paths):
        relative = relative_path(path, roots)
        if settings.CHECKPOINT_PREFIX in (file := relative.rpartition("/")[2]):  # a report of work, not work
            said, is_ours = str(detail), ".claude/" + file in [relative_path(path, (root,)) for root in roots]
            is_written = name in _FILE_TOOLS or "{" in said or "<<" in said  # not copied, unpacked or pulled
            if is_ours and is_written and file in said:
                keep(state.reports, file, 12)
        elif relative:
            state.turn_files += 1
            state.do("path", relative)
            keep(state.files, relative, 200)


def _add_looked(state: Capture, words: list[str]) -> None:
    """Note what the session looked up of our memory: a note or an episode it read, what it asked our commands for."""
    for word in words:
        keep(state.looked, brief_of(word, settings.NAME_CHARS), settings.FILES_IN_EPISODE)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
