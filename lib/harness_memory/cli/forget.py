"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from typing import Any, Dict, Union

from ..audit import trail
from ..base import clock, files, settings
from ..memory import archive, backfill, merge, records
from ..memory import forget as forgetting
from ..memory.archive import Archived
from ..memory.forget import Matcher
from ..memory.records import Record
from ..notes import binding
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from . import arguments, resolve
from .output import Refusal, answer, complain_of, count, cut, line, short, some
from .retention import config_dir
from .scopes import Scopes, described

_ABOUT = """\
Remove sessions, notes or a text from everywhere: facts, views, receipts, caches, former versions, archives.
A mark without content stays, so that no transcript brings it back. The audit trail never changes: the output says
where it holds the text. Without --yes it only shows what would go. Give IDs, or --text, or --since and --until."""
Thing = Union[Record, Archived, Note, Dict[str, Any]]  # a session here or in an archive, a note, or a file with a text

_NOUNS = {"sessions": "session", "notes": "note", "archived": "archived session", "files": "file"}
_SHOWN = 12
_LEAST_CHARS = 3  # a shorter text is in half of all sentences


def forget(argv: list[str]) -> int:
    examples = 'forget a1b2c3d4 cart-totals --yes\nforget --text "Acme Corp" --yes'
    parser = arguments.parser("forget", _ABOUT, examples, has_preview=True)
    add = parser.add_argument
    add("words", nargs="*", metavar="ID", help="a session by its id, or a note by its name")
    add("--text", metavar="TEXT", help="every sentence that holds this text")
    add("--since", type=arguments.instant, metavar="DATE", help="what was begun on 2026-11-16, 7d ago, … or later")
    add("--until", type=arguments.instant, metavar="DATE", help="what was begun before that date")
    add("--yes", action="store_true", help="do it")
    args = parser.parse_args(argv)
    args.yes = args.yes and not args.dry_run
    at = Scopes(args)
    tops = [at.project.dir, notebook.user_shelf(at.root).home, os.path.join(at.root, settings.HEALTH_DIR)]
    troubles: list[OSError] = []
    with archive.lock(at.project.dir) if args.yes else contextlib.nullcontext():
        is_hit = None if args.text is None else forgetting.matcher(args.text)
        things = _choose(at, args, tops, is_hit, troubles)
        report, lines = _shown(things, at.root)  # while the sessions can still be read
        going = [each["file"] if isinstance(each, dict) else getattr(each, "path", "") for each in things]
        bound = [note for note in notebook.read_all(at.shelves) if note.path in going and binding.is_looser(note, None)]
        if args.yes and bound and not arguments.is_person():
            raise Refusal("%s: %s" % (", ".join(note.ref for note in bound), binding.PERSON))
        if args.yes and (things or is_hit):
            _carry_out(at, things, tops, is_hit)
    left = [*forgetting.holding(tops, is_hit)] if is_hit and args.yes else []
    in_trail = [*forgetting.holding([os.path.join(at.project.dir, settings.SECURITY_DIR)], is_hit)] if is_hit else []
    end = "Forgotten." if args.yes else "Nothing was changed. To forget all this: the same again with --yes"
    lines = [*lines, "", end] if things else ["Nothing that is remembered here matches."]
    lines += ["Left in %s: in a name or path that the record is found by" % short(path) for path in left]
    lines += ["Stays in %s: the audit trail is tamper-evident" % short(path) for path in in_trail]
    if args.yes and things and files.exists(os.path.join(at.root, settings.VERSIONS_FILE)):
        merge.record_versions(at.root, at.now)
        lines += ["Stays in the history of the sync until: harness memory sync purge-history"]
    answer(args.json, {"forgotten": args.yes and bool(things), **report, "left": left, "audit_trail": in_trail}, lines)
    complain_of(troubles, "Restore what can be read, then delete it")
    return 2 if troubles else 0 if things else 1


def _choose(
    at: Scopes, args: argparse.Namespace, tops: list[str], is_hit: Matcher | None, troubles: list[OSError]
) -> list[Thing]:
    is_span = args.since is not None or args.until is not None
    if sum((bool(args.words), args.text is not None, is_span)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or --since and --until; one of the three")
    every, parts = records.load_all(at.project.dir), [*archive.load_all(at.project.dir, troubles)]
    if is_hit:
        if len("".join(args.text.split())) < _LEAST_CHARS and args.text.isascii():
            raise Refusal("--text is too short: it would strike half the memory")
        hit = [each for each in parts if forgetting.struck(each, is_hit) != each.files]
        return [*forgetting.find_text(tops, is_hit), *hit]
    if is_span:
        since = clock.iso(args.since) if args.since else ""
        until = clock.iso(args.until) if args.until else "later than any date"
        sessions: list[Record | Archived] = [*every, *{each.id: each for each in parts}.values()]
        own = [note for note in at.select(args) if note.scope != settings.TEAM_SCOPE]
        return [*own, *(each for each in sessions if since <= each.started < until)]
    things = [at.meant(word, every) for word in args.words]
    for note in [each for each in things if isinstance(each, Note) and each.scope == settings.TEAM_SCOPE]:
        raise Refusal("%s is in the repository. Remove it there: harness memory team unshare NAME" % note.ref)
    return [*things]


def _shown(things: list[Thing], root: str) -> tuple[dict[str, list[Any]], list[str]]:
    """What goes: for scripts, and for a person."""
    groups: dict[str, list[tuple[Any, list[str]]]] = {key: [] for key in _NOUNS}
    for thing in things:
        if isinstance(thing, Record):
            groups["sessions"].append((thing.brief(), [resolve.shown(thing)]))
        elif isinstance(thing, Archived):
            groups["archived"].append((thing.id, [resolve.shown(thing)]))
        elif isinstance(thing, Note):
            groups["notes"].append((described(thing), ["%s  %s" % (thing.ref, thing.description)]))
        else:
            name = os.path.relpath(thing["file"], root) + "  (the whole file)" * thing["removed"]
            groups["files"].append((thing, [name, *thing["passages"][:3]]))
    lines = []
    for key, rows in groups.items():
        texts = ["  " + "\n    ".join([cut(line(text), 100) for text in row]) for _, row in rows]
        lines += [count(len(rows), _NOUNS[key]) + ":", *some(texts, _SHOWN, "  ")] if rows else []
    return {key: [value for value, _ in rows] for key, rows in groups.items()}, lines


def _carry_out(at: Scopes, things: list[Thing], tops: list[str], is_hit: Matcher | None) -> None:
    identity.record(at.project, clock.iso(at.now))
    project_dir, notes = at.project.dir, [each for each in things if isinstance(each, Note)]
    sessions = [each for each in things if isinstance(each, Record)]
    archived = [each for each in things if isinstance(each, Archived)]
    try:
        if is_hit:
            ids = {os.environ.get(settings.ENV_SESSION_ID, "")} - {""}
            sources = filter(None, backfill.sources(at.root, backfill.paths(config_dir())))
            for source in (each for each in sources if each.project.dir == project_dir):
                with open(source.path, "rb") as file:
                    if any(is_hit(text) for row in file for text in forgetting.passages(source.path, row)):
                        ids.add(source.session_id)
            forgetting.forget_text(project_dir, tops, is_hit, ids, time.time())
        elif sessions or archived:
            forgetting.forget_sessions(project_dir, sessions, archived, at.now)
        for note in notes:
            dirs = arguments.all_dirs() if note.scope == "user" else [project_dir]
            forgetting.forget_note(at.shelf(note.scope), note, at.shelves, dirs)
    finally:  # a damaged archive does not keep the rest from being done
        gone = ", ".join(sorted({*(each.id for each in sessions), *(each.id for each in archived)}))
        numbers = {"notes": len(notes), "files": sum(isinstance(each, dict) for each in things), "sessions": gone}
        event = {"event": "memory_forgotten", "session": at.session, "reason": "forget --text" if is_hit else "forget"}
        trail.append(project_dir, {**event, **numbers}, at.now, settings.LOCK_WAIT_SECONDS)
