"""Sessions as commands see them: META and episode of each, read when they are asked for."""

from __future__ import annotations

import os
from functools import cached_property

from ..base import clock, files, settings
from ..base.text import first_sentence
from ..base.typing import Fields
from ..session import capture, episode, life, sessions

_FILES = (settings.META_FILE, settings.SUMMARY_FILE, settings.CAPTURE_FILE, settings.RECEIPT_FILE)


class Record:
    """One session: its `directory` and the name of its episode, each "" when it has none."""

    def __init__(self, project_dir: str, directory: str, episode_name: str) -> None:
        self.project_dir = project_dir
        self.directory = directory
        self.episode_name = episode_name
        self.episode_path = episode.path_of(project_dir, episode_name) if episode_name else ""
        day_and_id = directory.split(os.sep)[-2:] if directory else sessions.day_and_id(episode_name)
        self.owner, self.id = "/".join(day_and_id), day_and_id[1]  # `<day>/<id>`, in names of files
        named = clock.unstamp(episode_name[len(settings.EPISODE_PREFIX) :])
        self.started = named or str(self.meta.get("started") or "")

    @cached_property
    def meta(self) -> Fields:
        """{} without a directory, or when META.yaml cannot be read."""
        session = sessions.load(self.directory) if self.directory else None
        return session.meta if session else {}

    @cached_property
    def episode(self) -> Fields | None:
        return episode.load(self.project_dir, self.episode_name) if self.episode_name else None

    @cached_property
    def marker(self) -> Fields:
        """Of a session that has not ended."""
        claude_id = self.status == settings.ACTIVE and self.meta.get("claude_session")
        return sessions.read_marker(self.project_dir, str(claude_id)) if claude_id else {}

    @cached_property
    def is_dead(self) -> bool:
        return bool(self.marker) and life.is_alive(self.marker["process"]) is False

    @property
    def claude_id(self) -> str:
        return str(self.meta.get("claude_session") or (self.episode or {}).get("session_id") or "")

    @property
    def status(self) -> str:
        return str(self.meta.get("status") or settings.COMPLETED)

    @property
    def branch(self) -> str:
        return str((self.episode or {}).get("branch") or self.meta.get("branch") or "")

    @property
    def seen(self) -> float:
        """When it last gave a sign; a running session's META is as old as its last sign."""
        ends = (self.meta.get("ended"), (self.episode or {}).get("ended"), self.started)
        last = max(clock.parse(end) or 0.0 for end in ends)
        is_running = self.meta and self.status == settings.ACTIVE
        return max(last, files.modified(os.path.join(self.directory, settings.META_FILE))) if is_running else last

    @property
    def state(self) -> str:
        """What a person calls it: a session that ended in the middle of a turn is not COMPLETED to them."""
        if self.status == settings.ACTIVE:
            return settings.DIED if self.is_dead else settings.ACTIVE if self.marker else "elsewhere"  # another machine
        turn = capture.load(self.directory).turn if self.directory and not self.episode else ""
        outcome = str((self.episode or {}).get("outcome") or turn)
        is_cut = self.status == settings.COMPLETED and outcome in ("interrupted", "failed")
        return outcome if is_cut else self.status

    @property
    def headline(self) -> str:
        if self.episode:  # the state says already that it was cut off
            text, is_said = episode.headline(self.episode), self.state != settings.COMPLETED
            return text.replace(" (%s)" % self.episode["outcome"], "") if is_said else text
        prompts = capture.load(self.directory).prompts() if self.directory else []
        return first_sentence(str(self.meta.get("summary") or (prompts or [""])[0]), settings.SUMMARY_LINE_CHARS)

    @property
    def paths(self) -> dict[str, str]:
        paths = {name: os.path.join(self.directory, name) for name in _FILES} if self.directory else {}
        return {name: path for name, path in {**paths, "episode": self.episode_path}.items() if os.path.lexists(path)}

    @property
    def artifacts(self) -> list[str]:
        folder = os.path.join(self.directory or self.project_dir, settings.ARTIFACTS_DIR)
        return [os.path.join(folder, name) for name in files.names(folder)]

    def brief(self) -> Fields:
        value = self.episode or {}
        listed = value.get("files_changed") or self.meta.get("artifacts")
        return {
            **{key: getattr(self, key) for key in ("id", "started", "branch", "headline")},
            "status": self.state,
            "session_id": self.claude_id,
            "project": os.path.basename(self.project_dir),
            "name": os.path.basename(self.project_dir).rpartition("-")[0],
            "ended": self.meta.get("ended") or value.get("ended"),
            "minutes": value.get("duration_minutes"),
            "files": len(listed) if isinstance(listed, list) else 0,
            "has_episode": bool(self.episode_name and self.episode),
        }


def load_all(project_dir: str) -> list[Record]:
    """Every session of a project, newest first; META is read only where no episode says when it started."""
    names: dict[tuple[str, ...], str] = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    directories = {tuple(path.split(os.sep)[-2:]): path for path in sessions.all_directories(project_dir)}
    keys = dict.fromkeys((*names, *directories))
    every = [Record(project_dir, directories.get(key, ""), names.get(key, "")) for key in keys]
    return sorted((each for each in every if each.started), key=lambda each: (each.started, each.id), reverse=True)
