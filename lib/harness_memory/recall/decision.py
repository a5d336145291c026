"""Whether a memory is worth handing over, and why it ranks where it does."""

from __future__ import annotations

from bisect import bisect_left
from math import log

from . import tuning
from .index import build, path_term
from .ranking import Query, best, rarity_of, score, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Container, Mapping

    from .index import Source


def pick(
    index: Source,
    query: str,
    *,
    now: float | None = None,
    context: Mapping[str, Any] | None = None,
    limit: int = tuning.PICK_MAX,
    skip: Container[str] = (),
) -> list[tuple[float, str]]:
    """(worth, id) of the few documents that a prompt calls for; none when nothing does."""
    asked = Query(query if isinstance(query, str) else "", context)
    scores = score(index, asked, now)
    found: list[tuple[float, str]] = []
    for number in best(index, scores, tuning.PICK_LOOKED_AT):
        id = index.document(number).id
        worth = worth_of(index, asked, number, scores[number])
        if worth_injecting(worth) and id not in skip and len(found) < limit:
            found.append((worth, id))
    return found


def worth_injecting(worth: float) -> bool:
    return worth >= tuning.WORTH_MIN


def worth_of(index: Source, query: Query, number: int, score: float) -> float:
    """A score on a scale of its own: weighed by how much of what was asked the document holds.

    A word that no document knows counts as asked for: an unrelated prompt is full of them.
    """
    unknown = log(1 + (index.count + 0.5) / 0.5)
    held = asked = 0.0
    together = 0
    for term, weight in {**query.weights, **{path_term(path): 1.0 for path in query.paths}}.items():
        rarity = rarity_of(index, term)
        asked += weight * (rarity or unknown)
        if rarity and holds(index, term, number):
            held += weight * rarity
            together += 1 if term.isalpha() else 2
    if not together:
        return 0.0
    # One plain word in common is chance, however much of a short prompt it is; so is the best of very many documents.
    chance = (tuning.WORTH_SCALE / unknown) ** 3
    return score * chance * held / asked * (together - 1) / together


def holds(index: Source, term: str, number: int) -> bool:
    postings = index.postings(term)
    at = bisect_left(postings, (number, 0))
    return at < len(postings) and postings[at][0] == number


def explain(
    query: str,
    document: Mapping[str, Any],
    *,
    index: Source | None = None,
    number: int = 0,
    now: float | None = None,
    context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The parts of a document's score: what each step added, the terms it holds, and its worth.

    With an `index`, the document is the one of that `number` in it; without, it is looked at alone.
    """
    source: Source = index if index is not None else build([{**document, "id": document.get("id", "")}])
    asked = Query(query if isinstance(query, str) else "", context)
    parts: dict[str, Any] = {}
    total = 0.0
    for name, scores in steps(source, asked, now):
        parts[name] = scores.get(number, 0.0) - total
        total += parts[name]
    parts["terms"] = {term: rarity_of(source, term) for term in asked.weights if holds(source, term, number)}
    parts["score"] = total
    parts["worth"] = worth_of(source, asked, number, total) if source.count > number else 0.0
    return parts
