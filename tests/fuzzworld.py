"""A small home with two projects and a lived-in memory, for runs that may damage it: made once, restored after each.

A hook is forked from this process, which has everything loaded: a run costs a few milliseconds. It is watched (see
`watch`), and measured: exit code, output, time, memory.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import stat
import sys
import tempfile
import time
from pathlib import Path
from types import CodeType
from typing import Any, Callable, Mapping

import protocol
import support
import watch

from harness_memory.base import payload, settings, yaml
from harness_memory.guard import question as gate
from harness_memory.hook import pre_tool_use, runner

HANG_SECONDS = 15  # then a run is ended from outside
OTHERS_WORD = "zanzibar"  # stands in the other project's memory, and nowhere else

IDS = {
    "kept": "a0000000-0000-4000-8000-000000000009",
    "done": "d0000000-1111-4111-8111-00000000000a",
    "told": "d1111111-1111-4111-8111-00000000000b",
    "dead": "dead0000-2222-4222-8222-00000000000c",
    "current": "c0000000-3333-4333-8333-00000000000d",
    "other": "b0000000-4444-4444-8444-00000000000e",
}
CHECKPOINT = {
    "what_was_done": "Moved the parser to its own module",
    "what_remains": ["Tests for errors"],
    "files_changed": ["parser.py"],
    "skill_used": "melt",
    "outcome": "partial",
    "tags": ["parser"],
    "learnings": ["The parser reads bytes"],
    "task": {"id": "parser", "title": "A parser of our own", "remaining": ["Errors"], "blockers": []},
    "rating": 2,
}
NESTED = {
    "self_report": {"is_job_complete": True, "category": "refactoring"},
    "reflection": {
        "what_was_done": "Split the cart",
        "what_remains": "- Rounding\n- Tests",
        "key_insight": "Totals are rounded once",
        "search_terms": ["cart", "rounding"],
    },
}
GIT_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = false
[remote "origin"]
\turl = https://example.org/ada/%s.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
"""
GUARD = {
    "tiers": {"git.clean": "log"},
    "rules": [
        {
            "id": "deploy",
            "tier": "ask",
            "reason": "deploys",
            "remedy": "Ask the team.",
            "match": {"program": "make", "words": "deploy", "unless": "--dry-run"},
        },
        {"id": "vendored", "tier": "deny", "reason": "is not ours", "match": {"path": "vendor/**", "access": "write"}},
    ],
    "protected_branches": ["main", "release"],
    "zero_access": ["*.secret"],
    "confirm_write": ["package-lock.json"],
    "no_delete": ["docs/"],
    "unattended": "deny",
}


class Outcome:
    """What one watched hook left."""

    __slots__ = ("code", "cpu", "memory", "script", "seconds", "stderr", "stdout", "strays")

    def __init__(self, script: str, code: int, seconds: float, cpu: float, memory: int) -> None:
        self.script = script
        self.code = code  # negative: the signal that ended it
        self.seconds = seconds
        self.cpu = cpu
        self.memory = memory  # bytes at most, beyond what this process has
        self.stdout = self.stderr = b""
        self.strays: list[tuple[str, str]] = []

    @property
    def event(self) -> str:
        return protocol.EVENTS[self.script]


class Runner:
    """Forks hooks and commands from this process."""

    def __init__(self) -> None:
        self._kept = os.fsync, settings.FLUSH_WAIT_SECONDS, settings.FLUSH_DOUBT_SECONDS
        os.fsync = lambda fd: None  # what outlives a power cut is not looked at here
        settings.FLUSH_WAIT_SECONDS = settings.FLUSH_DOUBT_SECONDS = 0.0  # nobody writes the transcript meanwhile
        _load_everything()
        self._streams = [tempfile.TemporaryFile() for _ in range(4)]  # noqa: SIM115  (open as long as we are)
        self._codes: dict[str, CodeType] = {}
        self._allowed: list[str] = []

    def close(self) -> None:
        os.fsync, settings.FLUSH_WAIT_SECONDS, settings.FLUSH_DOUBT_SECONDS = self._kept
        for stream in self._streams:
            stream.close()

    def allow(self, *paths: Path | str) -> None:
        self._allowed = [str(path) for path in paths]

    def hook(self, script: str, data: bytes, env: dict[str, str], cwd: Path | str) -> Outcome:
        return self._forked(script, lambda: self._run_script(script), data, env, str(cwd))

    def command(self, words: list[str], data: bytes, env: dict[str, str], cwd: Path | str) -> Outcome:
        """`harness memory …` and the like."""

        def run() -> int:
            from harness_memory import cli

            return cli.main(words)

        return self._forked("", run, data, env, str(cwd))

    def _run_script(self, script: str) -> int:
        path = str(support.HOOKS / (script + ".py"))
        exec(self._code(path), {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__})
        return 0

    def _code(self, path: str) -> CodeType:
        if path not in self._codes:
            with open(path, "rb") as file:
                self._codes[path] = compile(file.read(), path, "exec")
        return self._codes[path]

    def _forked(self, script: str, work: Callable[[], int], data: bytes, env: dict[str, str], cwd: str) -> Outcome:
        fds = [stream.fileno() for stream in self._streams]
        for fd in fds:
            os.ftruncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
        os.write(fds[0], data)
        os.lseek(fds[0], 0, os.SEEK_SET)
        if script:
            self._code(str(support.HOOKS / (script + ".py")))
        before = _resident_bytes()
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            self._become(work, fds, env, cwd)
        _, status, usage = os.wait4(pid, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        used = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        cpu = usage.ru_utime + usage.ru_stime
        outcome = Outcome(script, code, time.monotonic() - began, cpu, max(0, used - before))
        outcome.stdout, outcome.stderr, report = (_content(fd) for fd in fds[1:])
        outcome.strays = watch.strays(report)
        return outcome

    def _become(self, work: Callable[[], int], fds: list[int], env: dict[str, str], cwd: str) -> None:
        """The child; never returns."""
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
            for target, fd in enumerate(fds[:3]):
                os.dup2(fd, target)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(env)
            if self._allowed:
                watch.install(self._allowed, fds[3])
            code = work()
            sys.stdout.flush()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except BaseException:  # noqa: BLE001  (it may be anything)
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        finally:
            os._exit(code)


class Left(BaseException):
    """A hook has said its word."""


class Indoors(Runner):
    """Runs hooks within this process, twice as quick: unwatched, and with nothing between two runs."""

    def hook(self, script: str, data: bytes, env: dict[str, str], cwd: Path | str) -> Outcome:
        kept = dict(os.environ), os.getcwd(), list(sys.path), os.dup(0)
        fd = self._streams[0].fileno()
        os.ftruncate(fd, 0)
        os.pwrite(fd, data, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        os.dup2(fd, 0)
        os.chdir(str(cwd))
        os.environ.clear()
        os.environ.update(env)
        leaves, watches = (runner.leave, pre_tool_use.leave), (runner.watch, pre_tool_use.run.__defaults__)
        said: list[bytes] = []
        runner.leave = pre_tool_use.leave = _leaver(said)
        runner.watch = lambda *arguments: None
        pre_tool_use.run.__defaults__ = (runner.watch,)
        payload._cut.clear()
        began = time.monotonic(), time.process_time()
        outcome = Outcome(script, 0, 0.0, 0.0, 0)
        try:
            self._run_script(script)
            outcome.stderr = b"the hook did not leave"
        except Left:
            outcome.stdout = said[0]
        except BaseException as error:  # noqa: BLE001  (it may be anything)
            outcome.stderr = repr(error).encode("utf-8", "replace")
        finally:
            outcome.seconds, outcome.cpu = time.monotonic() - began[0], time.process_time() - began[1]
            (runner.leave, pre_tool_use.leave), (runner.watch, pre_tool_use.run.__defaults__) = leaves, watches
            os.environ.clear()
            os.environ.update(kept[0])
            os.chdir(kept[1])
            sys.path[:] = kept[2]
            os.dup2(kept[3], 0)
            os.close(kept[3])
            gc.enable()
        return outcome


def _leaver(said: list[bytes]) -> Callable[[bytes], None]:
    def leave(reply: bytes) -> None:
        said.append(reply)
        raise Left

    return leave


class World:
    """Two projects, five sessions, notes, rules, and the client's transcripts, below one directory."""

    def __init__(self, directory: Path, runner: Runner) -> None:
        self.runner = runner
        self.home = Path(os.path.realpath(directory)) / "home"
        self.store = self.home / ".claude" / "memory"
        self.app = self.home / "work" / "app"
        self.other = self.home / "work" / "other"
        self.sessions = {
            name: support.Session(self.other if name == "other" else self.app, self.home, id)
            for name, id in IDS.items()
        }
        self.runner.allow()
        self._build()
        self.image = Image(self.home)
        self._warm_up()
        checkpoints = [str(folder / ".claude" / "completion-checkpoint*") for folder in (self.app, self.other)]
        tasks = [str(folder / ".claude" / "async-tasks") for folder in (self.app, self.other)]
        self.runner.allow(self.store, *checkpoints, *tasks)

    @property
    def current(self) -> support.Session:
        return self.sessions["current"]

    def environment(self, session: support.Session, **extra: str | None) -> dict[str, str]:
        return support.clean_environment(self.home, {**session.environment(pid=os.getpid()), **extra})

    def project(self, name: str = "app") -> Path:
        (found,) = self.store.glob(name + "-*/project.json")
        return found.parent

    def payloads(self) -> dict[str, dict[str, Any]]:
        """One of each event of the present session, as the client sends it."""
        session = self.current
        agent = {"agent_id": "a1", "agent_type": "Explore"}
        return {
            "session_start": session.start("resume"),
            "user_prompt_submit": session.prompt("Round the totals of the cart, and split the parser"),
            "pre_tool_use": session.tool_call("Bash", {"command": "make deploy && git push", "description": "Ship it"}),
            "subagent_start": {**session.start(), **agent, "hook_event_name": "SubagentStart"},
            "stop": session.stop("All rounded."),
            "pre_compact": session.pre_compact(),
            "session_end": session.end(),
        }

    def _warm_up(self) -> None:
        """Every event once in this process, for what it compiles and keeps; then all is as before."""
        outside = dict(os.environ)
        for script, good in self.payloads().items():
            os.environ.clear()
            os.environ.update(self.environment(self.current))
            if script == "pre_tool_use":
                question = gate.Question(good, gate.Environment(gate.system.environ), str(support.ROOT))
                gate.findings(question, gate.Quiet())
            else:
                runner.handle(protocol.EVENTS[script], good)
        os.environ.clear()
        os.environ.update(outside)
        self.image.restore()
        gc.collect()
        gc.freeze()

    # Making it
    def _build(self) -> None:
        self.home.mkdir(parents=True)
        for folder in (self.app, self.other):
            _repository(folder)
        self._live("other", "Count the %s crates" % OTHERS_WORD, "Counted all %s crates." % OTHERS_WORD, "crates.py")
        self._note(OTHERS_WORD, self.other, "project")
        self._live("kept", "Draw the logo", "The logo is drawn.", "logo.svg")
        later = time.strftime("%Y-%m-%d", time.localtime(time.time() + 3 * 86400))
        self._memory(["archive", "--open", "--before", later])
        self._live("done", "Round the totals", "Totals are rounded once now.", "cart.py", checkpoint=NESTED)
        self._live(
            "told", "Split the parser", "The parser has a module of its own.", "parser.py", checkpoint=CHECKPOINT
        )
        for name, scope in (("deploy", "project"), ("cart", "project"), ("editor", "user")):
            self._note(name, self.app, scope)
        self._memory(["briefing", "set"], b"# The app\n\nA shop. Tests: make test\n")
        self._memory(["profile", "set", "melt"], b"Use the small hammer.\n")
        self._memory(["task", "start", "A parser of our own", "--id", "grammar"])
        self._memory(["thread", "rename", IDS["told"][:8], "The parser"])
        self._memory(["thread", "close", IDS["told"][:8]])
        self._memory(["rate", "melt", "2", "--note", "too hot"])
        self._live("current", "Build the current feature", "The current feature is there.", "current.py", end=False)
        for command in ("git push --force origin main", "make deploy"):
            self._hook("pre_tool_use", self.current.tool_call("Bash", {"command": command}))
        self._memory(["note", "add", "here", "Only here", "--scope", "local"], session=IDS["current"])
        self._memory(["rebuild"])
        self._live_on()
        self._die("dead")
        left = [str(path) for path in (self.store / "health" / "failures").glob("*")]
        assert not left, Path(left[0]).read_text("utf-8")

    def _hook(
        self, script: str, given: Mapping[str, Any], session: support.Session | None = None, pid: int = 0
    ) -> None:
        session = session or self.current
        env = support.clean_environment(self.home, session.environment(pid=pid or os.getpid()))
        outcome = self.runner.hook(script, support.encode(given), env, session.cwd)
        assert (outcome.code, outcome.stderr) == (0, b""), (script, outcome.code, outcome.stderr)

    def _memory(self, words: list[str], data: bytes = b"", *, folder: Path | None = None, session: str = "") -> None:
        env = support.clean_environment(self.home, {"CLAUDE_CODE_SESSION_ID": session or None})
        done = self.runner.command(["memory", *words], data, env, folder or self.app)
        assert done.code == 0, (words, done.stdout, done.stderr)

    def _note(self, name: str, folder: Path, scope: str) -> None:
        words = ["note", "add", name, "Deploys of %s need `make` first" % name, "Totals are rounded once"]
        about = ["--scope", scope, "--description", "About %s" % name, "--file", "README.md"]
        self._memory([*words, *about, "--trigger", "command: make deploy", "--trigger", "path: src/**"], folder=folder)

    def _live(
        self,
        name: str,
        ask: str,
        answer: str,
        file: str,
        *,
        checkpoint: Mapping[str, Any] | None = None,
        end: bool = True,
    ) -> None:
        session = self.sessions[name]
        cwd = Path(session.cwd)
        self._hook("session_start", session.start(), session)
        self._hook("user_prompt_submit", session.prompt(ask), session)
        session.transcript().turn(ask, answer, files=[cwd / file])
        if checkpoint:
            (cwd / ".claude" / "completion-checkpoint.json").write_text(json.dumps(checkpoint), "utf-8")
        self._hook("stop", session.stop(answer), session)
        if end:
            self._hook("session_end", session.end(), session)

    def _live_on(self) -> None:
        """A second turn of the present session, not archived yet; a start makes the caches."""
        session = self.current
        self._hook("session_start", session.start("resume"), session)
        self._hook("user_prompt_submit", session.prompt("What about rounding the totals of the cart?"), session)
        script = session.transcript()
        script.turn("What about rounding?", "It is done once, at the end.", files=[self.app / "rounding.py"])
        script.bash("make tset", "no rule", exit_code=2).bash("make test", "ok").read(self.app / "cart.py")
        calls = [(script.tool_use(tool, given), rich) for tool, given, rich in self._calls()]
        self._memory(["checkpoint", "--done", "Half of it", "--task-id", "half", "--rating", "4"], session=session.id)
        self._hook("pre_compact", session.pre_compact(), session)  # in the middle of these calls
        for number, rich in calls:
            script.tool_result(number, "ok", result=rich)
        script.injected("Earlier: rounding").api_error().synthetic("<task-notification>\n<task-id>a</task-id>")
        script.command("melt", "ice").interrupt().compact().title("Rounding").text("All rounded.")
        agents = Path(session.transcript_path[: -len(".jsonl")]) / "subagents"
        agent = support.Transcript(agents / "agent-a1.jsonl", session.id, self.app)
        agent.prompt("Find it", isSidechain=True, agentId="a1").write(self.app / "found.py").text("Found.")

    def _calls(self) -> list[tuple[str, dict[str, Any], Any]]:
        """Tools that leave a trace in a record, each with its input and its rich result."""
        note = str(self.project() / "LEARNING" / "topics" / "cart.md")
        todos = [{"content": "Write tests", "status": "pending"}, {"content": "Ship", "status": "completed"}]
        return [
            ("TodoWrite", {"todos": todos}, {}),
            ("Skill", {"skill": "melt", "args": "ice"}, {"success": True, "commandName": "melt"}),
            ("TaskCreate", {"subject": "Ship it", "description": "All of it"}, {"task": {"id": "1"}}),
            ("TaskUpdate", {"taskId": "1", "status": "in_progress", "subject": "Ship"}, {"success": True}),
            ("MultiEdit", {"file_path": str(self.app / "a.py"), "edits": []}, {}),
            ("NotebookEdit", {"notebook_path": str(self.app / "b.ipynb"), "new_source": "x"}, {}),
            (
                "Bash",
                {"command": "sed -i s/a/b/ c.py"},
                {"bashEditDiff": {"files": [{"filePath": str(self.app / "c.py")}]}},
            ),
            ("Read", {"file_path": note}, {"type": "text", "file": {"filePath": note}}),
            (
                "Agent",
                {"description": "Find", "prompt": "Find it", "subagent_type": "Explore"},
                {"status": "async_launched"},
            ),
        ]

    def _die(self, name: str) -> None:
        with support.Client() as client:
            session = self.sessions[name]
            self._hook("session_start", session.start(), session, client.pid)
            self._hook("user_prompt_submit", session.prompt("Begin the lost work"), session, client.pid)
            session.transcript().turn("Begin the lost work", "The lost work has begun.", files=[self.app / "lost.py"])


class Image:
    """A tree of files as it was, what has changed since, and a way back."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.files: dict[str, bytes] = {}
        self.marks = self._walk()
        for path, mark in self.marks.items():
            if stat.S_ISREG(mark[0]):
                with open(path, "rb") as file:
                    self.files[path] = file.read()

    def changed(self) -> tuple[list[str], list[str], list[str]]:
        """Paths that are new, different and gone."""
        now = self._walk()
        known = self.marks
        different = [path for path, mark in now.items() if path in known and mark != known[path]]
        return [path for path in now if path not in known], different, [path for path in known if path not in now]

    def restore(self, changes: tuple[list[str], list[str], list[str]] | None = None) -> None:
        added, different, gone = changes or self.changed()
        for path in reversed(added):  # what is in a folder comes after it
            _remove(path)
        folders = {os.path.dirname(path) for path in (*added, *gone)}
        for path in sorted((*gone, *different)):
            mode = self.marks[path][0]
            if stat.S_ISDIR(mode):
                if not os.path.isdir(path) or os.path.islink(path):
                    _remove(path)
                    os.mkdir(path)
                os.chmod(path, stat.S_IMODE(mode))
                folders.add(path)
            else:
                self._restore_file(path)
                folders.add(os.path.dirname(path))
        for path in sorted(folders, reverse=True):
            if path in self.marks:
                os.utime(path, ns=(self.marks[path][1], self.marks[path][1]))

    def _restore_file(self, path: str) -> None:
        mode, when, _ = self.marks[path]
        _remove(path)
        with open(path, "wb") as file:
            file.write(self.files[path])
        os.chmod(path, stat.S_IMODE(mode))
        os.utime(path, ns=(when, when))

    def _walk(self) -> dict[str, tuple[int, int, int]]:
        """Every path with its mode, time and size, a folder before what is in it."""
        found: dict[str, tuple[int, int, int]] = {}
        folders = [self.root]
        while folders:
            folder = folders.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    is_folder = stat.S_ISDIR(info.st_mode)
                    found[entry.path] = (info.st_mode, info.st_mtime_ns, 0 if is_folder else info.st_size)
                    if is_folder:
                        folders.append(entry.path)
        return found


def _load_everything() -> None:
    """What is loaded here need not be loaded in every run."""
    root = support.LIB / "harness_memory"
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] not in ("cli", "setup") and parts[-1] != "__init__":
            __import__("harness_memory." + ".".join(parts))


def _repository(folder: Path) -> None:
    """As git makes one, without git."""
    for name in (".git/objects", ".git/refs/heads", ".git/logs", ".claude", "src"):
        (folder / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (folder / ".git" / "config").write_text(GIT_CONFIG % folder.name, "utf-8")
    (folder / ".git" / "packed-refs").write_text("# pack-refs with: peeled\n%s refs/heads/main\n" % ("a" * 40), "utf-8")
    (folder / "README.md").write_text("# demo\n", "utf-8")


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            _remove(os.path.join(path, name))
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _content(fd: int) -> bytes:
    size = os.fstat(fd).st_size
    return os.pread(fd, size, 0) if size else b""


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def readable(path: str) -> str:
    """Why a file of the store is not what its name says; "" when it is."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith(".json"):
            json.loads(data.decode("utf-8"))
        elif path.endswith(".jsonl"):
            for line in data.splitlines():
                json.loads(line.decode("utf-8"))
        elif path.endswith(settings.META_FILE):
            yaml.load(data.decode("utf-8"))
        elif path.endswith(".md"):
            data.decode("utf-8")
    except (OSError, ValueError, RecursionError) as error:
        return str(error)
    return ""
