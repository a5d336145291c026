"""`backfill`: episodes of the sessions that are older than this memory."""

from __future__ import annotations

import collections
import os
import time

from ..base import config, settings
from ..memory import backfill as backfills
from ..memory import views
from . import arguments
from .output import Refusal, answer, count, line, short

_WORDS = {backfills.LIVE: "running or written to in the last %d minutes" % (settings.BACKFILL_QUIET_SECONDS // 60)}


def backfill(argv: list[str]) -> int:
    about = (
        "Record sessions that are older than this memory, from the transcripts that Claude Code still keeps.\n"
        "Secrets are redacted; known, running and forgotten sessions are skipped.\n"
        "You may stop it at any point; the next run goes on."
    )
    parser = arguments.parser("backfill", about, "backfill --all", has_preview=True)
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
    report = {
        "dry_run": args.dry_run,
        "to_read": len(wanted),
        "made": made,
        "left_alone": dict(sorted(kinds.items())),
    }
    megabytes = sum(source.size for source in wanted) / 1_000_000
    lines = ["Recorded %s in %s." % (count(made, "session"), count(len(work.made), "project"))]
    if not paths:
        lines = ["No transcripts in %s." % short(os.path.join(config_dir(), backfills.PROJECTS_DIR))]
    elif args.dry_run:
        lines = ["Would read %s (%.1f MB)." % (count(len(wanted), "transcript"), megabytes)]
    skipped = ["%d %s" % (number, _WORDS.get(kind, kind)) for kind, number in sorted(kinds.items())]
    lines += ["Skipped: %s." % line(", ".join(skipped))] if skipped else []
    lines += ["Some may not have ended: run harness memory backfill later."] * (backfills.LIVE in kinds)
    lines += ["See: harness memory list" + " --all-projects" * (len(work.made) > 1)] * bool(made)
    answer(args.json, report, lines)
    return 1 if backfills.UNREADABLE in kinds else 0


def config_dir() -> str:
    """Where the client keeps its transcripts."""
    named = os.environ.get(settings.ENV_CONFIG_DIR)
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR))
