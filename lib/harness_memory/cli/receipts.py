"""What was injected into sessions: `why` for one of them, `stats` over all. Nothing here writes."""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..inject.injection import load_receipt
from ..memory import records
from ..notes import lint
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments, resolve
from .output import answer, bar, count, line, passage, some, sparkline, table

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
    parser = arguments.parser("why", examples="why\nwhy a1b2c3d4")
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
    args = arguments.parser("stats", has_all=True).parse_args(argv)
    directories, now = arguments.project_dirs(args), time.time()
    loaded = [sessions.load(path) for directory in directories for path in sessions.all_directories(directory)]
    every = [load_receipt(each.dir) for each in sorted(filter(None, loaded), key=lambda each: each.started)]
    receipts = [each for each in every if each.log]
    tokens: list[float] = [sum(int(entry.get("tokens") or 0) for entry in each.log) for each in receipts]
    mean = round(sum(tokens) / len(tokens)) if tokens else 0
    lines = ["%s, %d tokens each on average" % (count(len(receipts), "session"), mean)]
    if len(tokens) > 1:
        bars = sparkline(tokens[-_CHARTED:], 0, max(tokens))
        lines.append("tokens, newest last: %s (%d to %d)" % (bars, min(tokens), max(tokens)))
    kinds, rows = {}, [["", "INJECTED", "USED", "READ", "EDITED", "NAMED", ""]]
    for kind, name in _KINDS.items():
        used = [
            item["used"] for each in receipts for item in each.items if item["kind"] == kind and not item.get("held")
        ]
        uses = {use: used.count(use) for use in _USES}
        share = {"items": len(used), "used": sum(uses.values()), **uses}
        if used:
            kinds[kind] = share
            rows.append([name, *map(str, share.values()), bar(share["used"], share["items"])])
    lines += ["", *table(rows, right=(1, 2, 3, 4, 5))] if kinds else []
    shelves = [*(notebook.Shelf("project", path) for path in directories), notebook.user_shelf(arguments.root())]
    unused = [note.ref for shelf in shelves for note in shelf.read() if lint.is_unused(shelf, note, now)]
    names = ", ".join(some([*map(line, unused)], _NAMES_SHOWN))
    lines += ["", "Unused for half a year: " + names] if unused else []
    value = {"sessions": len(receipts), "kinds": kinds, "tokens": tokens, "tokens_mean": mean, "unused_notes": unused}
    return answer(args.json, value, lines if receipts else ["Nothing was injected into a session yet."])
