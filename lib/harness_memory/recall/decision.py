"""Whether a memory is worth handing over, and why it ranks where it does."""

from __future__ import annotations

from math import log

from . import tuning
from .index import build
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
    for number in best(scores, tuning.PICK_LOOKED_AT):
        id = index.document(number).id
        worth = worth_of(index, asked, number, scores[number])
        if worth_injecting(worth) and id not in skip and len(found) < limit:
            found.append((worth, id))
    return found


def worth_injecting(worth: float) -> bool:
    return worth >= tuning.WORTH_MIN


def worth_of(index: Source, query: Query, number: int, score: float) -> float:
    """A score on a scale of its own: how much of what was asked the document holds, whatever the number of documents.

    A word that no document knows counts as asked for: an unrelated prompt is full of them.
    """
    unknown = log(1 + (index.count + 0.5) / 0.5)
    held = asked = 0.0
    for term, weight in query.weights.items():
        rarity = rarity_of(index, term)
        asked += weight * (rarity or unknown)
        if rarity and index.holds(number, term):
            held += weight * rarity
    usual_newness = 1 + index.strengths[number] / 2
    return score / usual_newness / unknown * held / asked if asked else 0.0


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
    parts["terms"] = {term: rarity_of(source, term) for term in asked.weights if source.holds(number, term)}
    parts["score"] = total
    parts["worth"] = worth_of(source, asked, number, total) if source.count > number else 0.0
    return parts
