"""`status`: where a project's memory stands, in one page. Nothing here writes."""

from __future__ import annotations

import os
from typing import Any

from ..base import settings
from ..memory import threads
from ..session import episode, liveness, sessions
from .call import Call
from .doctor import OK, health_checks
from .output import count, fit, line, local, short, some, table
from .work import open_items

_SHOWN = 4


def status(call: Call) -> int:
    project, last, checks = call.project, call.last, [*health_checks(call)]
    facts: dict[str, Any] = {
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "sessions": len(call.records),
        "episodes": len(episode.names(project.dir)),
        "open_threads": sum(thread.is_open for thread in threads.load(project.dir)),
        "in_progress": open_items(project.dir),
        "live": [_live(project.dir, marker) for marker in sessions.live_markers(project.dir)],
        "last": last.brief() if last else None,
        "health": [{key: getattr(check, key) for key in ("mark", "topic", "text")} for check in checks],
    }
    rows = [[each.mark, each.topic, line(each.text if each.mark == OK else "%s; %s" % each[2:4])] for each in checks]
    return call.answer(facts, [*_page(facts), "", *table(rows)])


def _live(project_dir: str, marker: dict[str, Any]) -> dict[str, Any]:
    """A session that has not ended."""
    session, is_dead = sessions.at_marker(project_dir, marker), liveness.is_alive(marker["process"]) is False
    meta = session.meta if session else {}
    row = {"id": sessions.safe_id(marker["claude_session"])[:8], "session_id": marker["claude_session"]}
    return {**row, "started": meta.get("started"), "status": settings.DIED if is_dead else meta.get("status")}


def _page(facts: dict[str, Any]) -> list[str]:
    project, last = facts["project"], facts["last"]
    counts = [count(facts[key], key[:-1].replace("_", " ")) for key in ("sessions", "open_threads")]
    rows = [
        ["Project", line(project["name"] + ("  (on %s)" % project["branch"] if project["branch"] else ""))],
        ["Folder", short(project["root"])],
        ["Memory", short(facts["memory"])],
        ["", ", ".join(counts) if os.path.isdir(facts["memory"]) else "nothing yet: it begins with the next session"],
    ]
    live = ["%s since %s: %s" % (one["id"], local(one["started"]), one["status"]) for one in facts["live"]]
    shown = some([*map(line, live)], _SHOWN) or ["no session is running here"]
    lines = table([*rows, *(["" if at else "Now", text] for at, text in enumerate(shown))])
    tasks = []
    for task in facts["in_progress"]:
        title = fit("  * BLOCKED " if task["blockers"] else "  * ", task["title"])
        steps = [fit("      next: ", step) for step in task["next_steps"]]
        tasks.append("\n".join([title, *some(steps, 2, "      ")]))
    lines += ["", "In progress", *some(tasks, _SHOWN, "  ")] if tasks else []
    if last:
        minutes = "" if last["minutes"] is None else "%d min" % last["minutes"]
        parts = [local(last["started"]), last["id"], last["status"], minutes, last["branch"]]
        lines += ["", "Last session", "  " + line(" · ".join(filter(None, parts)))]
        lines += [fit("  ", last["headline"])] if last["headline"] else []
    return lines
