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
from . import arguments, resolve, review, scopes
from .output import Refusal, answer, count, listing, some, sparkline, table

_CHARTED = 20
_TREND_RATINGS = 4  # fewer show no trend
_MOST_SHOWN = 10
_KINDS = {
    "session": "recalled session",
    "note": "recalled note",
    "archived": "recalled from an archive",
    "trigger": "note by its trigger",
    "menu": "line of the menu",
    "open": "open item",
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
    directory = record.directory or record.project_dir  # which has no receipt
    log, page = load_receipt(directory).log, files.read_text(os.path.join(directory, settings.RECEIPT_FILE)).rstrip()
    return answer(args.json, log, [page or "Session %s: nothing was injected." % record.id])


def stats(argv: list[str]) -> int:
    args = arguments.parser("stats", has_all=True).parse_args(argv)
    directories, now = arguments.project_dirs(args), time.time()
    loaded = [sessions.load(path) for directory in directories for path in sessions.all_directories(directory)]
    every = [load_receipt(each.dir) for each in sorted(filter(None, loaded), key=lambda each: each.started)]
    receipts = [each for each in every if each.log]
    tokens = [sum(int(entry.get("tokens") or 0) for entry in each.log) for each in receipts]
    average = round(mean(tokens)) if tokens else 0
    items = [item for each in receipts for item in each.items if not item.get("held")]
    kinds: dict[str, dict[str, int]] = {}
    for kind in dict.fromkeys(item["kind"] for item in items):
        used = [item["used"] for item in items if item["kind"] == kind]
        uses = {use: used.count(use) for use in _USES}
        kinds[kind] = {"items": len(used), "used": sum(uses.values()), **uses}
    lines = ["%s, %d tokens each on average" % (count(len(receipts), "session"), average)]
    rows = [[_KINDS.get(kind, kind), *share.values()] for kind, share in kinds.items()]
    head = ["", "INJECTED", "USED", *map(str.upper, _USES)]
    lines += ["", *table([head, *rows], right=(1, 2, 3, 4))] if rows else []
    shelves = [*(notebook.Shelf("project", path) for path in directories), notebook.user_shelf(arguments.root())]
    unused = [note.ref for shelf in shelves for note in shelf.read() if lint.is_unused(shelf, note, now)]
    lines += ["", "Unused for half a year: " + ", ".join(some(unused, _MOST_SHOWN))] if unused else []
    value = {"sessions": len(receipts), "kinds": kinds, "tokens": tokens, "unused_notes": unused}
    lines = lines if receipts else ["Nothing was injected into a session yet."]
    held = [] if args.all_projects else review.standing(scopes.Scopes(args))
    sums = {key: sum(rule[key] for rule in held) for key in ("followed", "stopped", "overridden", "recurred")}
    value["rules"] = {"held": len(held), **sums}
    kept = ", ".join("%s %d" % each for each in sums.items())
    lines += ["", "%s: %s" % (count(len(held), "rule"), kept)] if held else []
    return answer(args.json, {**value, "tokens_mean": average}, lines)


def rate(argv: list[str]) -> int:
    parser = arguments.parser("rate", examples='rate code-review 4 --note "Caught the race condition"')
    parser.add_argument("skill", metavar="SKILL", help="the name of the skill, as typed after the slash")
    parser.add_argument("rating", metavar="1-5", type=int, choices=range(1, 6))
    parser.add_argument("--note", metavar="TEXT", default="", help="why")
    args = parser.parse_args(argv)
    skill = briefing.skill_name(args.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % args.skill)
    project, note = arguments.locate(args), brief(args.note, settings.ITEM_CHARS)
    arguments.private_root(project)
    rating = ratings.append(project.dir, resolve.present(project.dir), skill, args.rating, note, time.time())
    return answer(args.json, rating, ["Rated /%s %d of 5." % (skill, args.rating)])


def signals(argv: list[str]) -> int:
    parser = arguments.parser("signals", examples="signals\nsignals code-review")
    parser.add_argument("skill", nargs="?", metavar="SKILL", help="one skill, with its notes")
    args = parser.parse_args(argv)
    groups: dict[str, list[dict[str, Any]]] = {}
    for rating in ratings.load(arguments.locate(args).dir):
        groups.setdefault(rating["skill"], []).append(rating)
    notes: list[str] = []
    if args.skill:
        skill = briefing.skill_name(args.skill)
        if skill not in groups:
            raise Refusal('no ratings of "%s" here. See: harness memory signals' % args.skill)
        groups = {skill: groups[skill]}
        noted = [each for each in reversed(groups[skill]) if each.get("note")]
        notes = ["  %s  %s  %s" % (each.get("date"), each["rating"], each["note"]) for each in noted[:_MOST_SHOWN]]
        notes = ["", "Notes, newest first", *notes] if notes else []
    none = "No ratings here yet. Give one: harness memory rate SKILL 1-5"
    return listing(args, "SKILL #RATINGS #MEAN #RECENT TREND LATEST", sorted(groups.items()), _signal, none, notes)


def _signal(named: tuple[str, list[dict[str, Any]]]) -> tuple[dict[str, Any], list[Any]]:
    skill, group = named
    numbers = [each["rating"] for each in group]
    half, trend = len(numbers) // 2, ""
    if len(numbers) >= _TREND_RATINGS:
        change = mean(numbers[half:]) - mean(numbers[:half])
        trend = "steady" if abs(change) < 0.5 else "better" if change > 0 else "worse"
    means = {"mean": round(mean(numbers), 2), "recent_mean": round(mean(numbers[-settings.RECENT_RATINGS :]), 2)}
    chart = sparkline(numbers[-_CHARTED:], 1, 5)
    value = {"skill": skill, "ratings": numbers, **means, "trend": trend, "last": group[-1]}
    return value, [skill, len(numbers), *means.values(), trend, chart]
