"""Episodes from transcripts that are older than this memory: the client keeps them beside its settings for a while.

    <config dir>/projects/<folder>/<session id>.jsonl

The folder's name is a lossy form of a path, so the transcript's first entries say where the session was launched and
which one it is. The result is what the hooks would have left.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings, shape
from ..project import identity
from ..project.context import Context
from ..session import capture, episode, record, sessions, tombstones
from . import archive, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..base.config import Config
    from ..project.identity import Project

PROJECTS_DIR = "projects"
REASON = "recorded from its transcript afterwards"

# What became of a transcript.
MADE, KNOWN, LIVE, FORGOTTEN, EMPTY, OLD, ELSEWHERE, UNREADABLE = (
    "made", "known", "running", "forgotten", "without substance", "too old", "of other projects", "unreadable",
)  # fmt: skip

_TAIL_BYTES = 64 * 1024
_HEAD_MAX_BYTES = 8 * 1024 * 1024
_SIDE = "agent-"  # older clients keep subagents beside the sessions


class Source:
    """A transcript: which session it is of, where that was launched and when."""

    __slots__ = ("channel", "cwd", "modified", "path", "root", "session_id", "size", "started")

    def __init__(self, path: str, info: os.stat_result, entry: dict[str, Any]) -> None:
        self.path = path
        self.size = info.st_size
        self.modified = info.st_mtime
        self.session_id = str(entry["sessionId"])
        self.cwd = str(entry["cwd"])
        started = clock.parse(entry.get("timestamp")) or info.st_mtime
        is_plausible = started <= info.st_mtime + settings.DAY_SECONDS  # else a wrong clock's
        self.started = started if is_plausible else info.st_mtime
        self.channel = str(entry.get("entrypoint") or "")[:40]
        self.root = str(entry.get("uuid") or "")
        named = os.path.basename(path)[: -len(".jsonl")]
        wanted = b'"sessionId":"%s"' % named.encode("utf-8", "replace")
        if self.session_id != named and wanted in files.read_part(path, _TAIL_BYTES, from_end=True):
            self.session_id = named  # a fork, which begins with a copy of its parent


def paths(config_dir: str) -> list[str]:
    """Every transcript of a session."""
    top = os.path.join(config_dir, PROJECTS_DIR)
    listed = [os.path.join(folder, name) for folder in files.folders(top) for name in files.names(folder)]
    return [path for path in listed if path.endswith(".jsonl") and not os.path.basename(path).startswith(_SIDE)]


def open_source(path: str) -> Source | None:
    """None for a file that is not the transcript of a session: empty, foreign, or without a prompt."""
    try:
        with open(path, "rb") as file:
            while file.tell() < _HEAD_MAX_BYTES:  # a few long lines of other entries may come first
                line = file.readline(_HEAD_MAX_BYTES)
                entry = _entry(line)
                if entry or not line:
                    return Source(path, os.fstat(file.fileno()), entry) if entry else None
    except OSError:
        pass
    return None


def _entry(line: bytes) -> dict[str, Any] | None:
    """An entry that says where and when which session was at work; None for others, and for those of subagents."""
    try:
        is_likely = b'"cwd"' in line and b'"sessionId"' in line and b'"timestamp"' in line
        entry: Any = jsontext.loads(line) if is_likely else None
    except ValueError:
        return None
    is_launched = not shape.problem(entry, {"cwd": "text", "sessionId": "text"}) and os.path.isabs(entry["cwd"])
    return entry if is_launched and not entry.get("isSidechain") else None


def locate(root: str, cwd: str) -> Project:
    """The project of a directory, which may be gone: then the memory that knew it, if there is one."""
    project = identity.locate(root, cwd, cwd)
    former = None if os.path.isdir(cwd) else identity.of_former_path(root, cwd)
    if former:
        project.id, project.root = former
        project.dir = os.path.join(root, project.id)
    return project


def sources_of(root: str, project_dir: str, config_dir: str) -> Iterator[Source]:
    """The transcripts of one project."""
    dirs: dict[str, str] = {}
    for source in filter(None, map(open_source, paths(config_dir))):
        dirs[source.cwd] = dirs.get(source.cwd) or locate(root, source.cwd).dir
        if dirs[source.cwd] == project_dir:
            yield source


class Backfill:
    """One run over transcripts, oldest first, into the memories of their projects."""

    def __init__(self, root: str, only: str, now: float, config: Config) -> None:
        self.root = root
        self.only = only  # the store directory of one project; "" for all
        self.now = now
        self.oldest = now - config["retention_days"] * settings.DAY_SECONDS
        self.projects: dict[str, Project] = {}
        self.made: set[str] = set()  # directories of projects with new episodes
        self.forks: dict[str, str] = {}
        self.archived: dict[str, set[str]] = {}

    def survey(self, transcripts: list[str], done: Callable[[], None]) -> tuple[list[Source], dict[str, int]]:
        """The transcripts to read, oldest first, and how many there are of each other kind."""
        kinds, wanted = [], []
        for path in transcripts:
            done()
            source = open_source(path)
            kinds.append(self._verdict(source) if source else EMPTY)
            if source and not kinds[-1]:
                wanted.append(source)
        # A fork begins with its parent's first entry: the one that fell silent first is taken for the parent.
        wanted.sort(key=lambda source: (source.started, source.modified))
        return wanted, {kind: kinds.count(kind) for kind in kinds if kind}

    def _project(self, cwd: str) -> Project:
        if cwd not in self.projects:
            project = self.projects[cwd] = locate(self.root, cwd)
            tombstones.refuse_if_damaged(project.dir)
            self.archived[project.dir] = {each.session_id for each in archive.load_all(self.root, project.dir, [])}
        return self.projects[cwd]

    def _verdict(self, source: Source) -> str:
        """ "" for a transcript to read, else why not."""
        project = self._project(source.cwd)
        if self.only and project.dir != self.only:
            return ELSEWHERE
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
        """Record one session; what became of it."""
        project = self._project(source.cwd)
        lock = sessions.lock(project.dir, source.session_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            kind = (self._verdict(source) or self._record(project, source)) if held else LIVE
            if kind != LIVE:
                lock.discard()
        return kind

    def _record(self, project: Project, source: Source) -> str:
        files.ensure_private(self.root)
        if project.dir not in self.made and (os.path.isdir(source.cwd) or not os.path.isdir(project.dir)):
            identity.record(project, clock.iso(self.now))
        context = Context(self.root, project.dir, project.root, project.remote, float("inf"))
        context.folders = []  # a checkpoint there is a running session's
        since = self._forked_at(source)
        session = sessions.open_session(project.dir, source.session_id, since or source.started, project.name)
        session.meta.update(transcript=source.path, channel=source.channel, pid=None)
        session.meta.update(status=settings.COMPLETED, reason=REASON)
        capture.save(session.dir, capture.Capture(since))
        if record.update(context, session, is_over=True).episode is None:
            files.remove_tree(session.dir)
            files.remove_if_empty(os.path.dirname(session.dir))
            return EMPTY
        self.made.add(project.dir)
        return MADE

    def _forked_at(self, source: Source) -> float:
        """When a fork began to be a session of its own; 0 for a session that is not the fork of an earlier one."""
        parent = self.forks.setdefault(source.root, source.path) if source.root else source.path
        if parent == source.path:
            return 0.0
        inherited = {uuid for uuid, _ in _lines(parent)}
        own = (_entry(line) for uuid, line in _lines(source.path) if uuid not in inherited)
        instants = (clock.parse(entry.get("timestamp")) for entry in own if entry)
        return next((instant for instant in instants if instant is not None), 0.0)

    def finish(self) -> None:
        for project_dir in self.made:
            views.refresh(project_dir)


def _lines(path: str) -> Iterator[tuple[bytes, bytes]]:
    with open(path, "rb") as file:
        for line in file:
            if len(line) <= settings.TRANSCRIPT_LINE_MAX_BYTES and b'"uuid":"' in line:
                yield line.partition(b'"uuid":"')[2].partition(b'"')[0], line
