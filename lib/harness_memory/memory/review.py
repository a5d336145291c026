"""What waits for a person's word: rules, decisions and lessons that sessions left; and what became of rules.

    LEARNING/SIGNALS/rules.jsonl   {"at", "event", "key" of an item, "note" (its ref), "session"}, one event a line:
                                   accepted, rejected, required, followed
    STATE/review.json              a view: {"schema", "waiting", "rules": [{"text", "day", "session", "times"}]}

An item is known by its gist, so that what was rejected once is never offered again, and what a note says not at all.
A rule in doubt (see `session.rules`) waits too, but is not among the view's rules until the user says it again.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings, shape
from ..base.text import hexdigest
from ..base.typing import Any, Fields, Iterable
from ..session.episode import DOUBTS

KINDS = {"rule": "rules", "decision": "decisions", "lesson": "learnings"}  # and the field of an episode
ACCEPTED, REJECTED = "accepted", "rejected"
SHOWN = 20
EVENT = {"at": "text", "event": "text", "key?": "text", "note?": "text", "session?": "text"}
_VIEW = os.path.join(settings.STATE_DIR, settings.REVIEW_FILE)
_RULE = {"text": "text", "day": "text", "session": "text", "times": "count"}


class Item:
    """`times`: in how many sessions it was said, also in other words; day, session, words and key are the last's."""

    def __init__(self, kind: str, text: str, day: str, session: str) -> None:
        from ..notes.gist import gist  # most starts need none

        if kind == "rule" and text[10:12] == ": ":
            day, text = text[:10], text[12:]
        self.doubt = next((doubt for doubt in DOUBTS if text.endswith(" (%s)" % doubt)), "")
        text = text[: -len(" (%s)" % self.doubt)] if self.doubt else text
        self.kind, self.text, self.day, self.session, self.times = kind, text, day, session, 1
        self.key = hexdigest(" ".join("".join([c if c.isalnum() else " " for c in text.lower()]).split()))[:8]
        self.keys, self.gist = {self.key}, gist(text)

    def is_said(self, texts: Iterable[str]) -> bool:
        """Whether one of the texts says as much and rules out the same."""
        from ..notes.gist import gist

        words = [word.lstrip("!") for word in self.gist]
        near = [text for text in texts if words and all(word in text.lower() for word in words)]  # cheap
        return any(self.gist <= gist(text) for text in near)


def items(episodes: Iterable[Fields]) -> list[Item]:
    """What sessions left, each once, the latest first."""
    every: dict[object, Item] = {}
    for value in episodes:
        for kind, field in KINDS.items():
            texts = value.get(field) or ()
            sure = value.get("sure", settings.KIND_ITEMS) if kind == "lesson" else settings.KIND_ITEMS
            for text in texts if kind == "rule" else texts[: min(sure, settings.KIND_ITEMS)]:  # the surest come first
                item = Item(kind, str(text), value["ended"][:10], value["id"])
                former = every.pop(item.gist or item.key, None)
                if former:
                    item.times = former.times + (former.session != item.session)
                    doubt = min(item.doubt, former.doubt)
                    item.doubt = "" if item.times > 1 and doubt == DOUBTS[0] else doubt
                    item.keys |= former.keys
                every[item.gist or item.key] = item
    return sorted(every.values(), key=lambda item: item.day)[::-1]


def settled(project_dir: str) -> set[str]:
    return {event.get("key", "") for event in load(project_dir) if event["event"] in (ACCEPTED, REJECTED)}


def waiting(project_dir: str, episodes: Iterable[Fields], facts: list[str]) -> list[Item]:
    """What is not decided yet and no note says, what is in doubt last."""
    done, every = settled(project_dir), sorted(items(episodes), key=lambda item: item.doubt)
    return [item for item in every if done.isdisjoint(item.keys) and not item.is_said(facts)]


def columns(value: Fields) -> list[str]:
    """What a row of the views keeps of an episode: its rules whole, of the rest the keys, separated by blanks."""
    rules = {key: value[key] for key in ("id", "ended", "rules")} if value.get("rules") else None
    keys = [item.key for item in items([{**value, "rules": ()}])]
    return [jsontext.compact(rules) if rules else "", " ".join(keys)]


def render(project_dir: str, rows: list[Any]) -> bytes:
    """The view, from the rows of all episodes."""
    done = settled(project_dir)
    keys = {*b" ".join([row.keys for row in rows]).decode().split()} - done
    every = items(jsontext.loads(row.rules) for row in rows if row.rules)
    rules = [rule for rule in every if done.isdisjoint(rule.keys)]
    shown = [{key: getattr(rule, key) for key in _RULE} for rule in rules if not rule.doubt]
    number = len(keys) + len([rule for rule in rules if not rule.doubt or rule.times > 1])
    value = {"schema": settings.SCHEMA, "waiting": number, "rules": shown[: settings.RULES_KEPT]}
    return jsontext.encoded(value)


def stated(project_dir: str) -> list[Fields]:
    """The rules of the view: waiting, newest first, without those in the index of notes."""
    value = files.load_json(os.path.join(project_dir, _VIEW), {"rules": [_RULE]})
    homes = (project_dir, os.path.join(os.path.dirname(project_dir), settings.USER_DIR))
    index = [files.read_text(os.path.join(home, settings.NOTES_INDEX_FILE)) for home in homes if value]
    lines = "\n".join(index).split("\n")
    return [rule for rule in (value or {"rules": ()})["rules"] if not Item("", rule["text"], "", "").is_said(lines)]


def reminder(project_dir: str, now: float) -> str:
    """A line for the person when something waits, at most once a day."""
    value = files.load_json(os.path.join(project_dir, _VIEW), {"waiting": "count", "rules": [_RULE]})
    number = value["waiting"] - len(value["rules"]) + len(stated(project_dir)) if value else 0
    mentioned = os.path.join(project_dir, settings.STATE_DIR, "review-told")
    if number < 1 or now - settings.DAY_SECONDS < files.modified(mentioned) <= now:
        return ""
    files.write(mentioned, b"")
    what = "%d rule%s, decisions or lessons wait" % (number, "s") if number > 1 else "1 rule, decision or lesson waits"
    return "Harness Memory: %s for your word: harness memory review" % what


def record(project_dir: str, event: str, now: float, *, key: str = "", note: str = "", session: str = "") -> None:
    fields = {"at": clock.iso(now), "event": event, "key": key, "note": note, "session": session}
    path = os.path.join(project_dir, *settings.RULES_LOG_PATH)
    from . import ratings

    ratings.append_record(path, {name: value for name, value in fields.items() if value})


def load(project_dir: str) -> list[Fields]:
    """The events of rules, oldest first."""
    path = os.path.join(project_dir, *settings.RULES_LOG_PATH)
    if not files.exists(path):
        return []
    from . import ratings

    return ratings.load_records(path, lambda event: shape.problem(event, EVENT), settings.FILE_MAX_BYTES)
