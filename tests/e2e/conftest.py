"""One client and one installed world for the end-to-end tests of a file; each test works in a project of its own.

The client is `CLAUDE_BIN`, or the npm package at a pinned version, installed once into a user-level cache.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator, NoReturn

import pytest
from world import REPOSITORY, World

sys.path.insert(0, str(REPOSITORY / "lib"))
VERSION = "2.1.325"
PACKAGE = "@anthropic-ai/claude-code"


@pytest.fixture(scope="session")
def binary() -> str:
    """Path of a client, found before HOME changes; without one tests are skipped, or fail where CI promises one."""
    named = os.environ.get("CLAUDE_BIN")
    if named:
        return named if _version(named) else _give_up("CLAUDE_BIN=%s does not run" % named)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "harness-memory-tests"
    target = cache / ("claude-code-" + VERSION)
    if not _cached(target):
        npm = shutil.which("npm") or _give_up("CLAUDE_BIN is not set, and there is no npm to install %s" % PACKAGE)
        cache.mkdir(parents=True, exist_ok=True)
        _install(npm, target)
    return _cached(target) or _give_up("%s@%s has no binary that runs on this machine" % (PACKAGE, VERSION))


def _install(npm: str, target: Path) -> None:
    """Into a directory of its own, then renamed: what is in place is whole, and several may install at once."""
    fresh = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=str(target.parent)))
    try:
        (fresh / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        # The version is named because npm picks an older release where Node is old; the binary needs no Node.
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "%s@%s" % (PACKAGE, VERSION)]
        done = subprocess.run(command, cwd=str(fresh), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            _give_up("npm cannot install %s: %s" % (PACKAGE, done.stderr.decode("utf-8", "replace")[-500:]))
        if not target.exists():
            os.replace(str(fresh), str(target))
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(str(fresh), ignore_errors=True)


def _cached(target: Path) -> str:
    system = {"linux": "linux", "darwin": "darwin"}.get(sys.platform, sys.platform)
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    name = "claude.exe" if system == "win32" else "claude"
    # The wildcard includes the musl build: running both shows which one works.
    paths = sorted(target.glob("node_modules/%s-%s-%s*/%s" % (PACKAGE, system, machine, name)))
    return next((str(path) for path in paths if _version(str(path)) == VERSION), "")


def _version(path: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, HOME=home, USERPROFILE=home, DISABLE_AUTOUPDATER="1")
        try:
            done = subprocess.run(
                [path, "--version"], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return ""
    return (done.stdout.decode("utf-8", "replace").split() or [""])[0]


def _give_up(why: str) -> NoReturn:
    message = "no end-to-end tests with the real client: " + why
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, binary: str) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("e2e"), binary)
    try:
        yield made
    finally:
        made.close()
