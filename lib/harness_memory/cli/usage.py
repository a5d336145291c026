"""What helps sessions: `why` and `stats` of what was injected, `rate` and `signals` of skills."""

from __future__ import annotations

import os
import time
from statistics import fmean as mean
from typing import Any

from ..base import files, settings
from ..base.text import brief
from ..inject.injection import load_receipt
from ..memory import briefing, ratings, records
from ..notes import lint
from ..notes import shelf as notebook
from ..session import sessions
from . import arguments, resolve
from .output import Refusal, answer, bar, count, line, passage, some, sparkline, table

_CHARTED = 30
_RATINGS_CHARTED = 20
_TREND_RATINGS = 4  # fewer show no trend
_MOST_SHOWN = 10
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
    average = round(mean(tokens)) if tokens else 0
    lines = ["%s, %d tokens each on average" % (count(len(receipts), "session"), average)]
    if len(tokens) > 1:
        bars = sparkline(tokens[-_CHARTED:], 0, max(tokens))
        lines.append("tokens, newest last: %s (%d to %d)" % (bars, min(tokens), max(tokens)))
    items = [item for each in receipts for item in each.items if not item.get("held")]
    kinds, rows = {}, [["", "INJECTED", "USED", "READ", "EDITED", "NAMED", ""]]
    for kind, name in _KINDS.items():
        used = [item["used"] for item in items if item["kind"] == kind]
        uses = {use: used.count(use) for use in _USES}
        share = {"items": len(used), "used": sum(uses.values()), **uses}
        if used:
            kinds[kind] = share
            rows.append([name, *map(str, share.values()), bar(share["used"], share["items"])])
    lines += ["", *table(rows, right=(1, 2, 3, 4, 5))] if kinds else []
    shelves = [*(notebook.Shelf("project", path) for path in directories), notebook.user_shelf(arguments.root())]
    unused = [note.ref for shelf in shelves for note in shelf.read() if lint.is_unused(shelf, note, now)]
    names = ", ".join(some([*map(line, unused)], _MOST_SHOWN))
    lines += ["", "Unused for half a year: " + names] if unused else []
    value = {"sessions": len(receipts), "kinds": kinds, "tokens": tokens, "unused_notes": unused}
    lines = lines if receipts else ["Nothing was injected into a session yet."]
    return answer(args.json, {**value, "tokens_mean": average}, lines)


def rate(argv: list[str]) -> int:
    parser = arguments.parser("rate", examples='rate code-review 4 --note "Caught the race condition"')
    parser.add_argument("skill", metavar="SKILL", help="the name of the skill, as typed after the slash")
    parser.add_argument("rating", metavar="1-5", type=int, choices=range(1, 6))
    parser.add_argument("--note", metavar="TEXT", default="", help="why")
    parser.add_argument("--signal", choices=ratings.SIGNALS, default="", help="default: by the rating")
    parser.add_argument("--session", metavar="ID", default="", help="its session (default: the present one)")
    args = parser.parse_args(argv)
    skill = briefing.skill_name(args.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % line(args.skill))
    project, now = arguments.locate(args), time.time()
    arguments.private_root(project)
    session = brief(args.session, settings.SKILL_CHARS) or resolve.present(project.dir)
    note = brief(args.note, settings.ITEM_CHARS)
    rating = ratings.append(project.dir, session, skill, args.rating, note, now, args.signal)
    if rating is None:
        raise Refusal("another process is writing the ratings; nothing was recorded. Try again")
    return answer(args.json, rating, ["Rated /%s %d of 5." % (skill, args.rating)])


def signals(argv: list[str]) -> int:
    parser = arguments.parser("signals", examples="signals\nsignals code-review")
    parser.add_argument("skill", nargs="?", metavar="SKILL", help="one skill, with its notes")
    args = parser.parse_args(argv)
    groups: dict[str, list[dict[str, Any]]] = {}
    for rating in ratings.load(arguments.locate(args).dir):
        groups.setdefault(rating["skill"], []).append(rating)
    skill = briefing.skill_name(args.skill) if args.skill else ""
    if args.skill and skill not in groups:
        raise Refusal('no ratings of "%s" here. See: harness memory signals' % line(args.skill))
    if not groups:
        return answer(args.json, [], ["No ratings here yet. Give one: harness memory rate SKILL 1-5"])
    most = settings.RECENT_RATINGS
    summaries, rows = [], [["SKILL", "RATINGS", "MEAN", "RECENT", "TREND", "LAST %d" % _RATINGS_CHARTED]]
    for name, group in sorted(groups.items()) if not skill else [(skill, groups[skill])]:
        numbers = [each["rating"] for each in group]
        means, trend = [mean(numbers), mean(numbers[-most:])], ""
        if len(numbers) >= _TREND_RATINGS:
            recent = most if len(numbers) > most else (len(numbers) + 1) // 2
            change = mean(numbers[-recent:]) - mean(numbers[:-recent])
            trend = "steady" if abs(change) < 0.5 else "better" if change > 0 else "worse"
        summary = {"skill": name, "ratings": numbers, "mean": round(means[0], 2), "recent_mean": round(means[1], 2)}
        kinds = {kind: sum(each.get("signal") == kind for each in group) for kind in ratings.SIGNALS}
        summaries.append({**summary, "trend": trend, "signals": kinds, "last": group[-1]})
        cells = [str(len(numbers)), *("%.1f" % number for number in means), trend or "-"]
        rows.append([line(name), *cells, sparkline(numbers[-_RATINGS_CHARTED:], 1, 5)])
    notes = [each for each in reversed(groups.get(skill, [])) if each.get("note")][:_MOST_SHOWN]
    lines = table(rows, right=(1, 2, 3)) + (["", "%s, newest first" % count(len(notes), "note")] if notes else [])
    lines += ["  " + line("%s  %s  %s" % (each.get("date"), each["rating"], each["note"])) for each in notes]
    return answer(args.json, summaries, lines)
