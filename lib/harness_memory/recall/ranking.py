"""BM25 over terms, then what else tells the right memory: pairs, time, files, the turns around it."""

from __future__ import annotations

from math import log, sqrt

from . import tuning
from .index import pair_code, path_term
from .vocabulary import FRAMING
from .words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Mapping

    from .index import Source

    Scores = dict[int, float]


class Query:
    """What is asked: a weight for each term, the neighbouring terms, the paths this session has touched."""

    __slots__ = ("pairs", "paths", "weights")

    def __init__(self, text: str, context: Mapping[str, Any] | None = None) -> None:
        words = terms(_ends(text))
        self.pairs = {(first, second) for first, second in zip(words, words[1:]) if first != second}
        self.weights = _weights(words)
        self.paths: list[str] = []
        if isinstance(context, dict):
            self._add_context(context)

    def _add_context(self, context: Mapping[str, Any]) -> None:
        prompts = _texts(context.get("prompts"))[-tuning.PROMPTS_MAX :]
        branch = context.get("branch")
        if isinstance(branch, str) and branch not in {"main", "master", "develop", "trunk", "HEAD"}:
            prompts.append(branch)
        for prompt in prompts:
            for word in terms(_ends(prompt)):
                weight = tuning.CONTEXT_WEIGHT * (tuning.FRAMING_WEIGHT if word in FRAMING else 1.0)
                self.weights.setdefault(word, weight)
        root = context.get("cwd")
        root = root.rstrip("/\\") + "/" if isinstance(root, str) and root else "/"
        paths = _texts(context.get("files"))[: tuning.PATHS_MAX]
        self.paths = [path[len(root) :] if path.startswith(root) else path for path in paths]


def rank(
    index: Source, query: str, *, now: float | None = None, context: Mapping[str, Any] | None = None
) -> list[tuple[float, str]]:
    """(score, id) of the few hundred documents that answer best to a query, none later than `now`."""
    asked = Query(query if isinstance(query, str) else "", context)
    scores = score(index, asked, now)
    return [(scores[number], index.document(number).id) for number in best(index, scores, len(scores))]


def _candidates(index: Source, scores: Scores, now: float | None) -> Scores:
    if now is not None:
        times = index.times
        scores = {number: value for number, value in scores.items() if (times[number] or now) <= now}
    if len(scores) <= tuning.CANDIDATES:
        return scores
    floor = sorted(scores.values(), reverse=True)[tuning.CANDIDATES]
    return {number: value for number, value in scores.items() if value > floor}


def best(index: Source, scores: Scores, limit: int) -> list[int]:
    """The documents with the highest scores; of equal ones the newest first."""
    if limit < len(scores):
        floor = sorted(scores.values(), reverse=True)[limit]
        scores = {number: value for number, value in scores.items() if value >= floor}
    times = index.times
    return sorted(scores, key=lambda number: (-scores[number], -(times[number] or 0.0), number))[:limit]


def score(index: Source, query: Query, now: float | None) -> Scores:
    """A score for every document that has to do with the query, by its number."""
    return [scores for _, scores in steps(index, query, now)][-1]


def steps(index: Source, query: Query, now: float | None) -> Iterator[tuple[str, Scores]]:
    """The scores after each step of the ranking, and what the step is called."""
    rarities = _read(index, query)
    scores = _candidates(index, _by_words(index, query.weights, rarities), now)
    yield "words", scores
    if any(index.places):
        _hear_around(index, scores, query, rarities)
        yield "conversation", scores
    _add_pairs(index, scores, query, rarities)
    yield "pairs", scores
    _favour_new(index, scores, now)
    yield "newness", scores
    _follow_files(index, scores, query, now)
    yield "files", scores


def rarity_of(index: Source, term: str) -> float:
    """BM25's inverse document frequency; 0 for a term of no document."""
    holders = index.holders(term)
    return log(1 + (index.count - holders + 0.5) / (holders + 0.5)) if holders else 0.0


def _read(index: Source, query: Query) -> dict[str, float]:
    """The terms that are looked up, and how rare they are: the rarest first, as many as there is time for."""
    holders = {term: index.holders(term) for term in query.weights}
    rarities: dict[str, float] = {}
    left = tuning.POSTINGS_MAX
    for term in sorted((term for term in holders if holders[term]), key=lambda term: (holders[term], term)):
        left -= holders[term]
        if left < 0 and len(rarities) >= tuning.TERMS_MIN:
            break
        rarities[term] = rarity_of(index, term)
    return rarities


def _by_words(index: Source, weights: Mapping[str, float], rarities: Mapping[str, float]) -> Scores:
    k, share, lengths = tuning.SATURATION, tuning.LENGTH_SHARE, index.lengths
    fixed, slope = k * (1 - share), k * share / (index.average or 1.0)
    scores: Scores = {}
    known = scores.get
    for term, rarity in rarities.items():
        worth = weights[term] * rarity * (k + 1)
        for number, count in index.postings(term):
            scores[number] = known(number, 0.0) + worth * count / (count + fixed + slope * lengths[number])
    return scores


def _hear_around(index: Source, scores: Scores, query: Query, rarities: Mapping[str, float]) -> None:
    """A turn of a conversation is also about what the turns beside it, and the whole conversation, are about."""
    at = {place: number for number, place in enumerate(index.places) if place}
    alone = dict(scores)
    whole = _by_conversation(index, query, rarities)
    for number in list(scores):
        place = index.places[number]
        if place is None:
            continue
        conversation, turn = place
        scores[number] += tuning.CONVERSATION_WEIGHT * whole.get(conversation, 0.0)
        for step, weight in ((-1, tuning.PREVIOUS_WEIGHT), (1, tuning.NEXT_WEIGHT)):
            neighbour = at.get((conversation, turn + step))
            if neighbour is not None:
                scores[number] += weight * alone.get(neighbour, 0.0)


def _by_conversation(index: Source, query: Query, rarities: Mapping[str, float]) -> Scores:
    lengths: Scores = {}
    for place, length in zip(index.places, index.lengths):
        if place:
            lengths[place[0]] = lengths.get(place[0], 0.0) + length
    average = sum(lengths.values()) / len(lengths)
    k, share = tuning.SATURATION, tuning.LENGTH_SHARE
    scores: Scores = {}
    for term, rarity in rarities.items():
        counts: Scores = {}
        for number, count in index.postings(term):
            place = index.places[number]
            if place:
                counts[place[0]] = counts.get(place[0], 0.0) + count
        for conversation, total in counts.items():
            norm = k * (1 - share + share * lengths[conversation] / average)
            value = query.weights[term] * rarity * total * (k + 1) / (total + norm)
            scores[conversation] = scores.get(conversation, 0.0) + value
    return scores


def _add_pairs(index: Source, scores: Scores, query: Query, rarities: Mapping[str, float]) -> None:
    """Words that stand side by side in the query and in the document mean the same thing."""
    worths = {
        pair_code(first, second): tuning.PAIR_WEIGHT * min(rarities[first], rarities[second])
        for first, second in query.pairs
        if first in rarities and second in rarities
    }
    for number in best(index, scores, tuning.PAIR_TOP) if worths else ():
        held = index.document(number).pairs
        scores[number] += sum(worth for code, worth in worths.items() if code in held)


def _favour_new(index: Source, scores: Scores, now: float | None) -> None:
    """By a factor that is 1 for something of `USUAL_DAYS`, so that notes and records of work can be compared."""
    times, strengths = index.times, index.strengths
    latest = now if now is not None else max((times[number] or 0.0 for number in scores), default=0.0)
    scale = 1 / (86400 * tuning.RECENCY_DAYS)
    usual = 1 / sqrt(1 + tuning.USUAL_DAYS / tuning.RECENCY_DAYS)
    for number in scores:
        time, strength = times[number], strengths[number]
        if time is not None:
            age = latest - time if time < latest else 0.0
            scores[number] *= (1 + strength / (1 + age * scale) ** 0.5) / (1 + strength * usual)


def _follow_files(index: Source, scores: Scores, query: Query, now: float | None) -> None:
    """What else was done to the files that the best results, or this session, have to do with."""
    leading = [number for number in best(index, scores, tuning.FILE_TOP) if scores[number] > 0]
    top = scores[leading[0]] if leading else 0.0
    weights: dict[str, float] = {}
    for number in leading:
        paths = index.document(number).paths
        share = (scores[number] / top) ** 2
        for path in paths:
            weights[path] = weights.get(path, 0.0) + share / sqrt(len(paths))
        if not paths:  # a note: what has no files must not fall behind for it
            scores[number] += tuning.FILE_FEEDBACK * top * share
    most = max(weights.values(), default=1.0)
    shares = {path: weight / most for path, weight in weights.items()}
    _add_files(index, scores, shares, tuning.FILE_FEEDBACK * top, now)
    touched = dict.fromkeys(query.paths, 1.0)
    _add_files(index, scores, touched, tuning.CONTEXT_FILE_WEIGHT * (top or 1.0), now)


def _add_files(index: Source, scores: Scores, shares: Mapping[str, float], worth: float, now: float | None) -> None:
    found: Scores = {}
    for path, share in shares.items():
        for number, breadth in index.postings(path_term(path)):
            found[number] = found.get(number, 0.0) + share / sqrt(breadth)
    for number, value in found.items():
        if now is None or (index.times[number] or now) <= now:
            scores[number] = scores.get(number, 0.0) + worth * min(1.0, value)


def _weights(words: list[str]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    asked = list(counts)
    if len(asked) > tuning.QUERY_MAX_TERMS:
        half = tuning.QUERY_MAX_TERMS // 2
        asked = asked[:half] + asked[-half:]
    k = tuning.QUERY_SATURATION
    return {
        word: counts[word] * (k + 1) / (counts[word] + k) * (tuning.FRAMING_WEIGHT if word in FRAMING else 1.0)
        for word in asked
    }


def _ends(text: str) -> str:
    """The opening and the end of a long text: its middle is what was pasted."""
    if len(text) <= tuning.QUERY_MAX_CHARS:
        return text
    tail = tuning.QUERY_TAIL_CHARS
    return text[: tuning.QUERY_MAX_CHARS - tail] + " " + text[-tail:]


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple)) else []
