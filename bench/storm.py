#!/usr/bin/env python3
"""Hook processes by the hundred over the sessions of one project, killed at random: nothing may be lost.

    python3 bench/storm.py [--sessions 20] [--processes 200] [--turns 3] [--seed 1] [--interpreter PYTHON]

First a burst, all processes at once; then every session works turn by turn while others do. A third
of the processes is killed with SIGKILL. Checked afterwards: what a finished Stop had seen is in the
episode, every file of the store is whole, the next SessionStart recovers the rest, and rebuilding
the views changes nothing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import support

from harness_memory.base import settings, yaml
from harness_memory.memory import archive, views

KILLED_SHARE = 1 / 3
_CACHE = "STATE/recall/"
RECOVERY_STARTS = 10
BURST_TURNS = 2
MORE_ROUNDS = 20
HARNESS = support.ROOT / "harness"


class Worker:
    """A session, the client it runs in, and what its finished Stops have seen."""

    def __init__(self, number: int, repo: Path, home: Path) -> None:
        self.number = number
        self.client = support.Client()
        self.session = support.Session(repo, home)
        self.transcript = self.session.transcript()
        self.turns = 0
        self.archived = 0  # turns in the transcript when the last finished Stop began

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

    def stop(self) -> dict[str, Any]:
        return self.session.stop(self.answer(self.turns - 1))


class Launched:
    """A hook process on its way, and when it is to die."""

    def __init__(self, worker: Worker, script: str, process: subprocess.Popen[bytes], dies: float | None) -> None:
        self.worker = worker
        self.script = script
        self.process = process
        self.dies = dies

    def wait(self) -> bool:
        """True when the process ended by itself."""
        if self.dies is None:
            return self.process.wait() == 0
        try:
            return self.process.wait(max(0.0, self.dies - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


class Storm:
    """One run over one throw-away store."""

    def __init__(self, directory: Path, *, sessions: int, seed: int, interpreter: str = sys.executable) -> None:
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.repo = support.make_repo(directory / "project")
        self.interpreter = interpreter
        self.random = random.Random(seed)
        self.errors = (directory / "stderr").open("w+b")
        self.workers = [Worker(number, self.repo, self.home) for number in range(sessions)]
        self.started = self.killed = 0

    def close(self) -> None:
        self.errors.close()
        for worker in self.workers:
            worker.client.kill()

    def launch(self, worker: Worker, script: str, payload: dict[str, Any], latest_kill_seconds: float) -> Launched:
        self.started += 1
        is_victim = self.random.random() < KILLED_SHARE
        process = subprocess.Popen(
            support.hook_command(script, self.interpreter),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            env=support.clean_environment(self.home, worker.session.environment(pid=worker.client.pid)),
            cwd=str(self.repo),
        )
        assert process.stdin is not None
        process.stdin.write(support.encode(payload))
        process.stdin.close()
        dies = time.monotonic() + self.random.uniform(0, latest_kill_seconds) if is_victim else None
        return Launched(worker, script, process, dies)

    # The two kinds of weather
    def burst(self, processes: int) -> None:
        """All at once: Starts, Prompts, Stops and PreCompacts of the same sessions over one another."""
        for worker in self.workers:
            for _ in range(BURST_TURNS):
                worker.write_turn()
        scripts = ("session_start", "user_prompt_submit", "stop", "pre_compact", "stop")
        launched = []
        for number in range(processes):
            worker = self.workers[number % len(self.workers)]
            script = scripts[number // len(self.workers) % len(scripts)]
            launched.append(self.launch(worker, script, self.payload(worker, script), processes / 100))
        # Victims first: waiting for the others must not make anybody miss the hour.
        launched.sort(key=lambda one: one.dies or float("inf"))
        for one in launched:
            self.note(one, one.wait(), one.worker.turns)

    def steps(self, turns: int) -> None:
        """Every session on its own, as its client would drive it."""

        def work(worker: Worker) -> None:
            for _ in range(turns):
                prompt = worker.session.prompt(worker.ask(worker.turns))
                self.note(one := self.launch(worker, "user_prompt_submit", prompt, 0.15), one.wait(), 0)
                worker.write_turn()
                self.note(one := self.launch(worker, "stop", worker.stop(), 0.15), one.wait(), worker.turns)

        with ThreadPoolExecutor(len(self.workers)) as pool:
            list(pool.map(work, self.workers))

    def payload(self, worker: Worker, script: str) -> dict[str, Any]:
        if script == "session_start":
            return worker.session.start()
        if script == "user_prompt_submit":
            return worker.session.prompt(worker.ask(worker.turns - 1))
        return worker.stop() if script == "stop" else worker.session.pre_compact()

    def note(self, one: Launched, has_ended: bool, turns: int) -> None:
        self.killed += not has_ended
        if has_ended and one.script == "stop" and not self.gave_up(one.process.pid):
            one.worker.archived = max(one.worker.archived, turns)

    def gave_up(self, pid: int) -> bool:
        """A run that met its own deadline leaves its stamp, and the rest to the next run."""
        return any(path.stem.endswith("-%d" % pid) for path in support.failures(self.store))

    def recover(self) -> None:
        """The clients die; the next sessions of the project find what they left."""
        for worker in self.workers:
            worker.client.kill()
        for _ in range(RECOVERY_STARTS):
            with support.Client() as client:
                session = support.Session(self.repo, self.home)
                env = session.environment(pid=client.pid)
                for script, payload in (("session_start", session.start()), ("session_end", session.end())):
                    support.run_hook(script, payload, home=self.home, env=env, interpreter=self.interpreter)
            if not any(meta["status"] == settings.ACTIVE for meta in self.metas()) and not self.dirty():
                return

    # What must be true
    def metas(self) -> list[dict[str, Any]]:
        return [yaml.load(path.read_text(encoding="utf-8")) for path in support.meta_files(self.store)]

    def dirty(self) -> list[Path]:
        return list(self.store.glob("*/STATE/dirty/*"))

    def losses(self, *, recovered: bool) -> list[str]:
        """What an episode lacks of the turns that must be in it."""
        by_session: dict[str, list[dict[str, Any]]] = {}
        for episode in support.episodes(self.store):
            by_session.setdefault(episode["session_id"], []).append(episode)
        found = []
        for worker in self.workers:
            due = worker.turns if recovered else worker.archived
            if due:
                found += lacking(worker, due, by_session.get(worker.session.id, []))
        return found

    def damage(self) -> list[str]:
        """Files that are not what their name says, and anything on stderr."""
        found = [problem for path in sorted(self.store.rglob("*")) if path.is_file() for problem in damaged(path)]
        self.errors.flush()
        self.errors.seek(0)
        text = self.errors.read().decode("utf-8", "replace")
        return found + (["stderr: " + text] if text else [])

    def unfinished(self) -> list[str]:
        found = ["still %s: %s" % (meta["status"], meta["session_id"]) for meta in self.metas()]
        found = [line for line in found if settings.ACTIVE in line]
        return found + ["view not refreshed: %s" % path.name for path in self.dirty()]

    def changed_by_rebuild(self) -> list[str]:
        (project,) = support.project_dirs(self.store)
        before = support.snapshot(project)
        rebuild(self.home, project)
        after = support.snapshot(project)
        names = [name for name in sorted({*before, *after}) if not name.startswith(_CACHE)]
        return ["rebuild changed %s" % name for name in names if before.get(name) != after.get(name)]

    def verified(self) -> list[str]:
        if not HARNESS.is_file():
            return []
        done = harness(self.home, self.repo, "verify")
        return [] if done.returncode == 0 else ["verify: " + done.stdout.decode("utf-8", "replace")]


def lacking(worker: Worker, due: int, episodes: list[dict[str, Any]]) -> list[str]:
    name = "session %d (%s)" % (worker.number, worker.session.id)
    if len(episodes) != 1:
        return ["%s has %d episodes" % (name, len(episodes))]
    episode = episodes[0]
    found = []
    for turn in range(due):
        if worker.file(turn) not in episode["files_changed"]:
            found.append("%s lacks the file of turn %d: %s" % (name, turn, episode["files_changed"]))
        if worker.ask(turn) not in episode["asked"]:
            found.append("%s lacks the ask of turn %d: %s" % (name, turn, episode["asked"]))
    if not any(worker.answer(turn) in episode["what_was_done"] for turn in range(due - 1, worker.turns)):
        found.append("%s lacks its answer: %r" % (name, episode["what_was_done"]))
    return found


_MARKS = (settings.LAST_RUN_DIR, settings.DIRTY_DIR, settings.ALLOWED_DIR)
_EMPTY_FILES = (settings.SHOWN_FILE, settings.CONSOLIDATION_TOLD_FILE, settings.TRIGGERS_MARK)


def damaged(path: Path) -> list[str]:
    name, folder = path.name, path.parent.name
    if name.endswith((settings.TEMP_SUFFIX, settings.LOCK_SUFFIX)) or folder == settings.DIRTY_DIR:
        return []  # what a killed process may leave; nobody reads it
    if settings.RECALL_DIR in path.parts or name == settings.AUDIT_FILE:
        return []  # a cache; a trail that seals its torn lines: `verify` looks after both
    is_index = name.endswith(archive.INDEX_ENDING) and path.parent.parent.name == settings.ARCHIVE_DIR
    if is_index and not path.with_name(path.stem + archive.ENDING).exists():
        return []  # of an archive that is gone: nobody reads it, and it goes too an hour later
    wrong = _wrong_with(name, path.read_bytes(), folder in _MARKS or name in _EMPTY_FILES)
    return ["%s %s" % (path, wrong)] if wrong else []


@lru_cache(maxsize=4096)  # a campaign looks at the same files again and again
def _wrong_with(name: str, data: bytes, is_mark: bool) -> str:
    try:
        if name.endswith(archive.ENDING):
            gzip.decompress(data)
            return ""
        text = data.decode("utf-8")
        if name.endswith(".json"):
            json.loads(text)
        elif name.endswith(".jsonl"):
            for line in text.splitlines():
                json.loads(line)
        elif name == settings.META_FILE:
            meta = yaml.load(text)
            if not meta.get("session_id") or not meta.get("date") or meta.get("status") not in settings.STATUSES:
                return "says %r" % meta
    except (ValueError, EOFError, OSError) as error:
        return "is damaged: %s" % error
    return "" if text or is_mark else "is empty"


def rebuild(home: Path, project: Path) -> None:
    if HARNESS.is_file():
        cwd = json.loads((project / settings.PROJECT_FILE).read_text(encoding="utf-8"))["paths"][0]
        harness(home, cwd, "rebuild")
    else:
        views.rebuild(str(project), settings.LOCK_WAIT_SECONDS)


def harness(home: Path, cwd: Path | str, verb: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, str(HARNESS), "memory", verb],
        cwd=str(cwd),
        env=support.clean_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )


def rage(storm: Storm, processes: int, turns: int) -> list[str]:
    """The whole storm and its aftermath; what went wrong, in words."""
    storm.burst(processes)
    storm.steps(turns)
    for _ in range(MORE_ROUNDS):  # a fast machine may outrun the few kills of a small storm
        if storm.killed:
            break
        storm.steps(1)
    problems = storm.losses(recovered=False) + storm.damage()
    storm.recover()
    problems += storm.unfinished() + storm.losses(recovered=True) + storm.damage()
    return problems + storm.changed_by_rebuild() + storm.verified()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interpreter", default=sys.executable)
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-storm-"))
    storm = Storm(directory, sessions=options.sessions, seed=options.seed, interpreter=options.interpreter)
    began = time.monotonic()
    try:
        problems = rage(storm, options.processes, options.turns)
        archived = sum(bool(worker.archived) for worker in storm.workers)
        stamps = len(support.failures(storm.store))
        values = (storm.started, storm.killed, archived, len(storm.workers), stamps, time.monotonic() - began)
        print("%d processes, %d killed; %d of %d sessions finished a Stop; %d failure stamps; %.1f s" % values)
    finally:
        storm.close()
        shutil.rmtree(str(directory), ignore_errors=True)
    for problem in problems:
        print(problem)
    print("nothing lost" if not problems else "%d problems" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
