#!/usr/bin/env python3
"""Lint, type-check and test on every Python from 3.8 to 3.14 that this machine has.

Each version gets a virtual environment under `.venvs/`, kept for the next run. Arguments that are
not options of this script go to pytest:

    python3 tests/run.py                    everything
    python3 tests/run.py --only 3.8,3.13    two versions
    python3 tests/run.py -k yaml -x         a selection, on every version

The end-to-end tests take long and do not depend on the interpreter: only the newest runs them, each file
in a run of its own. The oldest and the newest version run every other test with all random and repeated
cases; those in between a quarter of these, and not the long ones under faults and load (see conftest.py). All
but the oldest run on a file system in memory where there is one. The last line sums up all runs, as in
`1234 passed, 0 failed, 12 skipped`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"
END_TO_END = "tests/e2e"
LESS_VOLUME = {"HARNESS_TESTS_VOLUME": "0.25"}  # see tests/support.py
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 1 << 30  # several times what the runs leave there
MINORS = range(8, 15)
TEST_TOOLS = ("pytest", "pyyaml", "ruamel.yaml")
LINT_TOOLS = ("ruff", "mypy")
TYPED = ("lib", "hooks", "install.py", "harness")
JOBS = max(1, min(4, (os.cpu_count() or 1) + 1))  # many tests wait for something
JOB_SECONDS = 600
NO_TESTS_COLLECTED = 5
SHOWN = ("SKIPPED", "guard corpus")  # lines of a run that is otherwise summed up in one

RUNNING: set[subprocess.Popen[bytes]] = set()
STOPPING: list[bool] = []

# Settings that would bend an interpreter, pip, pytest, git or the product itself away from its default.
STRIPPED = ("PYTHON", "PYTEST_", "HARNESS_MEMORY", "CLAUDE", "ANTHROPIC", "GIT_", "VIRTUAL_ENV", "__PYVENV")
PIP_STRIPPED = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_DRY_RUN", "PIP_REQUIRE_VIRTUALENV")

PROBE = """\
import json, os, sys
try:
    import ensurepip, venv
    venvs = True
except ImportError:
    venvs = False
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps([sys.version_info[:3], sys.implementation.name, os.path.realpath(base), venvs]))
"""


class Broken(Exception):
    """An interpreter whose virtual environment cannot be made; the text says why."""


class Python:
    """An interpreter found on this machine."""

    def __init__(self, version: tuple[int, int, int], path: str, has_venv: bool) -> None:
        self.version = version
        self.path = path
        self.has_venv = has_venv

    @property
    def minor(self) -> str:
        return "%d.%d" % self.version[:2]

    @property
    def name(self) -> str:
        return "%d.%d.%d" % self.version

    @property
    def venv_python(self) -> str:
        place = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return str(VENVS.joinpath(self.minor, *place))


class Outcome:
    """What one job (a lint tool or a test run) came to."""

    def __init__(self, name: str, python: Python | None = None) -> None:
        self.name = name
        self.path = python.path if python else ""
        self.order = python.version if python else (0, 0, 0)
        self.passed = self.failed = self.skipped = 0
        self.summary = ""
        self.output = ""
        self.seconds = 0.0

    def fail(self, summary: str, output: str = "") -> Outcome:
        self.failed = max(1, self.failed)
        self.summary = summary
        self.output = output
        return self


# Interpreters ----------------------------------------------------------------------------------
def candidates() -> Iterator[str]:
    suffix = ".exe" if os.name == "nt" else ""
    names = ["python3.%d" % minor for minor in MINORS] + ["python3", "python"]
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        for name in names:
            yield os.path.join(directory or ".", name + suffix)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for version in sorted((pyenv / "versions").glob("3.*")):
        yield str(version / "python.exe" if os.name == "nt" else version / "bin" / "python3")
    yield sys.executable


def probe(path: str) -> Python | None:
    """Ask the interpreter itself: a shim may exist for a version that is not switched on."""
    command = [path, "-I", "-c", PROBE]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), timeout=30, check=False
        )
        version, implementation, real, has_venv = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if done.returncode or implementation != "cpython" or version[0] != 3 or version[1] not in MINORS:
        return None
    return Python((version[0], version[1], version[2]), real, has_venv)


def find_pythons() -> dict[str, list[Python]]:
    """Every working interpreter by minor version, the one to prefer first."""
    paths = sorted({path for path in candidates() if os.path.isfile(path) and os.access(path, os.X_OK)})
    with ThreadPoolExecutor(JOBS) as pool:
        found = {python.path: python for python in pool.map(probe, paths) if python}
    by_minor: dict[str, list[Python]] = {}
    for python in sorted(found.values(), key=lambda p: (p.has_venv, p.version), reverse=True):
        by_minor.setdefault(python.minor, []).append(python)
    return by_minor


def select(by_minor: dict[str, list[Python]], only: str | None) -> list[list[Python]]:
    """The wanted versions, newest first."""
    wanted = [item.strip() for item in only.split(",")] if only else list(by_minor)
    missing = [item for item in wanted if item not in by_minor]
    if missing:
        raise SystemExit("no working python%s here; found: %s" % (missing[0], ", ".join(sorted_minors(by_minor))))
    return [by_minor[minor] for minor in reversed(sorted_minors(wanted))]


def sorted_minors(minors: Any) -> list[str]:
    return sorted(minors, key=lambda text: [int(part) for part in text.split(".")])


# Environments ----------------------------------------------------------------------------------
def environment(**extra: str) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(STRIPPED) and k not in PIP_STRIPPED}
    env["PIP_USER"] = "0"
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    env.update(extra)
    return env


def run(command: list[str], *, timeout: float = JOB_SECONDS, **env: str) -> tuple[int, str]:
    if STOPPING:
        return -1, "not started\n"
    process = subprocess.Popen(
        command,
        cwd=str(ROOT),
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    RUNNING.add(process)
    try:
        output = process.communicate(timeout=timeout)[0]
        return process.returncode, output.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        output = process.communicate()[0]
        return -1, output.decode("utf-8", "replace") + "\nstill running after %d s: stopped\n" % timeout
    finally:
        RUNNING.discard(process)


def stop(*_: object) -> None:
    """Somebody ends us: so do the jobs, and the scratch directory goes."""
    STOPPING.append(True)
    for process in list(RUNNING):
        process.terminate()
    raise SystemExit(1)


def prepare(choices: list[Python], tools: tuple[str, ...]) -> Python:
    """Make (or find again) the virtual environment of one minor version, from the first that can."""
    reasons = []
    for python in choices:
        try:
            make_venv(python, tools)
        except Broken as broken:
            reasons.append("%s (%s): %s" % (python.name, python.path, broken))
            continue
        for reason in reasons:
            print("note: passed over %s" % reason)
        return python
    raise Broken("\n".join(reasons))


def make_venv(python: Python, tools: tuple[str, ...]) -> None:
    directory = VENVS / python.minor
    stamp = directory / "stamp.json"
    if has_tools(stamp, python, tools) and probe(python.venv_python):
        return
    if not python.has_venv:
        raise Broken("has no venv module")
    shutil.rmtree(str(directory), ignore_errors=True)
    code, output = run([python.path, "-m", "venv", str(directory)])
    if code:
        raise Broken("venv failed: " + output.strip())
    code, output = run([python.venv_python, "-m", "pip", "install", "--quiet", *tools])
    if code:
        raise Broken("pip failed: " + output.strip())
    made = {"python": python.path, "version": python.name, "tools": tools}
    stamp.write_text(json.dumps(made), encoding="utf-8")


def has_tools(stamp: Path, python: Python, tools: tuple[str, ...]) -> bool:
    try:
        made = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return (made["python"], made["version"]) == (python.path, python.name) and set(tools) <= set(made["tools"])


# Jobs ------------------------------------------------------------------------------------------
def lint(python: Python) -> list[Outcome]:
    tools = str(Path(python.venv_python).parent)
    typed = [name for name in TYPED if (ROOT / name).is_file() or any((ROOT / name).rglob("*.py"))]
    scripts = [name for name in ("harness",) if (ROOT / name).is_file()]
    ruff = os.path.join(tools, "ruff")
    cache = ["--cache-dir", str(VENVS / "ruff-cache")]
    return [
        check("ruff check", [ruff, "check", *cache, ".", *scripts]),
        check("ruff format", [ruff, "format", "--check", *cache, ".", *scripts]),
        check("mypy", [os.path.join(tools, "mypy"), "--cache-dir", str(VENVS / "mypy-cache"), *typed]),
    ]


def check(name: str, command: list[str]) -> Outcome:
    outcome = Outcome(name)
    began = time.monotonic()
    code, output = run(command)
    outcome.seconds = time.monotonic() - began
    if code:
        return outcome.fail("failed", output)
    outcome.summary = "clean"
    return outcome


def test(python: Python, name: str, scratch: Path, arguments: list[str], env: dict[str, str]) -> Outcome:
    outcome = Outcome(name, python)
    report = scratch / "report.xml"
    command = [python.venv_python, "-m", "pytest", "-p", "no:cacheprovider"]
    command += ["--basetemp", str(scratch / "tests"), "--junitxml", str(report)]
    began = time.monotonic()
    code, outcome.output = run(command + arguments, **env)
    outcome.seconds = time.monotonic() - began
    outcome.summary = last_line(outcome.output)
    count(outcome, report)
    if code and code != NO_TESTS_COLLECTED:
        outcome.failed = max(1, outcome.failed)
    return outcome


def last_line(output: str) -> str:
    lines = [line.strip("= ") for line in output.splitlines()]
    return next((line for line in reversed(lines) if line), "no output")


def count(outcome: Outcome, report: Path) -> None:
    try:
        suites = list(ElementTree.parse(str(report)).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return
    total = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
    outcome.failed = total["failures"] + total["errors"]
    outcome.skipped = total["skipped"]
    outcome.passed = total["tests"] - outcome.failed - outcome.skipped


# The whole -------------------------------------------------------------------------------------
def show(outcome: Outcome) -> None:
    if outcome.failed:
        print("\n----- %s -----\n%s" % (outcome.name, outcome.output.rstrip()))
    else:
        for line in outcome.output.splitlines():
            if line.startswith(SHOWN):
                print("%s: %s" % (outcome.name, line))
    print("%s: %s" % (outcome.name, outcome.summary), flush=True)


class Scratch:
    """A directory for each run, removed while the next runs are at work."""

    def __init__(self) -> None:
        self._made: list[Path] = []
        self._remover = ThreadPoolExecutor(1)

    def make(self, *, in_memory: bool) -> Path:
        parent = str(MEMORY) if in_memory and has_memory() else None
        self._made.append(Path(tempfile.mkdtemp(prefix="harness-memory-tests-", dir=parent)))
        return self._made[-1]

    def remove(self, path: Path) -> None:
        self._remover.submit(shutil.rmtree, str(path), ignore_errors=True)

    def close(self) -> None:
        self._remover.shutdown()
        for path in self._made:
            shutil.rmtree(str(path), ignore_errors=True)


def has_memory() -> bool:
    """Whether there is a file system in memory, large enough, on which programs may be run."""
    if not MEMORY.is_dir() or not os.access(str(MEMORY), os.W_OK):
        return False
    return shutil.disk_usage(str(MEMORY)).free > MEMORY_BYTES and not os.statvfs(str(MEMORY)).f_flag & os.ST_NOEXEC


class Plan:
    """All jobs, the longest first; each waits for no more than the environment it needs."""

    def __init__(self, versions: list[list[Python]], arguments: list[str], scratch: Scratch) -> None:
        self.versions = versions
        self.arguments = arguments
        self.scratch = scratch
        self.names_files = any(os.path.exists(str(ROOT / word.split("::")[0])) for word in arguments)

    def submit(self, makers: ThreadPoolExecutor, pool: ThreadPoolExecutor) -> list[Any]:
        tools = [TEST_TOOLS + LINT_TOOLS] + [TEST_TOOLS] * (len(self.versions) - 1)
        ends = sorted(range(len(self.versions)), key=lambda place: place not in (0, len(self.versions) - 1))
        self.made = {place: makers.submit(prepare, self.versions[place], tools[place]) for place in ends}
        jobs = [pool.submit(self.version, place) for place in ends[:2]]
        if not self.names_files:
            files = sorted((ROOT / END_TO_END).glob("test_*.py"), key=lambda path: -path.stat().st_size)
            jobs += [pool.submit(self.end_to_end, file) for file in files]
        jobs += [pool.submit(self.version, place) for place in ends[2:]]
        return [*jobs, pool.submit(self.lint)]

    def version(self, place: int) -> list[Outcome]:
        choices = self.versions[place]
        try:
            python = self.made[place].result()
        except Broken as broken:
            print("note: not tested: %s" % broken, flush=True)
            is_able = any(python.has_venv for python in choices)
            return [Outcome("python " + choices[0].name, choices[0]).fail("no environment")] if is_able else []
        is_oldest = place == len(self.versions) - 1
        # A file named by the caller is run as it is named, once.
        own = [] if self.names_files and python is self.newest() else ["--ignore", END_TO_END]
        env = {} if is_oldest or place == 0 else LESS_VOLUME
        return [self.test(python, "python " + python.name, own, env, in_memory=not is_oldest)]

    def end_to_end(self, file: Path) -> list[Outcome]:
        python = self.newest()
        if python is None:
            return []
        name = "end to end: " + file.stem[len("test_") :].replace("_", " ")
        outcome = self.test(python, name, [str(file.relative_to(ROOT))], {}, in_memory=False)
        return [outcome] if outcome.passed or outcome.failed or outcome.skipped else []

    def test(self, python: Python, name: str, own: list[str], env: dict[str, str], *, in_memory: bool) -> Outcome:
        folder = self.scratch.make(in_memory=in_memory)
        try:
            outcome = test(python, name, folder, [*own, *self.arguments], env)
        finally:
            self.scratch.remove(folder)
        if not self.arguments and not outcome.passed + outcome.skipped:
            outcome.failed = max(1, outcome.failed)
        return outcome

    def lint(self) -> list[Outcome]:
        python = self.newest()
        return lint(python) if python and python.minor == self.versions[0][0].minor else []

    def newest(self) -> Python | None:
        for place in range(len(self.versions)):
            try:
                return self.made[place].result()
            except Broken:
                continue
        return None


def run_all(versions: list[list[Python]], arguments: list[str]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    scratch = Scratch()
    try:
        with ThreadPoolExecutor(JOBS) as makers, ThreadPoolExecutor(JOBS) as pool:
            for job in as_completed(Plan(versions, arguments, scratch).submit(makers, pool)):
                for outcome in job.result():
                    show(outcome)
                    outcomes.append(outcome)
    finally:
        scratch.close()
    return outcomes


def report(outcomes: list[Outcome]) -> int:
    print()
    width = max((len(outcome.name) for outcome in outcomes), default=0)
    for outcome in sorted(outcomes, key=lambda o: o.order):
        verdict = "FAILED" if outcome.failed else "ok"
        row = (width, outcome.name, verdict, outcome.seconds, outcome.summary, outcome.path)
        print(("%-*s  %-6s %4.0f s  %s  %s" % row).rstrip())
    passed, failed, skipped = (sum(getattr(o, key) for o in outcomes) for key in ("passed", "failed", "skipped"))
    print()
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed or not passed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", metavar="3.N[,3.M]", help="test on these versions alone")
    options, arguments = parser.parse_known_args()
    signal.signal(signal.SIGTERM, stop)
    versions = select(find_pythons(), options.only)
    print("testing on " + ", ".join("%s (%s)" % (choices[0].name, choices[0].path) for choices in versions), flush=True)
    return report(run_all(versions, arguments))


if __name__ == "__main__":
    raise SystemExit(main())
