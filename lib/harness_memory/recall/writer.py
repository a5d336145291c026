"""The writer of the index; a prompt seldom needs it."""

from __future__ import annotations

from array import array
from itertools import accumulate

from ..base import jsontext
from ..base.typing import Any, Collection, Sequence
from .index import BLOBS, COLUMNS, MAGIC, Document, Segment


def dump(base: Segment | None, documents: Sequence[Document], dead: Collection[int], state: dict[str, Any]) -> bytes:
    """The file of a segment without its dead documents, and of more documents."""
    kept = [number for number in range(base.count) if number not in dead] if base else []
    columns = {name: array(code, [base.columns[name][n] for n in kept] if base else ()) for name, code in COLUMNS}
    ids = [id for number, id in enumerate(base.ids()) if number not in dead] if base else []
    blobs = {name: [base.item(name, number) for number in kept] if base else [] for name in BLOBS[2:]}
    lists: dict[bytes, tuple[array[int], bytearray]] = {}
    if base:
        places = {number: place for place, number in enumerate(kept)}
        for number in range(len(base.ends["terms"])):
            pairs = [(places[n], count) for n, count in zip(*base.postings(number)) if n in places]
            if pairs:
                numbers, counts = zip(*pairs)
                lists[base.item("terms", number)] = array("I", numbers), bytearray(counts)
    for number, each in enumerate(documents, len(kept)):
        ids.append(each.record.id)
        row = (each.length, each.time, each.stamp, len(each.record.files))
        for column, value in zip(columns.values(), row):
            column.append(value)
        blobs["words"].append(bytes.fromhex(each.words))
        blobs["records"].append(jsontext.compact(each.record.to_row()).encode("utf-8", "replace"))
        for term, occurrences in each.counts.items():
            posting = lists.setdefault(term.encode("utf-8", "surrogatepass"), (array("I"), bytearray()))
            posting[0].append(number)
            posting[1].append(min(occurrences, 255))
    blobs["terms"] = sorted(lists)
    blobs["postings"] = [b"".join(lists[word]) for word in blobs["terms"]]
    sections = [column.tobytes() for column in columns.values()]
    sections += [array("I", accumulate(map(len, blobs[name]))).tobytes() for name in BLOBS]
    texts = [b"".join(blobs[name]) for name in BLOBS]
    sections += [texts[0], "\n".join(ids).encode("utf-8", "replace"), *texts[1:]]
    header = {"state": state, "length": sum(columns["lengths"]), "sizes": [*map(len, sections)]}
    return b"\n".join([MAGIC, jsontext.compact(header).encode("utf-8", "replace"), b"".join(sections)])
