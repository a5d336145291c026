"""A file of postings: what ranking needs of many documents, read term by term without loading the rest.

    harness-recall <version> <crc of the header>\\n
    {"count", "total", "order", "columns", "directory", "entries", "ids", "blobs", "records", …}\\n

then, at the offsets that the header tells, in this machine's byte order:

    columns     lengths (4 bytes each), times (8), strengths (4), ends of records (8); with a CRC of them all
    directory   for each value of the first bits of a term's CRC, where its entries begin (4 bytes)
    entries     CRC of the term, offset, number of postings, bytes of the term, CRC of the blob (4 bytes each)
    ids         of all documents, one a line; with a CRC of directory, entries and ids
    blobs       document numbers (4 bytes each), counts (1 each), the term
    records     CRC of the rest (4), number of pairs (4), pairs (4 each), [id, kind, day, line, files] as JSON

The file is written whole and replaced, never changed. It is a cache: anything odd about it is `Damaged`.
"""

from __future__ import annotations

import os
import sys
from zlib import crc32

from .. import __version__
from ..base import files, jsontext, settings
from .documents import ID_MARK, NEVER, is_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .documents import Digest

_MAGIC = "harness-recall %s.%d" % (__version__, settings.RECALL_FORMAT)
_ENTRY_BYTES = 20
_WHOLE_BYTES = 1024 * 1024  # a smaller file is read in one go
_HEADER_BYTES = 4096
_COUNT_MAX = 255


class Damaged(ValueError):
    """Not a file of postings of this version and machine."""


class Segment:
    """An open file of postings."""

    __slots__ = ("_data", "_fd", "_start", "ends", "header", "lengths", "strengths", "times")

    def __init__(self, path: str, *, is_whole: bool = False) -> None:
        """OSError when there is none, Damaged when it is not what it should be.

        `is_whole` looks at all ways into it, too: a garbled one looks like a term that no document has.
        """
        self._fd = files.open_plain(path)
        try:
            size = os.fstat(self._fd).st_size
            self._data = _read_all(self._fd, size) if size <= _WHOLE_BYTES else b""
            self.header, self._start = self._read_header(size)
            self._read_columns()
            if is_whole:
                self._check_ways()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            self.close()
            raise Damaged("%s: %s" % (path, error)) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._fd)

    @property
    def count(self) -> int:
        return len(self.lengths) // 4

    @property
    def columns(self) -> tuple[Sequence[int], Sequence[float], Sequence[float]]:
        """Lengths, times and strengths of the documents."""
        views = memoryview(self.lengths), memoryview(self.times), memoryview(self.strengths)
        return views[0].cast("I"), views[1].cast("d"), views[2].cast("f")

    def postings(self, term: str) -> tuple[memoryview, bytes]:
        """Document numbers, and how often each has the term."""
        word = term.encode("utf-8", "surrogatepass")
        code = crc32(word)
        bits, at = self.header["bits"], self.header["directory"]
        first, last = memoryview(self._at(at + (code >> (32 - bits)) * 4, 8)).cast("I")
        entries = memoryview(self._at(self.header["entries"] + first * _ENTRY_BYTES, (last - first) * _ENTRY_BYTES))
        fields = entries.cast("I")
        for number in range(0, len(fields), 5):
            if fields[number] == code:
                numbers, counts, found = self._blob(fields[number + 1 : number + 5].tolist())
                if found == word:
                    return numbers, counts
        return memoryview(b"").cast("I"), b""

    def record(self, number: int) -> tuple[frozenset[int], list[Any]]:
        """The pairs of a document, and what is shown of it."""
        data = self.raw_record(number)
        try:
            code, pairs = memoryview(data[:8]).cast("I")
            end = 8 + 4 * pairs
            shown = jsontext.loads(data[end:])
            known = frozenset(memoryview(data[8:end]).cast("I"))
        except (TypeError, ValueError) as error:
            raise Damaged("a record is garbled: %s" % error) from None
        if crc32(data[4:]) != code or not is_shown(shown):
            raise Damaged("a record is garbled")
        return known, shown

    def terms(self) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        """Everything: each term with its CRC, its document numbers and counts, as they lie in the file."""
        begin, end = self.header["entries"], self.header["ids"]
        fields = memoryview(self._at(begin, end - begin)).cast("I").tolist()
        begin, end = self.header["blobs"], self.header["records"]
        blobs = self._at(begin, end - begin)
        for number in range(0, len(fields), 5):
            code, offset, count, length, crc = fields[number : number + 5]
            split, last = offset + count * 4, offset + count * 5
            if crc32(blobs[offset : last + length]) != crc:
                raise Damaged("postings are garbled")
            yield code, blobs[last : last + length], blobs[offset:split], blobs[split:last]

    def ids(self) -> list[str]:
        at = self.header["ids"]
        return self._at(at, self.header["blobs"] - at).decode("utf-8", "replace").split("\n")[: self.count]

    def raw_record(self, number: int) -> bytes:
        ends = memoryview(self.ends).cast("Q")
        begin = ends[number - 1] if number else 0
        return self._at(self.header["records"] + begin, ends[number] - begin)

    def _blob(self, entry: list[int]) -> tuple[memoryview, bytes, bytes]:
        offset, count, length, code = entry
        data = self._at(self.header["blobs"] + offset, count * 5 + length)
        if crc32(data) != code:
            raise Damaged("postings are garbled")
        return memoryview(data[: count * 4]).cast("I"), data[count * 4 : count * 5], data[count * 5 :]

    def _at(self, offset: int, size: int) -> bytes:
        offset += self._start
        if size < 0:
            raise Damaged("its directory is garbled")
        if self._data:
            data = self._data[offset : offset + size]
        else:
            os.lseek(self._fd, offset, os.SEEK_SET)
            data = _read_all(self._fd, size)
        if len(data) != size:
            raise Damaged("it ends too early")
        return data

    def _read_header(self, size: int) -> tuple[dict[str, Any], int]:
        head = self._data[:_HEADER_BYTES] or os.read(self._fd, _HEADER_BYTES)
        magic, _, rest = head.partition(b"\n")
        line, newline, _ = rest.partition(b"\n")
        if magic.decode("ascii", "replace") != "%s %08x" % (_MAGIC, crc32(line)) or not newline:
            raise Damaged("of another version, or no file of ours")
        header = jsontext.loads(line)
        start = len(magic) + len(line) + 2
        if header["order"] != sys.byteorder or start + header["size"] != size:
            raise Damaged("of another machine, or incomplete")
        return header, start

    def _check_ways(self) -> None:
        begin = self.header["directory"]
        if crc32(self._at(begin, self.header["blobs"] - begin)) != self.header["ways"]:
            raise Damaged("its directory is garbled")

    def _read_columns(self) -> None:
        count = self.header["count"]
        data = self._at(self.header["columns"], count * 24)
        if crc32(data) != self.header["crc"]:
            raise Damaged("its columns are garbled")
        self.lengths = data[: count * 4]
        self.times = data[count * 4 : count * 12]
        self.strengths = data[count * 12 : count * 16]
        self.ends = data[count * 16 :]


class Table:
    """Postings in memory, to be written: documents of a segment and new ones."""

    __slots__ = ("_added", "_taken", "ends", "ids", "lengths", "records", "strengths", "times")

    def __init__(self) -> None:
        from array import array

        self.lengths = array("I")
        self.times = array("d")
        self.strengths = array("f")
        self.ends = array("Q")
        self.records: list[bytes] = []
        self.ids: list[str] = []
        self._taken: dict[bytes, tuple[int, bytes, bytes]] = {}
        self._added: dict[bytes, tuple[bytearray, bytearray]] = {}

    def take(self, segment: Segment, dropped: set[int]) -> None:
        """All documents of a segment but some; only into an empty table.

        A few are left in their places, at a time that never comes: giving all others new numbers takes long.
        """
        is_few = len(dropped) * 4 <= segment.count
        kept = [number for number in range(segment.count) if is_few or number not in dropped]
        lengths, times, strengths = segment.columns
        self.lengths.extend([lengths[number] for number in kept])
        self.times.extend([times[number] for number in kept])
        self.strengths.extend([strengths[number] for number in kept])
        ids = segment.ids()
        for number in kept:
            self._add_record(ids[number], segment.raw_record(number))
        for number in dropped if is_few else ():
            self.times[number], self.ids[number] = NEVER, ""
        change = None if is_few else _renumbering(kept)
        for code, word, numbers, counts in segment.terms():
            if change:
                numbers, counts = change(numbers, counts)
            if numbers:
                self._taken[word] = (code, numbers, counts)

    def add(self, digest: Digest) -> None:
        number = len(self.lengths).to_bytes(4, sys.byteorder)
        self.lengths.append(digest.length)
        self.times.append(digest.time)
        self.strengths.append(digest.strength)
        pairs = b"".join([code.to_bytes(4, sys.byteorder) for code in (len(digest.pairs), *digest.pairs)])
        record = pairs + jsontext.compact(digest.record).encode("utf-8", "replace")
        self._add_record(digest.id, crc32(record).to_bytes(4, sys.byteorder) + record)
        for term, count in (*digest.counts.items(), (ID_MARK + digest.id, 1)):
            word = term.encode("utf-8", "surrogatepass")
            known = self._added.get(word)
            if known is None:
                known = self._added[word] = (bytearray(), bytearray())
            known[0].extend(number)
            known[1].append(min(count, _COUNT_MAX))

    def dump(self, **extra: Any) -> bytes:
        """The file; `extra` goes into its header."""
        codes = [(code, word) for word, (code, _, _) in self._taken.items()]
        codes += [(crc32(word), word) for word in self._added if word not in self._taken]
        codes.sort()
        bits = max(1, min(24, len(codes).bit_length() - 2))
        entries, blobs = self._blobs(codes)
        columns = b"".join([column.tobytes() for column in (self.lengths, self.times, self.strengths, self.ends)])
        directory = _directory([code for code, _ in codes], bits)
        ids = "\n".join(self.ids).encode("utf-8", "replace")
        sections = {"columns": columns, "directory": directory, "entries": entries, "ids": ids, "blobs": blobs}
        sections["records"] = b"".join(self.records)
        header: dict[str, Any] = {"count": len(self.lengths), "total": sum(self.lengths), "order": sys.byteorder}
        header.update(extra, bits=bits, crc=crc32(columns), ways=crc32(ids, crc32(entries, crc32(directory))))
        offset = 0
        for name, data in sections.items():
            header[name] = offset
            offset += len(data)
        header["size"] = offset
        line = jsontext.compact(header).encode("ascii")
        return b"".join([b"%s %08x\n%s\n" % (_MAGIC.encode(), crc32(line), line), *sections.values()])

    def _blobs(self, codes: list[tuple[int, bytes]]) -> tuple[bytes, bytes]:
        from array import array

        entries, blobs = array("I"), []
        offset = 0
        for code, word in codes:
            _, numbers, counts = self._taken.get(word, _NOTHING)
            added = self._added.get(word)
            if added:
                numbers, counts = numbers + added[0], counts + added[1]
            blob = b"%s%s%s" % (numbers, counts, word)
            entries.extend((code, offset, len(counts), len(word), crc32(blob)))
            blobs.append(blob)
            offset += len(blob)
        return entries.tobytes(), b"".join(blobs)

    def _add_record(self, id: str, data: bytes) -> None:
        self.ids.append(id)
        self.records.append(data)
        self.ends.append((self.ends[-1] if self.ends else 0) + len(data))


_NOTHING = (0, b"", b"")


def _renumbering(kept: list[int]) -> Callable[[bytes, bytes], tuple[bytes, bytes]]:
    """What takes postings of a segment to the numbers its documents have once the others are gone."""
    from array import array

    new = {number: place for place, number in enumerate(kept)}

    def change(numbers: bytes, counts: bytes) -> tuple[bytes, bytes]:
        pairs = [(new[number], count) for number, count in zip(memoryview(numbers).cast("I"), counts) if number in new]
        return array("I", [number for number, _ in pairs]).tobytes(), bytes([count for _, count in pairs])

    return change


def _directory(codes: list[int], bits: int) -> bytes:
    """Where the entries of each bucket begin, and where the last one ends."""
    from array import array

    starts = array("I", [0]) * ((1 << bits) + 1)
    for code in codes:
        starts[(code >> (32 - bits)) + 1] += 1
    for bucket in range(1, len(starts)):
        starts[bucket] += starts[bucket - 1]
    return starts.tobytes()


def _read_all(fd: int, size: int) -> bytes:
    data = os.read(fd, size)
    while 0 < len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            break
        data += more
    return data
