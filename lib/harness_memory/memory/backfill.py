"""Episodes from transcripts that were there before us: the client keeps them for a while, beside its settings.

    <config dir>/projects/<folder>/<session id>.jsonl

The folder's name is a lossy form of a path, so each transcript is asked itself: its first entries say
where the session was launched and which one it is. What comes of it is what the hooks would have left
(see `archive`), under the session's lock; a killed run has left whole sessions, and the next goes on.
Transcripts that nothing came of are remembered, and not read again until they grow:

    STATE/backfill.json   {"schema", "empty": {Claude's session id: bytes of its transcript}}
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, settings
from ..project import identity
from ..project.context import Context
from ..session import capture, episode, liveness, sessions, tombstones
from ..session import record as archive
from . import views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ..base.config import Config
    from ..project.identity import Project

PROJECTS_DIR = "projects"
REASON = "recorded afterwards, from its transcript"

# What became of a transcript.
MADE, KNOWN, LIVE, FORGOTTEN, EMPTY, OLD, ELSEWHERE, UNREADABLE = (
    "made", "known", "running", "forgotten", "without substance", "too old", "of other projects", "unreadable",
)  # fmt: skip

_HEAD_BYTES = 64 * 1024
_HEAD_MAX_BYTES = 8 * 1024 * 1024
_REGISTRY_DIR = "sessions"
_SIDE_PREFIX = "agent-"  # subagents of older clients lie beside the sessions
_FOREVER = float("inf")


class Source:
    """A transcript: which session it is of, where that was launched and when."""

    __slots__ = ("channel", "cwd", "modified", "path", "root", "session_id", "size", "started")

    def __init__(self, path: str, info: os.stat_result, entry: dict[str, Any], session_id: str) -> None:
        self.path = path
        self.size = info.st_size
        self.modified = info.st_mtime
        self.session_id = session_id
        self.cwd = str(entry["cwd"])
        told = clock.parse(entry.get("timestamp")) or info.st_mtime
        self.started = told if told <= info.st_mtime + settings.DAY_SECONDS else info.st_mtime  # a wrong clock's
        self.channel = str(entry.get("entrypoint") or "")[:40]
        self.root = str(entry.get("uuid") or "")


def config_dir(env: Mapping[str, str]) -> str:
    named = env.get(settings.ENV_CONFIG_DIR)
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR))


def paths(config: str) -> list[str]:
    """Every transcript of a session."""
    top = os.path.join(config, PROJECTS_DIR)
    found = []
    for folder in files.names(top):
        for name in files.names(os.path.join(top, folder)):
            if name.endswith(".jsonl") and not name.startswith(_SIDE_PREFIX):
                found.append(os.path.join(top, folder, name))
    return found


def running(config: str) -> set[str]:
    """Sessions that live, as the client's own registry tells: `sessions/<pid>.json`, which killed ones leave behind."""
    top = os.path.join(config, _REGISTRY_DIR)
    found = set()
    for name in files.names(top):
        try:
            known = jsontext.loads(files.read(os.path.join(top, name)) or b"") if name.endswith(".json") else {}
        except (OSError, ValueError):
            continue
        pid = known.get("pid") if isinstance(known, dict) else None
        process = liveness.client_process(pid) if isinstance(pid, int) and pid > 0 else {}
        is_same = not process.get("start") or process["start"] == str(known.get("procStart", process["start"]))
        if process and is_same and liveness.is_alive(process) is not False:
            found.add(str(known.get("sessionId")))
    return found


def open_source(path: str) -> Source | None:
    """None for what is no transcript of a session: empty, foreign, or without a prompt."""
    try:
        info = os.stat(path)
        entry = _first_entry(path)
    except OSError:
        return None
    if entry is None:
        return None
    named = os.path.basename(path)[: -len(".jsonl")]
    told = str(entry["sessionId"])
    if told != named and _mentions(path, info.st_size, named):
        told = named  # a fork: its first entries are a copy of another's
    return Source(path, info, entry, told)


def _first_entry(path: str) -> dict[str, Any] | None:
    """The first entry that tells where and which; they come after a few long lines of others."""
    data = files.read_head(path, _HEAD_BYTES)
    size = _HEAD_BYTES
    while True:
        lines = data.split(b"\n")
        whole = lines if len(data) < size else lines[:-1]
        for line in whole:
            if b'"cwd"' in line and b'"sessionId"' in line and b'"timestamp"' in line:
                entry = _entry(line)
                if entry:
                    return entry
        if len(data) < size or size >= _HEAD_MAX_BYTES:
            return None
        size *= 4
        data = files.read_head(path, size)


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = jsontext.loads(jsontext.shortened(line))
    except ValueError:
        return None
    is_told = isinstance(entry, dict) and all(
        isinstance(entry.get(key), str) and entry[key] for key in ("cwd", "sessionId")
    )
    return entry if is_told and os.path.isabs(entry["cwd"]) and not entry.get("isSidechain") else None


def _mentions(path: str, size: int, session_id: str) -> bool:
    wanted = b'"sessionId":"%s"' % session_id.encode("utf-8", "replace")
    return wanted in files.read_tail(path, min(size, _HEAD_BYTES))


class Backfill:
    """One run over transcripts, oldest first, into the memories of their projects."""

    def __init__(self, root: str, only: str, now: float, config: Config, running: set[str]) -> None:
        self.root = root
        self.running = running  # sessions the client says are there
        self.only = only  # the store directory of the one project that is meant; "" for all
        self.now = now
        self.oldest = now - config["retention_days"] * settings.DAY_SECONDS
        self.most = int(config["retention_episodes"])
        self.projects: dict[str, Project] = {}
        self.pending: dict[str, list[str]] = {}
        self.forks: dict[str, str] = {}
        self.archived: dict[str, set[str]] = {}
        self.empty: dict[str, dict[str, int]] = {}  # by project: transcripts that nothing came of, and their size

    def project(self, cwd: str) -> Project:
        if cwd not in self.projects:
            self.projects[cwd] = _locate(self.root, cwd)
            tombstones.refuse_if_damaged(self.projects[cwd].dir)
        return self.projects[cwd]

    def verdict(self, source: Source) -> str:
        """ "" for a transcript that an episode is to be made of, else why not."""
        ours = self.project(source.cwd)
        if self.only and ours.dir != self.only:
            return ELSEWHERE
        if tombstones.since(ours.dir, source.session_id):
            return FORGOTTEN
        if source.session_id in self.running or sessions.read_marker(ours.dir, source.session_id):
            return LIVE
        if source.modified > self.now - settings.BACKFILL_QUIET_SECONDS:
            return KNOWN if self._has_ended(ours, source) else LIVE
        if max(source.started, source.modified) < self.oldest:
            return OLD
        if self._empty_of(ours.dir).get(source.session_id) == source.size:
            return EMPTY
        session = sessions.open_session(ours.dir, source.session_id, source.started, ours.name)
        return KNOWN if self._is_known(ours, session) else ""

    def _has_ended(self, ours: Project, source: Source) -> bool:
        """Whether there is a record of its end."""
        session = sessions.open_session(ours.dir, source.session_id, source.started, ours.name)
        return not session.is_new and session.meta["status"] != settings.ACTIVE

    def make(self, source: Source) -> str:
        """What became of it."""
        ours = self.project(source.cwd)
        lock = sessions.lock(ours.dir, source.session_id, settings.SIBLING_LOCK_WAIT_SECONDS)
        with lock as held:
            if not held or sessions.read_marker(ours.dir, source.session_id):
                return LIVE
            since = self._forked_at(source)
            session = sessions.open_session(ours.dir, source.session_id, since or source.started, ours.name)
            became = KNOWN if self._is_known(ours, session) else self._record(ours, session, source, since)
            lock.discard()
        empty = self._empty_of(ours.dir)
        empty.pop(source.session_id, None)
        if became == EMPTY:
            empty[source.session_id] = source.size
        return became

    def _empty_of(self, project_dir: str) -> dict[str, int]:
        if project_dir not in self.empty:
            self.empty[project_dir] = _load_empty(project_dir)
        return self.empty[project_dir]

    def _is_known(self, ours: Project, session: sessions.Session) -> bool:
        """Recorded, pruned to its episode, or archived. What has a directory without a record is a killed run's."""
        if not session.is_new:
            return True
        if ours.dir not in self.archived:
            self.archived[ours.dir] = _archived(self.root, ours.dir)
        path = os.path.join(ours.dir, settings.EPISODES_DIR, session.episode_name)
        is_pruned = not os.path.isdir(session.dir) and os.path.exists(path)
        return is_pruned or session.meta["claude_session"] in self.archived[ours.dir]

    def _record(self, ours: Project, session: sessions.Session, source: Source, since: float) -> str:
        files.ensure_private(self.root)
        if ours.dir not in self.pending and (os.path.isdir(source.cwd) or not os.path.isdir(ours.dir)):
            identity.record(ours, clock.iso(self.now))
        place = Context(self.root, ours.dir, ours.root, ours.remote, _FOREVER)
        place.folders = []  # a checkpoint that lies there is a living session's
        session.meta.update(transcript=source.path, channel=source.channel, pid=None)
        capture.save(session.dir, capture.Capture(since))
        try:
            gathered = archive.gather(place, session, is_over=True)
        except BaseException:
            files.remove_tree(session.dir)
            raise
        if gathered.episode is None:
            files.remove_tree(session.dir)
            _remove_empty(os.path.dirname(session.dir))
            return EMPTY
        session.meta.update(status=settings.COMPLETED, ended=gathered.episode["ended"], reason=REASON)
        page = episode.summary_page(gathered.episode)
        files.write(os.path.join(session.dir, settings.SUMMARY_FILE), page.encode("utf-8", "replace"))
        # The record last: a session without one is made again.
        path = os.path.join(ours.dir, settings.EPISODES_DIR, session.episode_name)
        files.write(path, episode.render(gathered.episode))
        session.save()
        self.pending.setdefault(ours.dir, []).append(session.episode_name)
        if len(self.pending[ours.dir]) % settings.BACKFILL_VIEWS_EVERY == 0:
            views.refresh(ours.dir, is_full=True)
        return MADE

    def finish(self) -> None:
        """Show in the views what was made, and remember what there was nothing to make of."""
        for project_dir in self.pending:
            views.refresh(project_dir, is_full=True)
        for project_dir, empty in self.empty.items():
            if empty != _load_empty(project_dir):
                value = {"schema": settings.SCHEMA, "empty": empty}
                files.write(_empty_path(project_dir), jsontext.pretty(value).encode("utf-8", "replace"))

    def kept(self, found: list[Source]) -> list[Source]:
        """Of the transcripts to read, oldest first, those whose episodes retention would not delete at once."""
        rooms: dict[str, int] = {}
        chosen = []
        # A fork begins with its parent's first entry: the one that fell silent first is taken for the parent.
        for source in sorted(found, key=lambda source: (source.started, source.modified), reverse=True):
            directory = self.project(source.cwd).dir
            if directory not in rooms:
                rooms[directory] = self.most - len(episode.names(directory))
            rooms[directory] -= 1
            if rooms[directory] >= 0:
                chosen.append(source)
        return chosen[::-1]

    def _forked_at(self, source: Source) -> float:
        """When a fork began to be a session of its own; 0 for one that is no fork of any seen before."""
        parent = self.forks.setdefault(source.root, source.path) if source.root else source.path
        return _first_own(source.path, parent) if parent != source.path else 0.0


def _first_own(path: str, parent: str) -> float:
    """The time of the first entry of a transcript that is not in its parent."""
    known = {_uuid(line) for line in _lines(parent)}
    for line in _lines(path):
        if _uuid(line) not in known:
            entry = _entry(line)
            at = clock.parse(entry.get("timestamp")) if entry else None
            if at is not None:
                return at
    return 0.0


def _lines(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            for line in file:
                if len(line) <= settings.TRANSCRIPT_LINE_MAX_BYTES and b'"uuid":"' in line:
                    yield line
    except OSError:
        return


def _uuid(line: bytes) -> bytes:
    return line.partition(b'"uuid":"')[2].partition(b'"')[0]


def _locate(root: str, cwd: str) -> Project:
    """The project of a directory, which may be gone: then the memory that knew it, if there is one."""
    found = identity.locate(root, cwd, cwd)
    if os.path.isdir(cwd):
        return found
    known = identity.of_former_path(root, cwd)
    if known:
        found.id, found.dir = known[0], os.path.join(root, known[0])
        found.root = known[1]
    return found


def _empty_path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.BACKFILL_FILE)


def _load_empty(project_dir: str) -> dict[str, int]:
    try:
        value = jsontext.loads(files.read(_empty_path(project_dir)) or b"{}")
    except (OSError, ValueError):
        return {}
    known = value.get("empty") if isinstance(value, dict) else None
    return {str(key): size for key, size in known.items() if isinstance(size, int)} if isinstance(known, dict) else {}


def _archived(root: str, project_dir: str) -> set[str]:
    """Claude's ids of the sessions that are put away."""
    if not os.path.isdir(os.path.join(root, settings.ARCHIVE_DIR)):
        return set()
    from . import archive as vault

    return {str(entry["session_id"]) for _, entry in vault.entries(root, project_dir)}


def _remove_empty(directory: str) -> None:
    try:
        os.rmdir(files.inside(directory))
    except OSError:
        pass


def survey(run: Backfill, found: list[str], looked: Callable[[], None]) -> tuple[list[Source], dict[str, int]]:
    """The transcripts to read, oldest first, and how many there are of which other kind."""
    tally: dict[str, int] = {}
    wanted: dict[str, Source] = {}

    def count(kind: str) -> None:
        tally[kind] = tally.get(kind, 0) + 1

    for path in found:
        looked()
        source = open_source(path)
        kind = EMPTY if source is None else run.verdict(source)
        if kind or source is None:
            count(kind)
        elif source.session_id in wanted:
            count(KNOWN)  # a copy
            wanted[source.session_id] = max(source, wanted[source.session_id], key=lambda each: each.size)
        else:
            wanted[source.session_id] = source
    chosen = run.kept(list(wanted.values()))
    for _ in range(len(wanted) - len(chosen)):
        count(OLD)
    return chosen, tally
