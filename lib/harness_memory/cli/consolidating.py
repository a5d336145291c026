"""`consolidate`: what is new since the briefing was last made of it, and that it has been."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..memory import consolidation
from ..project import identity
from ..session import episode
from . import arguments
from .output import count, emit_json, line, local, passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIMIT = 30
_KEYS = (
    "id",
    "started",
    "ended",
    "branch",
    "skill_used",
    "outcome",
    "asked",
    "what_was_done",
    "what_remains",
    "learnings",
    "commands_failed_then_fixed",
    "files_changed",
    "taint",
)


def consolidate(argv: list[str]) -> int:
    about = (
        "What sessions have left since the last consolidation, oldest first: material for a new briefing, notes and\n"
        "profiles. The skill /%s does that work; --done says that it was done."
    ) % consolidation.SKILL
    parser = arguments.parser("consolidate", about, "consolidate\nconsolidate --limit 10 --json\nconsolidate --done")
    parser.add_argument("--done", action="store_true", help="it was done: count from now")
    parser.add_argument(
        "--limit",
        type=arguments.positive,
        default=_LIMIT,
        metavar="N",
        help="at most N, the newest (default: %d)" % _LIMIT,
    )
    args = parser.parse_args(argv)
    there = arguments.locate(args)
    if args.done:
        arguments.private_root()
        identity.record(there, clock.iso(time.time()))
        at = consolidation.mark(there.dir, time.time())
        if args.json:
            emit_json({"at": at})
        else:
            print("Consolidated: what sessions leave from now on is new.")
        return 0
    last = consolidation.last(there.dir)
    found = _since(there.dir, last)
    shown = found[-args.limit :]
    if args.json:
        emit_json({"last": last or None, "new": len(found), "sessions": shown})
    else:
        print(passage("\n".join(_page(last, found, shown))))
    return 0


def _since(project_dir: str, at: str) -> list[dict[str, Any]]:
    """Episodes that were written, or whose session ended, after that."""
    after = clock.parse(at) or 0.0
    found = []
    for name in episode.names(project_dir):
        path = os.path.join(project_dir, settings.EPISODES_DIR, name)
        if not at or files.modified(path) > after:
            value = episode.load(project_dir, name)
            if value:
                found.append({key: value.get(key) for key in _KEYS})
    return found


def _page(last: str, found: list[dict[str, Any]], shown: list[dict[str, Any]]) -> list[str]:
    when = "since the last consolidation, %s" % local(last) if last else "and no consolidation yet"
    lines = ["%s %s." % (count(len(found), "session"), when)]
    if len(found) > len(shown):
        lines.append("The newest %d of them (--limit %d shows all):" % (len(shown), len(found)))
    for each in shown:
        facts = [each["started"][:10], each["branch"], each["outcome"]]
        facts += ["/%s" % each["skill_used"]] if each["skill_used"] else []
        lines += ["", "## %s (%s)" % (each["id"], line(", ".join(fact for fact in facts if fact)))]
        lines += ["asked: " + line(ask) for ask in each["asked"][:2]]
        lines += ["done: " + line(each["what_was_done"])] if each["what_was_done"] else []
        lines += ["open: " + line(item) for item in each["what_remains"]]
        lines += ["learned: " + line(item) for item in each["learnings"]]
        fixes = each["commands_failed_then_fixed"]
        lines += [line("failed: %s; worked: %s" % (fix["failed"], fix["fixed"])) for fix in fixes]
        lines += ["files: " + line(", ".join(each["files_changed"][:8]))] if each["files_changed"] else []
        lines += ["text from outside came in by: " + line(", ".join(each["taint"]))] if each["taint"] else []
    return lines
