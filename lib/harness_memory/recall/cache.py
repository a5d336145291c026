"""Recall's index of a project: derived, disposable, brought up to date by its reader.

    <project>/STATE/recall/index          documents as postings, replaced as a whole
    <project>/STATE/recall/recent.jsonl   changes since then, one a line: [fields of a document],
                                          [id of one that is gone] or {state}

Documents are the project's episodes, the notes of project and user that hold, and the titles of archived sessions.
`index` is a line of magic, a line of JSON and, in this machine's byte order, the sections of `_SECTIONS`: columns of
the documents, their ids (one a line), the ends of all terms, posting lists, pairs and records, then these themselves.
Terms are sorted. A posting list is document numbers (4 bytes each), then counts (1 byte each).

`state` is what the documents derive from: the mtime of `episodes/`, a checksum of the notes' names and stamps, the
stamps of the archives. A stamp is mtime in nanoseconds plus size.
"""

from __future__ import annotations

import os
import sys
import time
from bisect import bisect_left
from zlib import crc32

from .. import __version__
from ..base import clock, files, jsontext, settings
from ..base.lock import Lock
from ..session import episode
from .document import ARCHIVED, KINDS, NOTE, SESSION, Document, from_row, of_archived, of_episode, of_note, to_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_INDEX, _LOG, _LOCK = "index", "recent.jsonl", "recall.lock"
_MAGIC = b"harness-recall %s.%d %s" % (__version__.encode(), settings.RECALL_FORMAT, sys.byteorder.encode())
_COLUMNS = (("lengths", "I"), ("times", "d"), ("stamps", "Q"), ("kinds", "B"))
_BLOBS = ("terms", "postings", "pairs", "records")
_SECTIONS = (*(name for name, _ in _COLUMNS), "ids", *(name + " ends" for name in _BLOBS), *_BLOBS)
_WHOLE_BYTES = 1024 * 1024  # a smaller file is read in one go, and its checksum compared
_COUNT_MAX = 255
_SETTLED_NS = 2 * 10**9  # a folder that changed later may change again within one tick of its clock
_CHANGING_SECONDS = 2 * 86400  # a prompt looks for changes in sessions that started since
_TAKEN_AT_PROMPT = 16  # documents; a start or `search` takes in the rest
_LOG_BYTES = {True: 64 * 1024, False: 256 * 1024}  # a longer log goes into the index: at a start, at a prompt
# What reading a damaged file raises: the caller drops the cache.
DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError)


class Segment:
    """The file `index`, read section by section."""

    __slots__ = ("_data", "_starts", "count", "fd", "header", "ids", "kinds", "lengths", "stamps", "times")

    def __init__(self, data: bytes, fd: int = -1) -> None:
        """`data` is the file, or its start when `fd` gives the rest."""
        line = data.index(b"\n") + 1
        start = data.index(b"\n", line) + 1
        if data[: line - 1] != _MAGIC:
            raise ValueError("written by another version or machine")
        self.header: dict[str, Any] = jsontext.loads(data[line : start - 1])
        self.fd = fd
        self._starts: dict[str, int] = {}
        for name, size in zip(_SECTIONS, self.header["sizes"]):
            self._starts[name] = start
            start += size
        size = os.fstat(fd).st_size if fd >= 0 else len(data)
        if start != size or (len(data) == size and crc32(data[self._starts["lengths"] :]) != self.header["crc"]):
            raise ValueError("damaged")
        if len(data) < self._starts["postings"]:
            data += os.read(fd, self._starts["postings"] - len(data))
        self._data = data
        self.lengths, self.times, self.stamps, self.kinds = (self.column(*each) for each in _COLUMNS)
        self.count = len(self.lengths)
        self.ids = data[self._starts["ids"] : self._starts["terms ends"]].decode("utf-8", "replace").split("\n")

    def column(self, name: str, code: str = "I") -> Any:
        following = _SECTIONS[_SECTIONS.index(name) + 1]
        return memoryview(self._data)[self._starts[name] : self._starts[following]].cast(code)  # type: ignore[call-overload]

    def item(self, name: str, number: int) -> bytes:
        ends = self.column(name + " ends")
        begin, end = ends[number - 1] if number else 0, ends[number]
        first, last = self._starts[name] + begin, self._starts[name] + end
        if last <= len(self._data):
            return self._data[first:last]
        os.lseek(self.fd, first, os.SEEK_SET)
        return os.read(self.fd, last - first)

    def __len__(self) -> int:
        """The number of terms; with `__getitem__`, what `bisect` needs."""
        return len(self.column("terms ends"))

    def __getitem__(self, number: int) -> bytes:
        return self.item("terms", number)

    def find(self, term: str) -> int:
        """The number of a term; -1 when no document has it."""
        word = term.encode("utf-8", "surrogatepass")
        number = bisect_left(self, word)
        return number if number < len(self) and self[number] == word else -1

    def holders(self, number: int) -> int:
        ends = self.column("postings ends")
        return int((ends[number] - (ends[number - 1] if number else 0)) // 5)

    def postings(self, number: int) -> tuple[Sequence[int], bytes]:
        data = self.item("postings", number)
        split = len(data) // 5 * 4
        return memoryview(data)[:split].cast("I"), data[split:]


class Record:
    """What recall shows of a document."""

    __slots__ = ("day", "files", "id", "kind", "line")

    def __init__(self, id: str, kind: str, day: str, line: str, files: list[str]) -> None:
        self.id = id
        self.kind = kind
        self.day = day
        self.line = line
        self.files = files


class Source:
    """All documents in reach of a project, as `ranking` reads them: by number, those of `index` first."""

    __slots__ = ("_base", "_dead", "_first", "_lists", "_recent", "_terms", "average", "kinds", "lengths", "times")

    def __init__(self, base: Segment | None, recent: list[Document], dead: set[int]) -> None:
        self._base = base
        self._recent = recent
        self._dead = dead
        self._first = base.count if base else 0
        self._lists: dict[str, list[tuple[int, int]]] = {}
        self._terms: dict[str, int] = {}
        self.lengths = [*(base.lengths.tolist() if base else ()), *(each.length for each in recent)]
        self.times = [*(base.times.tolist() if base else ()), *(each.time for each in recent)]
        self.kinds = bytes(base.kinds if base else ()) + bytes([KINDS.index(each.kind) for each in recent])
        self.average = sum(self.lengths) / len(self.lengths) if self.lengths else 1.0

    @property
    def count(self) -> int:
        return len(self.lengths)

    def holders(self, term: str) -> int:
        number = self._find(term)
        in_base = self._base.holders(number) if self._base and number >= 0 else 0
        return in_base + sum([term in each.counts for each in self._recent])

    def postings(self, term: str) -> list[tuple[int, int]]:
        """(document number, count) of each document with the term, by rising number."""
        result = self._lists.get(term)
        if result is None:
            number = self._find(term)
            result = [*zip(*self._base.postings(number))] if self._base and number >= 0 else []
            if self._dead:
                result = [each for each in result if each[0] not in self._dead]
            recent = enumerate(self._recent, self._first)
            result += [(number, each.counts[term]) for number, each in recent if term in each.counts]
            self._lists[term] = result
        return result

    def _find(self, term: str) -> int:
        number = self._terms.get(term)
        if number is None:
            number = self._terms[term] = self._base.find(term) if self._base else -1
        return number

    def pairs(self, number: int) -> Any:
        if self._base and number < self._first:
            return frozenset(memoryview(self._base.item("pairs", number)).cast("I"))
        return self._recent[number - self._first].pairs

    def record(self, number: int) -> Record:
        if self._base and number < self._first:
            return Record(self._base.ids[number], *jsontext.loads(self._base.item("records", number)))
        each = self._recent[number - self._first]
        return Record(each.id, each.kind, each.day, each.line, each.files)

    def close(self) -> None:
        if self._base and self._base.fd >= 0:
            os.close(self._base.fd)
            self._base.fd = -1


class _Cache:
    """The index and its log, as they are and as they become."""

    __slots__ = ("added", "base", "gone", "log_bytes", "project_dir", "recent", "stamps", "state", "store_root")

    def __init__(self, store_root: str, project_dir: str, *, is_whole: bool) -> None:
        self.store_root = store_root
        self.project_dir = project_dir
        self.added: list[Document] = []
        self.gone: set[str] = set()
        self.recent: dict[str, Document] = {}
        log = self._read_log()  # first: a process that merges it into the index removes it last
        self.base = open_index(project_dir)
        self.state: dict[str, Any] = dict(self.base.header["state"]) if self.base else {}
        self.stamps: dict[str, int] = dict(zip(self.base.ids, self.base.stamps)) if self.base else {}
        self.stamps.pop("", None)
        for row in log:
            if isinstance(row, dict):
                self.state.update(row)
            elif len(row) == 1:
                self.recent.pop(row[0], None)
                self.stamps.pop(row[0], None)
            else:
                document = from_row(row)
                self.recent[document.id] = document
                self.stamps[document.id] = document.stamp
        if is_whole and self.base and len(self.dead()) * 2 > self.base.count:
            self.base, self.recent, self.stamps, self.state = None, {}, {}, {}

    def _read_log(self) -> list[Any]:
        data = files.read(os.path.join(folder(self.project_dir), _LOG)) or b""
        self.log_bytes = len(data)
        rows = []
        for line in data.split(b"\n"):
            try:
                rows.append(jsontext.loads(line))
            except ValueError:
                continue  # torn by a kill
        return rows

    def take_episodes(self, now: float, ends: float, own: frozenset[str], *, is_whole: bool) -> None:
        """Take in new and changed episodes, newest first. A prompt takes in a few, and leaves out its own."""
        directory = os.path.join(self.project_dir, settings.EPISODES_DIR)
        changed_ns = _stamp(directory, is_sized=False)
        if changed_ns == self.state.get("episodes") and not is_whole:
            return
        names = [name for name in files.listed(directory) if name.startswith("session-") and name.endswith(".json")]
        changing = settings.EPISODE_PREFIX + clock.stamp(clock.iso(now - _CHANGING_SECONDS))
        changed = []
        for name in names:
            if is_whole or name not in self.stamps or name > changing:
                stamp = _stamp(os.path.join(directory, name))
                changed += [(name, stamp)] if stamp != self.stamps.get(name) else []
        most = len(changed) if is_whole else _TAKEN_AT_PROMPT
        is_complete = len(changed) <= most
        for name, stamp in sorted(changed, reverse=True)[:most]:
            if time.monotonic() > ends or name[:-5].rpartition("Z-")[2] in own:
                is_complete = False
                continue
            value = episode.load(self.project_dir, name)
            if value:
                self.add(of_episode(name, value, episode.headline(value)), stamp)
        if is_whole:
            self.gone.update({id for id in self.stamps if "/" not in id}.difference(names))
        is_settled = is_complete and changed_ns < now * 10**9 - _SETTLED_NS
        self.state["episodes"] = changed_ns if is_settled else 0

    def take_notes(self) -> None:
        """Take in new and changed notes of project and user; one that does not hold is gone."""
        stamps = {}
        for scope, directory in note_folders(self.store_root, self.project_dir):
            for name in files.names(directory):
                if name.endswith(".md"):
                    stamps["%s/%s" % (scope, name[:-3])] = _stamp(os.path.join(directory, name))
        code = crc32(repr(stamps).encode())
        if code == self.state.get("notes", crc32(b"{}")):
            return
        from ..notes import shelf

        notes = shelf.open_book(shelf.shelves(self.store_root, self.project_dir)).holding
        for note in notes:
            if stamps.get(note.ref) != self.stamps.get(note.ref):
                self.add(of_note(note, files.modified(note.path)), stamps.get(note.ref, 0))
        refs = {id for id in self.stamps if "/" in id and not id.startswith(ARCHIVED)}
        self.gone.update(refs.difference(note.ref for note in notes))
        self.state["notes"] = code

    def take_archives(self) -> None:
        from ..memory import archive

        directory = archive.folder(self.store_root, self.project_dir)
        stamps = {name: _stamp(os.path.join(directory, name)) for name in files.names(directory) if name[0] != "."}
        if stamps == self.state.get("archives", {}):
            return
        ids = {id for id in self.stamps if id.startswith(ARCHIVED)}
        for name, entry in archive.entries(self.store_root, self.project_dir):
            id = "%s/%s/%s" % (ARCHIVED, name, entry["id"])
            if id not in ids:
                self.add(of_archived(id, entry["started"], entry["headline"]), 0)
            ids.discard(id)
        self.gone.update(ids)
        self.state["archives"] = stamps

    def add(self, document: Document, stamp: int) -> None:
        document.stamp = stamp
        self.added.append(document)
        self.recent[document.id] = document
        self.stamps[document.id] = stamp

    def dead(self) -> set[int]:
        """Numbers of the documents in the index that are gone or replaced."""
        if not self.base:
            return set()
        if not self.recent and len(self.stamps) == self.base.count:
            return set()
        ids = enumerate(self.base.ids)
        return {number for number, id in ids if id in self.recent or id not in self.stamps}

    def save(self, *, is_whole: bool) -> None:
        """Write the changes: a few to the log, many into the index."""
        for id in self.gone:
            self.recent.pop(id, None)
            self.stamps.pop(id, None)
        if not self.added and not self.gone and (self.base or not is_whole):
            return
        is_long = len(self.added) > _TAKEN_AT_PROMPT or self.log_bytes > _LOG_BYTES[is_whole]
        is_due = is_long or (not self.base and (is_whole or self.state.get("episodes")))
        try:
            with Lock(os.path.join(folder(self.project_dir), _LOCK), 0) as held:
                if held and is_due:
                    self._merge()
                elif held:
                    rows: list[Any] = [*map(to_row, self.added), *([id] for id in self.gone), self.state]
                    lines = "\n".join(map(jsontext.compact, rows))
                    path = os.path.join(folder(self.project_dir), _LOG)
                    files.append_line(path, lines.encode("utf-8", "replace"))
        except OSError:
            pass  # nothing can be written here: the documents in memory are complete

    def _merge(self) -> None:
        directory = folder(self.project_dir)
        if not self.base:  # files of other versions go
            files.remove_tree(directory, kept=_LOCK)
            files.remove_tree(folder(os.path.join(self.store_root, settings.USER_DIR)))
        files.write(os.path.join(directory, _INDEX), dump(self.base, [*self.recent.values()], self.dead(), self.state))
        log = os.path.join(directory, _LOG)
        if _stamp(log) and os.path.getsize(log) == self.log_bytes:  # else another process has added to it
            files.remove(log)


def open_source(
    store_root: str, project_dir: str, now: float, ends: float, *, own: frozenset[str] = frozenset(), is_whole: bool
) -> Source | None:
    """Everything in reach of a project, brought up to date until `ends`; None when there is nothing.

    A prompt takes in a few documents, without those of its `own` sessions. `is_whole` takes in all,
    compares every file and drops what is gone. Damage raises one of `DAMAGE`, and the next call starts over.
    """
    try:
        cache = _Cache(store_root, project_dir, is_whole=is_whole)
        cache.take_episodes(now, ends, own, is_whole=is_whole)
        cache.take_notes()
        if is_whole:
            cache.take_archives()
        cache.save(is_whole=is_whole)
    except DAMAGE:
        drop(project_dir)
        raise
    return Source(cache.base, [*cache.recent.values()], cache.dead()) if cache.stamps else None


def is_due(project_dir: str) -> bool:
    """A start should bring the index up to date: it is missing, or much came since."""
    directory = folder(project_dir)
    if not os.path.exists(os.path.join(directory, _INDEX)):
        return os.path.isdir(os.path.join(project_dir, settings.EPISODES_DIR))
    return (
        _stamp(os.path.join(directory, _LOG)) > 0 and os.path.getsize(os.path.join(directory, _LOG)) > _LOG_BYTES[True]
    )


def drop(project_dir: str) -> None:
    """Remove the index; not the lock, which another process may hold."""
    files.remove_tree(folder(project_dir), kept=_LOCK)


def problem(project_dir: str) -> str:
    """What is wrong with the index; "" when it is sound or missing."""
    try:
        base = open_index(project_dir, is_checked=True)
    except DAMAGE as error:
        return str(error)
    Source(base, [], set()).close()
    return ""


def path_of(store_root: str, project_dir: str, record: Record) -> str:
    """The file that a document derives from."""
    if record.kind == SESSION:
        return os.path.join(project_dir, settings.EPISODES_DIR, record.id)
    scope, _, name = record.id.partition("/")
    if record.kind == NOTE:
        return os.path.join(dict(note_folders(store_root, project_dir))[scope], name + ".md")
    archive = os.path.join(store_root, settings.ARCHIVE_DIR, os.path.basename(project_dir))
    return os.path.join(archive, name.partition("/")[0] + ".tar.gz")


def note_folders(store_root: str, project_dir: str) -> list[tuple[str, str]]:
    homes = (("project", project_dir), ("user", os.path.join(store_root, settings.USER_DIR)))
    return [(scope, os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR)) for scope, home in homes]


def folder(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR)


def open_index(project_dir: str, *, is_checked: bool = False) -> Segment | None:
    try:
        fd = files.open_plain(os.path.join(folder(project_dir), _INDEX))
    except (FileNotFoundError, NotADirectoryError):
        return None
    size = os.fstat(fd).st_size
    is_small = is_checked or size <= _WHOLE_BYTES
    try:
        segment = Segment(_read(fd, size if is_small else _WHOLE_BYTES), -1 if is_small else fd)
    except BaseException:
        is_small = True
        raise
    finally:
        if is_small:
            os.close(fd)
    return segment


def _stamp(path: str, *, is_sized: bool = True) -> int:
    """A number that changes with a file; 0 when it is missing."""
    try:
        info = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    return info.st_mtime_ns + (info.st_size if is_sized else 0)


def dump(base: Segment | None, documents: Sequence[Document], dead: Iterable[int], state: dict[str, Any]) -> bytes:
    """The file `index` of a segment and new documents. Dead ones keep their numbers, without an id."""
    from array import array

    columns = {name: array(code, getattr(base, name) if base else ()) for name, code in _COLUMNS}
    ids = list(base.ids) if base else []
    for number in dead:
        ids[number] = ""
    blobs: dict[str, list[bytes]] = {"pairs": [], "records": []}
    lists: dict[bytes, tuple[bytes | bytearray, bytes | bytearray]] = {}
    if base:
        for name, items in blobs.items():
            items += [base.item(name, number) for number in range(base.count)]
        for number in range(len(base)):
            numbers, counts = base.postings(number)
            lists[base[number]] = (bytes(numbers), counts)
    added: dict[bytes, tuple[bytearray, bytearray]] = {}
    for number, each in enumerate(documents, len(ids)):
        for name, value in zip(columns, (each.length, each.time, each.stamp, KINDS.index(each.kind))):
            columns[name].append(value)
        blobs["pairs"].append(array("I", each.pairs).tobytes())
        shown = [each.kind, each.day, each.line, each.files]
        blobs["records"].append(jsontext.compact(shown).encode("utf-8", "replace"))
        code = number.to_bytes(4, sys.byteorder)
        for term, count in each.counts.items():
            posting = added.setdefault(term.encode("utf-8", "surrogatepass"), (bytearray(), bytearray()))
            posting[0].extend(code)
            posting[1].append(min(count, _COUNT_MAX))
    ids += [each.id for each in documents]
    for word, posting in added.items():
        before = lists.get(word, (b"", b""))
        lists[word] = (before[0] + posting[0], before[1] + posting[1])
    blobs["terms"] = sorted(lists)
    blobs["postings"] = [b"".join(lists[word]) for word in blobs["terms"]]
    sections = [*(column.tobytes() for column in columns.values()), "\n".join(ids).encode("utf-8", "replace")]
    for name in _BLOBS:
        sections.append(array("I", _ends(blobs[name])).tobytes())
    sections += [b"".join(blobs[name]) for name in _BLOBS]
    body = b"".join(sections)
    header = {"state": state, "sizes": [*map(len, sections)], "crc": crc32(body)}
    return b"\n".join([_MAGIC, jsontext.compact(header).encode("utf-8", "replace"), body])


def _ends(items: list[bytes]) -> Iterable[int]:
    end = 0
    for item in items:
        end += len(item)
        yield end


def _read(fd: int, size: int) -> bytes:
    data = os.read(fd, size)
    while 0 < len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            break
        data += more
    return data
