"""`search`: what is remembered about some words, best first; `related`: about a file."""

from __future__ import annotations

import os
import sys
import time

from .. import recall
from ..base import invocation, settings
from ..project import identity
from ..recall import cache, documents, scan, stock
from ..recall.ranking import best
from ..recall.segment import Damaged
from ..session import episode
from ..session.sessions import day_and_id
from . import arguments, desk
from .output import complain, count, cut, emit_json, line, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from ..recall.scan import Hit
    from ..recall.stock import Stock
    from .desk import Desk

_LIMIT = 10
_LOOKED_AT = 500  # of the best, to find those that are wanted
_CATCH_UP_SECONDS = 60.0
_TYPES = (documents.SESSION, documents.NOTE, *settings.NOTE_TYPES)


def search(argv: list[str]) -> int:
    about = (
        "Sessions and notes about these words, best first: those that hold every word before the others. Words in\n"
        "quotes must stand so. Exit code 1 when there is nothing."
    )
    examples = 'search rounding\nsearch why are cart totals rounded -k 3\nsearch "cart total" tax --type note\n'
    examples += "search deploy --since 7d --all-projects\nsearch deploy --archived --json"
    parser = arguments.parser("search", about, examples)
    arguments.add_all_projects(parser)
    add = parser.add_argument
    add("words", nargs="+", metavar="QUERY", help="words, an error message, a path; words in quotes belong together")
    add("-k", "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT)
    add("--type", choices=_TYPES, help="only sessions, only notes, or only notes of a type")
    add("--since", type=arguments.instant, metavar="DATE", help="of 2026-11-16, today, yesterday, 36h or 7d, or later")
    add("--notes", action="store_const", dest="type", const=documents.NOTE, help="the same as --type note")
    add("--sessions", action="store_const", dest="type", const=documents.SESSION, help="the same as --type session")
    add("--archived", action="store_true", help="only in sessions that were archived; holding every word")
    add("--explain", action="store_true", help="what each score is made of")
    args = parser.parse_args(argv)
    if not any(word.strip() for word in args.words):
        raise Refusal("what is to be searched for?")
    if not args.archived:
        return _report(_ranked(args), args, args.words)
    troubles: list[OSError] = []
    code = _report(_archived(args, troubles), args, args.words)
    for trouble in troubles:
        complain("%s: %s. It was searched as far as it goes" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if troubles else code


def related(argv: list[str]) -> int:
    about = "Sessions that changed a file, and notes about it, newest first. Exit code 1 when there is nothing."
    parser = arguments.parser("related", about, "related src/cart.py\nrelated cart.py -k 3 --json")
    parser.add_argument("file", metavar="FILE", help="a path in the project, or the end of one")
    parser.add_argument(
        "-k", "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT
    )
    args = parser.parse_args(argv)
    at = desk.Desk(args)
    path = desk.relative(os.path.join(arguments.directory(args), args.file), at.project.root)
    source = _open(at.root, at.project.dir)
    found = []
    if source:
        wanted = {args.file.replace(os.sep, "/").strip("/"), path}
        numbers = {number for name in wanted for number, _ in source.postings(recall.path_term(name))}
        for term in recall.terms(os.path.basename(path)) if not numbers else ():
            numbers.update(number for number, _ in source.postings(term))
        found = [_hit(at.root, at.project.dir, source, number, []) for number in numbers]
    args.explain, args.all_projects, args.archived = False, False, False
    about_it = [hit for hit in found if hit and any(_ends_with(file, wanted) for file in hit["files"])]
    return _report(sorted(about_it, key=lambda hit: str(hit["day"]), reverse=True), args, [])


def _ends_with(file: str, wanted: set[str]) -> bool:
    return any(("/" + file).lower().endswith("/" + name.lower()) for name in wanted)


# Finding -----------------------------------------------------------------------------------------


def _ranked(args: argparse.Namespace) -> list[dict[str, Any]]:
    at = desk.Desk(args)
    phrases = [word.casefold() for word in args.words if " " in word.strip()]
    found: dict[str, dict[str, Any]] = {}
    for directory in arguments.project_dirs(args):
        for hit in _in_project(at, directory, " ".join(args.words), args):
            is_said = all(any(phrase in text.casefold() for text in hit["texts"]) for phrase in phrases)
            if is_said and _is_wanted(hit, args):
                found.setdefault(str(hit["file"]), _of_project(hit, directory))
    kept = sorted(found.values(), key=lambda hit: (-hit["held"], -hit["score"]))
    if kept:
        return kept
    # Part of a word, perhaps, or there is no index.
    shelves = [] if args.type == documents.SESSION else at.shelves
    plain = [_described(hit) for hit in scan.find(at.project.dir, shelves, args.words)] if args.since is None else []
    return [_of_project(hit, at.project.dir) for hit in plain if args.type in (None, hit["kind"])]


def _of_project(hit: dict[str, Any], directory: str) -> dict[str, Any]:
    is_users = hit["kind"] == documents.NOTE and hit["id"].startswith("user/")
    return {**hit, "project": None if is_users else os.path.basename(directory)}


def _in_project(at: Desk, directory: str, query: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    if directory == at.project.dir:
        local = [shelf for shelf in at.shelves if not shelf.home]
        for told in scan.find_notes(local, [word.casefold() for word in args.words]):
            yield {**_described(told), "held": 1, "score": 0.0, "texts": [told.text], "type": "", "time": at.now}
    source = _open(at.root, directory)
    if source is None:
        return
    asked = recall.Query(query)
    source.settle(at.now)
    try:
        scores = recall.score(source, asked, time.time())
        for number in best(source, scores, _LOOKED_AT):
            hit = _hit(at.root, directory, source, number, [*asked.weights])
            if hit:
                hit["score"] = round(scores[number], 3)
                hit["held"] = int(all(source.holds(number, term) for term in asked.weights))
                if args.explain:
                    hit["explained"] = recall.explain(query, {}, index=source, number=number, now=time.time())
                yield hit
    finally:
        source.close()


def _open(root: str, directory: str) -> Stock | None:
    """What is searched in, brought up to date; None when there is nothing, or it cannot be written."""
    try:
        if os.path.isdir(directory):
            cache.catch_up(root, directory, time.monotonic() + _CATCH_UP_SECONDS)
        source = stock.open_stock(root, directory)
    except (OSError, Damaged):
        return None
    if source:
        source.most = sys.maxsize
    return source


def _hit(root: str, directory: str, source: Stock, number: int, wanted: list[str]) -> dict[str, Any] | None:
    """What is shown of a document, with the line that holds most of the words; None for what does not hold."""
    id = source.document(number).id
    _, kind, day, headline, files = source.records[id]
    if kind == documents.ARCHIVED or stock.is_gone(root, directory, id, kind):
        return None
    if kind == documents.NOTE:
        return _note_hit(root, directory, source, id, day, wanted)
    path = os.path.join(directory, settings.EPISODES_DIR, id)
    value = episode.load(directory, id)
    texts = [*scan.texts(value)] if value else []
    text = _line([headline, *texts], wanted)
    hit = {"kind": kind, "id": day_and_id(id)[1], "file": path, "line": 1, "day": day, "text": text}
    return {**hit, "files": files, "texts": texts, "type": "", "time": source.times[number]}


def _note_hit(root: str, directory: str, source: Stock, ref: str, day: str, wanted: list[str]) -> dict[str, Any] | None:
    from ..notes import shelf as notebook

    scope, _, slug = ref.partition("/")
    shelf = notebook.user_shelf(root) if scope == "user" else notebook.project_shelf(directory)
    note = shelf.note(slug)
    if note is None or source.is_hidden(ref):
        return None
    texts = ["%s: %s" % (note.name, note.description), *(fact.text for fact in note.facts)]
    places = [1, *(note.head_lines + fact.first + 1 for fact in note.facts)]
    text = _line(texts, wanted)
    hit = {"kind": "note", "id": ref, "file": note.path, "line": places[texts.index(text)], "day": day, "text": text}
    return {**hit, "files": [path for path, _ in note.files], "texts": texts, "type": note.type, "time": 0.0}


def _line(texts: list[str], wanted: list[str]) -> str:
    """The text with the most of the words, the first of them when none has any."""
    if not wanted:
        return texts[0]
    return max(texts, key=lambda text: len({*recall.terms(text)}.intersection(wanted)))


def _is_wanted(hit: dict[str, Any], args: argparse.Namespace) -> bool:
    if args.type not in (None, hit["kind"], hit["type"]):
        return False
    if args.since is None:
        return True
    return bool((hit["time"] or 0.0) >= args.since or hit["day"] > time.strftime("%Y-%m-%d", time.gmtime(args.since)))


def _archived(args: argparse.Namespace, troubles: list[OSError]) -> list[dict[str, Any]]:
    at = desk.Desk(args)
    found = scan.find_archived(at.root, at.project.dir, args.words, troubles)
    return [_of_project(_described(hit), at.project.dir) for hit in found]


def _described(hit: Hit) -> dict[str, Any]:
    return {"kind": hit.kind, "id": hit.id, "file": hit.path, "line": hit.line, "day": hit.day, "text": hit.text}


# Showing -----------------------------------------------------------------------------------------


def _report(found: list[dict[str, Any]], args: argparse.Namespace, words: list[str]) -> int:
    shown = found[: args.limit]
    if args.json:
        hidden = ("texts", "held", "type", "time")
        emit_json([{key: value for key, value in hit.items() if key not in hidden} for hit in shown])
    elif shown:
        wanted = {*recall.terms(" ".join(words))}
        rows = [["WHERE", "DAY", "TEXT"], *([line(h["id"]), h["day"] or "-", line(h["text"])] for h in shown)]
        if args.all_projects:
            rows = [["PROJECT", *rows[0]], *([_name(h["project"]), *row] for h, row in zip(shown, rows[1:]))]
        for number, row in enumerate(table(rows, is_cut=True)):
            print(_highlighted(row, wanted) if number else row)
            if number and args.explain:
                print("\n".join("    " + part for part in _explained(shown[number - 1])))
        print("\n%s. %s" % (count(len(found), "match").replace("matchs", "matches"), _advice(shown, args)))
    else:
        print("Nothing that is remembered here holds that.")
    return 0 if found else 1


def _name(project_id: str | None) -> str:
    return cut(arguments.project_name(project_id), 24) if project_id else "-"


def _advice(shown: list[dict[str, Any]], args: argparse.Namespace) -> str:
    if args.archived:
        return "Bring one back: harness memory restore ID"
    here = os.path.basename(arguments.locate(args).dir)
    places = list(dict.fromkeys(hit["project"] for hit in shown)) if args.all_projects else []
    if not any(id not in (None, here) for id in places):
        return "Read one: harness memory show ID"
    rows = [["  " + _name(id), _reading(id, is_near=id in (None, here))] for id in places]
    return "\n".join(["Read one:", *table(rows)])


def _reading(project_id: str, *, is_near: bool) -> str:
    """The command that shows a session of a project; where it lies, if the project has left the folder it was in."""
    if is_near:
        return "harness memory show ID"
    root = arguments.root()
    memory = os.path.join(root, project_id)
    path = identity.last_seen(memory)[0]
    if path and os.path.isdir(path) and identity.locate(root, path, path).dir == memory:
        return "harness memory show ID --project %s" % line(invocation.quote(path))
    return "its folder is gone; look into %s" % short(memory)


def _highlighted(row: str, wanted: set[str]) -> str:
    if not wanted or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return row
    words = row.split(" ")
    return " ".join("\x1b[1m%s\x1b[0m" % word if wanted.intersection(recall.terms(word)) else word for word in words)


def _explained(hit: dict[str, Any]) -> list[str]:
    parts = hit.get("explained")
    if not parts:
        return []
    steps = ["%s %+.2f" % (name, value) for name, value in parts.items() if name not in ("terms", "score", "worth")]
    terms = ["%s %.1f" % (line(term), rarity) for term, rarity in parts["terms"].items()]
    return ["%.2f = %s; worth %.2f" % (parts["score"], ", ".join(steps), parts["worth"]), "holds " + ", ".join(terms)]
