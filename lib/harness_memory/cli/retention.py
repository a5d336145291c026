"""Which sessions the memory holds: `backfill` adds earlier ones, `prune`, `archive` and `restore` move old ones."""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import time
from typing import Any

from ..base import config, settings
from ..base.config import Config
from ..memory import archive as archives
from ..memory import backfill as backfills
from ..memory import housekeeping, views
from ..memory.records import Record
from ..session import sessions
from . import arguments, resolve
from .output import Refusal, answer, complain, complain_of, count, listing, local, short

_PARTS = ("kept", "artifacts_pruned", "archived", "deleted")


def prune(argv: list[str]) -> int:
    parser = arguments.parser("prune", examples="prune --older-than 30d", has_all=True, has_preview=True)
    days = "older than this leave WORK: 30d, 8w (default: config key work_days, %s)" % settings.DEFAULTS["work_days"]
    parser.add_argument("--older-than", type=arguments.instant, metavar="AGE", help=days)
    args = parser.parse_args(argv)
    reports, lines, settled = [], [], config.load(arguments.root())
    if settled.problems:
        complain("%s. Nothing was pruned. Correct the file and try again." % "; ".join(settled.problems))
        return 1
    for project_dir in arguments.project_dirs(args):
        report = _prune(project_dir, settled, args)
        reports.append(report)
        parts = ["%d %s" % (report[key], key.replace("_", " ")) for key in _PARTS if report.get(key)]
        lines.append("%s: sessions: %s" % (report["project"], ", ".join(parts) or "none"))
        lines += _details(report)
        lines += ["  stays, because its META.yaml cannot be read: " + short(path) for path in report["unreadable"]]
        if not report["is_clock_plausible"]:
            lines.append("  Nothing pruned: no session for a year, so the clock may be wrong. If not: --older-than 30d")
    answer(args.json, reports, lines + ["Nothing was changed (--dry-run)."] * args.dry_run)
    return 1 if any(report["unreadable"] or report["left"] for report in reports) else 0


def _prune(project_dir: str, settled: Config, args: argparse.Namespace) -> dict[str, Any]:
    now, to_archive = time.time(), settled["work_after"] == "archive"
    days = float(settled["work_days"]) if args.older_than is None else (now - args.older_than) / settings.DAY_SECONDS
    directories = sessions.all_directories(project_dir)
    work_days = [os.path.basename(os.path.dirname(directory)) for directory in directories]
    # Someone who names an age is sure of the clock.
    is_plausible = args.older_than is not None or housekeeping.is_clock_plausible(work_days, now)
    with contextlib.nullcontext() if args.dry_run else archives.lock(project_dir):
        plan = archives.plan(project_dir, now if is_plausible else 0.0, settled["work_whole_days"], days)
        kept = len(plan.pop(archives.KEEP))
        report, numbers = _retire(project_dir, plan, args, to_archive)
    report.update(project=os.path.basename(project_dir), kept=kept, artifacts_pruned=numbers[archives.THIN])
    report["archived" if to_archive else "deleted"] = numbers[archives.RETIRE]
    report["unreadable"] = [each for each in directories if os.path.isdir(each) and sessions.load(each) is None]
    return {**report, "is_clock_plausible": is_plausible}


def _retire(
    project_dir: str, plan: dict[str, list[Record]], args: argparse.Namespace, to_archive: bool = True
) -> tuple[dict[str, Any], dict[str, int]]:
    """Carry out a plan, unless it is a dry run: what to report, and how many sessions there were of each kind."""
    report: dict[str, Any] = {"archives": [], "left": {}, "dry_run": args.dry_run}
    numbers = {}
    for kind, group in plan.items():
        path, reasons = "", {record.id: "" for record in group}
        if not args.dry_run:
            into_archive = to_archive and kind != archives.THIN
            path, reasons = archives.retire(project_dir, group, kind, time.time(), into_archive)
        report["archives"] += [path] if path else []
        report["left"].update({id: reason for id, reason in reasons.items() if reason})
        numbers[kind] = [*reasons.values()].count("")
    return report, numbers


def _details(report: dict[str, Any]) -> list[str]:
    stays = ["  %s stays: %s" % (id, reason) for id, reason in report["left"].items()]
    return ["  " + short(path) for path in report["archives"]] + stays


def archive(argv: list[str]) -> int:
    parser = arguments.parser("archive", examples="archive --before 2026-01-01", has_preview=True)
    before = "ended before this day"
    parser.add_argument("--before", type=arguments.instant, required=True, metavar="YYYY-MM-DD", help=before)
    parser.add_argument("--open", action="store_true", help="sessions of open threads too")
    args = parser.parse_args(argv)
    project_dir = arguments.locate(args).dir
    with contextlib.nullcontext() if args.dry_run else archives.lock(project_dir):
        old, still_open = archives.before(project_dir, args.before, with_open=args.open)
        report, numbers = _retire(project_dir, {archives.WHOLE: old}, args)
    report.update(sessions=numbers[archives.WHOLE], open=still_open)
    lines = ["%s %s." % ("Would archive" if args.dry_run else "Archived", count(report["sessions"], "session"))]
    lines += _details(report)
    lines += ["Sessions of open threads that stay: %d (--open archives them too)" % still_open] * bool(still_open)
    answer(args.json, report, lines)
    return 1 if report["left"] else 0


def restore(argv: list[str]) -> int:
    parser = arguments.parser("restore", examples="restore\nrestore a1b2c3d4\nrestore --all")
    parser.add_argument("what", nargs="?", metavar="ID|ARCHIVE", help="a session, or all of an archive; else the list")
    parser.add_argument("--all", action="store_true", help="everything that is archived of this project")
    args = parser.parse_args(argv)
    project_dir = arguments.locate(args).dir
    troubles: list[OSError] = []
    outcome: dict[str, str] = {}
    is_asked = args.all or args.what is not None
    with archives.lock(project_dir) if is_asked else contextlib.nullcontext():
        archived = [*archives.load_all(project_dir, troubles)]
        newest = {(each.id, each.started): each for each in archived}.values()
        if is_asked:
            names = {os.path.basename(args.what or "").replace(archives.ENDING, "")}
            if not args.all and names.isdisjoint(each.archive for each in archived):
                names = {resolve.archived(newest, args.what).id}
            selected = [each for each in archived if args.all or not names.isdisjoint((each.archive, each.id))]
            outcome = archives.restore(project_dir, selected[::-1])
    if is_asked:
        kinds = {"restored": archives.RESTORED, "refused": archives.WENT_ON, "forgotten": archives.FORGOTTEN}
        report = {key: [id for id, became in outcome.items() if became == kind] for key, kind in kinds.items()}
        is_present = {*outcome.values()} == {archives.PRESENT}
        done = "Restored %s." % count(len(report["restored"]), "session")
        lines = ["All of it is here already." if is_present else done]
        lines += ["  %s stays archived: it went on here afterwards" % id for id in report["refused"]]
        again = "  {0} was forgotten. To finish that: harness memory forget {0} --yes"
        lines += [again.format(id) for id in report["forgotten"]]
        answer(args.json, report, lines)
    else:
        listing(args, "ARCHIVE ID STARTED SESSION", [*newest], _archived, "Nothing of this project is archived.")
    complain_of(troubles, "The readable part was used")
    return 2 if troubles else 1 if {archives.WENT_ON, archives.FORGOTTEN}.intersection(outcome.values()) else 0


def _archived(each: archives.Archived) -> tuple[Any, list[str]]:
    return each.brief(), [each.archive, each.id, local(each.started), each.headline]


def backfill(argv: list[str]) -> int:
    parser = arguments.parser("backfill", examples="backfill --all", has_preview=True)
    parser.add_argument("--all", action="store_true", help="every project, not only this one")
    args = parser.parse_args(argv)
    if args.all and args.project is not None:
        raise Refusal("--project and --all exclude each other")
    root, paths = arguments.root(), backfills.paths(config_dir())
    work = backfills.Backfill(root, "" if args.all else arguments.locate(args).dir, time.time(), config.load(root))
    kinds: collections.Counter[str] = collections.Counter()
    wanted = []
    for source in backfills.sources(root, paths):
        kind = work.verdict(source) if source else backfills.EMPTY
        if source and not kind:
            wanted.append(source)
        else:
            kinds[kind] += 1
    try:
        # A fork begins with its parent's first entry: the one that fell silent first is taken for the parent.
        for source in sorted(wanted, key=lambda source: (source.started, source.modified)) * (not args.dry_run):
            try:
                kinds[work.make(source)] += 1
            except (OSError, ValueError) as error:
                if str(getattr(error, "filename", "")).startswith(os.path.join(root, "")):
                    raise  # the memory cannot be written: no other transcript would fare better
                kinds[backfills.UNREADABLE] += 1
    finally:
        for project_dir in work.made:
            views.refresh(project_dir)
    made = kinds.pop(backfills.MADE, 0)
    report = {"dry_run": args.dry_run, "to_read": len(wanted), "made": made, "left_alone": dict(sorted(kinds.items()))}
    lines = ["Recorded %s in %s." % (count(made, "session"), count(len(work.made), "project"))]
    if not paths:
        lines = ["No transcripts in %s." % short(os.path.join(config_dir(), backfills.PROJECTS_DIR))]
    elif args.dry_run:
        lines = ["Would read %s." % count(len(wanted), "transcript")]
    skipped = ["%d %s" % (number, kind) for kind, number in sorted(kinds.items())]
    lines += ["Skipped: %s." % ", ".join(skipped)] if skipped else []
    lines += ["What changed just now may go on: a later run takes it."] if backfills.FRESH in kinds else []
    answer(args.json, report, lines)
    return 1 if backfills.UNREADABLE in kinds else 0


def config_dir() -> str:
    """Where the client keeps its transcripts."""
    named = os.environ.get(settings.ENV_CONFIG_DIR)
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR))
