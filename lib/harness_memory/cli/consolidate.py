"""`consolidate`: what sessions left since the briefing was last renewed, and the mark that it has been."""

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
    *("id", "started", "ended", "branch", "skill_used", "outcome", "asked", "what_was_done", "what_remains"),
    *("learnings", "commands_failed_then_fixed", "files_changed", "taint"),
)


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
        if args.json:
            emit_json({"at": at})
        else:
            print("Consolidated: sessions count as new from now on.")
        return 0
    last = consolidation.last(project.dir)
    new = _since(project.dir, last)
    shown = new[-args.limit :]
    if args.json:
        emit_json({"last": last or None, "new": len(new), "sessions": shown})
        return 0
    when = "since the last consolidation, %s" % local(last) if last else "and no consolidation yet"
    lines = ["%s %s." % (count(len(new), "session"), when)]
    if len(new) > len(shown):
        lines.append("The newest %d of them (--limit %d shows all):" % (len(shown), len(new)))
    print(passage("\n".join(lines + [row for value in shown for row in _page(value)])))
    return 0


def _since(project_dir: str, at: str) -> list[dict[str, Any]]:
    """Episodes written after that instant."""
    folder = os.path.join(project_dir, settings.EPISODES_DIR)
    after = clock.parse(at) or -1.0
    names = [name for name in episode.names(project_dir) if files.modified(os.path.join(folder, name)) > after]
    values = [value for value in (episode.load(project_dir, name) for name in names) if value]
    return [{key: value.get(key) for key in _KEYS} for value in values]


def _page(value: dict[str, Any]) -> list[str]:
    skill = "/%s" % value["skill_used"] if value["skill_used"] else ""
    facts = [value["started"][:10], value["branch"], value["outcome"], skill]
    fixes = ["%s; worked: %s" % (fix["failed"], fix["fixed"]) for fix in value["commands_failed_then_fixed"]]
    rows = (
        ("asked", value["asked"][:2]),
        ("done", [value["what_was_done"]]),
        ("open", value["what_remains"]),
        ("learned", value["learnings"]),
        ("failed", fixes),
        ("files", [", ".join(value["files_changed"][:8])]),
        ("text from outside came in by", [", ".join(value["taint"])]),
    )
    head = "## %s (%s)" % (value["id"], line(", ".join(fact for fact in facts if fact)))
    return ["", head, *("%s: %s" % (name, line(item)) for name, items in rows for item in items if item)]
