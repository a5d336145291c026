"""Looking at what is remembered: `list` and `show`."""

from __future__ import annotations

from ..base import files as store
from ..base import settings
from ..session import episode
from . import arguments, records, resolve
from .output import cut, emit_json, line, local, passage, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .records import Record

_REASONS = {  # the client's words for how a session ended, in ours
    "other": "ended",
    "prompt_input_exit": "exited",
    "clear": "cleared",
    "resume": "resumed elsewhere",
    "logout": "logged out",
}


# list --------------------------------------------------------------------------------------------


def list_sessions(args: argparse.Namespace) -> int:
    found, number = _chosen(args)
    if args.json:
        emit_json([record.brief() for record in found])
    elif found:
        print("\n".join(_listing(found, args.all_projects)))
        if number > len(found):
            print("%d more: --limit %d" % (number - len(found), number))
    else:
        print("No sessions%s." % (" that match" if _is_narrowed(args) else " are remembered here yet"))
    return 0


def _chosen(args: argparse.Namespace) -> tuple[list[Record], int]:
    """The sessions to show, and how many match."""
    dirs = arguments.project_dirs(args)
    if len(dirs) == 1 and not _is_narrowed(args):
        return records.load_newest(dirs[0], args.limit)
    found = [record for directory in dirs for record in records.load_all(directory)]
    found = sorted(_wanted(found, args), key=lambda record: (record.started, record.id), reverse=True)
    return found[: args.limit], len(found)


def _wanted(found: list[Record], args: argparse.Namespace) -> list[Record]:
    kept = [r for r in found if args.status in (None, r.state) and args.branch in (None, r.branch)]
    kept = kept if args.since is None else [r for r in kept if r.seen >= args.since]
    kept = kept if args.until is None else [r for r in kept if r.seen < args.until]
    return kept if args.session is None else resolve.matching(kept, args.session)


def _is_narrowed(args: argparse.Namespace) -> bool:
    return (args.since, args.until, args.status, args.branch, args.session) != (None,) * 5


def _listing(shown: list[Record], with_project: bool) -> list[str]:
    head = ["ID", "STARTED", "STATUS", "MIN", "BRANCH", "FILES", "SESSION"]
    rows = [head if not with_project else ["PROJECT", *head]]
    for record in shown:
        minutes = "-" if record.minutes is None else str(record.minutes)
        row = [record.id, local(record.started), record.state, minutes, record.branch or "-", str(len(record.files))]
        row = [cut(line(cell), 30) for cell in row] + [line(record.headline) or "(nothing asked yet)"]
        rows.append([cut(arguments.project_name(record.project_dir), 24), *row] if with_project else row)
    return table(rows, right=(4, 6) if with_project else (3, 5), is_cut=True)


# show --------------------------------------------------------------------------------------------


def show(argv: list[str]) -> int:
    about = (
        "One session in full: what was asked and done, what is still open, where its files are. Or a note, by its name."
    )
    parser = arguments.parser("show", about, "show last\nshow a1b2c3d4\nshow a1b --json\nshow cart-totals")
    known = 'an id or its beginning, an episode\'s file name, "last", or the name of a note'
    parser.add_argument("session", metavar="ID", help=known)
    args = parser.parse_args(argv)
    project_dir = arguments.locate(args).dir
    likely = resolve.likely(project_dir, args.session)
    if not likely:
        from . import notes
        from .scopes import Scopes

        at = Scopes(args)
        if at.matching(args.session.rpartition("/")[2]):
            return notes.show_note(at, *at.find(args.session), is_json=args.json)
        _refuse_archived(project_dir, args.session)
    record = resolve.session(likely or records.load_all(project_dir), args.session, "session or note")
    if args.json:
        files = {"paths": record.paths, "artifacts": record.artifacts}
        found = {"id": record.id, "meta": record.meta or None, "episode": record.episode}
        emit_json({**found, "damage": _damage(record) or None, **files})
    else:
        print("\n".join([passage(_page(record)), "", *table(_fact_rows(record))]))
    return 0


def _refuse_archived(project_dir: str, word: str) -> None:
    from ..memory import archive

    known = [
        (str(entry["id"]), str(entry["session_id"])) for _, entry in archive.entries(arguments.root(), project_dir)
    ]
    ids = [id for id, claude_id in known if word and (id.startswith(word) or claude_id.startswith(word))]
    if ids:
        raise Refusal("session {0} is archived. Bring it back: harness memory restore {0}".format(line(ids[-1])))


def _page(record: Record) -> str:
    """summary.md, or the same made from what is there."""
    if record.episode:
        return episode.summary_page(record.episode).rstrip()
    damage = _damage(record)
    written = _summary(record) if damage else ""
    if written:
        return "%s\n\n%s" % (damage, written)
    text = str(record.meta.get("summary") or "").strip()
    lines = ["# %s" % (line(record.headline) or "Session %s" % record.id), *(["", text] if text else [])]
    return "\n".join([*lines, *(["", damage] if damage else [])])


def _damage(record: Record) -> str:
    """What is wrong with an episode that is there, but not to be read."""
    path = record.paths.get("episode")
    if record.episode or not path:
        return ""
    from ..memory.file_rules import Unfit, check_episode

    what = "cannot be read"
    try:
        check_episode(path)
    except Unfit as unfit:
        what = str(unfit)
    except OSError as error:
        what = "cannot be read (%s)" % error.strerror
    return "Its episode is damaged (%s). See: harness memory verify" % line(what)


def _summary(record: Record) -> str:
    try:
        return (store.read_text(record.paths.get(settings.SUMMARY_FILE, "")) or "").strip()
    except OSError:
        return ""


def _fact_rows(record: Record) -> list[list[str]]:
    meta = record.meta
    ended = meta.get("ended") or (record.episode or {}).get("ended")
    rows = [
        ["Session", "%s  (%s)" % (record.id, record.claude_id)],
        ["Status", _status(record)],
        ["Time", "%s to %s (local time)" % (local(record.started), local(ended) if ended else "now")],
    ]
    rows += [["Branch", record.branch]] if record.branch else []
    tags = (record.episode or {}).get("tags") or meta.get("tags")
    rows += [["Tags", ", ".join(str(tag) for tag in tags)]] if tags and not isinstance(tags, str) else []
    rows += [["Thread", record.episode["thread"]]] if record.episode and record.episode["thread"] != record.id else []
    paths = [*record.paths.values(), *record.artifacts]
    rows = [[name, line(text)] for name, text in rows]
    return rows + [["Files" if i == 0 else "", short(path)] for i, path in enumerate(paths)]


def _status(record: Record) -> str:
    reason = str(record.meta.get("reason") or "")
    reason = _REASONS.get(reason, reason)
    if record.state == settings.DIED:
        reason = "its process is gone; the next session start archives it"
    return record.state + (" (%s)" % reason if reason else "")
