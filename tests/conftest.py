"""Fixtures of every test: a throw-away HOME, a real repository, and hooks run as processes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import support
from life import Life


@pytest.fixture(autouse=True)
def _no_real_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test, in-process or not, may find the user's own store."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("HARNESS_MEMORY", "HARNESS_MEMORY_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    return path


@pytest.fixture(scope="session")
def pristine_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = support.make_repo(tmp_path_factory.mktemp("pristine") / "project")
    shutil.rmtree(str(path / ".git" / "hooks"), ignore_errors=True)  # samples, copied a thousand times over
    return path


@pytest.fixture
def repo(tmp_path: Path, pristine_repo: Path) -> Path:
    """A repository of the test's own, copied: git itself takes longer than most tests."""
    path = tmp_path / "project"
    shutil.copytree(str(pristine_repo), str(path))
    return path


@pytest.fixture
def store_root(home: Path) -> Path:
    """Where the store of `home` is; nothing has made it yet."""
    return home / ".claude" / "memory"


@pytest.fixture
def session(repo: Path, home: Path) -> support.Session:
    return support.Session(repo, home)


@pytest.fixture
def client() -> Iterator[support.Client]:
    with support.Client() as process:
        yield process


@pytest.fixture
def run_hook(home: Path) -> Callable[..., support.Result]:
    """`support.run_hook` with this test's HOME: `run_hook("stop", payload, env=…, cwd=…, interpreter=…)`."""

    def run(script: str, payload: Any, **options: Any) -> support.Result:
        return support.run_hook(script, payload, home=home, **options)

    return run


@pytest.fixture
def life(home: Path, repo: Path, client: support.Client) -> Life:
    """A session of a living client in a repository."""
    return Life(home, repo, pid=client.pid)
