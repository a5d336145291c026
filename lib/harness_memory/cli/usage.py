"""What helps sessions: `why` and `stats` of what was injected, `rate` of skills."""

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
from .output import Refusal, page
from .review import standing

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
    value["skills"] = _rated(call.dirs)
    return call.answer({"sessions": len(receipts), **value}, page({"sessions given something": len(receipts), **value}))


def rate(call: Call) -> int:
    skill = briefing.skill_name(call.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % call.skill)
    call.prepare()
    note = brief(call.note, settings.ITEM_CHARS)
    rating = ratings.append(call.project.dir, call.present, skill, call.rating, note, call.now)
    return call.answer(rating, ["Rated /%s %d of 5." % (skill, call.rating)])


def _rated(dirs: list[str]) -> dict[str, dict[str, Any]]:
    """How well each skill did: how often it was rated, the means, the newest note."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for rating in [rating for path in dirs for rating in ratings.load(path)]:
        groups.setdefault(rating["skill"], []).append(rating)
    rated = {}
    for skill, group in sorted(groups.items()):
        numbers = [each["rating"] for each in group]
        means = {"mean": round(mean(numbers), 2), "recent": round(mean(numbers[-settings.RECENT_RATINGS :]), 2)}
        noted = [each["note"] for each in group if each.get("note")]
        rated[skill] = {"ratings": len(numbers), **means, "note": noted[-1] if noted else "-"}
    return rated
