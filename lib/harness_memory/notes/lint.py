"""What is wrong with notes, each finding with file, line, reason and remedy.

A fact should not be worded as a story, or with a date that only holds on the day it is written. Duplicates have the
same words, or nearly; a contradiction nearly the same words with another value (a number, a negation, a switch) or
another choice of one kind, as Postgres and MongoDB.
"""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..base import clock, files, settings, tables
from ..base.redact import redact
from ..base.text import cut
from ..session.rules import WORDS
from . import binding, index
from .gist import telling
from .note import Fact, Note, is_fence
from .shelf import Shelf, read_all

_SHOWN_CHARS = 80
_TABLE = tables.read(__file__[: -len(".py")] + ".txt")
_TEXTS = {name: text for section in ("remedies", "words") for name, text in _TABLE[section]}
_ALIKE = {"duplicate": "says what", "near-duplicate": "says nearly what", "contradiction": "perhaps contradicts what"}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile("(?i)" + text % _TEXTS)


_OPENING = _pattern(
    r"^(?:(?:%(openers)s),?\s+)?"
    r"(?:(?:%(people)s)(?:'ve| have| had)?(?: just| finally| also)? (?:%(learned)s)|%(turns)s)"
    r"(?:,? that\b|:|,)\s*(?=\S+ \S)"
)
_STORY = _pattern(
    r"(?:^|(?<=[.!?;] ))(?:today (?:i|we)|(?:i|we)(?:'ve| have| had)? (?:%(deeds)s|%(learned)s)|%(efforts)s)\b"
)
# What stands in backticks matches as a whole, without a group; `tomorrow (2026-11-17)` says which day.
_RELATIVE = _pattern(
    r"`[^`]*(?:`|$)|(?P<date>\b(?:%(moments)s)|\b(?:%(numbers)s) (?:%(units)s)s? (?:ago|from now|earlier)"
    r"|(?<!\bthe )\b(?:last|past|previous|next|this|coming) (?:%(periods)s|%(weekdays)s)"
    r"|\b(?:by|until|since) (?:%(weekdays)s)(?! \d)"
    r"|\b(?:early|late|later|earlier|end of) (?:this|the|next|last) (?:%(units)s))"
    r"\b(?!')(?!\W{0,3}\d{4}-\d\d)"
)
_STOP, _VALUE, _LINKING = map(_pattern, ("%(stop)s", "%(value)s", "%(linking)s"))
_SAME = {"postgresql": "postgre", "mongo": "mongodb"}
_LEAST_SHARE = 0.75  # of the words of both
_CONTRASTS, _DENIALS = {*WORDS["contrasts"]}, {*WORDS["negations"]}
_COMPARED = 64  # of all that share a word: a thousand lines of one form are a table, not a finding
_SERIES = 5  # more statements that differ in one value are a list of things, not a contradiction


class Finding(NamedTuple):
    file: str
    line: int
    kind: str
    what: str
    remedy: str


def _finding(note: Note, line: int, kind: str, what: str) -> Finding:
    return Finding(note.path, line, kind, what, _TEXTS[kind].replace("NAME", note.slug))


def plain(text: str) -> str:
    """A statement without the openings of a story: "Today we found that it turns out that …"."""
    match = _OPENING.match(text)
    return plain(text[match.end()].upper() + text[match.end() + 1 :]) if match else text


def wording(text: str, day: str) -> Iterator[tuple[str, str]]:
    """What is wrong with how a statement of a `day` is worded: kind and what."""
    fact, shown, noon = plain(text), cut(text, _SHOWN_CHARS), clock.parse(day + "T12:00:00Z")
    if fact != text or _STORY.search(text):
        more = '; the fact is "%s"' % cut(fact, _SHOWN_CHARS) if fact != text else ""
        yield "narrative", 'is a story: "%s"%s' % (shown, more)
    for match in [match for match in _RELATIVE.finditer(fact) if match["date"]]:
        days = {"yesterday": -1, "today": 0, "tomorrow": 1}.get(match[0].lower())
        meaning = clock.iso(noon + days * settings.DAY_SECONDS)[:10] if noon and days is not None else ""
        then = "means %s, if" % meaning if meaning else "was"
        yield "relative-date", '"%s" %s written on %s: "%s"' % (match[0], then, day, shown)


def key(text: str) -> str:
    """The words of a statement: equal for those that say the same."""
    return " ".join(re.findall(r"\w+(?:[.\-/']\w+)*", text.lower().replace("’", "'")))


def content(text: str) -> list[str]:
    """The words that mean something, in the singular."""
    return [re.sub(r"(?<=\w{2}[^siu])s$", "", word) for word in key(text).split() if not _STOP.fullmatch(word)]


# Two facts on one subject that choose two of a kind disagree.
_KIND_OF = {word: "one of " + words for (words,) in _TABLE["choices"] for word in content(words)}


def pairs(texts: list[str]) -> list[tuple[int, int, str]]:
    """Every two statements that are alike: their numbers, the earlier first, and the kind."""
    firsts: dict[str, int] = {}
    alike = []
    for number, text in enumerate(texts):
        first = firsts.setdefault(key(text), number)
        if first != number:
            alike.append((first, number, "duplicate"))
    said = {number: telling(texts[number]) for words, number in firsts.items() if words}
    kind_of = dict(_KIND_OF)
    for each in said.values():  # "Zod, not Yup": the two are of one kind
        for one, rival in [(a, b) for (is_out, a), (no, b) in zip(each, each[1:]) if no in _CONTRASTS and not is_out]:
            kind = kind_of.get(rival.lower(), kind_of.get(one.lower(), "one like " + one))
            kind_of.update((word, kind) for word in content(one + " " + rival) if word not in _KIND_OF)
    bags: dict[int, set[str]] = {}
    values: dict[int, set[str]] = {}
    for number, each in said.items():
        words = {_SAME.get(word, word) for word in content(" ".join(word for pair in each for word in pair))}
        denied = {_SAME.get(word, word) for denial, text in each if denial for word in content(text)}
        chosen = {word: kind_of[word] for word in words if word in kind_of}
        plain = {*filter(_VALUE.fullmatch, words)} - (_DENIALS if denied & {*chosen} else set())
        values[number] = plain | {"!" * (word in denied) + word for word in chosen}
        about = {word for word in words if not (chosen and _LINKING.fullmatch(word))}
        bags[number] = {*chosen.values(), *about} - {*chosen} - _DENIALS - plain
    holders: dict[str, list[int]] = defaultdict(list)
    for number, bag in bags.items():
        rarest = sorted(bag, key=lambda word: len(holders[word]))[: len(bag) // 3 + 2]  # of which two alike share one
        for other in {other for word in rarest for other in holders[word][-_COMPARED:]}:
            if len(bag & bags[other]) >= _LEAST_SHARE * len(bag | bags[other]):
                differing = values[number] ^ values[other]
                is_same = all(word[0] == "!" and word[1:] not in differing for word in differing)
                alike.append((other, number, "near-duplicate" if is_same else "contradiction"))
        for word in bag:
            holders[word].append(number)
    doubts = Counter(number for *pair, kind in alike if kind == "contradiction" for number in pair)
    series = {number for number, count in doubts.items() if count > _SERIES}
    return sorted(pair for pair in alike if pair[2] != "contradiction" or series.isdisjoint(pair[:2]))


def check(places: list[Shelf], root: str, now: float) -> list[Finding]:
    """All findings in the notes of these shelves; `root` is the project's directory."""
    all_notes = read_all(places)
    findings = [finding for note in all_notes for finding in check_note(note, root, now)]
    return [*findings, *check_pairs(all_notes)]


def check_note(note: Note, root: str, now: float) -> Iterator[Finding]:
    if note.is_unreadable:
        line, what = note.problems[0]
        yield _finding(note, line, "conflict", what)
        return
    for line, what in note.problems:
        yield _finding(note, line, "frontmatter", what)
    # Its statements may have been added at any time up to its last change.
    changed = time.strftime("%Y-%m-%d", time.localtime(files.modified(note.path)))
    day = max(str(note.fields.get("created") or ""), changed)
    for fact in note.facts:
        is_secret = redact(fact.text) != fact.text
        for kind, what in [("secret", "holds a secret")] if is_secret else wording(fact.text, day):
            yield _finding(note, fact.line, kind, what)
    size = note.head_lines + len(note.body)
    if size > settings.NOTE_LINES:
        yield _finding(note, settings.NOTE_LINES, "long", "has %d lines" % size)
    doubt = note.doubt(root, now)
    if doubt:
        yield _finding(note, 1, "stale", doubt)


def check_pairs(all_notes: list[Note], last: str = "") -> Iterator[Finding]:
    """Of two alike facts the later is the finding; `last` is the note that counts as the latest."""
    live = sorted([note for note in all_notes if note.fate[:10] != "superseded"], key=lambda note: note.ref == last)
    facts = [(note, fact) for note in live for fact in note.facts]
    for earlier, later, kind in pairs([fact.text for _, fact in facts]):
        (one, first), (other, second) = facts[earlier], facts[later]
        if one.slug != other.slug or one.scope == other.scope:  # else one overrides the other
            where = '%s:%d ("%s")' % (one.ref, first.line, cut(first.text, _SHOWN_CHARS))
            what = '%s %s says: "%s"' % (_ALIKE[kind], where, cut(second.text, _SHOWN_CHARS))
            yield _finding(other, second.line, kind, what)


def compact(shelf: Shelf, now: float) -> tuple[dict[str, list[str]], list[str]]:
    """Keep one of equal facts, drop superseded and empty notes; the changes by slug, the originals' archive paths."""
    changes: dict[str, list[str]] = {}
    archived: list[str] = []
    firsts: dict[str, tuple[Note, Fact]] = {}
    with shelf:
        for note in sorted([note for note in read_all([shelf]) if not binding.firmness(note)], key=index.rank):
            is_gone = note.fate[:10] == "superseded"
            facts = {} if is_gone else {fact: firsts.setdefault(key(fact.text), (note, fact)) for fact in note.facts}
            spare = {fact: first for fact, (first, kept) in facts.items() if kept is not fact}
            said = ['dropped: "%s", as %s says it' % (cut(fact.text, 100), spare[fact].slug) for fact in spare]
            note.drop([*spare])
            if is_gone or (spare and not note.facts and not any(map(is_fence, note.body))):
                is_gone, said = True, [*said, "removed: " + (note.fate or "other notes say all that it says")]
            if said:
                changes[note.slug] = said
                archived.append(shelf.remove(note.slug, now) if is_gone else shelf.put(note, now))
    return changes, archived
