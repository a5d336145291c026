"""Episodes from transcripts that are older than this memory: the client keeps them beside its settings for a while.

    <config dir>/projects/<folder>/<session id>.jsonl

The folder's name is a lossy form of a path, so the transcript's first entries say where the session was launched and
which one it is. The result is what the hooks would have left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ..base import clock, files, jsontext, settings, shape
from ..base.config import Config
from ..project import Context, Project, identity
from ..session import capture, episode, record, sessions, tombstones
from . import archive

PROJECTS_DIR = "projects"
REASON = "recorded from its transcript afterwards"

# What became of a transcript.
MADE, KNOWN, LIVE, FORGOTTEN, EMPTY, OLD, ELSEWHERE, UNREADABLE = (
    "made", "known", "running", "forgotten", "without substance", "too old", "of other projects", "unreadable",
)  # fmt: skip

_TAIL_BYTES = 64 * 1024
_SIDE = "agent-"  # older clients keep subagents beside the sessions


class Source:
    """A transcript: which session it is of, where that was launched and when."""

    __slots__ = ("channel", "cwd", "modified", "path", "project", "root", "session_id", "size", "started")

    def __init__(self, path: str, entry: dict[str, Any], project: Project) -> None:
        info = os.stat(path)
        self.path = path
        self.project = project
        self.size = info.st_size
        self.modified = info.st_mtime
        self.cwd = str(entry["cwd"])
        started = clock.parse(entry.get("timestamp")) or info.st_mtime
        is_plausible = started <= info.st_mtime + settings.DAY_SECONDS  # else a wrong clock's
        self.started = started if is_plausible else info.st_mtime
        self.channel = str(entry.get("entrypoint") or "")[:40]
        self.root = str(entry.get("uuid") or "")
        named = os.path.basename(path)[: -len(".jsonl")]
        # A fork begins with a copy of its parent: only its end names itself.
        wanted, tail = '"sessionId":"%s"' % named, files.read_part(path, _TAIL_BYTES, from_end=True)
        is_named = wanted.encode("utf-8", "replace") in tail
        self.session_id = named if is_named else str(entry["sessionId"])


def paths(config_dir: str) -> list[str]:
    """Every transcript of a session."""
    top = os.path.join(config_dir, PROJECTS_DIR)
    listed = [os.path.join(folder, name) for folder in files.folders(top) for name in files.names(folder)]
    return [path for path in listed if path.endswith(".jsonl") and not os.path.basename(path).startswith(_SIDE)]


def sources(root: str, transcripts: list[str]) -> Iterator[Source | None]:
    """Each transcript; None for a file that is not one of a session: empty, foreign, or without a prompt."""
    projects: dict[str, Project] = {}
    for path in transcripts:
        entry: dict[str, Any] = {}
        with contextlib.suppress(OSError):
            entry = next(_entries(path), entry)
        cwd = str(entry.get("cwd", ""))
        if cwd and cwd not in projects:
            project = projects[cwd] = identity.locate(root, cwd, cwd)
            former = None if os.path.isdir(cwd) else identity.of_former_path(root, cwd)
            if former:  # the directory is gone, and a memory knew it
                project.id, project.root = former
                project.dir = os.path.join(root, project.id)
        yield Source(path, entry, projects[cwd]) if cwd else None


def _entries(path: str) -> Iterator[dict[str, Any]]:
    """The entries that say where and when which session was running, but for those of subagents."""
    with open(path, "rb") as file:
        for line in file:
            if b'"cwd"' in line and b'"sessionId"' in line and b'"timestamp"' in line:
                with contextlib.suppress(ValueError):
                    entry: Any = jsontext.loads(line)
                    is_whole = not shape.problem(entry, {"cwd": "text", "sessionId": "text"})
                    if is_whole and os.path.isabs(entry["cwd"]) and not entry.get("isSidechain"):
                        yield entry


class Backfill:
    """One run over transcripts, oldest first, into the memories of their projects."""

    def __init__(self, root: str, only: str, now: float, config: Config) -> None:
        self.root = root
        self.only = only  # the store directory of one project; "" for all
        self.now = now
        self.oldest = now - config["retention_days"] * settings.DAY_SECONDS
        self.archived: dict[str, set[str]] = {}  # session ids by project directory
        self.made: set[str] = set()  # directories of projects with new episodes
        self.forks: dict[str, str] = {}  # the first transcript that began with an entry

    def verdict(self, source: Source) -> str:
        """ "" for a transcript to read, else why not."""
        project = source.project
        if self.only and project.dir != self.only:
            return ELSEWHERE
        if project.dir not in self.archived:
            tombstones.refuse_if_damaged(project.dir)
            self.archived[project.dir] = {each.claude_id for each in archive.load_all(project.dir, [])}
        if tombstones.since(project.dir, source.session_id, source.started):
            return FORGOTTEN
        if sessions.read_marker(project.dir, source.session_id):
            return LIVE
        session = sessions.open_session(project.dir, source.session_id, source.started, project.name)
        if source.modified > self.now - settings.BACKFILL_QUIET_SECONDS:
            return LIVE if session.is_new or session.meta["status"] == settings.ACTIVE else KNOWN
        if max(source.started, source.modified) < self.oldest:
            return OLD
        # A directory without a record is a killed run's; an episode without a directory is a pruned session's.
        path = episode.path_of(project.dir, session.episode_name)
        is_pruned = not os.path.isdir(session.dir) and os.path.exists(path)
        is_known = not session.is_new or is_pruned or session.claude_id in self.archived[project.dir]
        return KNOWN if is_known else ""

    def make(self, source: Source) -> str:
        """Record one session that `verdict` lets through; what became of it."""
        project = source.project
        lock = sessions.lock(project.dir, source.session_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            kind = self.verdict(source) if held else LIVE
            if not kind:
                kind = MADE if self._record(source) else EMPTY
            if kind != LIVE:
                lock.discard()
        return kind

    def _record(self, source: Source) -> bool:
        project = source.project
        files.ensure_private(self.root)
        if project.dir not in self.made and (os.path.isdir(source.cwd) or not os.path.isdir(project.dir)):
            identity.record(project, clock.iso(self.now))
        context = Context(self.root, project.dir, project.root, project.remote, float("inf"))
        context.folders = []  # a checkpoint there is a running session's
        since, parent = 0.0, self.forks.setdefault(source.root or source.path, source.path)
        if parent != source.path:  # a fork, which is a session of its own from its first new entry on
            inherited = {entry.get("uuid") for entry in _entries(parent)}
            own = (entry for entry in _entries(source.path) if entry.get("uuid") not in inherited)
            since = clock.parse(next(own, {}).get("timestamp")) or 0.0
        session = sessions.open_session(project.dir, source.session_id, since or source.started, project.name)
        session.meta.update(transcript=source.path, channel=source.channel, pid=None)
        session.meta.update(status=settings.COMPLETED, reason=REASON)
        capture.save(session.dir, capture.Capture(since))
        if record.update(context, session, is_over=True).episode is None:
            files.remove_tree(session.dir)
            files.remove_if_empty(os.path.dirname(session.dir))
            return False
        self.made.add(project.dir)
        return True
