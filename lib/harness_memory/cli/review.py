"""`review`: what waits for a person's word. `rules`, `stats`, `rate`: does what they ruled hold, and what helps?"""

from __future__ import annotations

from statistics import fmean as mean

from ..audit import trail
from ..base import clock, settings
from ..base.text import brief
from ..inject.injection import load_receipt
from ..memory import briefing, merge, ratings, review, views
from ..memory.review import Item
from ..notes import binding, shelf
from ..session import sessions
from . import notes
from .call import Call, one
from .output import WIDE, Fields, Refusal, columns, count, page, short

_TYPES = {"rule": "feedback", "decision": "decision", "lesson": "project"}
_SHOWN = "{0.key}  {0.text}".format
_GIVEN = {"menu": "session at a start", "index": "note at a start", "open": "open item at a start"}


def _episodes(call: Call) -> list[Fields]:
    return [record.episode for record in reversed(call.records) if record.episode]


def _waiting(call: Call) -> list[Item]:
    facts = [fact.text for note in shelf.holding(call.shelves) for fact in note.facts]
    return review.waiting(call.dir, _episodes(call), facts)


def waiting(call: Call) -> int:
    left = _waiting(call)
    call.limit = len(left) or 1 if call.all else review.SHOWN
    # Versions of pages that lost against a newer one of another machine.
    homes = (call.project.id, settings.USER_DIR)
    former = [path for path in merge.listed(call.root) if merge.is_former(path) and merge.home(path) in homes]
    after = ["", "Decide: harness memory review accept, edit or reject ID"] * bool(left)
    after += ["", "Changed on two machines; the newer version holds, the other is in:"] * bool(former)
    after += ["  " + short("%s/%s" % (call.root, path)) for path in former]
    head = "ID=key KIND " + "DAY SESSION TIMES " * (columns() >= WIDE)  # on a narrow terminal, the words
    head += "DOUBT " * any(item.doubt for item in left) + "WORDS=text"
    return call.listing(head, left, "Nothing waits.", _row, after)


def _row(item: Item) -> Fields:
    return {name: getattr(item, name) for name in ("key", "kind", "day", "session", "times", "doubt", "text")}


def settle(call: Call) -> int:
    left = _waiting(call)
    ids = [call.ids] if call.action == "edit" else call.ids
    if bool(ids) is getattr(call, "all", False):
        raise Refusal("name what you mean by its ID, or --all. See: harness memory review")
    values, lines = [], []
    for item in [one(word, left, lambda item: (item.key,), "item", "review", _SHOWN) for word in ids] or left:
        value, said, note = _row(item), ["Rejected: " + item.text], ""
        if call.action != "reject":
            text = call.words if call.action == "edit" else item.text
            value, said = notes.keep(call, [text], call.type or _TYPES[item.kind])
            note = value["note"]
        verdict = review.ACCEPTED if note else review.REJECTED
        review.record(call.dir, verdict, call.now, key=item.key, note=note, session=item.session)
        values.append(value)
        lines += said
    views.rebuild(call.dir)
    return call.answer(values, lines or ["Nothing waits."])


def standing(call: Call) -> list[Fields]:
    """What became of each rule: notes that bind, and the user's feedback."""
    # (a note's ref, or its rule in the trail; what happened; when)
    said = [(event.get("note"), event["event"], event["at"]) for event in review.load(call.dir)]
    said += [(event.get("rule"), event.get("decision"), event["ts"]) for event in trail.events(call.dir)]
    for receipt in map(load_receipt, sessions.all_directories(call.dir)):
        # The index is in every start.
        said += [(item["item"], "reminded", item.get("at", "")) for item in receipt.items if item["kind"] != "index"]
    stated = [item for item in review.items(_episodes(call)) if item.kind == "rule" and not item.doubt]
    rules = []
    for note in [note for note in shelf.read_all(call.shelves) if binding.firmness(note) or note.type == "feedback"]:
        firm, facts = binding.firmness(note), [fact.text for fact in note.facts]
        events = [(kind, at) for name, kind, at in said if name in (note.ref, "note." + note.slug)]
        kinds = [kind for kind, _ in events]
        stops = ["deny", "ask"]
        if firm in settings.ENFORCE[1:]:  # else a step that was not done is only mentioned
            stops.append("required")
        again = [item.day for item in stated if item.day > note.day and item.is_said(facts)]
        rule: Fields = {"note": note.ref, "binds": firm or "-"}
        rule["last"] = max([at[:10] for kind, at in events if kind != review.ACCEPTED], default="")
        rule.update(followed=kinds.count("followed"), stopped=sum(map(kinds.count, stops)))
        rule.update(overridden=kinds.count("log"), recurred=len(again), rule=note.description, again=again)
        rules.append(rule)
    return rules


def rules(call: Call) -> int:
    held = standing(call)
    days = [clock.parse(day + "T00:00:00Z") or 0.0 for rule in held for day in rule["again"]]
    ages = [int((call.now - day) // (7 * settings.DAY_SECONDS)) for day in days]
    weeks = [ages.count(age) for age in reversed(range(12))]
    chart = "".join("▁▂▃▄▅▆▇█"[round(number / max(weeks) * 7)] for number in weeks if any(weeks))
    after = ["", "Said again, week by week, newest last: " + chart] * bool(chart)
    waits = len(review.stated(call.dir))
    after += ["", "Stated and not reviewed: %s. See: harness memory review" % count(waits, "rule")] * bool(waits)
    head = "NOTE BINDS LAST KEPT=followed STOPPED OVERRIDDEN AGAIN=recurred" + " RULE" * (columns() >= WIDE)
    none = 'No rule here. Make one: harness memory remember "…" --enforce deny --when "command: …"'
    return call.listing(head, held, none, after=after)


def stats(call: Call) -> int:
    receipts = [load_receipt(path) for project_dir in call.dirs for path in sessions.all_directories(project_dir)]
    receipts = [each for each in receipts if each.log]
    tokens = [sum(int(entry.get("tokens") or 0) for entry in each.log) for each in receipts]
    kinds: dict[str, dict[str, int]] = {}
    for item in [item for each in receipts for item in each.items if not item.get("held")]:
        share = kinds.setdefault(item["kind"], {"injected": 0, "used": 0})
        share["injected"] += 1
        share["used"] += bool(item["used"])
    held = [] if call.all_projects else standing(call)
    sums = {key: sum(rule[key] for rule in held) for key in ("followed", "stopped", "overridden", "recurred")}
    value: Fields = {"sessions": len(receipts), "tokens_mean": round(mean(tokens or [0])), "kinds": kinds}
    value.update(rules={"held": len(held), **sums}, skills={})
    rated = [rating for path in call.dirs for rating in ratings.load(path)]
    for skill in sorted({rating["skill"] for rating in rated}):
        mine = [each for each in rated if each["skill"] == skill]
        numbers, notes = [each["rating"] for each in mine], [each["note"] for each in mine if each.get("note")]
        means = {"mean": round(mean(numbers), 2), "recent": round(mean(numbers[-settings.RECENT_RATINGS :]), 2)}
        value["skills"][skill] = {"ratings": len(mine), **means, "note": (notes or ["-"])[-1]}
    given = {_GIVEN.get(kind, kind + " recalled"): used for kind, used in kinds.items()}
    shown = {"sessions given something": len(receipts), "tokens mean": value["tokens_mean"], "given": given}
    return call.answer(value, page({**shown, "rules": value["rules"], "skills": value["skills"]}))


def rate(call: Call) -> int:
    skill = briefing.skill_name(call.skill)
    if not skill:
        raise Refusal('"%s" cannot be the name of a skill' % call.skill)
    call.prepare()
    rating = ratings.append(call.dir, call.present, skill, call.rating, brief(call.note, settings.ITEM_CHARS), call.now)
    return call.answer(rating, ["Rated /%s %d of 5." % (skill, call.rating)])
