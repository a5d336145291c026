"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from typing import Any, NamedTuple

from ..audit import trail
from ..base import clock, files, settings
from ..memory import archive, backfill, records
from ..memory import forget as forgetting
from ..memory.archive import Archived
from ..memory.forget import Matcher
from ..memory.records import Record
from ..notes import binding
from ..notes import note as notes
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from . import arguments, resolve
from .output import Refusal, answer, complain, count, cut, line, short, some
from .retention import config_dir
from .scopes import Scopes, described

_ABOUT = """\
Remove sessions, notes or a text from everywhere: facts, views, receipts, caches, former versions, archives.
A mark without content stays, so that no transcript brings it back. The audit trail never changes: the output says
where it holds the text. Without --yes it only shows what would go. Give IDs, or --text, or --since and --until."""
_NOUNS = {"sessions": "session", "notes": "note", "archived": "archived session", "files": "file"}
_SHOWN = 12
_LEAST_CHARS = 3  # a shorter text is in half of all sentences


class Selection(NamedTuple):
    """What goes: sessions here and in archives, notes, and what `find_text` says of files."""

    sessions: list[Record]
    archived: list[Archived]
    notes: list[Note]
    files: list[dict[str, Any]]
    troubles: list[OSError]


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
    with archive.lock(at.project.dir) if args.yes else contextlib.nullcontext():
        is_hit = None if args.text is None else forgetting.matcher(args.text)
        selection = _choose(at, args, tops, is_hit)
        report, lines = _shown(selection, at.root)  # while the sessions can still be read
        is_any = any(report.values())
        going = {*(note.path for note in selection.notes), *(str(each["file"]) for each in selection.files)}
        bound = [
            note.ref for note in notebook.read_all(at.shelves) if note.path in going and binding.is_looser(note, None)
        ]
        if args.yes and bound and not arguments.is_person():
            raise Refusal("%s: %s" % (", ".join(bound), binding.PERSON))
        if args.yes and (is_any or is_hit):
            _carry_out(at, selection, tops, is_hit)
    left = [*forgetting.holding(tops, is_hit)] if is_hit and args.yes else []
    in_trail = [*forgetting.holding([os.path.join(at.project.dir, settings.SECURITY_DIR)], is_hit)] if is_hit else []
    end = "Forgotten." if args.yes else "Nothing was changed. To forget all this: the same again with --yes"
    lines = [*lines, "", end] if is_any else ["Nothing that is remembered here matches."]
    lines += ["Left in %s: in a name or path that the record is found by" % short(path) for path in left]
    lines += ["Stays in %s: the audit trail is tamper-evident" % short(path) for path in in_trail]
    answer(args.json, {"forgotten": args.yes and is_any, **report, "left": left, "audit_trail": in_trail}, lines)
    for trouble in selection.troubles:
        complain("%s: %s. Restore what can be read, then delete it" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if selection.troubles else 0 if is_any else 1


def _choose(at: Scopes, args: argparse.Namespace, tops: list[str], is_hit: Matcher | None) -> Selection:
    is_span = args.since is not None or args.until is not None
    if sum((bool(args.words), args.text is not None, is_span)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or --since and --until; one of the three")
    selection, every = Selection([], [], [], [], []), records.load_all(at.project.dir)
    parts = [*archive.load_all(at.project.dir, selection.troubles)]
    archived = [*{each.id: each for each in parts}.values()]
    if is_hit:
        if len("".join(args.text.split())) < _LEAST_CHARS and args.text.isascii():
            raise Refusal("--text is too short: it would strike half the memory")
        selection.files.extend(forgetting.find_text(tops, is_hit))
        selection.archived.extend(each for each in parts if forgetting.struck(each, is_hit) != each.files)
    for word in args.words:
        if word == "last" or resolve.matching(every, word):
            selection.sessions.append(resolve.session(every, word))
        elif resolve.matches(word, archived, lambda each: (each.id, each.claude_id)):
            selection.archived.append(resolve.archived(archived, word))
        else:
            selection.notes.append(_removed_note(at, word) or at.find(word, what="session or note"))
    if is_span:
        since = clock.iso(args.since) if args.since else ""
        until = clock.iso(args.until) if args.until else "later than any date"
        selection.notes.extend(at.select(args))
        selection.sessions.extend(each for each in every if since <= each.started < until)
        selection.archived.extend(each for each in archived if since <= each.started < until)
    return selection


def _removed_note(at: Scopes, word: str) -> Note | None:
    """The note of that name as it last was, when only former versions are left."""
    scope, _, name = word.rpartition("/")
    slug = notes.slug_of(name[: -len(".md")] if name.endswith(".md") else name)
    for shelf in [] if at.matching(name, scope or None) else at.shelves:
        versions = [version for version in files.names(shelf.archive) if notebook.archived_slug(version) == slug]
        if versions and scope in ("", shelf.scope):
            path = os.path.join(shelf.archive, versions[-1])
            note = notes.parse(slug, files.read_text(path))
            note.scope, note.path = shelf.scope, path
            return note
    return None


def _shown(selection: Selection, root: str) -> tuple[dict[str, list[Any]], list[str]]:
    """What goes: for scripts, and for a person."""
    names = [os.path.relpath(each["file"], root) + "  (the whole file)" * each["removed"] for each in selection.files]
    groups: dict[str, list[tuple[Any, list[str]]]] = {
        "sessions": [(each.brief(), [resolve.shown(each)]) for each in selection.sessions],
        "notes": [(described(note), ["%s  %s" % (note.ref, note.description)]) for note in selection.notes],
        "archived": [(each.id, [resolve.shown(each)]) for each in selection.archived],
        "files": [(each, [name, *each["passages"][:3]]) for name, each in zip(names, selection.files)],
    }
    lines = []
    for key, rows in groups.items():
        texts = ["  " + "\n    ".join([cut(line(text), 100) for text in row]) for _, row in rows]
        lines += [count(len(rows), _NOUNS[key]) + ":", *some(texts, _SHOWN, "  ")] if rows else []
    return {key: [value for value, _ in rows] for key, rows in groups.items()}, lines


def _carry_out(at: Scopes, selection: Selection, tops: list[str], is_hit: Matcher | None) -> None:
    identity.record(at.project, clock.iso(at.now))
    project_dir = at.project.dir
    try:
        if is_hit:
            ids = {os.environ.get(settings.ENV_SESSION_ID, "")} - {""}
            sources = filter(None, backfill.sources(at.root, backfill.paths(config_dir())))
            for source in (each for each in sources if each.project.dir == project_dir):
                with open(source.path, "rb") as file:
                    if any(is_hit(text) for row in file for text in forgetting.passages(source.path, row)):
                        ids.add(source.session_id)
            forgetting.forget_text(project_dir, tops, is_hit, ids, time.time())
        elif selection.sessions or selection.archived:
            forgetting.forget_sessions(project_dir, selection.sessions, selection.archived, at.now)
        for note in selection.notes:
            dirs = arguments.all_dirs() if note.scope == "user" else [project_dir]
            forgetting.forget_note(at.shelf(note.scope), note, at.shelves, dirs)
    finally:  # a damaged archive does not keep the rest from being done
        ids = {*(each.id for each in selection.sessions), *(each.id for each in selection.archived)}
        numbers = {"notes": len(selection.notes), "files": len(selection.files), "sessions": ", ".join(sorted(ids))}
        event = {"event": "memory_forgotten", "session": at.session, "reason": "forget --text" if is_hit else "forget"}
        trail.append(project_dir, {**event, **numbers}, at.now, settings.LOCK_WAIT_SECONDS)
