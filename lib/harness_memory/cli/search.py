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
from .scopes import Scopes, relative

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
_TYPES = (SESSION, NOTE, *settings.NOTE_TYPES)
_FIELDS = (
    *("headline", "what_was_done", "what_remains", "asked", "learnings", "title", "files_changed", "tags", "branch"),
    *("commands_failed_then_fixed", "tasks"),
)


class Hit:
    """`value` is what `--json` shows; `texts` are the numbered lines of the session or note."""

    __slots__ = ("explained", "has_all", "texts", "time", "type", "value")

    def __init__(self, kind: str, id: str, file: str, day: str, texts: list[tuple[int, str]]) -> None:
        self.value: dict[str, Any] = {"kind": kind, "id": id, "file": file, "line": 1, "day": day, "text": ""}
        self.value.update(files=[], score=0.0, project=None)
        self.texts = texts
        self.type = ""
        self.time = 0.0
        self.has_all = False
        self.explained: dict[str, Any] = {}
        self.show(lambda text: 0)

    def show(self, weigh: Callable[[str], int]) -> None:
        """Show the first line of the greatest weight."""
        if self.texts:
            self.value["line"], self.value["text"] = max(self.texts, key=lambda each: weigh(each[1]))

    def has_words(self, words: list[str]) -> bool:
        """Whether the lines together have every word; if so, show the line with the most of them."""
        self.show(lambda text: sum(word in text.casefold() for word in words))
        return all(any(word in text.casefold() for _, text in self.texts) for word in words)


def search(argv: list[str]) -> int:
    about = (
        "Sessions and notes about these words, best first; those with every word come before the others.\n"
        "Words in quotes must occur as a phrase. Exit code 1 when nothing matches."
    )
    examples = 'search rounding\nsearch why are cart totals rounded -k 3\nsearch "cart total" tax --type note\n'
    examples += "search deploy --since 7d --all-projects\nsearch deploy --archived --json"
    parser = arguments.parser("search", about, examples)
    arguments.add_all_projects(parser)
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
        hits = [hit for hit in _ranked(scopes, args, words) if _is_wanted(hit, args)]
        # Nothing: perhaps the words are parts of words.
        hits = hits or [hit for hit in _all(scopes) if hit.has_words(words) and _is_wanted(hit, args)]
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
    path = relative(os.path.join(arguments.directory(args), args.file), scopes.project.root)
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


# Searching ---------------------------------------------------------------------------------------


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
                hit.explained = ranking.explain(source, query, scopes.now, number) if args.explain else {}
                yield hit


def _open(root: str, directory: str) -> Source | None:
    try:
        now, ends = time.time(), time.monotonic() + _REFRESH_SECONDS
        return cache.open_source(root, directory, now, ends, is_whole=True) if os.path.isdir(directory) else None
    except (OSError, *cache.DAMAGE):
        return None


def _load(root: str, directory: str, source: Source, number: int) -> Iterator[Hit]:
    """The session or note of a document, unless it is gone or archived."""
    record = source.record(number)
    if record.kind == SESSION:
        hits = [*_session(directory, record.id)]
    elif record.kind == NOTE:
        scope, _, slug = record.id.partition("/")
        notes = [shelf.note(slug) for shelf in notebook.shelves(root, directory) if shelf.scope == scope]
        hits = [_note(note) for note in notes if note]
    else:
        hits = []
    for hit in hits:
        hit.time = source.times[number]
        is_users = record.id.startswith("user/")
        hit.value.update(day=record.day, files=record.files, project=None if is_users else os.path.basename(directory))
        yield hit


def _session(directory: str, name: str) -> Iterator[Hit]:
    value = episode.load(directory, name)
    if value:
        day, id = day_and_id(name)
        yield Hit(SESSION, id, os.path.join(directory, settings.EPISODES_DIR, name), day, _texts(value))


def _note(note: Note) -> Hit:
    facts = [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
    hit = Hit(NOTE, note.ref, note.path, note.day, [(1, "%s: %s" % (note.name, note.description)), *facts])
    hit.type = note.type
    return hit


def _all(scopes: Scopes) -> Iterator[Hit]:
    """All notes that hold and all sessions of the project, newest first."""
    for note in notebook.holding(scopes.shelves):
        yield _note(note)
    for name in reversed(episode.names(scopes.project.dir)):
        yield from _session(scopes.project.dir, name)


def _archived(scopes: Scopes, troubles: list[OSError]) -> Iterator[Hit]:
    for session, path, text in archive.texts(scopes.root, scopes.project.dir, troubles):
        file = os.path.join(archive.folder(scopes.root, scopes.project.dir), session.archive + archive.ENDING)
        texts = _texts(session.episode) if path.endswith(".json") else [*enumerate(text.split("\n"), 1)]
        hit = Hit(ARCHIVED, session.id, file, session.started[:10], texts)
        hit.value["project"] = os.path.basename(scopes.project.dir)
        yield hit


def _texts(value: dict[str, Any]) -> list[tuple[int, str]]:
    return [(1, text) for key in _FIELDS for text in _leaves(value.get(key))]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _is_wanted(hit: Hit, args: argparse.Namespace) -> bool:
    if args.type not in (None, hit.value["kind"], hit.type):
        return False
    day = time.strftime("%Y-%m-%d", time.gmtime(args.since or 0))
    return args.since is None or hit.time >= args.since or hit.value["day"] > day


# Showing -----------------------------------------------------------------------------------------


def _report(hits: list[Hit], args: argparse.Namespace) -> int:
    shown = hits[: args.limit]
    values = [{**hit.value, **({"explained": hit.explained} if hit.explained else {})} for hit in shown]
    if args.json:
        emit_json(values)
    elif not shown:
        print("No match.")
    else:
        words = {*terms(" ".join(args.words))}
        rows = [
            ["WHERE", "DAY", "TEXT"],
            *([line(each["id"]), each["day"] or "-", line(each["text"])] for each in values),
        ]
        if args.all_projects:
            names = [_name(each["project"]) for each in values]
            rows = [[name, *row] for name, row in zip(["PROJECT", *names], rows)]
        for number, row in enumerate(table(rows, is_cut=True)):
            print(_highlighted(row, words) if number else row)
            if number and shown[number - 1].explained:
                print(_explanation(shown[number - 1].explained))
        total = "1 match" if len(hits) == 1 else "%d matches" % len(hits)
        print("\n%s. %s" % (total, _advice(values, args)))
    return 0 if hits else 1


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


def _highlighted(row: str, words: set[str]) -> str:
    if not words or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return row
    return " ".join("\x1b[1m%s\x1b[0m" % word if words.intersection(terms(word)) else word for word in row.split(" "))


def _explanation(parts: dict[str, Any]) -> str:
    steps = ["%s %+.2f" % (name, parts[name]) for name in ("words", "pairs", "newness", "files")]
    matched = ["%s %.1f" % (line(term), rarity) for term, rarity in parts["terms"].items()]
    total = "%.2f = %s; worth %.2f" % (parts["score"], ", ".join(steps), parts["worth"])
    return "    %s\n    has %s" % (total, ", ".join(matched))
