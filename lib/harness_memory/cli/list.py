"""`list`: past sessions, or notes, one a line."""

from __future__ import annotations

from ..base import settings
from . import arguments, show
from .refusal import Refusal
from .scopes import Scopes, add_scope

_SESSIONS = 20


def list_all(argv: list[str]) -> int:
    about = (
        "Past and running sessions, newest first, one a line. With --notes, or an option that only notes have\n"
        "(a type, a scope, being unused), notes instead."
    )
    examples = (
        "list\nlist --since 7d --branch main\nlist --status ABANDONED\nlist --all-projects --limit 50 --json\n"
        "list --notes --type feedback\nlist --unused"
    )
    parser = arguments.parser("list", about, examples)
    arguments.add_all_projects(parser)
    add = parser.add_argument
    limit = "at most N (default: %d sessions, all notes)" % _SESSIONS
    add("--limit", type=arguments.positive, metavar="N", help=limit)
    add("--status", type=str.upper, choices=(*settings.STATUSES, settings.DIED), help="only sessions in this state")
    add("--branch", metavar="B", help="only sessions on this git branch")
    add("--since", type=arguments.instant, metavar="DATE", help="active since 2026-11-16, today, yesterday, 36h or 7d")
    add("--until", type=arguments.instant, metavar="DATE", help="last active before that date")
    add("--session", metavar="ID", help="only this session; with --notes, only its notes")
    add("--notes", action="store_true", help="list notes")
    add("--type", choices=settings.NOTE_TYPES, help="only notes of this type")
    add_scope(parser)
    unused = "only notes neither used nor verified for %d days" % settings.NOTE_UNUSED_DAYS
    add("--unused", action="store_true", help=unused)
    args = parser.parse_args(argv)
    if not (args.notes or args.type or args.scope or args.unused):
        args.limit = args.limit or _SESSIONS
        return show.list_sessions(args)
    if args.all_projects or args.status or args.branch:
        raise Refusal("notes have no status or branch, and are listed for one project")
    from .notes import list_notes

    return list_notes(Scopes(args), args)
