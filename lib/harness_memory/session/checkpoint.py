"""Checkpoints: what the agent says itself about a piece of work, and how they are archived.

Two forms are read, and become the flat one: {"self_report": {"is_job_complete", "category"}, "reflection":
{"what_was_done", "what_remains", "key_insight", "search_terms"}}, and {"what_was_done", "what_remains", "outcome",
"files_changed", "skill_used", "tags", "learnings", "task": {"id", "title", "remaining", "blockers"}, "rating"}.

A file `completion-checkpoint*.json` in the project's `.claude/` counts if the session's transcript shows its writing
and git does not track it: a repository has no say in a memory, and what it brings stays where it is. The file is
claimed by renaming it there (atomic: one session gets it, once), then written redacted to the session's `artifacts/`,
and removed when the session's episode has it. A process killed in between leaves the claim, which the next run
completes; the name in `artifacts/` comes from the content, so that completing it twice changes nothing.
"""

from __future__ import annotations

import os
import stat
import time

from ..base import clock, files, health, jsontext, settings
from ..base.redact import redact, redact_tree
from ..base.text import brief, clean, hexdigest, passage
from ..base.typing import Any
from ..project import Context, git
from .capture import Capture
from .sessions import Session

_INDEX_MAX_BYTES = 256 * 1024 * 1024  # a million files
_LISTS = ("what_remains", "files_changed", "learnings")
FIELDS = ("what_was_done", *_LISTS, "skill_used", "outcome", "tags", "task", "rating")
_NOTHING = ("", "none", "nothing", "n/a", "na", "-", "no", "nil", "null", "nothing remains")


def normalize(value: object) -> dict[str, Any] | None:
    """The flat, redacted, cut form of a checkpoint; None when it is not one."""
    if not isinstance(value, dict):
        return None
    flat = {key: value[key] for key in FIELDS if value.get(key) not in (None, "", [], {})}
    report, reflection, task = (
        each if isinstance(each, dict) else {} for each in map(value.get, ("self_report", "reflection", "task"))
    )
    if report or reflection:
        is_complete = report.get("is_job_complete")
        outcome = "" if is_complete is None else "completed" if is_complete else "partial"
        tags = _items(reflection.get("search_terms")) + _items(report.get("category"))
        flat = {**reflection, "learnings": reflection.get("key_insight"), "tags": tags, "outcome": outcome, **flat}
    if not flat:
        return None
    rating = flat.get("rating")
    task = {
        "id": brief(_text(task.get("id")) or _text(task.get("title")), 80),
        "title": brief(_text(task.get("title")), settings.SUMMARY_LINE_CHARS),
        "remaining": _items(task["remaining"])[: settings.REMAINS_ITEMS] if "remaining" in task else None,
        "blockers": _items(task.get("blockers"))[: settings.REMAINS_ITEMS],
    }
    return {
        "what_was_done": passage(_text(flat.get("what_was_done")), settings.DONE_CHARS),
        **{key: _items(flat.get(key)) for key in _LISTS},
        "skill_used": brief(_text(flat.get("skill_used")), settings.SKILL_CHARS),
        "outcome": brief(_text(flat.get("outcome")), 40),
        "tags": [brief(tag, 60) for tag in _items(flat.get("tags"))],
        "task": task if task["id"] else None,
        "rating": rating if isinstance(rating, (int, float)) and abs(rating) < 1000 else None,
    }


def _items(value: object) -> list[str]:
    if isinstance(value, str):
        value = [part.strip().lstrip("-*• ").strip() for part in value.split("\n")]
    value = value if isinstance(value, (list, tuple)) else ()
    items = [brief(_text(item), settings.ITEM_CHARS) for item in value[: settings.REMAINS_ITEMS * 4]]
    return [item for item in items if item.lower().rstrip(".") not in _NOTHING][: settings.FILES_IN_EPISODE]


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "\n".join(_text(item) for item in value[:50] if not isinstance(item, (list, tuple)))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return clean(str(value) if is_number else value, settings.TEXT_FIELD_MAX_CHARS)


def save(artifacts: str, value: object, now: float) -> str:
    """Archive one checkpoint, or the text of a malformed one; returns the artifact's name."""
    suffix = settings.MALFORMED_SUFFIX if isinstance(value, str) else ".json"
    text = redact(value) if isinstance(value, str) else jsontext.pretty(redact_tree(value))
    name = "%s%s-%s%s" % (settings.ARTIFACT_PREFIX, clock.stamp(clock.fine_iso(now)), hexdigest(text)[:8], suffix)
    files.write(os.path.join(artifacts, name), text, durable=True)
    return name


def collect(context: Context, session: Session, state: Capture) -> list[str]:
    """Archive a session's checkpoints and take them into `state`; the claims, to be removed after the episode."""
    claims = []
    for path in context.checkpoints():
        name = os.path.basename(path)
        is_claim = name.endswith(settings.CLAIM_SUFFIX) and name.split(".")[-3:-2] == [session.id]
        if (is_claim or name in state.reports) and not is_tracked(path):
            path = path if is_claim else claim(path, session.id)
            claims += [path] if path and _archive(path, session, state.since, context.store_root) else []
            state.reports = [report for report in state.reports if report != name]
    names = [name for name in files.names(session.artifacts) if name.startswith(settings.ARTIFACT_PREFIX)]
    known, folder = state.checkpoints, session.artifacts
    newest = sorted({*known, *names})[-20:]
    points = {name: known.get(name) or normalize(files.load_json(os.path.join(folder, name))) for name in newest}
    state.checkpoints = {name: point for name, point in points.items() if point}
    return claims


def is_tracked(path: str) -> bool:
    """Whether its name is in the index of its repository, which others may have written; also if that is not known."""
    try:
        repo = git.find(os.path.dirname(path))[1]
        paths = [os.path.join(repo.git_dir, name) for name in files.names(repo.git_dir)] if repo else []
        paths = [each for each in paths if os.path.basename(each).partition(".")[0] in ("index", "sharedindex")]
        data = b"".join([files.read(each, _INDEX_MAX_BYTES) or b"" for each in paths])
    except OSError:
        return True
    name = os.path.basename(path).encode("utf-8", "surrogateescape")
    # Version 4 leaves out what a name has in common with the one before it.
    return (name if data[7:8] != b"\4" else b"-checkpoint") in data


def _archive(path: str, session: Session, since: float, root: str) -> bool:
    """Keep a claimed checkpoint, unless it was written before `since`; whether its file may go."""
    try:
        data, written = files.read(path, settings.CHECKPOINT_MAX_BYTES), files.modified(path)
    except OSError:
        return False
    if data is None or written < since:
        return data is not None
    try:
        value = redact_tree(jsontext.loads(data))  # which refuses what is nested too deeply
    except ValueError:
        value = None
    is_whole = normalize(value) is not None
    name = save(session.artifacts, value if is_whole else data.decode("utf-8", "replace"), written)
    if not is_whole:
        health.note_failure(root, "checkpoint", "malformed checkpoint: kept as %s/%s" % (session.artifacts, name))
    return True


def claim(path: str, short_id: str) -> str:
    """Rename to `<file>.<short id>.<nanoseconds>.claimed`; "" if that fails or it is not a plain file of ours."""
    try:
        info = os.lstat(path)
        is_plain = stat.S_ISREG(info.st_mode) and info.st_nlink == 1 and info.st_size <= settings.CHECKPOINT_MAX_BYTES
        if not is_plain or not files.is_trusted(info.st_uid, os.path.dirname(path)):
            return ""  # `doctor` names it
        claimed = "%s.%s.%d%s" % (path, short_id, time.time_ns(), settings.CLAIM_SUFFIX)
        os.rename(path, claimed)
    except OSError:
        return ""  # another session was quicker, or the folder is read-only
    return claimed
