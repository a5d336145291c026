"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from collections import Counter, deque

from ..audit import trail, verify
from ..base import clock, settings
from ..session import episode
from . import arguments
from .output import count, cut, emit_json, line, local, short, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

_LIMIT = 20
_RULES_SHOWN = 15
_DAYS_SHOWN = 14
_BAR_COLUMNS = 40


def audit(argv: list[str]) -> int:
    examples = "audit\naudit show --since 7d --event tool_blocked\naudit show --session a1b2c3d4 -n 100 --json\n"
    about = "What was stopped, asked about or changed in this project."
    actions = arguments.Actions("audit", about, examples + "audit verify\naudit stats --since 30d")
    show = actions.add("show", "the events, newest first")
    show.add_argument(
        "-n", "--limit", type=arguments.positive, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT
    )
    for parser in (show, actions.add("stats", "count events by kind, rule and day")):
        add = parser.add_argument
        add("--since", type=arguments.instant, metavar="DATE", help="since 2026-11-16, today, yesterday, 36h or 7d")
        add("--event", choices=settings.AUDIT_EVENTS, metavar="EVENT", help=", ".join(settings.AUDIT_EVENTS))
        add("--session", metavar="ID", help="only of this session: its id or the beginning of it")
    actions.add("verify", "check that the trail is as it was written; name the first line that is not")
    args = actions.parse(argv, "show")
    return {"show": _show, "verify": _verify, "stats": _stats}[args.action](arguments.locate(args).dir, args)


def _events(project_dir: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for event in trail.events(project_dir):
        is_recent = args.since is None or (clock.parse(event["ts"]) or 0.0) >= args.since
        is_meant = args.event in (None, event["event"])
        if is_recent and is_meant and str(event.get("session")).startswith(args.session or ""):
            yield event


def _nothing(args: argparse.Namespace) -> str:
    is_narrowed = (args.since, args.event, args.session) != (None, None, None)
    return "No event matches." if is_narrowed else "No event has been recorded here."


def _show(project_dir: str, args: argparse.Namespace) -> int:
    number = 0
    shown: deque[dict[str, Any]] = deque(maxlen=args.limit)
    for event in _events(project_dir, args):
        number += 1
        shown.appendleft(event)
    if args.json:
        emit_json(list(shown))
    elif shown:
        head = ["#", "TIME", "EVENT", "RULE", "SESSION", "WHAT"]
        print("\n".join(table([head, *map(_row, shown)], right=(0,), is_cut=True)))
        if number > len(shown):
            print("%d more: -n %d" % (number - len(shown), number))
    else:
        print(_nothing(args))
    return 0


def _row(event: dict[str, Any]) -> list[str]:
    about = event.get("command") or event.get("path") or ""
    why = event.get("reason") or ""
    what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool") or ""
    session = str(event.get("session") or "-")[:8]
    cells = [event["seq"], local(event["ts"]), event["event"], event.get("rule") or "-", session]
    return [*(cut(line(cell), 30) for cell in cells), line(what)]


def _verify(project_dir: str, args: argparse.Namespace) -> int:
    findings = verify.verify(project_dir, episode.audit_heads(project_dir))
    if args.json:
        broken = {"file": findings.path, "line": findings.line or None, "what": findings.problem}
        sound = {"events": findings.count, "head": findings.head or None, "torn": findings.torn}
        is_whole = not findings.problem
        emit_json({"is_whole": is_whole, **sound, "broken": None if is_whole else {**broken, "remedy": verify.REMEDY}})
    elif findings.problem:
        where = short(findings.path) + (":%d" % findings.line if findings.line else "")
        print("%s: %s.\n%s." % (where, line(findings.problem), verify.REMEDY))
    elif findings.count:
        files = count(len(trail.paths(project_dir)), "file")
        print("%s in %s, the chain is whole. Last: %s" % (count(findings.count, "event"), files, findings.head))
        if findings.torn:
            print("A writer was killed in mid-line %s. No recorded event is lost." % count(findings.torn, "time"))
    else:
        print("No event has been recorded here.")
    return 1 if findings.problem else 0


def _stats(project_dir: str, args: argparse.Namespace) -> int:
    events: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    days: Counter[str] = Counter()
    for event in _events(project_dir, args):
        events[event["event"]] += 1
        rules[str(event.get("rule") or "-")] += 1
        days[local(event["ts"])[:10]] += 1
    if args.json:
        by_day = {day: days[day] for day in sorted(days)}
        counts = {"by_event": dict(events.most_common()), "by_rule": dict(rules.most_common()), "by_day": by_day}
        emit_json({"events": sum(events.values()), **counts})
    elif events:
        lines = ["%s in %s" % (count(sum(events.values()), "event"), count(len(days), "day")), ""]
        lines += _chart("By event", events.most_common())
        lines += _chart("By rule", rules.most_common(_RULES_SHOWN), len(rules))
        lines += _chart("By day", sorted(days.items())[-_DAYS_SHOWN:], len(days))
        print("\n".join(lines[:-1]))
    else:
        print(_nothing(args))
    return 0


def _chart(title: str, counts: list[tuple[str, int]], total: int = 0) -> list[str]:
    most = max(number for _, number in counts)
    rows = [["  " + cut(line(name), 40), str(n), "#" * max(1, n * _BAR_COLUMNS // most)] for name, n in counts]
    left = ["  and %d more" % (total - len(counts))] if total > len(counts) else []
    return [title, *table(rows, right=(1,)), *left, ""]
