"""Documents as postings in one file, read term by term.

A line of magic, a line of JSON `{"state", "length", "sizes"}`, then the sections of `_SECTIONS` in this machine's byte
order: columns of the documents; the ends of all terms, posting lists, words and records; the terms, sorted; the ids
of the documents, one a line; posting lists, words and records. A posting list is document numbers (4 bytes each), then
counts (1 byte each). Words are the codes (4 bytes each) of a document's terms in their order, 0 before each passage and
ASKS at the end of one that is a question. A record is JSON: [id, kind, day, line, files].
"""

from __future__ import annotations

import os
import sys
from itertools import accumulate

from .. import __version__
from ..base import jsontext
from ..base.typing import Any, Sequence

SESSION, NOTE, ARCHIVED = "session", "note", "archived"
ASKS = 1
_TALK_SHARE = 0.1  # of documents with files; with fewer it is talk
MAGIC = b"harness-recall %s.13 %s" % (__version__.encode(), sys.byteorder.encode())
COLUMNS = (("lengths", "I"), ("times", "d"), ("stamps", "Q"), ("breadths", "B"))
BLOBS = ("terms", "postings", "words", "records")
_SECTIONS = (*(name for name, _ in COLUMNS), *(name + " ends" for name in BLOBS), "terms", "ids", *BLOBS[1:])


class Record:
    """What recall shows of a document."""

    __slots__ = ("day", "files", "id", "kind", "line")

    def __init__(self, id: str, kind: str, day: str, line: str, files: list[str]) -> None:
        self.id, self.kind, self.day, self.line, self.files = id, kind, day, line, files

    def to_row(self) -> list[Any]:
        return [self.id, self.kind, self.day, self.line, self.files]


class Document:
    """Term counts, the words as codes in hexadecimal, and the record to show; `stamp` is the version of its file."""

    __slots__ = ("counts", "length", "record", "stamp", "time", "words")

    def __init__(
        self, counts: dict[str, int], words: str, length: int, time: float, record: list[Any], stamp: int = 0
    ) -> None:
        self.counts, self.words, self.length, self.time = counts, words, length, time
        self.record, self.stamp = Record(*record), stamp

    def to_row(self) -> list[Any]:
        return [self.counts, self.words, self.length, self.time, self.record.to_row(), self.stamp]


class Segment:
    """The file, or its start with a descriptor `fd` for the rest. Damage is a ValueError or an IndexError."""

    def __init__(self, data: bytes, fd: int = -1) -> None:
        line = data.index(b"\n") + 1
        start = data.index(b"\n", line) + 1
        if data[: line - 1] != MAGIC:
            raise ValueError("written by another version or on another machine")
        header = jsontext.loads(data[line : start - 1])
        starts = [*accumulate(header["sizes"], initial=start)]
        if starts[-1] != (os.fstat(fd).st_size if fd >= 0 else len(data)):
            raise ValueError("damaged")
        self._spans = dict(zip(_SECTIONS, zip(starts, starts[1:])))
        self.fd, self._data = fd, data
        if fd >= 0:
            self._data = self._read(0, self._spans["terms"][1])
        self.state: dict[str, Any] = header["state"]
        self.length: int = header["length"]  # of all documents
        self.columns: dict[str, Any] = {name: self._column(name, code) for name, code in COLUMNS}
        self.ends = {name: self._column(name + " ends", "I") for name in BLOBS}
        self.count = len(self.columns["lengths"])

    def _column(self, name: str, code: str) -> Any:
        begin, end = self._spans[name]
        return memoryview(self._data)[begin:end].cast(code)  # type: ignore[call-overload]

    def ids(self) -> list[str]:
        """The id of each document."""
        return self._read(*self._spans["ids"]).decode("utf-8", "replace").split("\n") if self.count else []

    def item(self, name: str, number: int) -> bytes:
        ends, start = self.ends[name], self._spans[name][0]
        return self._read(start + (ends[number - 1] if number else 0), start + ends[number])

    def _read(self, begin: int, end: int) -> bytes:
        if end <= len(self._data):
            return self._data[begin:end]
        os.lseek(self.fd, begin, os.SEEK_SET)
        return os.read(self.fd, end - begin)

    def find(self, term: str) -> int:
        """The number of a term; -1 when no document has it."""
        word, data, start = term.encode("utf-8", "surrogatepass"), self._data, self._spans["terms"][0]
        ends = self.ends["terms"]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            at = data[start + (ends[middle - 1] if middle else 0) : start + ends[middle]]
            if at < word:
                low = middle + 1
            elif at > word:
                high = middle
            else:
                return middle
        return -1

    def holders(self, number: int) -> int:
        ends = self.ends["postings"]
        return int(ends[number] - (ends[number - 1] if number else 0)) // 5

    def postings(self, number: int) -> tuple[Sequence[int], bytes]:
        data = self.item("postings", number)
        split = len(data) // 5 * 4
        return memoryview(data)[:split].cast("I"), data[split:]


class Source:
    """Documents as `ranking` reads them, by number: those of a segment, then recent ones."""

    def __init__(self, base: Segment | None, recent: Sequence[Document], dead: set[int]) -> None:
        """`dead` are numbers of the segment whose documents are gone or replaced."""
        self._base, self._recent, self._dead = base, recent, dead
        self._first = base.count if base else 0
        self._records: dict[int, Record] = {}
        self._lists: dict[str, dict[int, int]] = {}
        self._numbers: dict[str, int] = {}  # of terms in the segment
        self._holders: dict[str, int] = {}
        columns = base.columns if base else {name: memoryview(b"") for name, _ in COLUMNS}
        self.lengths: Sequence[int] = columns["lengths"]
        self.times: Sequence[float] = columns["times"]
        if recent:
            self.lengths = [*self.lengths, *(each.length for each in recent)]
            self.times = [*self.times, *(each.time for each in recent)]
        # How many files each names.
        self.breadths = columns["breadths"].tobytes() + bytes([len(each.record.files) for each in recent])
        self.count = len(self.lengths)
        self.is_talk = self.breadths.count(0) > (1 - _TALK_SHARE) * self.count
        total = (base.length if base else 0) + sum([each.length for each in recent])
        self.average = total / self.count if self.count else 1.0

    def holders(self, term: str) -> int:
        if term not in self._holders:
            number = self._numbers[term] = self._base.find(term) if self._base else -1
            in_base = self._base.holders(number) if self._base and number >= 0 else 0
            self._holders[term] = in_base + sum([term in each.counts for each in self._recent])
        return self._holders[term]

    def postings(self, term: str) -> dict[int, int]:
        """How often each document has the term, by its number."""
        if term not in self._lists:
            is_in_base = self.holders(term) and self._numbers[term] >= 0
            result = dict(zip(*self._base.postings(self._numbers[term]))) if self._base and is_in_base else {}
            for number in self._dead.intersection(result):
                del result[number]
            result.update(
                (n, each.counts[term]) for n, each in enumerate(self._recent, self._first) if term in each.counts
            )
            self._lists[term] = result
        return self._lists[term]

    def between(self, start: float, end: float) -> list[int]:
        """The documents of a time."""
        return [n for n, time in enumerate(self.times) if start <= time <= end and n not in self._dead]

    def words(self, number: int) -> bytes:
        if self._base and number < self._first:
            return self._base.item("words", number)
        return bytes.fromhex(self._recent[number - self._first].words)

    def record(self, number: int) -> Record:
        if number not in self._records:
            if self._base and number < self._first:
                self._records[number] = Record(*jsontext.loads(self._base.item("records", number)))
            else:
                self._records[number] = self._recent[number - self._first].record
        return self._records[number]
