"""`digest`: what was done, decided and left open, over all projects, by day; Markdown for a stand-up."""

from __future__ import annotations

import os
import time
from typing import Any

from ..base import clock, settings
from ..memory import records, tasks, threads, views
from . import arguments
from .output import answer, count, line, local


def digest(argv: list[str]) -> int:
    about = "What was done, decided and left open, over all projects, the newest day first, as Markdown.\n"
    about += "Without an option: yesterday and today."
    parser = arguments.parser("digest", about, "digest\ndigest --week\ndigest --since 2026-11-01 --project . --json")
    when = parser.add_mutually_exclusive_group()
    instant = arguments.instant
    when.add_argument("--day", nargs="?", const="today", type=instant, metavar="DATE", help="one day (default: today)")
    when.add_argument("--week", action="store_const", const=_midnight(6), dest="since", help="the last seven days")
    when.add_argument("--since", type=instant, metavar="DATE", help="since 2026-11-16, yesterday, 36h or 7d")
    args = parser.parse_args(argv)
    begin = args.day or args.since or _midnight(1)
    end = begin + settings.DAY_SECONDS if args.day else time.time() + 1
    dirs = [arguments.locate(args).dir] if args.project is not None else arguments.all_dirs()
    rows = [row for path in dirs for row in _sessions(path, begin, end)]
    rows.sort(key=lambda row: (row["day"], row["project"], row["started"]), reverse=True)
    left = [work for path in dirs for work in _open(path, begin, end)]
    first, last = (time.strftime("%Y-%m-%d", time.localtime(instant)) for instant in (begin, end - 1))
    value = {"since": first, "until": last, "sessions": rows, "open": left}
    return answer(args.json, value, _page(value))


def _midnight(days: int) -> float:
    year, month, day, *_ = time.localtime()
    return time.mktime((year, month, day - days, 0, 0, 0, 0, 0, -1))


def _sessions(project_dir: str, begin: float, end: float) -> list[dict[str, Any]]:
    rows = []
    for record in records.load_all(project_dir):
        if (clock.parse(record.started) or 0.0) >= end or not begin <= record.seen < end or not record.headline:
            continue  # of another time, or nothing was asked
        value = record.episode or {}
        row = {key: value.get(key) or [] for key in ("decisions", "files_changed", "commits")}
        row.update(id=record.id, project=arguments.project_name(project_dir), headline=record.headline)
        row.update(day=local(clock.iso(record.seen))[:10], started=record.started, branch=record.branch)
        row.update(minutes=value.get("duration_minutes") or 0, outcome=record.end)
        rows.append(row)
    return rows


def _open(project_dir: str, begin: float, end: float) -> list[dict[str, Any]]:
    every = views.open_work([*tasks.load(project_dir).values()], threads.load(project_dir))
    shown = [work for work in every if begin <= (clock.parse(work.last_activity) or 0.0) < end]
    project = os.path.basename(project_dir).rpartition("-")[0]
    keys = ("id", "title", "next_steps", "blockers")
    return [{"project": project, **{key: getattr(work, key) for key in keys}} for work in shown]


def _page(value: dict[str, Any]) -> list[str]:
    rows, left = value["sessions"], value["open"]
    days = value["since"] if value["since"] == value["until"] else "%(since)s to %(until)s" % value
    lines = ["# What was done, %s" % days, ""]
    if not rows:
        return [*lines, "No session."]
    minutes, projects = sum(row["minutes"] for row in rows), len({row["project"] for row in rows})
    spent = "%d min" % minutes if minutes < 100 else "%.1f hours" % (minutes / 60)
    lines.append("%s in %s, %s of work" % (count(len(rows), "session"), count(projects, "project"), spent))
    place = ("", "")
    for row in rows:
        if row["day"] != place[0]:
            lines += ["", "## %s" % row["day"]]
        if (row["day"], row["project"]) != place:
            lines += ["", "**%s**" % line(row["project"]), ""]
        place = row["day"], row["project"]
        end = "" if row["outcome"] == settings.COMPLETED else row["outcome"]
        facts = [end, "%d min" % row["minutes"] if row["minutes"] else "", line(row["branch"])]
        commits = [_text(each)[:60] for each in row["commits"][:3] if _text(each) != line(row["headline"])]
        facts += ["commits %s" % ", ".join(commits)] if commits else []
        lines.append("- %s (%s)" % (line(row["headline"]), ", ".join(filter(None, facts))))
        lines += ["  - decided: %s" % _text(each) for each in row["decisions"]]
    lines += ["", "## Still open", ""] if left else []
    for work in left:
        blocked = " (blocked: %s)" % "; ".join(map(line, work["blockers"])) if work["blockers"] else ""
        lines.append("- **%s**: %s%s" % (line(work["project"]), line(work["title"]), blocked))
        lines += ["  - [ ] %s" % line(step) for step in work["next_steps"]]
    return lines


def _text(value: object) -> str:
    """A decision or commit: a text, or an object whose texts say it."""
    parts = [each for each in value.values() if isinstance(each, str)] if isinstance(value, dict) else [value]
    return line(": ".join(map(str, parts)))
