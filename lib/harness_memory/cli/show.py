"""`list` shows sessions or notes, one a line; `show` shows one in full."""

from __future__ import annotations

from ..base import files, settings
from ..memory import records
from ..session import digest, episode
from . import arguments, notes, resolve
from .output import Refusal, answer, cut, line, local, passage, short, table
from .scopes import Scopes, add_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..memory.records import Record

_LIMIT = 20
_REASONS = {  # the client's words for how a session ended, in ours
    "other": "ended",
    "prompt_input_exit": "exited",
    "clear": "cleared",
    "resume": "resumed elsewhere",
    "logout": "logged out",
}


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
    limit = "at most N (default: %d sessions, all notes)" % _LIMIT
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
        args.limit = args.limit or _LIMIT
        return _list_sessions(args)
    if args.all_projects or args.status or args.branch:
        raise Refusal("notes have no status or branch, and are listed for one project")
    return notes.list_notes(Scopes(args), args)


def _list_sessions(args: argparse.Namespace) -> int:
    directories = arguments.project_dirs(args)
    is_narrowed = (args.since, args.until, args.status, args.branch, args.session) != (None,) * 5
    every = [record for directory in directories for record in records.load_all(directory)]
    every = sorted(_wanted(every, args), key=lambda record: (record.started, record.id), reverse=True)
    shown, number = every[: args.limit], len(every)
    lines = _listing(shown, args.all_projects)
    lines += ["%d more: --limit %d" % (number - len(shown), number)] if number > len(shown) else []
    if not shown:
        lines = ["No sessions%s." % (" that match" if is_narrowed else " are remembered here yet")]
    return answer(args.json, [record.brief() for record in shown], lines)


def _wanted(every: list[Record], args: argparse.Namespace) -> list[Record]:
    every = every if args.session is None else resolve.matching(every, args.session)
    every = every if args.status is None else [each for each in every if each.state == args.status]
    every = every if args.branch is None else [each for each in every if each.branch == args.branch]
    every = every if args.since is None else [each for each in every if each.seen >= args.since]
    return every if args.until is None else [each for each in every if each.seen < args.until]


def _listing(shown: list[Record], with_project: bool) -> list[str]:
    rows = [["PROJECT", "ID", "STARTED", "STATUS", "MIN", "BRANCH", "FILES", "SESSION"]]
    for record in shown:
        each = record.brief()
        minutes = "-" if each["minutes"] is None else str(each["minutes"])
        row = [record.id, local(record.started), record.state, minutes, each["branch"] or "-", str(each["files"])]
        project = cut(arguments.project_name(record.project_dir), 24)
        row = [project, *(cut(line(cell), 30) for cell in row), line(each["headline"]) or "(nothing asked yet)"]
        rows.append(row)
    if not with_project:
        return table([row[1:] for row in rows], right=(3, 5), is_cut=True)
    return table(rows, right=(4, 6), is_cut=True)


def show(argv: list[str]) -> int:
    about = (
        "One session in full: what was asked and done, what is still open, where its files are. Or a note, by its name."
    )
    parser = arguments.parser("show", about, "show last\nshow a1b2c3d4\nshow a1b --json\nshow cart-totals")
    words = 'an id or its beginning, an episode\'s file name, "last", or the name of a note'
    parser.add_argument("session", metavar="ID", help=words)
    args = parser.parse_args(argv)
    project_dir = arguments.locate(args).dir
    every = records.load_all(project_dir)
    if args.session != "last" and not resolve.matching(every, args.session):
        at = Scopes(args)
        if at.matching(args.session):
            return notes.show_note(at, at.find(args.session), args.json)
        _refuse_archived(project_dir, args.session)
    record = resolve.session(every, args.session, "session or note")
    damage = _damage(record)
    value = {"id": record.id, "meta": record.meta or None, "episode": record.episode, "damage": damage or None}
    paths = {"paths": record.paths, "artifacts": record.artifacts}
    return answer(args.json, {**value, **paths}, [passage(_page(record, damage)), "", *table(_fact_rows(record))])


def _refuse_archived(project_dir: str, word: str) -> None:
    from ..memory import archive

    every = archive.load_all(project_dir, [])
    archived = resolve.matches(word, every, lambda each: (each.id, each.claude_id))
    if archived:
        id = line(archived[-1].id)
        raise Refusal("session %s is archived. Bring it back: harness memory restore %s" % (id, id))


def _damage(record: Record) -> str:
    """What is wrong with an episode that exists but cannot be used."""
    path = record.paths.get("episode")
    if record.episode or not path:
        return ""
    value, problem = files.read_json(path)
    return "Its episode is damaged (%s). See: harness memory verify" % line(problem or episode.problem(value))


def _page(record: Record, damage: str) -> str:
    """The summary; without an episode, what META says."""
    if record.episode:
        return digest.summary_page(record.episode).rstrip()
    title = "# %s" % (line(record.headline) or "Session %s" % record.id)
    return "\n\n".join(filter(None, [title, str(record.meta.get("summary") or "").strip(), damage]))


def _fact_rows(record: Record) -> list[list[str]]:
    meta, value = record.meta, record.episode or {}
    ended = meta.get("ended") or value.get("ended")
    tags = value.get("tags") or meta.get("tags")
    rows = [
        ["Session", "%s  (%s)" % (record.id, record.claude_id)],
        ["Status", _status(record)],
        ["Time", "%s to %s (local time)" % (local(record.started), local(ended) if ended else "now")],
        ["Branch", record.branch],
        ["Tags", ", ".join(map(str, tags)) if isinstance(tags, list) else ""],
        ["Thread", value["thread"] if value and value["thread"] != record.id else ""],
    ]
    paths = [*record.paths.values(), *record.artifacts]
    rows = [[name, line(text)] for name, text in rows if text]
    return rows + [["" if at else "Files", short(path)] for at, path in enumerate(paths)]


def _status(record: Record) -> str:
    reason = str(record.meta.get("reason") or "")
    reason = _REASONS.get(reason, reason)
    if record.state == settings.DIED:
        reason = "its process is gone; the next session start archives it"
    return record.state + (" (%s)" % reason if reason else "")
