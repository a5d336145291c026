#!/usr/bin/env python3
"""Lint, type-check and test on every Python from 3.8 to 3.14 that this machine has.

    python3 tests/run.py                    everything
    python3 tests/run.py --only 3.8,3.13    two versions
    python3 tests/run.py -k yaml -x         arguments of pytest, on every version

The tools are installed once, into `.venvs/`: pytest by the oldest Python, in versions that run on all of them, ruff and
mypy by the newest. The oldest and the newest Python run every test, those between the part in BETWEEN; the newest also
runs the end-to-end tests. The files of a run are split into groups that use all cores. The last line sums up,
as in `1234 passed, 0 failed, 12 skipped`.
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
from typing import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 1 << 30  # several times what the runs leave there
MINORS = range(8, 15)
TEST_TOOLS = ("pytest", "pyyaml", "ruamel.yaml")
LINT_TOOLS = ("ruff", "mypy")
TYPED = ("lib", "hooks", "install.py", "harness")
GROUPS = 6  # pytest processes a full run is split into
JOBS = max(2, min(8, 3 * (os.cpu_count() or 1)))  # tests wait now and then, and other programs take their share
BETWEEN = ("smoke", "text", "json", "yaml", "life_cycle", "guard_hook")
SHOWN = "SKIPPED"  # lines of a passing run that are printed
NO_TESTS_COLLECTED = 5

RUNNING: set[subprocess.Popen[bytes]] = set()

# Settings that would bend an interpreter, pip, pytest, git or the product itself away from its default.
STRIPPED = ("PYTHON", "PYTEST_", "HARNESS_MEMORY", "CLAUDE_", "ANTHROPIC", "GIT_", "VIRTUAL_ENV", "__PYVENV")
STRIPPED += ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_DRY_RUN", "PIP_REQUIRE_VIRTUALENV")
PASSED = ("CLAUDE_BIN",)  # the client of the end-to-end tests

PROBE = """\
import json, os, sys
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps([sys.version_info[:3], sys.implementation.name, os.path.realpath(base)]))
"""


class Python:
    """An interpreter of this machine."""

    def __init__(self, version: tuple[int, int, int], path: str) -> None:
        self.version = version
        self.path = path
        self.minor = "%d.%d" % version[:2]
        self.name = "%d.%d.%d" % version


class Outcome:
    """Result of one job: a lint tool or a run of pytest."""

    def __init__(self, name: str, order: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.name = name
        self.order = order
        self.passed = self.failed = self.skipped = 0
        self.output = ""
        self.seconds = 0.0


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
    """Ask the interpreter itself: a shim may exist for a version that is not active."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False
        )
        version, implementation, real = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if done.returncode or implementation != "cpython" or version[0] != 3 or version[1] not in MINORS:
        return None
    return Python((version[0], version[1], version[2]), real)


def find_pythons(only: str | None) -> list[Python]:
    """One interpreter a minor version, oldest first."""
    paths = sorted({path for path in candidates() if os.path.isfile(path) and os.access(path, os.X_OK)})
    with ThreadPoolExecutor(JOBS) as pool:
        versions = sorted((python for python in pool.map(probe, paths) if python), key=lambda python: python.version)
    newest = {python.minor: python for python in versions}
    wanted = only.split(",") if only else list(newest)
    missing = [minor for minor in wanted if minor not in newest]
    if missing:
        raise SystemExit("Cannot find python%s. Available: %s." % (missing[0], ", ".join(newest)))
    return [python for minor, python in newest.items() if minor in wanted]


# Processes -------------------------------------------------------------------------------------
def run(command: list[str], **extra: str) -> tuple[int, str]:
    env = {name: value for name, value in os.environ.items() if name in PASSED or not name.startswith(STRIPPED)}
    env.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore", **extra)
    process = subprocess.Popen(
        command, cwd=str(ROOT), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    RUNNING.add(process)
    try:
        output = process.communicate()[0]
    finally:
        RUNNING.discard(process)
    return process.returncode, output.decode("utf-8", "replace")


def stop(*_: object) -> None:
    for process in list(RUNNING):
        process.terminate()
    raise SystemExit(1)


def install(name: str, pythons: list[Python], tools: tuple[str, ...]) -> Path:
    """The tools in a folder for PYTHONPATH, installed by the first of these interpreters that can."""
    stamp = "%s %s" % (pythons[0].name, " ".join(tools))
    folder, marker = VENVS / name, VENVS / name / "stamp"
    if marker.is_file() and marker.read_text("utf-8") == stamp:
        return folder
    reasons = []
    for python in pythons:
        shutil.rmtree(str(folder), ignore_errors=True)
        code, output = run([python.path, "-m", "pip", "install", "--quiet", "--target", str(folder), *tools])
        if not code:
            marker.write_text(stamp, "utf-8")
            return folder
        reasons.append("%s: %s" % (python.path, output.strip()))
    raise SystemExit("Cannot install %s:\n%s" % (", ".join(tools), "\n".join(reasons)))


# Jobs ------------------------------------------------------------------------------------------
def lint(python: Python) -> list[Outcome]:
    tools = install("lint", [python], LINT_TOOLS)
    ruff = str(tools / "bin" / "ruff")
    cache = ["--cache-dir", str(VENVS / "ruff-cache")]
    mypy = [python.path, "-m", "mypy", "--cache-dir", str(VENVS / "mypy-cache"), *TYPED]
    commands = {
        "ruff check": [ruff, "check", *cache, ".", "harness"],
        "ruff format": [ruff, "format", "--check", *cache, ".", "harness"],
        "mypy": mypy,
    }
    outcomes = []
    for name, command in commands.items():
        outcome = Outcome(name)
        began = time.monotonic()
        code, outcome.output = run(command, PYTHONPATH=str(tools))
        outcome.seconds, outcome.failed = time.monotonic() - began, int(code != 0)
        outcomes.append(outcome)
    return outcomes


def test(python: Python, name: str, tools: Path, scratch: Path, arguments: list[str]) -> list[Outcome]:
    outcome = Outcome(name, python.version)
    folder = Path(tempfile.mkdtemp(dir=str(scratch)))
    report = folder / "report.xml"
    command = [python.path, "-s", "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(folder / "tests")]
    began = time.monotonic()
    environment = {"PYTHONPATH": str(tools), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    code, outcome.output = run([*command, "--junitxml", str(report), *arguments], **environment)
    outcome.seconds = time.monotonic() - began
    count(outcome, report)
    if code and code != NO_TESTS_COLLECTED:
        outcome.failed = max(1, outcome.failed)
    shutil.rmtree(str(folder), ignore_errors=True)
    return [outcome]


def count(outcome: Outcome, report: Path) -> None:
    try:
        suites = list(ElementTree.parse(str(report)).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return
    total = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
    outcome.failed = total["failures"] + total["errors"]
    outcome.skipped = total["skipped"]
    outcome.passed = total["tests"] - outcome.failed - outcome.skipped


def groups(files: list[Path], number: int) -> list[list[str]]:
    """Files in groups of about the same size, the largest files first."""
    sizes = [0] * number
    grouped: list[list[str]] = [[] for _ in range(number)]
    for file in sorted(files, key=lambda path: -path.stat().st_size):
        place = sizes.index(min(sizes))
        sizes[place] += file.stat().st_size
        grouped[place].append(str(file.relative_to(ROOT)))
    return [group for group in grouped if group]


Job = Callable[[], "list[Outcome]"]


def plan(pythons: list[Python], arguments: list[str], scratch: Path) -> list[Job]:
    """All jobs, the longest first."""
    tools = install("tests", pythons, TEST_TOOLS)

    def job(python: Python, name: str, words: list[str]) -> Job:
        return lambda: test(python, "python %s: %s" % (python.name, name), tools, scratch, words)

    oldest, newest = pythons[0], pythons[-1]
    if arguments:
        return [job(python, "selection", arguments) for python in pythons]
    files = sorted((ROOT / "tests").glob("test_*.py"))
    end_to_end = sorted((ROOT / "tests" / "e2e").glob("test_*.py"), key=lambda path: -path.stat().st_size)
    jobs = [job(newest, "end to end, " + file.stem[5:], [str(file.relative_to(ROOT))]) for file in end_to_end]
    for python in {oldest.name: oldest, newest.name: newest}.values():
        split = groups(files, GROUPS)
        jobs += [job(python, "part %d of %d" % (n, len(split)), group) for n, group in enumerate(split, 1)]
    part = [str(file.relative_to(ROOT)) for file in files if file.stem[5:].startswith(BETWEEN)]
    jobs += [job(python, "selected files", part) for python in pythons[1:-1]]
    return [*jobs, lambda: lint(newest)]


def show(outcome: Outcome) -> None:
    if outcome.failed:
        print("\n----- %s -----\n%s" % (outcome.name, outcome.output.rstrip()))
    for line in [] if outcome.failed else outcome.output.splitlines():
        if line.startswith(SHOWN):
            print("%s: %s" % (outcome.name, line))
    print("%s: %s, %.0f s" % (outcome.name, "FAILED" if outcome.failed else "ok", outcome.seconds), flush=True)


def scratch_folder() -> Path:
    """A folder in memory, where there is room and programs may run."""
    is_usable = MEMORY.is_dir() and os.access(str(MEMORY), os.W_OK)
    is_usable = is_usable and shutil.disk_usage(str(MEMORY)).free > MEMORY_BYTES
    is_usable = is_usable and not os.statvfs(str(MEMORY)).f_flag & os.ST_NOEXEC
    return Path(tempfile.mkdtemp(prefix="harness-memory-tests-", dir=str(MEMORY) if is_usable else None))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--only", metavar="3.N[,3.M]", help="test on these versions alone")
    options, arguments = parser.parse_known_args()
    signal.signal(signal.SIGTERM, stop)
    began = time.monotonic()
    pythons = find_pythons(options.only)
    print("testing on " + ", ".join("%s (%s)" % (python.name, python.path) for python in pythons), flush=True)
    scratch = scratch_folder()
    outcomes: list[Outcome] = []
    try:
        with ThreadPoolExecutor(JOBS) as pool:
            for done in as_completed([pool.submit(job) for job in plan(pythons, arguments, scratch)]):
                for outcome in done.result():
                    show(outcome)
                    outcomes.append(outcome)
    finally:
        shutil.rmtree(str(scratch), ignore_errors=True)
    print("\nfailed: %s" % (", ".join(sorted(o.name for o in outcomes if o.failed)) or "nothing"))
    print("%.0f s in all" % (time.monotonic() - began))
    passed, failed, skipped = (sum(getattr(o, key) for o in outcomes) for key in ("passed", "failed", "skipped"))
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
