"""Threads of work: each a chain of sessions (resumed, forked), open while its last session left work.

What a person said of a thread is a fact, `STATE/threads/<thread id>.json`:

    {"schema", "thread", "at", "status": "open" | "closed" | "", "title", "dismissed": [hash of each next step]}

Closing dismisses the steps that were open then: the thread stays closed until a session leaves others.
Reopening holds until a later session of the thread leaves nothing to do. A title holds for good.
"""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.sha256 import hexdigest
from ..session.sessions import safe_id
from . import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .rows import Row

OPEN = "open"
CLOSED = "closed"
_STATUSES = {OPEN, CLOSED, ""}
SPEC = {"schema": "count", "thread": "text", "at": "text", "status": _STATUSES, "title": "text", "dismissed": ["text"]}


class Thread:
    """A chain of sessions as one piece of work; its attributes are its fields in the view, in their order."""

    __slots__ = (
        *("last_activity", "id", "status", "sessions", "title", "summary", "next_steps", "channels", "opened_at"),
        *("branch", "model", "closed_at"),
    )
    blockers: list[str] = []  # noqa: RUF012  (never changed: a session cannot name any)

    def __init__(self, episodes: list[Row]) -> None:
        chain = sorted(episodes, key=lambda row: (row.started, row.is_child, row.id))
        last = max(chain, key=lambda row: (row.ended, row.id))
        titles = [row.title for row in chain if row.title]
        self.id = last.thread
        self.status = OPEN if last.next_steps else CLOSED
        self.title = titles[-1] if titles else chain[0].label
        self.summary, self.next_steps = last.summary, last.next_steps
        self.channels = sorted({row.channel for row in chain if row.channel})
        self.opened_at, self.last_activity = chain[0].started, last.ended
        self.sessions = [row.id for row in chain]
        self.branch, self.model = last.branch, last.model
        self.closed_at = ""  # by a person

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    @property
    def finished(self) -> str:
        return self.closed_at or self.last_activity

    def apply(self, fact: dict[str, Any]) -> None:
        """Take in what a person said of the thread."""
        self.title = fact["title"] or self.title
        if fact["status"] == CLOSED and {_key(step) for step in self.next_steps} <= {*fact["dismissed"]}:
            self.status, self.closed_at = CLOSED, max(fact["at"], self.last_activity)
        elif fact["status"] == OPEN and self.last_activity <= fact["at"]:
            self.status = OPEN

    def as_json(self) -> dict[str, Any]:
        keys = self.__slots__ if self.closed_at else self.__slots__[:-1]
        return {key: getattr(self, key) for key in keys}


def load(project_dir: str) -> list[Thread]:
    """All threads, newest first."""
    return group(project_dir, rows.load(project_dir)[0])


def group(project_dir: str, episodes: list[Row]) -> list[Thread]:
    """The threads of these episodes, newest first."""
    chains: dict[str, list[Row]] = {}
    for row in episodes:
        chains.setdefault(row.thread, []).append(row)
    threads = {name: Thread(chain) for name, chain in chains.items()}
    for name in files.names(_directory(project_dir)):
        fact = files.load_json(os.path.join(_directory(project_dir), name), SPEC) if name.endswith(".json") else None
        if fact and fact["thread"] in threads:
            threads[fact["thread"]].apply(fact)
    return sorted(threads.values(), key=lambda thread: (thread.last_activity, thread.id), reverse=True)


def change(project_dir: str, thread: Thread, at: str, *, status: str = "", title: str = "") -> None:
    """Write that a person closed, reopened or renamed a thread."""
    old = files.load_json(path(project_dir, thread.id), SPEC) or {}
    fact = {"schema": settings.SCHEMA, "thread": thread.id, "at": "", "status": "", "title": "", "dismissed": [], **old}
    if title:
        fact["title"] = title
    else:
        steps = thread.next_steps if status == CLOSED else []
        fact.update(status=status, at=max(at, thread.last_activity), dismissed=[_key(step) for step in steps])
    files.write_json(path(project_dir, thread.id), fact, durable=True)


def path(project_dir: str, thread_id: str) -> str:
    return os.path.join(_directory(project_dir), safe_id(thread_id) + ".json")


def _directory(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR)


def _key(step: str) -> str:
    # A hash: forgetting a session leaves no word of it here.
    return hexdigest(step)[:12]
