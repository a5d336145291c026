"""How long sessions are kept: `prune`, `archive` and `restore`."""

from __future__ import annotations

import contextlib
import os
import time

from ..base import config, settings
from ..memory import archive as archives
from ..memory import housekeeping, retention
from ..session import sessions
from . import arguments, resolve
from .output import answer, complain, count, line, local, meter, short, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..base.config import Config
_KINDS = {retention.RESTORED: "restored", retention.WENT_ON: "refused", retention.FORGOTTEN: "forgotten"}


def prune(argv: list[str]) -> int:
    about = (
        "Keep the work directories of the last days whole, and those up to a month old without artifacts; archive\n"
        "older ones, or delete them (config key work_after). Episodes, and with them the menu of past sessions, stay.\n"
        "You may stop it at any point; nothing is lost."
    )
    parser = arguments.parser("prune", about, "prune --dry-run\nprune\nprune --older-than 30d\nprune --all-projects")
    arguments.add_all_projects(parser)
    days = "older than this leave WORK: 30d, 8w (default: config key work_days, %s)" % settings.DEFAULTS["work_days"]
    parser.add_argument("--older-than", type=arguments.instant, metavar="AGE", help=days)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    settled = config.load(arguments.root())
    reports = [_prune(project_dir, settled, args) for project_dir in arguments.project_dirs(args)]
    lines = [text for report in reports for text in _prune_page(report, len(reports) > 1)]
    answer(args.json, reports, lines + ["Nothing was changed (--dry-run)."] * args.dry_run)
    return 1 if any(report["unreadable"] or report["left"] for report in reports) else 0


def _prune(project_dir: str, settled: Config, args: argparse.Namespace) -> dict[str, Any]:
    root, now, name = arguments.root(), time.time(), ""
    is_archived = settled["work_after"] == "archive"
    days = float(settled["work_days"]) if args.older_than is None else (now - args.older_than) / settings.DAY_SECONDS
    work_days = [os.path.basename(os.path.dirname(path)) for path in sessions.all_directories(project_dir)]
    # Someone who names an age is sure of the clock.
    is_plausible = args.older_than is not None or housekeeping.is_clock_plausible(work_days, now)
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        plan = retention.plan(project_dir, now if is_plausible else 0.0, settled["work_whole_days"], days)
        kept, young, old = (plan[kind] for kind in (retention.KEEP, retention.THIN, retention.RETIRE))
        thinned, retired = ({aged.id: "" for aged in each} for each in (young, old))
        if not args.dry_run:
            done = meter("Pruning", len(young) + len(old))
            thinned = retention.remove(project_dir, young, retention.THIN, done)
            if is_archived:
                name, retired = retention.archive_sessions(root, project_dir, old, retention.RETIRE, now, done)
            else:
                retired = retention.remove(project_dir, old, retention.RETIRE, done)
    unreadable = [path for path in sessions.all_directories(project_dir) if sessions.load(path) is None]
    return {
        "project": os.path.basename(project_dir),
        "dry_run": args.dry_run,
        "kept": len(kept),
        "artifacts_pruned": [*thinned.values()].count(""),
        "archived" if is_archived else "deleted": [*retired.values()].count(""),
        "archives": _paths(root, project_dir, name),
        "left": {id: reason for id, reason in {**thinned, **retired}.items() if reason},
        "unreadable": unreadable,
        "is_clock_plausible": is_plausible,
    }


def _prune_page(report: dict[str, Any], with_project: bool) -> list[str]:
    texts = {"artifacts_pruned": "without their artifacts now", "archived": "archived", "deleted": "deleted"}
    parts = ["%s kept" % count(report["kept"], "session")]
    parts += ["%d %s" % (report[key], text) for key, text in texts.items() if report.get(key)]
    lines = [(line(report["project"]) + ": " if with_project else "") + ", ".join(parts) + ".", *_details(report)]
    lines += ["  stays, because its META.yaml cannot be read: " + short(path) for path in report["unreadable"]]
    if not report["is_clock_plausible"]:
        lines.append("  Nothing was pruned: no session for more than a year, so the clock may be wrong.")
        lines.append("  If it is right: harness memory prune --older-than 30d")
    return lines


def _paths(root: str, project_dir: str, name: str) -> list[str]:
    return [os.path.join(archives.folder(root, project_dir), name + archives.ENDING)] if name else []


def _details(report: dict[str, Any]) -> list[str]:
    stays = ["  %s stays: %s" % (line(id), line(reason)) for id, reason in report["left"].items()]
    return ["  " + short(path) for path in report["archives"]] + stays


def archive(argv: list[str]) -> int:
    about = (
        "Move sessions that ended before a day, with their episodes, out of the memory into a compressed archive.\n"
        "Sessions of open threads stay, unless --open is given. restore brings them back."
    )
    parser = arguments.parser("archive", about, "archive --before 2026-01-01 --dry-run\narchive --before 2026-01-01")
    add = parser.add_argument
    add("--before", type=arguments.instant, required=True, metavar="YYYY-MM-DD", help="ended before this day")
    add("--open", action="store_true", help="sessions of open threads too")
    add("--dry-run", action="store_true", help="show what would be done, do nothing")
    args = parser.parse_args(argv)
    root, project_dir, name = arguments.root(), arguments.locate(args).dir, ""
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        old, still_open = retention.before(project_dir, args.before, with_open=args.open)
        reasons = {aged.id: "" for aged in old}
        if not args.dry_run:
            done = meter("Archiving", len(old))
            name, reasons = retention.archive_sessions(root, project_dir, old, retention.WHOLE, time.time(), done)
    report = {
        "sessions": [*reasons.values()].count(""),
        "open": still_open,
        "archives": _paths(root, project_dir, name),
        "left": {id: reason for id, reason in reasons.items() if reason},
        "dry_run": args.dry_run,
    }
    lines = ["%s %s." % ("Would archive" if args.dry_run else "Archived", count(report["sessions"], "session"))]
    lines += _details(report)
    lines += ["Sessions of open threads that stay: %d (--open archives them too)" % still_open] * bool(still_open)
    answer(args.json, report, lines)
    return 1 if report["left"] else 0


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
    outcome: dict[str, str] = {}
    if args.what or args.all:
        wanted = {os.path.basename(args.what or "").replace(archives.ENDING, "")}
        if args.all:
            wanted = {each.archive for each in archived}
        elif wanted.isdisjoint(each.archive for each in archived):
            wanted = {resolve.archived({each.id: each for each in archived}.values(), args.what).id}
        outcome = retention.restore(root, project_dir, lambda each: not wanted.isdisjoint((each.archive, each.id)))
        report: dict[str, list[str]] = {"unread": [str(trouble.filename) for trouble in troubles]}
        for kind, key in _KINDS.items():
            report[key] = [id for id, became in outcome.items() if became == kind]
        is_present = {*outcome.values()} == {retention.PRESENT}
        done = "Restored %s." % count(len(report["restored"]), "session")
        lines = ["All of it is here already." if is_present else done]
        lines += ["  %s stays archived: it went on here afterwards" % line(id) for id in report["refused"]]
        again = "  {0} was forgotten. To finish that: harness memory forget {0} --yes"
        answer(args.json, report, lines + [again.format(line(id)) for id in report["forgotten"]])
    else:
        newest = {(each.id, each.started): each for each in archived}.values()
        rows = [[each.archive, each.id, local(each.started), line(each.headline)] for each in newest]
        lines = table([["ARCHIVE", "ID", "STARTED", "SESSION"], *rows], is_cut=True) if rows else []
        answer(args.json, [each.brief() for each in newest], lines or ["Nothing of this project is archived."])
    for trouble in troubles:
        complain("%s: %s. The readable part was used" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if troubles else 1 if {retention.WENT_ON, retention.FORGOTTEN}.intersection(outcome.values()) else 0
