"""A session played through the real hooks, for tests that look at what it leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import support

from harness_memory.base import yaml


class Life:
    """One Claude Code session in a project: its client process, transcript and hook runs."""

    def __init__(self, home: Path, cwd: Path, session_id: str | None = None, pid: int | None = None) -> None:
        self.home = home
        self.cwd = cwd
        self.store = home / ".claude" / "memory"
        self.session = support.Session(cwd, home, session_id)
        self.transcript = self.session.transcript()
        self.pid = pid
        self.extra: dict[str, str | None] = {}
        self.under = ""  # code that runs first in every hook process

    def another(self, session_id: str | None = None, pid: int | None = None) -> Life:
        """A further session here, of the same client unless another is named."""
        return Life(self.home, self.cwd, session_id, pid or self.pid)

    def run(self, script: str, payload: Any) -> support.Result:
        env = {**self.session.environment(pid=self.pid), **self.extra}
        result = support.run_hook(script, payload, home=self.home, env=env, under=self.under)
        assert (result.code, result.stderr) == (0, ""), result
        return result

    def modules_loaded(self, script: str, payload: Any) -> set[str]:
        """The modules that a hook loads."""
        command = [sys.executable, *support.FLAGS, "-X", "importtime", str(support.HOOKS / (script + ".py"))]
        env = support.clean_environment(self.home, self.session.environment(pid=self.pid))
        report = support.run(command, support.encode(payload), env, self.cwd).stderr
        return {line.rpartition("|")[2].strip() for line in report.splitlines()}

    def start(self, source: str = "startup", **extra: Any) -> support.Result:
        return self.run("session_start", self.session.start(source, **extra))

    def prompt(self, text: str, **extra: Any) -> support.Result:
        payload = self.session.prompt(text, **extra)
        result = self.run("user_prompt_submit", payload)
        self.transcript.prompt(text, promptId=self.session.prompt_id)
        return result

    def stop(self, message: str | None = None, **extra: Any) -> support.Result:
        return self.run("stop", self.session.stop(message, **extra))

    def turn(self, ask: str, answer: str, *files: str) -> support.Result:
        self.prompt(ask)
        for file in files:
            self.transcript.write(self.cwd / file)
        self.transcript.text(answer).turn_end(ask)
        return self.stop(answer)

    def compact(self) -> support.Result:
        return self.run("pre_compact", self.session.pre_compact())

    def end(self, reason: str = "other") -> support.Result:
        return self.run("session_end", self.session.end(reason))

    def checkpoint(self, value: Any, name: str = "completion-checkpoint.json", *, is_shown: bool = True) -> Path:
        """A checkpoint file in the project's `.claude`, whose writing the transcript shows."""
        path = self.cwd / ".claude" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
        if is_shown:
            self.transcript.write(path)
        return path

    # What it left
    @property
    def directory(self) -> Path:
        found = [path.parent for path in support.meta_files(self.store) if self.session.id in path.read_text("utf-8")]
        assert len(found) == 1, found
        return found[0]

    @property
    def project(self) -> Path:
        return self.directory.parent.parent.parent

    @property
    def meta(self) -> dict[str, Any]:
        return dict(yaml.load((self.directory / "META.yaml").read_text("utf-8")))

    @property
    def episode(self) -> dict[str, Any]:
        found = [value for value in support.episodes(self.store) if value["session_id"] == self.session.id]
        assert len(found) == 1, found
        return found[0]

    @property
    def has_episode(self) -> bool:
        return any(value["session_id"] == self.session.id for value in support.episodes(self.store))

    @property
    def capture(self) -> dict[str, Any]:
        return dict(json.loads((self.directory / "capture.json").read_text("utf-8")))

    @property
    def is_marked_live(self) -> bool:
        return any(self.session.id in path.read_text("utf-8") for path in self.store.glob("*/STATE/live/*.json"))

    def threads(self) -> list[dict[str, Any]]:
        text = (self.project / "STATE" / "conversation_state.json").read_text("utf-8")
        return list(json.loads(text)["threads"])


def failures(store: Path) -> list[str]:
    return [json.loads(path.read_text("utf-8"))["error"] for path in support.failures(store)]
