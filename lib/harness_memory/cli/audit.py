"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from typing import Any

from ..audit import trail
from ..base import clock
from ..session import episode
from .call import Call


def show(call: Call) -> int:
    events = [*trail.events(call.project.dir)][::-1]
    events = [event for event in events if (clock.parse(event["ts"]) or 0.0) >= (call.since or 0.0)]

    def row(event: dict[str, Any]) -> dict[str, Any]:
        about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
        what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool")
        return {"rule": None, "session": None, **event, "what": what, "id": str(event.get("session") or "")[:8]}

    return call.listing("#=seq TIME=ts EVENT RULE SESSION=id WHAT", events, row, "No event.")


def verify(call: Call) -> int:
    findings, broken = trail.verify(call.project.dir, episode.audit_heads(call.project.dir)), None
    if findings.problem:
        broken = {"file": findings.path, "line": findings.line, "what": findings.problem, "remedy": trail.REMEDY}
    value = {"chain": "broken" if broken else "whole", "events": findings.count, "head": findings.head or None}
    # A writer that was killed left part of a line; no recorded event is lost by it.
    return call.answer({**value, "torn_lines": findings.torn, "broken": broken}, code=1 if broken else 0)
