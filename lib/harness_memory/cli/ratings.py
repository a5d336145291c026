"""How well skills do: `rate` one, and `signals` over all ratings."""

from __future__ import annotations

import time
from statistics import fmean as mean
from typing import Any

from ..base import settings
from ..base.text import brief
from ..memory import briefing, ratings
from . import arguments, resolve
from .output import Refusal, answer, count, line, sparkline, table

_CHARTED = 20
_TREND_RATINGS = 4  # fewer show no trend
_NOTES_SHOWN = 10


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
    summaries, rows = [], [["SKILL", "RATINGS", "MEAN", "RECENT", "TREND", "LAST %d" % _CHARTED]]
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
        rows.append([line(name), *cells, sparkline(numbers[-_CHARTED:], 1, 5)])
    notes = [each for each in reversed(groups.get(skill, [])) if each.get("note")][:_NOTES_SHOWN]
    lines = table(rows, right=(1, 2, 3)) + (["", "%s, newest first" % count(len(notes), "note")] if notes else [])
    lines += ["  " + line("%s  %s  %s" % (each.get("date"), each["rating"], each["note"])) for each in notes]
    return answer(args.json, summaries, lines)
