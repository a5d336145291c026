"""What recall is measured against: plain BM25, and SQLite's FTS5 with the words of the query OR-ed."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from typing import Any, Sequence

WORD = re.compile(r"\w+")


def _text(document: dict[str, Any]) -> str:
    return " ".join([document.get("title") or "", document.get("text") or "", *(document.get("files") or ())])


class Bm25:
    name = "plain BM25"

    def __init__(self, documents: Sequence[dict[str, Any]]) -> None:
        self.ids = [document["id"] for document in documents]
        self.times = [document.get("ts") for document in documents]
        self.counts = [Counter(WORD.findall(_text(document).lower())) for document in documents]
        self.holders = Counter(word for counts in self.counts for word in counts)
        self.average = sum(sum(counts.values()) for counts in self.counts) / max(1, len(documents))

    def rank(self, query: str, now: float) -> list[str]:
        words = set(WORD.findall(query.lower())) & set(self.holders)
        worth = {
            word: math.log(1 + (len(self.ids) - n + 0.5) / (n + 0.5)) for word in words for n in [self.holders[word]]
        }
        scores = {}
        for number, counts in enumerate(self.counts):
            if (self.times[number] or now) > now:
                continue
            norm = 1.2 * (0.25 + 0.75 * sum(counts.values()) / self.average)
            scores[number] = sum(worth[word] * counts[word] * 2.2 / (counts[word] + norm) for word in words)
        best = sorted((number for number in scores if scores[number] > 0), key=lambda number: -scores[number])
        return [self.ids[number] for number in best]


class Fts5:
    name = "SQLite FTS5"

    def __init__(self, documents: Sequence[dict[str, Any]]) -> None:
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE VIRTUAL TABLE memory USING fts5(id UNINDEXED, ts UNINDEXED, text)")
        rows = [(document["id"], document.get("ts") or 0, _text(document)) for document in documents]
        self.base.executemany("INSERT INTO memory VALUES (?, ?, ?)", rows)

    def rank(self, query: str, now: float) -> list[str]:
        words = " OR ".join('"%s"' % word for word in dict.fromkeys(WORD.findall(query.lower())))
        if not words:
            return []
        found = "SELECT id FROM memory WHERE memory MATCH ? AND ts <= ? ORDER BY bm25(memory) LIMIT 100"
        return [row[0] for row in self.base.execute(found, (words, now))]
