"""Sessions as the command line shows them: META and episode of each, joined, newest first."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.text import first_sentence
from ..session import capture, episode, liveness, sessions
from ..session.sessions import day_and_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session

    Handle = tuple[str, str, str]  # when it began, its directory or "", its episode's name or ""


class Record:
    """One session; at least one of `session` and `episode` is there."""

    __slots__ = ("episode", "episode_name", "meta", "project_dir", "session")

    def __init__(self, project_dir: str, session: Session | None, name: str, value: dict[str, Any] | None) -> None:
        self.project_dir = project_dir
        self.session = session
        self.meta: dict[str, Any] = session.meta if session else {}
        self.episode_name = name
        self.episode = value

    def _fact(self, meta: str, name: str) -> str:
        return str(self.meta.get(meta) or (self.episode or {}).get(name) or "")

    @property
    def id(self) -> str:
        return self._fact("session_id", "id")

    @property
    def claude_id(self) -> str:
        return self._fact("claude_session", "session_id")

    @property
    def started(self) -> str:
        return self._fact("started", "started")

    @property
    def branch(self) -> str:
        return str((self.episode or {}).get("branch") or self.meta.get("branch") or "")

    @property
    def saved(self) -> float:
        return files.modified(os.path.join(self.session.dir, settings.META_FILE)) if self.session else 0.0

    @property
    def seen(self) -> float:
        """When it last gave a sign; a running session's META is as old as its last sign."""
        ends = (self.meta.get("ended"), (self.episode or {}).get("ended"), self.started)
        last = max(clock.parse(end) or 0.0 for end in ends)
        return max(last, self.saved) if self.status == settings.ACTIVE else last

    @property
    def status(self) -> str:
        return str(self.meta.get("status") or settings.COMPLETED)

    @property
    def is_alive(self) -> bool | None:
        """Whether its process is there; None when that cannot be known."""
        marker = sessions.read_marker(self.project_dir, self.claude_id)
        if not marker:
            return None if self.status == settings.ACTIVE else False
        return liveness.is_alive(marker["process"])

    @property
    def state(self) -> str:
        """The status a person is shown."""
        return shown_status(self.status, self.is_alive) if self.status == settings.ACTIVE else self.status

    @property
    def minutes(self) -> int | None:
        return self.episode["duration_minutes"] if self.episode else None

    @property
    def files(self) -> list[str]:
        listed = self.episode["files_changed"] if self.episode else self.meta.get("artifacts")
        return [str(item) for item in listed] if isinstance(listed, list) else []

    @property
    def headline(self) -> str:
        if self.episode:
            return episode.headline(self.episode)
        prompts = capture.load(self.session.dir).prompts() if self.session else []
        text = str(self.meta.get("summary") or (prompts or [""])[0])
        return first_sentence(text, settings.SUMMARY_LINE_CHARS)

    @property
    def paths(self) -> dict[str, str]:
        """Its files that exist."""
        names = (settings.META_FILE, settings.SUMMARY_FILE, settings.CAPTURE_FILE, settings.RECEIPT_FILE)
        paths = {name: os.path.join(self.session.dir, name) for name in names} if self.session else {}
        paths["episode"] = episode.path_of(self.project_dir, self.episode_name)
        return {name: path for name, path in paths.items() if os.path.lexists(path)}

    @property
    def artifacts(self) -> list[str]:
        folder = self.session.artifacts if self.session else ""
        return [os.path.join(folder, name) for name in files.names(folder)] if folder else []

    def brief(self) -> dict[str, Any]:
        """One line of `list --json`."""
        return {
            "id": self.id,
            "session_id": self.claude_id,
            "project": os.path.basename(self.project_dir),
            "started": self.started,
            "ended": self._fact("ended", "ended") or None,
            "status": self.status,
            "alive": self.is_alive,
            "minutes": self.minutes,
            "branch": self.branch,
            "headline": self.headline,
            "files": len(self.files),
            "has_episode": self.episode is not None,
        }


def shown_status(status: str, is_alive: bool | None) -> str:
    return settings.DIED if status == settings.ACTIVE and is_alive is False else status


def handles(project_dir: str) -> list[Handle]:
    """Every session by the names of its files, none of them read; newest first."""
    episodes = {day_and_id(name): name for name in episode.names(project_dir)}
    found = []
    for directory in sessions.all_directories(project_dir):
        day, name = directory.split(os.sep)[-2:]
        found.append(
            (directory, episodes.pop((day, name), ""), day + "U")
        )  # without episode: after any hour of its day
    found += [("", name, "") for name in episodes.values()]
    began = [(name[len(settings.EPISODE_PREFIX) :] or day, directory, name) for directory, name, day in found]
    return sorted(began, reverse=True)


def load(project_dir: str, some: list[Handle]) -> list[Record]:
    """The readable ones of these sessions, newest first."""
    found = []
    for _, directory, name in some:
        session = sessions.load(directory) if directory else None
        value = episode.load(project_dir, name) if name else None
        if session or value:
            found.append(Record(project_dir, session, name or (session.episode_name if session else ""), value))
    return sorted(found, key=lambda record: (record.started, record.id), reverse=True)


def load_all(project_dir: str) -> list[Record]:
    return load(project_dir, handles(project_dir))


def load_newest(project_dir: str, limit: int) -> tuple[list[Record], int]:
    """The sessions that began last, and how many there are in all, without reading the others."""
    every = handles(project_dir)
    return load(project_dir, every[:limit]), len(every)
