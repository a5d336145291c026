"""What the views show of each episode, as one row, with a disposable cache of the rows (`STATE/rows.cache`).

The cache is a checksum and a line feed before the marshalled rows: `marshal` reads them five times as fast as JSON.
Deleting it costs time and nothing else.
"""

from __future__ import annotations

import marshal
import os
import zlib

from ..base import files, settings
from ..base.text import cut, first_sentence, one_line
from ..session.sessions import is_episode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FORMAT = 2  # seeds the checksum: a cache of another format is invalid


class Row:
    """One episode in the views; `stamp` identifies the version of its file, `values` are what the cache holds."""

    __slots__ = (
        *("branch", "channel", "ended", "id", "is_child", "label", "line", "model", "name", "next_steps"),
        *("stamp", "started", "summary", "tasks", "thread", "title", "values"),
    )

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.name: str
        self.next_steps: list[str]
        self.tasks: list[dict[str, Any]]
        self.values = values
        self.name, self.stamp, self.line, self.id, self.thread, self.is_child = values[:6]
        self.started, self.ended, self.title, self.label, self.summary = values[6:11]
        self.channel, self.branch, self.model, self.next_steps, self.tasks = values[11:]


def load(project_dir: str, *, is_fresh: bool = False) -> tuple[list[Row], bool]:
    """The rows of all readable episodes, oldest first, and whether the cache is current; `is_fresh` ignores it."""
    cached = {} if is_fresh else _cached(project_dir)
    rows, is_current = [], True
    for name in filter(is_episode_name, files.names(os.path.join(project_dir, settings.EPISODES_DIR))):
        row = cached.get(name)
        if row is None or row.stamp != _stamp(project_dir, name):
            row = _read(project_dir, name)
            is_current = is_current and row is None
        if row:
            rows.append(row)
    return rows, is_current and len(rows) == len(cached)


def save(project_dir: str, rows: list[Row]) -> None:
    body = marshal.dumps([row.values for row in rows], 4)
    files.write_if_changed(path(project_dir), b"%d\n%b" % (zlib.crc32(body, _FORMAT), body))


def path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.ROWS_FILE)


def _cached(project_dir: str) -> dict[str, Row]:
    try:
        data = files.read(path(project_dir), settings.ROWS_MAX_BYTES) or b""
    except OSError as error:
        if files.is_passing(error):
            raise
        return {}
    checksum, _, body = data.partition(b"\n")
    if checksum != b"%d" % zlib.crc32(body, _FORMAT):
        return {}
    return {values[0]: Row(values) for values in marshal.loads(body)}


def _read(project_dir: str, name: str) -> Row | None:
    """The row of an episode; None when it is missing, damaged or newer than this version."""
    from ..session import episode

    stamp = _stamp(project_dir, name)  # before the text: a write in between is noticed later
    value = episode.load(project_dir, name)
    if value is None:
        return None
    headline = episode.headline(value)
    title, channel, branch, model = (value.get(key) or "" for key in ("title", "channel", "branch", "model"))
    label = cut(value["asked"][0], settings.SUMMARY_LINE_CHARS) if value["asked"] else ""
    summary = first_sentence(value["what_was_done"], settings.ITEM_CHARS)
    values = [name, stamp, _line(name, value, headline), value["id"], value["thread"], bool(value.get("parent"))]
    values += [value["started"], value["ended"], title, label or headline, summary, channel, branch, model]
    return Row((*values, value["what_remains"], value["tasks"]))


def _stamp(project_dir: str, name: str) -> list[int]:
    try:
        info = os.lstat(os.path.join(project_dir, settings.EPISODES_DIR, name))
    except FileNotFoundError:
        return []
    return [info.st_mtime_ns, info.st_size, info.st_ino]


def _line(name: str, value: dict[str, Any], headline: str) -> str:
    """The line of INDEX.md: what was done, [files], (branch; folders)."""
    names = [file.rsplit("/", 1)[-1] for file in value["files_changed"]]
    shown = ", ".join(names[: settings.FILES_IN_INDEX])
    if len(names) > settings.FILES_IN_INDEX:
        shown += ", +%d" % (len(names) - settings.FILES_IN_INDEX)
    folders = dict.fromkeys(file.rpartition("/")[0] for file in value["files_changed"] if "/" in file)
    where = "; ".join([value.get("branch") or "", ", ".join(list(folders)[: settings.DIRS_IN_INDEX])]).strip("; ")
    skill = "/%s: " % value["skill_used"] if value.get("skill_used") else ""
    tail = " [%s]" % one_line(shown) if shown else ""
    tail += " (%s)" % one_line(where) if where else ""
    return "- `%s/%s` - %s%s%s" % (settings.EPISODES_DIR, name, skill, headline, tail)
