#!/usr/bin/env python3
"""CPU time of each hook as a ratio to `python3 -I -S -c pass` of the same interpreter.

    python3 bench/hooks.py [--interpreter PYTHON] [--rounds 40] [--only recall]
    python3 bench/hooks.py --against /path/to/other/checkout     both columns and the change in percent

Every round runs the floor and each case once, in random order, so that a busy machine slows all of them alike; a
figure is the median of the ratios of its rounds. Exits 1 when this checkout misses a target. POSIX only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import support

FLOOR = "python3 -I -S -c pass"
NOISE_BYTES = 12_000  # of one turn in a transcript
_HEADS = ("", "re", "sub", "over", "auto", "meta", "pre", "post", "multi", "inter", "trans", "micro")
_WORDS = (
    "cart invoice export supplier ledger parser socket gateway cache queue worker index schema token cursor render"
    " layout widget form filter report chart import spreadsheet webhook payment refund coupon tax total currency"
    " locale template mail digest audit backup archive restore session login password role policy tenant quota"
    " metric trace span alert dashboard pipeline runner artifact bundle plugin theme avatar upload thumbnail"
)
_BARE = _WORDS.split()
NOUNS = [head + word for head in _HEADS for word in _BARE]


class World:
    """A HOME, a repository and a store of `episodes` sessions, used by the hooks of one checkout."""

    def __init__(self, directory: Path, checkout: Path, interpreter: str, episodes: int) -> None:
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.repo = support.make_repo(directory / "project", "git@example.org:bench/project.git")
        self.checkout = checkout
        self.interpreter = interpreter
        self.clients: dict[str, support.Client] = {}
        self.about = ""
        if episodes:
            self._fill(episodes)

    def session(self) -> support.Session:
        session = support.Session(self.repo, self.home)
        self.clients[session.id] = support.Client()
        return session

    def close(self) -> None:
        for client in self.clients.values():
            client.kill()

    def leave(self, session: support.Session) -> None:
        self.hook("session_end", session, session.end())
        self.clients.pop(session.id).kill()

    def environment(self, session: support.Session) -> dict[str, str]:
        pid = self.clients[session.id].pid
        return support.clean_environment(self.home, session.environment(pid=pid, interactive=True))

    def hook(self, script: str, session: support.Session, payload: Any) -> tuple[float, bytes]:
        """CPU seconds and output of one hook process."""
        command = [self.interpreter, *support.FLAGS, str(self.checkout / "hooks" / (script + ".py"))]
        return cpu_seconds(command, support.encode(payload), self.environment(session), self.repo)

    def _fill(self, count: int) -> None:
        """One session through the hooks; the others are that one in other words."""
        session = self.session()
        session.transcript().turn("Please fix the export", "Fixed the export.", files=[self.repo / "export.py"])
        self.hook("stop", session, session.stop("Fixed the export."))
        self.leave(session)
        episode = next(self.store.glob("*/episodes/*.json"))
        value = json.loads(episode.read_text("utf-8"))
        words = random.Random(7)
        for number in range(count - 1):
            about = " ".join(words.choices(NOUNS, k=60))
            self.about = about[60:140] if number == count // 2 else self.about
            started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 7200 - number * 300))
            name = "%08x" % number
            files = ["src/%s/module_%d.py" % (words.choice(NOUNS), number), "tests/test_%s.py" % words.choice(NOUNS)]
            value.update(id=name, thread=name, session_id=name, started=started, ended=started, files_changed=files)
            value.update(headline="Module %d: %s" % (number, about[:60]), what_was_done=about)
            value.update(asked=["Work on module_%d: %s" % (number, about[60:200])])
            rare = [first + second for first, second in zip(words.choices(NOUNS, k=200), words.choices(_BARE, k=200))]
            said = [" ".join(rare[at : at + 10]) for at in range(0, 200, 10)] + [about[60:140]]
            value.update(passages=[{"turn": at // 4, "by": "claude", "text": text} for at, text in enumerate(said)])
            path = episode.parent / ("session-%s-%s.json" % (started.replace(":", ""), name))
            path.write_text(json.dumps(value), "utf-8")
        (self.store / "config.json").write_text(json.dumps({"retention_episodes": 2 * count}), "utf-8")
        command = [self.interpreter, str(self.checkout / "harness"), "memory", "rebuild"]
        options: Any = {"cwd": str(self.repo), "env": support.clean_environment(self.home), "check": True}
        subprocess.run(command, stdout=subprocess.DEVNULL, **options)


def cpu_seconds(command: list[str], stdin: bytes, env: dict[str, str], cwd: Path) -> tuple[float, bytes]:
    """CPU time of a process (its own and its children's) and what it printed."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as target:
        source.write(stdin)
        source.seek(0)
        process = subprocess.Popen(command, stdin=source, stdout=target, stderr=target, env=env, cwd=str(cwd))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        target.seek(0)
        output = target.read()
    if status or b"Traceback" in output:
        raise SystemExit("%s: %s" % (" ".join(command), output.decode("utf-8", "replace")))
    return usage.ru_utime + usage.ru_stime, output


# Cases: each takes a world and returns a function that runs the hook once and gives its CPU seconds ----------
Run = Callable[[], float]


def session_start(world: World) -> Run:
    def run() -> float:
        session = world.session()
        seconds, output = world.hook("session_start", session, session.start())
        assert b"additionalContext" in output
        world.leave(session)
        return seconds

    return run


def prompt(world: World) -> Run:
    def run() -> float:
        session = world.session()
        world.hook("session_start", session, session.start())
        payload = session.prompt("Look into this again: %s" % world.about)
        seconds, output = world.hook("user_prompt_submit", session, payload)
        assert b"module_" in output, "nothing was recalled: %r" % output
        world.leave(session)
        return seconds

    return run


def stop(world: World, turns: int = 1) -> Run:
    session = world.session()
    transcript = session.transcript()
    for number in range(turns):
        transcript.prompt("Part %d" % number).noise(NOISE_BYTES).text("Done.").turn_end()
    world.hook("stop", session, session.stop("Done."))

    def run() -> float:
        world.hook("user_prompt_submit", session, session.prompt("Add a greeting"))
        transcript.prompt("Add a greeting").noise(NOISE_BYTES).bash("make", "no rule", exit_code=2)
        transcript.write(world.repo / "src" / "greet.py", support.prose(2_000)).text("Added the greeting.").turn_end()
        return world.hook("stop", session, session.stop("Added the greeting."))[0]

    return run


def tool_call(tool: str, fields: dict[str, str], expected: bytes) -> Callable[[World], Run]:
    def case(world: World) -> Run:
        session = world.session()
        values = {key: value.replace("$REPO", str(world.repo)) for key, value in fields.items()}

        def run() -> float:
            seconds, output = world.hook("pre_tool_use", session, session.tool_call(tool, values))
            assert expected in output if expected else not output, output
            return seconds

        return run

    return case


# name: (episodes in the store, target ratio, case)
CASES: dict[str, tuple[int, float, Callable[[World], Run]]] = {
    "Stop": (200, 1.8, stop),
    "Stop, 25 MB transcript": (200, 1.8, lambda world: stop(world, 2_000)),
    "SessionStart, 200 episodes": (200, 2.0, session_start),
    "prompt with recall, 200": (200, 2.4, prompt),
    "prompt with recall, 2,000": (2_000, 2.8, prompt),
    "prompt with recall, 20,000": (20_000, 3.5, prompt),
    "guard, quiet": (0, 1.15, tool_call("Bash", {"command": "git status --short && npm test"}, b"")),
    "guard, read in full": (0, 1.5, tool_call("Bash", {"command": "git commit -m 'Say hello' && make"}, b"")),
    "guard, quiet Read": (0, 1.5, tool_call("Read", {"file_path": "$REPO/src/greet.py"}, b"")),
    "guard, denied": (0, 2.3, tool_call("Bash", {"command": "cd src && rm -rf ~/Documents"}, b'"deny"')),
}


def base_of(interpreter: str) -> str:
    """The binary behind a virtual environment or a shim."""
    code = "import os, sys; print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))"
    return subprocess.run([interpreter, "-I", "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def measure(cases: dict[tuple[str, int], Run], floor: Run, rounds: int) -> dict[tuple[str, int], list[float]]:
    """Ratios to the floor of every case, a row a round; the floor of a round is the mean of two runs."""
    order = random.Random(1)
    ratios: dict[tuple[str, int], list[float]] = {key: [] for key in cases}
    for run in cases.values():
        run()
    for _ in range(rounds):
        seconds = dict.fromkeys(cases, 0.0)
        floors = [floor()]
        for key in order.sample(sorted(cases), len(cases)):
            seconds[key] = cases[key]()
        floors.append(floor())
        for key, value in seconds.items():
            ratios[key].append(value / statistics.mean(floors))
    return ratios


def report(ratios: dict[tuple[str, int], list[float]]) -> int:
    """Print a row a case; the number of targets that this checkout misses."""
    misses = 0
    for name, (_, target, _) in CASES.items():
        if (name, 0) not in ratios:
            continue
        own = statistics.median(ratios[name, 0])
        row = "%-28s %7.2f   (≤ %.2f)" % (name, own, target)
        if (name, 1) in ratios:
            other = statistics.median(ratios[name, 1])
            change = statistics.median(a / b for a, b in zip(ratios[name, 0], ratios[name, 1]))
            row += " %8.2f  %+6.1f %%" % (other, (change - 1) * 100)
        misses += own > target
        print(row + ("  MISSED" if own > target else ""), flush=True)
    return misses


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--interpreter", default=sys.executable, help="the Python to measure")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--against", type=Path, help="another checkout to measure in the same rounds")
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases whose name contains it")
    options = parser.parse_args()
    interpreter = base_of(options.interpreter)
    checkouts = [support.ROOT, *([options.against.resolve()] if options.against else [])]
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-bench-"))
    env = support.clean_environment(directory)
    worlds: dict[tuple[int, int], World] = {}
    runs: dict[tuple[str, int], Run] = {}
    try:
        for name, (episodes, _, case) in CASES.items():
            for number, checkout in enumerate(checkouts if options.only in name else ()):
                if (episodes, number) not in worlds:
                    place = directory / ("%d-%d" % (episodes, number))
                    worlds[episodes, number] = World(place, checkout, interpreter, episodes)
                runs[name, number] = case(worlds[episodes, number])
        ratios = measure(
            runs, lambda: cpu_seconds([interpreter, "-I", "-S", "-c", "pass"], b"", env, directory)[0], options.rounds
        )
        print("%s, %d rounds, ratio to %s" % (interpreter, options.rounds, FLOOR))
        print("%-28s %7s %10s %s" % ("", "here", "target", "" if len(checkouts) < 2 else " against   change"))
        misses = report(ratios)
        stamps = [path for world in worlds.values() for path in support.failures(world.store)]
        print("\n".join("%s: %s" % (path, path.read_text("utf-8")) for path in stamps))
    finally:
        for world in worlds.values():
            world.close()
        shutil.rmtree(str(directory), ignore_errors=True)
    print("%d targets missed" % misses if misses else "every target is met")
    return 1 if misses or stamps else 0


if __name__ == "__main__":
    raise SystemExit(main())
