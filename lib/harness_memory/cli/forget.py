"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import contextlib
import os
import time

from ..audit import trail
from ..base import clock, files, settings
from ..memory import archive, backfill, strike
from ..memory import forget as forgetting
from ..notes import note as notes
from ..notes import shelf as notebook
from ..project import identity
from ..session import sessions
from . import arguments, records, resolve
from .arguments import instant
from .backfill import config_dir
from .output import complain, count, cut, emit_json, line, local, short
from .refusal import Refusal
from .scopes import Scopes, described

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..memory.archive import Archived
    from ..memory.strike import Matcher
    from ..notes.note import Note
    from .records import Record

_ABOUT = """\
Remove sessions, notes or a text: facts, views, receipts, caches, former versions, archives. A mark without content
stays, so that no transcript brings it back, and the audit trail says that something was forgotten, not what. That
trail never changes: a text in a command or path that it holds stays there, and you are told so.
Without --yes, or with --dry-run, it only shows what would go.
  forget ID ...          sessions by id, notes by name, archived and removed ones too
  forget --text TEXT     a text, with the sentence it stands in: in all of this project (briefing and profiles too)
                         and in your user notes
  forget --since DATE --until DATE, --session ID, --type T, --scope S   all that match, sessions and notes"""
_EXAMPLES = """\
forget a1b2c3d4 --dry-run
forget cart-totals --yes
forget --text "Acme Corp" --yes
forget --since 2026-11-01 --until 2026-11-08
forget --scope user --type feedback"""
_SHOWN = 12
_SHOWN_CHARS = 90
_LEAST_CHARS = 3  # a shorter text is in half of all sentences


class Chosen:
    """What goes: sessions here and in archives, notes, and the files that hold a text."""

    __slots__ = ("archived", "files", "is_hit", "notes", "sessions", "troubles")

    def __init__(self) -> None:
        self.sessions: list[Record] = []
        self.archived: list[Archived] = []
        self.notes: list[Note] = []
        self.files: list[forgetting.Passages] = []
        self.is_hit: Matcher | None = None
        self.troubles: list[OSError] = []

    def __bool__(self) -> bool:
        return bool(self.sessions or self.notes or self.files or self.archived)


def forget(argv: list[str]) -> int:
    parser = arguments.parser("forget", _ABOUT, _EXAMPLES)
    add = parser.add_argument
    add("words", nargs="*", metavar="ID", help="a session by its id, or a note by its name")
    add("--text", metavar="TEXT", help="every sentence that holds this text")
    add("--session", metavar="ID", help="this session, and the notes made in it")
    add("--since", type=instant, metavar="DATE", help="what was begun on 2026-11-16, 7d ago, … or later")
    add("--until", type=instant, metavar="DATE", help="what was begun before that date")
    add("--type", choices=settings.NOTE_TYPES, help="notes of this type")
    add("--scope", choices=settings.NOTE_SCOPES, help="notes of this scope")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--yes", action="store_true", help="do it")
    choice.add_argument("--dry-run", action="store_true", help="show what would go, change nothing (the default)")
    args = parser.parse_args(argv)
    at = Scopes(args)
    with archive.lock(at.root, at.project.dir) if args.yes else contextlib.nullcontext():
        return _forget(at, args)


def _forget(at: Scopes, args: argparse.Namespace) -> int:
    chosen = _choose(at, args)
    trail = forgetting.in_audit_trail(at.project.dir, chosen.is_hit) if chosen.is_hit else []
    if not args.json:
        print("\n".join(_preview(chosen, at)) if chosen else "Nothing that is remembered here matches.")
    remaining: list[str] = []
    if args.yes and (chosen or chosen.is_hit):
        remaining = _carry_out(at, chosen)
    if args.json:
        emit_json(
            {"forgotten": args.yes and bool(chosen), **_described(chosen), "left": remaining, "audit_trail": trail}
        )
    else:
        if chosen:
            print(
                "\nForgotten." if args.yes else "\nNothing was changed. To forget all this: the same again with --yes"
            )
        for path in remaining:
            print("Left in %s: in a name or path that the record is found by" % short(path))
        for path in trail:
            print("Stays in %s: the audit trail is tamper-evident, and keeps what it holds" % short(path))
    for trouble in chosen.troubles:
        complain(
            "%s: %s. It may hold the text: restore what can be read, then delete it"
            % (short(str(trouble.filename)), trouble.strerror)
        )
    return 2 if chosen.troubles else 0 if chosen else 1


# Choosing -----------------------------------------------------------------------------------------


def _choose(at: Scopes, args: argparse.Namespace) -> Chosen:
    filters = (args.session, args.since, args.until, args.type, args.scope)
    if sum((bool(args.words), args.text is not None, filters != (None,) * 5)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or the other filters; one of the three")
    chosen = Chosen()
    if args.text is not None:
        if len("".join(args.text.split())) < _LEAST_CHARS and args.text.isascii():
            raise Refusal("--text is too short: it would strike half the memory")
        chosen.is_hit = strike.matcher(args.text)
        chosen.files = [*forgetting.find_text(_tops(at), chosen.is_hit)]
        chosen.archived = forgetting.archived_with(at.root, at.project.dir, chosen.is_hit, chosen.troubles)
        return chosen
    known = records.load_all(at.project.dir)
    archived = [*{each.id: each for each in archive.load_all(at.root, at.project.dir, chosen.troubles)}.values()]
    for word in args.words or [args.session] * (args.session is not None):
        if word == "last" or resolve.matching(known, word):
            chosen.sessions.append(resolve.session(known, word))
        elif resolve.matches(word, archived, _ids):
            chosen.archived.append(resolve.one(word, archived, _ids, "archived session", _shown, "restore"))
        else:
            chosen.notes.append(_note(at, word))
    if args.words:
        return chosen
    chosen.notes += [note for note, _ in at.select(args)]
    if not (args.type or args.scope or args.session):
        chosen.sessions = [record for record in known if _is_between(record.started, args)]
        chosen.archived = [each for each in archived if _is_between(each.started, args)]
    return chosen


def _ids(archived: Archived) -> tuple[str, str]:
    return archived.id, archived.session_id


def _shown(archived: Archived) -> str:
    return "%s  %s  %s" % (archived.id, local(archived.started), archived.headline)


def _is_between(started: str, args: argparse.Namespace) -> bool:
    began = clock.parse(started) or 0.0
    return (args.since is None or began >= args.since) and (args.until is None or began < args.until)


def _note(at: Scopes, word: str) -> Note:
    """The note of that name, else a removed one, as it last was."""
    scope, _, name = word.rpartition("/")
    if not at.matching(name, scope or None):
        slug = notes.slug_of(name[: -len(".md")] if name.endswith(".md") else name)
        for shelf in at.shelves:
            folder = shelf.archive if shelf.home and scope in ("", shelf.scope) else ""
            for version in reversed(files.names(folder) if folder and slug else []):
                if notebook.archived_slug(version) == slug:
                    note = notes.parse(slug, files.read_text(os.path.join(folder, version)) or "")
                    note.scope, note.path = shelf.scope, os.path.join(folder, version)
                    return note
    return at.find(word, what="session or note")[1]


def _tops(at: Scopes) -> list[str]:
    return [at.project.dir, notebook.user_shelf(at.root).home, os.path.join(at.root, settings.HEALTH_DIR)]


# Showing ------------------------------------------------------------------------------------------


def _preview(chosen: Chosen, at: Scopes) -> list[str]:
    lines = []
    if chosen.sessions:
        lines.append("%s, with episode, record, receipts and artifacts:" % count(len(chosen.sessions), "session"))
        rows = ["  %s  %s  %s" % (line(r.id), local(r.started), cut(line(r.headline), 80)) for r in chosen.sessions]
        lines += _few(rows)
    if chosen.notes:
        lines.append("%s, with former versions:" % count(len(chosen.notes), "note"))
        lines += _few(["  %s  %s" % (line(n.ref), cut(line(n.description), 80)) for n in chosen.notes])
    if chosen.files:
        lines.append("In %s:" % count(len(chosen.files), "file"))
        for each in chosen.files[:_SHOWN]:
            lines.append("  %s%s" % (line(os.path.relpath(each.path, at.root)), "  (the whole file)" * each.is_removed))
            lines += ["    " + cut(line(text), _SHOWN_CHARS) for text in each.shown[:3]]
        lines += _few([], len(chosen.files) - _SHOWN)
    if chosen.archived:
        lines.append("%s:" % count(len(chosen.archived), "archived session"))
        lines += _few(["  " + cut(line(_shown(each)), 110) for each in chosen.archived])
    return lines


def _few(rows: list[str], more: int = 0) -> list[str]:
    more = more or len(rows) - _SHOWN
    return rows[:_SHOWN] + (["  and %d more (--json lists all)" % more] if more > 0 else [])


def _described(chosen: Chosen) -> dict[str, object]:
    return {
        "sessions": [record.brief() for record in chosen.sessions],
        "notes": [described(note, "") for note in chosen.notes],
        "archived": sorted(each.id for each in chosen.archived),
        "files": [{"file": each.path, "removed": each.is_removed, "passages": each.shown} for each in chosen.files],
    }


# Doing --------------------------------------------------------------------------------------------


def _carry_out(at: Scopes, chosen: Chosen) -> list[str]:
    """Files that still hold the text."""
    identity.record(at.project, clock.iso(at.now))
    try:
        if chosen.is_hit:
            transcripts = [*_transcripts(at, chosen.is_hit), os.environ.get(settings.ENV_SESSION_ID, "")]
            ids = {id for id in transcripts if id}
            forgetting.forget_text(at.root, at.project.dir, _tops(at), chosen.is_hit, ids, time.time())
        elif chosen.sessions or chosen.archived:
            gone = [_files_of(at.project.dir, record) for record in chosen.sessions]
            forgetting.forget_sessions(at.root, at.project.dir, gone, chosen.archived, at.now)
        for note in chosen.notes:
            dirs = arguments.all_dirs() if note.scope == "user" else [at.project.dir]
            forgetting.forget_note(at.shelf(note.scope), note, at.shelves, dirs)
    finally:  # a damaged archive does not keep the rest from being done
        _audit(at, chosen)
    return forgetting.remaining(_tops(at), chosen.is_hit) if chosen.is_hit else []


def _transcripts(at: Scopes, is_hit: Matcher) -> list[str]:
    """The sessions of this project whose transcript holds the text."""
    holding = []
    for source in backfill.sources_of(at.root, at.project.dir, config_dir()):
        with open(source.path, "rb") as file:
            if any(is_hit(text) for row in file for text in strike.passages(source.path, row)):
                holding.append(source.session_id)
    return holding


def _files_of(project_dir: str, record: Record) -> forgetting.Session:
    """Its directory and its episode where they are, readable or not."""
    name = record.episode_name
    directory = os.path.join(project_dir, settings.WORK_DIR, *sessions.day_and_id(name)) if name else ""
    is_there = name in files.names(os.path.join(project_dir, settings.EPISODES_DIR))
    directory = record.session.dir if record.session else directory
    return forgetting.Session(record.id, record.claude_id, directory, name if is_there else "")


def _audit(at: Scopes, chosen: Chosen) -> None:
    """That something was forgotten, by id and number, never what."""
    ids = [*(each.id for each in chosen.sessions), *(each.id for each in chosen.archived)]
    fields = {
        "event": "memory_forgotten",
        "session": at.session,
        "reason": "forget --text" if chosen.is_hit else "forget",
        "sessions": ", ".join(ids),
        "notes": len(chosen.notes),
        "files": len(chosen.files),
    }
    try:
        trail.append(at.project.dir, fields, at.now, settings.LOCK_WAIT_SECONDS)
    except OSError as error:
        complain("it is forgotten, but the audit trail does not say so (%s)" % error.strerror)
