"""Stamps of runs and failures: `doctor` shows them, SessionStart mentions new failures in one line.

<root>/health/last-run/<Event>           empty; its time is when that hook last ran
<root>/health/failures/<ns>-<pid>.json   {schema, at, event, error, detail}
<root>/health/shown                      empty; failures older than its time were mentioned
"""

from __future__ import annotations

import os
import time

from . import clock, files, settings
from .typing import Any


class noted:
    """`with health.noted(root, "recall"):` stamps a failure of one duty, so that the next one still runs."""

    def __init__(self, root: str, event: str) -> None:
        self.root, self.event = root, event

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Exception):
            note_failure(self.root, self.event, error)
        return isinstance(error, Exception)


def note_failure(root: str, event: str, error: BaseException | str) -> None:
    from .redact import redact

    detail = ""
    if not isinstance(error, str):
        import traceback

        detail = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        error = "%s: %s" % (type(error).__name__, error)
    record = {"schema": settings.SCHEMA, "at": clock.iso(time.time()), "event": event}
    record.update(error=redact(error)[:1000], detail=redact(detail)[-4000:])
    directory = os.path.join(root, settings.FAILURES_DIR)
    name = "%020d-%d.json" % (max(0, time.time_ns()), os.getpid())  # of one length, so that they sort by time
    try:
        files.check_owner(root)
        files.write_json(os.path.join(directory, name), record)
        for old in files.names(directory)[:-50]:
            files.remove(os.path.join(directory, old))
    except OSError:
        pass  # `doctor` itself notices a store that cannot be written


def failures(root: str) -> list[dict[str, Any]]:
    """Recorded failures, oldest first."""
    directory = os.path.join(root, settings.FAILURES_DIR)
    records = (files.load_json(os.path.join(directory, name), {}) for name in files.names(directory))
    return [record for record in records if record is not None]


def unmentioned(root: str) -> list[str]:
    """How many failures are new since the last call, if any."""
    shown = os.path.join(root, settings.HEALTH_DIR, "shown")
    instants = [name.partition("-")[0] for name in files.names(os.path.join(root, settings.FAILURES_DIR))]
    fresh = [text for text in instants if text.isdecimal() and int(text) / 1e9 > files.made(shown)]
    if fresh:
        files.write(shown, b"")
    return ["%d hook run%s failed" % (len(fresh), "s"[len(fresh) == 1 :])] if fresh else []
