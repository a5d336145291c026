"""The passages of a document, which of them a prompt is to be handed, and the chance that they are right."""

from __future__ import annotations

from itertools import accumulate, islice

from ..base.typing import Any, Callable, Collection, Sequence
from . import ranking
from .index import ASKS, Source
from .ranking import Query
from .terms import TABLES, code, pack, path_term, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    Test = Callable[[int], bool]

TEXT_MAX_CHARS = 64 * 1024
_PASSAGE_CHARS, _SAID_CHARS = 160, 300  # sentences are joined up to it; those of a speaker who is named
_SAME_CHARS = 40  # what starts or ends like something said is the same
_EXAMINED = 8  # documents whose passages are compared
_BEFORE, _AFTER, _NEAR = 0.35, 0.2, 0.2  # of a neighbour's worth: the passage before, after, two away
_ANSWER = 0.9  # of a question's worth, for the passage after it
_PAIR, _SPEAKER = 0.7, 1.3  # of the rarer of two words that stand together in the prompt too; what who is named said
_PASSAGE_WEIGHT = (0.25, 1.0)  # of the best passage, in the order of documents of work, and of talk
# The chance of being right: a logistic function of features that do not grow with the prompt, fitted once.
_WEIGHTS = {
    "pairs": 6.8,  # neighbouring words of the prompt that stand so in a document
    "rare": 3.5,  # rare words together in a passage of a short document
    "unknown": -3.6,  # words that no document has
    "named": 3.4,  # files named in the prompt that were worked on
    "session": 11.4,  # files of this session that were worked on in a document
    "earlier": 7.0,  # what this session said before, in the documents
    "turns": -0.9,  # how much it said
    "first": -2.0,  # it said nothing yet
    "shared": 2.9,  # two of the documents are about one file that few others are about
    "talk": 2.2,  # hardly any document is about files
    "": -2.4,
}
_CHANCE_MIN, _QUESTION_CHARS = 0.5, 240  # longer texts are not looked at for names
# A few documents do not tell which words are rare: so many of other work are added, and in which share of them.
_OTHERS, _USUAL = 30, (("frequent", 0.4), ("usual", 0.18))
_SCORE_MIN, _BESIDE_TOLD_MIN = 0.3, 0.75  # of the best, to be shown; when this session was given the best before
_FILES_CHARS, _NEAR_SHOWN = 720, 5


def of_session(value: dict[str, Any]) -> list[str]:
    """What an episode says, in passages: what was said and done, then what was decided, learned and left."""
    said = value.get("passages")
    joined: list[str] = []
    before, most = None, 0
    for each in said if isinstance(said, list) else ():
        text, speaker = str(each.get("text") or ""), (each.get("turn"), each.get("by"))
        if before == speaker and text in joined[-1]:  # a line that announces a list has its first item too
            continue
        is_named = text.partition(": ")[0].istitle()
        is_new = speaker != before or is_named or (most < _SAID_CHARS and joined[-1][-1:] == "?" and text[-1:] != "?")
        if not is_new and len(joined[-1]) + len(text) < most:
            joined[-1] += (" " if joined[-1][-1:] in ".!?…:;。！？：" else "; ") + text
        else:
            joined.append(text)
            most = _SAID_CHARS if is_named else _PASSAGE_CHARS
        before = speaker
    whole = " ".join(joined)
    more = [*value["asked"], *lines(value["what_was_done"])]
    for key in ("commits", "decisions", "rules", "learnings", "errors", "what_remains"):
        more += [text[len("2026-11-18: ") if key == "rules" else 0 :] for text in map(str, value.get(key) or ())]
    more += ["`%(failed)s` failed; `%(fixed)s` worked" % fix for fix in value["commands_failed_then_fixed"]]
    return joined + [text for text in more if text[:_SAME_CHARS] not in whole and text[-_SAME_CHARS:-1] not in whole]


def lines(text: str) -> list[str]:
    """The lines of a Markdown text without their marks; a long one is cut between sentences."""
    found: list[str] = []
    for line in text[:TEXT_MAX_CHARS].split("\n"):
        begun = len(found)
        for sentence in line.strip().lstrip("-*+>•# ").replace(". ", ".\n").split("\n"):
            if len(found) > begun and len(found[-1]) + len(sentence) < _PASSAGE_CHARS:
                found[-1] += " " + sentence
            elif sentence:
                found.append(sentence)
    return found


class Item:
    """A document, its passages as (worth, place), the best first, and those of its files that matter."""

    __slots__ = ("files", "number", "passages", "score")

    def __init__(self, number: int, score: float, worths: list[float]) -> None:
        self.number, self.score = number, score
        self.passages = sorted([(worth, at) for at, worth in enumerate(worths)], key=lambda each: (-each[0], each[1]))
        self.files: list[str] = []


def pick(
    source: Source, query: Query, now: float, is_unwanted: Test | None = None, shown: Sequence[str] = (), limit: int = 3
) -> tuple[list[Item], list[str]]:
    """The few documents that a prompt calls for, best first, none when they are likely wrong; more files near them.

    A document comes again only when its best passage was not `shown` before."""
    items = rank(source, query, ranking.score(source, query, now), is_unwanted)
    best = ["%s#%d" % (source.record(each.number).id, each.passages[0][1]) if each.passages else "" for each in items]
    picked = [item for item, name in zip(items, best) if name not in shown]
    least = _SCORE_MIN if picked[:1] == items[:1] else _BESIDE_TOLD_MIN
    picked = [item for item in picked[:limit] if item.score >= least * items[0].score]
    if not picked or chance(source, query, picked) < _CHANCE_MIN:
        return [], []
    ends = accumulate([len(path) + 2 for path in query.likely])
    near = [path for path, end in zip(query.likely, ends) if end <= _FILES_CHARS]
    for item in picked:
        own = {*source.record(item.number).files}
        item.files, near = [path for path in near if path in own], [path for path in near if path not in own]
    near = [path for path in near if not query.weights.keys().isdisjoint(terms(path.rpartition(".")[0]))]
    return picked, near[:_NEAR_SHOWN]


def rank(source: Source, query: Query, scores: dict[int, float], is_unwanted: Test | None = None) -> list[Item]:
    """The best documents in the order of what they and their passages tell; their scores are shares of the best."""
    near = ranking.best(source, scores, 2 * _EXAMINED)
    leading = [*islice((n for n in near if not (is_unwanted and is_unwanted(n))), _EXAMINED)]
    top, share = scores[leading[0]] or 1.0 if leading else 1.0, _PASSAGE_WEIGHT[source.is_talk]
    weights = {code(term): weight for term, weight in query.weights.items()}
    split = {number: _split(source.words(number)) for number in leading}
    # A passage of one word says too little.
    held = {n: [weights.keys() & words if len(words) > 1 else () for words in split[n]] for n in leading}
    holders: dict[int, int] = {}
    for word in [word for rows in held.values() for row in rows for word in row]:
        holders[word] = holders.get(word, 0) + 1
    count = sum(map(len, held.values()))
    rarities = {word: weights[word] * ranking.log(1 + (count - n + 0.5) / (n + 0.5)) for word, n in holders.items()}
    pairs = {(code(first), code(second)) for first, second in query.pairs}

    def own_worth(words: list[int], row: Collection[int]) -> float:
        asked = pairs.intersection(zip(words, words[1:])) if len(row) > 1 else ()
        value = sum([rarities[word] for word in row]) + _PAIR * sum([min(rarities[a], rarities[b]) for a, b in asked])
        return value * (_SPEAKER if source.is_talk and words[:1] and words[0] in rarities else 1.0)

    worths = {}
    for number, rows in held.items():
        plain = [0.0, 0.0, *map(own_worth, split[number], rows), 0.0, 0.0]
        asks = [False, *(words[-1:] == [ASKS] for words in split[number])]
        worths[number] = [
            plain[at]
            + (_ANSWER if asks[at - 2] else _BEFORE) * plain[at - 1]
            + _AFTER * plain[at + 1]
            + _NEAR * (plain[at - 2] + plain[at + 2])
            if plain[at] or asks[at - 2] or len(split[number][at - 2]) > 1
            else 0.0  # "You're welcome!" says nothing
            for at in range(2, len(plain) - 2)
        ]
    best = max([max(rows, default=0.0) for rows in worths.values()], default=0.0) or 1.0
    items = [
        Item(n, scores[n] / top + share * max(rows, default=0.0) / best, [worth / best for worth in rows])
        for n, rows in worths.items()
    ]
    return sorted(items, key=lambda item: -item.score)


def _split(words: bytes) -> list[list[int]]:
    """The codes of each passage; what stands before the first is not quoted."""
    codes = [*memoryview(words).cast("I").tolist(), 0]
    ends = [at for at, number in enumerate(codes) if not number]
    return [codes[start + 1 : end] for start, end in zip(ends, ends[1:])]


def chance(source: Source, query: Query, items: list[Item]) -> float:
    """That earlier work answers the prompt, and that these documents are it."""
    # Names: words that start like one inside the sentence of a short text.
    words = query.text.replace("'s", "").split() if source.is_talk and len(query.text) < _QUESTION_CHARS else []
    inside = [word.strip("?!.,;:'\"") for before, word in zip(words, words[1:]) if before[-1].isalpha()]
    names = {term for word in inside if word.istitle() and word.isalpha() for term in terms(word)}
    if any(source.holders(name) * 2 > source.count for name in names):
        return 1.0
    values = features(source, query, items)
    return 1 / (1 + 2.718281828 ** -sum([values[name] * weight for name, weight in _WEIGHTS.items()]))


def features(source: Source, query: Query, items: list[Item]) -> dict[str, float]:
    numbers = [item.number for item in items]
    words = [source.words(number) for number in numbers]
    others = 0 if source.is_talk else _OTHERS
    count = source.count + others
    single = ranking.log(1 + (count - 0.5) / 1.5)  # of a word in one document
    rarities = dict.fromkeys(query.weights, 0.0)
    for term in filter(source.holders, rarities):
        share = next((share for name, share in _USUAL if term in TABLES[name]), 0.0)
        holders = source.holders(term) + others * share
        rarities[term] = query.weights[term] * ranking.log(1 + (count - holders + 0.5) / (holders + 0.5))
    own = {code(term): rarities[term] / single for term in query.words}
    common = [own.keys() & _split(each)[item.passages[0][1]] for each, item in zip(words, items) if item.passages]
    rare = [sum([own[w] ** 2 for w in row]) / (1 + source.lengths[n] / 50) ** 0.5 for row, n in zip(common, numbers)]
    earlier = {term: rarities[term] for term in rarities if term not in query.words}
    held = [value for term, value in earlier.items() if not source.postings(term).keys().isdisjoint(numbers)]
    pairs = [pack(map(code, pair)) for pair in query.pairs]
    named = [weight for term, weight in query.named.items() if source.holders(term)]
    session = [path for path in query.paths if not source.postings(path).keys().isdisjoint(numbers)]
    paths = [path_term(path) for number in numbers for path in {*source.record(number).files}]
    shares = [source.holders(path) / source.count for path in {*paths} if paths.count(path) > 1]
    return {
        "pairs": sum([any(pair in each for each in words) for pair in pairs]) / (len(pairs) + 4),
        "rare": max(rare, default=0.0),
        "unknown": sum([not source.holders(term) for term in query.words]) / (len(query.words) + 3),
        "named": max(named, default=0.0) ** 2 * sum(named) / (sum(query.named.values()) or 1.0),
        "session": len(session) / (len(query.paths) or 1),
        "earlier": sum(held) / (sum([value or 0.75 * single for value in earlier.values()]) + 5),
        "turns": ranking.log(1 + len(earlier)),
        "first": float(not earlier),
        "shared": 1 - min(shares, default=1.0),
        "talk": float(source.is_talk),
        "": 1.0,
    }
