"""What a person said of a thread: `STATE/threads/<thread id>.json`, a fact that the ledger derives from.

    {"schema", "thread", "at", "status": "open" | "closed" | "", "title", "dismissed": [hash of each next step]}

Closing dismisses the steps that were open then: the thread stays closed until a session leaves others.
Reopening holds until a later session of the thread leaves nothing to do. A title holds for good.
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..base.sha256 import hexdigest
from ..session.sessions import safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = "open"
CLOSED = "closed"


def directory(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR)


def path(project_dir: str, thread: str) -> str:
    return os.path.join(directory(project_dir), safe_id(thread) + ".json")


def read(project_dir: str, thread: str) -> dict[str, Any]:
    """What was said; {} when nothing was, or nobody can understand it."""
    try:
        said = jsontext.loads(files.read(path(project_dir, thread)) or b"{}")
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return {}
    return said if problem(said) == "" and said["thread"] == thread else {}


def write(project_dir: str, said: dict[str, Any]) -> None:
    data = jsontext.pretty(said).encode("utf-8", "replace")
    files.write(path(project_dir, said["thread"]), data, durable=True)


def problem(said: object) -> str:
    """What keeps a value from being such a fact; "" when nothing does."""
    if not isinstance(said, dict):
        return "not an object"
    if not isinstance(said.get("schema"), int) or said["schema"] > settings.SCHEMA:
        return "schema %r is not known to this version" % (said.get("schema"),)
    for key in ("thread", "at", "title"):
        if not isinstance(said.get(key), str):
            return '"%s" is missing or no text' % key
    if said.get("status") not in (OPEN, CLOSED, ""):
        return '"status" is neither open nor closed'
    steps = said.get("dismissed")
    is_list = isinstance(steps, list) and all(isinstance(step, str) for step in steps)
    return "" if is_list else '"dismissed" is missing or no list of texts'


def applied(thread: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """A thread as its sessions left it, with what was said of it since."""
    if not said:
        return thread
    thread = {**thread, "title": said["title"] or thread["title"]}
    if said["status"] == CLOSED and {_key(step) for step in thread["next_steps"]} <= {*said["dismissed"]}:
        thread.update(status=CLOSED, closed_at=max(said["at"], thread["last_activity"]))
    elif said["status"] == OPEN and thread["last_activity"] <= said["at"]:
        thread["status"] = OPEN
    return thread


def closing(thread: dict[str, Any], said: dict[str, Any], at: str) -> dict[str, Any]:
    return _said(thread, said, at, status=CLOSED, dismissed=[_key(step) for step in thread["next_steps"]])


def reopening(thread: dict[str, Any], said: dict[str, Any], at: str) -> dict[str, Any]:
    return _said(thread, said, max(at, thread["last_activity"]), status=OPEN, dismissed=[])


def renaming(thread: dict[str, Any], said: dict[str, Any], at: str, title: str) -> dict[str, Any]:
    return _said(thread, said, str(said.get("at") or at), title=title)


def _said(thread: dict[str, Any], said: dict[str, Any], at: str, **change: object) -> dict[str, Any]:
    blank = {"schema": settings.SCHEMA, "thread": thread["id"], "at": "", "status": "", "title": "", "dismissed": []}
    return {**blank, **said, "at": at, **change}


def _key(step: str) -> str:
    # A hash: forgetting a session leaves no word of it here.
    return hexdigest(step)[:12]
