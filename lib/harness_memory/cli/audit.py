"""`audit`: what was stopped and asked about, and whether the trail of it is whole. Nothing here writes."""

from __future__ import annotations

from collections import Counter, deque

from ..audit import trail
from ..audit import verify as chain
from ..base import clock, settings
from ..memory.checks import AUDIT_REMEDY
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
    about = (
        "What was stopped, asked about or changed in this project, newest first.\n"
        "verify tells whether the trail is as it was written, and if not, the first line that is not.\n"
        "stats counts events by kind, rule and day."
    )
    examples = "audit\naudit show --since 7d --event tool_blocked\naudit show --session a1b2c3d4 -n 100 --json"
    parser = arguments.parser("audit", about, examples + "\naudit verify\naudit stats --since 30d")
    actions = {"show": _show, "verify": _verify, "stats": _stats}
    add = parser.add_argument
    add("action", nargs="?", choices=list(actions), default="show")
    add("--since", type=arguments.instant, metavar="DATE", help="since 2026-11-16, today, yesterday, 36h or 7d")
    add("--event", choices=settings.AUDIT_EVENTS, metavar="EVENT", help="one of: " + ", ".join(settings.AUDIT_EVENTS))
    add("--session", metavar="ID", help="only of this session: its id or the beginning of it")
    add(
        "-n",
        "--limit",
        type=arguments.positive,
        default=_LIMIT,
        metavar="N",
        help="show: at most N (default: %d)" % _LIMIT,
    )
    args = parser.parse_args(argv)
    return actions[args.action](arguments.locate(args).dir, args)


def _wanted(project_dir: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for event in trail.events(project_dir):
        is_recent = args.since is None or (clock.parse(event["ts"]) or 0.0) >= args.since
        is_meant = args.event in (None, event["event"])
        if is_recent and is_meant and str(event.get("session")).startswith(args.session or ""):
            yield event


def _nothing(args: argparse.Namespace) -> str:
    is_narrowed = (args.since, args.event, args.session) != (None, None, None)
    return "No event%s." % (" matches" if is_narrowed else " has been recorded here")


# show --------------------------------------------------------------------------------------------


def _show(project_dir: str, args: argparse.Namespace) -> int:
    number = 0
    shown: deque[dict[str, Any]] = deque(maxlen=args.limit)
    for event in _wanted(project_dir, args):
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


# verify ------------------------------------------------------------------------------------------


def _verify(project_dir: str, args: argparse.Namespace) -> int:
    found = chain.verify(project_dir)
    if args.json:
        emit_json(_as_json(found))
    elif found.broken:
        where = short(found.broken.path) + (":%d" % found.broken.line if found.broken.line else "")
        print("%s %s." % (where, line(found.broken.what)))
        print("%s: %s." % (found.broken.kind.capitalize(), AUDIT_REMEDY))
    elif found.count:
        files = count(len(trail.files(project_dir)), "file")
        print("%s in %s, the chain is whole. Last: %s" % (count(found.count, "event"), files, found.head))
        if found.torn:
            print("A writer was killed in mid-line %s; no recorded event is concerned." % count(found.torn, "time"))
    else:
        print("No event has been recorded here.")
    return 1 if found.broken else 0


def _as_json(found: chain.Findings) -> dict[str, Any]:
    broken = found.broken and {
        "file": found.broken.path,
        "line": found.broken.line or None,
        "kind": found.broken.kind,
        "what": found.broken.what,
        "remedy": AUDIT_REMEDY,
    }
    sound = {"is_whole": not broken, "events": found.count, "head": found.head or None, "torn": found.torn}
    return {**sound, "broken": broken}


# stats -------------------------------------------------------------------------------------------


def _stats(project_dir: str, args: argparse.Namespace) -> int:
    events: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    days: Counter[str] = Counter()
    for event in _wanted(project_dir, args):
        events[event["event"]] += 1
        rules[str(event.get("rule") or "-")] += 1
        days[local(event["ts"])[:10]] += 1
    if args.json:
        by_day = {day: days[day] for day in sorted(days)}
        counts = {"by_event": dict(events.most_common()), "by_rule": dict(rules.most_common()), "by_day": by_day}
        emit_json({"events": sum(events.values()), **counts})
        return 0
    if not events:
        print(_nothing(args))
        return 0
    lines = ["%s in %s" % (count(sum(events.values()), "event"), count(len(days), "day")), ""]
    lines += _chart("By event", events.most_common())
    lines += _chart("By rule", rules.most_common(_RULES_SHOWN), len(rules))
    lines += _chart("By day", sorted(days.items())[-_DAYS_SHOWN:], len(days))
    print("\n".join(lines[:-1]))
    return 0


def _chart(title: str, counts: list[tuple[str, int]], total: int = 0) -> list[str]:
    most = max(number for _, number in counts)
    rows = [["  " + cut(line(name), 40), str(n), "#" * max(1, n * _BAR_COLUMNS // most)] for name, n in counts]
    left = ["  and %d more" % (total - len(counts))] if total > len(counts) else []
    return [title, *table(rows, right=(1,)), *left, ""]
