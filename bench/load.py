"""Many sessions for a long time: nothing lost, doubled or mixed up, and the last turn costs what the first one did.

So many sessions in one project, and as many projects with one session each, in one store at the same time. Every
session works turn by turn: prompt, tool calls, subagents, checkpoints, compaction, Stop, sometimes an end and a resume.
Visitors come and go; commands remember, forget, prune, compact, rebuild and verify at the same time. All that
a session says carries its number.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterator

import support

from harness_memory.base import settings, yaml

AT_ONCE = 8  # hook processes at the same time
VISITORS = 2000  # the number of the first
LEAST_TURNS = 200  # of a session, to judge what its turns cost
GROWTH_ALLOWED = 0.3  # a shared processor's own ups and downs are nearly as much
_WORD = re.compile(r"koru(\d{4})")


class Hooks:
    """Runs hooks and commands, and keeps their CPU times and what was wrong with them."""

    def __init__(self, home: Path, at_once: int = AT_ONCE) -> None:
        self.home = home
        self.at_once = threading.Semaphore(at_once)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.costs: dict[str, list[tuple[int, float]]] = {}  # of Stop, by turn

    def run(self, script: str, payload: dict[str, Any], env: dict[str, str | None], kind: str, turn: int) -> str:
        with self.at_once, tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
            source.write(support.encode(payload))
            source.seek(0)
            options: dict[str, Any] = {"env": support.clean_environment(self.home, env), "cwd": payload["cwd"]}
            hook = subprocess.Popen(support.hook_command(script), stdin=source, stdout=out, stderr=out, **options)
            _, hook.returncode, usage = os.wait4(hook.pid, 0)
            out.seek(0)
            result = support.Result(hook.returncode, out.read(), b"")
        if script == "stop" and kind:
            self.costs.setdefault(kind, []).append((turn, usage.ru_utime + usage.ru_stime))
        self.counts["hooks"] += 1
        if result.code or "Traceback" in result.stdout:
            self.problems.append("%s of %s: %r" % (script, payload["session_id"], result))
        return result.stdout

    def command(self, cwd: Path, *words: str, accepted: tuple[int, ...] = (0,)) -> str:
        line = [sys.executable, "-S", str(support.ROOT / "harness"), "memory", *words]
        done = subprocess.run(line, cwd=str(cwd), env=support.clean_environment(self.home), capture_output=True)
        output = (done.stdout + done.stderr).decode("utf-8", "replace")
        self.counts["commands"] += 1
        if done.returncode not in accepted or "Traceback" in output:
            self.problems.append("memory %s: exit %d: %s" % (" ".join(words), done.returncode, output[-1500:]))
        return output


class Worker:
    """A session, its client, and what its record must say."""

    def __init__(self, load: Load, number: int, repo: Path, kind: str = "") -> None:
        self.load = load
        self.number = number
        self.word = "koru%04d" % number
        self.repo = repo
        self.kind = kind
        self.random = random.Random("%d of %d" % (number, load.seed))
        self.client = support.Client()
        self.session = support.Session(repo, load.home)
        self.transcript = self.session.transcript(step_seconds=0.001)
        self.turns = self.blocked = 0
        self.files: list[str] = []

    def hook(self, script: str, payload: dict[str, Any]) -> str:
        environment = self.session.environment(pid=self.client.pid)
        return self.load.hooks.run(script, payload, environment, self.kind, self.turns)

    def ask(self, turn: int) -> str:
        return "Please do part %d of %s" % (turn, self.word)

    def answer(self, turn: int) -> str:
        return "Part %d of %s is done: the module does what was asked." % (turn, self.word)

    def live(self, turns: int) -> None:
        self.hook("session_start", self.session.start())
        while self.turns < turns and time.monotonic() < self.load.ends:
            self.turn()
            self._between()

    def leave(self) -> None:
        """It ends by itself, or its client dies."""
        if self.number % 5 == 3:
            self.client.kill()
        else:
            self.hook("session_end", self.session.end())

    def turn(self) -> None:
        number, chance = self.turns, self.random.random
        self.hook("user_prompt_submit", self.session.prompt(self.ask(number)))
        self.transcript.now = datetime.now(timezone.utc)
        self.transcript.prompt(self.ask(number), promptId=self.session.prompt_id).noise(200)
        self._write(self.transcript, "part", number)
        if chance() < 1 / 4:
            self.hook("pre_tool_use", self.session.tool_call("Bash", {"command": "ls src/%s*" % self.word}))
            self.transcript.bash("ls src/%s*" % self.word)
        if chance() < 1 / 50:
            call = self.session.tool_call("Bash", {"command": "rm -rf / # %s" % self.word})
            self.blocked += '"deny"' in self.hook("pre_tool_use", call)
        if chance() < 1 / 10:
            self._subagent(number)
        if chance() < 1 / 20:
            path = self.repo / ".claude" / ("completion-checkpoint-%d.json" % self.client.pid)
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"what_was_done": self.answer(number), "tags": [self.word]}), "utf-8")
            self.transcript.write(path)
        self.transcript.text(self.answer(number)).turn_end(self.ask(number))
        self.turns += 1
        self.hook("stop", self.session.stop(self.answer(number)))

    def _write(self, transcript: support.Transcript, what: str, number: int) -> None:
        self.files.append("src/%s_%s%d.py" % (self.word, what, number))
        transcript.write(self.repo / self.files[-1])

    def _subagent(self, number: int) -> None:
        path = Path(self.session.transcript_path).with_suffix("") / "subagents" / ("agent-%d.jsonl" % number)
        agent = support.Transcript(path, self.session.id, self.repo, at=datetime.now(timezone.utc), step_seconds=0.001)
        self._write(agent.prompt("Write it"), "agent", number)
        agent.text("Written.")
        path.write_bytes(path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))

    def _between(self) -> None:
        chance = self.random.random()
        if chance < 1 / 40:
            self.hook("pre_compact", self.session.pre_compact())
            self.transcript.compact("So far of %s." % self.word)
            self.hook("session_start", self.session.start("compact"))
        elif chance < 1 / 20:
            self.hook("session_end", self.session.end("prompt_input_exit"))
            self.client.kill()
            self.client = support.Client()
            self.hook("session_start", self.session.start("resume"))


class Load:
    def __init__(self, directory: Path, seed: int, *, sessions: int, projects: int, ends: float) -> None:
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.seed = seed
        self.ends = ends
        self.random = random.Random(seed)
        self.hooks = Hooks(self.home)
        self.repos = [self._repo(directory / "shared")]
        self.workers = [Worker(self, number, self.repos[0], "one project") for number in range(sessions)]
        for number in range(sessions, sessions + projects):
            self.repos.append(self._repo(directory / ("project%d" % number)))
            self.workers.append(Worker(self, number, self.repos[-1], "own project"))
        self.visitors: list[Worker] = []
        self.gone: list[str] = []  # words that were forgotten
        self.facts: dict[Path, list[str]] = {}
        self._numbers = itertools.count(VISITORS)

    def _repo(self, path: Path) -> Path:
        (path / ".git").mkdir(parents=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
        return path

    def close(self) -> None:
        for worker in (*self.workers, *self.visitors):
            worker.client.kill()

    # What happens
    def run(self, turns: int) -> None:
        self._all(lambda worker: worker.live(turns), with_chores=True)
        self._all(lambda worker: worker.leave())
        for repo in {worker.repo for worker in self.workers if worker.number % 5 == 3}:
            self.visit(repo)  # whose start recovers the dead

    def _all(self, duty: Callable[[Worker], None], *, with_chores: bool = False) -> None:
        threads = [threading.Thread(target=self._attempt, args=(duty, worker)) for worker in self.workers]
        for thread in threads:
            thread.start()
        for number, (chore, repo) in enumerate(self._chores() if with_chores else ()):
            if number >= 9 and not any(thread.is_alive() for thread in threads):
                break
            self._attempt(chore, repo)
        for thread in threads:
            thread.join()

    def _attempt(self, duty: Callable[[Any], Any], subject: Any) -> None:
        try:
            duty(subject)
        except Exception as error:  # noqa: BLE001  (a thread's failure would pass unnoticed)
            self.hooks.problems.append("the bench itself: %r" % error)

    def visit(self, repo: Path) -> Worker:
        """A session of one turn comes and goes."""
        visitor = Worker(self, next(self._numbers), repo)
        ask = "Do something with mirelo%04d." % visitor.number
        visitor.hook("session_start", visitor.session.start())
        visitor.hook("user_prompt_submit", visitor.session.prompt(ask))
        visitor.transcript.turn(ask, visitor.answer(0), files=[repo / ("src/%s.py" % visitor.word)])
        visitor.hook("stop", visitor.session.stop(visitor.answer(0)))
        visitor.hook("session_end", visitor.session.end())
        visitor.client.kill()
        self.visitors.append(visitor)
        return visitor

    def _chores(self) -> Iterator[tuple[Callable[[Path], Any], Path]]:
        command = self.hooks.command
        chores: tuple[Callable[[Path], Any], ...] = (
            self._remember,
            self._forget_session,
            lambda repo: command(repo, "rebuild"),
            self.visit,
            self._forget_text,
            lambda repo: command(repo, "compact", accepted=(0, 1)),
            lambda repo: command(repo, "prune", "--older-than", "0d"),
            self._forget_note,
            lambda repo: command(repo, "verify"),
        )
        while True:
            for chore in chores:
                yield chore, self.random.choice(self.repos) if self.random.random() < 1 / 3 else self.repos[0]

    def _fact(self) -> str:
        letters = ["".join(self.random.choice("bdfgklmnpraeiou") for _ in range(9)) for _ in range(4)]
        return "The %s of %s is set by %s before %s runs." % tuple(letters)

    def _remember(self, repo: Path) -> None:
        self.facts.setdefault(repo, []).append(self._fact())
        topic = "topic-%d" % sum(map(len, self.facts.values()))
        self.hooks.command(repo, "remember", self.facts[repo][-1], "--topic", topic)

    def _forget_note(self, repo: Path) -> None:
        name = "doomed-%d" % len(self.gone)
        self.gone.append(self._fact())
        self.hooks.command(repo, "note", "add", name, self.gone[-1])
        self.hooks.command(repo, "forget", name, "--yes")

    def _forget_session(self, repo: Path) -> None:
        visitor = self.visit(repo)
        self.hooks.command(repo, "forget", visitor.session.id[:8], "--yes")
        self.gone.append(visitor.word)

    def _forget_text(self, repo: Path) -> None:
        word = "mirelo%04d" % self.visit(repo).number
        self.hooks.command(repo, "forget", "--text", word, "--yes")
        self.gone.append(word)

    # Afterwards
    def problems(self) -> list[str]:
        found = self.hooks.problems + [
            "failure stamp: " + path.read_text("utf-8") for path in support.failures(self.store)
        ]
        self.hooks.command(self.repos[0], "verify", "--all-projects")
        before = support.snapshot(self.store)
        self.hooks.command(self.repos[0], "rebuild", "--all-projects")
        after = support.snapshot(self.store)
        names = [
            name
            for name in {*before, *after}
            if "/recall" not in name and not name.endswith((".lock", ".idx", ".cache"))
        ]
        found += ["rebuild changed " + name for name in names if before.get(name) != after.get(name)]
        projects = {Path(json.loads((path / "project.json").read_text("utf-8"))["paths"][0]): path
                    for path in support.project_dirs(self.store)}  # fmt: skip
        for repo, project in projects.items():
            found += self._of_project(repo, project)
        for worker in self.workers:
            found += self._of_session(worker, projects[worker.repo]) if worker.turns else []
        for path in self.store.rglob("*"):
            text = _text(path)
            found += ["%s still holds %r" % (path, word) for word in self.gone if word in text]
        return found

    def _of_project(self, repo: Path, project: Path) -> list[str]:
        listed = re.findall(r"`episodes/([^`]+)`", _text(project / "INDEX.md"))
        is_current = sorted(listed) == sorted(path.name for path in project.glob("episodes/*.json"))
        found = [] if is_current else ["%s: the index is not that of the episodes" % project.name]
        numbers = {"%04d" % one.number for one in (*self.workers, *self.visitors) if one.repo == repo}
        for path in project.rglob("*"):
            strangers = {*_WORD.findall(_text(path))} - numbers
            found += ["%s holds words of the sessions %s" % (path, sorted(strangers))] if strangers else []
        topics = "".join(map(_text, project.glob("LEARNING/topics/*.md")))
        found += ["lost: " + fact for fact in self.facts.get(repo, []) if topics.count("- " + fact) != 1]
        blocked = sum(_text(path).count('"tool_blocked"') for path in project.glob("SECURITY/*/*/audit.jsonl"))
        due = sum(worker.blocked for worker in self.workers if worker.repo == repo)
        return found + ([] if blocked == due else ["%s: %d of %d denials in the trail" % (project.name, blocked, due)])

    def _of_session(self, worker: Worker, project: Path) -> list[str]:
        short = worker.session.id[:8]
        episodes = [json.loads(_text(path)) for path in project.glob("episodes/*-%s*.json" % short)]
        metas = [yaml.load(_text(path)) for path in project.glob("WORK/*/%s*/META.yaml" % short)]
        if len(episodes) != 1 or len(metas) != 1:
            return ["%s has %d episodes and %d records" % (worker.word, len(episodes), len(metas))]
        asks = [worker.ask(turn) for turn in range(worker.turns)]
        first, last = settings.ASKS_KEPT_FIRST, settings.ASKS_KEPT_LAST
        asks = asks if len(asks) <= first + last else asks[:first] + asks[-last:]
        files = episodes[0]["files_changed"]
        wrong = {
            "asked": episodes[0]["asked"] != asks,
            "files": len(files) != min(len(worker.files), settings.FILES_IN_EPISODE) or not {*files} <= {*worker.files},
            "answer": worker.word not in episodes[0]["what_was_done"],
            "status": metas[0]["status"] not in ("COMPLETED", "ABANDONED"),
            "words of others": {*_WORD.findall(json.dumps(episodes[0]))} != {worker.word[-4:]},
        }
        return ["%s: wrong %s: %s" % (worker.word, name, episodes[0]) for name, is_wrong in wrong.items() if is_wrong]

    def growth(self) -> dict[str, tuple[float, float]]:
        """CPU milliseconds of a Stop in the first and in the last tenth of the turns, by kind of project."""
        found = {}
        for kind, samples in self.hooks.costs.items():
            samples.sort()
            tenth = max(1, len(samples) // 10)
            parts = samples[tenth // 2 : tenth + tenth // 2], samples[-tenth:]
            found[kind] = tuple(statistics.median(cost for _, cost in part) * 1e3 for part in parts)
        return found  # type: ignore[return-value]


def _text(path: Path) -> str:
    """Of a file, or of what is in an archive."""
    if not path.is_file():
        return ""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    load = Load(directory, seed, sessions=50, projects=50, ends=ends)
    try:
        load.run(1000)
        problems = load.problems()
        for kind, (first, last) in load.growth().items():
            if min(worker.turns for worker in load.workers) >= LEAST_TURNS and last > first * (1 + GROWTH_ALLOWED):
                problems.append("%s: a Stop costs %.1f ms at first and %.1f ms at last" % (kind, first, last))
        counts = {"sessions": len(load.workers), "turns": sum(worker.turns for worker in load.workers)}
        growth = {"ms, " + kind: "%.1f to %.1f" % pair for kind, pair in load.growth().items()}
        return {
            "counts": {**counts, "visitors": len(load.visitors), **load.hooks.counts, **growth},
            "problems": problems,
        }
    finally:
        load.close()
