"""What was injected into sessions: `why` for one of them, `stats` over all. Nothing here writes."""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..inject.injection import load_receipt
from ..memory import records
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments, resolve
from .output import answer, bar, count, line, passage, sparkline, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARTED = 30
_NAMES_SHOWN = 10
_KINDS = {
    "session": "recalled session",
    "note": "recalled note",
    "archived": "recalled from an archive",
    "trigger": "note by its trigger",
    "menu": "line of the menu",
    "index": "line of the notes' index",
}
_USES = ("read", "edited", "named")


def why(argv: list[str]) -> int:
    about = "What was injected into a session: when, why, from which files, how much, and the text itself."
    parser = arguments.parser("why", about, "why\nwhy last\nwhy a1b2c3d4\nwhy a1b --json")
    words = 'an id or its beginning, or "last" (default: the present session, else the last one)'
    parser.add_argument("session", metavar="ID", nargs="?", help=words)
    args = parser.parse_args(argv)
    every = records.load_all(arguments.locate(args).dir)
    present = os.environ.get(settings.ENV_SESSION_ID, "")
    default = present if present in [record.claude_id for record in every] else "last"
    record = resolve.session(every, args.session or default)
    log = load_receipt(record.session.dir).log if record.session else []
    page = files.read_text(os.path.join(record.session.dir, settings.RECEIPT_FILE)) if record.session else ""
    missing = "%s is missing. See: --json" % settings.RECEIPT_FILE if log else "nothing was injected."
    return answer(args.json, log, [passage(page.rstrip()) if page else "Session %s: %s" % (line(record.id), missing)])


def stats(argv: list[str]) -> int:
    about = "What was injected into sessions, and whether they used it: read it, edited one of its files, or named it."
    parser = arguments.parser("stats", about, "stats\nstats --all-projects\nstats --json")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    directories = arguments.project_dirs(args)
    receipts = []
    for path in directories:
        loaded = filter(None, map(sessions.load, sessions.all_directories(path)))
        receipts += [load_receipt(each.dir) for each in sorted(loaded, key=lambda each: each.started)]
    receipts = [each for each in receipts if each.log]
    items = [item for each in receipts for item in each.items if not item.get("held")]
    kinds = {}
    for kind in _KINDS:
        used = [item["used"] for item in items if item["kind"] == kind]
        uses = {use: used.count(use) for use in _USES}
        kinds[kind] = {"items": len(used), "used": sum(uses.values()), **uses}
    tokens = [sum(int(entry.get("tokens") or 0) for entry in each.log) for each in receipts]
    value = {
        "sessions": len(receipts),
        "kinds": {kind: share for kind, share in kinds.items() if share["items"]},
        "tokens": tokens,
        "tokens_mean": round(sum(tokens) / len(tokens)) if tokens else 0,
        "unused_notes": _unused(directories),
    }
    return answer(args.json, value, _page(value))


def _unused(project_dirs: list[str]) -> list[str]:
    """Notes not used, verified or written for half a year."""
    before = time.time() - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS
    shelves = [notebook.Shelf("project", path) for path in project_dirs] + [notebook.user_shelf(arguments.root())]
    return [note.ref for shelf in shelves for note in shelf.read() if shelf.last_used(note) < before]


def _page(value: dict[str, Any]) -> list[str]:
    if not value["sessions"]:
        return ["Nothing was injected into a session yet."]
    tokens, unused = value["tokens"], value["unused_notes"]
    lines = ["%s, %d tokens each on average" % (count(value["sessions"], "session"), value["tokens_mean"])]
    if len(tokens) > 1:
        bars = sparkline(tokens[-_CHARTED:], 0, max(tokens))
        lines.append("tokens, newest last: %s (%d to %d)" % (bars, min(tokens), max(tokens)))
    rows = [["", "INJECTED", "USED", "READ", "EDITED", "NAMED", ""]]
    for kind, share in value["kinds"].items():
        numbers = [str(share[key]) for key in ("items", "used", *_USES)]
        rows.append([_KINDS[kind], *numbers, bar(share["used"], share["items"])])
    lines += ["", *table(rows, right=(1, 2, 3, 4, 5))] if len(rows) > 1 else []
    if unused:
        more = ", and %d more" % (len(unused) - _NAMES_SHOWN) if len(unused) > _NAMES_SHOWN else ""
        lines += ["", "Unused for half a year: %s%s" % (", ".join(map(line, unused[:_NAMES_SHOWN])), more)]
    return lines
