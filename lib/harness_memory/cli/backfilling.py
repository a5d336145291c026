"""`backfill`: episodes of the sessions there were before us."""

from __future__ import annotations

import errno
import os
import time

from ..base import config, settings
from ..memory import backfill as backfills
from . import arguments
from .meter import Meter
from .output import count, emit_json, line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MB = 1_000_000
_WORDS = {backfills.LIVE: "running or written to in the last %d minutes" % (settings.BACKFILL_QUIET_SECONDS // 60)}
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)  # no other transcript would fare better


def backfill(argv: list[str]) -> int:
    about = (
        "Make episodes of sessions from before this memory, from the transcripts that Claude Code still keeps.\n"
        "Secrets are redacted; sessions that are known, running or forgotten are left alone.\n"
        "May be stopped at any point; the next run goes on."
    )
    parser = arguments.parser("backfill", about, "backfill\nbackfill --all\nbackfill --all --dry-run")
    parser.add_argument("--all", action="store_true", help="every project, not only this one")
    parser.add_argument("--dry-run", action="store_true", help="show how much there is, read none of it")
    args = parser.parse_args(argv)
    if args.all and args.project is not None:
        raise Refusal("--project and --all exclude each other")
    report = run("" if args.all else arguments.locate(args).dir, dry_run=args.dry_run)
    if args.json:
        emit_json(report)
    else:
        print("\n".join(page(report)))
    return 1 if report["left_alone"].get(backfills.UNREADABLE) else 0


def run(only: str, *, dry_run: bool = False) -> dict[str, Any]:
    """`only` is the store directory of one project; "" for all."""
    root, began = arguments.root(), time.monotonic()
    places = backfills.config_dir(os.environ)
    running = backfills.running(places)
    work = backfills.Backfill(root, only, time.time(), config.load(root), running)
    paths = backfills.paths(places)
    with Meter("Looking for transcripts", len(paths)) as meter:
        wanted, left = backfills.survey(work, paths, meter.one)
    size = sum(source.size for source in wanted)
    report = {"transcripts": len(paths), "folder": os.path.join(places, backfills.PROJECTS_DIR), "dry_run": dry_run}
    made = 0
    if not dry_run:
        with Meter("Reading", size) as meter:
            try:
                for source in wanted:
                    kind = _made(work, source)
                    made += kind == backfills.MADE
                    if kind != backfills.MADE:
                        left[kind] = left.get(kind, 0) + 1
                    meter.add(source.size, "%d of %s" % (made, count(len(wanted), "session")))
            finally:
                work.finish()
    numbers = {"to_read": len(wanted), "bytes": size, "made": made, "projects": len(work.pending)}
    seconds = round(time.monotonic() - began, 3)
    return {**report, **numbers, "left_alone": dict(sorted(left.items())), "seconds": seconds}


def _made(work: backfills.Backfill, source: backfills.Source) -> str:
    try:
        return work.make(source)
    except OSError as error:
        if error.errno in _CLOSED and str(error.filename).startswith(os.path.join(work.root, "")):
            what = "the memory cannot be written (%s)" % error.strerror
            raise OSError(error.errno, what, error.filename) from None
        return backfills.UNREADABLE
    except ValueError:
        return backfills.UNREADABLE


def page(report: dict[str, Any]) -> list[str]:
    if not report["transcripts"]:
        return ["No transcripts in %s." % short(report["folder"])]
    size = "%.1f MB" % (report["bytes"] / _MB)
    if report["dry_run"]:
        lines = ["Would read %s (%s)." % (count(report["to_read"], "transcript"), size)]
    else:
        what = "%s in %s" % (count(report["made"], "session"), count(report["projects"], "project"))
        lines = ["Remembered %s, from %s of transcripts in %.1f s." % (what, size, report["seconds"])]
    left = ["%d %s" % (number, _WORDS.get(kind, kind)) for kind, number in report["left_alone"].items()]
    lines += ["Left alone: %s." % line(", ".join(left))] if left else []
    if report["left_alone"].get(backfills.LIVE):
        lines.append("Those may not have ended: run harness memory backfill later.")
    if report["made"]:
        lines.append("Look: harness memory list%s" % (" --all-projects" if report["projects"] > 1 else ""))
    return lines
