"""Ranking: BM25 over terms, then time and files."""

from __future__ import annotations

from ..base.typing import Sequence, TypeAlias
from .index import Source
from .terms import PATHS_MAX, TABLES, file_names, path_term, terms

Scores: TypeAlias = "dict[int, float]"

# Measured on coding sessions, commit histories and dialogues; each set apart from the one it was chosen on.
_QUERY_MAX_CHARS, _QUERY_HEAD_CHARS, _QUERY_TAIL_CHARS = 4096, 3072, 1024  # start and end of a longer prompt
_POSTINGS_MAX = 5_000  # per query; a frequent term adds little and costs most
_TERMS_MIN = 5  # the rarest, read even beyond _POSTINGS_MAX
_FOUND_MAX = 1_500  # documents of rare terms; a term more finds no others
_CANDIDATES = 250  # by their words; only these are ranked further
_PROMPTS_MAX = 5  # latest of this session
_SATURATION = 1.8  # BM25's k1
_LENGTH_SHARE = 0.65  # BM25's b
_PRESENCE = 0.2  # BM25+'s delta: one word more counts for more than one word twice
_FRAMING_WEIGHT = 0.45  # of words that frame a request
_CONTEXT_WEIGHT = 0.5  # of words in this session's earlier prompts and its branch
_RECENCY_OF_WORK = (2.0, 2.5)  # strength, days
_RECENCY_OF_WORDS = (0.5, 2000.0)  # of notes, and of sessions that changed no file
# Of the best score:
_WINDOW_WEIGHT = 0.8  # for a document of the time that the prompt names
_FEEDBACK_WEIGHT = (8.0, 2.0)  # for all the files that the best few share; when this session has files of its own
_LIKENESS_WEIGHT = (3.0, 2.0)  # for a file of theirs whose path is made of the query's words
_FEEDBACK_TOP, _FEEDBACK_PATHS, _LIKELY_PATHS = 20, 32, 64
_SESSION_FILES_WEIGHT = 3.0  # for the very files of this session
_NAMED_WEIGHT = 2.0  # for each file that the prompt names
_NAMED_BEFORE_WEIGHT = 0.6  # for each that earlier prompts and the last answer name
_DAY, _USUAL_DAYS = 86400.0, 30.0
_TIME_MARKS = ("yesterday", "last ", "-", "uary", "march", "april", "may", "june", "july", "august", "ember", "ober")
_TRUNKS = ("main", "master", "develop", "trunk", "HEAD")


class Query:
    """A weight for each term of a text, its neighbouring terms, and the files that it and this session are about."""

    __slots__ = ("before", "likely", "named", "pairs", "paths", "text", "weights", "words")

    def __init__(
        self, text: str, *, prompts: Sequence[str] = (), branch: str = "", files: Sequence[str] = (), answer: str = ""
    ) -> None:
        """Of this session: `prompts` so far, the latest `files` read and changed, and its last `answer`."""
        self.text, words = text, terms(_ends(text))
        self.pairs = {(first, second) for first, second in zip(words, words[1:]) if first != second}
        self.words = frozenset(words)
        self.weights = dict.fromkeys(words, 1.0)
        prompts = prompts[-_PROMPTS_MAX:]
        for prompt in (*prompts, "" if branch in _TRUNKS else branch):
            for word in terms(_ends(prompt)):
                self.weights.setdefault(word, _CONTEXT_WEIGHT)
        for word in TABLES["framing"].intersection(self.weights):
            self.weights[word] *= _FRAMING_WEIGHT
        self.paths = [*dict.fromkeys(map(path_term, files[-PATHS_MAX:]))]
        self.named = file_names(_ends(text))
        before = file_names("\n".join([*map(_ends, prompts), answer]))
        self.before = [term for term, weight in before.items() if weight == 1.0]
        self.likely: list[str] = []  # files that the work may be about, the likeliest first, once it is scored


def _ends(text: str) -> str:
    """Start and end of a text: the middle of a long one is pasted."""
    return text if len(text) <= _QUERY_MAX_CHARS else text[:_QUERY_HEAD_CHARS] + " " + text[-_QUERY_TAIL_CHARS:]


def log(value: float) -> float:
    """The natural logarithm to seven places, by powers: `math` would load a library."""
    return float(value**1e-5 - value**-1e-5) / 2e-5


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
    holders = {term: source.holders(term) for term in query.weights}
    k, share, lengths, left = _SATURATION, _LENGTH_SHARE, source.lengths, _POSTINGS_MAX
    fixed, slope = k * (1 - share), k * share / (source.average or 1.0)
    scores: Scores = {}
    get = scores.get
    for place, term in enumerate(sorted(filter(holders.get, holders), key=lambda term: (holders[term], term))):
        left -= holders[term]
        if left < 0 and place >= _TERMS_MIN:
            break
        weight = query.weights[term] * rarity(source, term) * (k + 1)
        least, postings = weight * _PRESENCE, source.postings(term)
        for number in postings if len(scores) < _FOUND_MAX else postings.keys() & scores.keys():
            count = postings[number]
            scores[number] = get(number, 0.0) + least + weight * count / (count + fixed + slope * lengths[number])
    scores = {number: scores[number] for number in best(source, scores, _CANDIDATES)}
    _favour_times(source, scores, query, now)
    _follow_files(source, scores, query)
    return scores


def _favour_times(source: Source, scores: Scores, query: Query, now: float) -> None:
    """Multiply by a factor that is 1 at `USUAL_DAYS`, so that all kinds stay comparable; add for the time named."""
    times = source.times
    kinds = (_RECENCY_OF_WORDS, _RECENCY_OF_WORK)
    recencies = [(strength, _DAY * days, 1 + strength / (1 + _USUAL_DAYS / days) ** 0.5) for strength, days in kinds]
    start, end = 1.0, 0.0
    text = query.text[:1000].lower()
    if any(mark in text for mark in _TIME_MARKS):
        from .times import window

        start, end = window(text, now)
    for number in scores:
        strength, scale, usual = recencies[source.breadths[number] > 0]
        age = max(0.0, now - times[number])
        scores[number] *= (1 + strength / (1 + age / scale) ** 0.5) / usual
    worth = _WINDOW_WEIGHT * max(scores.values(), default=0.0)
    for number in source.between(start, end) if start < end else ():
        scores[number] = scores.get(number, 0.0) + worth


def _follow_files(source: Source, scores: Scores, query: Query) -> None:
    """Favour work on the files that this session works on, then on those that the best results share or are named."""
    top = max(scores.values(), default=0.0) or 1.0
    spread = dict.fromkeys(query.paths, _SESSION_FILES_WEIGHT / (len(query.paths) or 1) ** 0.5)
    spread.update(dict.fromkeys(query.before, _NAMED_BEFORE_WEIGHT))
    lifts: Scores = {}
    for term, weight in spread.items():
        for number, breadth in source.postings(term).items():  # a session of many files is less about one of them
            lifts[number] = lifts.get(number, 0.0) + weight * breadth**-0.5
    near = {number: scores.get(number, 0.0) + lifts.get(number, 0.0) * top for number in {**scores, **lifts}}
    leading = [number for number in best(source, near, _FEEDBACK_TOP) if near[number] > 0]
    shares = {number: (near[number] / near[leading[0]]) ** 2 for number in leading}
    shared: dict[str, float] = {}
    for number, share in shares.items():
        paths = source.record(number).files
        for path in paths:
            shared[path] = shared.get(path, 0.0) + share / len(paths) ** 0.5
    rarities = {term: weight * rarity(source, term) for term, weight in query.weights.items()}
    feedback = _FEEDBACK_WEIGHT[bool(query.paths)] / (sum(shared.values()) or 1.0)
    likeness = _LIKENESS_WEIGHT[bool(query.paths)] / (sum([each * each for each in rarities.values()]) ** 0.5 or 1.0)
    found: dict[str, float] = {}
    for path in sorted(shared, key=shared.__getitem__, reverse=True)[:_LIKELY_PATHS]:
        words = {*terms(path)}
        like = sum([rarities[word] for word in words if word in rarities]) / (len(words) or 1) ** 0.5
        found[path] = feedback * shared[path] + likeness * like
    query.likely = sorted(found, key=found.__getitem__, reverse=True)
    each = {path_term(path): found[path] for path in query.likely[:_FEEDBACK_PATHS]}
    for term, weight in query.named.items():
        each[term] = _NAMED_WEIGHT * weight * min(1.0, 3 / (source.holders(term) or 1) ** 0.5)
    for term, weight in each.items():
        for number in source.postings(term):
            lifts[number] = lifts.get(number, 0.0) + weight
    highest = max(lifts.values(), default=0.0)  # a note without files must not fall behind
    lifts.update((number, highest * share) for number, share in shares.items() if not source.breadths[number])
    for number, value in lifts.items():
        scores[number] = scores.get(number, 0.0) + value * top
