"""What a session did so far, kept as `capture.json` in its directory, so that each Stop reads only what is new.

Every text in it is redacted and cut before it enters. `transcript` adds what the transcript says; a prompt from a
hook's payload comes in through `announce`, and counts once when the transcript repeats it. What prompts and answers
say stays as statements, as many as an episode holds (see `digest`).
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..base.text import brief
from ..base.typing import Any, Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .digest import Statement

# How the last turn stands.
ASKED, WORKING, ANSWERED, INTERRUPTED, FAILED = "asked", "working", "answered", "interrupted", "failed"

_KINDS: dict[str, Any] = {  # what a field of that type holds, see `shape`
    "float": "number", "int": "count", "str": "text",
    "list[str]": ["text"], "list[Any]": ["any"],
    "list[list[str]]": [("text", "text")], "list[list[Any]]": [("count", "text", "text")],
    "dict[str, str]": {"*": "text"}, "dict[str, Any]": {"*": "any"},
    "dict[str, list[str]]": {"*": ("text", "text")}, "dict[str, list[Any]]": {"*": ("text", "any")},
    "dict[str, dict[str, Any]]": {"*": {"*": "any"}},
}  # fmt: skip
_EMPTY = {"number": 0.0, "count": 0, "text": ""}
# What is counted again when a transcript is read from its start.
RESET = ("asks", "todos", "pending", "failed", "deeds", "calls", "root", "last", "worked_seconds", "places")
_NOT_A_PROMPT = (
    *("<command-name>", "<command-message>", "<local-command-", "<task-notification>", "<system-reminder>"),
    *("<bash-", "<user-memory-input>", "[Request interrupted", "Stop hook feedback:"),
)


class Capture:
    """The state of one session: the fields of the file, each empty at first, and what only this run knows."""

    since: float  # earlier entries are a fork's inherited history, or forgotten
    last: float  # the time of the last entry
    worked_seconds: float
    places: dict[str, Any]  # in the transcript, under "", and in those of subagents, under their file names
    asks: list[list[str]]  # [prompt id, text]
    announced: list[list[str]]  # those that the transcript does not show (again) yet
    answer: str
    number: int  # of the turn
    turn: str
    turn_files: int
    statements: list[Any]  # what prompts and answers say, packed by `digest`
    plan: list[str]  # the title and the steps of the plan that was given or accepted
    rules: list[str]  # lasting wishes, in the user's words
    commits: list[str]  # their subjects
    errors: list[str]  # what commands complained about
    closes: list[str]  # hashes of earlier sessions' open steps that this one says it has done
    read: list[str]  # files, relative to the project's root like those changed
    files: list[str]
    failed: list[str]
    fixed: list[list[str]]  # [command that failed, form that passed]
    skills: list[str]
    outside: list[str]  # tools that brought in text from outside the machine
    calls: int  # of tools
    deeds: list[list[Any]]  # [number, "path" or "command", what], each once, in order
    steps: dict[str, str]  # note → what became of the step it requires, and at which deed
    owed: list[str]  # steps to mention with the next prompt
    todos: dict[str, list[str]]  # number → [text, status]
    pending: dict[str, list[Any]]  # tool call → [tool, detail] until its result comes
    reports: list[str]  # names of checkpoint files that it wrote and that wait to be taken
    checkpoints: dict[str, dict[str, Any]]  # artifact → it, as `checkpoint.normalize` returns it
    looked: list[str]  # what our own commands were asked to show
    model: str
    branch: str
    title: str
    ended: str
    thread: str
    root: str  # the first entry's id: forks share it

    __slots__ = (*__annotations__, "episode", "is_changed", "is_whole", "said", "settled", "words")

    def __init__(self, since: float = 0.0) -> None:
        self.clear(FIELDS)
        self.since = since
        self.said = self.settled = ""  # the last words read, not redacted; those that `answer` was made of
        self.words: list[Statement] = []  # `statements`, unpacked
        self.is_whole = True  # False: time ran out before the transcript's end, the next run goes on
        self.episode: dict[str, Any] | None = None  # None for a session without substance
        self.is_changed = False  # the episode was written and views are behind

    def clear(self, fields: Iterable[str]) -> None:
        for field in fields:
            kind = FIELDS[field]
            setattr(self, field, _EMPTY[kind] if isinstance(kind, str) else type(kind)())

    def prompts(self) -> list[str]:
        """What was asked, in order; a forgotten prompt keeps its place without words."""
        return [text for _, text in ends([*self.asks, *self.announced]) if text]

    def open_todos(self) -> list[str]:
        return [text for text, status in self.todos.values() if status not in ("completed", "deleted", "cancelled")]

    def has_substance(self) -> bool:
        """Whether a prompt was answered, or something was done; to look into this memory alone is neither."""
        asked = self.prompts()
        is_work = not asked or not all(map(is_housekeeping, asked))
        return bool(self.checkpoints or self.files or (is_work and (self.answer or (self.calls and asked))))

    def announce(self, prompt_id: str, prompt: str, now: float = 0.0) -> bool:
        """Add a prompt from a hook's payload; False when it is not new."""
        ask = [prompt_id, brief(prompt, settings.ASK_CHARS)]
        if not is_prompt(prompt) or any(is_same(ask, other) for other in (*self.asks[-1:], *self.announced)):
            return False
        self.number, self.turn_files = self.number + 1, 0
        self.turn, self.announced = ASKED, ends([*self.announced, ask])
        self.add_rules(prompt, now)
        return True

    def add_rules(self, prompt: str, at: float) -> None:
        if prompt.rstrip()[-1:] in "?？" and not any(end in prompt.strip() for end in (". ", "! ", "; ", "。", "\n")):
            return  # a lone question states no rule, and every fourth prompt is one
        from . import rules

        known = {rule.partition(": ")[2] for rule in self.rules}
        new = [rule for rule in rules.stated(prompt) if rule not in known]
        self.rules = [*self.rules, *("%s: %s" % (clock.iso(at)[:10], rule) for rule in new)][-settings.RULES_KEPT :]

    def do(self, kind: str, what: str) -> None:
        """Note a file that was changed, or a command that was run with success."""
        number = self.deeds[-1][0] + 1 if self.deeds else 1
        others = [deed for deed in self.deeds if deed[1:] != [kind, what]]
        self.deeds = [*others, [number, kind, what]][-120:]


FIELDS: dict[str, Any] = {name: _KINDS[kind] for name, kind in Capture.__annotations__.items()}
SPEC = {name + "?": kind for name, kind in FIELDS.items()}


def keep(items: list[Any], item: Any, limit: int) -> None:
    """Put an item that is not empty last, once, and let the oldest go."""
    items[:] = [*(each for each in items if each != item), *filter(None, [item])][-limit:]


def is_prompt(text: str) -> bool:
    """Whether a person said it, not the client."""
    return bool(text.strip()) and not text.startswith(_NOT_A_PROMPT)


def is_housekeeping(ask: str) -> bool:
    """Whether a prompt is about this memory, not about the work."""
    return ask.startswith("/harness-")


def is_same(one: list[str], other: list[str]) -> bool:
    # Clients without prompt ids have only the text to compare; a fork may reuse an id for other text.
    return one[1] == other[1] and (one[0] == other[0] or not one[0] or not other[0])


def ends(items: list[list[str]]) -> list[list[str]]:
    return items[: settings.ASKS_KEPT_FIRST] + items[settings.ASKS_KEPT_FIRST :][-settings.ASKS_KEPT_LAST :]


def load(directory: str, *, is_owner: bool = False) -> Capture:
    """The state in a session's directory, a new one when it is missing or damaged; the owner moves that aside."""
    path = os.path.join(directory, settings.CAPTURE_FILE)
    value, problem = files.read_json(path, SPEC)
    if problem and is_owner:
        files.move(path, path + settings.DAMAGED_SUFFIX)
    state = Capture()
    for field in FIELDS if value else ():
        if value.get(field) is not None:
            setattr(state, field, value[field])
    return state


def save(directory: str, state: Capture) -> None:
    value = {"schema": settings.SCHEMA, **{field: getattr(state, field) for field in FIELDS}}
    files.write(os.path.join(directory, settings.CAPTURE_FILE), jsontext.compact(value) + "\n")
