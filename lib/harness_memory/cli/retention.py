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
from .meter import Meter
from .output import complain, count, emit_json, line, local, short, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..base.config import Config
    from ..memory.archive import Archived


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
    settled = config.load(arguments.root())
    reports = [_prune(project_dir, settled, args) for project_dir in arguments.project_dirs(args)]
    if args.json:
        emit_json(reports)
    else:
        print("\n".join(_prune_page(report, len(reports) > 1) for report in reports))
        if args.dry_run:
            print("Nothing was changed (--dry-run).")
    return 1 if any(report["unreadable"] or report["left"] for report in reports) else 0


def _prune(project_dir: str, settled: Config, args: argparse.Namespace) -> dict[str, Any]:
    root, now, is_archived = arguments.root(), time.time(), settled["work_after"] == "archive"
    days = float(settled["work_days"]) if args.older_than is None else args.older_than
    work_days = [os.path.basename(os.path.dirname(path)) for path in sessions.all_directories(project_dir)]
    # Someone who names an age is sure of the clock.
    is_plausible = args.older_than is not None or housekeeping.is_clock_plausible(work_days, now)
    archive = ""
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        plan = retention.plan(project_dir, now if is_plausible else 0.0, settled["work_whole_days"], days)
        thinned, retired = (dict.fromkeys((aged.id for aged in each), "") for each in (plan.thinned, plan.retired))
        if not args.dry_run:
            with Meter("Pruning", len(thinned) + len(retired)) as meter:
                thinned = retention.thin(project_dir, plan.thinned, meter.add)
                if is_archived:
                    archive, retired = retention.archive_sessions(
                        root, project_dir, plan.retired, now, meter.add, with_episodes=False
                    )
                else:
                    retired = retention.delete(project_dir, plan.retired, meter.add)
    return {
        "project": os.path.basename(project_dir),
        "dry_run": args.dry_run,
        "kept": plan.kept,
        "artifacts_pruned": sum(not reason for reason in thinned.values()),
        "archived" if is_archived else "deleted": sum(not reason for reason in retired.values()),
        "archives": _paths(root, project_dir, archive),
        "left": {id: reason for id, reason in {**thinned, **retired}.items() if reason},
        "unreadable": plan.unreadable,
        "is_clock_plausible": is_plausible,
    }


def _prune_page(report: dict[str, Any], with_project: bool) -> str:
    texts = {"artifacts_pruned": "without their artifacts now", "archived": "archived", "deleted": "deleted"}
    parts = ["%s kept" % count(report["kept"], "session")]
    parts += ["%d %s" % (report[key], text) for key, text in texts.items() if report.get(key)]
    lines = [(line(report["project"]) + ": " if with_project else "") + ", ".join(parts) + "."]
    lines += ["  " + short(path) for path in report["archives"]] + _left(report["left"])
    lines += ["  stays, because its META.yaml cannot be read: " + short(path) for path in report["unreadable"]]
    if not report["is_clock_plausible"]:
        lines.append("  Nothing was pruned: no session for more than a year, so the clock may be wrong.")
        lines.append("  If it is right: harness memory prune --older-than 30d")
    return "\n".join(lines)


def _paths(root: str, project_dir: str, archive: str) -> list[str]:
    return [os.path.join(archives.folder(root, project_dir), archive + archives.ENDING)] if archive else []


def _left(reasons: dict[str, str]) -> list[str]:
    return ["  %s stays: %s" % (line(id), line(reason)) for id, reason in reasons.items() if reason]


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
    root, project_dir, name = arguments.root(), arguments.locate(args).dir, ""
    with contextlib.nullcontext() if args.dry_run else archives.lock(root, project_dir):
        old, still_open = retention.before(project_dir, args.before, with_open=args.open)
        reasons = dict.fromkeys((aged.id for aged in old), "")
        if not args.dry_run:
            with Meter("Archiving", len(old)) as meter:
                name, reasons = retention.archive_sessions(
                    root, project_dir, old, time.time(), meter.add, with_episodes=True
                )
    number, paths = sum(not reason for reason in reasons.values()), _paths(root, project_dir, name)
    left = {id: reason for id, reason in reasons.items() if reason}
    if args.json:
        report = {"sessions": number, "open": still_open, "archives": paths, "left": left, "dry_run": args.dry_run}
        emit_json(report)
    else:
        lines = ["%s %s." % ("Would archive" if args.dry_run else "Archived", count(number, "session"))]
        lines += ["  " + short(path) for path in paths] + _left(left)
        lines += ["Sessions of open threads that stay: %d (--open archives them too)" % still_open] * bool(still_open)
        print("\n".join(lines))
    return 1 if left else 0


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
    code = 0
    if args.what or args.all:
        wanted = {each.id for each in archived} if args.all else _wanted(archived, args.what)
        outcome = retention.restore(root, project_dir, lambda each: each.archive in wanted or each.id in wanted, [])
        code = _report(outcome, troubles, args)
    else:
        _list_archived(archived, args)
    for trouble in troubles:
        complain("%s: %s. The readable part was used" % (short(str(trouble.filename)), trouble.strerror))
    return 2 if troubles else code


def _report(outcome: dict[str, str], troubles: list[OSError], args: argparse.Namespace) -> int:
    ids = {kind: [id for id, each in outcome.items() if each == kind] for kind in (*outcome.values(), *_KINDS)}
    if args.json:
        unread = [str(trouble.filename) for trouble in troubles]
        emit_json({**{key: ids[kind] for kind, key in _KINDS.items()}, "unread": unread})
    else:
        done = "Restored %s." % count(len(ids[retention.RESTORED]), "session")
        print(done if {*outcome.values()} != {retention.PRESENT} else "All of it is here already.")
        for id in ids[retention.WENT_ON]:
            print("  %s stays archived: it went on here afterwards, and that record is kept" % line(id))
        for id in ids[retention.FORGOTTEN]:
            print("  {0} was forgotten. To finish that: harness memory forget {0} --yes".format(line(id)))
    return 1 if ids[retention.WENT_ON] or ids[retention.FORGOTTEN] else 0


_KINDS = {retention.RESTORED: "restored", retention.WENT_ON: "refused", retention.FORGOTTEN: "forgotten"}


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
