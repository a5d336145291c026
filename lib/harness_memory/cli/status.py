"""`status`: where a project's memory stands, in one page. Nothing here writes."""

from __future__ import annotations

import os
from typing import Any

from ..memory import threads
from ..session import episode, sessions
from .call import Call
from .doctor import health_checks
from .output import count, line, local, page, some, table
from .work import open_items

_SHOWN = 4


def status(call: Call) -> int:
    project, last, checks = call.project, call.last, [*health_checks(call)]
    running = {sessions.safe_id(marker["claude_session"])[:8] for marker in sessions.live_markers(project.dir)}
    facts: dict[str, Any] = {
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "sessions": len(call.records),
        "episodes": len(episode.names(project.dir)),
        "open_threads": sum(thread.is_open for thread in threads.load(project.dir)),
        "in_progress": open_items(project.dir),
        "live": [record.brief() for record in call.records if record.id[:8] in running],
        "last": last.brief() if last else None,
        "health": [{key: getattr(check, key) for key in ("mark", "topic", "text")} for check in checks],
    }
    rows = [[each.mark, each.topic, line("; ".join(filter(None, each[1:3])))] for each in checks]
    return call.answer(facts, [*page(_shown(facts)), "", *table(rows)])


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    project, last, tasks = facts["project"], facts["last"], []
    counts = [count(facts[key], key[:-1].replace("_", " ")) for key in ("sessions", "open_threads")]
    live = ["%s since %s: %s" % (each["id"], local(each["started"]), each["status"]) for each in facts["live"]]
    for task in facts["in_progress"]:
        title = ("* BLOCKED " if task["blockers"] else "* ") + task["title"]
        tasks += [title, *some(["next: " + step for step in task["next_steps"]], 2)]
    parts = [local(last["started"]), last["id"], last["status"], last["branch"]] if last else []
    return {
        "Project": project["name"] + (" (on %s)" % project["branch"] if project["branch"] else ""),
        "Folder": project["root"],
        "Memory": facts["memory"],
        "": ", ".join(counts) if os.path.isdir(facts["memory"]) else "nothing yet: it begins with the next session",
        "Now": some(live, _SHOWN) or "no session is running here",
        "In progress": some(tasks, 3 * _SHOWN) or None,
        "Last session": [" · ".join(filter(None, parts)), last["headline"]] if last else None,
    }
