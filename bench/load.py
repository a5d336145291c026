#!/usr/bin/env python3
"""Many sessions at work for a long time: nothing lost, doubled or mixed up, nobody late, no turn dearer than the first.

    python3 bench/load.py [--sessions 50] [--projects 50] [--turns 1000] [--seed 1] [--minutes 60] [--alone]

Two scenes in one store at the same time: so many sessions in one project, and as many projects with one
session each. Every session has a living client and works turn by turn: prompt, transcript, tool calls,
checkpoints, compactions, Stop, and now and then an end and a resumption. Meanwhile other sessions come and
go, and other processes prune, compact, forget, rebuild, remember and verify (not with --alone). Most hooks
are forked from warm interpreters, which tells the processor time of each; one in twenty is a fresh process.
Everything a session says and does carries its number, so that it can be told whose it is.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Iterator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import storm
import support
from crowd import AT_ONCE, MEASURED, VISITORS, Hooks, Worker

from harness_memory.base import jsontext, settings, yaml
from harness_memory.memory import archive

CAMPAIGN = (50, 50, 1000)
EARLIER = 140  # sessions that the shared project has seen: what a turn costs must not depend on who else comes
RECOVERY_STARTS = 20
LEAST_TURNS = 200  # of a session, for a judgement of what its turns cost
GROWTH_ALLOWED = 0.2  # a shared processor's own ups and downs are as much
TENTHS = 10
FILES_PER_SESSION = 8  # in its directory, artifacts apart
SHARED, OWN = "one project", "own project"
_WORD = re.compile(r"koru(\d{4})")
_SYLLABLES = [one + other for one in "bdfgklmnpr" for other in "aeiou"]


class Load:
    """One run over one throw-away store."""

    def __init__(
        self, directory: Path, seed: int, *, sessions: int, projects: int, ends: float, at_once: int = AT_ONCE
    ) -> None:
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.seed = seed
        self.ends = ends
        self.random = random.Random(seed)
        self.hooks = Hooks(self.home, seed, at_once)
        self.kinds: dict[Path, str] = {}
        self.workers: list[Worker] = []
        self.visitors: list[Worker] = []
        self.forgotten: list[Worker] = []
        self.struck: list[Worker] = []
        self.facts: dict[Path, list[str]] = {}
        self.doomed: list[str] = []
        shared = self._repo(directory / "shared", SHARED)
        self.workers += [Worker(self, number, shared) for number in range(sessions)]
        for number in range(sessions, sessions + projects):
            self.workers.append(Worker(self, number, self._repo(directory / ("project%d" % number), OWN)))
        self._dirs: dict[Path, Path] = {}
        self._numbers = itertools.count(VISITORS)

    def _repo(self, path: Path, kind: str) -> Path:
        """Enough of a repository for whoever only looks at it."""
        (path / ".git").mkdir(parents=True)
        (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        self.kinds[path] = kind
        return path

    def close(self) -> None:
        self.hooks.close()
        for worker in (*self.workers, *self.visitors):
            worker.client.kill()

    # What happens
    def run(self, turns: int, *, earlier: int = 0, alone: bool = False) -> None:
        for _ in range(earlier):
            if time.monotonic() < self.ends:
                self.visit(0)
        threads = [threading.Thread(target=self._survive(worker.live), args=(turns,)) for worker in self.workers]
        for thread in threads:
            thread.start()
        others = [] if alone else [self._meanwhile(threads, self._visits()), self._meanwhile(threads, self._chores())]
        for thread in (*threads, *others):
            thread.join()
        leaving = [threading.Thread(target=self._survive(worker.leave)) for worker in self.workers]
        for thread in leaving:
            thread.start()
        for thread in leaving:
            thread.join()

    def _survive(self, duty: Callable[..., None]) -> Callable[..., None]:
        def attempt(*given: Any) -> None:
            try:
                duty(*given)
            except Exception as error:  # noqa: BLE001  (a thread's failure would pass unnoticed)
                self.hooks.problems.append("the bench itself: %r" % error)

        return attempt

    def _meanwhile(self, threads: list[threading.Thread], deeds: Iterator[Callable[[], None]]) -> threading.Thread:
        """Do one thing after the other while the sessions work, and at least each once; half of the time is idle."""

        def work() -> None:
            for number, deed in enumerate(deeds):
                if number >= len(self._kinds_of_chore) and not any(thread.is_alive() for thread in threads):
                    return
                began = time.monotonic()
                deed()
                time.sleep(time.monotonic() - began)

        thread = threading.Thread(target=self._survive(work))
        thread.start()
        return thread

    def _visits(self) -> Iterator[Callable[[], None]]:
        repos = [*self.kinds]
        number = 0
        while True:
            number += 1
            at = self.random.randrange(len(repos)) if number % 4 == 0 else 0
            yield lambda at=at: self.visit(at)  # type: ignore[misc]

    def visit(self, at: int) -> Worker:
        """A session of one turn comes and goes."""
        visitor = Worker(self, next(self._numbers), [*self.kinds][at])
        number = visitor.word[-4:]
        ask = "Do something with mirelo%s." % number
        visitor.hook("session_start", visitor.session.start())
        visitor.hook("user_prompt_submit", visitor.session.prompt(ask))
        answer = visitor.answer(0) + " The sirano%s gearbox turns." % number
        visitor.transcript.turn(ask, answer, files=[visitor.repo / ("src/%s.py" % visitor.word)])
        visitor.hook("stop", visitor.session.stop(answer))
        visitor.hook("session_end", visitor.session.end())
        visitor.client.kill()
        self.visitors.append(visitor)
        return visitor

    # What others do to the store
    @property
    def _kinds_of_chore(self) -> tuple[Callable[[Path], None], ...]:
        return (
            self._remember,
            self._forget_session,
            self._rebuild,
            self._add_note,
            self._forget_text,
            self._compact,
            self._prune,
            self._forget_note,
            self._verify,
        )

    def _chores(self) -> Iterator[Callable[[], None]]:
        repos = [*self.kinds]
        while True:
            for chore in self._kinds_of_chore:
                repo = repos[self.random.randrange(len(repos)) if self.random.random() < 1 / 3 else 0]
                yield lambda chore=chore, repo=repo: chore(repo)  # type: ignore[misc]

    def _fact(self) -> str:
        words = ["".join(self.random.choice(_SYLLABLES) for _ in range(4)) for _ in range(4)]
        return "The %s of %s is set by %s before %s runs." % tuple(words)

    def _remember(self, repo: Path) -> None:
        fact = self._fact()
        self.hooks.command(repo, "remember", fact, "--topic", self.random.choice(("alpha", "beta", "gamma")))
        self.facts.setdefault(repo, []).append(fact)

    def _add_note(self, repo: Path) -> None:
        fact, name = self._fact(), "topic-%d" % sum(map(len, self.facts.values()))
        self.hooks.command(repo, "note", "add", name, fact, "The same twice.", "The same twice.")
        self.facts.setdefault(repo, []).append(fact)

    def _forget_note(self, repo: Path) -> None:
        fact, name = self._fact(), "doomed-%d" % len(self.doomed)
        self.hooks.command(repo, "note", "add", name, fact)
        self.hooks.command(repo, "forget", name, "--yes")
        self.doomed.append(fact)

    def _forget_session(self, repo: Path) -> None:
        visitor = self.visit([*self.kinds].index(repo))
        self.hooks.command(repo, "forget", visitor.session.id[:8], "--yes")
        self.forgotten.append(visitor)

    def _forget_text(self, repo: Path) -> None:
        visitor = self.visit([*self.kinds].index(repo))
        self.hooks.command(repo, "forget", "--text", "mirelo" + visitor.word[-4:], "--yes")
        self.struck.append(visitor)

    def _rebuild(self, repo: Path) -> None:
        self.hooks.command(repo, "rebuild")

    def _compact(self, repo: Path) -> None:
        self.hooks.command(repo, "compact", fine=(0, 1))

    def _prune(self, repo: Path) -> None:
        self.hooks.command(repo, "prune", "--older-than", "0d")

    def _verify(self, repo: Path) -> None:
        self.hooks.command(repo, "verify")

    # Afterwards
    def recover(self) -> None:
        """The next sessions of each project find what killed ones left."""
        repos = {worker.repo for worker in self.workers if worker.killed}
        for repo in repos:
            for _ in range(RECOVERY_STARTS):
                self.visit([*self.kinds].index(repo))
                project = self.project(repo)
                if not [*project.glob("STATE/live/*.json")] and not [*project.glob("STATE/dirty/*")]:
                    break

    def project(self, repo: Path) -> Path:
        if repo not in self._dirs:
            for project in support.project_dirs(self.store):
                known = json.loads((project / settings.PROJECT_FILE).read_text(encoding="utf-8"))
                self._dirs.update({Path(path): project for path in known["paths"]})
        return self._dirs[repo]

    def metas(self, repo: Path, claude_id: str) -> list[Path]:
        found = self.project(repo).glob("WORK/*/%s*/META.yaml" % claude_id[:8])
        return [path for path in found if claude_id in path.read_text(encoding="utf-8")]

    def outcome(self) -> list[str]:
        """What is wrong with the store, in words."""
        stamps = [path.read_text(encoding="utf-8") for path in support.failures(self.store)]
        found = ["failure stamp: " + stamp for stamp in stamps]
        for path in sorted(self.store.rglob("*")):
            if path.is_file():
                found += ([] if path.name.endswith(archive.ENDING) else storm.damaged(path)) + leftover(path)
        found += self._verified()
        for repo in self.kinds:
            found += self._of_project(repo)
        for worker in self.workers:
            found += self._of_session(worker) if worker.turns else []
        return found + self._forgetting()

    def _verified(self) -> list[str]:
        shared = next(iter(self.kinds))
        code, told = self.hooks.command(shared, "verify", "--all-projects", fine=(0, 1))
        found = ["verify: " + told] if code else []
        before = support.snapshot(self.store)
        self.hooks.command(shared, "rebuild", "--all-projects")
        after = support.snapshot(self.store)
        names = [name for name in sorted({*before, *after}) if settings.RECALL_DIR not in name]
        return found + ["rebuild changed " + name for name in names if before.get(name) != after.get(name)]

    def _of_project(self, repo: Path) -> list[str]:
        project = self.project(repo)
        found = [*_repeated("INDEX.md", _names_in_index(project)), *_repeated("ledger", _threads_in_ledger(project))]
        episodes = [path.name for path in project.glob("episodes/*.json")]
        if sorted(_names_in_index(project)) != sorted(episodes):
            found.append("%s: the index is not that of the episodes" % project.name)
        numbers = {"%04d" % one.number for one in (*self.workers, *self.visitors) if one.repo == repo}
        for path in project.rglob("*"):
            strangers = set(_WORD.findall(_text(path))) - numbers if path.is_file() else set()
            if strangers:
                found.append("%s holds words of the sessions %s" % (path, sorted(strangers)))
        topics = "".join(map(_text, project.glob("LEARNING/topics/*.md")))
        found += ["lost: " + fact for fact in self.facts.get(repo, []) if topics.count("- " + fact) != 1]
        blocked = sum(_text(path).count('"tool_blocked"') for path in project.glob("SECURITY/*/*/audit.jsonl"))
        due = sum(worker.blocked for worker in self.workers if worker.repo == repo)
        return found + ([] if blocked == due else ["%s: %d of %d blocked calls in the trail" % (repo, blocked, due)])

    def _of_session(self, worker: Worker) -> list[str]:
        project, id = self.project(worker.repo), worker.session.id
        records = [json.loads(_text(path)) for path in project.glob("episodes/*-%s*.json" % id[:8])]
        metas = self.metas(worker.repo, id)
        if len(records) != 1 or len(metas) != 1:
            return ["%s has %d episodes and %d records" % (worker.word, len(records), len(metas))]
        meta, folder = yaml.load(_text(metas[0])), metas[0].parent
        state = json.loads(_text(folder / settings.CAPTURE_FILE))
        asks = _first_and_last([worker.ask(turn) for turn in range(worker.turns)])
        said = "".join(path.read_text(encoding="utf-8") for path in folder.glob("artifacts/checkpoint-*"))
        kept, shown = worker.files[-settings.FILES_KEPT :], worker.files[-settings.FILES_IN_EPISODE :]
        # Where transcripts were read anew, what subagents did comes last.
        if worker.archived or sorted(state["files"]) == sorted(kept):
            kept, shown = state["files"], state["files"][-settings.FILES_IN_EPISODE :]
        # There, a file that a subagent wrote and the session edited later may count twice.
        most_files = len(worker.files) if worker.archived else state["files_total"]
        died_active = worker.killed and worker.is_active
        pairs = (
            ("asked", records[0]["asked"], asks),
            ("asks", [text for _, text in state["asks"]], asks),
            ("files", state["files"], kept),
            ("files_total", min(state["files_total"], most_files), len(worker.files)),
            ("files_changed", records[0]["files_changed"], shown),
            ("artifacts of META", meta["artifacts"], records[0]["files_changed"]),
            ("tools", state["tools"], dict(worker.tools)),
            ("checkpoints", sum(said.count(done) == 1 for done in worker.checkpoints), len(worker.checkpoints)),
            ("status", meta["status"], settings.ABANDONED if died_active else settings.COMPLETED),
            ("sessions named", {*_WORD.findall(jsontext.compact(records[0]))}, {worker.word[-4:]}),
            ("archived", worker.archived and not self._is_archived(worker), False),
        )
        found = ["%s: %s is %r, not %r" % (worker.word, name, one, other) for name, one, other in pairs if one != other]
        last = worker.last_said or worker.answer(worker.turns - 1)
        if worker.turns and last not in records[0]["what_was_done"]:
            found.append("%s: %r does not say %r" % (worker.word, records[0]["what_was_done"], last))
        files = [path.name for path in folder.rglob("*") if path.is_file() and path.parent.name != "artifacts"]
        return found + ([] if len(files) <= FILES_PER_SESSION else ["%s: %s" % (worker.word, files)])

    def _is_archived(self, worker: Worker) -> bool:
        archived = archive.load_all(str(self.store), str(self.project(worker.repo)), [])
        return any(each.session_id == worker.session.id for each in archived)

    def _forgetting(self) -> list[str]:
        """Words of what was forgotten that are still somewhere; the audit trail keeps only ids."""
        gone = [one.word for one in self.forgotten] + ["mirelo" + one.word[-4:] for one in self.struck] + self.doomed
        found = []
        for path in self.store.rglob("*"):
            text = _unpacked(path) if path.is_file() else ""
            found += ["%s still holds %r" % (path, word) for word in gone if word in text]
        return found

    def growth(self) -> dict[str, tuple[float, float, float]]:
        """Per scene and hook: processor milliseconds in the first and in the last tenth of the turns, as if the
        processor had been as fast as in the first, and the growth by a straight line through all tenths."""
        found = {}
        for (kind, script), samples in sorted(self.hooks.costs.items()):
            measured = self.hooks.costs.get((kind, MEASURED), [])
            if script in ("stop", "user_prompt_submit") and len(measured) >= TENTHS:
                found["%s, %s" % (kind, script)] = _trend(samples, measured)
        return found


def _trend(samples: list[tuple[int, float]], measured: list[tuple[int, float]]) -> tuple[float, float, float]:
    last = max(turn for turn, _ in samples) or 1
    speeds = _tenths(measured, last)
    costs = [cost * speeds[0] / speed * 1e3 for cost, speed in zip(_tenths(samples, last), speeds)]
    middle, mean = (len(costs) - 1) / 2, statistics.mean(costs)
    rises = [(number - middle) * (cost - mean) for number, cost in enumerate(costs)]
    slope = sum(rises) / sum((number - middle) ** 2 for number in range(len(costs)))
    return costs[0], costs[-1], slope * (len(costs) - 1) / (mean - slope * middle)


def _tenths(samples: list[tuple[int, float]], last: int) -> list[float]:
    """The median of each tenth of the turns."""
    parts: list[list[float]] = [[] for _ in range(TENTHS)]
    for turn, cost in samples:
        parts[min(TENTHS - 1, turn * TENTHS // (last + 1))].append(cost)
    known = [statistics.median(part) if part else 0.0 for part in parts]
    usual = statistics.median([cost for cost in known if cost])
    return [cost or usual for cost in known]


def leftover(path: Path) -> list[str]:
    endings = (settings.TEMP_SUFFIX, settings.CLAIM_SUFFIX, settings.REJECT_SUFFIX, settings.DAMAGED_SUFFIX)
    marks = ((settings.DIRTY_DIR, ""), (settings.LIVE_DIR, ".json"))
    is_mark = any(path.parent.name == folder and path.name.endswith(ending) for folder, ending in marks)
    return ["left behind: %s" % path] if path.name.endswith(endings) or is_mark else []


def _first_and_last(asks: list[str]) -> list[str]:
    first, last = settings.ASKS_KEPT_FIRST, settings.ASKS_KEPT_LAST
    return asks if len(asks) <= first + last else asks[:first] + asks[-last:]


def _names_in_index(project: Path) -> list[str]:
    return re.findall(r"`episodes/([^`]+)`", _text(project / settings.INDEX_FILE))


def _threads_in_ledger(project: Path) -> list[str]:
    path = project / settings.STATE_DIR / settings.CONVERSATION_FILE
    return [thread["id"] for thread in json.loads(_text(path))["threads"]] if path.exists() else []


def _repeated(where: str, items: list[str]) -> list[str]:
    return ["%s: %s stands there %d times" % (where, item, n) for item, n in Counter(items).items() if n > 1]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _unpacked(path: Path) -> str:
    """Of an archive, what is in it."""
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace") if path.suffix == ".gz" else _text(path)


def endure(load: Load, turns: int, *, earlier: int = 0, alone: bool = False) -> dict[str, Any]:
    """The whole run and what became of it, as a report."""
    load.run(turns, earlier=earlier, alone=alone)
    load.recover()
    problems = load.hooks.problems + load.outcome()
    costs = load.growth()
    done = [worker.turns for worker in load.workers]
    if done and min(done) >= LEAST_TURNS:
        for name, (first, last, slope) in costs.items():
            if slope > GROWTH_ALLOWED:
                problems.append("%s: a turn costs %.1f ms at first and %.1f ms at last" % (name, first, last))
    counts = {"sessions": len(load.workers), "turns": sum(done), "visitors": len(load.visitors), **load.hooks.counts}
    sizes = [path.stat().st_size for path in load.store.rglob("*") if path.is_file()]
    counts.update({"files in the store": len(sizes), "bytes in the store": sum(sizes)})
    slowest = {name: round(seconds, 3) for name, seconds in load.hooks.slowest.items()}
    return {"counts": counts, "problems": problems, "slowest": slowest, "growth": costs}


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    """Until `ends` on the monotonic clock, or the end of everybody's life."""
    sessions, projects, turns = CAMPAIGN
    load = Load(directory, seed, sessions=sessions, projects=projects, ends=ends)
    try:
        return endure(load, turns, earlier=EARLIER)
    finally:
        load.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=CAMPAIGN[0])
    parser.add_argument("--projects", type=int, default=CAMPAIGN[1])
    parser.add_argument("--turns", type=int, default=CAMPAIGN[2])
    parser.add_argument("--earlier", type=int, default=EARLIER, help="sessions that came and went before")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="hooks at the same time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--alone", action="store_true", help="nothing but the sessions: to see what turns cost")
    parser.add_argument("--keep", action="store_true", help="leave the store where it is, and say where")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-load-"))
    began = time.monotonic()
    load = Load(
        directory,
        options.seed,
        sessions=options.sessions,
        projects=options.projects,
        ends=began + options.minutes * 60,
        at_once=options.at_once,
    )
    try:
        report = endure(load, options.turns, earlier=options.earlier, alone=options.alone)
    except KeyboardInterrupt:
        print("interrupted: nothing is proved", file=sys.stderr)
        load.ends = 0.0  # the sessions finish the turn they are in
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        return 130
    finally:
        load.close()
        if options.keep:
            print(directory)
        else:
            shutil.rmtree(str(directory), ignore_errors=True)
    for title in ("counts", "slowest"):
        print(title + ": " + ", ".join("%s %s" % item for item in sorted(report[title].items())))
    for name, (first, last, slope) in report["growth"].items():
        row = (name, first, last, slope * 100)
        print("%s: %.2f ms in the first tenth of the turns, %.2f in the last; by a line through all %+.1f %%" % row)
    if min(worker.turns for worker in load.workers) < LEAST_TURNS:
        print("fewer than %d turns each: too few to judge whether they grow dearer" % LEAST_TURNS)
    for problem in report["problems"]:
        print(problem)
    print("%d problems; %.0f s" % (len(report["problems"]), time.monotonic() - began))
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
