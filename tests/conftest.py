"""Fixtures of every test: a throw-away HOME, a real repository, and hooks run as processes."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import support
from commandline import World
from life import Life

_NUMBERS = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What outlives a power cut no test can see; hooks do wait."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def pytest_make_parametrize_id(val: object) -> str | None:
    """Short ids: pytest puts them into the environment, which has a limit."""
    return ascii(val)[:40] if isinstance(val, (str, bytes)) and len(val) > 60 else None


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which looks through all earlier ones before it makes another."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / ("%s%d" % (name, next(_NUMBERS)))
    path.mkdir(mode=0o700)
    return path


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
def pristine_repo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes | None]:
    """What makes up a repository, by path, None for a directory; its objects stay where they are."""
    top = support.make_repo(tmp_path_factory.mktemp("pristine"))
    files = ["README.md", ".git/HEAD", ".git/config", ".git/description", ".git/index"]
    files += [".git/logs/HEAD", ".git/refs/heads/main"]
    folders = [".git", ".git/logs", ".git/refs", ".git/refs/heads", ".git/objects", ".git/objects/info"]
    objects = os.fsencode(str(top / ".git" / "objects")) + b"\n"
    contents = {name: (top / name).read_bytes() for name in files}
    return {**dict.fromkeys(folders), **contents, ".git/objects/info/alternates": objects}


@pytest.fixture
def repo(tmp_path: Path, pristine_repo: dict[str, bytes | None]) -> Path:
    """A repository of the test's own, copied: git itself takes longer than most tests."""
    top = tmp_path / "project"
    top.mkdir()
    for name, data in pristine_repo.items():
        if data is None:
            (top / name).mkdir()
        else:
            (top / name).write_bytes(data)
    return top


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
    """`support.run_hook` with this test's HOME: `run_hook("stop", payload, env=…, cwd=…)`."""

    def run(script: str, payload: Any, **options: Any) -> support.Result:
        return support.run_hook(script, payload, home=home, **options)

    return run


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
