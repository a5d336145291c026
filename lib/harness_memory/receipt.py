"""What was injected into a session: nothing is told twice, and anybody can see what was told and why.

    injected.json               {schema, own: [sessions a fork comes from], seen: [hash of each line told],
                                 profiles: [skill told of],
                                 log: [{at, event, why, units, tokens, parts: [{name, file, lines, left_out}]}]}
    session_memory_context.md   the same for people, with the text itself

A compaction takes everything told out of the conversation, so `forget` begins anew.
"""

from __future__ import annotations

import os

from . import clock, jsontext, settings, store
from . import session as sessions
from .digest import hexdigest
from .inject import Part, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .inject import Injection
    from .session import Session

_TITLE = "# What Harness Memory told this session\n"


def load(session_dir: str) -> dict[str, Any]:
    try:
        told = jsontext.loads(store.read(os.path.join(session_dir, settings.INJECTED_FILE)) or b"")
    except (OSError, ValueError):
        told = None
    fresh: dict[str, Any] = {"schema": settings.SCHEMA, "own": [], "seen": [], "profiles": [], "log": []}
    told = {**fresh, **told} if isinstance(told, dict) else fresh
    return told if all(isinstance(told[key], type(value)) for key, value in fresh.items()) else fresh


def forget(told: dict[str, Any]) -> None:
    told.update(seen=[], profiles=[])


def note_seen(told: dict[str, Any], injection: Injection) -> None:
    keys = [_key(part, line) for part, count in injection.shown for line in part.lines[:count]]
    told["seen"] = list(dict.fromkeys([*told["seen"], *keys]))


def news(parts: list[Part], told: dict[str, Any]) -> list[Part]:
    """The parts without what the session was told before."""
    seen = set(told["seen"])
    for part in parts:
        if part.is_whole:
            part.lines = part.lines if any(_key(part, line) not in seen for line in part.lines) else []
        else:
            part.lines = [line for line in part.lines if _key(part, line) not in seen]
    return parts


def record(session: Session, told: dict[str, Any], injection: Injection, event: str, why: str, now: float) -> None:
    """Remember an injection and write its receipt; the caller holds the session's lock."""
    entry = {
        "at": clock.iso(now),
        "event": event,
        "why": why,
        "units": injection.units,
        "tokens": injection.tokens,
        "parts": [
            {"name": part.name, "file": part.source, "lines": count, "left_out": left_out(part, count)}
            for part, count in injection.shown
        ],
    }
    told["log"].append(entry)
    save(session.dir, told)
    path = os.path.join(session.dir, settings.RECEIPT_FILE)
    page = (store.read_text(path) or _TITLE) + _section(entry, injection.text)
    store.write(path, page.encode("utf-8", "replace"))


def save(session_dir: str, told: dict[str, Any]) -> None:
    store.write_if_changed(
        os.path.join(session_dir, settings.INJECTED_FILE), jsontext.pretty(told).encode("utf-8", "replace")
    )


def parent_of_fork(project_dir: str, now: float, silent_seconds: float) -> str:
    """The directory of the session that a fork comes from; "" when it cannot be told.

    The client does not name that session, but says how long it has been silent: it is the one
    whose transcript ended just then.
    """
    ended = now - silent_seconds
    best, distance = "", settings.FORK_TOLERANCE_SECONDS
    for directory in sessions.all_directories(project_dir)[-settings.ADOPTION_SESSIONS :]:
        last = (sessions.read_capture(directory) or {}).get("last")
        if last and abs(ended - last) < distance:
            best, distance = directory, abs(ended - last)
    return best


def _key(part: Part, line: str) -> str:
    return hexdigest(part.name + " " + line)[:12]


def _section(entry: dict[str, Any], text: str) -> str:
    lines = ["", "## %s, %s (%s)" % (entry["at"], entry["event"], entry["why"]), ""]
    lines.append("About %d tokens (%d UTF-16 units)." % (entry["tokens"], entry["units"]))
    for part in entry["parts"]:
        left = ", %d left out" % part["left_out"] if part["left_out"] else ""
        origin = " from `%s`" % part["file"] if part["file"] else ""
        lines.append("- %s: %d lines%s%s" % (part["name"], part["lines"], origin, left))
    return "\n".join([*lines, "", "~~~~text", text.replace("~~~~", "~~~"), "~~~~", ""])
