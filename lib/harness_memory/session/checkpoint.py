"""Checkpoints: what the agent says itself about a piece of work, and how they are archived.

Two forms are read. Nested:

    {"self_report": {"is_job_complete": true, "category": …},
     "reflection": {"what_was_done", "what_remains", "key_insight", "search_terms"}}

and flat: {"what_was_done", "what_remains", "files_changed", "skill_used", "outcome", "tags",
"learnings", "task": {"id", "title", "remaining", "blockers"}, "rating"}. Both become the flat form.

A file `completion-checkpoint*.json` in the project's `.claude/` is claimed by renaming it there
(atomic, so that one session gets it, once), then written redacted to the session's `artifacts/`, and
removed when the session's episode has it. A process killed in between leaves the claim, which the next
run completes; the name in `artifacts/` comes from the content, so completing it twice changes nothing.
"""

from __future__ import annotations

import os
import stat
import time

from ..base import clock, files, health, jsontext, settings
from ..base.redact import redact, redact_tree
from ..base.sha256 import hexdigest
from ..base.text import brief, clean, passage
from . import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..project.context import Context
    from .sessions import Session
    from .tombstones import Sieve

_KNOWN = (
    "what_was_done",
    "what_remains",
    "files_changed",
    "skill_used",
    "outcome",
    "tags",
    "learnings",
    "task",
    "rating",
)
_NOTHING = ("", "none", "nothing", "n/a", "na", "-", "no", "nil", "null", "nothing remains")


def normalize(value: object) -> dict[str, Any] | None:
    """The flat, redacted, cut form of a checkpoint; None when it is not one."""
    if not isinstance(value, dict):
        return None
    report, reflection = value.get("self_report"), value.get("reflection")
    flat = {key: value[key] for key in _KNOWN if value.get(key) not in (None, "", [], {})}
    if isinstance(report, dict) or isinstance(reflection, dict):
        flat = {**_from_nested(report, reflection), **flat}
    if not flat:
        return None
    task = flat.get("task")
    return {
        "what_was_done": passage(_text(flat.get("what_was_done")), settings.DONE_CHARS),
        "what_remains": _items(flat.get("what_remains")),
        "files_changed": _items(flat.get("files_changed")),
        "skill_used": brief(_text(flat.get("skill_used")), settings.SKILL_CHARS),
        "outcome": brief(_text(flat.get("outcome")), 40),
        "tags": [brief(tag, 60) for tag in _items(flat.get("tags"))],
        "learnings": _items(flat.get("learnings")),
        "task": _task(task) if isinstance(task, dict) else None,
        "rating": _rating(flat.get("rating")),
    }


def collect(
    place: Context, session: Session, is_mine: Callable[[str, dict[str, Any]], bool], sieve: Sieve | None
) -> list[str]:
    """Archive the checkpoint files of one session from the project's `.claude` folders, as far as there is time.

    Returns the claims, to be removed when nothing more can be lost with them.
    """
    root, done = place.store_root, []
    for folder in place.folders:
        for name in files.names(folder):
            if not name.startswith(settings.CHECKPOINT_PREFIX) or place.left() <= 0:
                continue
            path = os.path.join(folder, name)
            if claim_owner(name) != session.id:
                is_free = name.endswith(settings.CHECKPOINT_SUFFIX)
                path = claim(path, session.id, root) if is_free and is_mine(path, peek(path)) else ""
            if path and _archive(path, session, root, sieve):
                done.append(path)
    return done


def is_any_left(folders: list[str]) -> bool:
    """Whether an unclaimed checkpoint file lies in one of these folders."""
    names = [name for folder in folders for name in files.names(folder)]
    return any(
        name.startswith(settings.CHECKPOINT_PREFIX) and name.endswith(settings.CHECKPOINT_SUFFIX) for name in names
    )


def save(artifacts: str, value: object, now: float) -> str:
    """Write one checkpoint given directly (the command line); returns the artifact's name."""
    text = jsontext.pretty(redact_tree(value))
    name = _artifact_name(now, text)
    files.write(os.path.join(artifacts, name), text.encode("utf-8", "replace"), durable=True)
    return name


def merge(artifacts: str, known: dict[str, Any]) -> None:
    """Take archived checkpoints that `known` lacks into it; of earlier ones the words stay in the artifact alone."""
    archived = [
        name
        for name in files.names(artifacts)
        if name.startswith(settings.ARTIFACT_PREFIX) and name.endswith(settings.CHECKPOINT_SUFFIX)
    ]
    kept = sorted({*known, *archived})[-settings.CHECKPOINTS_KEPT :]
    for name in [name for name in known if name not in kept]:
        del known[name]
    for name in [name for name in kept if name not in known]:
        try:
            value = jsontext.loads(files.read(os.path.join(artifacts, name)) or b"")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and not isinstance(error, files.Unreadable):
                continue  # the next run may be able to read it
            value = None
        known[name] = normalize(value) or {}


def peek(path: str) -> dict[str, Any]:
    """What an unclaimed checkpoint file says, for finding its owner; {} when it says nothing that can be understood."""
    try:
        value = jsontext.loads(files.read(path, settings.CHECKPOINT_MAX_BYTES) or b"")
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise  # it may name another session
        return {}
    return value if isinstance(value, dict) else {}


def pid_in_name(path: str) -> int:
    middle = os.path.basename(path)[len(settings.CHECKPOINT_PREFIX) : -len(settings.CHECKPOINT_SUFFIX)].strip(".-_")
    return int(middle) if middle.isascii() and middle.isdigit() and len(middle) < 10 else 0


def fingerprint(path: str) -> str:
    """A name for a checkpoint file that no known session wrote."""
    return hexdigest("%s %r" % (os.path.basename(_unclaimed(path)), peek(path)))[:12]


def claim_owner(name: str) -> str:
    """The short id in `<file>.<short id>.<nanoseconds>.claimed`; "" for other names."""
    parts = name.split(".")
    return parts[-3] if name.endswith(settings.CLAIM_SUFFIX) and len(parts) > 3 else ""


def is_stale_claim(name: str, now: float) -> bool:
    stamp = name.split(".")[-2] if claim_owner(name) else ""
    return stamp.isdecimal() and abs(now - int(stamp) / 1e9) > settings.CLAIM_STALE_SECONDS


def _unclaimed(path: str) -> str:
    """What a claimed file was called before."""
    return path.rsplit(".", 3)[0] if claim_owner(os.path.basename(path)) else path


def claim(path: str, short_id: str, root: str) -> str:
    """Make a file, or a claim that nobody will complete, one session's; its new path, "" when that cannot be."""
    try:
        info = os.lstat(path)
        if not files.is_trusted(info.st_uid, os.path.dirname(path)):
            health.note_failure(root, "checkpoint", "%s belongs to another user; it was left alone" % path)
            return ""
        is_plain = stat.S_ISREG(info.st_mode) and info.st_nlink == 1
        if not is_plain or info.st_size > settings.CHECKPOINT_MAX_BYTES:
            os.replace(path, path + settings.REJECT_SUFFIX)
            health.note_failure(
                root,
                "checkpoint",
                "%s is no plain file of reasonable size; it was renamed to *%s" % (path, settings.REJECT_SUFFIX),
            )
            return ""
        claimed = "%s.%s.%d%s" % (_unclaimed(path), short_id, time.time_ns(), settings.CLAIM_SUFFIX)
        os.rename(path, claimed)
    except OSError:
        return ""  # another session was quicker, or the folder is not ours to change
    return claimed


def _archive(path: str, session: Session, root: str, sieve: Sieve | None) -> bool:
    """Keep a checkpoint, but for what was forgotten since it was written; whether its file may go."""
    try:
        data = files.read(path, settings.CHECKPOINT_MAX_BYTES)
        written = os.stat(path).st_mtime
    except OSError:
        return False
    if data is None:
        return False
    if written < sessions.forgotten_until(session):
        return True
    try:
        value = jsontext.loads(data)
        if normalize(value) is None:
            raise ValueError("not a checkpoint")
        value = sieve.value(value, clock.fine_iso(written)) if sieve else value
        if not sieve or any((normalize(value) or {}).values()):
            save(session.artifacts, value, written)
    except ValueError:
        text = data.decode("utf-8", "replace")
        _keep_malformed(session.artifacts, sieve.value(text, clock.fine_iso(written)) if sieve else text, written, root)
    return True


def _keep_malformed(artifacts: str, text: str, written: float, root: str) -> None:
    text = redact(text)
    name = _artifact_name(written, text)[: -len(settings.CHECKPOINT_SUFFIX)] + settings.MALFORMED_SUFFIX
    kept = os.path.join(artifacts, name)
    files.write(kept, text.encode("utf-8", "replace"), durable=True)
    health.note_failure(root, "checkpoint", "a malformed checkpoint was kept as %s" % kept)


def _artifact_name(when: float, text: str) -> str:
    name = settings.ARTIFACT_PREFIX + clock.fine_stamp(when)
    return "%s-%s%s" % (name, hexdigest(text)[:8], settings.CHECKPOINT_SUFFIX)


def _from_nested(report: object, reflection: object) -> dict[str, Any]:
    report = report if isinstance(report, dict) else {}
    reflection = reflection if isinstance(reflection, dict) else {}
    terms = _items(reflection.get("search_terms")) + _items(report.get("category"))
    complete = report.get("is_job_complete")
    return {
        "what_was_done": reflection.get("what_was_done"),
        "what_remains": reflection.get("what_remains"),
        "learnings": reflection.get("key_insight"),
        "tags": terms,
        "outcome": "" if complete is None else "completed" if complete else "partial",
    }


def _task(task: dict[str, Any]) -> dict[str, Any] | None:
    number = brief(_text(task.get("id")) or _text(task.get("title")), 80)
    if not number:
        return None
    return {
        "id": number,
        "title": brief(_text(task.get("title")), settings.SUMMARY_LINE_CHARS),
        "remaining": _items(task["remaining"])[: settings.REMAINS_ITEMS] if "remaining" in task else None,
        "blockers": _items(task.get("blockers"))[: settings.REMAINS_ITEMS],
    }


def _rating(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and abs(value) < 1000 else None


def _items(value: object) -> list[str]:
    if isinstance(value, str):
        value = [part.strip().lstrip("-*• ").strip() for part in value.split("\n")]
    if not isinstance(value, (list, tuple)):
        return []
    items = [brief(_text(item), settings.ITEM_CHARS) for item in value[: settings.REMAINS_ITEMS * 4]]
    return [item for item in items if item.lower().rstrip(".") not in _NOTHING][: settings.FILES_IN_EPISODE]


def _text(value: object) -> str:
    if isinstance(value, str):
        return clean(value, settings.TEXT_FIELD_MAX_CHARS)
    if isinstance(value, (list, tuple)):
        return "\n".join(_text(item) for item in value[:50] if not isinstance(item, (list, tuple)))
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""
