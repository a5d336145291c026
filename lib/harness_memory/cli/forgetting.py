"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import os

from .. import clock, forgotten, notebook, project, settings, views
from .. import forget as forgetting
from . import arguments, desk, listing, records
from .listing import instant
from .output import complain, count, cut, emit_json, line, local, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from ..forget import Stroke
    from ..notes import Note
    from .desk import Desk
    from .records import Record

_ABOUT = """\
Remove what is remembered: facts, views, receipts, caches, former versions, archives. A mark without content stays,
so that no transcript brings it back, and the audit trail says that something was forgotten, not what.
Without --yes it only shows what would go.
  forget ID ...          sessions by id, notes by name
  forget --text TEXT     a text, with the sentence it stands in: in all of this project (briefing and profiles too)
                         and in your user notes
  forget --since DATE --until DATE, --session ID, --type T, --scope S   all that match, sessions and notes"""
_EXAMPLES = """\
forget a1b2c3d4
forget cart-totals --yes
forget --text "Acme Corp" --yes
forget --since 2026-11-01 --until 2026-11-08
forget --scope user --type feedback"""
_SHOWN = 12
_SHOWN_CHARS = 90


class Chosen:
    """What is to go."""

    __slots__ = ("archived", "notes", "sessions", "strokes")

    def __init__(
        self,
        sessions: list[Record],
        notes: list[Note],
        strokes: list[tuple[str, Stroke]],
        archived: Collection[str] = (),
    ) -> None:
        self.sessions = sessions
        self.notes = notes
        self.archived = archived  # ids of sessions that are put away, and hold the text
        self.strokes = strokes  # (directory of the store it is below, file)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.notes or self.strokes or self.archived)


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
    add("--yes", action="store_true", help="do it")
    args = parser.parse_args(argv)
    at = desk.Desk(args)
    chosen = _chosen(at, args)
    if not args.json:
        print("\n".join(_preview(chosen, at)) if chosen else "Nothing that is remembered here matches.")
    left = _carry_out(at, chosen, args.text or "") if args.yes and chosen else []
    if args.json:
        emit_json({"forgotten": args.yes and bool(chosen), **_described(chosen), "left": left})
    elif args.yes and chosen:
        print("\nForgotten.")
        for path in left:
            print("Left in %s: in a name or path that the record is found by" % short(path))
    elif chosen:
        print("\nNothing was changed. To forget all this: the same again with --yes")
    return 0 if chosen else 1


# What is meant -------------------------------------------------------------------------------------


def _chosen(at: Desk, args: argparse.Namespace) -> Chosen:
    filters = (args.session, args.since, args.until, args.type, args.scope)
    if sum((bool(args.words), args.text is not None, filters != (None,) * 5)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or the other filters; one of the three")
    if args.text is not None:
        if len("".join(args.text.split())) < 3:
            raise Refusal("--text is too short: it would strike half the memory")
        archived = forgetting.archived_with(at.root, at.project.dir, args.text)
        return Chosen([], [], _find_text(at, args.text), archived)
    if args.words:
        return _named(at, args.words)
    wanted = listing.Wanted(type=args.type, scope=args.scope, session=args.session, since=args.since, until=args.until)
    found = [note for note, _ in listing.found(at, wanted)]
    return Chosen([] if args.type or args.scope else _matching_sessions(at, args), found, [])


def _named(at: Desk, words: list[str]) -> Chosen:
    sessions: list[Record] = []
    found: list[Note] = []
    known = records.load_all(at.project.dir)
    for word in words:
        if word != "last" and not records.matching(known, word):
            found.append(at.find(word)[1])
        else:
            sessions.append(records.chosen(known, word))
    return Chosen(list({each.id: each for each in sessions}.values()), list({n.ref: n for n in found}.values()), [])


def _matching_sessions(at: Desk, args: argparse.Namespace) -> list[Record]:
    known = records.load_all(at.project.dir)
    if args.session is not None:
        known = [records.chosen(known, args.session)]
    since, until = args.since, args.until
    began = [(record, clock.parse(record.started) or 0.0) for record in known]
    return [r for r, at_ in began if (since is None or at_ >= since) and (until is None or at_ < until)]


def _find_text(at: Desk, text: str) -> list[tuple[str, Stroke]]:
    """In the project, in the user's notes, and in what hooks noted about their failures."""
    user = notebook.user_shelf(at.root).home
    tops = [at.project.dir, user, os.path.join(at.root, settings.HEALTH_DIR)]
    return [(top, stroke) for top in tops for stroke in forgetting.find_text(top, text)]


# Showing it ----------------------------------------------------------------------------------------


def _preview(chosen: Chosen, at: Desk) -> list[str]:
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
        lines.append(
            "%s, whole: %s" % (count(len(chosen.archived), "archived session"), ", ".join(sorted(chosen.archived)))
        )
    return lines


def _few(rows: list[str]) -> list[str]:
    return rows if len(rows) <= _SHOWN else [*rows[:_SHOWN], "  and %d more (--json lists all)" % (len(rows) - _SHOWN)]


def _described(chosen: Chosen) -> dict[str, object]:
    return {
        "sessions": [record.brief() for record in chosen.sessions],
        "notes": [listing.brief(note, "") for note in chosen.notes],
        "archived": sorted(chosen.archived),
        "files": [{"file": s.path, "removed": s.after is None, "passages": s.shown} for _, s in chosen.strokes],
    }


# Doing it ------------------------------------------------------------------------------------------


def _carry_out(at: Desk, chosen: Chosen, text: str) -> list[str]:
    """Files that could not be rid of the text."""
    project.record(at.project, clock.iso(at.now))
    if chosen.sessions:
        gone = [
            forgetting.Session(
                r.id, r.claude_id, r.session.dir if r.session else "", r.episode_name if r.episode else ""
            )
            for r in chosen.sessions
        ]
        forgetting.forget_sessions(at.root, at.project.dir, gone, at.now)
    for note in chosen.notes:
        forgotten.add(at.project.dir, at.now, notes=[note.ref])
        marks = forgetting.forget_note(at.shelf(note.scope), note.slug)
        for directory in arguments.all_dirs() if note.scope == "user" else [at.project.dir]:
            forgetting.strike_receipts(directory, marks, [note.slug])
    if text:
        _strike(at, chosen.strokes, text)
        forgetting.drop_archived(at.root, at.project.dir, set(chosen.archived))
        forgetting.renew_recall(at.root, at.project.dir)
    _audit(at, chosen, text)
    tops = (at.project.dir, notebook.user_shelf(at.root).home) if text else ()
    return [path for top in tops for path in forgetting.left(top, text)]


def _strike(at: Desk, strokes: list[tuple[str, Stroke]], text: str) -> None:
    is_hit = forgetting.hits(text)
    phrases = forgetting.phrases(text, [stroke for _, stroke in strokes])
    forgotten.add(at.project.dir, at.now, phrases=phrases)
    for top, stroke in strokes:
        forgetting.strike(stroke, at.project.dir, top, is_hit)
    if os.path.lexists(os.path.join(at.project.dir, settings.INDEX_FILE)):
        views.rebuild(at.project.dir, settings.LOCK_WAIT_SECONDS)
    for shelf in (notebook.project_shelf(at.project.dir), notebook.user_shelf(at.root)):
        if os.path.isdir(shelf.folder):
            with notebook.Writing(shelf):
                pass


def _audit(at: Desk, chosen: Chosen, text: str) -> None:
    """That something was forgotten, by id and number, never what."""
    try:
        from ..guard import audit  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
    fields = {
        "event": "memory_forgotten",
        "session": at.session,
        "reason": "forget --text" if text else "forget",
        "sessions": ", ".join(record.id for record in chosen.sessions),
        "notes": len(chosen.notes),
        "files": len(chosen.strokes),
    }
    try:
        audit.append(at.project.dir, fields, at.now, settings.LOCK_WAIT_SECONDS)
    except OSError as error:
        complain("it is forgotten, but the audit trail does not say so (%s)" % error.strerror)
