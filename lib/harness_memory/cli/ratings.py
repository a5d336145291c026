"""How well skills do: `rate` one, and `signals` over all ratings."""

from __future__ import annotations

import sys
import time

from ..base import clock, settings
from ..base.text import brief
from ..inject import sections
from ..memory import ratings as signals
from ..project import identity
from . import arguments
from .output import count, emit_json, line, table
from .refusal import Refusal
from .tasks import present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARTED = 20
_NOTES_SHOWN = 10
_BARS = "▁▃▄▆█"
_PLAIN_BARS = "_.-=#"  # where the terminal's encoding lacks the others


def rate(argv: list[str]) -> int:
    about = (
        "Say how well a skill did, from 1 (badly) to 5 (very well). Its next sessions are told of poor ratings.\n"
        "The signal is derived from the rating (1-2 negative, 3 neutral, 4-5 positive) unless given."
    )
    examples = 'rate code-review 4 --note "Caught the race condition"\nrate research 2 --note "Missed a competitor"'
    parser = arguments.parser("rate", about, examples)
    add = parser.add_argument
    add("skill", metavar="SKILL", help="the name of the skill, as typed after the slash")
    add("rating", metavar="1-5", type=int, choices=range(1, 6))
    add("--note", metavar="TEXT", default="", help="why")
    add("--signal", choices=signals.SIGNALS)
    add("--session", metavar="ID", help="the session it is about (default: the present one)")
    args = parser.parse_args(argv)
    skill = sections.skill_name(args.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % line(args.skill))
    there, now = arguments.locate(args), time.time()
    arguments.private_root()
    identity.record(there, clock.iso(now))
    session = brief(args.session or "", settings.SKILL_CHARS) or present(there.dir)
    note = brief(args.note, settings.ITEM_CHARS)
    if not signals.append(there.dir, session, skill, args.rating, note, now, args.signal or ""):
        raise Refusal("another process holds the lock of the ratings; nothing was recorded. Try again")
    if args.json:
        emit_json(signals.load(there.dir, settings.RATINGS_TAIL_BYTES)[-1])
    else:
        print("Rated /%s %d of 5." % (skill, args.rating))
    return 0


def signal_summary(argv: list[str]) -> int:
    about = "How well skills did: ratings per skill, newest last, with their mean and trend; of one skill its notes."
    parser = arguments.parser("signals", about, "signals\nsignals code-review\nsignals --json")
    parser.add_argument("skill", nargs="?", metavar="SKILL", help="one skill, with its notes")
    args = parser.parse_args(argv)
    groups: dict[str, list[dict[str, Any]]] = {}
    for rating in signals.load(arguments.locate(args).dir):
        groups.setdefault(rating["skill"], []).append(rating)
    wanted = sections.skill_name(args.skill) if args.skill else ""
    if args.skill and wanted not in groups:
        raise Refusal('no ratings of "%s" here. See: harness memory signals' % line(args.skill))
    found = [_summary(skill, group) for skill, group in sorted(groups.items()) if wanted in ("", skill)]
    if args.json:
        emit_json(found)
    elif found:
        print("\n".join(_page(found, groups[wanted] if wanted else [])))
    else:
        print("No ratings here yet. Give one: harness memory rate SKILL 1-5")
    return 0


def _summary(skill: str, group: list[dict[str, Any]]) -> dict[str, Any]:
    ratings = [each["rating"] for each in group]
    return {
        "skill": skill,
        "ratings": ratings,
        "mean": round(signals.mean(ratings), 2),
        "recent_mean": round(signals.mean(ratings[-settings.RECENT_RATINGS :]), 2),
        "trend": signals.trend(ratings),
        "signals": {kind: sum(each.get("signal") == kind for each in group) for kind in signals.SIGNALS},
        "last": group[-1],
    }


def _page(found: list[dict[str, Any]], notes: list[dict[str, Any]]) -> list[str]:
    rows = [["SKILL", "RATINGS", "MEAN", "RECENT", "TREND", "LAST %d" % _CHARTED]]
    for each in found:
        numbers = [str(len(each["ratings"])), "%.1f" % each["mean"], "%.1f" % each["recent_mean"]]
        rows.append([line(each["skill"]), *numbers, each["trend"] or "-", chart(each["ratings"][-_CHARTED:])])
    lines = table(rows, right=(1, 2, 3))
    told = [each for each in notes if each.get("note")][-_NOTES_SHOWN:]
    lines += ["", "%s, newest first" % count(len(told), "note")] if told else []
    return lines + [
        "  " + line("%s  %s  %s" % (each.get("date"), each["rating"], each["note"])) for each in reversed(told)
    ]


def chart(ratings: list[float]) -> str:
    """A bar for each rating, of characters that the terminal can show."""
    bars = _BARS
    try:
        bars.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        bars = _PLAIN_BARS
    return "".join(bars[round(rating) - 1] for rating in ratings)
