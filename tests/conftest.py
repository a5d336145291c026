"""Fixtures of every test: a throw-away HOME, a real repository, and hooks run as processes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Iterator

import pytest
import support
from commandline import World
from life import Life


def pytest_make_parametrize_id(val: object) -> str | None:
    """Short ids: pytest puts them into the environment, which has a limit."""
    return ascii(val)[:40] if isinstance(val, (str, bytes)) and len(val) > 60 else None


@pytest.fixture(autouse=True)
def _no_real_home(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test, in-process or not, may find the user's own store."""
    has_own = "tmp_path" in request.fixturenames
    top = request.getfixturevalue("tmp_path") if has_own else tmp_path_factory.getbasetemp() / "nowhere"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(top / "home"))
    for name in ("HARNESS_MEMORY", "HARNESS_MEMORY_HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_PID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    return path


@pytest.fixture(scope="session")
def pristine_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = support.make_repo(tmp_path_factory.mktemp("pristine"))
    shutil.rmtree(str(top / ".git" / "hooks"), ignore_errors=True)
    return top


@pytest.fixture
def repo(tmp_path: Path, pristine_repo: Path) -> Path:
    """A repository of the test's own, copied: git itself takes longer than most tests."""
    return Path(shutil.copytree(str(pristine_repo), str(tmp_path / "project")))


@pytest.fixture
def store_root(home: Path) -> Path:
    """Where the store of `home` is; nothing has made it yet."""
    return home / ".claude" / "memory"


@pytest.fixture
def client() -> Iterator[support.Client]:
    with support.Client() as process:
        yield process


@pytest.fixture
def life(home: Path, repo: Path, client: support.Client) -> Life:
    """A session of a living client in a repository."""
    return Life(home, repo, pid=client.pid)


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    """The command line in a repository."""
    return World(home, repo)


@pytest.fixture
def empty(home: Path, tmp_path: Path) -> World:
    """The command line in a plain directory in which nothing has happened."""
    (tmp_path / "project").mkdir()
    return World(home, tmp_path / "project")
