"""Recall's cache of a project: derived, disposable, brought up to date by its reader.

    <project>/STATE/recall/index          documents as postings (see `index`), replaced as a whole
    <project>/STATE/recall/recent.jsonl   changes since then, one a line: [fields of a document],
                                          [id of one that is gone] or {state}

Documents are the project's episodes, the notes of project, team and user that hold, and titles of archived sessions.
`state` is what they derive from: the mtime of `episodes/`, a checksum of the notes' names and stamps, the stamps of
the archives. A stamp is mtime in nanoseconds plus size. Deleting the folder costs time only.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, jsontext, settings
from ..base.typing import Any
from .index import ARCHIVED, SESSION, Document, Record, Segment, Source
from .terms import code

_LOCK = "recall.lock"
_HEADER_BYTES = 64 * 1024  # more than magic and state take
_SETTLED_NS = 2 * 10**9  # a folder that changed later may change again within one tick of its clock
_CHANGING_SECONDS, _CHANGING_MAX = 2 * 86400, 48  # a prompt looks for changes in the last that started since
# What reading a damaged cache raises: it is dropped, and the next reader starts over.
DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError)


class _Cache:
    """The index and its log as they are, and the changes to them."""

    def __init__(self, store_root: str, project_dir: str, checkout: str, *, is_whole: bool) -> None:
        self.store_root, self.project_dir, self.checkout, self.is_whole = store_root, project_dir, checkout, is_whole
        self.recent: dict[str, Document] = {}
        self.gone: set[str] = set()
        self.rows: list[Any] = []  # of the log, that this run adds
        self._stamps: dict[str, int] | None = None
        log = files.read(os.path.join(folder(project_dir), settings.RECALL_LOG), settings.ARCHIVE_MAX_BYTES) or b""
        self.log_bytes = len(log)
        # After the log: a process that merges it into the index removes it last.
        self.base: Segment | None = None
        path = os.path.join(folder(project_dir), settings.RECALL_INDEX)
        fd = files.open_plain(path) if files.exists(path) else -1
        try:
            self.base = Segment(os.read(fd, _HEADER_BYTES), fd) if fd >= 0 else None
        except DAMAGE:
            os.close(fd)  # Windows removes and replaces no open file
            raise
        self.state: dict[str, Any] = dict(self.base.state) if self.base else {}
        for line in log.split(b"\n") if log else ():
            try:
                row = jsontext.loads(line)
            except ValueError:
                continue  # torn by a kill
            if isinstance(row, dict):
                self.state.update(row)
            elif len(row) == 1:
                self.recent.pop(row[0], None)
                self.gone.add(row[0])
            else:
                document = Document(*row)
                self.recent[document.record.id] = document

    @property
    def stamps(self) -> dict[str, int]:
        """The stamp of each document, by id."""
        if self._stamps is None:
            self._stamps = dict(zip(self.base.ids(), self.base.columns["stamps"])) if self.base else {}
            for id in self.gone.intersection(self._stamps):
                del self._stamps[id]
            self._stamps.update((id, each.stamp) for id, each in self.recent.items())
        return self._stamps

    def dead(self) -> set[int]:
        """Numbers of the documents in the index that are gone or replaced."""
        ids = self.base.ids() if self.base and (self.recent or self.gone) else []
        return {number for number, id in enumerate(ids) if id in self.recent or id in self.gone}

    def _take(self, document: Document, stamp: int) -> None:
        document.stamp = stamp
        self.rows.append(document.to_row())
        self.recent[document.record.id] = document
        self.stamps[document.record.id] = stamp

    def _drop(self, ids: set[str]) -> None:
        for id in ids:
            self.rows.append([id])
            self.recent.pop(id, None)
            self.stamps.pop(id)
        self.gone |= ids

    def refresh(self, now: float, ends: float, own: frozenset[str]) -> None:
        before = dict(self.state)
        self._take_episodes(now, ends, own)
        self._take_notes()
        if self.is_whole:
            self._take_archives()
        is_due = self.log_bytes > settings.RECALL_LOG_BYTES * (1 if self.is_whole else 4)
        is_due = is_due or len(self.rows) > settings.RECALL_TAKEN_AT_PROMPT
        is_due = is_due or (self.is_whole and bool(self.recent) and not self.base)
        if os.path.isdir(self.project_dir) and (is_due or self.rows or self.state != before):
            self._save(is_due=is_due)

    def _take_episodes(self, now: float, ends: float, own: frozenset[str]) -> None:
        """Take in new and changed episodes, newest first. A prompt takes in a few, and leaves out its own."""
        directory = os.path.join(self.project_dir, settings.EPISODES_DIR)
        changed_ns = _stamp(directory, is_sized=False)
        if changed_ns == self.state.get("episodes", 0) and not self.is_whole:
            return
        names = os.listdir(files.inside(directory)) if changed_ns else []
        stamps, since = self.stamps, settings.EPISODE_PREFIX + clock.stamp(clock.iso(now - _CHANGING_SECONDS))
        changing = sorted([name for name in names if name > since])[-_CHANGING_MAX:]
        fresh = names if self.is_whole else {*changing, *(name for name in names if name not in stamps)}
        episodes = [name for name in fresh if name.startswith(settings.EPISODE_PREFIX) and name.endswith(".json")]
        stamped = [(name, _stamp(os.path.join(directory, name))) for name in episodes]
        changed = sorted([each for each in stamped if each[1] != stamps.get(each[0])], reverse=True)
        most = len(changed) if self.is_whole else settings.RECALL_TAKEN_AT_PROMPT
        is_complete = len(changed) <= most
        for name, stamp in changed[:most]:
            if name[:-5].rpartition("Z-")[2] in own or time.monotonic() > ends:
                is_complete = False
                continue
            from ..session import episode
            from .documents import of_episode

            value = episode.load(self.project_dir, name)
            if value:
                self._take(of_episode(name, value, episode.headline(value)), stamp)
        if self.is_whole:
            self._drop({id for id in self.stamps if "/" not in id}.difference(names))
        if is_complete and changed_ns < now * 10**9 - _SETTLED_NS:
            self.state["episodes"] = changed_ns

    def _take_notes(self) -> None:
        """Take in new and changed notes of project, team and user. One that does not hold is gone."""
        stamps = {}
        for scope, directory in _note_folders(self.store_root, self.project_dir, self.checkout).items():
            for name in files.names(directory):
                if name.endswith(".md"):
                    stamps["%s/%s" % (scope, name[:-3])] = _stamp(os.path.join(directory, name))
        notes_code = code(repr(stamps)) if stamps else 0
        if notes_code == self.state.get("notes", 0):
            return
        from ..notes import shelf
        from .documents import of_note

        notes = shelf.holding(shelf.shelves(self.store_root, self.project_dir, checkout=self.checkout))
        for note in notes:
            if stamps.get(note.ref) != self.stamps.get(note.ref):
                self._take(of_note(note, files.modified(note.path)), stamps.get(note.ref, 0))
        refs = {id for id in self.stamps if "/" in id and not id.startswith(ARCHIVED)}
        self._drop(refs.difference(note.ref for note in notes))
        self.state["notes"] = notes_code

    def _take_archives(self) -> None:
        """Take in the titles of archived sessions."""
        directory = os.path.join(self.store_root, settings.ARCHIVE_DIR, os.path.basename(self.project_dir))
        names = [name for name in files.names(directory) if name.endswith(settings.ARCHIVE_SUFFIX)]
        stamps = {name: _stamp(os.path.join(directory, name)) for name in names}
        if stamps == self.state.get("archives", {}):
            return
        from ..memory import archive
        from .documents import index_text

        self._drop({id for id in self.stamps if id.startswith(ARCHIVED)})
        for name in names:
            try:
                for each in archive.load(os.path.join(directory, name)):
                    id, started = "%s/%s/%s" % (ARCHIVED, each.archive, each.id), clock.parse(each.started) or 0.0
                    self._take(index_text(id, ARCHIVED, each.headline, time=started), 0)
            except files.Unreadable:
                pass  # `verify` names it
        self.state["archives"] = stamps

    def _save(self, *, is_due: bool) -> None:
        """Write the changes: a few to the log; when it `is_due`, all into the index."""
        from ..base.lock import Lock

        directory = folder(self.project_dir)
        log = os.path.join(directory, settings.RECALL_LOG)
        try:
            with Lock(os.path.join(directory, _LOCK), 0) as held:
                if held and not is_due:
                    rows = map(jsontext.compact, [*self.rows, self.state])
                    files.append_line(log, "\n".join(rows).encode("utf-8", "replace"))
                elif held:
                    if not self.base:  # files of other versions go
                        drop(self.project_dir)
                    from .writer import dump

                    data = dump(self.base, [*self.recent.values()], self.dead(), self.state)
                    if self.base:
                        os.close(self.base.fd)
                    self.base, self.recent, self.gone = Segment(data), {}, set()
                    files.write(os.path.join(directory, settings.RECALL_INDEX), data)
                    if _stamp(log) and os.path.getsize(log) == self.log_bytes:  # else another process added to it
                        files.remove(log)
        except OSError:
            pass  # nothing can be written here; what is in memory is complete


def open_source(
    store_root: str,
    project_dir: str,
    now: float,
    ends: float,
    *,
    own: frozenset[str] = frozenset(),
    is_whole: bool = False,
    checkout: str = "",
) -> Source:
    """Everything in reach of a `checkout`, up to date; a prompt takes in a few until `ends`, `is_whole` all."""

    def read() -> Source:
        cache = _Cache(store_root, project_dir, checkout, is_whole=is_whole)
        cache.refresh(now, ends, own)
        return Source(cache.base, [*cache.recent.values()], cache.dead())

    try:
        return read()
    except DAMAGE:
        drop(project_dir)
        return read()


def drop(project_dir: str) -> None:
    """Remove the cache; not the lock, which another process may hold."""
    files.remove_tree(folder(project_dir), kept=_LOCK)


def path_of(store_root: str, project_dir: str, record: Record, checkout: str = "") -> str:
    """The file that a session or note derives from."""
    scope, _, name = record.id.rpartition("/")
    if record.kind == SESSION:
        return os.path.join(project_dir, settings.EPISODES_DIR, name)
    return os.path.join(_note_folders(store_root, project_dir, checkout)[scope], name + ".md")


def _note_folders(store_root: str, project_dir: str, checkout: str) -> dict[str, str]:
    homes = {"project": project_dir, "user": os.path.join(store_root, settings.USER_DIR)}
    folders = {scope: os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR) for scope, home in homes.items()}
    if checkout:
        folders[settings.TEAM_SCOPE] = os.path.join(checkout, settings.CLAUDE_DIR, settings.STORE_DIR)
    return folders


def folder(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR)


def _stamp(path: str, *, is_sized: bool = True) -> int:
    """A number that changes with a file; 0 when it is missing."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    return info.st_mtime_ns + (info.st_size if is_sized else 0)
