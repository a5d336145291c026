"""`search`: sessions and notes about some words, best first; `related`: those about a file."""

from __future__ import annotations

import os
import sys
import time

from ..base import invocation, settings
from ..memory import archive
from ..notes import shelf as notebook
from ..project import identity
from ..recall import cache, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION
from ..recall.terms import path_term, terms
from ..session import episode
from ..session.sessions import day_and_id
from . import arguments
from .output import Refusal, complain, cut, emit_json, line, short, table
from .scopes import Scopes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..notes.note import Note
    from ..recall.index import Source

_LIMIT = 10
_EXAMINED = 500  # of the best matches
_REFRESH_SECONDS = 60.0
_LINE_CHARS = 80  # a longer line is shown from
_LEAD_CHARS = 30  # before its first match
_TYPES = (SESSION, NOTE, *settings.NOTE_TYPES)
_FIELDS = (
    *("headline", "what_was_done", "what_remains", "asked", "learnings", "title", "files_changed", "tags", "branch"),
    *("commands_failed_then_fixed", "tasks"),
)


class Hit:
    """`value` is what `--json` shows; `texts` are the numbered lines of the session or note."""

    __slots__ = ("has_all", "texts", "time", "type", "value")

    def __init__(self, kind: str, id: str, file: str, day: str, texts: list[tuple[int, str]], type: str = "") -> None:
        self.value: dict[str, Any] = {"kind": kind, "id": id, "file": file, "line": 1, "day": day, "text": ""}
        self.value.update(files=[], score=0.0, project=None)
        self.texts, self.type, self.time, self.has_all = texts, type, 0.0, False
        self.show(lambda text: 0)

    def show(self, weigh: Callable[[str], int]) -> None:
        """Show the first line of the greatest weight."""
        if self.texts:
            self.value["line"], self.value["text"] = max(self.texts, key=lambda each: weigh(each[1]))

    def has_words(self, words: list[str]) -> bool:
        """Whether the lines together have every word; if so, show the line with the most of them."""
        self.show(lambda text: sum(word in text.casefold() for word in words))
        return all(any(word in text.casefold() for _, text in self.texts) for word in words)

    def is_wanted(self, args: argparse.Namespace) -> bool:
        day = time.strftime("%Y-%m-%d", time.gmtime(args.since or 0))
        is_recent = args.since is None or self.time >= args.since or self.value["day"] > day
        return is_recent and args.type in (None, self.value["kind"], self.type)


def search(argv: list[str]) -> int:
    about = (
        "Sessions and notes about these words, best first; those with every word come before the others.\n"
        "Words in quotes must occur as a phrase. Exit code 1 when nothing matches."
    )
    examples = 'search rounding\nsearch why are cart totals rounded -k 3\nsearch "cart total" tax --type note\n'
    examples += "search deploy --since 7d --all-projects\nsearch deploy --archived --json"
    parser = arguments.parser("search", about, examples, has_all=True)
    add = parser.add_argument
    add("words", nargs="+", metavar="QUERY", help="words, an error message, a path; a phrase in quotes")
    add("-k", "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT)
    add("--type", choices=_TYPES, help="only sessions, only notes, or only notes of a type")
    add("--since", type=arguments.instant, metavar="DATE", help="since 2026-11-16, today, yesterday, 36h or 7d")
    add("--notes", action="store_const", dest="type", const=NOTE, help="same as --type note")
    add("--sessions", action="store_const", dest="type", const=SESSION, help="same as --type session")
    add("--archived", action="store_true", help="only archived sessions that have every word")
    add("--explain", action="store_true", help="show the parts of each score")
    args = parser.parse_args(argv)
    words = [word.casefold() for word in args.words]
    if not any(word.strip() for word in words):
        raise Refusal("search: the query is empty. Give at least one word.")
    scopes = Scopes(args)
    troubles: list[OSError] = []
    if args.archived:
        hits = [hit for hit in _archived(scopes, troubles) if hit.has_words(words)]
        hits = list({hit.value["id"]: hit for hit in reversed(hits)}.values())
    else:
        hits = [hit for hit in _ranked(scopes, args, words) if hit.is_wanted(args)]
        # Nothing: perhaps the words are parts of words.
        hits = hits or [hit for hit in _all(scopes) if hit.has_words(words) and hit.is_wanted(args)]
    code = _report(sorted(hits, key=lambda hit: (not hit.has_all, -hit.value["score"])), args)
    for trouble in troubles:
        complain("%s: %s. Searched its readable part." % (short(str(trouble.filename)), trouble.strerror))
    return 2 if troubles else code


def related(argv: list[str]) -> int:
    about = "Sessions that changed a file, and notes about it, newest first. Exit code 1 when nothing matches."
    parser = arguments.parser("related", about, "related src/cart.py\nrelated cart.py -k 3 --json")
    parser.add_argument("file", metavar="FILE", help="a path in the project, or the end of one")
    limit = "at most N (default: %d)" % _LIMIT
    parser.add_argument("-k", "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help=limit)
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    path = arguments.relative(os.path.join(arguments.directory(args), args.file), scopes.project.root)
    ends = tuple("/" + name.lower() for name in (args.file.replace(os.sep, "/").strip("/"), path))
    hits = []
    source = _open(scopes.root, scopes.project.dir)
    if source:
        keys = [path_term(path), *terms(os.path.basename(path))]
        numbers = {number for key in keys for number in source.postings(key)}
        hits = [hit for number in numbers for hit in _load(scopes.root, scopes.project.dir, source, number)]
    hits = [hit for hit in hits if any(("/" + file).lower().endswith(ends) for file in hit.value["files"])]
    vars(args).update(words=[], all_projects=False, archived=False)
    return _report(sorted(hits, key=lambda hit: str(hit.value["day"]), reverse=True), args)


def _ranked(scopes: Scopes, args: argparse.Namespace, words: list[str]) -> Iterator[Hit]:
    """Matches of the session's own notes, then of the index of each project."""
    phrases = [word for word in words if " " in word.strip()]
    for shelf in scopes.shelves:
        yield from [hit for hit in map(_note, shelf.read() if not shelf.home else ()) if hit.has_words(words)]
    query, seen = ranking.Query(" ".join(args.words)), set()
    for directory in arguments.project_dirs(args):
        source = _open(scopes.root, directory)
        if source is None:
            continue
        scores = ranking.score(source, query, scopes.now)
        for number in ranking.best(source, scores, _EXAMINED):
            for hit in _load(scopes.root, directory, source, number):
                if hit.value["file"] in seen or not hit.has_words(phrases):
                    continue
                seen.add(hit.value["file"])
                hit.show(lambda text: len({*terms(text)}.intersection(query.weights)))
                hit.value["score"] = round(scores[number], 3)
                hit.has_all = all(number in source.postings(term) for term in query.weights)
                if args.explain:
                    hit.value["explained"] = _explained(source, query, scopes.now, number)
                yield hit


def _explained(source: Source, query: ranking.Query, now: float, number: int) -> dict[str, Any]:
    """What each step added to a document's score, the terms it holds, and its worth."""
    parts: dict[str, Any] = {}
    total = 0.0
    for name, scores in ranking.steps(source, query, now):
        parts[name] = scores.get(number, 0.0) - total
        total += parts[name]
    held = [term for term in query.weights if number in source.postings(term)]
    parts["terms"] = {term: ranking.rarity_of(source, term) for term in held}
    return {**parts, "score": total, "worth": ranking.worth(source, ranking.asked_of(source, query), number, total)}


def _open(root: str, directory: str) -> Source | None:
    try:
        now, ends = time.time(), time.monotonic() + _REFRESH_SECONDS
        return cache.open_source(root, directory, now, ends, is_whole=True) if os.path.isdir(directory) else None
    except (OSError, *cache.DAMAGE):
        return None


def _load(root: str, directory: str, source: Source, number: int) -> Iterator[Hit]:
    """The session or note of a document, unless it is gone or archived."""
    record, hits = source.record(number), []
    scope, _, slug = record.id.partition("/")
    if record.kind == SESSION:
        hits = [*_session(directory, record.id)]
    elif record.kind == NOTE:
        notes = [shelf.note(slug) for shelf in notebook.shelves(root, directory) if shelf.scope == scope]
        hits = [_note(note) for note in notes if note]
    for hit in hits:
        hit.time = source.times[number]
        project = None if scope == "user" else os.path.basename(directory)
        hit.value.update(day=record.day, files=record.files, project=project)
        yield hit


def _session(directory: str, name: str) -> Iterator[Hit]:
    value = episode.load(directory, name)
    if value:
        day, id = day_and_id(name)
        yield Hit(SESSION, id, episode.path_of(directory, name), day, _texts(value))


def _note(note: Note) -> Hit:
    facts = [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
    texts = [(1, "%s: %s" % (note.name, note.description)), *facts]
    return Hit(NOTE, note.ref, note.path, note.day, texts, note.type)


def _all(scopes: Scopes) -> Iterator[Hit]:
    """All notes that hold and all sessions of the project, newest first."""
    for note in notebook.holding(scopes.shelves):
        yield _note(note)
    for name in reversed(episode.names(scopes.project.dir)):
        yield from _session(scopes.project.dir, name)


def _archived(scopes: Scopes, troubles: list[OSError]) -> Iterator[Hit]:
    """What archived sessions' episodes say; without one, their records."""
    for session in archive.load_all(scopes.project.dir, troubles):
        file = os.path.join(archive.folder(scopes.project.dir), session.archive + archive.ENDING)
        pages = [data for path, data in session.files.items() if path.endswith(settings.META_FILE)]
        texts = _texts(session.episode) or [*enumerate(b"".join(pages).decode("utf-8", "replace").split("\n"), 1)]
        hit = Hit(ARCHIVED, session.id, file, session.started[:10], texts)
        hit.value["project"] = os.path.basename(scopes.project.dir)
        yield hit


def _texts(value: object) -> list[tuple[int, str]]:
    """Every line of text in an episode, under the fields that say what happened."""
    if isinstance(value, str):
        return [(1, text) for text in value.split("\n")]
    if isinstance(value, dict):
        value = [value.get(key) for key in _FIELDS] if "what_was_done" in value else [*value.values()]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def _report(hits: list[Hit], args: argparse.Namespace) -> int:
    values = [hit.value for hit in hits[: args.limit]]
    if args.json:
        emit_json(values)
    elif not values:
        print("No match.")
    else:
        words = {*terms(" ".join(args.words))}
        rows = [["PROJECT", "WHERE", "DAY", "TEXT"]]
        for each in values:
            text = line(_excerpt(each["text"], words))
            rows.append([_name(each["project"]), line(each["id"]), each["day"] or "-", text])
        is_bold = bool(words) and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for number, row in enumerate(table([row if args.all_projects else row[1:] for row in rows], is_cut=True)):
            marked = ["\x1b[1m%s\x1b[0m" % word if words & {*terms(word)} else word for word in row.split(" ")]
            print(" ".join(marked) if is_bold and number else row)
            if number and "explained" in values[number - 1]:
                print(_explanation(values[number - 1]["explained"]))
        print("\n%s. %s" % ("1 match" if len(hits) == 1 else "%d matches" % len(hits), _advice(values, args)))
    return 0 if hits else 1


def _excerpt(text: str, words: set[str]) -> str:
    """The text from shortly before the first match."""
    at = min([at for at in map(text.casefold().find, words) if at >= 0], default=0)
    start = text.rfind(" ", 0, max(0, at - _LEAD_CHARS)) + 1
    return "…" + text[start:] if start > 0 and len(text) > _LINE_CHARS else text


def _name(project_id: str | None) -> str:
    return cut(arguments.project_name(project_id), 24) if project_id else "-"


def _advice(values: list[dict[str, Any]], args: argparse.Namespace) -> str:
    if args.archived:
        return "Restore one: harness memory restore ID"
    root, here = arguments.root(), os.path.basename(arguments.locate(args).dir)
    rows = [["  " + _name(here), "harness memory show ID"]]
    for project_id in dict.fromkeys(each["project"] for each in values if each["project"] not in (None, here)):
        memory = os.path.join(root, project_id)
        path = identity.last_seen(memory)[0]
        is_there = path and os.path.isdir(path) and identity.locate(root, path, path).dir == memory
        command = "harness memory show ID --project %s" % line(invocation.quote(path))
        rows.append(["  " + _name(project_id), command if is_there else "its folder is gone; see %s" % short(memory)])
    return "Read one: " + rows[0][1] if len(rows) == 1 else "\n".join(["Read one:", *table(rows)])


def _explanation(parts: dict[str, Any]) -> str:
    steps = ["%s %+.2f" % (name, parts[name]) for name in ("words", "pairs", "newness", "files")]
    matched = ["%s %.1f" % (line(term), rarity) for term, rarity in parts["terms"].items()]
    total = "%.2f = %s; worth %.2f" % (parts["score"], ", ".join(steps), parts["worth"])
    return "    %s\n    has %s" % (total, ", ".join(matched))
