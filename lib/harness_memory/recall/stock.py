"""Reading what recall searches in: the caches of a project and its user, as one source of postings."""

from __future__ import annotations

import os
import time

from ..base import files, jsontext, settings
from . import cache, recent
from .documents import HIDES, ID_MARK, NEVER, NOTE, SESSION
from .segment import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .documents import Digest
    from .segment import Segment


class Stock:
    """All that recall searches in, as one source of postings (see `recall.index`)."""

    __slots__ = (
        "_documents",
        "_first_recent",
        "_lists",
        "_parts",
        "_recent",
        "_segments",
        "_spared",
        "average",
        "lengths",
        "most",
        "places",
        "records",
        "strengths",
        "times",
    )

    def __init__(self, segments: list[Segment], recent: list[Digest]) -> None:
        """The first of the `segments` is that of the episodes, if there is one."""
        self._recent = recent
        self._segments: list[tuple[int, Segment]] = []
        begin = 0
        for segment in segments:
            self._segments.append((begin, segment))
            begin += segment.count
        self._first_recent = begin
        self._parts: dict[str, list[tuple[int, tuple[Any, Any]]]] = {}
        self._lists: dict[str, list[tuple[int, int]]] = {}
        self._spared: set[str] | None = None
        self._documents: dict[int, Any] = {}
        self.most = settings.RECALL_POSTINGS
        self.records: dict[str, list[Any]] = {}  # of every document looked at, by its id
        self.places: tuple[()] = ()
        self._join(segments)
        self._bury()

    def _join(self, segments: list[Segment]) -> None:
        from array import array

        recent = self._recent
        lengths = array("I", [each.length for each in recent]).tobytes()
        times = array("d", [each.time for each in recent]).tobytes()
        strengths = array("f", [each.strength for each in recent]).tobytes()
        self.lengths = memoryview(b"".join([*(each.lengths for each in segments), lengths])).cast("I")
        self.times = memoryview(bytearray(b"".join([*(each.times for each in segments), times]))).cast("d")
        self.strengths = memoryview(b"".join([*(each.strengths for each in segments), strengths])).cast("f")
        total = sum(segment.header["total"] for segment in segments) + sum(each.length for each in recent)
        self.average = total / len(self.lengths) if len(self.lengths) else 1.0

    def _bury(self) -> None:
        """Documents that were written anew since: a time that never comes keeps them out of every ranking."""
        for each in self._recent if self._segments else ():
            for number in self._segments[0][1].postings(ID_MARK + each.id)[0]:
                self.times[number] = NEVER

    def settle(self, now: float) -> None:
        """What a wrong clock dated later than now counts as new, and is found."""
        for number, at in enumerate(self.times):
            if now < at < NEVER:
                self.times[number] = now

    @property
    def count(self) -> int:
        return len(self.lengths)

    def postings(self, term: str) -> list[tuple[int, int]]:
        if self._spared is None:
            self._spared = self._chosen()
        if term in self._spared:
            return []
        found = self._lists.get(term)
        if found is None:
            found = self._lists[term] = [
                (begin + number, count) for begin, part in self._read(term) for number, count in zip(*part)
            ]
        return found

    def holders(self, term: str) -> int:
        return sum(len(counts) for _, (_, counts) in self._read(term))

    def holds(self, number: int, term: str) -> bool:
        return any(begin <= number and _is_in(number - begin, part[0]) for begin, part in self._read(term))

    def _chosen(self) -> set[str]:
        """Of the terms asked about so far the commonest: what is beyond the postings there is time to go through."""
        known = sorted([(self.holders(term), term) for term in self._parts])
        total, spared = 0, set()
        for holders, term in known:
            total += holders
            if total > self.most and holders > settings.RECALL_POSTINGS_ALWAYS:
                spared.add(term)
        return spared

    def _read(self, term: str) -> list[tuple[int, tuple[Any, Any]]]:
        """(number of the first document, its numbers and counts) of each part that has the term."""
        known = self._parts.get(term)
        if known is None:
            known = [(begin, segment.postings(term)) for begin, segment in self._segments]
            here = [(number, each.counts[term]) for number, each in enumerate(self._recent) if term in each.counts]
            if here:
                numbers, counts = zip(*here)
                known.append((self._first_recent, (numbers, counts)))
            known = self._parts[term] = [(begin, part) for begin, part in known if part[1]]
        return known

    def document(self, number: int) -> Any:
        known = self._documents.get(number)
        if known is None:
            from .index import Document

            pairs, shown = self._record(number)
            known = self._documents[number] = Document(str(shown[0]), shown[4], pairs)
            self.records[known.id] = shown
        return known

    def _record(self, number: int) -> tuple[frozenset[int], list[Any]]:
        if number >= self._first_recent:
            recent = self._recent[number - self._first_recent]
            return frozenset(recent.pairs), recent.record
        begin, segment = [part for part in self._segments if part[0] <= number][-1]
        return segment.record(number - begin)

    def is_hidden(self, note: str) -> bool:
        """Whether a nearer scope has a note of that name, or one that says it takes its place."""
        scope, _, slug = note.partition("/")
        nearer = "project/" + slug if scope == "user" else ""
        return bool(self.holders(HIDES + note) or (nearer and self.holders(ID_MARK + nearer)))

    def close(self) -> None:
        for _, segment in self._segments:
            segment.close()


def open_stock(store_root: str, project_dir: str, on_damage: Callable[[str], object] = files.remove) -> Stock | None:
    """Everything in reach of a project; None when there is nothing. What is damaged is told, and removed."""
    since = recent.load(project_dir)  # first: what is taken into the file meanwhile must not be missed
    paths = [os.path.join(recent.folder(project_dir), name) for name in cache.CACHES]
    paths.append(os.path.join(recent.folder(os.path.join(store_root, settings.USER_DIR)), settings.NOTES_CACHE))
    segments = [segment for segment in [cache.open_segment(path, on_damage) for path in paths] if segment]
    return Stock(segments, since) if segments or since else None


def known_episodes(project_dir: str) -> dict[str, tuple[int, tuple[int, ...], str]] | None:
    """The fingerprint of each episode that recall knows; None when it knows nothing."""
    if not os.path.isdir(recent.folder(project_dir)):
        return None
    known = {}
    since = recent.load(project_dir)  # first, as above
    base = cache.open_segment(cache.base_path(project_dir), lambda path: None)
    if base:
        lengths = base.columns[0]
        for number, id in enumerate(base.ids()):
            try:
                pairs, shown = base.record(number)
            except Damaged:
                continue  # as if it were not known
            known[id] = (lengths[number], tuple(sorted(pairs)), jsontext.compact(shown))
        base.close()
    for digest in since:
        known[digest.id] = digest.fingerprint
    return known


def is_gone(store_root: str, project_dir: str, id: str, kind: str) -> bool:
    """Whether what a document was made of is no longer there, or is newer than what is known of it."""
    if kind == SESSION:
        return not os.path.isfile(os.path.join(project_dir, settings.EPISODES_DIR, id))
    if kind == NOTE:
        path = note_path(store_root, project_dir, id)
        written = files.modified(path)
        if written > time.time() + settings.DAY_SECONDS:
            return False  # a wrong clock's: it cannot tell
        return not 0 < written <= files.made(_notes_cache(store_root, project_dir, id))
    return False


def note_path(store_root: str, project_dir: str, ref: str) -> str:
    scope, _, slug = ref.partition("/")
    home = os.path.join(store_root, settings.USER_DIR) if scope == "user" else project_dir
    return os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR, slug + ".md")


def are_notes_newer(store_root: str, project_dir: str) -> bool:
    """Whether a note came, went or was replaced since the notes were indexed."""
    for scope in ("project", "user"):
        topics = os.path.dirname(note_path(store_root, project_dir, scope + "/x"))
        if files.modified(topics) > files.made(_notes_cache(store_root, project_dir, scope + "/x")):
            return True
    return False


def _notes_cache(store_root: str, project_dir: str, ref: str) -> str:
    home = os.path.join(store_root, settings.USER_DIR) if ref.startswith("user/") else project_dir
    return os.path.join(recent.folder(home), settings.NOTES_CACHE)


def _is_in(number: int, numbers: Any) -> bool:
    """Whether a document is among the ascending numbers of a postings list."""
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < len(numbers) and bool(numbers[low] == number)
