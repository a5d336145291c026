"""Sessions as the command line shows them: META and episode of each, joined, newest first."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..base.text import first_sentence
from ..session import capture, episode, liveness, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session


class Record:
    """One session; at least one of `session` and `episode` is there."""

    __slots__ = (
        *("branch", "claude_id", "ended", "episode", "episode_name", "files", "id", "meta", "minutes"),
        *("project_dir", "session", "started", "status"),
    )

    def __init__(self, project_dir: str, session: Session | None, name: str, value: dict[str, Any] | None) -> None:
        meta: dict[str, Any] = session.meta if session else {}
        known = value or {}
        self.project_dir = project_dir
        self.session = session
        self.meta = meta
        self.episode = value
        self.episode_name = name
        self.id = str(meta.get("session_id") or known.get("id"))
        self.claude_id = str(meta.get("claude_session") or known.get("session_id") or "")
        self.started = str(meta.get("started") or known.get("started") or "")
        self.ended = str(meta.get("ended") or known.get("ended") or "")
        self.status = str(meta.get("status") or settings.COMPLETED)
        self.branch = str(known.get("branch") or meta.get("branch") or "")
        self.minutes: int | None = known.get("duration_minutes")
        listed = known.get("files_changed") or meta.get("artifacts")
        self.files = [str(item) for item in listed] if isinstance(listed, list) else []

    @property
    def seen(self) -> float:
        """When it last gave a sign; a running session's META is as old as its last sign."""
        ends = (self.meta.get("ended"), (self.episode or {}).get("ended"), self.started)
        last = max(clock.parse(end) or 0.0 for end in ends)
        is_running = self.session and self.status == settings.ACTIVE
        return max(last, files.modified(self.paths[settings.META_FILE])) if is_running else last

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
    def headline(self) -> str:
        if self.episode:
            return episode.headline(self.episode)
        prompts = capture.load(self.session.dir).prompts() if self.session else []
        return first_sentence(str(self.meta.get("summary") or (prompts or [""])[0]), settings.SUMMARY_LINE_CHARS)

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
            "ended": self.ended or None,
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


def load_all(project_dir: str) -> list[Record]:
    """Every readable session of a project, newest first."""
    names = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    found = []
    for directory in sessions.all_directories(project_dir):
        session = sessions.load(directory)
        day, short_id = directory.split(os.sep)[-2:]
        name = names.pop((day, short_id), "")
        value = episode.load(project_dir, name) if name else None
        if session or value:
            found.append(Record(project_dir, session, name or (session.episode_name if session else ""), value))
    values = {name: episode.load(project_dir, name) for name in names.values()}
    found += [Record(project_dir, None, name, value) for name, value in values.items() if value]
    return sorted(found, key=lambda record: (record.started, record.id), reverse=True)
