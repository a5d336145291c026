"""Views that are not what `rebuild` would write, found by rebuilding a copy: the store itself is not touched."""

from __future__ import annotations

import os
import tempfile

from ..base import files, settings
from ..session import episode
from . import views

_REWRITE = "run: harness memory rebuild"


def stale_views(project_dir: str) -> list[tuple[str, str, str]]:
    """File, what is wrong with it, and what to do, of each such view."""
    try:
        with tempfile.TemporaryDirectory(prefix="harness-memory-verify-") as scratch:
            copy = os.path.join(scratch, os.path.basename(project_dir))
            _copy(project_dir, copy)
            return _compared(project_dir, copy)
    except OSError as error:
        what = "could not be compared with a copy (%s)" % error.strerror
        return [(settings.INDEX_FILE, what, "make room in %s" % tempfile.gettempdir())]


def _copy(project_dir: str, copy: str) -> None:
    state = [os.path.join(settings.STATE_DIR, name) for name in (settings.PROGRESS_DIR, settings.THREADS_DIR)]
    for folder in (settings.EPISODES_DIR, *state):
        os.makedirs(os.path.join(copy, folder))
        for name in files.names(os.path.join(project_dir, folder)):
            try:
                data = files.read(os.path.join(project_dir, folder, name))
            except OSError:
                continue
            if data is not None and not name.startswith("."):
                with open(os.path.join(copy, folder, name), "wb") as file:
                    file.write(data)


def _compared(project_dir: str, copy: str) -> list[tuple[str, str, str]]:
    tasks = os.path.join(settings.STATE_DIR, settings.PROGRESS_DIR)
    before = {name: _bytes(os.path.join(copy, tasks, name)) for name in files.names(os.path.join(copy, tasks))}
    views.rebuild(copy, settings.LOCK_WAIT_SECONDS)
    state = settings.STATE_DIR
    names = (
        settings.INDEX_FILE,
        os.path.join(state, settings.CONVERSATION_FILE),
        os.path.join(state, settings.CURRENT_WORK_FILE),
    )
    is_empty = not before and not episode.names(copy)
    stale = []
    for name in names:
        found = _bytes(os.path.join(project_dir, name))
        if found != _bytes(os.path.join(copy, name)) and not (is_empty and found is None):
            stale.append((name, "is missing" if found is None else "is stale", _REWRITE))
    after = {name: _bytes(os.path.join(copy, tasks, name)) for name in files.names(os.path.join(copy, tasks))}
    grown = [name for name in after if after[name] != before.get(name)]
    return stale + [(os.path.join(tasks, name), "lacks what episodes say", _REWRITE) for name in grown]


def _bytes(path: str) -> bytes | None:
    try:
        return files.read(path)
    except OSError:
        return b""
