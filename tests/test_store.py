"""Files of the store: private, atomic, bounded; and the locks around shared ones."""

from __future__ import annotations

import os
import signal
import stat
import threading
import time
from pathlib import Path

import pytest
import support

from harness_memory.base import files
from harness_memory.base.lock import Lock

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes and signals")


def test_write_makes_private_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    files.write(str(path), b"x")
    assert path.read_bytes() == b"x"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.mkdir()
    with pytest.raises(OSError) as caught:  # noqa: PT011
        files.write(str(target), b"new")
    assert list(tmp_path.iterdir()) == [target]
    assert (caught.value.filename, caught.value.filename2) == (str(target), None)
    assert ".tmp" not in str(caught.value)


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "x")
    bodies = [bytes([65 + n]) * 200_000 for n in range(4)]
    files.write(path, bodies[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(files.read(path) or b"missing")

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        for body in bodies:
            files.write(path, body)
    done.set()
    reader.join()
    assert seen <= set(bodies)


@pytest.mark.parametrize("kind", ["link", "directory", "pipe", "large"])
def test_only_plain_files_of_reasonable_size_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "link":
        (tmp_path / "secret").write_text("s")
        path.symlink_to(tmp_path / "secret")
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"x" * 101)
    with pytest.raises(OSError):  # noqa: PT011
        files.read(str(path), 100)
    assert files.read(str(tmp_path / "missing")) is None


def test_a_link_at_the_target_is_replaced_not_followed(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "x"
    victim.write_text("mine")
    path.symlink_to(victim)
    files.write(str(path), b"ours")
    assert victim.read_text() == "mine"
    assert not path.is_symlink()
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(OSError):  # noqa: PT011
        files.append_line(str(path), b"{}")
    assert victim.read_text() == "mine"


def test_a_torn_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    files.append_line(str(path), b'{"a": 1}')
    path.write_bytes(path.read_bytes() + b'{"b": ')
    files.append_line(str(path), b'{"c": 3}')
    assert path.read_bytes() == b'{"a": 1}\n{"b": \n{"c": 3}\n'


def test_remove_tree_does_not_leave_its_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "link").symlink_to(outside, target_is_directory=True)
    files.remove_tree(str(tree))
    assert not tree.exists()
    assert (outside / "kept").exists()


@posix
@pytest.mark.parametrize("environment", [{"HARNESS_MEMORY_HOME": "/a"}, {"CLAUDE_CONFIG_DIR": "/c"}, {"HOME": "/h"}])
def test_where_the_store_is(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {"HARNESS_MEMORY_HOME": "/a", "CLAUDE_CONFIG_DIR": "/c/memory", "HOME": "/h/.claude/memory"}
    (name,) = environment
    monkeypatch.setenv("HOME", "/h")
    assert files.root_from(environment) == expected[name]


def test_a_lock_waits_until_its_deadline(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with support.hold_lock(path) as holder:
        began = time.monotonic()
        with Lock(str(path), 0.2) as held:
            assert not held
        assert 0.2 <= time.monotonic() - began < 2
        holder.kill()
        holder.wait()
        with Lock(str(path), 5) as held:
            assert held


@posix
def test_a_stopped_holder_does_not_hang_us(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with support.hold_lock(path) as holder:
        holder.send_signal(signal.SIGSTOP)
        with Lock(str(path), 0.1) as held:
            assert not held
        holder.kill()


def test_a_discarded_lock_file_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = Lock(str(path), 1)
    with first as held:
        assert held
        first.discard()
        with Lock(str(path), 1) as again:
            assert again  # a new file: the old one is nobody's lock any more
    assert path.exists()
