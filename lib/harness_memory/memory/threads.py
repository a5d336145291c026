"""Threads of work: chains of sessions (resumed, forked), each open while its last session left work.

What a person said of a thread is a fact, `STATE/threads/<thread id>.json`:

    {"schema", "thread", "at", "status": "open" | "closed" | "", "title", "dismissed": [hash of each next step]}

A session that says it has done a step closes it (`closes` of its episode), and a thread that ends with questions alone
is open until a later session ends a turn. Closing dismisses the steps that were open then: the thread stays closed
until a session leaves others. Reopening holds until a later session of the thread leaves nothing to do. A title holds
for good.

`STATE/rows.cache` holds the values of a `Row` for each episode, marshalled, in chunks behind their hash and length; of
two rows for one episode the later counts. Deleting it costs time and nothing else.
"""

from __future__ import annotations

import marshal
import os
import time
from _imp import source_hash  # SipHash, as for checked .pyc files: `zlib` would load a library

from ..base import files, jsontext, known, settings
from ..base.text import cut, hexdigest, one_line
from ..base.typing import Any, Fields
from ..session import episode
from ..session.sessions import is_episode_name, safe_id

OPEN, CLOSED = "open", "closed"
ASKED, IDLE = "asked", "idle"  # of a row: nothing but questions is left; nothing was done
_TEXTS = dict.fromkeys(("thread", "at", "title"), "text")
SPEC = {"schema": "count", **_TEXTS, "status": {OPEN, CLOSED, ""}, "dismissed": ["text"]}
_WORK_CHARS = 80  # a shorter answer without files is a courtesy
_CACHE = os.path.join(settings.STATE_DIR, settings.ROWS_FILE)
_FORMAT, _HEAD_BYTES, _CHUNKS_MAX = 12, 12, 24  # the second is a chunk's hash and length
TASKS, RULES, KEYS, COLUMNS = 8, 11, 12, 14  # places in a row: rules and keys wait for review; how many there are


class Row(tuple):  # type: ignore[type-arg]
    """What the views show of one episode: its line of INDEX.md, and the JSON of a thread of this session alone."""

    # Mostly bytes, and read in C: to decode or assign every value would cost a Stop more than all its other work.
    __slots__ = ()
    _columns = (*(property(lambda row, at=at: row[at]) for at in range(COLUMNS)),)  # type: ignore[misc]
    name, id, ended, status, title, text, stamp = _columns[:7]
    own_title, tasks, closes, steps, rules, keys, line = _columns[7:]
    last_activity = finished = ended  # of the thread of this session alone, if it is closed
    is_open, is_work = False, property(lambda row: row[3] != IDLE)


class Thread:
    """A piece of work; `text` is its line in the view, `fields` what that says."""

    close = "thread close"

    def __init__(self, chain: list[Row], is_last: bool, closed: dict[bytes, str], fact: Any = None) -> None:
        """The thread of sessions, the latest first. `closed`: when later ones said that they did a step."""
        _, self.id, ended, status, self.title, self.text = chain[0][:6]
        self.last_activity: str = ended
        self.finished: str = ended
        self.is_open = status == OPEN or (status == ASKED and is_last)
        self.is_work = any(row.status != IDLE for row in chain)
        changes: Fields = {}
        if len(chain) > 1:
            # Oldest first, as the names are; but a fork may begin in the same second as its parent.
            chain = sorted(sorted(chain), key=lambda row: not row.name.endswith("-%s.json" % self.id))
            parts = [jsontext.loads(row.text) for row in chain]
            titles = [row.own_title.decode() for row in chain if row.own_title]
            changes["title"] = titles[-1] if titles else parts[0]["title"]
            changes["channels"] = sorted({channel for part in parts for channel in part["channels"]})
            changes.update(sessions=[part["sessions"][0] for part in parts], opened_at=parts[0]["opened_at"])
        if closed:
            steps = changes["next_steps"] = [step for step in self.next_steps if hashed(step) not in closed]
            if all(step[-1:] in "?？" for step in steps):  # "Shall I do both?", and both are done
                self.is_open, self.finished = False, max(closed.values())
                changes["closed_at"] = self.finished
        if fact:
            left = {hashed(step).decode() for step in changes.get("next_steps", self.next_steps)}
            if fact["status"] == CLOSED and left <= {*fact["dismissed"]}:
                self.is_open, self.finished = False, max(fact["at"], self.last_activity)
                changes["closed_at"] = self.finished
            elif fact["status"] == OPEN and self.last_activity <= fact["at"]:
                self.is_open = True
            changes.update({"title": fact["title"]} if fact["title"] else {})
        if changes or self.is_open != (status == OPEN):
            self.fields.update(changes, status=self.state)
            self.title = self.fields["title"]
            self.text = jsontext.compact(self.fields).encode("utf-8", "replace")

    @property
    def state(self) -> str:
        return OPEN if self.is_open else CLOSED

    def __getattr__(self, name: str) -> Any:
        if name == "fields":  # parsed late: a Stop needs those of a few
            self.fields: Fields = jsontext.loads(self.text)
            return self.fields
        return self.fields[name]


def load(project_dir: str) -> list[Thread]:
    """The threads of all episodes, newest first."""
    chains = chained(project_dir, load_rows(project_dir, load_cache(project_dir)))
    return [each if isinstance(each, Thread) else Thread([each], False, {}) for each in chains]


def chained(project_dir: str, rows: list[Row]) -> list[Thread | Row]:
    """The threads of these episodes, newest first; a closed one of one session is the row itself, as nearly all are."""
    chains: dict[str, list[Row]] = {}
    done: dict[bytes, str] = {}  # when a session last said that it has done a step
    rows = sorted(rows, key=lambda row: (row[2], row[1], row[0]), reverse=True)  # by `ended`, thread and name
    for row in rows:
        chains.setdefault(row[1], []).append(row)
        for step in row[9].split() if row[9] else ():
            done.setdefault(step, row[2])
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR)
    said = [files.load_json(os.path.join(folder, name), SPEC) for name in files.names(folder) if name.endswith(".json")]
    facts = {fact["thread"]: fact for fact in said if fact}
    last = {row[1] for row in rows if row[2] == rows[0][2]}
    threads: list[Thread | Row] = []
    for thread, chain in chains.items():
        row = chain[0]
        if row[3] in (CLOSED, IDLE) and len(chain) == 1 and thread not in facts:
            threads.append(row)
        else:
            closed = {step: done[step] for step in row.steps.split() if done.get(step, "") >= row.ended}
            threads.append(Thread(chain, last == {thread}, closed, facts.get(thread)))
    return threads


def change(project_dir: str, thread: Thread, at: str, *, status: str = "", title: str = "") -> None:
    """Write that a person closed, reopened or renamed a thread."""
    path = os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR, safe_id(thread.id) + ".json")
    unsaid = {"schema": settings.SCHEMA, "thread": thread.id, "at": "", "status": "", "title": "", "dismissed": []}
    fact = {**(files.load_json(path, SPEC) or unsaid), **({"title": title} if title else {})}
    if not title:
        dismissed = [hashed(step).decode() for step in thread.next_steps if status == CLOSED]
        fact.update(status=status, at=max(at, thread.last_activity), dismissed=dismissed)
    files.write_json(path, fact, durable=True)


def hashed(step: str) -> bytes:
    return hexdigest(step)[: settings.STEP_HASH_CHARS].encode()  # forgetting a session leaves no word of it here


def load_cache(project_dir: str) -> dict[str, Row]:
    data = memoryview(files.read_part(os.path.join(project_dir, _CACHE), 64 << 20))
    rows: dict[str, Row] = {}
    chunks = 0
    while data:
        body = data[_HEAD_BYTES : _HEAD_BYTES + int.from_bytes(data[8:_HEAD_BYTES], "big")]
        if data[:8] != source_hash(_FORMAT, body):
            return {}  # another format, or damaged
        rows.update([(row[0], Row(row)) for row in marshal.loads(body)])
        data, chunks = data[_HEAD_BYTES + len(body) :], chunks + 1
    if chunks > _CHUNKS_MAX:
        rows[""] = Row()  # of no episode, as if it had gone
    return rows


def save_cache(project_dir: str, rows: list[Row], cached: dict[str, Row]) -> None:
    """Append what is new: a Stop changes one row. Now and then, and when a row has gone, write all of them."""
    path, new = os.path.join(project_dir, _CACHE), [row for row in rows if cached.get(row[0]) is not row]
    is_whole = len(rows) < len(cached) or len(new) == len(rows)
    body = marshal.dumps([tuple(row) for row in (rows if is_whole else new)], 2)
    chunk = source_hash(_FORMAT, body) + len(body).to_bytes(_HEAD_BYTES - 8, "big") + body
    if is_whole:
        files.write(path, chunk)
    elif new:
        with os.fdopen(files.open_plain(path, files.O_APPEND), "ab", 0) as file:
            file.write(chunk)


def load_rows(project_dir: str, cached: dict[str, Row], changed: str = "", new: Any = None, by: float = 0) -> list[Row]:
    """The row of each readable episode, oldest first; what is not read `by` then waits. See also `views.refresh`."""
    names, rows, about = files.names(os.path.join(project_dir, settings.EPISODES_DIR)), dict(cached), []
    due = [name for name in reversed(names) if changed in ("", name) or name not in rows]
    for name in filter(is_episode_name, due):
        row = rows.pop(name, None)
        try:
            info = os.lstat(episode.path_of(project_dir, name))
        except FileNotFoundError:
            continue  # another process has removed it
        stamp = "%d %d %d" % (info.st_mtime_ns, info.st_size, info.st_ino)
        is_late = by > 0 and name != changed and time.monotonic() >= by
        if (row is not None and row.stamp == stamp) or is_late:
            rows.update({name: row} if row else {})
            continue
        value = (new if name == changed else None) or episode.load(project_dir, name)
        if value:
            rows[name] = _row(name, stamp, value)
            failed = ["$ " + " ".join(fix["failed"].split()) for fix in value["commands_failed_then_fixed"]]
            about += [*failed, *value["files_changed"]]
    if about:
        try:
            known.add(os.path.dirname(project_dir), [*dict.fromkeys(map(known.key_of, about))])
        except OSError:
            pass  # nothing can be written here
    return [rows[name] for name in names if name in rows]


def _row(name: str, stamp: str, value: Fields) -> Row:
    headline, title, branch = episode.headline(value), value.get("title") or "", value.get("branch") or ""
    done, steps = value["what_was_done"], value["what_remains"]
    is_work = bool(value["files_changed"] or value.get("commits") or value["tasks"] or len(done) >= _WORK_CHARS)
    left = [step for step in steps if step[-1:] not in "?？" or step.startswith("Unfinished: ")]
    status = OPEN if left else ASKED if steps else CLOSED if is_work else IDLE
    thread = {
        "id": value["thread"],
        "title": title or headline,
        "status": OPEN if status == OPEN else CLOSED,
        "summary": cut(done.rpartition("\n\n")[2].partition("\n")[0], settings.ITEM_CHARS) or headline,
        "next_steps": steps,
        "blockers": value.get("blockers") or [],
        "channels": value.get("channels") or list(filter(None, [value.get("channel")])),
        "opened_at": value["started"],
        "last_activity": value["ended"],
        "sessions": [value["id"]],
        "branch": branch,
        "model": value.get("model") or "",
    }
    tasks = [[entry, value["id"], value["started"]] for entry in value["tasks"]]
    names = [*dict.fromkeys([file.rsplit("/", 1)[-1] for file in value["files_changed"]])]
    shown = ", ".join([*names[:3], *["+%d" % (len(names) - 3)] * (len(names) > 3)])
    folders = dict.fromkeys(file.rpartition("/")[0] for file in value["files_changed"] if "/" in file)
    where = "; ".join([branch, ", ".join(list(folders)[:3])]).strip("; ")
    line = "- `%s/%s` - " % (settings.EPISODES_DIR, name)
    line += "/%s: " % value["skill_used"] if value.get("skill_used") else ""
    line += headline + (" [%s]" % one_line(shown) if shown else "") + (" (%s)" % one_line(where) if where else "")
    waiting = ["", ""]
    if any(value.get(key) for key in ("rules", "decisions", "learnings")):
        from . import review

        waiting = review.columns(value)
    texts = [title, jsontext.compact(tasks) if tasks else "", " ".join(value.get("closes") or ())]
    texts += [b" ".join(map(hashed, steps)).decode(), *waiting, line]
    text, *rest = [text.encode("utf-8", "replace") for text in (jsontext.compact(thread), *texts)]
    return Row((name, value["thread"], value["ended"], status, thread["title"], text, stamp, *rest))
