"""`list`: sessions, which `look` lists, or notes, one a line."""

from __future__ import annotations

import argparse

from ..base import clock, settings
from ..notes import shelf as notebook
from . import arguments, desk
from .output import cut, emit_json, line, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..notes.note import Note
    from .desk import Desk


_LIMIT = 20


def list_all(argv: list[str]) -> int:
    about = (
        "Past sessions, newest first, one a line; those still running too. With --notes, or what only notes have (a\n"
        "type, a scope, being unused), notes instead."
    )
    examples = (
        "list\nlist --since 7d --branch main\nlist --status ABANDONED\nlist --all-projects --limit 50 --json\n"
        "list --notes --type feedback\nlist --unused"
    )
    parser = arguments.parser("list", about, examples)
    arguments.add_all_projects(parser)
    add = parser.add_argument
    add("--limit", type=arguments.positive, metavar="N", help="at most N (default: %d sessions, all notes)" % _LIMIT)
    add("--status", type=str.upper, choices=(*settings.STATUSES, settings.DIED), help="only sessions in this state")
    add("--branch", metavar="B", help="only sessions on this git branch")
    add("--since", type=arguments.instant, metavar="DATE", help="active since 2026-11-16, today, yesterday, 36h or 7d")
    add("--until", type=arguments.instant, metavar="DATE", help="last active before that date")
    add("--session", metavar="ID", help="only this session; with --notes, only what was noted in it")
    add("--notes", action="store_true", help="list notes")
    add("--type", choices=settings.NOTE_TYPES, help="only notes of this type")
    add("--scope", choices=settings.NOTE_SCOPES, help="only notes of this scope")
    unused = "only notes neither used nor verified for so long (default: %dd)" % settings.NOTE_UNUSED_DAYS
    add("--unused", nargs="?", type=_age, const=settings.NOTE_UNUSED_DAYS, metavar="AGE", help=unused)
    args = parser.parse_args(argv)
    if args.notes or args.type or args.scope or args.unused is not None:
        return _list_notes(args)
    from . import look

    args.limit = args.limit or _LIMIT
    return look.list_sessions(args)


def _list_notes(args: argparse.Namespace) -> int:
    if args.all_projects or args.status or args.branch:
        raise Refusal("notes have no status or branch, and are listed for one project")
    wanted = Wanted(
        type=args.type,
        scope=args.scope,
        session=args.session,
        unused_days=args.unused,
        since=args.since,
        until=args.until,
    )
    return show(desk.Desk(args), wanted, args.json, args.limit or 0)


def _age(text: str) -> float:
    """Days: `90d`, `6m` or a plain number."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in ("d", "w", "m") else (text, "d")
    if not number.isdecimal() or len(number) > 5:
        raise argparse.ArgumentTypeError("%r is no age like 90d, 12w or 6m" % text)
    return int(number) * {"d": 1, "w": 7, "m": 30.4}[unit]


class Wanted:
    """Which notes to list; `unused_days` are days without use or verification, `since` and `until` are instants."""

    __slots__ = ("scope", "session", "since", "type", "until", "unused_days")

    def __init__(
        self,
        *,
        type: str | None = None,
        scope: str | None = None,
        session: str | None = None,
        unused_days: float | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> None:
        self.type = type
        self.scope = scope
        self.session = session
        self.unused_days = unused_days
        self.since = since
        self.until = until

    def takes(self, at: Desk, note: Note) -> bool:
        if self.type not in (None, note.type) or self.scope not in (None, note.scope):
            return False
        if self.session is not None and not self._is_of_session(at, note):
            return False
        known = clock.parse(note.day + "T00:00:00Z") or 0.0
        if (self.since is not None and known < self.since - 86400) or (self.until is not None and known >= self.until):
            return False
        if self.unused_days is None:
            return True
        shelf = at.shelf(note.scope)
        return bool(shelf.home) and notebook.last_used(shelf, note) < at.now - self.unused_days * 86400

    def _is_of_session(self, at: Desk, note: Note) -> bool:
        told = str(note.fields.get("session") or (at.session if note.scope == "local" else ""))
        word = str(self.session)
        return bool(told) and bool(word) and (told.startswith(word) or word.startswith(told))


def found(at: Desk, wanted: Wanted) -> list[tuple[Note, str]]:
    """The notes, nearest scope and best rank first, each with why it does not hold ("" if it does)."""
    from ..notes import index as notes_index

    book = notebook.open_book(at.shelves)
    chosen = [note for note in book.notes if wanted.takes(at, note)]
    chosen.sort(key=lambda note: (settings.NOTE_SCOPES.index(note.scope), notes_index.rank(note)))
    return [(note, book.fate(note)) for note in chosen]


def show(at: Desk, wanted: Wanted, is_json: bool, limit: int = 0) -> int:
    listed = found(at, wanted)
    shown = listed[:limit] if limit else listed
    if is_json:
        emit_json([brief(note, fate) for note, fate in shown])
        return 0
    if not shown:
        print(
            'No notes%s. Make one: harness memory remember "FACT"' % (" that match" if _is_narrowed(wanted) else " yet")
        )
        return 0
    rows = [["NOTE", "TYPE", "KNOWN", "ABOUT"]]
    for note, fate in shown:
        about = line(note.description) + (" (%s)" % fate if fate else "")
        rows.append([cut(line(note.ref), 50), note.type, note.day or "-", about])
    print("\n".join(table(rows, is_cut=True)))
    if len(listed) > len(shown):
        print("%d more: --limit %d" % (len(listed) - len(shown), len(listed)))
    return 0


def brief(note: Note, fate: str) -> dict[str, object]:
    return {
        "note": note.ref,
        "file": note.path,
        "name": note.name,
        "description": note.description,
        "type": note.type,
        "scope": note.scope,
        "created": note.fields.get("created"),
        "verified": note.fields.get("verified"),
        "session": note.fields.get("session"),
        "holds": not fate,
        "why_not": fate or None,
    }


def _is_narrowed(wanted: Wanted) -> bool:
    return any(getattr(wanted, name) is not None for name in Wanted.__slots__)
