"""A throw-away world: its own HOME with the product installed, its own projects and API, and the real client."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, Sequence

from fake_api import MAIN, Answer, FakeApi, Request
from terminal import Terminal

REPOSITORY = Path(__file__).resolve().parents[2]
TOOLS = ("Agent", "Bash", "Edit", "Read", "TaskCreate", "TaskUpdate", "Write")
BLOCK = re.compile(r'<harness-memory-[0-9a-f]{8} project="[^"\n]*">\n.*?\n</harness-memory-[0-9a-f]{8}>', re.DOTALL)


class Ended:
    """A finished client run."""

    def __init__(self, session: str, process: subprocess.Popen[str]) -> None:
        self.session, self.pid = session, process.pid
        self.output, self.errors = process.communicate()
        self.code = process.returncode


class World:
    def __init__(self, base: Path, client: str, *, is_installed: bool = True) -> None:
        self.client = client
        self.base = base.resolve()
        self.home = self.base / "home"
        self.home.mkdir()
        self.store = self.home / ".claude" / "memory"
        # On this PATH `python3` is the interpreter under test: the model calls our command line by that name.
        (self.base / "bin").mkdir()
        (self.base / "bin" / "python3").symlink_to(sys.executable)
        self.path = os.pathsep.join([str(self.base / "bin"), os.environ.get("PATH", os.defpath)])
        self.api = FakeApi()
        self._terminals: list[Terminal] = []
        self._processes: list[subprocess.Popen[str]] = []
        if is_installed:
            self.python("install.py")

    def close(self) -> None:
        for terminal in self._terminals:
            terminal.close()
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.api.close()

    def project(self, name: str) -> Path:
        path = self.base / name
        path.mkdir()
        (path / "README.md").write_text("# %s\n" % name, encoding="utf-8")
        self.git(path, "init", "-q")
        self.git(path, "checkout", "-q", "-b", "trunk")
        self.git(path, "add", "-A")
        self.git(path, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Begin")
        return path

    def git(self, project: Path, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=str(project), env=self.environment(), check=True)

    def python(self, *arguments: str, cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """One of the repository's scripts, as the user of this HOME would run it."""
        command = [sys.executable, str(REPOSITORY / arguments[0]), *arguments[1:]]
        return subprocess.run(
            command, cwd=str(cwd or self.base), env=self.environment(), input=stdin, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip

    def environment(self, **more: str) -> dict[str, str]:
        own = {"HOME": str(self.home), "PATH": self.path, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        api = {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": self.api.url, "CLAUDE_CODE_MAX_RETRIES": "0"}
        quiet = {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return {**own, **api, **quiet, "CLAUDE_CODE_TMPDIR": str(self.base), **more}

    # Sessions
    def run(self, project: Path, prompt: str, *answers: Answer, **how: Any) -> Ended:
        """`claude -p`, to its end."""
        return Ended(*self.start(project, prompt, *answers, **how))

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
        process = subprocess.Popen(
            [*command, *options], cwd=str(project), env=self.environment(**(env or {})), encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._processes.append(process)
        return session, process

    def terminal(self, project: Path) -> tuple[str, Terminal]:
        """An interactive client; what a first start asks is answered beforehand, since hooks wait for trust."""
        path = self.home / ".claude.json"
        config = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        config.update(hasCompletedOnboarding=True, theme="dark")
        config["customApiKeyResponses"] = {"approved": ["dummy"], "rejected": []}
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        config.setdefault("projects", {}).setdefault(str(project), {}).update(trusted)
        path.write_text(json.dumps(config), encoding="utf-8")
        session = str(uuid.uuid4())
        command = [self.client, "--session-id", session, "--allowedTools", " ".join(TOOLS)]
        self._terminals.append(Terminal(command, str(project), self.environment()))
        return session, self._terminals[-1]

    def command_line(self) -> str:
        """`harness memory` as the installed permission rule lets the model call it."""
        settings = json.loads((self.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
        (rule,) = [rule for rule in settings["permissions"]["allow"] if rule.startswith("Bash(")]
        return str(rule[len("Bash(") : -len(" *)")])

    def transcript(self, session: str) -> str:
        paths = (self.home / ".claude" / "projects").glob("*/%s.jsonl" % session)
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)

    # What the model reads
    def blocks(self, prompt: str) -> list[str]:
        """Our blocks in the first request of a prompt."""
        return blocks(self.api.requests(prompt, MAIN)[0])

    # What is in the store
    def metas(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """Folder and META of every session, by the client's id."""
        from harness_memory.base import yaml

        found = {}
        for path in self.store.glob("*/WORK/*/*/META.yaml"):
            meta = dict(yaml.load(path.read_text(encoding="utf-8")))
            found[str(meta["claude_session"])] = path.parent, meta
        return found

    def record(self, session: str) -> Path:
        return self.metas()[session][0]

    def meta(self, session: str) -> dict[str, Any]:
        return self.metas()[session][1]

    def status(self, session: str) -> str:
        return str(self.metas().get(session, (None, {"status": ""}))[1]["status"])

    def memory(self, session: str) -> Path:
        """The memory of the project that a session belongs to."""
        return self.record(session).parents[2]

    def episodes(self, session: str) -> list[dict[str, Any]]:
        paths = (self.memory(session) / "episodes").glob("*-%s.json" % self.record(session).name)
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(paths)]

    def episode(self, session: str) -> dict[str, Any]:
        (found,) = self.episodes(session)
        return found

    def receipt(self, session: str) -> str:
        return (self.record(session) / "session_memory_context.md").read_text(encoding="utf-8")

    def failures(self) -> list[str]:
        return [path.read_text(encoding="utf-8") for path in self.store.glob("health/failures/*.json")]


def blocks(request: Request) -> list[str]:
    """Everything of ours in a request; a delimiter outside a whole block is an error."""
    text = request.text()
    found = BLOCK.findall(text)
    assert text.count("<harness-memory") == text.count("</harness-memory") == len(found)
    assert "<persisted-output>" not in text
    return [str(block) for block in found]


def files_below(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())
