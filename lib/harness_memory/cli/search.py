"""`search`: sessions and notes about some words, best first; `related`: those about a file."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..base import clock, invocation, settings
from ..memory import archive
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from ..recall import cache, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION, Source
from ..recall.terms import path_term, terms
from ..session import episode
from ..session.sessions import day_and_id
from . import arguments
from .output import Refusal, complain_of, cut, emit_json, line, short, table
from .scopes import Scopes

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
    """`row` is what `--json` shows; `lines` are (number, text) of the session or note."""

    __slots__ = ("has_all", "lines", "row", "time", "types")

    def __init__(self, kind: str, id: str, file: str, day: str, lines: list[tuple[int, str]], type: str = "") -> None:
        self.row: dict[str, Any] = {"kind": kind, "id": id, "file": file, "line": 1, "day": day, "text": ""}
        self.row.update(files=[], score=0.0, project=None)
        self.lines, self.types, self.has_all = lines, (None, kind, type), False
        self.time = clock.parse(day + "T23:59:59Z") or 0.0
        self.show(lambda text: 0)

    def show(self, weigh: Callable[[str], int]) -> None:
        """Show the first line of the greatest weight."""
        if self.lines:
            self.row["line"], self.row["text"] = max(self.lines, key=lambda each: weigh(each[1]))

    def has_words(self, words: list[str]) -> bool:
        """Whether the lines together have every word; if so, show the line with the most of them."""
        self.show(lambda text: sum(word in text.casefold() for word in words))
        return all(any(word in text.casefold() for _, text in self.lines) for word in words)


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
    add("--since", type=arguments.instant, default=0.0, metavar="DATE", help="since 2026-11-16, today, 36h or 7d")
    add("--notes", action="store_const", dest="type", const=NOTE, help="same as --type note")
    add("--sessions", action="store_const", dest="type", const=SESSION, help="same as --type session")
    add("--archived", action="store_true", help="only archived sessions that have every word")
    args = parser.parse_args(argv)
    words = [word.casefold() for word in args.words]
    if not any(word.strip() for word in words):
        raise Refusal("search: the query is empty. Give at least one word.")

    scopes = Scopes(args)
    troubles: list[OSError] = []
    hits: list[Hit] = []
    if not args.archived:
        hits = [hit for hit in _ranked(scopes, args, words) if args.type in hit.types and hit.time >= args.since]
    if not hits and not args.archived:  # perhaps the words are parts of words
        names = reversed(episode.names(scopes.project.dir))
        every = [*map(_note, notebook.holding(scopes.shelves)), *(_session(scopes.project.dir, name) for name in names)]
        hits = [hit for hit in every if hit and args.type in hit.types and hit.time >= args.since]
        hits = [hit for hit in hits if hit.has_words(words)]
    if not hits and args.type in (None, SESSION):
        found = [hit for hit in _archived(scopes.project.dir, troubles) if hit.has_words(words)]
        hits = [*{hit.row["id"]: hit for hit in reversed(found)}.values()]
    code = _report(sorted(hits, key=lambda hit: (not hit.has_all, -hit.row["score"])), args)
    complain_of(troubles, "Searched its readable part")
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
    source = _open(scopes, scopes.project.dir)
    keys = [path_term(path), *terms(os.path.basename(path))]
    numbers = {number for key in keys for number in source.postings(key)}
    hits = [hit for _, hit in _load(scopes, scopes.project.dir, source, numbers)]
    hits = [hit for hit in hits if any(("/" + file).lower().endswith(ends) for file in hit.row["files"])]
    vars(args).update(words=[], all_projects=False, archived=False)
    return _report(sorted(hits, key=lambda hit: str(hit.row["day"]), reverse=True), args)


def _ranked(scopes: Scopes, args: argparse.Namespace, words: list[str]) -> Iterator[Hit]:
    """Matches of the session's own notes, then of the index of each project."""
    phrases = [word for word in words if " " in word.strip()]
    local = [_note(note) for shelf in scopes.shelves if shelf.scope == "local" for note in shelf.read()]
    yield from [hit for hit in local if hit.has_words(words)]
    query, seen = ranking.Query(" ".join(args.words)), set()
    for directory in arguments.project_dirs(args):
        source = _open(scopes, directory)
        scores = ranking.score(source, query, scopes.now)
        for number, hit in _load(scopes, directory, source, ranking.best(source, scores, _EXAMINED)):
            if hit.row["file"] in seen or not hit.has_words(phrases):
                continue
            seen.add(hit.row["file"])
            hit.show(lambda text: len({*terms(text)}.intersection(query.weights)))
            hit.row["score"] = round(scores[number], 3)
            hit.has_all = all(number in source.postings(term) for term in query.weights)
            yield hit


def _open(scopes: Scopes, directory: str) -> Source:
    ends = time.monotonic() + _REFRESH_SECONDS
    checkout = scopes.project.root if directory == scopes.project.dir else ""
    return cache.open_source(scopes.root, directory, scopes.now, ends, is_whole=True, checkout=checkout)


def _load(scopes: Scopes, directory: str, source: Source, numbers: Iterable[int]) -> Iterator[tuple[int, Hit]]:
    """The sessions and notes of documents, without those that are gone or archived."""
    shelves = {shelf.scope: shelf for shelf in notebook.shelves(scopes.root, directory, "", scopes.project.root)}
    for number in numbers:
        record = source.record(number)
        scope, _, slug = record.id.partition("/")
        note = shelves[scope].note(slug) if record.kind == NOTE else None
        hit = _session(directory, record.id) if record.kind == SESSION else _note(note) if note else None
        if hit:
            project = None if scope == "user" else os.path.basename(directory)
            hit.time = source.times[number]
            hit.row.update(day=record.day, files=record.files, project=project)
            yield number, hit


def _session(directory: str, name: str) -> Hit | None:
    value, (day, id) = episode.load(directory, name), day_and_id(name)
    return Hit(SESSION, id, episode.path_of(directory, name), day, _texts(value)) if value else None


def _note(note: Note) -> Hit:
    facts = [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
    lines = [(1, "%s: %s" % (note.name, note.description)), *facts]
    return Hit(NOTE, note.ref, note.path, note.day, lines, note.type)


def _archived(directory: str, troubles: list[OSError]) -> Iterator[Hit]:
    """What archived sessions' episodes say; without one, their records."""
    for session in archive.load_all(directory, troubles):
        pages = [data for path, data in session.files.items() if path.endswith(settings.META_FILE)]
        lines = _texts(session.episode) or [*enumerate(b"".join(pages).decode("utf-8", "replace").split("\n"), 1)]
        hit = Hit(ARCHIVED, session.id, session.path, session.started[:10], lines)
        hit.row["project"] = os.path.basename(directory)
        yield hit


def _texts(value: object) -> list[tuple[int, str]]:
    """Every line of text in an episode, under the fields that say what happened."""
    if isinstance(value, str):
        return [(1, text) for text in value.split("\n")]
    if isinstance(value, dict):
        value = [value.get(key) for key in _FIELDS] if "what_was_done" in value else [*value.values()]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def _report(hits: list[Hit], args: argparse.Namespace) -> int:
    rows = [hit.row for hit in hits[: args.limit]]
    if args.json or not rows:
        emit_json(rows) if args.json else print("No match.")
        return 0 if rows else 1
    words = {*terms(" ".join(args.words))}
    cells = [["PROJECT", "WHERE", "DAY", "TEXT"]]
    for row in rows:
        text = row["text"]
        at = min([at for at in map(text.casefold().find, words) if at >= 0], default=0)
        start = text.rfind(" ", 0, max(0, at - _LEAD_CHARS)) + 1 if len(text) > _LINE_CHARS else 0
        text = line(("…" if start else "") + text[start:])
        cells.append([_name(row["project"]), line(row["id"]), row["day"] or "-", text])
    is_bold = bool(words) and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    header, *shown = table([each if args.all_projects else each[1:] for each in cells], is_cut=True)
    print(header)
    for text in shown:
        marked = ["\x1b[1m%s\x1b[0m" % word if words & {*terms(word)} else word for word in text.split(" ")]
        print(" ".join(marked) if is_bold else text)
    matches = "1 match" if len(hits) == 1 else "%d matches" % len(hits)
    print("\n%s. %s" % (matches, _advice(rows, args)))
    return 0


def _name(project_id: str | None) -> str:
    return cut(arguments.project_name(project_id), 24) if project_id else "-"


def _advice(rows: list[dict[str, Any]], args: argparse.Namespace) -> str:
    """How to read one of them; a session of another project is read there."""
    if args.archived:
        return "Restore one: harness memory restore ID"
    root, here = arguments.root(), os.path.basename(arguments.locate(args).dir)
    cells = [["  " + _name(here), "harness memory show ID"]]
    for id in dict.fromkeys(row["project"] for row in rows if row["project"] not in (None, here)):
        memory = os.path.join(root, id)
        path = identity.last_seen(memory)[0]
        is_there = path and os.path.isdir(path) and identity.locate(root, path, path).dir == memory
        command = "harness memory show ID --project %s" % line(invocation.quote(path))
        cells.append(["  " + _name(id), command if is_there else "its folder is gone; see %s" % short(memory)])
    return "Read one: " + cells[0][1] if len(cells) == 1 else "\n".join(["Read one:", *table(cells)])
