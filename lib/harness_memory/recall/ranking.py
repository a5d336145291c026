"""Ranking: BM25 over terms, then neighbouring terms, recency and files; and which documents are worth injecting."""

from __future__ import annotations

from math import log, sqrt

from .index import KINDS, NOTE
from .terms import PATHS_MAX, pair_code, path_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .index import Source

    Scores = dict[int, float]

# Measured on coding sessions and commit histories.
_QUERY_MAX_CHARS = 4096  # start and end of a longer prompt
_QUERY_TAIL_CHARS = 1024
_QUERY_MAX_TERMS = 256
_POSTINGS_MAX = 10_000  # per query; a frequent term adds little and costs most
_TERMS_MIN = 6  # read even beyond _POSTINGS_MAX
_CANDIDATES = 500  # by their words; only these are ranked further
_PROMPTS_MAX = 5  # latest of this session
_SATURATION = 1.1  # BM25's k1
_LENGTH_SHARE = 0.55  # BM25's b
_FRAMING_WEIGHT = 0.45  # of words that frame a request
_CONTEXT_WEIGHT = 0.5  # of words in this session's earlier prompts and its branch
_PAIR_WEIGHT = 0.5
_PAIR_TOP = 60
_RECENCY_OF_WORK = 2.0
_RECENCY_OF_NOTES = 0.15
_RECENCY_DAYS = 3.0
_USUAL_DAYS = 30.0
_FILE_FEEDBACK = 0.4  # of the best score, for a document about the files of the best few
_FILE_TOP = 5
_CONTEXT_FILE_WEIGHT = 0.3  # of the best score, for a document about the files of this session
_WORTH_MIN = 0.8  # measured by bench/recall/measure.py
_WORTH_SCALE = 5.0
_PICK_MAX = 3
_PICK_EXAMINED = 10
# Stems that say how something is asked, not what it is about.
_FRAMING = (
    "advice ago amount back chat conversation current day date different discuss first go help idea kind know last"
    " long make many mention might month much name need new number often one plan previous previously recent"
    " recommend remember remind say specific suggest take talk tell thing think time tip today total try two type"
    " use way want week year yesterday"
)
_FRAMES = frozenset(terms(_FRAMING))
_NOTE = KINDS.index(NOTE)
_TRUNKS = ("main", "master", "develop", "trunk", "HEAD")


class Query:
    """A weight for each term of a text, its neighbouring terms, and the paths this session touched."""

    __slots__ = ("pairs", "paths", "weights")

    def __init__(self, text: str, *, prompts: Sequence[str] = (), branch: str = "", files: Sequence[str] = ()) -> None:
        """`prompts` are the earlier ones of the session."""
        words = _terms(text)
        self.pairs = {(first, second) for first, second in zip(words, words[1:]) if first != second}
        unique = list(dict.fromkeys(words))
        if len(unique) > _QUERY_MAX_TERMS:
            unique = unique[: _QUERY_MAX_TERMS // 2] + unique[-_QUERY_MAX_TERMS // 2 :]
        self.weights = dict.fromkeys(unique, 1.0)
        for prompt in (*prompts[-_PROMPTS_MAX:], "" if branch in _TRUNKS else branch):
            for word in _terms(prompt):
                self.weights.setdefault(word, _CONTEXT_WEIGHT)
        for word in _FRAMES.intersection(self.weights):
            self.weights[word] *= _FRAMING_WEIGHT
        self.paths = files[:PATHS_MAX]


def _terms(text: str) -> list[str]:
    """Terms of the start and end of a text: the middle of a long one is pasted."""
    if len(text) > _QUERY_MAX_CHARS:
        text = text[: _QUERY_MAX_CHARS - _QUERY_TAIL_CHARS] + " " + text[-_QUERY_TAIL_CHARS:]
    return terms(text)


def pick(
    source: Source, query: Query, now: float, is_unwanted: Callable[[int], bool], limit: int = _PICK_MAX
) -> list[int]:
    """The few documents that a prompt calls for, best first; none when nothing does."""
    scores = score(source, query, now)
    leading = best(source, scores, _PICK_EXAMINED)
    worthy = [number for number in leading if worth(source, query, number, scores[number]) >= _WORTH_MIN]
    return [number for number in worthy if not is_unwanted(number)][:limit]


def worth(source: Source, query: Query, number: int, score: float) -> float:
    """A score on an absolute scale: weighed by how much of the query the document holds."""
    unknown = log(1 + (source.count + 0.5) / 0.5)  # of a term without documents: unrelated prompts are full of them
    total = matched = together = 0.0
    for term, weight in (*query.weights.items(), *((path_term(path), 1.0) for path in query.paths)):
        known = rarity(source, term)
        total += weight * (known or unknown)
        if known and number in source.postings(term):
            matched += weight * known
            together += 1 if term.isalpha() else 2
    # One plain word in common is chance; so is the best of very many documents.
    chance = (_WORTH_SCALE / unknown) ** 3
    return score * chance * matched / total * (together - 1) / together if together else 0.0


def rarity(source: Source, term: str) -> float:
    """BM25's inverse document frequency; 0 for a term of no document."""
    holders = source.holders(term)
    return log(1 + (source.count - holders + 0.5) / (holders + 0.5)) if holders else 0.0


def best(source: Source, scores: Scores, limit: int) -> list[int]:
    """Numbers of the documents with the highest scores; of equal ones the newest first."""
    if limit < len(scores):
        floor = sorted(scores.values(), reverse=True)[limit]
        scores = {number: value for number, value in scores.items() if value >= floor}
    times = source.times
    return sorted(scores, key=lambda number: (-scores[number], -times[number], number))[:limit]


def score(source: Source, query: Query, now: float) -> Scores:
    """A score for each document that matches the query, by its number."""
    return [scores for _, scores in steps(source, query, now)][-1]


def steps(source: Source, query: Query, now: float) -> Iterator[tuple[str, Scores]]:
    """The scores after each step of the ranking, with the name of the step."""
    # The rarest terms first, up to a number of postings.
    holders = {term: source.holders(term) for term in query.weights}
    rarities: dict[str, float] = {}
    left = _POSTINGS_MAX
    for term in sorted(filter(holders.get, holders), key=lambda term: (holders[term], term)):
        left -= holders[term]
        if left >= 0 or len(rarities) < _TERMS_MIN:
            rarities[term] = rarity(source, term)
    scores = _by_words(source, query.weights, rarities)
    yield "words", scores
    _add_pairs(source, scores, query, rarities)
    yield "pairs", scores
    _favour_new(source, scores, now)
    yield "newness", scores
    _follow_files(source, scores, query)
    yield "files", scores


def _by_words(source: Source, weights: Mapping[str, float], rarities: Mapping[str, float]) -> Scores:
    k, share, lengths = _SATURATION, _LENGTH_SHARE, source.lengths
    fixed, slope = k * (1 - share), k * share / (source.average or 1.0)
    scores: Scores = {}
    get = scores.get
    for term, rarity in rarities.items():
        weight = weights[term] * rarity * (k + 1)
        for number, count in source.postings(term).items():
            scores[number] = get(number, 0.0) + weight * count / (count + fixed + slope * lengths[number])
    if len(scores) <= _CANDIDATES:
        return scores
    floor = sorted(scores.values(), reverse=True)[_CANDIDATES]
    return {number: value for number, value in scores.items() if value > floor}


def _add_pairs(source: Source, scores: Scores, query: Query, rarities: Mapping[str, float]) -> None:
    """Favour documents in which terms stand side by side as in the query."""
    weights = {
        pair_code(first, second): _PAIR_WEIGHT * min(rarities[first], rarities[second])
        for first, second in query.pairs
        if first in rarities and second in rarities
    }
    for number in best(source, scores, _PAIR_TOP) if weights else ():
        pairs = source.pairs(number)
        scores[number] += sum(weight for code, weight in weights.items() if code in pairs)


def _favour_new(source: Source, scores: Scores, now: float) -> None:
    """Multiply by a factor that is 1 at `USUAL_DAYS`, so that notes and sessions stay comparable."""
    times, kinds = source.times, source.kinds
    scale = 1 / (86400 * _RECENCY_DAYS)
    usual = 1 / sqrt(1 + _USUAL_DAYS / _RECENCY_DAYS)
    for number in scores:
        strength = _RECENCY_OF_NOTES if kinds[number] == _NOTE else _RECENCY_OF_WORK
        age = max(0.0, now - times[number])
        scores[number] *= (1 + strength / sqrt(1 + age * scale)) / (1 + strength * usual)


def _follow_files(source: Source, scores: Scores, query: Query) -> None:
    """Favour other work on the files of the best results, and on those of this session."""
    leading = [number for number in best(source, scores, _FILE_TOP) if scores[number] > 0]
    top = scores[leading[0]] if leading else 0.0
    weights: dict[str, float] = {}
    for number in leading:
        paths = source.record(number).files
        share = (scores[number] / top) ** 2
        for path in paths:
            weights[path] = weights.get(path, 0.0) + share / sqrt(len(paths))
        if not paths:  # a note without files must not fall behind
            scores[number] += _FILE_FEEDBACK * top * share
    most = max(weights.values(), default=1.0)
    shares = {path: weight / most for path, weight in weights.items()}
    context = dict.fromkeys(query.paths, 1.0)
    for by_path, weight in ((shares, _FILE_FEEDBACK * top), (context, _CONTEXT_FILE_WEIGHT * (top or 1.0))):
        additions: Scores = {}
        for path, share in by_path.items():
            for number, breadth in source.postings(path_term(path)).items():
                additions[number] = additions.get(number, 0.0) + share / sqrt(breadth)
        for number, value in additions.items():
            scores[number] = scores.get(number, 0.0) + weight * min(1.0, value)
