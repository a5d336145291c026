"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from ..audit import trail
from ..base import clock, settings
from ..session import episode
from . import arguments
from .output import count, cut, emit_json, line, local, short, table

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
    if events or args.json:
        (_show if args.action == "show" else _stats)(events, args)
    else:
        print("No event matches." if args.since or args.event or args.session else _NOTHING)
    return 0


def _show(events: list[dict[str, Any]], args: argparse.Namespace) -> None:
    shown = events[: -args.limit - 1 : -1]
    if args.json:
        emit_json(shown)
        return
    rows = [["#", "TIME", "EVENT", "RULE", "SESSION", "WHAT"]]
    for event in shown:
        about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
        what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool") or ""
        session = str(event.get("session") or "-")[:8]
        cells = [event["seq"], local(event["ts"]), event["event"], event.get("rule") or "-", session]
        rows.append([*(cut(line(cell), 30) for cell in cells), line(what)])
    print("\n".join(table(rows, right=(0,), is_cut=True)))
    if len(events) > len(shown):
        print("%d more: -n %d" % (len(events) - len(shown), len(events)))


def _stats(events: list[dict[str, Any]], args: argparse.Namespace) -> None:
    kinds = Counter(event["event"] for event in events).most_common()
    rules = Counter(str(event.get("rule") or "-") for event in events).most_common()
    days = sorted(Counter(local(event["ts"])[:10] for event in events).items())
    if args.json:
        emit_json({"events": len(events), "by_event": dict(kinds), "by_rule": dict(rules), "by_day": dict(days)})
        return
    print("%s in %s" % (count(len(events), "event"), count(len(days), "day")))
    for title, counts in (("event", kinds), ("rule", rules), ("day", days)):
        most = max(number for _, number in counts)
        rows = [["  " + cut(line(name), 40), str(n), "#" * max(1, n * 40 // most)] for name, n in counts]
        print("\n".join(["", "By " + title, *table(rows, right=(1,))]))


def _verify(project_dir: str, is_json: bool) -> int:
    findings = trail.verify(project_dir, episode.audit_heads(project_dir))
    if is_json:
        broken = {"file": findings.path, "line": findings.line or None, "what": findings.problem}
        sound = {"events": findings.count, "head": findings.head or None, "torn": findings.torn}
        wrong = {**broken, "remedy": trail.REMEDY} if findings.problem else None
        emit_json({"is_whole": wrong is None, **sound, "broken": wrong})
    elif findings.problem:
        where = short(findings.path) + (":%d" % findings.line if findings.line else "")
        print("%s: %s.\n%s." % (where, line(findings.problem), trail.REMEDY))
    elif findings.count:
        files = count(len(trail.paths(project_dir)), "file")
        print("%s in %s, the chain is whole. Last: %s" % (count(findings.count, "event"), files, findings.head))
        if findings.torn:
            print("A writer was killed in mid-line %s. No recorded event is lost." % count(findings.torn, "time"))
    else:
        print(_NOTHING)
    return 1 if findings.problem else 0
