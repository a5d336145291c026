"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from typing import Any

from ..audit import trail
from ..base import clock
from ..session import episode
from .call import Call
from .output import count, short


def show(call: Call) -> int:
    events = [*trail.events(call.project.dir)][::-1]
    events = [event for event in events if (clock.parse(event["ts"]) or 0.0) >= (call.since or 0.0)]

    def row(event: dict[str, Any]) -> dict[str, Any]:
        about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
        what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool")
        return {"rule": None, "session": None, **event, "what": what, "id": str(event.get("session") or "")[:8]}

    return call.listing("#=seq TIME=ts EVENT RULE SESSION=id WHAT", events, row, "No event.")


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
