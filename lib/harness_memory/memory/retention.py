"""How long sessions stay: whole for a week, without artifacts for a month, then archived or deleted.

A run may be stopped anywhere: an archive is on disk before the live files go, and META.yaml goes last. A session
whose episode stays keeps META.yaml and capture.json, so that it is the same session when it is resumed.
"""

from __future__ import annotations

import os

from ..base import files, settings
from ..session import episode, sessions, tombstones
from . import archive, records, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .archive import Archived
    from .records import Record

# What becomes of a session, in a plan and in a restore.
KEEP, THIN, RETIRE, WHOLE = "keep", "thin", "retire", "whole"
RESTORED, PRESENT, WENT_ON, FORGOTTEN = "restored", "present", "went on", "forgotten"


def plan(project_dir: str, now: float, whole_days: float, days: float) -> dict[str, list[Record]]:
    """What `prune` would do: sessions that stay, that lose their artifacts, and that are archived or deleted."""
    result: dict[str, list[Record]] = {KEEP: [], THIN: [], RETIRE: []}
    for record in records.load_all(project_dir):
        age = (now - _last_seen(record)) / settings.DAY_SECONDS
        kind = RETIRE if age > days else THIN if age > whole_days else KEEP
        if record.session:
            result[kind if _removable(record, kind) else KEEP].append(record)
    return result


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Record], int]:
    """Sessions that last did something before an instant, and how many stay because their thread is open."""
    open_threads = [thread.sessions for thread in threads.load(project_dir) if thread.is_open and not with_open]
    old = [record for record in records.load_all(project_dir) if _last_seen(record) < instant]
    closed = [record for record in old if not any(record.id in ids for ids in open_threads)]
    return closed, len(old) - len(closed)


def _last_seen(record: Record) -> float:
    """When a session last did something; in the future for one that runs, or whose META cannot be read."""
    is_unread = record.session is None and record.directory
    return float("inf") if is_unread or sessions.read_marker(record.project_dir, record.claude_id) else record.seen


def _removable(record: Record, kind: str) -> list[str]:
    """The names in its directory that go, META.yaml last; a session whose episode stays keeps its state."""
    names = {*files.names(record.directory)} if kind != KEEP else set()
    if kind == THIN:
        names &= {settings.ARTIFACTS_DIR, settings.LOCAL_DIR}
    if kind == RETIRE and record.episode_name:
        names -= {settings.META_FILE, settings.CAPTURE_FILE}
    return sorted(names, key=lambda name: name == settings.META_FILE)


def retire(
    project_dir: str, selected: list[Record], kind: str, now: float, to_archive: bool = True
) -> tuple[str, dict[str, str]]:
    """Archive sessions, then remove what `kind` says; the archive's path, and by id why a session stays, if it does.

    THIN takes artifacts, RETIRE all that a resumed session does not need, WHOLE also the episode. The caller holds
    the archive's lock."""
    reasons: dict[str, str] = {}

    def contents(record: Record) -> dict[str, bytes]:
        walk = os.walk(record.directory)
        paths = [os.path.join(folder, name) for folder, _, names in walk for name in sorted(names)]
        paths += [episode.path_of(project_dir, record.episode_name)] if record.episode_name else []
        try:
            return {os.path.relpath(path, project_dir).replace(os.sep, "/"): files.read(path) or b"" for path in paths}
        except OSError as error:
            reasons[record.id] = "%s: %s" % (os.path.basename(error.filename or record.directory), error.strerror)
            return {}

    path = archive.write(project_dir, map(contents, selected), now) if to_archive else ""
    for record in selected:
        lock = sessions.lock(project_dir, record.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            current = records.Record(project_dir, record.directory, record.episode_name)
            if not held or sessions.read_marker(project_dir, record.claude_id) or current.meta != record.meta:
                reasons[record.id] = "it went on"
            if reasons.setdefault(record.id, ""):
                continue
            for name in _removable(record, kind):
                files.remove_tree(os.path.join(record.directory, name))
            if kind == WHOLE and record.episode_name:
                files.remove(episode.path_of(project_dir, record.episode_name))
            lock.discard()
        files.remove_if_empty(record.directory)
        files.remove_if_empty(os.path.dirname(record.directory))
    views.refresh(project_dir)
    return path, reasons


def restore(project_dir: str, selected: list[Archived]) -> dict[str, str]:
    """Bring sessions back from the archives, which stay; what became of each, by short id.

    The newest copy of a session comes first, older ones fill gaps: a killed run may have archived it in two parts.
    The caller holds the archive's lock."""
    tombstones.refuse_if_damaged(project_dir)
    present = records.load_all(project_dir)
    outcome: dict[str, str] = {}
    for session in selected:
        kind = PRESENT
        lock = sessions.lock(project_dir, session.claude_id, 5.0)
        with lock as held:
            is_running = not held or sessions.read_marker(project_dir, session.claude_id)
            if tombstones.is_forgotten(project_dir, session.claude_id, max(session.started, session.ended)):
                kind = FORGOTTEN
            elif is_running or any(each.id == session.id and each.started != session.started for each in present):
                kind = WENT_ON
            # The episode comes last: a session that has one is whole.
            paths = sorted(session.files, key=lambda path: path.startswith(settings.EPISODES_DIR))
            for path in paths if kind == PRESENT else ():
                target = os.path.join(project_dir, *path.split("/"))
                if not files.read_part(target, 1) and not files.is_same(target, session.files[path]):
                    files.write(target, session.files[path])
                    kind = RESTORED
            if not is_running:
                lock.discard()
        outcome[session.id] = kind if kind != PRESENT else outcome.get(session.id, kind)
    views.refresh(project_dir)
    return outcome
