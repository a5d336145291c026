"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..audit import trail
from ..base import clock
from ..session import episode
from .arguments import SINCE, limit, verb
from .call import Call
from .output import count, cut, local, short, table


def _events(call: Call) -> list[dict[str, Any]]:
    return [each for each in trail.events(call.project.dir) if (clock.parse(each["ts"]) or 0.0) >= (call.since or 0.0)]


@verb("audit show", limit(20), SINCE, about="the events, newest first")
def show(call: Call) -> int:
    def row(event: dict[str, Any]) -> dict[str, Any]:
        about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
        what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool")
        return {"rule": None, "session": None, **event, "what": what}

    return call.listing("#=seq TIME=ts EVENT RULE SESSION WHAT", _events(call)[::-1], row, "No event.")


@verb("audit stats", SINCE, about="count events by kind, rule and day")
def stats(call: Call) -> int:
    events = _events(call)
    counts = {
        "event": Counter(event["event"] for event in events).most_common(),
        "rule": Counter(str(event.get("rule") or "-") for event in events).most_common(),
        "day": sorted(Counter(local(event["ts"])[:10] for event in events).items()),
    }
    lines = ["%s in %s" % (count(len(events), "event"), count(len(counts["day"]), "day"))]
    for title, rows in counts.items():
        cells = [["  " + cut(name, 40), number] for name, number in rows]
        lines += ["", "By " + title, *table(cells, right=(1,))] if rows else []
    return call.answer({"events": len(events), **{"by_" + title: dict(rows) for title, rows in counts.items()}}, lines)


@verb("audit verify", about="check that the trail is as it was written; name the first line that is not")
def verify(call: Call) -> int:
    findings = trail.verify(call.project.dir, episode.audit_heads(call.project.dir))
    total = count(findings.count, "event"), count(len(trail.paths(call.project.dir)), "file")
    lines, broken = ["%s in %s, the chain is whole. Last: %s" % (*total, findings.head or "none")], None
    if findings.torn:
        lines.append("A writer was killed in mid-line %s. No recorded event is lost." % count(findings.torn, "time"))
    if findings.problem:
        broken = {"file": findings.path, "line": findings.line or None, "what": findings.problem}
        broken["remedy"] = trail.REMEDY
        where = short(findings.path) + (":%d" % findings.line if findings.line else "")
        lines = ["%s: %s.\n%s." % (where, findings.problem, trail.REMEDY)]
    value = {"is_whole": broken is None, "events": findings.count, "head": findings.head or None}
    return call.answer({**value, "torn": findings.torn, "broken": broken}, lines, 1 if broken else 0)
