"""Promises proved while hooks run: no socket, no process, no write but to the store and a claimed checkpoint, no child
left behind, no word of one project in another."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, Iterator

import full_memory
import pytest
import support
import watch
from full_memory import READING, Memory
from life import Life

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors are passed on as POSIX does")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    top = tmp_path_factory.mktemp("promised")
    (top / "home" / ".claude").mkdir(parents=True)
    return full_memory.fill(top / "home", support.make_repo(top / "project"), lambda place: "canary " + place)


class Watched(Life):
    """A session whose hooks are fresh processes, each with an audit hook inside; `strays` is what was reported."""

    def __init__(self, home: Path, cwd: Path) -> None:
        super().__init__(home, cwd, pid=os.getpid())
        self.allowed = [str(self.store), str(cwd / ".claude" / "completion-checkpoint") + "*"]
        self.strays: list[tuple[str, str]] = []

    def run(self, script: str, payload: Any) -> support.Result:
        reading, writing = os.pipe()
        words = [watch.__file__, str(writing), os.pathsep.join(self.allowed), str(support.HOOKS / (script + ".py"))]
        done = subprocess.run(
            [sys.executable, *support.FLAGS, "-B", *words],
            input=support.encode(payload),
            env=support.clean_environment(self.home, {**self.session.environment(pid=self.pid), **self.extra}),
            cwd=str(self.cwd),
            pass_fds=[writing],
            capture_output=True,
            check=False,
        )
        os.close(writing)
        with open(reading, "rb") as report:
            self.strays = watch.strays(report.read())
        assert (done.returncode, done.stderr) == (0, b""), (script, done)
        return support.Result(done.returncode, done.stdout, done.stderr, 0.0)


def every_event(life: Life) -> Iterator[tuple[str, bool, support.Result]]:
    """Every kind of event in an order in which each has work to do, and whether it has to say something."""
    call = life.session.tool_call
    yield "start, recovering a dead session", True, life.start()
    yield "call with a note", True, life.run("pre_tool_use", call("Bash", {"command": "make deploy"}))
    yield "prompt that recalls", True, life.prompt("canary note fact of the gateway rule, canary ask")
    yield "quiet call", False, life.run("pre_tool_use", call("Bash", {"command": "ls -l"}))
    yield "denied call", True, life.run("pre_tool_use", call("Bash", {"command": "rm -rf ~"}))
    yield "asked call", True, life.run("pre_tool_use", call("Bash", {"command": "git push --force origin main"}))
    yield "skill", True, life.run("pre_tool_use", call("Skill", {"skill": "deploy"}))
    subagent = {**life.session.start(), "hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "x"}
    yield "subagent", True, life.run("subagent_start", subagent)
    life.transcript.write(life.cwd / "cart.py").text("The totals are rounded once, at the very end of it.")
    (life.cwd / ".claude").mkdir(exist_ok=True)
    checkpoint = json.dumps({"what_was_done": "Claimed.", "session_id": life.session.id})
    (life.cwd / ".claude" / "completion-checkpoint.json").write_text(checkpoint, "utf-8")
    yield "stop that claims a checkpoint", False, life.stop("The totals are rounded once, at the very end of it.")
    yield "pre-compact", True, life.compact()
    yield "compact", True, life.start("compact")
    for source in ("resume", "fork", "clear"):
        yield source, False, life.start(source)
    yield "end", False, life.end()


def outside(memory: Memory) -> dict[str, Any]:
    """Everything but the store, the transcripts (which the client writes) and the checkpoint."""
    skipped = (str(memory.root), str(memory.home / ".claude" / "projects"))
    found = {}
    for folder, names, files in os.walk(str(memory.home.parent)):
        names[:] = [name for name in names if os.path.join(folder, name) not in skipped]
        for name in [*names, *files]:
            info = os.lstat(os.path.join(folder, name))
            if not name.startswith("completion-checkpoint") and name != ".claude":
                found[os.path.join(folder, name)] = (info.st_mode, info.st_size, info.st_mtime_ns)
    return found


@posix
def test_no_hook_opens_a_socket_starts_a_process_or_writes_elsewhere(memory: Memory) -> None:
    life = Watched(memory.home, memory.repo)
    before = outside(memory)
    for name, speaks, result in every_event(life):
        assert life.strays == [], name
        assert result.stdout or not speaks, name
    assert life.episode["what_was_done"] == "Claimed."
    for payload in (b"{", life.session.prompt("hello", cwd="/nowhere", transcript_path="/dev/zero")):
        for script in ("session_start", "user_prompt_submit", "pre_tool_use", "subagent_start", "stop", "session_end"):
            life.run(script, payload)
            assert life.strays == [], (script, payload)
    life.extra = {"HARNESS_MEMORY": "off"}
    life.start()
    assert life.strays == []
    assert outside(memory) == before


@posix
@pytest.mark.parametrize(
    ("code", "events"),
    [
        ("import socket\nsocket.socket()", ["import", "socket.__new__"]),
        ("import subprocess\nsubprocess.run(['true'])", ["import", "subprocess.Popen"]),
        ("import os\nos.system('true')", ["os.system"]),
        ("import os\nos.fork() or os._exit(0)", ["os.fork"]),
        ("import os\nos.open('elsewhere', os.O_CREAT | os.O_WRONLY)", ["open"]),
        ("import os\nos.mkdir('elsewhere'); os.chmod('.', 0o700)", ["os.mkdir", "os.chmod"]),
    ],
)
def test_the_audit_hook_reports_what_is_forbidden(home: Path, tmp_path: Path, code: str, events: list[str]) -> None:
    life = Watched(home, tmp_path)
    script = tmp_path / "script.py"
    script.write_text(code, "utf-8")
    life.run(os.path.relpath(str(script)[: -len(".py")], str(support.HOOKS)), {})
    assert {*events} <= {event for event, _ in life.strays}


# As installed ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def installed(memory: Memory) -> dict[str, str]:
    """The command lines of settings.json, by event."""
    script = [sys.executable, str(support.ROOT / "install.py")]
    environment = support.clean_environment(memory.home)
    subprocess.run(script, env=environment, cwd=str(memory.home), capture_output=True, check=True)
    hooks = json.loads((memory.home / ".claude" / "settings.json").read_text("utf-8"))["hooks"]
    return {event: groups[0]["hooks"][0]["command"] for event, groups in hooks.items()}


class Installed(Life):
    """A session whose hooks run as the client runs them: `sh -c`, in a process group of their own."""

    def __init__(self, memory: Memory, commands: dict[str, str], before: tuple[str, ...] = ()) -> None:
        super().__init__(memory.home, memory.repo, pid=os.getpid())
        self.commands = commands
        self.before = before
        self.mark = uuid.uuid4().hex

    def run(self, script: str, payload: Any) -> support.Result:
        env = {**self.session.environment(pid=self.pid), "PROMISED": self.mark}
        hook = subprocess.Popen(
            [*self.before, "sh", "-c", self.commands[payload["hook_event_name"]]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=support.clean_environment(self.home, env),
            cwd=str(self.cwd),
            start_new_session=True,
        )
        out, err = hook.communicate(support.encode(payload), timeout=120)
        assert (hook.returncode, err) == (0, b""), (script, err)
        assert left_behind(hook.pid, self.mark) == [], script
        return support.Result(hook.returncode, out, err, 0.0)


def left_behind(group: int, mark: str) -> list[str]:
    """Processes of a group or session, or with a mark in their environment."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        try:
            fields = Path("/proc", name, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            environment = Path("/proc", name, "environ").read_bytes()
        except (OSError, ValueError):
            continue
        if str(group) in (name, *fields[1:4]) or mark.encode() in environment:
            found.append("%s %s" % (name, " ".join(fields[:4])))
    return found


@posix
def test_installed_hooks_leave_no_process_behind(memory: Memory, installed: dict[str, str]) -> None:
    life = Installed(memory, installed)
    before = outside(memory)
    for _ in every_event(life):
        pass
    assert life.episode["what_was_done"] == "Claimed."
    assert outside(memory) == before


@posix
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_kernel_sees_no_socket_and_no_process(memory: Memory, installed: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "calls"
    watching = ("strace", "-f", "-qq", "-A", "-o", str(log), "-e", "trace=network,execve,clone,clone3,fork,vfork")
    if subprocess.run([*watching, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("strace may not be used here")
    log.write_text("", "utf-8")
    life = Installed(memory, installed, watching)
    life.start()
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    life.stop("The totals are rounded once, at the very end of it.")
    calls = [line.partition(" ")[2].strip() for line in log.read_text("utf-8").splitlines()]
    starts = [line for line in calls if line.startswith(("clone", "fork", "vfork")) and "CLONE_THREAD" not in line]
    assert len(starts) <= 3, starts  # the shell's own, to start the interpreter
    assert not {"socket", "connect", "socketpair", "bind", "sendto"} & {re.split(r"[(\s]", line)[0] for line in calls}


# One project in another ------------------------------------------------------------------------------
def repository(path: Path, remote: str = "") -> Path:
    """A repository as files: git itself takes longer than the test."""
    for folder in ("refs/heads", "objects"):
        (path / ".git" / folder).mkdir(parents=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (path / ".git" / "description").write_text("Unnamed\n", "utf-8")
    config = "[core]\n\tbare = false\n%s" % ('[remote "origin"]\n\turl = %s\n' % remote if remote else "")
    (path / ".git" / "config").write_text(config, "utf-8")
    return path


def work_tree(main: Path, tree: Path) -> Path:
    git = main / ".git" / "worktrees" / tree.name
    tree.mkdir()
    git.mkdir(parents=True)
    (tree / ".git").write_text("gitdir: %s\n" % git, "utf-8")
    (git / "commondir").write_text("../..\n", "utf-8")
    (git / "gitdir").write_text("%s\n" % (tree / ".git"), "utf-8")
    (git / "HEAD").write_text("ref: refs/heads/feature\n", "utf-8")
    return tree


def neighbours(top: Path) -> list[Path]:
    """Projects that are near to each other and still not the same."""
    (top / "notes" / "sub").mkdir(parents=True)
    outer = repository(top / "outer", "https://example.org/outer")
    return [
        repository(top / "a" / "shop"),
        repository(top / "b" / "shop"),
        repository(top / "me" / "shop", "git@example.org:me/shop.git"),
        repository(top / "you" / "shop", "git@example.org:you/shop.git"),
        outer,
        repository(outer / "vendor" / "inner"),
        top / "notes",
        top / "notes" / "sub",
        repository(top / "moved" / "site"),
        repository(top / "gone" / "shop"),
    ]


def test_no_project_is_given_a_word_of_another(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    words = {path: "z%04dq" % number for number, path in enumerate(neighbours(tmp_path))}
    for path, word in words.items():
        full_memory.fill(home, path, lambda place, word=word: "canary %s %s" % (word, place))  # type: ignore[misc]
    projects = {**words, work_tree(tmp_path / "a" / "shop", tmp_path / "tree"): words[tmp_path / "a" / "shop"]}
    # One is moved and one deleted, and others begin in their places.
    (tmp_path / "new").mkdir()
    shutil.move(str(tmp_path / "moved" / "site"), str(tmp_path / "new" / "site"))
    projects[tmp_path / "new" / "site"] = projects.pop(tmp_path / "moved" / "site")
    shutil.rmtree(str(tmp_path / "gone" / "shop"))
    for folder in ("moved/site", "gone/shop"):
        projects[repository(tmp_path / folder)] = ""
    Memory(home, tmp_path / "notes").do("note", "add", "my way", "Everyone may know the ocelot", "--scope", "user")
    for number, (path, word) in enumerate(projects.items()):
        memory = Memory(home, path)
        said = {event: result.stdout for event, result in memory.events("canary ask, canary answer, canary note fact")}
        for line in READING[number % 2 :: 2]:
            result = memory.run("memory", *line)
            said[" ".join(line)] = result.stdout + result.stderr
        for where, text in said.items():
            assert [other for other in words.values() if other != word and other in text] == [], (path, where)
        assert "ocelot" in said["start"], path
        assert word in said["start"], path
        assert word in said["prompt"], path
