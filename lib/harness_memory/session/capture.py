"""What a session did so far, kept as `capture.json` in its directory, so that each Stop reads only what is new.

Every text in it is redacted and cut before it enters. `transcript.absorb` adds what the transcript says; prompts and
answers from a hook's payload come in through `announce` and `answer_with`, and count once when the transcript repeats
them. What they say stays as statements, as many as an episode holds (see `digest`).
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..base.text import brief, cut, passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .digest import Statement

# How the last turn stands.
ASKED, WORKING, ANSWERED, INTERRUPTED, FAILED = "asked", "working", "answered", "interrupted", "failed"

SPEC = {
    **dict.fromkeys(("since?", "last?", "worked_seconds?"), "number"),
    **dict.fromkeys(("turn_files?", "files_total?", "number?"), "count"),
    **dict.fromkeys(("answer?", "turn?", "model?", "branch?", "title?", "root?", "ended?", "thread?", "leaf?"), "text"),
    **{key: ["text"] for key in ("files?", "failed?", "skills?", "outside?", "looked?", "read?", "owed?")},
    **{key: ["text"] for key in ("plan?", "commits?", "errors?", "rules?", "channels?", "closes?")},
    **{key: [("text", "text")] for key in ("asks?", "announced?", "fixed?")},
    "statements?": "any",  # `said_so_far` checks them
    "deeds?": [("count", "text", "text")],
    "steps?": {"*": "text"},
    "cursor?": "any",
    "subagents?": {"*": "any"},
    "todos?": {"*": ("text", "text")},
    "pending?": {"*": ("text", "any")},
    "tools?": {"*": "count"},
    "checkpoints?": {"*": {"*": "any"}},
    "reports?": ["text"],
}
_PLAN = "implement the following plan:"
_NOT_A_PROMPT = (
    *("<command-name>", "<command-message>", "<local-command-", "<task-notification>", "<system-reminder>"),
    *("<bash-", "<user-memory-input>", "[Request interrupted", "Stop hook feedback:"),
)


class Capture:
    """The state of one session; each slot from SPEC is a field of the file."""

    __slots__ = (*(field[:-1] for field in SPEC), "_said", "notes_read", "said", "settled")

    def __init__(self, since: float = 0.0) -> None:
        self.since = since  # earlier entries are a fork's inherited history, or forgotten
        self.cursor: Any = None  # place in the transcript
        self.subagents: dict[str, Any] = {}  # file name → place in it
        self.announced: list[list[str]] = []  # [prompt id, text] that the transcript does not show (again) yet
        self.answer = ""
        self.said = self.settled = ""  # the last words read, not redacted; those that `answer` was made of
        self.number = 0  # of the turn
        self.statements: list[Any] = []  # what prompts and answers say, packed: see `said_so_far`
        self._said: list[Statement] | None = None
        self.plan: list[str] = []  # the title and the steps of the plan that was given or accepted
        self.rules: list[str] = []  # lasting wishes, in the user's words
        self.commits: list[str] = []  # their subjects
        self.errors: list[str] = []  # what commands complained about
        self.channels: list[str] = []
        self.closes: list[str] = []  # hashes of earlier sessions' open steps that this one says it has done
        self.read: list[str] = []  # files, relative to the project's root like those changed
        self.files: list[str] = []
        self.files_total = 0  # with those no longer in `files`
        self.fixed: list[list[str]] = []  # [command that failed, form that passed]
        self.skills: list[str] = []
        self.outside: list[str] = []  # tools that brought in text from outside the machine
        self.steps: dict[str, str] = {}  # note → what became of the step it requires, and at which deed
        self.owed: list[str] = []  # steps to mention with the next prompt
        self.model = self.branch = self.title = self.ended = self.thread = self.leaf = ""
        self.reports: list[str] = []  # names of checkpoint files that it wrote and that wait to be taken
        self.checkpoints: dict[str, dict[str, Any]] = {}  # artifact → it, as `checkpoint.normalize` returns it
        self.notes_read: list[str] = []  # paths of notes read in this run
        self.looked: list[str] = []  # what our own commands were asked to show
        self._reset()

    def _reset(self) -> None:
        """What is counted again when a transcript is read from its start."""
        self.asks: list[list[str]] = []  # [prompt id, text]
        self.turn, self.turn_files = "", 0
        self.todos: dict[str, list[str]] = {}  # number → [text, status]
        self.pending: dict[str, list[Any]] = {}  # tool call → [tool, detail] until its result comes
        self.failed: list[str] = []
        self.deeds: list[list[Any]] = []  # [number, "path" or "command", what], each once, in order
        self.tools: dict[str, int] = {}
        self.root = ""  # the first entry's id: forks share it
        self.last: float | None = None
        self.worked_seconds = 0.0

    def restart(self) -> None:
        """Prepare for a rewritten transcript: what it says again counts once, what it lost stays."""
        self.end_turn()
        self.announced = _ends([*self.asks, *self.announced])
        self.subagents = {}
        self._reset()

    def prompts(self) -> list[str]:
        """What was asked, in order; a forgotten prompt keeps its place without words."""
        return [text for _, text in _ends([*self.asks, *self.announced]) if text]

    def said_so_far(self) -> list[Statement]:
        """What prompts and answers say; a prompt's hook leaves it packed. Damaged, it is read from the transcript."""
        if self._said is None:
            from . import digest

            try:
                self._said = digest.unpacked(self.statements) if self.statements else []
            except (TypeError, ValueError, AttributeError):
                self._said, self.cursor = [], [0, -1]
        return self._said

    def open_todos(self) -> list[str]:
        return [text for text, status in self.todos.values() if status not in ("completed", "deleted", "cancelled")]

    def has_substance(self) -> bool:
        """Whether a prompt was answered, or something was done; to look into this memory alone is neither."""
        asked = self.prompts()
        if asked and all(is_housekeeping(ask) for ask in asked):
            return bool(self.checkpoints or self.files)
        return bool(self.checkpoints or self.files or self.answer or (self.tools and asked))

    def announce(self, prompt_id: str, prompt: str, now: float = 0.0) -> bool:
        """Add a prompt from a hook's payload; False when it is not new."""
        ask = self._ask(prompt_id, prompt)
        if ask is None or any(_is_same(ask, other) for other in (*self.asks[-1:], *self.announced)):
            return False
        self.end_turn()
        self.turn, self.announced = ASKED, _ends([*self.announced, ask])
        self._add_rules(prompt, now)
        return True

    def add_prompt(self, prompt_id: str, prompt: str) -> None:
        """Add a prompt from the transcript."""
        ask = self._ask(prompt_id, prompt)
        if ask is not None and not (prompt_id and ask in self.asks):
            self.end_turn()
            at = next((number for number, other in enumerate(self.announced) if _is_same(ask, other)), -1)
            self.turn, self.asks = ASKED, _ends([*self.asks, *self.announced[: max(at, 0)], ask])
            self.announced = self.announced[at + 1 :]
            is_again = ask[1][-1:] != "…" and ask[1] in [text for _, text in self.asks[:-1]]
            if at < 0 and not is_again:
                self._add_rules(prompt, self.last or 0.0)
            self._take("u", passage(prompt, settings.TURN_CHARS))

    def _ask(self, prompt_id: str, prompt: str) -> list[str] | None:
        if prompt.startswith("<task-notification>"):  # a background task reports back: a turn without a prompt
            self.end_turn()
        return [prompt_id, brief(prompt, settings.ASK_CHARS)] if is_prompt(prompt) else None

    def _add_rules(self, prompt: str, at: float) -> None:
        if prompt.rstrip()[-1:] in "?？" and not any(end in prompt.strip() for end in (". ", "! ", "; ", "。", "\n")):
            return  # a lone question is no rule, and every fourth prompt is one
        from . import rules

        known = {rule.partition(": ")[2] for rule in self.rules}
        new = [rule for rule in rules.stated(prompt) if rule not in known]
        self.rules = [*self.rules, *("%s: %s" % (clock.iso(at)[:10], rule) for rule in new)][-settings.RULES_KEPT :]

    def do(self, kind: str, what: str) -> None:
        """Note a file that was changed, or a command that was run with success."""
        number = self.deeds[-1][0] + 1 if self.deeds else 1
        others = [deed for deed in self.deeds if deed[1:] != [kind, what]]
        self.deeds = [*others, [number, kind, what]][-settings.DEEDS_KEPT :]

    def end_turn(self) -> None:
        self.settle()
        self.number += 1
        self.turn_files = 0

    def settle(self) -> None:
        """Redact and digest the last words read, now that they are known to be the last."""
        if self.said != self.settled:
            text = passage(self.said, settings.TURN_CHARS)
            self.answer, self.settled = cut(text, settings.DONE_CHARS), self.said
            self._take("c", text)

    def _take(self, by: str, text: str) -> None:
        """Replace what this turn's prompt or answer says; what is said again stands once."""
        if is_housekeeping(next(reversed(self.prompts()), "")):
            return
        from . import digest  # which a prompt's hook does not need

        if by == "u":
            if text.lower().startswith(_PLAN):
                self.plan = digest.plan_steps(text.partition(":")[2]) or self.plan
            self._keep(digest.of_prompt(text, self.number), by)
            return
        about = [each.text for each in self.said_so_far() if each.turn == self.number and each.by == "u"]
        about += self.files[-self.turn_files :] if self.turn_files else []
        subject = digest.stems(digest.words_of(" ".join(about)))
        self._keep(digest.of_answer(text, self.number, subject, bool(self.turn_files)), by)

    def _keep(self, newer: list[Statement], by: str = "") -> None:
        """Add statements, in place of those that this turn's words `by` the same side were, and of the same words."""
        from . import digest

        added, texts = {(each.by, each.text): each for each in newer}, {each.text for each in newer}
        number = self.number
        known = [
            each
            for each in self.said_so_far()
            if (each.turn != number or each.by != by) and (each.text not in texts or (each.by, each.text) not in added)
        ]
        digest.settle(known, newer, number)
        self._said = [*known, *added.values()]
        if by != "u":  # an answer follows
            self._said = digest.fitted(self._said)

    def note_summary(self, summary: str) -> None:
        """Take in the block that PreCompact asked the client's summary for."""
        block = summary.rpartition(settings.SUMMARY_BLOCK[0])[2].partition(settings.SUMMARY_BLOCK[1])[0]
        if len(block) < len(summary):
            from .digest import of_summary

            self._keep(of_summary(passage(block, settings.TURN_CHARS), self.number))

    def answer_with(self, message: str) -> None:
        if message.strip():
            self.turn, self.said = ANSWERED, message
            self.settle()

    def has_answer(self, message: str) -> bool:
        return self.turn == ANSWERED and (
            message == self.said or self.answer == cut(passage(message, settings.TURN_CHARS), settings.DONE_CHARS)
        )


def keep(items: list[Any], item: Any, limit: int) -> None:
    """Put an item that is not empty last, once, and let the oldest go."""
    items[:] = [*(each for each in items if each != item), *filter(None, [item])][-limit:]


def is_prompt(text: str) -> bool:
    """Whether a person said it, not the client."""
    return bool(text.strip()) and not text.startswith(_NOT_A_PROMPT)


def is_housekeeping(ask: str) -> bool:
    """Whether a prompt is about this memory, not about the work."""
    return ask.startswith("/harness-")


def _is_same(one: list[str], other: list[str]) -> bool:
    # Clients without prompt ids have only the text to compare; a fork may reuse an id for other text.
    return one[1] == other[1] and (one[0] == other[0] or not one[0] or not other[0])


def _ends(items: list[list[str]]) -> list[list[str]]:
    return items[: settings.ASKS_KEPT_FIRST] + items[settings.ASKS_KEPT_FIRST :][-settings.ASKS_KEPT_LAST :]


def load(directory: str, *, is_owner: bool = False) -> Capture:
    """The state in a session's directory, a new one when it is missing or damaged; the owner moves that aside."""
    path = os.path.join(directory, settings.CAPTURE_FILE)
    value, problem = files.read_json(path, SPEC)
    if problem and is_owner:
        files.move(path, path + settings.DAMAGED_SUFFIX)
    state = Capture()
    for field in [field[:-1] for field in SPEC if value and value.get(field[:-1]) is not None]:
        setattr(state, field, value[field])
    return state


def save(directory: str, state: Capture) -> None:
    if state._said is not None:
        from . import digest

        state.statements = digest.packed(state._said)
    value = {"schema": settings.SCHEMA, **{field[:-1]: getattr(state, field[:-1]) for field in SPEC}}
    files.write(os.path.join(directory, settings.CAPTURE_FILE), jsontext.compact(value) + "\n")
