"""A throw-away world: its own HOME with the product installed in it, its own projects, its own API, the real client."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import uuid
from pathlib import Path

from fake_api import FakeApi
from terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

    from fake_api import Answer

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = ("Agent", "Bash", "Edit", "Read", "TaskCreate", "TaskUpdate", "Write")
CLIENT_SECONDS = 240
# Without these Windows starts no process; nothing else of the caller's environment reaches the client.
PASSED_ON = ("COMSPEC", "PATHEXT", "SYSTEMROOT", "WINDIR")


class Ended:
    """A client run that is over."""

    __slots__ = ("code", "errors", "output", "pid", "session")

    def __init__(self, session: str, process: subprocess.Popen[str]) -> None:
        self.session, self.pid = session, process.pid
        self.output, self.errors = process.communicate(timeout=CLIENT_SECONDS)
        self.code = process.returncode


class World:
    def __init__(self, base: Path, client: str) -> None:
        self.client = client
        self.base = base.resolve()
        self.home = self.base / "home"
        self.home.mkdir()
        self.store = self.home / ".claude" / "memory"
        self.path = self._python_first(self.base / "bin")
        self.api = FakeApi()
        self._terminals: list[Terminal] = []
        self._processes: list[subprocess.Popen[str]] = []
        self.installed = self.python("install.py")

    @staticmethod
    def _python_first(folder: Path) -> str:
        """A PATH on which `python3` is the interpreter under test: the model calls our command line by that name."""
        folder.mkdir()
        if sys.platform != "win32":
            (folder / "python3").symlink_to(sys.executable)
        return os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])

    def close(self) -> None:
        for terminal in self._terminals:
            terminal.close()
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.api.close()

    # Things to work in and with

    def project(self, name: str, git: bool = True) -> Path:
        path = self.base / name
        path.mkdir()
        (path / "README.md").write_text("# %s\n" % name, encoding="utf-8")
        if git:
            self.git(path, "init", "-q")
            self.git(path, "checkout", "-q", "-b", "trunk")
            self.git(path, "add", "-A")
            self.git(path, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Begin")
        return path

    def git(self, project: Path, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=str(project), env=self.environment(), check=True)

    def python(
        self, *arguments: str, cwd: Path | None = None, stdin: str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """One of the repository's scripts, as the person whose HOME this is would run it."""
        command = [sys.executable, str(REPOSITORY / arguments[0]), *arguments[1:]]
        return subprocess.run(
            command, cwd=str(cwd or self.base), env=self.environment(**(env or {})), input=stdin, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=CLIENT_SECONDS,
        )  # fmt: skip

    def environment(self, **more: str) -> dict[str, str]:
        env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        env.update(
            HOME=str(self.home),
            USERPROFILE=str(self.home),
            PATH=self.path,
            LANG="C.UTF-8",
            TERM="xterm-256color",
            ANTHROPIC_API_KEY="dummy",
            ANTHROPIC_BASE_URL=self.api.url,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            CLAUDE_CODE_MAX_RETRIES="0",
            CLAUDE_CODE_TMPDIR=str(self.base),
            DISABLE_AUTOUPDATER="1",
            GIT_CONFIG_NOSYSTEM="1",
        )
        env.update(more)
        return env

    # Sessions

    def run(self, project: Path, prompt: str, *answers: Answer, **how: Any) -> Ended:
        """`claude -p`, to its end."""
        session, process = self.start(project, prompt, *answers, **how)
        return Ended(session, process)

    def start(
        self,
        project: Path,
        prompt: str,
        *answers: Answer,
        resume: str = "",
        fork: bool = False,
        tools: Sequence[str] = TOOLS,
        env: dict[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> tuple[str, subprocess.Popen[str]]:
        if answers:
            self.api.play(prompt, *answers)
        session = resume if resume and not fork else str(uuid.uuid4())
        command = [self.client, "-p", prompt]
        command += ["--resume", resume] if resume else []
        command += ["--fork-session"] if fork else []
        command += ["--session-id", session] if session != resume else []
        command += ["--allowedTools", " ".join(tools)] if tools else []
        command += options
        process = subprocess.Popen(
            command, cwd=str(project), env=self.environment(**(env or {})), encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._processes.append(process)
        return session, process

    def terminal(self, project: Path) -> tuple[str, Terminal]:
        self._trust(project)
        session = str(uuid.uuid4())
        command = [self.client, "--session-id", session, "--allowedTools", " ".join(TOOLS)]
        terminal = Terminal(command, str(project), self.environment())
        self._terminals.append(terminal)
        return session, terminal

    def _trust(self, project: Path) -> None:
        """Answers beforehand what a first start in a terminal asks; hooks wait for that trust."""
        path = self.home / ".claude.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        known.update(
            hasCompletedOnboarding=True, theme="dark", customApiKeyResponses={"approved": ["dummy"], "rejected": []}
        )
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known.setdefault("projects", {}).setdefault(str(project), {}).update(trusted)
        path.write_text(json.dumps(known), encoding="utf-8")

    def command_line(self) -> str:
        """`harness memory` as the installed permission rule lets the model call it."""
        settings = json.loads((self.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
        (rule,) = [rule for rule in settings["permissions"]["allow"] if rule.startswith("Bash(")]
        return str(rule[len("Bash(") : -len(" *)")])

    def transcript(self, session: str) -> str:
        for path in (self.home / ".claude" / "projects").glob("*/%s.jsonl" % session):
            return path.read_text(encoding="utf-8", errors="replace")
        return ""

    # What is left in the store

    def records(self) -> Iterator[Path]:
        return self.store.glob("*/WORK/*/*/META.yaml")

    def record(self, session: str) -> Path:
        """The directory of a session's record."""
        found = [path.parent for path in self.records() if read_meta(path)["claude_session"] == session]
        assert len(found) == 1, "%d records of session %s" % (len(found), session)
        return found[0]

    def status(self, session: str) -> str:
        """The session's status, or nothing as long as there is no record."""
        found = [read_meta(path) for path in self.records()]
        return next((str(meta["status"]) for meta in found if meta["claude_session"] == session), "")

    def sessions_of(self, memory: Path) -> set[str]:
        return {str(read_meta(path)["claude_session"]) for path in memory.glob("WORK/*/*/META.yaml")}

    def meta(self, session: str) -> dict[str, Any]:
        return read_meta(self.record(session) / "META.yaml")

    def memory(self, session: str) -> Path:
        """The memory of the project that a session belongs to."""
        return self.record(session).parents[2]

    def episodes(self, session: str) -> list[dict[str, Any]]:
        """Every episode of a session: one, or none if it had no substance."""
        folder, name = self.memory(session) / "episodes", self.record(session).name
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*-%s.json" % name))]

    def episode(self, session: str) -> dict[str, Any]:
        (found,) = self.episodes(session)
        return found

    def threads(self, session: str) -> list[dict[str, Any]]:
        """The threads of the conversation ledger that a session is part of."""
        path = self.memory(session) / "STATE" / "conversation_state.json"
        name = self.record(session).name
        return [t for t in json.loads(path.read_text(encoding="utf-8"))["threads"] if name in t["sessions"]]

    def failures(self) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in self.store.glob("health/failures/*.json")]


def read_meta(path: Path) -> dict[str, Any]:
    from harness_memory.base import yaml

    return dict(yaml.load(path.read_text(encoding="utf-8")))


def files_below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
