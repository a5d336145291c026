"""Episodes recorded afterwards, from transcripts, or where one is gone from the `capture.json` of its session.

    <config dir>/projects/<folder>/<session id>.jsonl

The folder's name is a lossy form of a path, so the transcript's first entries say where the session was launched and
which one it is. The result is what the hooks would have left.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator
from typing import Any

from ..base import clock, config, files, jsontext, settings, shape
from ..base.typing import Fields
from ..project import Context, Project, identity
from ..session import capture, episode, life, record, sessions, tombstones
from . import archive

PROJECTS_DIR = "projects"
REASON = "recorded from its transcript afterwards"

# What became of a transcript.
MADE, KNOWN, LIVE, FRESH, FORGOTTEN = "made", "known", "running", "changed just now", "forgotten"
EMPTY, OLD, ELSEWHERE = "without substance", "too old", "of other projects"


class Source:
    """A transcript: which session it is of, where that was launched and when."""

    def __init__(self, path: str, entry: Fields, project: Project) -> None:
        self.path, self.project, self.modified = path, project, files.modified(path)
        self.cwd, self.root = entry["cwd"], str(entry.get("uuid") or "")
        self.channel = str(entry.get("entrypoint") or "")[:40]
        self.started = clock.parse(entry.get("timestamp")) or self.modified
        # A fork begins with a copy of its parent's entries, and a person may have copied a file under another name.
        named = os.path.basename(path)[: -len(".jsonl")]
        self.session_id = named if len(named) == 36 else str(entry["sessionId"])


def paths(config_dir: str) -> list[str]:
    """Every transcript of a session; older clients keep those of subagents (`agent-…`) beside them."""
    every = sorted(glob.glob(os.path.join(glob.escape(config_dir), PROJECTS_DIR, "*", "*.jsonl")))
    return [path for path in every if not os.path.basename(path).startswith("agent-")]


def sources(root: str, transcripts: list[str]) -> Iterator[Source]:
    """Each transcript of a session: other files are empty, foreign, or without a prompt."""
    projects: dict[str, Project] = {}
    for path in transcripts:
        entry: Fields = {}
        with contextlib.suppress(OSError):
            entry = next(_entries(path), entry)
        cwd = entry.get("cwd")
        if cwd and cwd not in projects:
            project = projects[cwd] = identity.locate(root, cwd, cwd)
            former = None if os.path.isdir(cwd) else identity.of_former_path(root, cwd)
            if former:  # the directory is gone, and a memory knew it
                project.id, project.root = former
                project.dir = os.path.join(root, project.id)
        if cwd:
            yield Source(path, entry, projects[cwd])


def _entries(path: str) -> Iterator[Fields]:
    """The entries that say where and when which session was running, but for those of subagents."""
    with open(path, "rb") as file:
        for line in file:
            with contextlib.suppress(ValueError):
                entry: Any = jsontext.loads(line)
                is_whole = not shape.problem(entry, dict.fromkeys(("cwd", "sessionId", "timestamp"), "text"))
                if is_whole and os.path.isabs(entry["cwd"]) and not entry.get("isSidechain"):
                    yield entry


class Backfill:
    """One run over transcripts, oldest first, into the memories of their projects."""

    def __init__(self, root: str, only: str, now: float, limits: config.Config) -> None:
        self.root, self.now = root, now
        self.only = only  # the store directory of one project; "" for all
        self.is_deleting = limits["retention_after"] == "delete"
        self.oldest = now - limits["retention_days"] * settings.DAY_SECONDS
        self.archived: dict[str, set[str]] = {}  # session ids by project directory
        self.made: set[str] = set()  # directories of projects with new episodes
        self.forks: dict[str, str] = {}  # the first transcript that began with an entry

    def kept(self, project_dir: str, transcripts: list[str]) -> Iterator[Source]:
        """Sessions without a readable episode, and without one of these transcripts."""
        remote, path = (identity.known(project_dir, key)[-1] for key in ("remotes", "paths"))
        project = Project(project_dir, "", path, remote, "")
        for session in filter(None, map(sessions.load, sessions.all_directories(project_dir))):
            is_lost = not episode.load(project_dir, session.episode_name) and capture.load(session.dir).has_substance()
            if is_lost and session.meta.get("transcript") not in transcripts:
                entry = {"cwd": "", "sessionId": session.claude_id, "timestamp": session.started}
                yield Source(os.path.join(session.dir, settings.CAPTURE_FILE), entry, project)

    def verdict(self, source: Source) -> str:
        """ "" for a transcript to read, else why not."""
        project = source.project
        if self.only and project.dir != self.only:
            return ELSEWHERE
        if project.dir not in self.archived:
            self.archived[project.dir] = {each.claude_id for each in archive.load_all(project.dir, [])}
        if tombstones.since(project.dir, source.session_id, source.started):
            return FORGOTTEN
        if sessions.read_marker(project.dir, source.session_id):
            return LIVE
        session = life.open_session(project.dir, source.session_id, source.started, project.name)
        value, problem = files.read_json(episode.path_of(project.dir, session.episode_name), episode.SPEC)
        is_retired = session.claude_id in self.archived[project.dir] or (self.is_deleting and not session.is_new)
        if value or "newer version" in problem or (is_retired and not problem):
            return KNOWN
        if source.modified > self.now - 15 * 60:  # it may still run
            return FRESH
        return OLD if max(source.started, source.modified) < self.oldest else ""

    def make(self, source: Source) -> str:
        """Record one session, if `verdict` lets it through; what became of it."""
        result = self.verdict(source)
        lock = sessions.lock(source.project.dir, source.session_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        if not result:
            with lock as held:
                result = self._record(source) if held else LIVE
                lock.discard()
        return result

    def _record(self, source: Source) -> str:
        project = source.project
        files.ensure_private(self.root)
        if project.dir not in self.made and (os.path.isdir(source.cwd) or not os.path.isdir(project.dir)):
            identity.record(project, clock.iso(self.now))
        since, parent = 0.0, self.forks.setdefault(source.root or source.path, source.path)
        if parent != source.path:  # a fork, which is a session of its own from its first new entry on
            inherited = {entry.get("uuid") for entry in _entries(parent)}
            own = (entry for entry in _entries(source.path) if entry.get("uuid") not in inherited)
            since = clock.parse(next(own, {}).get("timestamp")) or 0.0
        session = life.open_session(project.dir, source.session_id, since or source.started, project.name)
        if session.is_new:
            session.meta.update(transcript=source.path, channel=source.channel, pid=None)
            session.meta.update(status=settings.COMPLETED, reason=REASON)
        if session.is_new or not capture.load(session.dir).has_substance():
            capture.save(session.dir, capture.Capture(since))
        damaged = episode.path_of(project.dir, session.episode_name)
        if files.exists(damaged) and not session.is_new:  # a person may have corrected it
            files.move(damaged, os.path.join(session.dir, "episode.json" + settings.DAMAGED_SUFFIX))
        context = Context(self.root, project.dir, project.root, project.remote, float("inf"))
        context.folders = []  # a checkpoint there is a running session's
        if record.update(context, session, is_over=session.meta["status"] != settings.ACTIVE).episode is None:
            if session.is_new:
                files.remove_tree(session.dir)
                files.remove_if_empty(os.path.dirname(session.dir))
            return EMPTY
        self.made.add(project.dir)
        return MADE
