"""The real client: `CLAUDE_BIN`, or the npm package at a pinned version, installed once into a user-level cache."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, NoReturn

VERSION = "2.1.325"
PACKAGE = "@anthropic-ai/claude-code"
INSTALL_SECONDS = 900


class ClientMissing(UserWarning):
    pass


def binary() -> str:
    """Path of a client that runs; without one the calling test is skipped, or failed where CI promises a client."""
    named = os.environ.get("CLAUDE_BIN")
    if named:
        return named if _version(named) else _give_up("CLAUDE_BIN=%s does not run" % named)
    target = _cache_dir() / ("claude-code-" + VERSION)
    try:
        return _cached(target) or _install(target)
    except (OSError, subprocess.SubprocessError) as error:
        _give_up("npm could not install %s@%s: %s" % (PACKAGE, VERSION, _last_words(error)))


def _install(target: Path) -> str:
    npm = shutil.which("npm")
    if npm is None:
        _give_up("there is no npm to install %s@%s with, and CLAUDE_BIN is not set" % (PACKAGE, VERSION))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.with_name(target.name + ".lock")):
        if not _cached(target):
            _npm_install(npm, target)
    return _cached(target) or _give_up("%s@%s has no binary that runs on this machine" % (PACKAGE, VERSION))


def _npm_install(npm: str, target: Path) -> None:
    """Into a directory of its own first: what is in place is always whole."""
    fresh = Path(tempfile.mkdtemp(prefix=target.name + ".", dir=str(target.parent)))
    try:
        (fresh / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        # The version is named because npm picks an older release by itself where Node is old; the binary needs no Node.
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "%s@%s" % (PACKAGE, VERSION)]
        subprocess.run(
            command, cwd=str(fresh), check=True, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        shutil.rmtree(str(target), ignore_errors=True)
        os.replace(str(fresh), str(target))
    finally:
        shutil.rmtree(str(fresh), ignore_errors=True)


def _cached(target: Path) -> str:
    return next((str(path) for path in _candidates(target) if _version(str(path)) == VERSION), "")


def _candidates(target: Path) -> list[Path]:
    system = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform, sys.platform)
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    name = "claude.exe" if system == "win32" else "claude"
    # The wildcard takes the musl build too: which of the two runs is found out by running it.
    return sorted(target.glob("node_modules/%s-%s-%s*/%s" % (PACKAGE, system, machine, name)))


def _version(path: str) -> str:
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, HOME=home, USERPROFILE=home, DISABLE_AUTOUPDATER="1")
        try:
            output = subprocess.run(
                [path, "--version"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, timeout=120, check=True,
            ).stdout  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return ""
    return (output.decode("utf-8", "replace").split() or [""])[0]


def _cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness-memory-tests"


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Held by the operating system, so a killed run leaves nothing to clean up."""
    with open(str(path), "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:
                    continue  # LK_LOCK itself waits ten seconds before it gives up
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield


def _last_words(error: Exception) -> str:
    output = getattr(error, "output", None) or b""
    return "%s %s" % (error, output.decode("utf-8", "replace")[-500:])


def _give_up(why: str) -> NoReturn:
    message = "no end-to-end tests with the real client: " + why
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(message, pytrace=False)
    warnings.warn(message, ClientMissing, stacklevel=2)
    pytest.skip(message)
