"""How long sessions are kept: `prune`, `archive` and `restore`."""

from __future__ import annotations

import contextlib
import os
import time

from ..base import clock, config, settings
from ..memory import age, retention
from ..memory import archive as vault
from ..notes import lint
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments
from .meter import Meter
from .output import complain, count, emit_json, line, local, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..memory.retention import Aged, Outcome, Plan

_BUSY = "a session holds the lock of the views; what was done so far is kept. Try again"


# prune --------------------------------------------------------------------------------------------


def prune(argv: list[str]) -> int:
    about = (
        "Keep the work directories of the last days whole, those up to a month old without artifacts, and archive\n"
        "older ones (or delete them: config key work_after). Episodes, and with them the menu of past sessions, stay.\n"
        "May be stopped at any point; nothing is lost."
    )
    parser = arguments.parser("prune", about, "prune --dry-run\nprune\nprune --older-than 30d\nprune --all-projects")
    arguments.add_all_projects(parser)
    days = "older than this leave WORK: 30d, 8w (default: config key work_days, %s)" % settings.DEFAULTS["work_days"]
    parser.add_argument("--older-than", type=_days, metavar="AGE", help=days)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    root = arguments.root()
    settled = config.load(root)
    older = float(settled["work_days"]) if args.older_than is None else args.older_than
    reports = []
    for project_dir in arguments.project_dirs(args):
        since = _reckoned(project_dir) if args.older_than is None else time.time()
        reports.append(
            _prune(root, project_dir, since, settled["work_whole_days"], older, settled["work_after"], args.dry_run)
        )
    if args.json:
        emit_json(reports)
    else:
        print("\n".join(_prune_page(report, len(reports) > 1, settled["work_after"]) for report in reports))
        print(
            *(["Nothing was changed (--dry-run)."] if args.dry_run else []), sep="\n", end="\n" if args.dry_run else ""
        )
    return 1 if any(report["unreadable"] or report["left"] for report in reports) else 0


def _reckoned(project_dir: str) -> float:
    """The instant that age is counted from; a person who is sure of the clock says how old is old."""
    days = {os.path.basename(os.path.dirname(path)) for path in sessions.all_directories(project_dir)}
    return age.reckoned(days, time.time(), settings.CLOCK_GAP_SURE_DAYS)


def _prune(
    root: str, project_dir: str, since: float, whole: float, older: float, after: str, dry_run: bool
) -> dict[str, Any]:
    with contextlib.nullcontext() if dry_run else vault.Alone(root, project_dir):
        return _prune_alone(root, project_dir, since, whole, older, after, dry_run)


def _prune_alone(
    root: str, project_dir: str, since: float, whole: float, older: float, after: str, dry_run: bool
) -> dict[str, Any]:
    now = time.time()
    with Meter("Looking at sessions") as meter:
        plan = retention.plan(project_dir, since, whole, older, meter.one)
    stripped, made = len(plan.stripped), retention.Outcome()
    made.number = len(plan.away)
    if not dry_run:
        stripped, made = _carried_out(root, project_dir, plan, now, after)
    return {
        "project": os.path.basename(project_dir),
        "dry_run": dry_run,
        "kept": plan.kept,
        "artifacts_pruned": stripped,
        "archived" if after == "archive" else "deleted": made.number,
        "archives": _paths(root, project_dir, made),
        "left": made.left,
        "unreadable": plan.unreadable,
        "unused_notes": _unused_notes(project_dir, now),
        "counted_from": clock.iso(since) if now - since > settings.DAY_SECONDS else None,
    }


def _carried_out(root: str, project_dir: str, plan: Plan, now: float, after: str) -> tuple[int, Outcome]:
    """How many lost their artifacts, and what became of the older ones."""
    with Meter("Pruning", len(plan.stripped) + len(plan.away)) as meter:
        stripped = retention.Outcome()
        for aged in plan.stripped:
            stripped.note(aged, retention.strip(project_dir, aged))
            meter.add()
        if after == "archive":
            made = retention.put_away(root, project_dir, plan.away, now, meter.one)
        else:
            made = retention.remove(project_dir, plan.away, meter.one)
    made.left.update(stripped.left)
    return stripped.number, made


def _paths(root: str, project_dir: str, made: Outcome) -> list[str]:
    return [os.path.join(vault.folder(root, project_dir), name + vault.ENDING) for name in made.archives]


def _stay(left: dict[str, str]) -> list[str]:
    return ["  %s stays: %s" % (line(each), line(why)) for each, why in left.items()]


def _unused_notes(project_dir: str, now: float) -> list[str]:
    """Notes nobody used or verified for half a year: proposed, never removed unasked."""
    shelf = notebook.project_shelf(project_dir)
    return [note.ref for note in lint.unused(shelf, notebook.open_book([shelf]).notes, now)]


def _prune_page(report: dict[str, Any], with_project: bool, after: str) -> str:
    key = "archived" if after == "archive" else "deleted"
    parts = ["%s kept" % count(report["kept"], "session")]
    parts += ["%d without their artifacts now" % report["artifacts_pruned"]] if report["artifacts_pruned"] else []
    parts += ["%d %s" % (report[key], key)] if report[key] else []
    head = line(report["project"]) + ": " if with_project else ""
    lines = [head + ", ".join(parts) + "."]
    lines += ["  " + short(path) for path in report["archives"]]
    lines += _stay(report["left"])
    lines += ["  its META.yaml cannot be read, so it stays: " + short(path) for path in report["unreadable"]]
    if report["counted_from"]:
        lines.append(
            "  Is the clock right? No session in a year; age was counted from %s." % report["counted_from"][:10]
        )
        lines.append("  If it is: harness memory prune --older-than 30d")
    if report["unused_notes"]:
        notes = count(len(report["unused_notes"]), "note")
        lines.append("  %s unused for half a year: harness memory list --unused" % notes)
    return "\n".join(lines)


def _days(text: str) -> float:
    import argparse

    units = {"d": 1, "w": 7}
    if len(text) < 8 and text[:-1].isdecimal() and text[-1] in units:
        return float(int(text[:-1]) * units[text[-1]])
    raise argparse.ArgumentTypeError("%r is no age like 30d or 8w" % text)


# archive ------------------------------------------------------------------------------------------


def archive(argv: list[str]) -> int:
    about = (
        "Move sessions that ended before a day, with their episodes, out of the memory into a compressed archive.\n"
        "Sessions of threads that are still open stay, unless --open is given. restore brings them back."
    )
    parser = arguments.parser("archive", about, "archive --before 2026-01-01 --dry-run\narchive --before 2026-01-01")
    parser.add_argument("--before", type=_day, required=True, metavar="YYYY-MM-DD", help="last at work before this day")
    parser.add_argument("--open", action="store_true", help="sessions of open threads too")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    root, project_dir = arguments.root(), arguments.locate(args).dir
    with contextlib.nullcontext() if args.dry_run else vault.Alone(root, project_dir):
        found, left = retention.before(project_dir, args.before, with_open=args.open)
        made = None if args.dry_run else _put_away(root, project_dir, found)
    number, stay = (made.number, made.left) if made else (len(found), {})
    paths = _paths(root, project_dir, made) if made else []
    if args.json:
        emit_json({"sessions": number, "open": left, "archives": paths, "left": stay, "dry_run": args.dry_run})
        return 1 if stay else 0
    print("%s %s." % ("Archived" if made else "Would archive", count(number, "session")))
    print("".join("  %s\n" % short(path) for path in paths), end="")
    print("".join("%s\n" % each for each in _stay(stay)), end="")
    if left:
        print(_still_open(left))
    return 1 if stay else 0


def _still_open(number: int) -> str:
    if number == 1:
        return "1 session of a thread that is still open stays (--open takes it too)."
    return "%d sessions of threads that are still open stay (--open takes them too)." % number


def _put_away(root: str, project_dir: str, found: list[Aged]) -> Outcome:
    with Meter("Archiving", len(found)) as meter:
        try:
            return retention.put_away(root, project_dir, found, time.time(), meter.one)
        except TimeoutError:
            raise Refusal(_BUSY) from None


def _day(text: str) -> float:
    import argparse

    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("%r is no day like 2026-01-31" % text) from None


# restore ------------------------------------------------------------------------------------------


def restore(argv: list[str]) -> int:
    about = (
        "Bring archived sessions back: one by its id (or the beginning), all of an archive by its name, or --all.\n"
        "Without either it lists what is archived. The archives stay as they are."
    )
    parser = arguments.parser("restore", about, "restore\nrestore a1b2c3d4\nrestore --all")
    parser.add_argument("what", nargs="?", metavar="ID|ARCHIVE")
    parser.add_argument("--all", action="store_true", help="everything that is archived of this project")
    args = parser.parse_args(argv)
    root, project_dir = arguments.root(), arguments.locate(args).dir
    if not args.what and not args.all:
        return _list_archived(list(vault.entries(root, project_dir)), args)
    wanted = _wanted(root, project_dir, args)
    done = retention.restore(root, project_dir, lambda entry: entry["digest"] in wanted)
    is_part = bool(done.refused or done.forgotten)
    unread = [str(trouble.filename) for trouble in done.troubles]
    if args.json:
        parts = {"restored": [*done.restored], "refused": [*done.refused], "forgotten": [*done.forgotten]}
        emit_json({**parts, "unread": unread})
    else:
        is_any = done.restored or is_part or unread
        print("Restored %s." % count(len(done.restored), "session") if is_any else "All of it is here already.")
        for each in done.refused:
            print("  %s stays archived: it went on here afterwards, and that record is kept" % line(each))
        for each in done.forgotten:
            print("  {0} was forgotten, and stays so. To finish it: harness memory forget {0} --yes".format(line(each)))
    for trouble in done.troubles:
        complain("%s: %s. Restored was what can be read" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if unread else 1 if is_part else 0


def _wanted(root: str, project_dir: str, args: argparse.Namespace) -> set[str]:
    """The digests of the entries that are meant."""
    known = list(vault.entries(root, project_dir))
    if args.all:
        return {entry["digest"] for _, entry in known}
    word = os.path.basename(args.what)
    word = word[: -len(vault.ENDING)] if word.endswith(vault.ENDING) else word
    found = [entry for name, entry in known if name == word]
    found = found or [entry for _, entry in known if word in (entry["id"], entry["session_id"])]
    found = found or [entry for _, entry in known if entry["id"].startswith(word)]
    if not found:
        raise Refusal('nothing archived here is "%s". See: harness memory restore' % line(args.what))
    if len({entry["id"] for entry in found}) > 1 and not any(name == word for name, _ in known):
        ids = ", ".join(sorted({entry["id"] for entry in found}))
        raise Refusal('"%s" may be any of: %s' % (line(args.what), line(ids)))
    return {entry["digest"] for entry in found}


def _list_archived(known: list[tuple[str, dict[str, Any]]], args: argparse.Namespace) -> int:
    newest = {(entry["id"], entry["started"]): (name, entry) for name, entry in known}
    if args.json:
        emit_json([{"archive": name, **entry} for name, entry in newest.values()])
    elif known:
        rows = [["ARCHIVE", "ID", "STARTED", "SESSION"]]
        for name, entry in newest.values():
            rows.append([name, entry["id"], local(entry["started"]), line(entry["headline"])])
        print("\n".join(table(rows, is_cut=True)))
    else:
        print("Nothing of this project is archived.")
    return 0
