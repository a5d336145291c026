"""`search`: sessions and notes about some words, best first; `related`: those about a file."""

from __future__ import annotations

import os
import sys
import time

from ..base import invocation, jsontext, settings
from ..memory import archive
from ..notes import shelf
from ..project import identity
from ..recall import cache, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION
from ..recall.terms import path_term, terms
from ..session import episode
from ..session.sessions import day_and_id
from . import arguments
from .output import complain, cut, emit_json, line, short, table
from .refusal import Refusal
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
_AROUND_CHARS = 60
_TYPES = (SESSION, NOTE, *settings.NOTE_TYPES)
_FIELDS = (
    *("headline", "what_was_done", "what_remains", "asked", "learnings", "title", "files_changed", "tags", "branch"),
    *("commands_failed_then_fixed", "tasks"),
)
_SHOWN = ("kind", "id", "file", "line", "day", "text", "files", "score", "project", "explained")


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
    if not any(word.strip() for word in args.words):
        raise Refusal("search: the query is empty. Give at least one word.")
    troubles: list[OSError] = []
    at = Scopes(args)
    hits = _search_archives(at, args, troubles) if args.archived else _search(at, args)
    code = _report(hits, args)
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
    at = Scopes(args)
    path = relative(os.path.join(arguments.directory(args), args.file), at.project.root)
    wanted = {args.file.replace(os.sep, "/").strip("/"), path}
    source = _open(at.root, at.project.dir)
    hits = []
    if source:
        numbers = {number for name in wanted for number, _ in source.postings(path_term(name))}
        for term in terms(os.path.basename(path)) if not numbers else ():
            numbers.update(number for number, _ in source.postings(term))
        hits = [hit for hit in (_hit(at.root, at.project.dir, source, number) for number in numbers) if hit]
    hits = [hit for hit in hits if any(_is_end(name, file) for file in hit.files for name in wanted)]
    vars(args).update(words=[], explain=False, all_projects=False, archived=False)
    return _report(sorted(hits, key=lambda hit: hit.day, reverse=True), args)


def _is_end(name: str, file: str) -> bool:
    return ("/" + file).lower().endswith("/" + name.lower())


class Hit:
    """A session or note; `texts` are its numbered lines, `line` and `text` the one to show."""

    def __init__(self, kind: str, id: str, file: str, day: str, texts: list[tuple[int, str]]) -> None:
        self.kind = kind
        self.id = id
        self.file = file
        self.day = day
        self.texts = texts
        self.line, self.text = texts[0] if texts else (1, "")
        self.files: list[str] = []
        self.type = ""
        self.time = 0.0
        self.score = 0.0
        self.has_all = False
        self.project: str | None = None
        self.explained: dict[str, Any] = {}

    def show(self, weight: Callable[[str], int]) -> None:
        """Show the first line of the highest weight."""
        if self.texts:
            self.line, self.text = max(self.texts, key=lambda each: weight(each[1]))

    def has_words(self, words: list[str]) -> bool:
        """Whether the lines together have every word; if so, show the line with the most of them."""
        if not all(any(word in text.casefold() for _, text in self.texts) for word in words):
            return False
        self.show(lambda text: sum(word in text.casefold() for word in words))
        at = min([self.text.casefold().find(word) for word in words if word in self.text.casefold()], default=0)
        self.text = _around(self.text, at)
        return True


def _session(kind: str, id: str, file: str, day: str, value: dict[str, Any]) -> Hit:
    texts = [(1, text) for key in _FIELDS for text in _leaves(value.get(key))]
    return Hit(kind, id, file, day, texts)


def _note(note: Note) -> Hit:
    facts = [(note.head_lines + fact.first + 1, fact.text) for fact in note.facts]
    hit = Hit(NOTE, note.ref, note.path, note.day, [(1, "%s: %s" % (note.name, note.description)), *facts])
    hit.type, hit.files = note.type, [path for path, _ in note.files]
    return hit


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _around(text: str, at: int) -> str:
    begin = text.rfind(" ", 0, max(0, at - _AROUND_CHARS)) + 1
    end = at + 2 * _AROUND_CHARS
    shown = text[begin:] if end >= len(text) else text[begin : max(text.rfind(" ", 0, end), at + 1)]
    return ("…" if begin else "") + shown + ("…" if end < len(text) else "")


# Searching ---------------------------------------------------------------------------------------


def _search(at: Scopes, args: argparse.Namespace) -> list[Hit]:
    words = [word.casefold() for word in args.words]
    hits: dict[str, Hit] = {}
    for directory in arguments.project_dirs(args):
        for hit in _ranked(at, directory, args):
            if all(any(word in text.casefold() for _, text in hit.texts) for word in words if " " in word.strip()):
                hits.setdefault(hit.file, hit)
    local = [_note(note) for shelf in at.shelves if not shelf.home for note in shelf.read()]
    result = [hit for hit in local if hit.has_words(words)] + [*hits.values()]
    result = [hit for hit in result if _is_wanted(hit, args)]
    if not result:  # perhaps a part of a word
        result = [hit for hit in _all(at) if hit.has_words(words) and _is_wanted(hit, args)]
    return sorted(result, key=lambda hit: (not hit.has_all, -hit.score))


def _ranked(at: Scopes, directory: str, args: argparse.Namespace) -> Iterator[Hit]:
    source = _open(at.root, directory)
    query = ranking.Query(" ".join(args.words))
    if source is None:
        return
    scores = ranking.score(source, query, at.now)
    for number in ranking.best(source, scores, _EXAMINED):
        hit = _hit(at.root, directory, source, number)
        if hit:
            hit.show(lambda text: len({*terms(text)}.intersection(query.weights)))
            hit.score = round(scores[number], 3)
            hit.has_all = all(ranking.holds(source, term, number) for term in query.weights)
            hit.explained = ranking.explain(source, query, at.now, number) if args.explain else {}
            yield hit


def _open(root: str, directory: str) -> Source | None:
    try:
        now, ends = time.time(), time.monotonic() + _REFRESH_SECONDS
        return cache.open_source(root, directory, now, ends, is_whole=True) if os.path.isdir(directory) else None
    except (OSError, *cache.DAMAGE):
        return None


def _hit(root: str, directory: str, source: Source, number: int) -> Hit | None:
    """None for an archived document, and for one whose file is gone."""
    record = source.record(number)
    path = cache.path_of(root, directory, record)
    hit = None
    if record.kind == SESSION:
        value = episode.load(directory, record.id)
        hit = _session(SESSION, day_and_id(record.id)[1], path, record.day, value) if value else None
    elif record.kind == NOTE:
        scope, _, slug = record.id.partition("/")
        note = next(each for each in shelf.shelves(root, directory) if each.scope == scope).note(slug)
        hit = _note(note) if note else None
    if hit:
        hit.files, hit.time, hit.day = record.files, source.times[number], record.day
        is_users = record.id.startswith("user/")
        hit.project = None if is_users else os.path.basename(directory)
    return hit


def _all(at: Scopes) -> Iterator[Hit]:
    """All notes that hold and all sessions of the project, newest first."""
    for note in shelf.open_book(at.shelves).holding:
        yield _note(note)
    for name in reversed(episode.names(at.project.dir)):
        value = episode.load(at.project.dir, name)
        day, id = day_and_id(name)
        if value:
            yield _session(SESSION, id, os.path.join(at.project.dir, settings.EPISODES_DIR, name), day, value)


def _search_archives(at: Scopes, args: argparse.Namespace, troubles: list[OSError]) -> list[Hit]:
    words = [word.casefold() for word in args.words]
    hits: dict[str, Hit] = {}
    for session, path, text in archive.texts(at.root, at.project.dir, troubles):
        file = os.path.join(archive.folder(at.root, at.project.dir), session.archive + archive.ENDING)
        about = (ARCHIVED, session.id, file, session.started[:10])
        try:
            value = jsontext.loads(text) if path.endswith(".json") else None
        except ValueError:
            continue
        hit = _session(*about, value) if value else Hit(*about, [*enumerate(text.split("\n"), 1)])
        hit.project = os.path.basename(at.project.dir)
        if session.id not in hits and hit.has_words(words):
            hits[session.id] = hit
    return [*hits.values()]


def _is_wanted(hit: Hit, args: argparse.Namespace) -> bool:
    if args.type not in (None, hit.kind, hit.type):
        return False
    return args.since is None or hit.time >= args.since or hit.day > time.strftime("%Y-%m-%d", time.gmtime(args.since))


# Showing -----------------------------------------------------------------------------------------


def _report(hits: list[Hit], args: argparse.Namespace) -> int:
    shown = hits[: args.limit]
    if args.json:
        emit_json([{key: getattr(hit, key) for key in _SHOWN if key != "explained" or hit.explained} for hit in shown])
    elif not shown:
        print("No match.")
    else:
        words = {*terms(" ".join(args.words))}
        rows = [["WHERE", "DAY", "TEXT"], *([line(hit.id), hit.day or "-", line(hit.text)] for hit in shown)]
        if args.all_projects:
            rows = [["PROJECT", *rows[0]], *([_name(hit.project), *row] for hit, row in zip(shown, rows[1:]))]
        for number, row in enumerate(table(rows, is_cut=True)):
            print(_highlighted(row, words) if number else row)
            if number and shown[number - 1].explained:
                print(_explanation(shown[number - 1].explained))
        print("\n%s. %s" % ("1 match" if len(hits) == 1 else "%d matches" % len(hits), _advice(shown, args)))
    return 0 if hits else 1


def _name(project_id: str | None) -> str:
    return cut(arguments.project_name(project_id), 24) if project_id else "-"


def _advice(shown: list[Hit], args: argparse.Namespace) -> str:
    if args.archived:
        return "Restore one: harness memory restore ID"
    here = os.path.basename(arguments.locate(args).dir)
    projects = [id for id in dict.fromkeys(hit.project for hit in shown) if id not in (None, here)]
    if not projects or not args.all_projects:
        return "Read one: harness memory show ID"
    commands = [["  " + _name(here), "harness memory show ID"], *(["  " + _name(id), _command(id)] for id in projects)]
    return "\n".join(["Read one:", *table(commands)])


def _command(project_id: str | None) -> str:
    """The command that shows a session of another project."""
    root = arguments.root()
    memory = os.path.join(root, str(project_id))
    path = identity.last_seen(memory)[0]
    if path and os.path.isdir(path) and identity.locate(root, path, path).dir == memory:
        return "harness memory show ID --project %s" % line(invocation.quote(path))
    return "its folder is gone; look into %s" % short(memory)


def _highlighted(row: str, words: set[str]) -> str:
    if not words or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return row
    return " ".join("\x1b[1m%s\x1b[0m" % word if words.intersection(terms(word)) else word for word in row.split(" "))


def _explanation(parts: dict[str, Any]) -> str:
    steps = ["%s %+.2f" % (name, parts[name]) for name in ("words", "pairs", "newness", "files")]
    held = ["%s %.1f" % (line(term), rarity) for term, rarity in parts["terms"].items()]
    total = "%.2f = %s; worth %.2f" % (parts["score"], ", ".join(steps), parts["worth"])
    return "    %s\n    holds %s" % (total, ", ".join(held))
