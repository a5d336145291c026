"""The writer of the index; a prompt seldom needs it."""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate

from ..base import jsontext
from .index import BLOBS, COLUMNS, MAGIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .index import Document, Segment


def dump(base: Segment | None, documents: Sequence[Document], dead: Iterable[int], state: dict[str, Any]) -> bytes:
    """The file of a segment and more documents. Dead ones keep their number and lose their id."""
    columns = {name: array(code, base.columns[name] if base else ()) for name, code in COLUMNS}
    ids = base.ids() if base else []
    count = len(ids)
    blobs = {name: [base.item(name, number) for number in range(count)] if base else [] for name in BLOBS[2:]}
    for number in dead:
        ids[number], blobs["records"][number] = "", b""
    lists: dict[bytes, tuple[bytearray, bytearray]] = {}
    if base:
        for number in range(len(base.ends["terms"])):
            numbers, counts = base.postings(number)
            lists[base.item("terms", number)] = (bytearray(numbers), bytearray(counts))
    for number, each in enumerate(documents, count):
        ids.append(each.record.id)
        row = (each.length, each.time, each.stamp, len(each.record.files))
        for column, value in zip(columns.values(), row):
            column.append(value)
        blobs["words"].append(bytes.fromhex(each.words))
        blobs["records"].append(jsontext.compact(each.record.to_row()).encode("utf-8", "replace"))
        code = number.to_bytes(4, sys.byteorder)
        for term, occurrences in each.counts.items():
            posting = lists.setdefault(term.encode("utf-8", "surrogatepass"), (bytearray(), bytearray()))
            posting[0].extend(code)
            posting[1].append(min(occurrences, 255))
    blobs["terms"] = sorted(lists)
    blobs["postings"] = [b"".join(lists[word]) for word in blobs["terms"]]
    sections = [column.tobytes() for column in columns.values()]
    sections += [array("I", accumulate(map(len, blobs[name]))).tobytes() for name in BLOBS]
    texts = [b"".join(blobs[name]) for name in BLOBS]
    sections += [texts[0], "\n".join(ids).encode("utf-8", "replace"), *texts[1:]]
    header = {"state": state, "sizes": [*map(len, sections)]}
    return b"\n".join([MAGIC, jsontext.compact(header).encode("utf-8", "replace"), b"".join(sections)])
