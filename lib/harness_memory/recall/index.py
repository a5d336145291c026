"""Documents as postings: what a ranking needs to know of them, in memory.

A source of postings, this one or a cache on disk, has

    holders(term)      how many documents hold the term
    postings(term)     which ones, [(number, count), …] by rising number; asked for more than once
    document(number)   the `Document`, asked for the best few only
    count, average     how many documents, and their mean length in terms
    lengths, times, strengths, places   by document number: terms, epoch seconds (None: unknown),
                       how much being new counts for it, and its place in a conversation or None

The paths of a document are terms of their own (`path_term`); their count is how many paths the document has.
"""

from __future__ import annotations

from zlib import crc32

from . import tuning
from .words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping, Protocol, Sequence

    class Source(Protocol):
        @property
        def average(self) -> float: ...
        @property
        def lengths(self) -> Sequence[int]: ...
        @property
        def times(self) -> Sequence[float | None]: ...
        @property
        def strengths(self) -> Sequence[float]: ...
        @property
        def places(self) -> Sequence[tuple[int, int] | None]: ...
        @property
        def count(self) -> int: ...
        def holders(self, term: str) -> int: ...
        def postings(self, term: str) -> Sequence[tuple[int, int]]: ...
        def document(self, number: int) -> Document: ...


class Document:
    """One document without its text: its id, its paths, and the pairs of neighbouring terms in it."""

    __slots__ = ("id", "pairs", "paths")

    def __init__(self, id: str, paths: Sequence[str], pairs: frozenset[int]) -> None:
        self.id = id
        self.paths = paths
        self.pairs = pairs


class Index:
    """The source that `build` makes."""

    __slots__ = ("average", "documents", "lengths", "places", "strengths", "table", "times")

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.table: dict[str, list[tuple[int, int]]] = {}
        self.lengths: list[int] = []
        self.times: list[float | None] = []
        self.strengths: list[float] = []
        self.places: list[tuple[int, int] | None] = []
        self.average = 1.0

    @property
    def count(self) -> int:
        return len(self.documents)

    def holders(self, term: str) -> int:
        return len(self.table.get(term, ()))

    def postings(self, term: str) -> Sequence[tuple[int, int]]:
        return self.table.get(term, ())

    def document(self, number: int) -> Document:
        return self.documents[number]


def build(documents: Iterable[Mapping[str, Any]]) -> Index:
    """An index of the documents that have an id; of two with the same id the later one counts."""
    known = {str(each["id"]): each for each in documents if isinstance(each, dict) and each.get("id") is not None}
    index = Index()
    digests = [digest(each) for each in known.values()]
    is_work = sum(is_about_code(counts) for counts, _ in digests) >= tuning.CODE_SHARE * len(known)
    for number, ((id, each), (counts, pairs)) in enumerate(zip(known.items(), digests)):
        for term, count in counts.items():
            index.table.setdefault(term, []).append((number, count))
        index.documents.append(Document(id, paths_of(each), pairs))
        index.lengths.append(sum(count for term, count in counts.items() if term[0] != _PATH_MARK))
        index.times.append(time_of(each))
        index.strengths.append(strength(each, is_work))
    index.average = sum(index.lengths) / len(known) if known else 1.0
    index.places = _places(index, list(known), list(known.values()), is_work)
    return index


def digest(document: Mapping[str, Any]) -> tuple[dict[str, int], frozenset[int]]:
    """How often each term occurs in a document, paths included, and its pairs of neighbouring terms."""
    title = _text(document.get("title"))
    words = terms(_text(document.get("text"))[: tuning.DOCUMENT_MAX_CHARS])
    words = terms(title) + words
    pairs = frozenset(pair_codes(words))
    tags = document.get("tags")
    for tag in tags if isinstance(tags, (list, tuple)) else ():
        words += terms(_text(tag))
    paths = paths_of(document)
    for path in paths:
        words += terms(path)
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    counts.update((path_term(path), len(paths)) for path in paths)
    return counts, pairs


def pair_codes(words: Sequence[str]) -> list[int]:
    """A number for each two neighbouring terms: a document's pairs are kept for the best few results only."""
    return [pair_code(first, second) for first, second in zip(words, words[1:]) if first != second]


def pair_code(first: str, second: str) -> int:
    return crc32(("%s %s" % (first, second)).encode("utf-8", "surrogatepass"))


_PATH_MARK = "="


def path_term(path: str) -> str:
    """The term under which the documents about a path are found; no term of a text begins like it."""
    return _PATH_MARK + path.replace("\\", "/").strip("/").lower()


def paths_of(document: Mapping[str, Any]) -> list[str]:
    files = document.get("files")
    found = [each for each in files if isinstance(each, str) and each] if isinstance(files, (list, tuple)) else []
    return list(dict.fromkeys(found))[: tuning.PATHS_MAX]


def time_of(document: Mapping[str, Any]) -> float | None:
    value = document.get("ts")
    is_time = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    return float(value) if is_time and value is not None else None


def is_about_code(counts: Mapping[str, int]) -> bool:
    """Whether a document has files, or names a source file."""
    return any(
        term[0] == _PATH_MARK or ("." in term and term[term.rfind(".") + 1 :] in tuning.SOURCE_NAMES) for term in counts
    )


def strength(document: Mapping[str, Any], is_work: bool) -> float:
    """How much being new counts: work moves on, what was said or noted stays true."""
    kind = _text(document.get("type"))
    if kind in tuning.NOTE_TYPES:
        return tuning.RECENCY_OF_NOTES
    return tuning.RECENCY_OF_WORK if is_work or kind == "commit" else tuning.RECENCY_OF_NOTES


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _places(
    index: Index, ids: list[str], documents: list[Mapping[str, Any]], is_work: bool
) -> list[tuple[int, int] | None]:
    """Where each turn of a conversation stands; None throughout for documents that are no turns.

    Turns are short, have no paths, and follow each other within the hour, or are numbered alike ("D1:3", "D1:4").
    """
    if is_work or index.average > tuning.TURN_MAX_TERMS or any(each.get("type") == "commit" for each in documents):
        return [None] * len(ids)
    order = sorted(range(len(ids)), key=lambda number: (index.times[number] or 0.0, number))
    places: list[tuple[int, int] | None] = [None] * len(ids)
    conversation = turn = 0
    for before, number in zip([None, *order], order):
        if before is not None and _follows(index, ids, before, number):
            turn += 1
        else:
            conversation, turn = conversation + 1, 0
        places[number] = (conversation, turn)
    return places


def _follows(index: Index, ids: list[str], before: int, number: int) -> bool:
    earlier, later = index.times[before], index.times[number]
    numbered = ids[before].rstrip("0123456789")
    if numbered and numbered != ids[before] and numbered != ids[number]:
        stem = ids[number].rstrip("0123456789")
        if stem != numbered and earlier == later:
            return False
        if stem == numbered and earlier is None:
            return True
    return earlier is not None and later is not None and later - earlier <= tuning.TURN_GAP_S
