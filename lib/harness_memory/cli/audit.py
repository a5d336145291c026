"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..audit import trail
from ..base import clock, settings
from ..session import episode
from . import arguments
from .output import answer, count, cut, listing, local, short, table

_NOTHING = "No event has been recorded here."


def audit(argv: list[str]) -> int:
    examples = "audit\naudit show --since 7d --event tool_blocked\naudit show --session a1b2c3d4 -n 100 --json\n"
    about = "What was stopped, asked about or changed in this project."
    actions = arguments.Actions("audit", about, examples + "audit verify\naudit stats --since 30d")
    show = actions.add("show", "the events, newest first")
    show.add_argument("-n", "--limit", type=arguments.positive, default=20, metavar="N", help="at most N (default: 20)")
    for parser in (show, actions.add("stats", "count events by kind, rule and day")):
        add = parser.add_argument
        add("--since", type=arguments.instant, metavar="DATE", help="since 2026-11-16, today, yesterday, 36h or 7d")
        add("--event", choices=settings.AUDIT_EVENTS, metavar="EVENT", help=", ".join(settings.AUDIT_EVENTS))
        add("--session", metavar="ID", help="only of this session: its id or the beginning of it")
    actions.add("verify", "check that the trail is as it was written; name the first line that is not")
    args = actions.parse(argv, "show")
    project_dir = arguments.locate(args).dir
    if args.action == "verify":
        return _verify(project_dir, args.json)
    events = [
        event
        for event in trail.events(project_dir)
        if (args.since is None or (clock.parse(event["ts"]) or 0.0) >= args.since)
        and args.event in (None, event["event"])
        and str(event.get("session")).startswith(args.session or "")
    ]
    if args.action == "stats":
        return _stats(events, args.json)
    is_narrowed = args.since or args.event or args.session
    head = "# TIME EVENT RULE SESSION WHAT"
    return listing(args, head, events[::-1], _row, "No event matches." if is_narrowed else _NOTHING)


def _row(event: dict[str, Any]) -> tuple[Any, list[Any]]:
    about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
    what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool") or ""
    session = str(event.get("session") or "")[:8]
    return event, [event["seq"], local(event["ts"]), event["event"], event.get("rule"), session, what]


def _stats(events: list[dict[str, Any]], is_json: bool) -> int:
    counts = {
        "event": Counter(event["event"] for event in events).most_common(),
        "rule": Counter(str(event.get("rule") or "-") for event in events).most_common(),
        "day": sorted(Counter(local(event["ts"])[:10] for event in events).items()),
    }
    lines = ["%s in %s" % (count(len(events), "event"), count(len(counts["day"]), "day"))]
    for title, rows in counts.items():
        lines += ["", "By " + title, *table([["  " + cut(name, 40), number] for name, number in rows], right=(1,))]
    by = {"by_" + title: dict(rows) for title, rows in counts.items()}
    return answer(is_json, {"events": len(events), **by}, lines if events else [_NOTHING])


def _verify(project_dir: str, is_json: bool) -> int:
    findings = trail.verify(project_dir, episode.audit_heads(project_dir))
    files, events = count(len(trail.paths(project_dir)), "file"), count(findings.count, "event")
    lines = ["%s in %s, the chain is whole. Last: %s" % (events, files, findings.head)]
    if findings.torn:
        lines.append("A writer was killed in mid-line %s. No recorded event is lost." % count(findings.torn, "time"))
    broken = None
    if findings.problem:
        broken = {"file": findings.path, "line": findings.line or None, "what": findings.problem}
        broken["remedy"] = trail.REMEDY
        where = short(findings.path) + (":%d" % findings.line if findings.line else "")
        lines = ["%s: %s.\n%s." % (where, findings.problem, trail.REMEDY)]
    sound = {"events": findings.count, "head": findings.head or None, "torn": findings.torn}
    lines = lines if findings.count or broken else [_NOTHING]
    answer(is_json, {"is_whole": broken is None, **sound, "broken": broken}, lines)
    return 1 if broken else 0
