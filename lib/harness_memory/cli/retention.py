"""How long sessions are kept: `prune`, `archive` and `restore`."""

from __future__ import annotations

import contextlib
import os
import time

from ..base import config, settings
from ..memory import archive as archives
from ..memory import housekeeping, retention
from ..notes import lint
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments, resolve
from .meter import Meter
from .output import complain, count, emit_json, line, local, short, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..base.config import Config
    from ..memory.archive import Archived
    from ..memory.retention import Outcome


# prune --------------------------------------------------------------------------------------------


def prune(argv: list[str]) -> int:
    about = (
        "Keep the work directories of the last days whole, and those up to a month old without artifacts; archive\n"
        "older ones, or delete them (config key work_after). Episodes, and with them the menu of past sessions, stay.\n"
        "You may stop it at any point; nothing is lost."
    )
    parser = arguments.parser("prune", about, "prune --dry-run\nprune\nprune --older-than 30d\nprune --all-projects")
    arguments.add_all_projects(parser)
    days = "older than this leave WORK: 30d, 8w (default: config key work_days, %s)" % settings.DEFAULTS["work_days"]
    parser.add_argument("--older-than", type=_days, metavar="AGE", help=days)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    root = arguments.root()
    settled = config.load(root)
    reports = [_prune(root, project_dir, settled, args) for project_dir in arguments.project_dirs(args)]
    if args.json:
        emit_json(reports)
    else:
        print("\n".join(_prune_page(report, len(reports) > 1, settled["work_after"]) for report in reports))
        if args.dry_run:
            print("Nothing was changed (--dry-run).")
    return 1 if any(report["unreadable"] or report["left"] for report in reports) else 0


def _prune(root: str, project_dir: str, settled: Config, args: argparse.Namespace) -> dict[str, Any]:
    now = time.time()
    days = float(settled["work_days"]) if args.older_than is None else args.older_than
    work_days = [os.path.basename(os.path.dirname(path)) for path in sessions.all_directories(project_dir)]
    # Someone who names an age is sure of the clock.
    is_plausible = args.older_than is not None or housekeeping.is_clock_plausible(work_days, now)
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        plan = retention.plan(project_dir, now if is_plausible else 0.0, settled["work_whole_days"], days)
        thinned, outcome = len(plan.thinned), retention.Outcome()
        outcome.number = len(plan.retired)
        if not args.dry_run:
            with Meter("Pruning", len(plan.thinned) + len(plan.retired)) as meter:
                reasons = {aged.id: retention.thin(project_dir, aged) for aged in plan.thinned}
                if settled["work_after"] == "archive":
                    outcome = retention.archive_sessions(
                        root, project_dir, plan.retired, now, meter.add, with_episodes=False
                    )
                else:
                    outcome = retention.delete(project_dir, plan.retired, meter.add)
            outcome.left.update({id: reason for id, reason in reasons.items() if reason})
            thinned = sum(not reason for reason in reasons.values())
    shelf = notebook.project_shelf(project_dir)
    return {
        "project": os.path.basename(project_dir),
        "dry_run": args.dry_run,
        "kept": plan.kept,
        "artifacts_pruned": thinned,
        "archived" if settled["work_after"] == "archive" else "deleted": outcome.number,
        "archives": _paths(root, project_dir, outcome),
        "left": outcome.left,
        "unreadable": plan.unreadable,
        "unused_notes": [note.ref for note in lint.unused(shelf, notebook.open_book([shelf]).notes, now)],
        "is_clock_plausible": is_plausible,
    }


def _prune_page(report: dict[str, Any], with_project: bool, after: str) -> str:
    key = "archived" if after == "archive" else "deleted"
    parts = ["%s kept" % count(report["kept"], "session")]
    parts += ["%d without their artifacts now" % report["artifacts_pruned"]] if report["artifacts_pruned"] else []
    parts += ["%d %s" % (report[key], key)] if report[key] else []
    lines = [(line(report["project"]) + ": " if with_project else "") + ", ".join(parts) + "."]
    lines += ["  " + short(path) for path in report["archives"]]
    lines += _left(report["left"])
    lines += ["  stays, because its META.yaml cannot be read: " + short(path) for path in report["unreadable"]]
    if not report["is_clock_plausible"]:
        lines.append("  Nothing was pruned: no session for more than a year, so the clock may be wrong.")
        lines.append("  If it is right: harness memory prune --older-than 30d")
    if report["unused_notes"]:
        notes = count(len(report["unused_notes"]), "note")
        lines.append("  %s unused for half a year: harness memory list --unused" % notes)
    return "\n".join(lines)


def _paths(root: str, project_dir: str, outcome: Outcome) -> list[str]:
    folder = archives.folder(root, project_dir)
    return [os.path.join(folder, outcome.archive + archives.ENDING)] if outcome.archive else []


def _left(reasons: dict[str, str]) -> list[str]:
    return ["  %s stays: %s" % (line(id), line(reason)) for id, reason in reasons.items()]


def _days(text: str) -> float:
    import argparse

    units = {"d": 1, "w": 7}
    if len(text) < 8 and text[:-1].isdecimal() and text[-1] in units:
        return float(int(text[:-1]) * units[text[-1]])
    raise argparse.ArgumentTypeError("invalid age %r: use 30d or 8w" % text)


# archive ------------------------------------------------------------------------------------------


def archive(argv: list[str]) -> int:
    about = (
        "Move sessions that ended before a day, with their episodes, out of the memory into a compressed archive.\n"
        "Sessions of open threads stay, unless --open is given. restore brings them back."
    )
    parser = arguments.parser("archive", about, "archive --before 2026-01-01 --dry-run\narchive --before 2026-01-01")
    parser.add_argument("--before", type=_day, required=True, metavar="YYYY-MM-DD", help="ended before this day")
    parser.add_argument("--open", action="store_true", help="sessions of open threads too")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    root, project_dir = arguments.root(), arguments.locate(args).dir
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        old, still_open = retention.before(project_dir, args.before, with_open=args.open)
        outcome = retention.Outcome()
        outcome.number = len(old)
        if not args.dry_run:
            with Meter("Archiving", len(old)) as meter:
                outcome = retention.archive_sessions(root, project_dir, old, time.time(), meter.add, with_episodes=True)
    paths = _paths(root, project_dir, outcome)
    if args.json:
        report = {"sessions": outcome.number, "open": still_open, "archives": paths, "left": outcome.left}
        emit_json({**report, "dry_run": args.dry_run})
        return 1 if outcome.left else 0
    print("%s %s." % ("Would archive" if args.dry_run else "Archived", count(outcome.number, "session")))
    print("".join("%s\n" % each for each in ["  " + short(path) for path in paths] + _left(outcome.left)), end="")
    if still_open:
        print("%s of open threads stay (--open archives them too)." % count(still_open, "session"))
    return 1 if outcome.left else 0


def _day(text: str) -> float:
    import argparse

    try:
        return time.mktime(time.strptime(text, "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("invalid day %r: use 2026-01-31" % text) from None


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
    troubles: list[OSError] = []
    archived = [*archives.load_all(root, project_dir, troubles)]
    if not args.what and not args.all:
        _list_archived(archived, args)
    else:
        wanted = {each.id for each in archived} if args.all else _wanted(archived, args.what)
        outcome = retention.restore(root, project_dir, lambda each: each.archive in wanted or each.id in wanted)
        keys = ("restored", "refused", "forgotten")
        report = {**{key: [*getattr(outcome, key)] for key in keys}, "unread": [str(e.filename) for e in troubles]}
        if args.json:
            emit_json(report)
        else:
            print("Restored %s." % count(len(outcome.restored), "session"))
            for id in outcome.refused:
                print("  %s stays archived: it went on here afterwards, and that record is kept" % line(id))
            for id in outcome.forgotten:
                print("  {0} was forgotten. To finish that: harness memory forget {0} --yes".format(line(id)))
        if report["refused"] or report["forgotten"]:
            return 1
    for trouble in troubles:
        complain("%s: %s. The readable part was used" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if troubles else 0


def _wanted(archived: list[Archived], word: str) -> set[str]:
    """The name of an archive, or the id of a session."""
    name = os.path.basename(word)
    name = name[: -len(archives.ENDING)] if name.endswith(archives.ENDING) else name
    if any(each.archive == name for each in archived):
        return {name}
    newest = {each.id: each for each in archived}.values()
    ids = lambda each: (each.id, each.session_id)  # noqa: E731
    shown = lambda each: "%s  %s" % (each.id, each.headline)  # noqa: E731
    return {resolve.one(word, newest, ids, "archived session", shown, "restore").id}


def _list_archived(archived: list[Archived], args: argparse.Namespace) -> None:
    newest = {(each.id, each.started): each for each in archived}.values()
    if args.json:
        emit_json([each.brief() for each in newest])
    elif archived:
        rows = [[each.archive, each.id, local(each.started), line(each.headline)] for each in newest]
        print("\n".join(table([["ARCHIVE", "ID", "STARTED", "SESSION"], *rows], is_cut=True)))
    else:
        print("Nothing of this project is archived.")
