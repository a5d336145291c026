"""A full memory in which things are planted that are none of ours, and a folder outside that nothing may touch."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import full_memory
import support
from full_memory import READING, WRITING, Memory

BAIT = b"OUTSIDE"  # before each word "canary" of what lies outside


class Field:
    """A full memory that is put back for every case, and a folder that is none of its business."""

    def __init__(self, top: Path) -> None:
        self.top = top / "field"
        self.saved = top / "saved"
        (self.top / "home" / ".claude").mkdir(parents=True)
        repo = support.make_repo(self.top / "project")
        shutil.rmtree(str(repo / ".git" / "hooks"))
        self.memory = full_memory.fill(self.top / "home", repo, lambda place: "canary " + place)
        self.memory.do("note", "add", "my way", "canary of the user", "--scope", "user")
        shutil.copytree(str(self.top), str(self.saved), symlinks=True)

    def reset(self) -> Memory:
        shutil.rmtree(str(self.top))
        shutil.copytree(str(self.saved), str(self.top), symlinks=True)
        self.outside = self.top / "outside"
        self.outside.mkdir(mode=0o755)
        return self.memory

    def places(self, *patterns: str) -> list[Path]:
        found = [path for pattern in patterns for path in sorted(self.top.glob(pattern))]
        assert found, patterns
        return found


# Planting ----------------------------------------------------------------------------------------


def moved(path: Path, outside: Path) -> Path:
    """The same outside, where its words are other words."""
    target = outside / ("%d-%s" % (len(list(outside.iterdir())), path.name))
    if path.is_dir():
        shutil.move(str(path), str(target))
    else:
        shutil.copy(str(path), str(target))
        path.unlink()
    for file in [target] if target.is_file() else [each for each in target.rglob("*") if each.is_file()]:
        file.write_bytes(file.read_bytes().replace(b"canary", BAIT + b"canary"))
    return target


def link(path: Path, outside: Path) -> None:
    path.symlink_to(moved(path, outside))


def dangling(path: Path, outside: Path) -> None:
    moved(path, outside)
    path.symlink_to(outside / "not-there")


def hard_link(path: Path, outside: Path) -> None:
    """Its words are as they were: they are in the store as well."""
    os.link(str(path), str(outside / ("%d-%s" % (len(list(outside.iterdir())), path.name))))
    path.chmod(0o644)


def pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(str(path))


def folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x", "utf-8")


def device(path: Path, outside: Path) -> None:
    path.unlink()
    os.mknod(str(path), 0o020600, os.makedev(1, 5))  # zeros without end


def file(path: Path, outside: Path) -> None:
    shutil.rmtree(str(path))
    path.write_text("x", "utf-8")


def state(outside: Path) -> dict[str, Any]:
    found = {}
    for path in [outside, *outside.rglob("*")]:
        info = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[path.relative_to(outside).as_posix()] = (info.st_mode, info.st_mtime_ns, info.st_uid, data)
    return found


@contextmanager
def in_time(seconds: int = 10) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError("a command hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def use_all(memory: Memory, reading: list[list[str]] = READING) -> None:
    """Every hook and every verb; none may hang, fail without a word, or tell what lies outside."""
    for event, result in memory.events("canary note fact of the gateway rule, canary ask, canary file"):
        assert BAIT.decode() not in result.stdout, event
        assert result.seconds < 3, event
    for words in [*reading[::2], *WRITING, *reading[1::2]]:
        with in_time():
            result = memory.memory(*words, stdin=b"# A new page\n")
        assert BAIT.decode() not in result.stdout + result.stderr, words
        assert result.code in (0, 1, 2), words


P = "home/.claude/memory/[a-z]*-*[0-9a-f]/"
FILES = ["home/.claude/memory/**/*.%s" % ending for ending in ("json", "jsonl", "md", "yaml", "idx", "gz", "1")]
FILES += ["home/.claude/memory/health/last-run/*", "home/.claude/memory/triggers"]
LOCKS = ["home/.claude/memory/**/*.lock"]
STORE = "home/.claude/memory/"
FOLDERS = {  # those of one row do not hide each other
    "the project": [P],
    "of the store": [STORE + "health", STORE + "archive", STORE + "user", P + "SECURITY/*/*/"],
    "stamps, archives, work": [STORE + "health/last-run", STORE + "archive/*", STORE + "user/LEARNING", P + "WORK"],
    "a day, the trail": [P + "WORK/*", P + "SECURITY", STORE + "user/LEARNING/topics", STORE + "user/STATE"],
    "sessions, records": [P + "WORK/*/*", P + "episodes", P + "profiles", P + "LEARNING", P + "archive"],
    "of sessions and records": [P + "WORK/*/*/artifacts", P + "WORK/*/*/local", P + "LEARNING/*", P + "archive/notes"],
    "state": [P + "STATE", P + "SECURITY/*/"],
    "of the state": [P + "STATE/[!l]*/"],
    "live, recent": [P + "STATE/live", P + "STATE/recall"],
}
IN_PROJECT = ["project/.claude/*"]
