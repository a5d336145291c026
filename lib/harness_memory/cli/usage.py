"""What helps sessions: `why` and `stats` of what was injected, `rate` and `signals` of skills."""

from __future__ import annotations

import os
from statistics import fmean as mean
from typing import Any

from ..base import files, settings
from ..base.text import brief
from ..inject.injection import load_receipt
from ..memory import briefing, ratings
from ..session import sessions
from .call import Call
from .output import Refusal, bars, page
from .review import standing

_CHARTED = 20
_TREND_RATINGS = 4  # fewer show no trend
_USES = ("read", "edited", "named")


def why(call: Call) -> int:
    record = call.find_session(call.word or (call.current.id if call.current else "last"))
    directory = record.directory or record.project_dir  # which has no receipt
    log, page = load_receipt(directory).log, files.read_text(os.path.join(directory, settings.RECEIPT_FILE)).rstrip()
    return call.answer(log, [page or "Session %s: nothing was injected." % record.id])


def stats(call: Call) -> int:
    directories = [path for project_dir in call.dirs for path in sessions.all_directories(project_dir)]
    receipts = [each for each in map(load_receipt, directories) if each.log]
    tokens = [sum(int(entry.get("tokens") or 0) for entry in each.log) for each in receipts]
    kinds: dict[str, dict[str, int]] = {}
    for item in [item for each in receipts for item in each.items if not item.get("held")]:
        share = kinds.setdefault(item["kind"], dict.fromkeys(("injected", "used", *_USES), 0))
        for key in ("injected", *["used", item["used"]] * bool(item["used"])):
            share[key] += 1
    held = [] if call.all_projects else standing(call)
    sums = {key: sum(rule[key] for rule in held) for key in ("followed", "stopped", "overridden", "recurred")}
    value = {"tokens_mean": round(mean(tokens or [0])), "kinds": kinds, "rules": {"held": len(held), **sums}}
    return call.answer({"sessions": len(receipts), **value}, page({"sessions given something": len(receipts), **value}))


def rate(call: Call) -> int:
    skill = briefing.skill_name(call.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % call.skill)
    call.prepare()
    note = brief(call.note, settings.ITEM_CHARS)
    rating = ratings.append(call.project.dir, call.present, skill, call.rating, note, call.now)
    return call.answer(rating, ["Rated /%s %d of 5." % (skill, call.rating)])


def signals(call: Call) -> int:
    groups: dict[str, list[dict[str, Any]]] = {}
    for rating in ratings.load(call.project.dir):
        groups.setdefault(rating["skill"], []).append(rating)
    head = "SKILL #RATINGS #MEAN #RECENT=recent_mean TREND LATEST=chart NOTE"
    none = "No ratings here yet. Give one: harness memory rate SKILL 1-5"
    return call.listing(head, sorted(groups), lambda skill: _signal(skill, groups[skill]), none)


def _signal(skill: str, group: list[dict[str, Any]]) -> dict[str, Any]:
    numbers = [each["rating"] for each in group]
    half, trend = len(numbers) // 2, ""
    if len(numbers) >= _TREND_RATINGS:
        change = mean(numbers[half:]) - mean(numbers[:half])
        trend = "steady" if abs(change) < 0.5 else "better" if change > 0 else "worse"
    means = {"mean": round(mean(numbers), 2), "recent_mean": round(mean(numbers[-settings.RECENT_RATINGS :]), 2)}
    chart = bars([number - 1 for number in numbers[-_CHARTED:]], 4)
    noted = [each["note"] for each in group if each.get("note")]
    row = {"skill": skill, "ratings": numbers, **means, "trend": trend, "chart": chart, "last": group[-1]}
    return {**row, "note": noted[-1] if noted else ""}
