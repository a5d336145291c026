"""What was injected into a session: nothing is told twice, and anybody can see what was told and why.

    injected.json               {schema, own: [sessions a fork comes from], seen: [hash of each item offered],
                                 wholes: {part: hash}, profiles: [skill told of], recalled: [id handed over],
                                 items: [{item, kind, at, files, before, used, held}] to see which were of use,
                                 log: [{at, event, why, units, tokens, parts: [{name, file, lines, left_out}]}],
                                      the earliest of many as one, with their sums}
    session_memory_context.md   the same for people, with the text itself

A compaction takes everything told out of the conversation, so `forget` begins anew.
"""

from __future__ import annotations

import os

from ..base import clock, jsontext, settings
from ..base import files as store
from ..base.sha256 import hexdigest
from ..session import capture, sessions
from .compose import Part, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .compose import Injection

_TITLE = "# What Harness Memory told this session\n"
_FENCE = "~" * 12


_UNREAD = "unread"  # of what is in memory only: there is more on disk


def load(session_dir: str, *, is_needed: bool = False) -> dict[str, Any]:
    """What a session was told. Where it `is_needed`, one that merely cannot be read now is an OSError."""
    try:
        told = jsontext.loads(store.read(os.path.join(session_dir, settings.INJECTED_FILE)) or b"")
    except (OSError, ValueError) as error:
        if store.is_passing(error):
            if is_needed:
                raise
            return {**_checked({}), _UNREAD: True}
        told = {}
    return _checked(told)


def inherited(session_dir: str) -> dict[str, Any]:
    """What a fork of that session knows already; it has been told nothing itself."""
    told = load(session_dir)
    told.update(own=[*told["own"], os.path.basename(session_dir)], log=[], items=[])
    return told


def forget(told: dict[str, Any]) -> None:
    told.update(seen=[], wholes={}, profiles=[], recalled=[])


def note_offered(told: dict[str, Any], parts: list[Part]) -> None:
    """Everything offered counts as told, shown or cut: what was cut is no news next time."""
    for part in parts:
        if part.is_whole and part.lines:
            told["wholes"][part.name] = _digest(part.name, part.lines)
    keys = [_key(part, item) for part in parts if not part.is_whole for item in _items(part)]
    told["seen"] = list(dict.fromkeys([*told["seen"], *keys]))


def news(parts: list[Part], told: dict[str, Any]) -> list[Part]:
    """The parts without what the session was told before."""
    seen = set(told["seen"])
    for part in parts:
        if part.is_whole:
            part.lines = part.lines if told["wholes"].get(part.name) != _digest(part.name, part.lines) else []
        else:
            items = [item for item in _items(part) if _key(part, item) not in seen]
            part.lines = [line for item in items for line in item]
        part.missing = part.missing if part.lines else 0
    return parts


def record(
    session: Session, told: dict[str, Any], injection: Injection, event: str, why: str, now: float, files: int = 0
) -> None:
    """Remember an injection and write its receipt; the caller holds the session's lock. `files` were edited before."""
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
    told["log"] = _bounded([*told["log"], entry])
    known = {(item["item"], item["kind"]) for item in told["items"]}
    for part, count in injection.shown:
        told["items"] += [
            {"at": entry["at"], "before": files, "used": "", **item}
            for item in [*part.items, *_listed(part, count)]
            if (item["item"], item["kind"]) not in known
        ]
    save(session.dir, told)
    _write_page(os.path.join(session.dir, settings.RECEIPT_FILE), _section(entry, injection.text))


def _bounded(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A session may be told something at every prompt: all of it is read at the next one."""
    while len(log) > settings.INJECTIONS_LOGGED:
        sums = {key: sum(entry.get(key) or 0 for entry in log[:2]) for key in ("units", "tokens")}
        log[:2] = [{"at": log[0].get("at"), "event": "", "why": "earlier", **sums, "parts": []}]
    return log


def _listed(part: Part, count: int) -> list[dict[str, Any]]:
    """What the lines of a menu or an index of notes point to."""
    if part.name == "menu":
        ids = [line.partition("] ")[2].partition(":")[0] for line in part.lines[:count]]
        return [{"item": id, "kind": "menu", "files": []} for id in ids]
    if part.name != "notes":
        return []
    heads = [line.partition(".md): ")[0].rpartition("](")[2].rpartition("/")[2] for line in part.lines[:count]]
    return [{"item": slug, "kind": "index", "files": []} for slug in heads if slug]


def _write_page(path: str, section: str) -> None:
    """The page is for people: whatever is wrong with it must not keep the session from being told."""
    try:
        is_fresh = not 0 < os.lstat(path).st_size <= settings.RECEIPT_MAX_BYTES
    except OSError:
        is_fresh = True
    try:
        if not is_fresh:
            store.append_line(path, section[:-1].encode("utf-8", "replace"))
            return
    except OSError:
        pass  # no file of ours
    try:
        store.write(path, (_TITLE + section).encode("utf-8", "replace"))
    except OSError:
        pass


def save(session_dir: str, told: dict[str, Any]) -> None:
    if told.get(_UNREAD):
        return  # nothing is written over what could not be read
    data = jsontext.compact(told).encode("utf-8", "replace") + b"\n"
    store.write_if_changed(os.path.join(session_dir, settings.INJECTED_FILE), data)


def parent_of_fork(project_dir: str, now: float, silent_seconds: float) -> str:
    """The directory of the session that a fork comes from; "" when it cannot be told.

    The client does not name that session, but says how long it has been silent: it is the one
    whose transcript ended just then.
    """
    ended = now - silent_seconds
    best, distance = "", settings.FORK_TOLERANCE_SECONDS
    for directory in sessions.all_directories(project_dir)[-settings.ADOPTION_SESSIONS :]:
        last = capture.load(directory).last
        if last and abs(ended - last) < distance:
            best, distance = directory, abs(ended - last)
    return best


def _checked(told: object) -> dict[str, Any]:
    """The parts of a receipt that are what they should be, nothing else."""
    given = told if isinstance(told, dict) else {}

    def texts(key: str) -> list[str]:
        items = given.get(key)
        return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []

    wholes, log, items = given.get("wholes"), given.get("log"), given.get("items")
    return {
        "schema": settings.SCHEMA,
        "own": texts("own"),
        "seen": texts("seen"),
        "wholes": {key: text for key, text in wholes.items() if isinstance(text, str)}
        if isinstance(wholes, dict)
        else {},
        "profiles": texts("profiles"),
        "recalled": texts("recalled"),
        "items": [item for item in items if _is_item(item)] if isinstance(items, list) else [],
        "log": [entry for entry in log if _is_entry(entry)] if isinstance(log, list) else [],
    }


def _is_item(item: object) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("before"), int):
        return False
    files = item.get("files")
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        return False
    return all(isinstance(item.get(key), str) for key in ("item", "kind", "used")) and _is_flat(item, "files")


def _is_entry(entry: object) -> bool:
    parts = entry.get("parts") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(parts, list):
        return False
    if not all(isinstance(entry.get(key) or 0, int) for key in ("units", "tokens")):
        return False
    return _is_flat(entry, "parts") and all(isinstance(part, dict) and _is_flat(part) for part in parts)


def _is_flat(record: dict[str, Any], but: str = "") -> bool:
    """Whether its values are plain ones, all `but` one: what lies deeper is not ours, and would be written again."""
    return all(key == but or value is None or isinstance(value, (str, int)) for key, value in record.items())


def _items(part: Part) -> list[list[str]]:
    """A line and the indented ones that belong to it."""
    items: list[list[str]] = []
    for line in part.lines:
        if items and line.startswith("  "):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _key(part: Part, item: list[str]) -> str:
    # Without the `[project day]` an item begins with: a file touched on another day is no news.
    return _digest(part.name, [item[0].partition("] ")[2] or item[0], *item[1:]])


def _digest(name: str, lines: list[str]) -> str:
    return hexdigest("\n".join([name, *lines]))[:12]


def _section(entry: dict[str, Any], text: str) -> str:
    lines = ["", "## %s, %s (%s)" % (entry["at"], entry["event"], entry["why"]), ""]
    lines.append("About %d tokens (%d UTF-16 units)." % (entry["tokens"], entry["units"]))
    for part in entry["parts"]:
        left = ", %d left out" % part["left_out"] if part["left_out"] else ""
        origin = " from `%s`" % part["file"] if part["file"] else ""
        lines.append("- %s: %d lines%s%s" % (part["name"], part["lines"], origin, left))
    return "\n".join([*lines, "", _FENCE + "text", text.replace(_FENCE, "~~~"), _FENCE, ""])
