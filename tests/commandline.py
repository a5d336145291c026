"""A home, a project in it, and the command line run there as a process."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any, Callable

import pytest
import support
from life import Life

from harness_memory import cli

HARNESS = support.ROOT / "harness"
CACHES = ("rows.cache", "known")


class World:
    """A home with a store, one project, and `harness memory` run in it."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.home = home
        self.repo = repo
        self.root = home / ".claude" / "memory"

    def run(
        self,
        *words: str,
        stdin: bytes = b"",
        env: dict[str, str | None] | None = None,
        cwd: Path | None = None,
        before: list[str] | None = None,
    ) -> support.Result:
        """In this process, which is ten times as quick; in one of its own when something goes `before` it."""
        surroundings = support.clean_environment(self.home, env)
        if before is None:
            return support.Result(*run_here(cli.main, list(words), stdin, surroundings, str(cwd or self.repo)))
        return support.run([*before, sys.executable, str(HARNESS), *words], stdin, surroundings, cwd or self.repo)

    def memory(self, *words: str, **options: Any) -> support.Result:
        result = self.run("memory", *words, **options)
        assert "Traceback" not in result.stderr
        return result

    def json(self, *words: str, code: int = 0, **options: Any) -> Any:
        result = self.memory(*words, "--json", **options)
        assert result.code == code, result
        return result.json

    def assert_sound(self, **options: Any) -> None:
        """Every file is valid, and a rebuild changes nothing."""
        before = self.files()
        checked = self.memory("verify", "--all-projects", **options)
        assert checked.code == 0, checked.stdout
        assert [row for row in self.json("rebuild", "--all-projects", **options) if row["changed"]] == []
        assert self.files() == before

    def killed(self, calls: int, *words: str) -> None:
        """Run a command that dies after so many changes of the disk."""
        left = [calls]

        def dying(function: Callable[..., object]) -> Callable[..., object]:
            def run(*arguments: object, **options: object) -> object:
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
                return function(*arguments, **options)

            return run

        with pytest.MonkeyPatch.context() as patch:
            for name in ("unlink", "rmdir", "replace", "fsync"):
                patch.setattr(os, name, dying(getattr(os, name)))
            self.memory(*words)

    def work(
        self,
        ask: str,
        answer: str,
        files: tuple[str, ...] = (),
        *,
        pid: int | None = None,
        end: bool = True,
        session: support.Session | None = None,
    ) -> support.Session:
        """One whole session of one turn, by the real hooks."""
        life = Life(self.home, self.repo, session.id if session else None, pid)
        life.start()
        life.turn(ask, answer, *files)
        if end:
            life.end()
        return session or life.session

    @property
    def project(self) -> Path:
        found = [path for path in self.root.iterdir() if (path / "project.json").is_file()]
        assert len(found) == 1
        return found[0]

    def session_dir(self, session: support.Session) -> Path:
        (found,) = self.project.glob("WORK/*/%s" % session.id[:8])
        return found

    def episode(self, session: support.Session) -> Path:
        (found,) = self.project.glob("episodes/*-%s.json" % session.id[:8])
        return found

    def files(self) -> dict[str, bytes]:
        """All but caches."""
        found = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        paths = [path for path in found if "/STATE/recall/" not in path.as_posix() and path.name not in CACHES]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}


class Terminal(io.BytesIO):
    def isatty(self) -> bool:
        return True


def run_here(
    main: Callable[[list[str]], int],
    words: list[str],
    stdin: bytes,
    env: dict[str, str],
    cwd: str,
    *,
    encoding: str = "utf-8",
    stream: type[io.BytesIO] = io.BytesIO,
) -> tuple[int, bytes, bytes]:
    """A command line as if in a process of its own: exit code, standard output and standard error."""
    streams, outside, folder = (sys.stdin, sys.stdout, sys.stderr), dict(os.environ), os.getcwd()
    buffers = stream(stdin), stream(), stream()
    wrapped = [io.TextIOWrapper(buffer, encoding=encoding, write_through=True) for buffer in buffers]
    sys.stdin, sys.stdout, sys.stderr = wrapped
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    try:
        code = main(words)
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
    finally:
        for text in wrapped[1:]:
            text.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(outside)
        os.chdir(folder)
    return code, buffers[1].getvalue(), buffers[2].getvalue()
