"""Stamps of runs and failures: what `doctor` shows and SessionStart mentions in one line.

<root>/health/last-run/<Event>       empty; its time says when that hook last ran
<root>/health/failures/<ns>-<pid>.json   {schema, at, event, error, detail}
<root>/health/shown                  empty; failures older than its time were mentioned
<root>/health/was-open               others could look into the store: the sentence to be told; empty once it was,
                                     until all below is closed to them
"""

from __future__ import annotations

import os
import time

from . import clock, files, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def note_failure(root: str, event: str, error: BaseException | str) -> None:
    """Leave a stamp of a failed run; a store that cannot be written is `doctor`'s own finding."""
    from .redact import redact

    detail = "" if isinstance(error, str) else _traceback(error)
    record = {
        "schema": settings.SCHEMA,
        "at": clock.iso(time.time()),
        "event": event,
        "error": redact(error if isinstance(error, str) else "%s: %s" % (type(error).__name__, error))[:1000],
        "detail": redact(detail)[-4000:],
    }
    directory = failures_dir(root)
    name = "%020d-%d.json" % (max(0, time.time_ns()), os.getpid())  # of one length, so that they sort by time
    try:
        files.check_owner(root)
        files.write(os.path.join(directory, name), jsontext.pretty(record).encode("utf-8", "replace"))
        for old in files.names(directory)[: -settings.FAILURES_KEPT]:
            files.remove(os.path.join(directory, old))
    except OSError:
        pass


class noted:
    """`with health.noted(root, "recall"):` stamps a failure of one duty, so that the next one still runs."""

    __slots__ = ("event", "root")

    def __init__(self, root: str, event: str) -> None:
        self.root = root
        self.event = event

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        note_failure(self.root, self.event, error)
        return True


def failures(root: str) -> list[dict[str, Any]]:
    """Recorded failures, oldest first."""
    found = []
    for name in files.names(failures_dir(root)):
        try:
            record = jsontext.loads(files.read(os.path.join(failures_dir(root), name)) or b"")
        except (OSError, ValueError):
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def unmentioned(root: str) -> int:
    """How many failures nobody was told of yet; from now on they count as told."""
    names = files.names(failures_dir(root))
    if not names:
        return 0
    shown = os.path.join(root, settings.HEALTH_DIR, settings.SHOWN_FILE)
    try:
        told = os.stat(shown).st_mtime_ns
    except OSError:
        told = 0
    if told > time.time_ns() + settings.DAY_SECONDS * 10**9:
        told = 0  # the clock was set back since
    fresh = sum(1 for name in names if _when(name) > told)
    if fresh:
        files.touch(shown)
    return fresh


def opened(root: str) -> str | None:
    """What is to be told of a store that others could look into, "" once it was; None when nothing is left to do."""
    try:
        return files.read_text(opened_file(root))
    except OSError:
        return ""


def opened_file(root: str) -> str:
    return os.path.join(root, settings.HEALTH_DIR, settings.OPENED_FILE)


def forget_runs(root: str) -> None:
    """No hook has run from now on; that there is a memory stays known by the folder."""
    folder = os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    for name in files.names(folder):
        files.remove(os.path.join(folder, name))


def failures_dir(root: str) -> str:
    return os.path.join(root, settings.HEALTH_DIR, settings.FAILURES_DIR)


def _when(name: str) -> int:
    head = name.partition("-")[0]
    return int(head) if head.isdecimal() else 0


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
