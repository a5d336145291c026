"""A project's memory in one line: how many sessions it holds and what is open."""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.text import cut, one_line

_TASKS = {"active_tasks": [{"description": "text"}]}
_TITLE_CHARS = 40
_TITLES = 2


def glance(project_dir: str) -> str:
    """As in `41 sessions here, 2 open: JWKS refresh, guest e-mail`; "" for an empty memory."""
    number = len(files.names(os.path.join(project_dir, settings.EPISODES_DIR)))
    if not number:
        return ""
    path = os.path.join(project_dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE)
    work = files.load_json(path, _TASKS) or {"active_tasks": []}
    titles = [cut(one_line(task["description"]), _TITLE_CHARS).rstrip(".") for task in work["active_tasks"]]
    line = "%d session%s here" % (number, "" if number == 1 else "s")
    if not titles:
        return line
    more = ", …" if len(titles) > _TITLES else ""
    return "%s, %d open: %s%s" % (line, len(titles), ", ".join(titles[:_TITLES]), more)
