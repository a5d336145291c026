"""Files of the store: private, atomic, bounded, and never by a link."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import support

from harness_memory.base import files

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX modes and links")


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.mkdir()
    with pytest.raises(OSError) as caught:  # noqa: PT011
        files.write(str(target), b"new")
    assert list(tmp_path.iterdir()) == [target]
    assert (caught.value.filename, caught.value.filename2) == (str(target), None)


@posix
def test_a_link_is_replaced_or_refused_but_never_followed(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "x"
    victim.write_text("mine")
    path.symlink_to(victim)
    files.write(str(path), b"ours")
    assert not path.is_symlink()
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(OSError):  # noqa: PT011
        files.append_line(str(path), b"{}")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "link").symlink_to(tmp_path, target_is_directory=True)
    files.remove_tree(str(tree))
    assert not tree.exists()
    assert victim.read_text() == "mine"


def test_a_part_ends_where_it_was_asked_to(tmp_path: Path) -> None:
    path, lines = tmp_path / "x", b"one\ntwo\nthree\n"
    path.write_bytes(lines)
    assert files.read(str(path), len(lines)) == lines
    assert (files.read_part(str(path), 5), files.read_part(str(path), 8, from_end=True)) == (b"one\nt", b"three\n")
    with pytest.raises(files.Unreadable):
        files.read(str(path), len(lines) - 1)


SPEC = {"schema": "count", "title": "text"}


@pytest.mark.parametrize(("data", "problem"), support.rows("text/json_problems.jsonl"))
def test_a_json_file_is_read_or_its_problem_named(tmp_path: Path, data: str, problem: str) -> None:
    path = tmp_path / "x.json"
    assert files.read_json(str(path), SPEC) == (None, "")
    path.write_text(data, "utf-8")
    value, found = files.read_json(str(path), SPEC)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)
    assert files.load_json(str(path), SPEC) == value == (None if problem else json.loads(data))


def test_a_torn_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    files.append_line(str(path), b'{"a": 1}')
    path.write_bytes(path.read_bytes() + b'{"b": ')
    files.append_line(str(path), b'{"c": 3}')
    assert path.read_bytes() == b'{"a": 1}\n{"b": \n{"c": 3}\n'


@posix
@pytest.mark.parametrize(("name", "value", "root"), support.rows("text/environments.jsonl"))
def test_the_store_is_where_the_environment_says(
    name: str, value: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert files.root_from({name: value}) == root
