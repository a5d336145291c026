"""Threads of work: chains of sessions (resumed, forked), each open while its last session left work.

What a person said of a thread is a fact, `STATE/threads/<thread id>.json`:

    {"schema", "thread", "at", "status": "open" | "closed" | "", "title", "dismissed": [hash of each next step]}

Closing dismisses the steps that were open then: the thread stays closed until a session leaves others.
Reopening holds until a later session of the thread leaves nothing to do. A title holds for good.

`STATE/rows.cache` holds a row an episode: a line of the values of `Row`, separated by tabs. Deleting it costs time and
nothing else.
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..base.text import cut, first_sentence, one_line
from ..session.sessions import is_episode_name, safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN, CLOSED = "open", "closed"
_STATUSES = {OPEN, CLOSED, ""}
SPEC = {"schema": "count", "thread": "text", "at": "text", "status": _STATUSES, "title": "text", "dismissed": ["text"]}
_CACHE_HEAD = b"rows 3\n"  # another format is ignored


class Row:
    """What the views show of one episode: its line of INDEX.md, and the text of a thread of this session alone."""

    # Bytes: to decode and encode every text would cost a Stop more than all its other work.
    __slots__ = ("ended", "is_child", "line", "name", "stamp", "status", "tasks", "text", "thread", "title", "values")

    def __init__(self, values: list[bytes]) -> None:
        self.values = values
        name, thread, ended, status, self.stamp, self.is_child, self.title, self.tasks, self.line, self.text = values
        self.name, self.thread, self.ended, self.status = (
            name.decode(),
            thread.decode(),
            ended.decode(),
            status.decode(),
        )


class Thread:
    """A piece of work; `text` is its line in the view. Other fields are parsed late: a Stop needs those of a few."""

    __slots__ = ("_fields", "closed_at", "id", "last_activity", "status", "text")
    blockers: list[str] = []  # noqa: RUF012  (never changed: a session cannot name any)

    def __init__(self, chain: list[Row], fact: dict[str, Any] | None) -> None:
        last = max(chain, key=lambda row: (row.ended, row.name)) if len(chain) > 1 else chain[0]
        self.id, self.last_activity, self.status, self.text = last.thread, last.ended, last.status, last.text
        self.closed_at = ""  # by a person
        self._fields: dict[str, Any] = {}
        if len(chain) > 1:
            parts = [(jsontext.loads(row.text), row) for row in chain]
            parts.sort(key=lambda part: (part[0]["opened_at"], part[1].is_child))
            titles = [row.title.decode() for _, row in parts if row.title]
            self.as_json().update(
                sessions=[fields["sessions"][0] for fields, _ in parts],
                title=titles[-1] if titles else parts[0][0]["title"],
                channels=sorted({channel for fields, _ in parts for channel in fields["channels"]}),
                opened_at=parts[0][0]["opened_at"],
            )
        if fact:
            self._apply(fact)
        if self._fields:
            self.text = jsontext.compact(self._fields).encode("utf-8", "replace")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.as_json()[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    @property
    def finished(self) -> str:
        return self.closed_at or self.last_activity

    def as_json(self) -> dict[str, Any]:
        self._fields = self._fields or jsontext.loads(self.text)
        return self._fields

    def _apply(self, fact: dict[str, Any]) -> None:
        fields = self.as_json()
        fields["title"] = fact["title"] or fields["title"]
        if fact["status"] == CLOSED and {_key(step) for step in fields["next_steps"]} <= {*fact["dismissed"]}:
            self.status, self.closed_at = CLOSED, max(fact["at"], self.last_activity)
            fields["closed_at"] = self.closed_at
        elif fact["status"] == OPEN and self.last_activity <= fact["at"]:
            self.status = OPEN
        fields["status"] = self.status


def load(project_dir: str) -> list[Thread]:
    """All threads, newest first."""
    return group(project_dir, load_rows(project_dir)[0])


def group(project_dir: str, rows: list[Row]) -> list[Thread]:
    """The threads of these episodes, newest first."""
    chains: dict[str, list[Row]] = {}
    for row in rows:
        chains.setdefault(row.thread, []).append(row)
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR)
    said = [files.load_json(os.path.join(folder, name), SPEC) for name in files.names(folder) if name.endswith(".json")]
    facts = {fact["thread"]: fact for fact in said if fact}
    threads = [Thread(chain, facts.get(thread)) for thread, chain in chains.items()]
    return sorted(threads, key=lambda thread: (thread.last_activity, thread.id), reverse=True)


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
    return os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR, safe_id(thread_id) + ".json")


def _key(step: str) -> str:
    from ..base.sha256 import hexdigest

    return hexdigest(step)[:12]  # a hash: forgetting a session leaves no word of it here


# Rows ---------------------------------------------------------------------------------------------


def load_rows(project_dir: str, changed: str | None = None, *, is_fresh: bool = False) -> tuple[list[Row], bool]:
    """The row of each readable episode, oldest first, and whether the cache is current.

    `changed` names the one episode that may differ from its cached row; without it the stat of each is compared.
    """
    cached = {} if is_fresh else _cached_rows(project_dir)
    rows, is_current = [], True
    for name in filter(is_episode_name, files.names(os.path.join(project_dir, settings.EPISODES_DIR))):
        row = cached.get(name)
        if row is None or name == changed or (changed is None and row.stamp != _stamp(project_dir, name).encode()):
            row = _read_row(project_dir, name)
            is_current = is_current and row is None
        if row:
            rows.append(row)
    return rows, is_current and len(rows) == len(cached)


def save_rows(project_dir: str, rows: list[Row]) -> None:
    body = b"".join([b"\t".join(row.values) + b"\n" for row in rows])
    files.write(cache_path(project_dir), _CACHE_HEAD + body)


def cache_path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.ROWS_FILE)


def _cached_rows(project_dir: str) -> dict[str, Row]:
    try:
        data = files.read(cache_path(project_dir), settings.ROWS_MAX_BYTES) or b""
        lines = [line.split(b"\t", 9) for line in data.split(b"\n")] if data.startswith(_CACHE_HEAD) else []
        # A value that holds a tab or a line feed makes lines of another length: its episode is read every time.
        rows = [Row(values) for values in lines if len(values) == 10]
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return {}
    return {row.name: row for row in rows}


def _read_row(project_dir: str, name: str) -> Row | None:
    """The row of an episode; None when it is missing, damaged or newer than this version."""
    from ..session import episode

    stamp = _stamp(project_dir, name)  # before the text: a write in between is noticed later
    value = episode.load(project_dir, name)
    if value is None:
        return None
    headline = episode.headline(value)
    label = cut(value["asked"][0], settings.SUMMARY_LINE_CHARS) if value["asked"] else ""
    title, channel = value.get("title") or "", value.get("channel")
    status = OPEN if value["what_remains"] else CLOSED
    thread = {
        "last_activity": value["ended"],
        "id": value["thread"],
        "status": status,
        "sessions": [value["id"]],
        "title": title or label or headline,
        "summary": first_sentence(value["what_was_done"], settings.ITEM_CHARS),
        "next_steps": value["what_remains"],
        "channels": [channel] if channel else [],
        "opened_at": value["started"],
        "branch": value.get("branch") or "",
        "model": value.get("model") or "",
    }
    tasks = jsontext.compact([[entry, value["id"], value["started"]] for entry in value["tasks"]])
    values = [name, value["thread"], value["ended"], status, stamp, "child" if value.get("parent") else "", title]
    values += [tasks, _line(name, value, headline), jsontext.compact(thread)]
    return Row([text.encode("utf-8", "replace") for text in values])


def _stamp(project_dir: str, name: str) -> str:
    """What tells one version of an episode's file from another."""
    try:
        info = os.lstat(os.path.join(project_dir, settings.EPISODES_DIR, name))
    except FileNotFoundError:
        return ""
    return "%d %d %d" % (info.st_mtime_ns, info.st_size, info.st_ino)


def _line(name: str, value: dict[str, Any], headline: str) -> str:
    """The line of INDEX.md: what was done, [files], (branch; folders)."""
    names = [file.rsplit("/", 1)[-1] for file in value["files_changed"]]
    shown = ", ".join(names[: settings.FILES_IN_INDEX])
    if len(names) > settings.FILES_IN_INDEX:
        shown += ", +%d" % (len(names) - settings.FILES_IN_INDEX)
    folders = dict.fromkeys(file.rpartition("/")[0] for file in value["files_changed"] if "/" in file)
    where = "; ".join([value.get("branch") or "", ", ".join(list(folders)[:3])]).strip("; ")
    skill = "/%s: " % value["skill_used"] if value.get("skill_used") else ""
    tail = " [%s]" % one_line(shown) if shown else ""
    tail += " (%s)" % one_line(where) if where else ""
    return "- `%s/%s` - %s%s%s" % (settings.EPISODES_DIR, name, skill, headline, tail)
