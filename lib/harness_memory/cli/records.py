"""Sessions as the command line knows them: META and episode of each, joined, newest first."""

from __future__ import annotations

import os

from ..base import clock, settings
from ..base import files as store
from ..base.text import first_sentence
from ..session import capture, episode, liveness, sessions
from ..session.sessions import day_and_id
from .output import line, local
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..session.sessions import Session


_RECENT = 20


class Record:
    """One session; at least one of `session` and `episode` is there."""

    __slots__ = ("episode", "episode_name", "project_dir", "session")

    def __init__(self, project_dir: str, session: Session | None, name: str, value: dict[str, Any] | None) -> None:
        self.project_dir = project_dir
        self.session = session
        self.episode_name = name
        self.episode = value

    @property
    def meta(self) -> dict[str, Any]:
        return self.session.meta if self.session else {}

    @property
    def id(self) -> str:
        return self.session.id if self.session else str((self.episode or {}).get("id"))

    @property
    def claude_id(self) -> str:
        return str(self.meta.get("claude_session") or (self.episode or {}).get("session_id") or "")

    @property
    def started(self) -> str:
        return str(self.meta.get("started") or (self.episode or {}).get("started") or self.meta.get("date") or "")

    @property
    def seen(self) -> float:
        """When it last gave a sign; that of a session at work is in its record's time."""
        ends = (self.meta.get("ended"), (self.episode or {}).get("ended"), self.started)
        known = max(clock.parse(end) or 0.0 for end in ends)
        return max(known, self.saved) if self.status == settings.ACTIVE else known

    @property
    def saved(self) -> float:
        try:
            return os.stat(os.path.join(self.session.dir, settings.META_FILE)).st_mtime if self.session else 0.0
        except OSError:
            return 0.0

    @property
    def status(self) -> str:
        return str(self.meta.get("status") or settings.COMPLETED)

    @property
    def is_alive(self) -> bool | None:
        """Is its process there? None when that cannot be known."""
        marker = sessions.read_marker(self.project_dir, self.claude_id)
        if not marker:
            return None if self.status == settings.ACTIVE else False
        process = marker.get("process")
        return liveness.is_alive(process if isinstance(process, dict) else {})

    @property
    def state(self) -> str:
        """The status a person is shown."""
        return shown_status(self.status, self.is_alive) if self.status == settings.ACTIVE else self.status

    @property
    def branch(self) -> str:
        return str((self.episode or {}).get("branch") or self.meta.get("branch") or "")

    @property
    def minutes(self) -> int | None:
        worked = (self.episode or {}).get("duration_minutes")
        return worked if isinstance(worked, int) else None

    @property
    def files(self) -> list[str]:
        listed = self.episode["files_changed"] if self.episode else self.meta.get("artifacts")
        return [str(item) for item in listed] if isinstance(listed, list) else []

    @property
    def headline(self) -> str:
        if self.episode:
            return episode.headline(self.episode)
        return first_sentence(str(self.meta.get("summary") or self._asked()), settings.SUMMARY_LINE_CHARS)

    @property
    def paths(self) -> dict[str, str]:
        """Its files that are there."""
        found = {}
        if self.session:
            names = (settings.META_FILE, settings.SUMMARY_FILE, settings.CAPTURE_FILE, settings.RECEIPT_FILE)
            found = {name: os.path.join(self.session.dir, name) for name in names}
        found["episode"] = os.path.join(self.project_dir, settings.EPISODES_DIR, self.episode_name)
        return {name: path for name, path in found.items() if os.path.lexists(path)}

    @property
    def artifacts(self) -> list[str]:
        if not self.session:
            return []
        return [os.path.join(self.session.artifacts, name) for name in store.names(self.session.artifacts)]

    def brief(self) -> dict[str, Any]:
        """One line of `list --json`."""
        return {
            "id": self.id,
            "session_id": self.claude_id,
            "project": os.path.basename(self.project_dir),
            "started": self.started,
            "ended": self.meta.get("ended") or (self.episode or {}).get("ended"),
            "status": self.status,
            "alive": self.is_alive,
            "minutes": self.minutes,
            "branch": self.branch,
            "headline": self.headline,
            "files": len(self.files),
            "has_episode": self.episode is not None,
        }

    def _asked(self) -> str:
        asks = capture.asks(captured(self.session)) if self.session else []
        return asks[0] if asks else ""


def captured(session: Session) -> dict[str, Any]:
    """What was gathered so far; unlike the hooks, who looks leaves a damaged file where it is."""
    return sessions.read_capture(session.dir) or capture.new()


def shown_status(status: str, is_alive: bool | None) -> str:
    return settings.DIED if status == settings.ACTIVE and is_alive is False else status


def load_all(project_dir: str) -> list[Record]:
    """Every readable session of a project, newest first."""
    return _load(project_dir, [*_handles(project_dir)])


def load_newest(project_dir: str, limit: int) -> tuple[list[Record], int]:
    """The sessions that began last, and how many there are in all, without reading the others."""
    handles = sorted(_handles(project_dir), key=lambda handle: handle.began, reverse=True)
    chosen = handles[:limit]
    while 0 < len(chosen) < len(handles) and handles[len(chosen)].day == chosen[-1].day and not chosen[-1].episode:
        chosen.append(handles[len(chosen)])  # where no episode tells when it began
    found = _load(project_dir, chosen)
    if len(found) < min(limit, len(handles)):  # some cannot be read
        everything = load_all(project_dir)
        return everything[:limit], len(everything)
    return found[:limit], len(handles) - (len(chosen) - len(found))


def load_likely(project_dir: str, word: str) -> list[Record]:
    """The sessions that a word may mean, as far as the names of their files tell."""
    handles = [*_handles(project_dir)]
    if word == "last":
        recent = sorted(handles, key=lambda handle: handle.saved, reverse=True)[:_RECENT]
        begun = sorted(handles, key=lambda handle: handle.began, reverse=True)[:_RECENT]
        return _load(project_dir, [*{id(handle): handle for handle in (*recent, *begun)}.values()])
    name = os.path.basename(word.replace("\\", "/"))
    likely = [each for each in handles if each.episode in (name, name + ".json") or each.is_like(word)]
    return matching(_load(project_dir, likely), word) if word else []


class _Handle:
    """A session by the names of its files, none of them read."""

    __slots__ = ("directory", "episode", "path")

    def __init__(self, directory: str, episode_name: str, path: str) -> None:
        self.directory = directory
        self.episode = episode_name
        self.path = path

    @property
    def day(self) -> str:
        return os.path.basename(os.path.dirname(self.directory)) if self.directory else self.began[:10]

    @property
    def began(self) -> str:
        return self.episode[len(settings.EPISODE_PREFIX) :] if self.episode else self.day + "U"  # after any hour of it

    @property
    def saved(self) -> float:
        return store.modified(self.path)

    def is_like(self, word: str) -> bool:
        name = os.path.basename(self.directory) if self.directory else day_and_id(self.episode)[1]
        return name.startswith(word) or word.startswith(name)


def _handles(project_dir: str) -> Iterator[_Handle]:
    episodes = {day_and_id(name): name for name in episode.names(project_dir)}
    for directory in sessions.all_directories(project_dir):
        day, name = directory.split(os.sep)[-2:]
        yield _Handle(directory, episodes.pop((day, name), ""), os.path.join(directory, settings.META_FILE))
    for name in episodes.values():
        yield _Handle("", name, os.path.join(project_dir, settings.EPISODES_DIR, name))


def _load(project_dir: str, handles: list[_Handle]) -> list[Record]:
    """The readable ones of these sessions, newest first."""
    found = []
    for handle in handles:
        session = sessions.load(handle.directory) if handle.directory else None
        name = handle.episode or (session.episode_name if session else "")
        value = episode.load(project_dir, name) if handle.episode else None
        if session or value:
            found.append(Record(project_dir, session, name, value))
    return sorted(found, key=lambda record: (record.started, record.id), reverse=True)


def matching(records: list[Record], word: str) -> list[Record]:
    """The records a person may mean: an id, its beginning, or the name of an episode's file."""
    name = os.path.basename(word.replace("\\", "/"))
    exact = [r for r in records if word in (r.id, r.claude_id) or r.episode_name in (name, name + ".json")]
    return exact or [r for r in records if word and (r.id.startswith(word) or r.claude_id.startswith(word))]


def latest(records: list[Record], other_than: str = "") -> Record | None:
    """The session last at work; `other_than` is Claude's id of one that does not count."""
    others = [record for record in records if not other_than or record.claude_id != other_than]
    return max(others, key=lambda record: (record.seen, record.saved), default=None)


def last(records: list[Record]) -> Record | None:
    # Inside Claude Code the present session is always the latest, and never the one that is meant.
    return latest(records, os.environ.get(settings.ENV_SESSION_ID, ""))


def chosen(known: list[Record], word: str, what: str = "session") -> Record:
    """The one session a person means by an id, its beginning, an episode's file name, or "last"."""
    newest = last(known) if word == "last" else None
    found = [newest] if newest else matching(known, word)
    if len(found) == 1:
        return found[0]
    if found:
        rows = "\n".join("  %s  %s  %s" % (r.id, local(r.started), line(r.headline)) for r in found)
        raise Refusal('"%s" is the beginning of %d sessions; give more of the id:\n%s' % (word, len(found), rows))
    if word == "last":
        raise Refusal("no session is remembered here yet. Other projects: harness memory list --all-projects")
    raise Refusal('no %s "%s" in this project. See: harness memory list' % (what, line(word)))
