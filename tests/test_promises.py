"""What is promised of the hooks, proved while they run: no socket, no process, no write but to the store and a claimed
checkpoint, no child left behind; and no word of one project in another."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Iterator

import full_memory
import pytest
import support
import watch
from full_memory import READING, Memory
from life import Life

from harness_memory.setup import entries, installation

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors are passed on as POSIX does")

# Whatever could reach the network or start something, by way of the interpreter.
UNWANTED = ("socket", "_socket", "ssl", "http", "urllib", "asyncio", "selectors", "subprocess", "_posixsubprocess")
UNWANTED += ("multiprocessing", "ctypes", "_ctypes", "concurrent", "threading", "xmlrpc", "smtplib", "ftplib")

LAUNCH = """
import os, sys
tests, fd, allowed, unwanted, script = sys.argv[1:]
sys.path.insert(0, tests)
import watch
del sys.path[0]
unwanted = unwanted.split(",")
def look(event, arguments):
    if event == "import" and arguments[0].partition(".")[0] in unwanted:
        os.write(int(fd), ("import\\t%s\\n" % arguments[0]).encode())
with open(script, "rb") as file:
    code = compile(file.read(), script, "exec")
sys.argv[:] = [script]
sys.addaudithook(look)
watch.install([place for place in allowed.split(os.pathsep) if place], int(fd))
exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})
"""


class Watched(Life):
    """A session whose hooks are processes of their own, each with a watcher inside; `strays` is what they reported."""

    def __init__(self, home: Path, cwd: Path, **options: Any) -> None:
        super().__init__(home, cwd, pid=os.getpid(), **options)
        self.allowed = [str(self.store), str(cwd / ".claude" / "completion-checkpoint") + "*"]
        self.strays: list[tuple[str, str]] = []

    def run(self, script: str, payload: Any) -> support.Result:
        reading, writing = os.pipe()
        words = [str(support.ROOT / "tests"), str(writing), os.pathsep.join(self.allowed), ",".join(UNWANTED)]
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *support.FLAGS, "-B", "-c", LAUNCH, *words, str(support.HOOKS / (script + ".py"))],
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
        return support.Result(done.returncode, done.stdout, done.stderr, time.perf_counter() - began)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    top = tmp_path_factory.mktemp("promised")
    (top / "home" / ".claude").mkdir(parents=True)
    return full_memory.fill(top / "home", support.make_repo(top / "project"), lambda place: "canary " + place)


def leave_checkpoint(life: Life) -> None:
    (life.cwd / ".claude").mkdir(exist_ok=True)
    said = {"what_was_done": "Claimed.", "session_id": life.session.id}
    (life.cwd / ".claude" / "completion-checkpoint.json").write_text(json.dumps(said), "utf-8")


def a_life(life: Life) -> Iterator[tuple[str, support.Result]]:
    """Every kind of event, in an order in which each has something to do."""
    call = life.session.tool_call
    yield "start, recovering a dead session", life.start()
    yield "call with a note", life.run("pre_tool_use", call("Bash", {"command": "make deploy"}))
    yield "prompt that recalls", life.prompt("canary note fact of the gateway rule, canary ask")
    yield "quiet call", life.run("pre_tool_use", call("Bash", {"command": "ls -l"}))
    yield "denied call", life.run("pre_tool_use", call("Bash", {"command": "rm -rf ~"}))
    yield "asked call", life.run("pre_tool_use", call("Bash", {"command": "git push --force origin main"}))
    yield "denied path", life.run("pre_tool_use", call("Read", {"file_path": str(life.home / ".ssh" / "id_rsa")}))
    yield "skill", life.run("pre_tool_use", call("Skill", {"skill": "deploy"}))
    subagent = {**life.session.start(), "hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "x"}
    yield "subagent", life.run("subagent_start", subagent)
    life.transcript.write(life.cwd / "cart.py").text("The totals are rounded once, at the very end of it.")
    leave_checkpoint(life)
    yield "stop that claims a checkpoint", life.stop("The totals are rounded once, at the very end of it.")
    yield "pre-compact", life.compact()
    for source in ("compact", "resume", "fork", "clear"):
        yield source, life.start(source)
    yield "typed skill", life.prompt("/deploy now")
    yield "end", life.end()


SAYS = {"start", "prompt", "denied", "asked", "call with", "skill", "subagent", "pre-compact", "compact"}


@posix
def test_no_hook_opens_a_socket_starts_a_process_or_writes_elsewhere(memory: Memory) -> None:
    life = Watched(memory.home, memory.repo)
    before = outside(memory)
    for name, result in a_life(life):
        assert life.strays == [], name
        says = any(name.startswith(start) for start in SAYS)
        assert bool(result.stdout) == says or not says, name  # it did what it is here for
    assert life.episode["what_was_done"] == "Claimed."
    assert outside(memory) == before


def outside(memory: Memory) -> dict[str, Any]:
    """Everything but the store, transcripts (which the client writes) and the checkpoint."""
    found = {}
    for folder, names, files in os.walk(str(memory.home.parent)):
        names[:] = [name for name in names if os.path.join(folder, name) not in (str(memory.root), projects(memory))]
        for name in [*names, *files]:
            info = os.lstat(os.path.join(folder, name))
            if not name.startswith("completion-checkpoint") and name != ".claude":
                found[os.path.join(folder, name)] = (info.st_mode, info.st_size, info.st_mtime_ns)
    return found


def projects(memory: Memory) -> str:
    return str(memory.home / ".claude" / "projects")


@posix
def test_nor_when_it_tidies_up_is_broken_or_switched_off(memory: Memory, tmp_path: Path) -> None:
    life = Watched(memory.home, memory.repo)
    limits = {"retention_episodes": 1, "consolidate_after_episodes": 1, "bogus": 1}
    (memory.root / "config.json").write_text(json.dumps(limits), "utf-8")
    (memory.root / "guard.json").write_text('{"tiers": {"git.clean": "log"}, "bogus": 1}', "utf-8")
    tasks = memory.repo / ".claude" / "async-tasks"
    tasks.mkdir()
    (tasks / "old.json").write_text("{}", "utf-8")
    os.utime(str(tasks / "old.json"), (1, 1))
    assert "config.json" in life.start().json["systemMessage"]
    assert life.strays == [("os.remove", str(tasks / "old.json"))]  # the one thing that retention takes elsewhere
    for script in ("session_start", "user_prompt_submit", "pre_tool_use", "subagent_start", "stop", "session_end"):
        for payload in (b"{", life.session.prompt("hello", cwd="/nowhere", transcript_path="/dev/zero")):
            life.run(script, payload)
            assert life.strays == [], (script, payload)
    (tmp_path / "store").write_text("no folder", "utf-8")
    life.extra["HARNESS_MEMORY_HOME"] = str(tmp_path / "store")
    life.run("stop", life.session.stop("Done."))
    life.extra = {"HARNESS_MEMORY": "off"}
    life.start()
    assert life.strays == []
    for name in ("config.json", "guard.json"):
        (memory.root / name).unlink()


@posix
@pytest.mark.parametrize(
    ("code", "report"),
    [
        ("import socket\nsocket.socket()", ["import", "socket.__new__"]),
        ("import subprocess\nsubprocess.run(['true'])", ["import", "subprocess.Popen"]),
        ("import os\nos.system('true')", ["os.system"]),
        ("import os\nos.fork() or os._exit(0)", ["os.fork"]),
        ("import os\nos.open('elsewhere', os.O_CREAT | os.O_WRONLY)", ["open"]),
        ("import os\nos.mkdir('elsewhere'); os.chmod('.', 0o700)", ["os.mkdir", "os.chmod"]),
        ("import _posixsubprocess", ["import"]),
    ],
)
def test_the_watcher_would_see_it(home: Path, tmp_path: Path, code: str, report: list[str]) -> None:
    life = Watched(home, tmp_path)
    script = tmp_path / "script.py"
    script.write_text(code, "utf-8")
    life.run(os.path.relpath(str(script)[: -len(".py")], str(support.HOOKS)), {})
    seen = [event for event, _ in life.strays]
    assert set(report) <= set(seen), seen


# As installed --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(memory: Memory) -> dict[str, str]:
    """The command lines of settings.json, by event."""
    path = memory.home / ".claude" / "settings.json"
    place = installation.Target(str(support.ROOT), "user", str(path), str(memory.root))
    wanted = entries.entries(str(support.ROOT), sys.executable, [str(memory.root)], str(memory.home))
    installation.install(place, wanted, sys.executable, installation.plan_install(place, wanted))
    hooks = json.loads(path.read_text("utf-8"))["hooks"]
    return {event: groups[0]["hooks"][0]["command"] for event, groups in hooks.items()}


class Installed(Life):
    """A session whose hooks are run as the client runs them: `sh -c`, in a session and group of their own."""

    def __init__(self, memory: Memory, commands: dict[str, str], before: tuple[str, ...] = ()) -> None:
        super().__init__(memory.home, memory.repo, pid=os.getpid())
        self.commands = commands
        self.before = before
        self.mark = uuid.uuid4().hex

    def run(self, script: str, payload: Any) -> support.Result:
        env = {**self.session.environment(pid=self.pid), "PROMISED": self.mark}
        began = time.perf_counter()
        hook = subprocess.Popen(
            [*self.before, "sh", "-c", self.commands[payload["hook_event_name"]]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=support.clean_environment(self.home, env),
            cwd=str(self.cwd),
            start_new_session=True,
        )
        out, err = hook.communicate(support.encode(payload), timeout=30)
        assert (hook.returncode, err) == (0, b""), (script, err)
        assert left_behind(hook.pid, self.mark) == [], script
        return support.Result(hook.returncode, out, err, time.perf_counter() - began)


def left_behind(group: int, mark: str) -> list[str]:
    """Processes of a group, of a session, or with a mark in their environment."""
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
def test_the_installed_hooks_leave_nobody_behind(memory: Memory, installed: dict[str, str]) -> None:
    assert sorted(installed) == sorted(event for event, _, _ in entries.HOOKS)
    life = Installed(memory, installed)
    before = outside(memory)
    for name, result in a_life(life):
        assert result.seconds < 5, name
    assert life.episode["what_was_done"] == "Claimed."
    assert outside(memory) == before


@posix
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_kernel_sees_no_socket_and_no_process(memory: Memory, installed: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "calls"
    watching = ("strace", "-f", "-qq", "-A", "-o", str(log), "-e", "trace=network,execve,clone,clone3,fork,vfork")
    life = Installed(memory, installed, watching)
    if subprocess.run([*watching, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("strace may not be used here")
    log.write_text("", "utf-8")
    life.start()
    life.prompt("canary note fact of the gateway rule, canary ask")
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~"}))
    life.transcript.text("The totals are rounded once, at the very end of it.")
    life.stop("The totals are rounded once, at the very end of it.")
    calls = [line.partition(" ")[2].strip() for line in log.read_text("utf-8").splitlines()]
    names = {re.split(r"[(\s]", line)[0] for line in calls}
    programs = [os.path.basename(line.split('"')[1]) for line in calls if line.startswith("execve(")]
    assert programs == ["sh", os.path.basename(sys.executable)] * 4
    starts = [line for line in calls if line.startswith(("clone", "fork", "vfork")) and "CLONE_THREAD" not in line]
    assert len(starts) <= 4, starts  # the shell's own, to start the interpreter
    assert not {"socket", "connect", "socketpair", "bind", "sendto"} & names, names


# One project in another ------------------------------------------------------------------------------


class Layout:
    """Projects of every nearness that are not the same, each with a word of its own in every field of its memory."""

    def __init__(self, top: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.home = top / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.places: dict[str, list[Path]] = {}  # by its word; work trees of one repository are one project
        self.top = top
        self.memories: dict[str, Memory] = {}
        for make in self.random.sample([self.twins, self.forks, self.nested, self.prefixes, self.plain], 2):
            make()
        self.work_tree()
        for word in [*self.places]:
            self.fill(word)
        self.move()
        self.replace()

    def word(self) -> str:
        return "z%08xq" % self.random.getrandbits(32)

    def repository(self, path: Path, remote: str = "") -> Path:
        for folder in ("refs/heads", "objects"):
            (path / ".git" / folder).mkdir(parents=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
        (path / ".git" / "description").write_text("Unnamed\n", "utf-8")
        config = "[core]\n\tbare = false\n%s" % ('[remote "origin"]\n\turl = %s\n' % remote if remote else "")
        (path / ".git" / "config").write_text(config, "utf-8")
        return path

    def add(self, path: Path) -> str:
        word = self.word()
        self.places[word] = [path]
        return word

    def twins(self) -> None:
        for folder in "ab":
            self.add(self.repository(self.top / folder / "shop"))

    def forks(self) -> None:
        for owner in ("me", "you"):
            self.add(self.repository(self.top / owner / "shop", "git@example.org:%s/shop.git" % owner))

    def nested(self) -> None:
        outer = self.repository(self.top / "outer", "https://example.org/outer")
        self.add(outer)
        self.add(self.repository(outer / "vendor" / "inner"))

    def prefixes(self) -> None:
        for name in ("app", "app-2"):
            self.add(self.repository(self.top / "src" / name, "https://example.org/team/" + name))

    def plain(self) -> None:
        for name in ("notes", "notes/sub"):
            (self.top / name).mkdir()
            self.add(self.top / name)

    def work_tree(self) -> None:
        main = self.repository(self.top / "trees" / "main")
        word = self.add(main)
        tree, git = self.top / "trees" / "feature", main / ".git" / "worktrees" / "feature"
        tree.mkdir()
        git.mkdir(parents=True)
        (tree / ".git").write_text("gitdir: %s\n" % git, "utf-8")
        (git / "commondir").write_text("../..\n", "utf-8")
        (git / "gitdir").write_text("%s\n" % (tree / ".git"), "utf-8")
        (git / "HEAD").write_text("ref: refs/heads/feature\n", "utf-8")
        self.places[word].append(tree)

    def fill(self, word: str) -> None:
        self.memories[word] = full_memory.fill(
            self.home, self.places[word][0], lambda place: "canary %s%s %s" % (word, uuid.uuid4().hex[:2], place)
        )

    def move(self) -> None:
        """A project is moved, and another begun in its place."""
        word = self.add(self.repository(self.top / "moved" / "site"))
        self.fill(word)
        (self.top / "new").mkdir()
        shutil.move(str(self.places[word][0]), str(self.top / "new" / "site"))
        self.places[word] = [self.top / "new" / "site"]
        self.add(self.repository(self.top / "moved" / "site"))

    def replace(self) -> None:
        """A repository is deleted, and another begun in its place."""
        path = self.top / "gone" / "shop"
        word = self.add(self.repository(path))
        self.fill(word)
        shutil.rmtree(str(path))
        self.places[word] = []
        self.add(self.repository(path))

    def foreign(self, text: str, word: str) -> list[str]:
        return [other for other in self.places if other != word and other in text]


@pytest.mark.parametrize("seed", range(support.volume(1)))
def test_no_project_is_told_a_word_of_another(tmp_path: Path, seed: int) -> None:
    layout = Layout(tmp_path, seed)
    every = [(word, path) for word, paths in layout.places.items() for path in paths]
    first = Memory(layout.home, every[0][1])
    first.do("note", "add", "my way", "Everyone may know the ocelot", "--scope", "user")
    own = 0
    for number, (word, path) in enumerate(every):
        memory = Memory(layout.home, path)
        said = {}
        for event, result in memory.events("canary ask, canary answer, canary note fact, canary archived ask"):
            said[event] = result.stdout
        for words in READING[(number + seed) % 2 :: 2]:
            result = memory.run("memory", *words)
            said[" ".join(words)] = result.stdout + result.stderr
        for where, text in said.items():
            assert layout.foreign(text, word) == [], (seed, path, where)
        assert "ocelot" in said["start"], path
        own += word in said["start"] and word in said["prompt"]
    assert own == len(every) - 2  # all but the two that were begun where another was
