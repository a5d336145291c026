"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import contextlib
import os
import time

from ..base import clock, files, settings
from ..memory import archive, views
from ..memory import forget as forgetting
from ..notes import shelf as notebook
from ..project import identity
from ..session import sessions, tombstones
from . import arguments, chosen
from .arguments import instant
from .output import complain, count, cut, emit_json, line, local, short
from .refusal import Refusal
from .scopes import Scopes, brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..notes.note import Note
    from .chosen import Chosen
    from .records import Record

_ABOUT = """\
Remove what is remembered: facts, views, receipts, caches, former versions, archives. A mark without content stays,
so that no transcript brings it back, and the audit trail says that something was forgotten, not what. That trail is
never changed: a text in a command or path that it holds stays there, and you are told so.
Without --yes, or with --dry-run, it only shows what would go.
  forget ID ...          sessions by id, notes by name, archived and removed ones too (what archived sessions were
                         told of them stays in those archives; --text takes a text from there as well)
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
    # Nobody puts away, or brings back, what was looked at but not yet forgotten.
    with archive.Alone(at.root, at.project.dir) if args.yes else contextlib.nullcontext():
        return _forget(at, args)


def _forget(at: Scopes, args: argparse.Namespace) -> int:
    busy: dict[str, forgetting.Busy] = {}
    if args.yes:
        forgetting.drop_leftovers([at.project.dir, archive.folder(at.root, at.project.dir), *_common(at)], at.now)
        views.refresh(at.project.dir, is_full=True)  # with what an earlier run could not finish
        busy = forgetting.await_sessions(at.project.dir) if args.text else {}
    found = chosen.choose(at, args)
    if args.yes and args.text and not found:  # what the last time left to do may be all
        forgetting.drop_archived(at.root, at.project.dir, set())
        _renew(at)
    trail = forgetting.in_audit_trail(at.project.dir, args.text) if args.text else []
    if not args.json:
        shown = [*_preview(found, at), *_outlook(args.text)] if found else ["Nothing that is remembered here matches."]
        print("\n".join(shown))
    left = _carry_out(at, found, args.text or "") if args.yes and found else _raise_if_any(busy)
    if args.json:
        emit_json({"forgotten": args.yes and bool(found), **_described(found), "left": left, "audit_trail": trail})
    else:
        _conclude(args.yes, bool(found), left, trail)
    for trouble in found.troubles:
        told = (short(str(trouble.filename)), trouble.strerror)
        complain("%s: %s. Whether it holds the text nobody can tell: look whether you need it, or delete it" % told)
    return 2 if found.troubles else 0 if found else 1


def _common(at: Scopes) -> list[str]:
    return [notebook.user_shelf(at.root).home, os.path.join(at.root, settings.HEALTH_DIR)]


def _conclude(is_done: bool, is_any: bool, left: list[str], trail: list[str]) -> None:
    if is_any:
        print("\nForgotten." if is_done else "\nNothing was changed. To forget all this: the same again with --yes")
    for path in left:
        print("Left in %s: in a name or path that the record is found by" % short(path))
    for path in trail:
        print("Stays in %s: the audit trail is tamper-evident, and keeps what it holds" % short(path))


# Showing it ----------------------------------------------------------------------------------------


def _preview(chosen: Chosen, at: Scopes) -> list[str]:
    lines = []
    if chosen.sessions:
        lines.append("%s, with episode, record, receipts and artifacts:" % count(len(chosen.sessions), "session"))
        rows = ["  %s  %s  %s" % (line(r.id), local(r.started), cut(line(r.headline), 80)) for r in chosen.sessions]
        lines += _few(rows)
    if chosen.notes:
        lines.append("%s, with former versions:" % count(len(chosen.notes), "note"))
        lines += _few(["  %s  %s" % (line(n.ref), cut(line(n.description), 80)) for n in chosen.notes])
    if chosen.strokes:
        lines.append("In %s:" % count(len(chosen.strokes), "file"))
        for _, stroke in chosen.strokes[:_SHOWN]:
            whole = "  (the whole file)" if stroke.after is None else ""
            lines.append("  %s%s" % (line(os.path.relpath(stroke.path, at.root)), whole))
            lines += ["    " + cut(line(text), _SHOWN_CHARS) for text in stroke.shown[:3]]
        left = len(chosen.strokes) - _SHOWN
        lines += ["  and %s more (--json lists all)" % count(left, "file")] if left > 0 else []
    if chosen.archived:
        lines.append("%s, whole:" % count(len(chosen.archived), "archived session"))
        put_away = [(line(e["id"]), local(e["started"]), cut(line(e["headline"]), 80)) for e in chosen.archived]
        lines += _few(["  %s  %s  %s" % row for row in put_away])
    return lines


def _outlook(text: str | None) -> list[str]:
    """How far a text is kept from coming back."""
    if not text:
        return []
    if not forgetting.phrases(text, []):
        return ["", "Transcripts may bring it back: without its signs too little of it is left to know it by."]
    return ["", "It is kept out as whole words: a transcript may bring back others that it is only a part of."]


def _few(rows: list[str]) -> list[str]:
    return rows if len(rows) <= _SHOWN else [*rows[:_SHOWN], "  and %d more (--json lists all)" % (len(rows) - _SHOWN)]


def _described(chosen: Chosen) -> dict[str, object]:
    return {
        "sessions": [record.brief() for record in chosen.sessions],
        "notes": [brief(note, "") for note in chosen.notes],
        "archived": sorted(entry["id"] for entry in chosen.archived),
        "files": [{"file": s.path, "removed": s.after is None, "passages": s.shown} for _, s in chosen.strokes],
    }


# Doing it ------------------------------------------------------------------------------------------


def _all_of(project_dir: str, record: Record) -> forgetting.Session:
    """Its directory and its episode where they are, readable or not."""
    name = record.episode_name
    directory = os.path.join(project_dir, settings.WORK_DIR, *sessions.day_and_id(name)) if name else ""
    directory = record.session.dir if record.session else directory
    is_there = name in files.listed(os.path.join(project_dir, settings.EPISODES_DIR))
    return forgetting.Session(record.id, record.claude_id, directory, name if is_there else "")


def _what_came_back(project_dir: str, entry: dict[str, Any]) -> forgetting.Session:
    """An archived session; a killed `restore` leaves a directory without a record, which nothing else would find."""
    record = "%s/%s/%s" % (settings.WORK_DIR, entry["work"], settings.META_FILE)
    path = os.path.join(project_dir, *record.split("/"))
    is_half = archive.is_ours(record) and not files.is_there(path)  # else a session is there that went on
    return forgetting.Session(entry["id"], entry["session_id"], os.path.dirname(path) if is_half else "", "")


def _carry_out(at: Scopes, chosen: Chosen, text: str) -> list[str]:
    """Files that could not be rid of the text."""
    identity.record(at.project, clock.iso(at.now))
    gone = [_all_of(at.project.dir, record) for record in chosen.sessions]
    if not text:
        gone += [_what_came_back(at.project.dir, entry) for entry in chosen.archived]
    if gone:
        forgetting.forget_sessions(at.root, at.project.dir, gone, at.now)
    for note in chosen.notes:
        _forget_note(at, note)
    try:
        if text:
            _forget_text(at, chosen, text)
    finally:  # a damaged archive does not keep the rest from being done
        _audit(at, chosen, text)
    tops = (at.project.dir, notebook.user_shelf(at.root).home) if text else ()
    return [path for top in tops for path in forgetting.left(top, text)]


def _forget_note(at: Scopes, note: Note) -> None:
    tombstones.add(at.project.dir, at.now, notes=[note.ref])
    marks = forgetting.marks_of_note(at.shelf(note.scope), note)
    told = arguments.all_dirs() if note.scope == "user" else [at.project.dir]
    for directory in told:  # while the note can still be named, should it have to be run again
        forgetting.strike_receipts(directory, marks, [note.slug])
    forgetting.forget_note(at.shelf(note.scope), note, at.shelves)
    for directory in told:  # which hooks may have told meanwhile
        forgetting.strike_receipts(directory, marks, [note.slug])


def _forget_text(at: Scopes, found: Chosen, text: str) -> None:
    """Until nothing is found that a hook wrote which had read it before."""
    forgetting.doubt(at.project.dir)
    phrases = forgetting.phrases(text, [stroke for _, stroke in found.strokes])
    tombstones.add(at.project.dir, time.time(), phrases=phrases)
    archived = {str(entry["id"]) for entry in found.archived}
    for is_first in (True, False, False):
        busy = forgetting.await_sessions(at.project.dir)
        strokes = chosen.find_text(at, text)
        if not is_first and not strokes:
            _raise_if_any(busy)
            return
        forgetting.strike(strokes, at.project.dir, forgetting.hits(text), busy)
        try:
            forgetting.drop_archived(at.root, at.project.dir, archived)
        finally:  # a damaged archive does not keep the rest from being done
            _renew(at)
        _raise_if_any(busy)
    raise Refusal("not forgotten in %s; run it again" % line(", ".join(short(stroke.path) for _, stroke in strokes)))


def _raise_if_any(busy: dict[str, forgetting.Busy]) -> list[str]:
    for trouble in busy.values():
        raise trouble
    return []


def _renew(at: Scopes) -> None:
    for shelf in (notebook.project_shelf(at.project.dir), notebook.user_shelf(at.root)):
        if files.is_directory(shelf.folder):
            with notebook.Writing(shelf):
                pass
    if files.is_directory(at.project.dir):
        forgetting.renew(at.root, at.project.dir)


def _audit(at: Scopes, chosen: Chosen, text: str) -> None:
    """That something was forgotten, by id and number, never what."""
    try:
        from ..audit import trail as audit  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
    fields = {
        "event": "memory_forgotten",
        "session": at.session,
        "reason": "forget --text" if text else "forget",
        "sessions": ", ".join([record.id for record in chosen.sessions] + [e["id"] for e in chosen.archived]),
        "notes": len(chosen.notes),
        "files": len(chosen.strokes),
    }
    try:
        audit.append(at.project.dir, fields, at.now, settings.LOCK_WAIT_SECONDS)
    except OSError as error:
        complain("it is forgotten, but the audit trail does not say so (%s)" % error.strerror)
