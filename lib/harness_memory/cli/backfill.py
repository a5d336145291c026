"""`backfill`: episodes of the sessions that are older than this memory."""

from __future__ import annotations

import os
import time

from ..base import config, settings
from ..memory import backfill as backfills
from . import arguments
from .output import Refusal, answer, count, line, meter, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MB = 1_000_000
_WORDS = {backfills.LIVE: "running or written to in the last %d minutes" % (settings.BACKFILL_QUIET_SECONDS // 60)}


def backfill(argv: list[str]) -> int:
    about = (
        "Record sessions that are older than this memory, from the transcripts that Claude Code still keeps.\n"
        "Secrets are redacted; known, running and forgotten sessions are skipped.\n"
        "You may stop it at any point; the next run goes on."
    )
    parser = arguments.parser("backfill", about, "backfill\nbackfill --all\nbackfill --all --dry-run")
    parser.add_argument("--all", action="store_true", help="every project, not only this one")
    parser.add_argument("--dry-run", action="store_true", help="show how much there is, read none of it")
    args = parser.parse_args(argv)
    if args.all and args.project is not None:
        raise Refusal("--project and --all exclude each other")
    root, began, paths = arguments.root(), time.monotonic(), backfills.paths(config_dir())
    work = backfills.Backfill(root, "" if args.all else arguments.locate(args).dir, time.time(), config.load(root))
    wanted, left = work.survey(paths, meter("Looking for transcripts", len(paths)))
    size, made = sum(source.size for source in wanted), 0
    done = meter("Reading", size)
    try:
        for source in [] if args.dry_run else wanted:
            try:
                kind = work.make(source)
            except (OSError, ValueError) as error:
                if str(getattr(error, "filename", "")).startswith(os.path.join(root, "")):
                    raise  # the memory cannot be written: no other transcript would fare better
                kind = backfills.UNREADABLE
            if kind == backfills.MADE:
                made += 1
            else:
                left[kind] = left.get(kind, 0) + 1
            done(source.size)
    finally:
        work.finish()
    report = {
        "transcripts": len(paths),
        "folder": os.path.join(config_dir(), backfills.PROJECTS_DIR),
        "dry_run": args.dry_run,
        "to_read": len(wanted),
        "bytes": size,
        "made": made,
        "projects": len(work.made),
        "left_alone": dict(sorted(left.items())),
        "seconds": round(time.monotonic() - began, 3),
    }
    answer(args.json, report, _page(report))
    return 1 if left.get(backfills.UNREADABLE) else 0


def config_dir() -> str:
    """Where the client keeps its transcripts."""
    named = os.environ.get(settings.ENV_CONFIG_DIR)
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR))


def _page(report: dict[str, Any]) -> list[str]:
    if not report["transcripts"]:
        return ["No transcripts in %s." % short(report["folder"])]
    size = "%.1f MB" % (report["bytes"] / _MB)
    if report["dry_run"]:
        lines = ["Would read %s (%s)." % (count(report["to_read"], "transcript"), size)]
    else:
        what = "%s in %s" % (count(report["made"], "session"), count(report["projects"], "project"))
        lines = ["Recorded %s, from %s of transcripts in %.1f s." % (what, size, report["seconds"])]
    left = ["%d %s" % (number, _WORDS.get(kind, kind)) for kind, number in report["left_alone"].items()]
    lines += ["Skipped: %s." % line(", ".join(left))] if left else []
    if report["left_alone"].get(backfills.LIVE):
        lines.append("Some may not have ended: run harness memory backfill later.")
    if report["made"]:
        lines.append("See: harness memory list%s" % (" --all-projects" if report["projects"] > 1 else ""))
    return lines
