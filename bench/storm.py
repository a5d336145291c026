"""Hook processes by the hundred over the sessions of one project, a third of them killed: nothing may be lost.

First a burst, all processes at once; then every session works turn by turn while the others do. Checked afterwards:
what a finished Stop had seen is in the episode, every file is whole, the next SessionStart recovers the rest, `verify`
is clean and `rebuild` changes nothing.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import support
from commandline import World

from harness_memory.base import yaml

KILLED_SHARE = 1 / 3
RECOVERY_STARTS = 10
BURST_TURNS = 2
SCRIPTS = ("session_start", "user_prompt_submit", "stop", "pre_compact", "stop")


class Worker:
    """A session, its client, and what its finished Stops have seen."""

    def __init__(self, number: int, repo: Path, home: Path) -> None:
        self.number = number
        self.client = support.Client()
        self.session = support.Session(repo, home)
        self.transcript = self.session.transcript()
        self.turns = 0
        self.recorded = 0  # turns in the transcript when the last finished Stop began

    def ask(self, turn: int) -> str:
        return "Session %d, please do part %d" % (self.number, turn)

    def answer(self, turn: int) -> str:
        return "Session %d has done part %d." % (self.number, turn)

    def file(self, turn: int) -> str:
        return "src/s%d_part%d.py" % (self.number, turn)

    def write_turn(self) -> None:
        path = os.path.join(self.session.cwd, self.file(self.turns))
        self.transcript.turn(self.ask(self.turns), self.answer(self.turns), files=[path])
        self.turns += 1

    def payload(self, script: str) -> dict[str, Any]:
        if script == "session_start":
            return self.session.start()
        if script == "user_prompt_submit":
            return self.session.prompt(self.ask(max(0, self.turns - 1)))
        return self.session.pre_compact() if script == "pre_compact" else self.session.stop(self.answer(self.turns - 1))

    def lacking(self, due: int, episodes: list[dict[str, Any]]) -> list[str]:
        name = "session %d (%s)" % (self.number, self.session.id)
        if len(episodes) != 1:
            return ["%s has %d episodes" % (name, len(episodes))]
        found = []
        asks = {*episodes[0]["asked"], *(each["text"] for each in episodes[0].get("passages") or ())}  # not all of many
        for turn in range(due):
            if self.file(turn) not in episodes[0]["files_changed"]:
                found.append("%s lacks the file of turn %d" % (name, turn))
            if self.ask(turn) not in asks:
                found.append("%s lacks the ask of turn %d" % (name, turn))
        if not any(self.answer(turn) in episodes[0]["what_was_done"] for turn in range(due - 1, self.turns)):
            found.append("%s lacks its answer: %r" % (name, episodes[0]["what_was_done"]))
        return found


class Launched(NamedTuple):
    """A running hook process, and when it is to die."""

    worker: Worker
    script: str
    process: Any
    dies: float | None

    def wait(self) -> bool:
        """True when the process ended by itself."""
        try:
            return bool(self.process.wait(self.dies and max(0.0, self.dies - time.monotonic())) == 0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


class Storm:
    def __init__(self, directory: Path, *, sessions: int, seed: int) -> None:
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.repo = support.make_repo(directory / "project")
        self.random = random.Random(seed)
        self.errors = (directory / "stderr").open("w+b")
        self.workers = [Worker(number, self.repo, self.home) for number in range(sessions)]
        self.started = self.killed = 0

    def close(self) -> None:
        self.errors.close()
        for worker in self.workers:
            worker.client.kill()

    def launch(self, worker: Worker, script: str, latest_kill_seconds: float) -> Launched:
        self.started += 1
        env = support.clean_environment(self.home, worker.session.environment(pid=worker.client.pid))
        streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": self.errors}
        process = subprocess.Popen(support.hook_command(script), env=env, cwd=str(self.repo), **streams)
        assert process.stdin is not None
        process.stdin.write(support.encode(worker.payload(script)))
        process.stdin.close()
        is_victim = self.random.random() < KILLED_SHARE
        dies = time.monotonic() + self.random.uniform(0, latest_kill_seconds) if is_victim else None
        return Launched(worker, script, process, dies)

    def finish(self, launched: Launched, turns: int) -> None:
        has_ended = launched.wait()
        self.killed += not has_ended
        late = any(path.stem.endswith("-%d" % launched.process.pid) for path in support.failures(self.store))
        if has_ended and launched.script == "stop" and not late:
            launched.worker.recorded = max(launched.worker.recorded, turns)

    def burst(self, processes: int) -> None:
        """All at once: hooks of the same sessions over one another."""
        for worker in self.workers:
            for _ in range(BURST_TURNS):
                worker.write_turn()
        launched = []
        for number in range(processes):
            worker = self.workers[number % len(self.workers)]
            script = SCRIPTS[number // len(self.workers) % len(SCRIPTS)]
            launched.append(self.launch(worker, script, processes / 100))
        for one in sorted(launched, key=lambda one: one.dies or float("inf")):
            self.finish(one, one.worker.turns)

    def steps(self, turns: int) -> None:
        """Every session on its own, as its client would drive it."""

        def work(worker: Worker) -> None:
            for _ in range(turns):
                self.finish(self.launch(worker, "user_prompt_submit", 0.15), 0)
                worker.write_turn()
                self.finish(self.launch(worker, "stop", 0.15), worker.turns)

        with ThreadPoolExecutor(len(self.workers)) as pool:
            list(pool.map(work, self.workers))

    def recover(self) -> None:
        """The clients die; the next sessions of the project find what they left."""
        for worker in self.workers:
            worker.client.kill()
        for _ in range(RECOVERY_STARTS):
            with support.Client() as client:
                session = support.Session(self.repo, self.home)
                env = session.environment(pid=client.pid)
                for script, payload in (("session_start", session.start()), ("session_end", session.end())):
                    support.run_hook(script, payload, home=self.home, env=env)
            if not self.active():
                return

    def active(self) -> list[str]:
        metas = [yaml.load(path.read_text("utf-8")) for path in support.meta_files(self.store)]
        return ["still active: %s" % meta["session_id"] for meta in metas if meta["status"] == "ACTIVE"]

    def losses(self, *, recovered: bool) -> list[str]:
        """What an episode lacks of the turns that must be in it."""
        by_session: dict[str, list[dict[str, Any]]] = {}
        for episode in support.episodes(self.store):
            by_session.setdefault(episode["session_id"], []).append(episode)
        found = []
        for worker in self.workers:
            due = worker.turns if recovered else worker.recorded
            found += worker.lacking(due, by_session.get(worker.session.id, [])) if due else []
        return found

    def damage(self) -> list[str]:
        """JSON files that are not whole, and anything on standard error."""
        found = []
        for path in self.store.rglob("*.json"):
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                found.append("%s: %s" % (path, error))
        self.errors.flush()
        self.errors.seek(0)
        text = self.errors.read().decode("utf-8", "replace")
        return found + (["stderr: " + text] if text else [])

    def checked(self) -> list[str]:
        """What `verify` finds, and what `rebuild` changes."""
        world = World(self.home, self.repo)
        verified = world.memory("verify")
        before = world.files()
        world.memory("rebuild")
        after = world.files()
        changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
        found = ["rebuild changed " + name for name in changed if not name.endswith(".lock")]
        return found + (["verify: " + verified.stdout] if verified.code else [])


def rage(storm: Storm, processes: int, turns: int) -> list[str]:
    """The whole storm and its aftermath; what went wrong, in words."""
    storm.burst(processes)
    storm.steps(turns)
    problems = storm.losses(recovered=False) + storm.damage()
    storm.recover()
    return problems + storm.active() + storm.losses(recovered=True) + storm.damage() + storm.checked()


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    """Storms, one after the other, while there is time."""
    counts = {"storms": 0, "processes": 0, "killed": 0}
    problems: list[str] = []
    while not counts["storms"] or time.monotonic() < ends:
        storm = Storm(directory / ("storm%d" % counts["storms"]), sessions=20, seed=seed + counts["storms"])
        try:
            problems += rage(storm, 200, 3)
        finally:
            storm.close()
        counts["storms"] += 1
        counts["processes"] += storm.started
        counts["killed"] += storm.killed
    return {"counts": counts, "problems": problems}
