"""A crowd at work on one store: the hooks and commands that are run, and the sessions that run them.

Most hooks are forked from warm interpreters, which tells the processor time of each; some are fresh processes.
All that a session says and does carries its number, so that it can be told whose it is.
"""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import storm
import support
from forked import ForkServer

from harness_memory.base import settings
from harness_memory.hook import runner

if TYPE_CHECKING:
    from load import Load

AT_ONCE = 8  # hook processes at the same time
FRESH_SHARE = 1 / 20
VISITORS = 2000  # the number of the first
MEASURED = "the same work each time"
_EVENTS = {script: event for event, script in runner.HANDLERS.items()}
_MEASURE = """
import os
for number in range(60):
    text = "".join([str(part) * 3 for part in range(300)])
    sorted(text.split("9"))
os._exit(0)
"""


class Hooks:
    """Runs hooks and commands, and keeps what they took and what was wrong with them."""

    def __init__(self, home: Path, seed: int, at_once: int = AT_ONCE) -> None:
        self.home = home
        self.random = random.Random(seed)
        self.slots: queue.LifoQueue[ForkServer | None] = queue.LifoQueue()
        self.can_fork = hasattr(os, "fork")
        for _ in range(at_once):
            self.slots.put(ForkServer(support.FLAGS, support.LIB) if self.can_fork else None)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.slowest: dict[str, float] = {}
        self.costs: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self.measure = home.parent / "measure.py"
        self.measure.write_text(_MEASURE, encoding="utf-8")

    def close(self) -> None:
        while not self.slots.empty():
            server = self.slots.get()
            if server:
                server.close()

    def run(self, script: str, payload: dict[str, Any], pid: int, kind: str = "", turn: int = 0) -> str:
        """Standard output of a hook of the session in `payload`."""
        env = {"CLAUDE_PID": str(pid), "CLAUDE_PROJECT_DIR": payload["cwd"], "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
        server = self.slots.get()
        try:
            if server is None or self.random.random() < FRESH_SHARE:
                self.counts["fresh processes"] += 1
                result = support.run_hook(script, payload, home=self.home, env=env, fresh=True)
            else:
                result = self._forked(server, script, payload, env)
                self.costs.setdefault((kind, script), []).append((turn, server.cpu_seconds))
        finally:
            self.slots.put(server)
        self.counts["hooks"] += 1
        self.slowest[script] = max(self.slowest.get(script, 0.0), result.seconds)
        self._judge(script, payload, result)
        return result.stdout

    def measured(self, kind: str, turn: int) -> None:
        """What the same work costs now: the processor of a busy machine is slower at some times than at others."""
        server = self.slots.get()
        try:
            if server:
                server.run(self.measure, b"", support.clean_environment(self.home), str(self.home.parent), 30)
                self.costs.setdefault((kind, MEASURED), []).append((turn, server.cpu_seconds))
        finally:
            self.slots.put(server)

    def _forked(self, server: ForkServer, script: str, payload: dict[str, Any], env: dict[str, str]) -> support.Result:
        surroundings = support.clean_environment(self.home, env)
        began = time.perf_counter()
        path = support.HOOKS / (script + ".py")
        ended = server.run(path, support.encode(payload), surroundings, payload["cwd"], 30)
        return support.Result(*ended, time.perf_counter() - began)

    def _judge(self, script: str, payload: dict[str, Any], result: support.Result) -> None:
        limit = runner.DEADLINES_SECONDS.get(_EVENTS[script], settings.DEADLINE_SECONDS)
        if result.seconds > limit + settings.WATCHDOG_GRACE_SECONDS:
            self.problems.append("%s took %.1f s" % (script, result.seconds))
        if (result.code, result.stderr) != (0, ""):
            self.problems.append("%s of %s: %r" % (script, payload["session_id"], result))
        elif script != "pre_compact" and result.stdout and not isinstance(json.loads(result.stdout), dict):
            self.problems.append("%s says %r" % (script, result.stdout))

    def command(self, cwd: Path, *words: str, fine: tuple[int, ...] = (0,)) -> tuple[int, str]:
        """`harness memory …` in a process of its own; exit codes other than the `fine` ones are problems."""
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-S", str(storm.HARNESS), "memory", *words],
            cwd=str(cwd),
            env=support.clean_environment(self.home),
            capture_output=True,
            timeout=120,
            check=False,
        )
        told = (done.stdout + done.stderr).decode("utf-8", "replace")
        name = "harness memory " + words[0]
        self.counts[name] += 1
        self.slowest[name] = max(self.slowest.get(name, 0.0), time.perf_counter() - began)
        if done.returncode not in fine or "Traceback" in told:
            self.problems.append("harness memory %s: exit %d: %s" % (" ".join(words), done.returncode, told[-1500:]))
        return done.returncode, told


class Worker:
    """A session, its client, and what its record must say."""

    def __init__(self, load: Load, number: int, repo: Path) -> None:
        self.load = load
        self.number = number
        self.word = "koru%04d" % number
        self.repo = repo
        self.random = random.Random("%d of %d" % (number, load.seed))
        self.client = support.Client(support.CAMPAIGN_SECONDS)
        self.session = support.Session(repo, load.home)
        self.transcript = self.session.transcript(step_seconds=0.001)
        self.turns = 0
        self.files: list[str] = []
        self.tools: Counter[str] = Counter()
        self.blocked = 0
        self.checkpoints: list[str] = []  # what they say; those of before a prune are in the archive
        self.last_said = ""  # by a checkpoint, put away or not
        self.archived = False
        self.killed = False
        self.is_active = False  # it was resumed and said nothing yet

    def hook(self, script: str, payload: dict[str, Any]) -> str:
        kind = self.load.kinds[self.repo] if self.number < VISITORS else ""
        return self.load.hooks.run(script, payload, self.client.pid, kind, self.turns)

    def ask(self, turn: int) -> str:
        """Now and then it is about what one of the others did, which recall will find."""
        seen = " like the sirano%04d gearbox" % (VISITORS + turn // 4 % 200) if turn % 4 == 3 else ""
        return "Please do part %d of %s%s" % (turn, self.word, seen)

    def answer(self, turn: int) -> str:
        return "Part %d of %s is done: the module does what was asked." % (turn, self.word)

    def live(self, turns: int) -> None:
        """A whole life, or as much of it as there is time for."""
        self.hook("session_start", self.session.start())
        while self.turns < turns and time.monotonic() < self.load.ends:
            self.turn()
            self._between()

    def leave(self) -> None:
        """Its end, by itself or with its client; nobody prunes any more."""
        self.killed = self.number % 5 == 3
        if self.killed:
            self.client.kill()
        else:
            self.hook("session_end", self.session.end())

    def turn(self) -> None:
        number = self.turns
        self.hook("user_prompt_submit", self.session.prompt(self.ask(number)))
        self.transcript.now = datetime.now(timezone.utc)
        self.transcript.prompt(self.ask(number), promptId=self.session.prompt_id).noise(200)
        self._tools(number)
        if self.random.random() < 1 / 20:
            self._checkpoint(number)
        is_late = self.random.random() < 1 / 200  # the client writes the end of the turn after Stop has fired
        self.turns += 1
        self.is_active = False
        if not is_late:
            self._close_turn(number)
        self.hook("stop", self.session.stop(self.answer(number)))
        if number % 4 == 0:
            self.load.hooks.measured(self.load.kinds[self.repo], number)
        if is_late:
            self._close_turn(number)

    def _close_turn(self, number: int) -> None:
        self.transcript.text(self.answer(number)).turn_end(self.ask(number))

    def _tools(self, number: int) -> None:
        chance = self.random.random
        name = "src/%s_part%d.py" % (self.word, number)
        self.transcript.write(self.repo / name)
        self.files.append(name)
        self.tools["Write"] += 1
        if chance() < 1 / 4:
            self.transcript.edit(self.repo / self.random.choice(self.files[-50:]))
            self.tools["Edit"] += 1
        if chance() < 1 / 4:
            self.hook("pre_tool_use", self.session.tool_call("Bash", {"command": "ls src/%s*" % self.word}))
            self.transcript.bash("ls src/%s*" % self.word)
            self.tools["Bash"] += 1
        if chance() < 1 / 50:
            call = self.session.tool_call("Bash", {"command": "rm -rf / # %s" % self.word})
            if '"deny"' in self.hook("pre_tool_use", call):
                self.blocked += 1
        if chance() < 1 / 10:
            self._subagent(number)

    def _subagent(self, number: int) -> None:
        path = Path(self.session.transcript_path).with_suffix("") / "subagents" / ("agent-%d.jsonl" % number)
        agent = support.Transcript(path, self.session.id, self.repo, at=datetime.now(timezone.utc), step_seconds=0.001)
        name = "src/%s_agent%d.py" % (self.word, number)
        agent.prompt("Write it").write(self.repo / name).text("Written.")
        path.write_bytes(path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
        self.files.append(name)
        self.tools["Write"] += 1

    def _checkpoint(self, number: int) -> None:
        done = "Checkpoint at part %d of %s." % (number, self.word)
        folder = self.repo / settings.CLAUDE_DIR
        folder.mkdir(exist_ok=True)
        path = folder / ("%s-%d.json" % (settings.CHECKPOINT_PREFIX, self.client.pid))
        path.write_text(json.dumps({"what_was_done": done, "tags": [self.word]}), encoding="utf-8")
        self.checkpoints.append(done)
        self.last_said = done

    def _between(self) -> None:
        """What happens between two turns, now and then."""
        chance = self.random.random()
        if chance < 1 / 40:
            self.hook("pre_compact", self.session.pre_compact())
            self.transcript.compact("So far of %s." % self.word)
            self.hook("session_start", self.session.start("compact"))
        elif chance < 1 / 40 + 1 / 60:
            self.hook("session_end", self.session.end("prompt_input_exit"))
            self.client.kill()
            self.client = support.Client(support.CAMPAIGN_SECONDS)
            self.hook("session_start", self.session.start("resume"))
            self.is_active = True
            self._note_pruned()

    def _note_pruned(self) -> None:
        """Between its end and its resumption a session may be put away like any other."""
        found = self.load.metas(self.repo, self.session.id)
        artifacts = len([*found[0].parent.glob("artifacts/checkpoint-*")]) if found else 0
        if self.checkpoints and artifacts < len(self.checkpoints):
            self.load.hooks.counts["put away between end and resumption"] += 1
            self.checkpoints = []
            self.archived = True
