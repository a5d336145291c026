"""`consolidate`: what sessions left since the briefing was last renewed, and the mark that it has been."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..memory import consolidation
from ..project import identity
from ..session import episode
from . import arguments
from .output import answer, count, local, passage

_LIMIT = 30


def consolidate(argv: list[str]) -> int:
    about = (
        "What sessions left since the last consolidation, oldest first: material for a new briefing, notes and\n"
        "profiles. The skill /%s does that work; --done records that it was done."
    ) % consolidation.SKILL
    parser = arguments.parser("consolidate", about, "consolidate\nconsolidate --limit 10 --json\nconsolidate --done")
    parser.add_argument("--done", action="store_true", help="it was done: count from now")
    limit = "at most N, the newest (default: %d)" % _LIMIT
    parser.add_argument("--limit", type=arguments.positive, default=_LIMIT, metavar="N", help=limit)
    args = parser.parse_args(argv)
    project = arguments.locate(args)
    if args.done:
        arguments.private_root()
        identity.record(project, clock.iso(time.time()))
        at = consolidation.mark(project.dir, time.time())
        return answer(args.json, {"at": at}, ["Consolidated: sessions count as new from now on."])
    last = consolidation.last(project.dir)
    folder, after = os.path.join(project.dir, settings.EPISODES_DIR), clock.parse(last) or -1.0
    names = [name for name in episode.names(project.dir) if files.modified(os.path.join(folder, name)) > after]
    new = [value for value in (episode.load(project.dir, name) for name in names) if value]
    shown = new[-args.limit :]
    when = "since the last consolidation, %s" % local(last) if last else "and no consolidation yet"
    rows = ["%s %s." % (count(len(new), "session"), when)]
    if len(new) > len(shown):
        rows.append("The newest %d of them (--limit %d shows all):" % (len(shown), len(new)))
    for value in shown:
        outside = "Text from outside came in by %s.\n" % ", ".join(value["taint"]) if value["taint"] else ""
        rows.append(passage("\nSession %s\n%s%s" % (value["id"], outside, episode.summary_page(value).rstrip())))
    return answer(args.json, {"last": last or None, "new": len(new), "sessions": shown}, rows)
