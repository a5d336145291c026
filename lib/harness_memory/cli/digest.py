"""`digest`: what was done, decided and left open, over all projects, by day; Markdown for a stand-up."""

from __future__ import annotations

import time
from typing import Any

from ..base import clock, settings
from ..memory import records
from .call import Call, project_name
from .output import count, line, local
from .work import open_items

_KEYS = ("decisions", "files_changed", "commits")


def digest(call: Call) -> int:
    year, month, day, *_ = time.localtime(call.now)
    midnight = time.mktime((year, month, day - (6 if call.week else 1), 0, 0, 0, 0, 0, -1))
    begin = call.day or call.since or midnight
    end = begin + settings.DAY_SECONDS if call.day else call.now + 1
    dirs = call.all_dirs if call.folder is None else [call.project.dir]
    every = [record for path in dirs for record in records.load_all(path)]
    every = [each for each in every if (clock.parse(each.started) or 0.0) < end and begin <= each.seen < end]
    rows = [_row(each) for each in every if each.headline]  # without one, nothing was asked
    rows.sort(key=lambda row: (row["day"], row["project"], row["started"]), reverse=True)
    left = [work for path in dirs for work in open_items(path)]
    left = [work for work in left if begin <= (clock.parse(work["last_activity"]) or 0.0) < end]
    first, last = (time.strftime("%Y-%m-%d", time.localtime(instant)) for instant in (begin, end - 1))
    return call.answer({"since": first, "until": last, "sessions": rows, "open": left}, _page(first, last, rows, left))


def _row(record: records.Record) -> dict[str, Any]:
    """What `list` says of a session, and what a report adds."""
    row, value = record.brief(), record.episode or {}
    row.update({key: value.get(key) or [] for key in _KEYS}, project=row["name"], minutes=row["minutes"] or 0)
    return {**row, "outcome": record.state, "day": local(clock.iso(record.seen))[:10]}


def _page(first: str, last: str, rows: list[dict[str, Any]], left: list[dict[str, Any]]) -> list[str]:
    lines = ["# What was done, %s" % (first if first == last else "%s to %s" % (first, last)), ""]
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
        commits = [line(each)[:60] for each in row["commits"][:3] if each != row["headline"]]
        facts += ["commits %s" % ", ".join(commits)] if commits else []
        about = ", ".join(filter(None, facts))
        lines.append("- %s%s" % (line(row["headline"]), " (%s)" % about if about else ""))
        decided = [line(each) for each in row["decisions"] if each != row["headline"]]
        lines += ["  - " + (text if text.startswith("Decided") else "decided: " + text) for text in decided]
    lines += ["", "## Still open", ""] if left else []
    for work in left:
        blocked = " (blocked: %s)" % "; ".join(map(line, work["blockers"])) if work["blockers"] else ""
        lines.append("- **%s**: %s%s" % (line(project_name(work["project"])), line(work["title"]), blocked))
        lines += ["  - [ ] %s" % line(step) for step in work["next_steps"]]
    return lines
