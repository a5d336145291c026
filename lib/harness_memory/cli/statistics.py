"""`stats`: what sessions were handed, what of it was of use, and what it cost."""

from __future__ import annotations

import sys
import time

from ..base import settings
from ..inject import receipt
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments
from .output import count, emit_json, line, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARTED = 30
_BAR_COLUMNS = 24
_KINDS = {
    "session": "recalled session",
    "note": "recalled note",
    "archived": "recalled from an archive",
    "trigger": "note by its trigger",
    "menu": "line of the menu",
    "index": "line of the notes' index",
}
_NAMES_SHOWN = 10
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = ".:-=+*%#"


def stats(argv: list[str]) -> int:
    about = (
        "What was injected into sessions, and whether it was of use: read again, one of its files edited, or named in\n"
        "an answer."
    )
    parser = arguments.parser("stats", about, "stats\nstats --all-projects\nstats --json")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    told = [each for path in arguments.project_dirs(args) for each in _told(path)]
    value = {**_summed(told), "unused_notes": _unused(arguments.project_dirs(args))}
    if args.json:
        emit_json(value)
    else:
        print("\n".join(_page(value)))
    return 0


def _told(project_dir: str) -> list[dict[str, Any]]:
    """What each session was told, the earliest first; those that were told nothing are left out."""
    found = [(session.started, receipt.load(session.dir)) for session in _sessions(project_dir)]
    return [told for _, told in sorted(found, key=lambda pair: pair[0]) if told["log"]]


def _sessions(project_dir: str) -> list[sessions.Session]:
    loaded = [sessions.load(directory) for directory in sessions.all_directories(project_dir)]
    return [session for session in loaded if session]


def _summed(told: list[dict[str, Any]]) -> dict[str, Any]:
    items = [item for each in told for item in each["items"]]
    kinds = {kind: _share([item for item in items if item["kind"] == kind]) for kind in _KINDS}
    tokens = [sum(int(entry.get("tokens") or 0) for entry in each["log"]) for each in told]
    return {
        "sessions": len(told),
        "kinds": {kind: share for kind, share in kinds.items() if share["items"]},
        "tokens": tokens,
        "tokens_mean": round(sum(tokens) / len(tokens)) if tokens else 0,
    }


def _share(items: list[dict[str, Any]]) -> dict[str, Any]:
    ways = {way: sum(item["used"] == way for item in items) for way in ("read", "edited", "named")}
    return {"items": len(items), "used": sum(ways.values()), **ways}


def _unused(project_dirs: list[str]) -> list[str]:
    """Notes that nobody has used, verified or written for half a year."""
    before = time.time() - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS
    shelves = [notebook.project_shelf(path) for path in project_dirs] + [notebook.user_shelf(arguments.root())]
    return [note.ref for shelf in shelves for note in shelf.read() if notebook.last_used(shelf, note) < before]


# Showing -----------------------------------------------------------------------------------------


def _page(value: dict[str, Any]) -> list[str]:
    if not value["sessions"]:
        return ["No session was told anything yet, so there is nothing to count."]
    tokens = value["tokens"]
    lines = ["%s told, %d tokens each on average" % (count(value["sessions"], "session"), value["tokens_mean"])]
    if len(tokens) > 1:
        lines.append("tokens, newest last: %s (%d to %d)" % (_chart(tokens[-_CHARTED:]), min(tokens), max(tokens)))
    rows = [["", "HANDED OVER", "USED", "READ", "EDITED", "NAMED", ""]]
    for kind, share in value["kinds"].items():
        numbers = [str(share[key]) for key in ("items", "used", "read", "edited", "named")]
        rows.append([_KINDS[kind], *numbers, _bar(share["used"], share["items"])])
    lines += ["", *table(rows, right=(1, 2, 3, 4, 5))] if len(rows) > 1 else []
    unused = value["unused_notes"]
    if unused:
        more = ", and %d more" % (len(unused) - _NAMES_SHOWN) if len(unused) > _NAMES_SHOWN else ""
        lines += ["", "Unused for half a year: %s%s" % (", ".join(map(line, unused[:_NAMES_SHOWN])), more)]
    return lines


def _bar(part: int, whole: int) -> str:
    share = part / whole if whole else 0.0
    return "%3d %% %s" % (round(share * 100), _bars()[-1] * round(share * _BAR_COLUMNS))


def _chart(values: list[int]) -> str:
    bars = _bars()
    most = max(values) or 1
    return "".join(bars[min(len(bars) - 1, value * len(bars) // (most + 1))] for value in values)


def _bars() -> str:
    try:
        _BARS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _PLAIN_BARS
    return _BARS
