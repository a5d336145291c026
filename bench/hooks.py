#!/usr/bin/env python3
"""What each hook costs, beside its target; exits 1 when one is missed.

A throw-away HOME gets a store of 200 episodes (made by the hooks themselves), a repository and
transcripts of every size. Hooks run as installed. CPU time is given as the ratio to
`python3 -c pass` of the same interpreter without third-party packages, in one interleaved run.

    python3 bench/hooks.py [--interpreter PYTHON] [--rounds 40] [--megabytes 200]
    python3 bench/hooks.py --guard      PreToolUse alone, which every tool call waits for
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import ratio
import support

EPISODES = 200
PAYLOAD_BYTES = 6_000_000
WRITTEN_BYTES = 3_000_000
PEAK_MB = 40.0
READ_MB_PER_SECOND = 150.0
READS = 5
MANY_EPISODES = 10_000
ADDING_MS = 5.0
RATIOS = {
    "SessionStart, 200 episodes": 2.5,
    "SessionStart, briefing, 100 notes": 3.0,
    "SessionStart, 10,000 episodes": 4.0,
    "UserPromptSubmit": 3.0,
    "UserPromptSubmit, skill profile": 2.0,
    "UserPromptSubmit, recall, 200 episodes": 3.0,
    "UserPromptSubmit, recall, 2,000 episodes": 4.0,
    "UserPromptSubmit, recall, 20,000 episodes": 6.0,
    "PreToolUse, skill profile": 1.6,
    "PreToolUse, quiet command": 1.0,
    "PreToolUse, quoted command": 1.8,
    "PreToolUse, here-document": 1.8,
    "PreToolUse, Read": 1.8,
    "PreToolUse, denied command": 1.8,
    "PreToolUse, asked command": 1.8,
    "PreToolUse, denied Read": 1.8,
    "PreToolUse, Write of 3 MB": 2.0,
    "Stop, small transcript": 2.0,
    "Stop, large transcript": 2.0,
}
_SOURCE = (
    "def greet(name: str) -> str:\n"
    '    """Say hello, whatever the language: \\"olá\\", “こんにちは”."""\n'
    "    return 'hello ' + name  # TODO\n\n"
)
_WORDS = (
    "cart invoice export supplier ledger parser socket gateway cache queue worker index schema token cursor render"
    " layout widget form filter report chart import spreadsheet webhook payment refund coupon tax total currency"
    " locale template mail digest audit backup archive restore session login password role policy tenant quota"
    " metric trace span alert dashboard pipeline runner artifact bundle plugin theme avatar upload thumbnail"
)
_HEADS = ("", "re", "sub", "over", "auto", "meta", "pre", "post", "multi", "inter", "trans", "micro")
_NOUNS = [head + word for head in _HEADS for word in _WORDS.split()]


def source(size: int) -> str:
    return (_SOURCE * (size // len(_SOURCE) + 1))[:size]


class Bench:
    """The world the hooks run in, and the cases made of it."""

    def __init__(self, directory: Path, interpreter: str) -> None:
        self.directory = directory
        self.interpreter = interpreter
        self.home = directory / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.store = self.home / ".claude" / "memory"
        self.repo = support.make_repo(directory / "project", "git@example.org:bench/project.git")
        self.clients: dict[str, support.Client] = {}
        self.cases: list[ratio.Case] = []

    def session(self) -> support.Session:
        return support.Session(self.repo, self.home)

    def pid(self, session: support.Session) -> int:
        """Each session has a client of its own: one process with two ids would mean `/clear`."""
        if session.id not in self.clients:
            self.clients[session.id] = support.Client()
        return self.clients[session.id].pid

    def leave(self, session: support.Session) -> None:
        self.hook("session_end", session, session.end())
        self.clients.pop(session.id).kill()

    def environment(self, session: support.Session, **extra: str) -> dict[str, str]:
        return support.clean_environment(self.home, {**session.environment(pid=self.pid(session)), **extra})

    def command(self, script: str) -> str:
        return " ".join(shlex.quote(word) for word in support.hook_command(script, self.interpreter))

    def hook(self, script: str, session: support.Session, payload: Any, **extra: str) -> None:
        env: dict[str, str | None] = {**session.environment(pid=self.pid(session)), **extra}
        done = support.run_hook(script, payload, home=self.home, env=env, interpreter=self.interpreter)
        if done.code or done.stderr:
            raise SystemExit("%s: %r" % (script, done))

    def case(
        self,
        name: str,
        script: str,
        session: support.Session,
        payload: Callable[[], Any],
    ) -> None:
        self.cases.append(
            ratio.Case(
                name,
                self.command(script),
                stdin=lambda: support.encode(payload()),
                env=self.environment(session),
                cwd=str(self.repo),
            )
        )


# Set-up ----------------------------------------------------------------------------------------
def bare_interpreter(interpreter: str, directory: Path) -> str:
    """The same interpreter without site-packages, whose `.pth` files may cost more than all the rest."""
    subprocess.run([interpreter, "-I", "-m", "venv", "--without-pip", str(directory)], check=True)
    return str(directory / "bin" / "python")


def base_of(interpreter: str) -> str:
    code = "import os, sys; print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))"
    return subprocess.run([interpreter, "-I", "-c", code], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def fill(bench: Bench, count: int) -> None:
    """Past sessions, each with an episode."""

    def one(number: int) -> None:
        session = bench.session()
        files = [bench.repo / ("src/module_%d_%d.py" % (number, part)) for part in range(number % 4)]
        answer = "Fixed issue %d: %s" % (number, support.prose(300))
        session.transcript().turn("Please fix issue number %d" % number, answer, files=files)
        bench.hook("stop", session, session.stop(answer))
        bench.leave(session)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(count)))


def write_large(transcript: support.Transcript, size: int) -> None:
    """Turns as a long working day leaves them, repeated until the file is `size` bytes."""
    block = Path(str(transcript.path) + ".block")
    day = support.Transcript(block, transcript.session_id, transcript.cwd)
    for number in range(4):
        path = Path(transcript.cwd) / ("src/part_%d.py" % number)
        day.prompt("Continue with part %d" % number).noise(60_000)
        day.attachment("prompt_snapshot", content=source(54_000)).attachment("skill_listing", content=source(13_000))
        day.text(support.prose(700)).read(path, source(12_000)).noise(9_000)
        day.bash("python3 -m pytest -q", source(3_000), exit_code=number % 2).noise(30_000)
        day.edit(path, source(800), source(900)).attachment("file", content={"text": source(20_000)}).noise(6_000)
        day.write(path, source(6_000)).bash("git status", "clean").noise(2_000)
        day.text(support.prose(1_500)).turn_end("Continue")
    data = block.read_bytes()
    block.unlink()
    with transcript.path.open("ab") as file:
        for _ in range(max(1, size // len(data))):
            file.write(data)


def curate(bench: Bench) -> None:
    """A briefing, a hundred notes and a profile, as a project of some age has them."""
    project = support.episode_files(bench.store)[0].parent.parent
    (project / "briefing.md").write_text("".join("- %s\n" % support.prose(70) for _ in range(80)), "utf-8")
    notes = ("- [topic %d](topics/t%d.md): %s\n" % (n, n, support.prose(60)) for n in range(100))
    (project / "MEMORY.md").write_text("# Notes\n" + "".join(notes), "utf-8")
    (project / "profiles").mkdir(exist_ok=True)
    (project / "profiles" / "melt.md").write_text("".join("- %s\n" % support.prose(60) for _ in range(30)), "utf-8")


def multiply(bench: Bench, count: int) -> None:
    """So many episodes that only a user who raised the cap has them."""
    project = support.episode_files(bench.store)[0].parent.parent
    value = support.episodes(bench.store)[0]
    for number in range(count):
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600 - number * 60))
        short_id = "%08x" % number
        episode = {**value, "id": short_id, "thread": short_id, "session_id": short_id, "started": started}
        name = "session-%s-%s.json" % (started.replace(":", ""), short_id)
        (project / "episodes" / name).write_text(json.dumps({**episode, "ended": started}), "utf-8")
    (bench.store / "config.json").write_text(json.dumps({"retention_episodes": 2 * count}), "utf-8")
    rebuild(bench)


def rebuild(bench: Bench) -> None:
    subprocess.run(
        [sys.executable, str(support.ROOT / "harness"), "memory", "rebuild"],
        cwd=str(bench.repo),
        env=support.clean_environment(bench.home),
        stdout=subprocess.DEVNULL,
        check=True,
    )


# Cases -----------------------------------------------------------------------------------------
def add_session_start(bench: Bench, name: str) -> None:
    state: dict[str, support.Session] = {}

    def payload() -> Any:
        state["session"] = bench.session()
        return state["session"].start()

    bench.cases.append(
        ratio.Case(
            name,
            bench.command("session_start"),
            stdin=lambda: support.encode(payload()),
            env=lambda: bench.environment(state["session"]),
            cwd=str(bench.repo),
            after=lambda: bench.leave(state["session"]),
        )
    )


def add_skill(bench: Bench, name: str, script: str, payload: Callable[[support.Session], Any]) -> None:
    """A new session each time: a profile is told once."""
    state: dict[str, support.Session] = {}

    def begin() -> Any:
        state["session"] = bench.session()
        bench.hook("session_start", state["session"], state["session"].start())
        return payload(state["session"])

    bench.cases.append(
        ratio.Case(
            name,
            bench.command(script),
            stdin=lambda: support.encode(begin()),
            env=lambda: bench.environment(state["session"]),
            cwd=str(bench.repo),
            after=lambda: bench.leave(state["session"]),
        )
    )


def skill_call(session: support.Session) -> Any:
    own = {"tool_name": "Skill", "tool_input": {"skill": "melt", "args": ""}, "tool_use_id": "toolu_bench"}
    return session._payload("PreToolUse", own, {}, mode=True)


def add_guard(bench: Bench) -> None:
    """Tool calls of a session with somebody at the terminal."""
    session = bench.session()
    env = bench.environment(session, CLAUDE_CODE_SESSION_ATTENDED="1", CLAUDE_CODE_ENTRYPOINT="cli")
    body = "cat > notes.md <<'EOF'\n%s\nEOF" % support.prose(2_000)
    path = str(bench.repo / "src" / "greet.py")
    calls: dict[str, tuple[str, dict[str, str]]] = {
        "quiet command": ("Bash", {"command": "git status --short && npm test"}),
        "quoted command": ("Bash", {"command": "git commit -m 'Say hello' && grep -rn \"hello\" src | head -20"}),
        "here-document": ("Bash", {"command": body}),
        "Read": ("Read", {"file_path": path}),
        "denied command": ("Bash", {"command": "cd src && rm -rf ~/Documents"}),
        "asked command": ("Bash", {"command": "git add -A && git push --force origin main"}),
        "denied Read": ("Read", {"file_path": str(bench.home / ".ssh" / "id_rsa")}),
        "Write of 3 MB": ("Write", {"file_path": path, "content": source(WRITTEN_BYTES)}),
    }
    for name, (tool, given) in calls.items():
        payload = support.encode(session.tool_call(tool, given))
        command = bench.command("pre_tool_use")
        bench.cases.append(ratio.Case("PreToolUse, " + name, command, stdin=payload, env=env, cwd=str(bench.repo)))


def add_prompt(bench: Bench) -> None:
    session = bench.session()
    transcript = session.transcript()

    def payload() -> Any:
        transcript.turn("Go on", "Done.")
        bench.hook("stop", session, session.stop("Done."))
        return session.prompt("Now the next part, please")

    bench.case("UserPromptSubmit", "user_prompt_submit", session, payload)


def add_turn(
    bench: Bench,
    name: str,
    script: str,
    ending: Callable[[support.Session], Any],
    *,
    session: support.Session | None = None,
) -> support.Session:
    """A case that ends a small turn: prompt, one file, one failing command, an answer."""
    session = session or bench.session()
    transcript = session.transcript()
    path = bench.repo / "src" / "greet.py"

    def payload() -> Any:
        bench.hook("user_prompt_submit", session, session.prompt("Add a greeting"))
        transcript.prompt("Add a greeting").noise(10_000).bash("make", "no rule", exit_code=2).noise(2_000)
        transcript.write(path, source(2_000)).text("Added the greeting.").turn_end()
        return ending(session)

    bench.case(name, script, session, payload)
    return session


def add_paste(bench: Bench, name: str, text: str) -> None:
    session = bench.session()
    bench.case(name, "user_prompt_submit", session, lambda: session.prompt(text))


def add_all(bench: Bench, megabytes: int) -> Path:
    add_session_start(bench, "SessionStart, 200 episodes")
    add_prompt(bench)
    add_turn(bench, "Stop, small transcript", "stop", lambda s: s.stop("Added the greeting."))
    large = bench.session()
    transcript = large.transcript()
    transcript.turn("Start a long day", "Ready.")
    write_large(transcript, megabytes * 1_000_000)
    bench.hook("stop", large, large.stop("Ready."))
    add_turn(bench, "Stop, large transcript", "stop", lambda s: s.stop("Added the greeting."), session=large)
    add_turn(bench, "PreCompact", "pre_compact", lambda s: s.pre_compact())
    add_turn(bench, "SessionEnd", "session_end", lambda s: s.end())
    pasted = support.prose(PAYLOAD_BYTES)
    add_paste(bench, "UserPromptSubmit, 6 MB payload", pasted)
    # One character outside the basic plane makes the interpreter keep four bytes for each.
    add_paste(bench, "UserPromptSubmit, 6 MB payload, emoji", pasted[:-4] + "\N{PARTY POPPER}")
    return transcript.path


# First reading ---------------------------------------------------------------------------------
def first_read(bench: Bench, path: Path) -> tuple[float, float, float, bool]:
    """MB/s by CPU and by wall time, peak MB, and whether one run reached the end, of a never-read transcript."""
    session = bench.session()
    session.transcript_path = str(path)
    session.id = path.stem
    size = path.stat().st_size
    fresh = [bench.directory / ("fresh-%d" % number) for number in range(READS + 1)]
    payload = support.encode(session.stop("Added the greeting."))

    def case(root: Path) -> ratio.Case:
        env = bench.environment(session, HARNESS_MEMORY_HOME=str(root))
        return ratio.Case("first", bench.command("stop"), stdin=payload, env=env, cwd=str(bench.repo))

    runs = [ratio.run_once(case(root)) for root in fresh[:READS]]
    peak = ratio.peak_mb(case(fresh[READS]))
    captures = [file.read_text(encoding="utf-8") for root in fresh for file in root.glob("*/WORK/*/*/capture.json")]
    whole = len(captures) == len(fresh) and all(str(size) in capture for capture in captures)
    cpu = size / 1000 / statistics.median(run.cpu_ms for run in runs)
    wall = size / 1000 / statistics.median(run.wall_ms for run in runs)
    return cpu, wall, peak, whole


# Report ----------------------------------------------------------------------------------------
class Report:
    """A Markdown table and the count of misses."""

    def __init__(self) -> None:
        self.misses = 0
        print("| hook | CPU ratio | target | CPU ms | wall ms | peak MB | target |")
        print("| --- | --- | --- | --- | --- | --- | --- |")

    def mark(self, value: str, is_met: bool) -> str:
        if is_met:
            return value
        self.misses += 1
        return "**%s**" % value

    def row(self, figure: ratio.Figures, is_baseline: bool) -> None:
        target = RATIOS.get(figure.name)
        shown = self.mark("%.2f" % figure.ratio, target is None or figure.ratio <= target)
        peak = self.mark("%.1f" % figure.peak_mb, is_baseline or figure.peak_mb <= PEAK_MB)
        limits = ("≤ %.1f" % target if target else "", "" if is_baseline else "≤ %.0f" % PEAK_MB)
        values = (figure.name, shown, limits[0], figure.cpu_ms, figure.wall_ms, peak, limits[1])
        print("| %s | %s | %s | %.1f | %.1f | %s | %s |" % values)
        if figure.codes != [0]:
            self.problem("%s: exit codes %s" % (figure.name, figure.codes))

    def problem(self, text: str) -> None:
        self.misses += 1
        print("\n**%s**" % text)


def report_first_read(report: Report, bench: Bench, path: Path) -> None:
    cpu, wall, peak, whole = first_read(bench, path)
    speed = report.mark("%.0f MB/s" % cpu, cpu >= READ_MB_PER_SECOND)
    memory = report.mark("%.1f" % peak, peak <= PEAK_MB)
    print("\n| first read | by CPU time | target | by wall time | peak MB | target |")
    print("| --- | --- | --- | --- | --- | --- |")
    size = path.stat().st_size / 1e6
    values = (size, speed, READ_MB_PER_SECOND, wall, memory, PEAK_MB)
    print("| %.0f MB | %s | ≥ %.0f MB/s | %.0f MB/s | %s | ≤ %.0f |" % values)
    if not whole:
        report.problem("one Stop did not read the transcript to its end")


def report_knowing(report: Report, directory: Path, interpreter: str, bare: str, rounds: int) -> None:
    """What it costs to tell a session what earlier ones know: a project of some age, and a giant one."""
    for name, episodes in (("aged", 0), ("giant", MANY_EPISODES)):
        bench = Bench(directory / name, interpreter)
        try:
            bench.cases.append(ratio.baseline(bare, support.clean_environment(bench.home)))
            fill(bench, EPISODES if not episodes else 1)
            if episodes:
                multiply(bench, episodes)
                add_session_start(bench, "SessionStart, 10,000 episodes")
            else:
                curate(bench)
                add_session_start(bench, "SessionStart, briefing, 100 notes")
                add_skill(
                    bench, "UserPromptSubmit, skill profile", "user_prompt_submit", lambda s: s.prompt("/melt it")
                )
                add_skill(bench, "PreToolUse, skill profile", "pre_tool_use", skill_call)
            for case in bench.cases:
                ratio.run_once(case)
            for number, figure in enumerate(ratio.measure(bench.cases, rounds)):
                report.row(figure, is_baseline=number == 0)
            for failure in support.failures(bench.store):
                report.problem("%s: %s" % (failure.name, failure.read_text(encoding="utf-8").strip()))
        finally:
            for client in bench.clients.values():
                client.kill()


def report_recall(report: Report, directory: Path, interpreter: str, bare: str, rounds: int) -> None:
    """What it costs to look back at a prompt: no two of the episodes say the same."""
    for count in (200, 2_000, 20_000):
        bench = Bench(directory / ("recall-%d" % count), interpreter)
        try:
            bench.cases.append(ratio.baseline(bare, support.clean_environment(bench.home)))
            fill(bench, 1)
            about = remember(bench, count)
            name = "UserPromptSubmit, recall, %s episodes" % format(count, ",")
            prompt = "Look into module_%d again: %s" % (count // 2, about)
            add_skill(bench, name, "user_prompt_submit", _asking(prompt))
            for number, figure in enumerate(ratio.measure(bench.cases, rounds)):
                report.row(figure, is_baseline=number == 0)
            told = ratio.run_once(bench.cases[-1]).output
            if b"files: " not in told:
                report.problem("%s: nothing was recalled" % name)
            report_adding(report, bench, count)
            for failure in support.failures(bench.store):
                report.problem("%s: %s" % (failure.name, failure.read_text(encoding="utf-8").strip()))
        finally:
            for client in bench.clients.values():
                client.kill()


def _asking(prompt: str) -> Callable[[support.Session], Any]:
    return lambda session: session.prompt(prompt)


def remember(bench: Bench, count: int) -> str:
    """Episodes about different things, in words that people use for them; a few of the words of one."""
    project = support.episode_files(bench.store)[0].parent.parent
    value = support.episodes(bench.store)[0]
    words = random.Random(7)
    asked = ""
    for number in range(count):
        about = " ".join(words.choices(_NOUNS, k=60))
        asked = about[60:140] if number == count // 2 else asked
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 7200 - number * 300))
        short_id = "%08x" % number
        files = ["src/%s/module_%d.py" % (words.choice(_NOUNS), number), "tests/test_%s.py" % words.choice(_NOUNS)]
        episode = {**value, "id": short_id, "thread": short_id, "session_id": short_id, "started": started}
        episode.update(ended=started, files_changed=files, headline="Module %d: %s" % (number, about[:60]))
        episode.update(asked=["Work on module_%d: %s" % (number, about[60:200])], what_was_done=about)
        name = "session-%s-%s.json" % (started.replace(":", ""), short_id)
        (project / "episodes" / name).write_text(json.dumps(episode), "utf-8")
    (bench.store / "config.json").write_text(json.dumps({"retention_episodes": 2 * count}), "utf-8")
    rebuild(bench)
    return asked


def report_adding(report: Report, bench: Bench, count: int) -> None:
    sys.path.insert(0, str(support.ROOT / "lib"))
    from harness_memory.recall import recent
    from harness_memory.session import episode

    project = str(support.episode_files(bench.store)[0].parent.parent)
    name = episode.names(project)[0]
    value = episode.load(project, name)
    times = []
    for _ in range(15):
        began = time.process_time()
        recent.note_episode(project, name, value or {})
        times.append((time.process_time() - began) * 1000)
    spent = statistics.median(times)
    shown = report.mark("%.1f ms" % spent, spent <= ADDING_MS)
    print("\nadding one episode to %s: %s of CPU (≤ %.0f)\n" % (format(count, ","), shown, ADDING_MS))


def report_all(directory: Path, interpreter: str, bare: str, version: str, options: argparse.Namespace) -> Report:
    """Every hook, and the first reading of a long transcript."""
    bench = Bench(directory, interpreter)
    try:
        bench.cases.append(ratio.baseline(bare, support.clean_environment(bench.home)))
        path = add_all(bench, options.megabytes)
        for case in bench.cases:
            ratio.run_once(case)
        fill(bench, EPISODES - len(support.episode_files(bench.store)))
        count = len(support.episode_files(bench.store))
        print("%s, %d rounds, %d episodes, transcript of %d MB\n" % (version, options.rounds, count, options.megabytes))
        figures = ratio.measure(bench.cases, options.rounds)
        report = Report()
        for number, figure in enumerate(figures):
            report.row(figure, is_baseline=number == 0)
        report_guard(report, directory, bench.interpreter, bare, options.rounds)
        report_knowing(report, directory, bench.interpreter, bare, options.rounds)
        report_recall(report, directory, bench.interpreter, bare, options.rounds)
        report_first_read(report, bench, path)
        for failure in support.failures(bench.store):
            report.problem("%s: %s" % (failure.name, failure.read_text(encoding="utf-8").strip()))
    finally:
        for client in bench.clients.values():
            client.kill()
    return report


def report_guard(report: Report, directory: Path, interpreter: str, bare: str, rounds: int) -> None:
    bench = Bench(directory / "guard", interpreter)
    try:
        bench.cases.append(ratio.baseline(bare, support.clean_environment(bench.home)))
        add_guard(bench)
        for number, figure in enumerate(ratio.measure(bench.cases, rounds)):
            report.row(figure, is_baseline=number == 0)
        for failure in support.failures(bench.store):
            report.problem("%s: %s" % (failure.name, failure.read_text(encoding="utf-8").strip()))
    finally:
        for client in bench.clients.values():
            client.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--interpreter", default=sys.executable, help="the Python to measure")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--megabytes", type=int, default=200, help="size of the large transcript")
    parser.add_argument("--guard", action="store_true", help="measure PreToolUse alone")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-bench-"))
    interpreter = base_of(options.interpreter)
    version = subprocess.run([interpreter, "-V"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    try:
        bare = bare_interpreter(interpreter, directory / "bare")
        if options.guard:
            print("%s, %d rounds\n" % (version, options.rounds))
            report = Report()
            report_guard(report, directory, interpreter, bare, options.rounds)
        else:
            report = report_all(directory, interpreter, bare, version, options)
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)
    print("\n%s" % ("every target is met" if not report.misses else "%d missed" % report.misses))
    return 1 if report.misses else 0


if __name__ == "__main__":
    raise SystemExit(main())
