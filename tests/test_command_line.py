"""The frame of the command line: help, usage errors, output that any terminal can take."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import HARNESS, World

from harness_memory import __version__, cli
from harness_memory.cli import output

POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes, links and signals of POSIX")


def run(world: World, *words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    env = support.clean_environment(world.home, options.pop("env", None))
    command = [sys.executable, str(HARNESS), *words]
    return subprocess.run(command, cwd=str(world.repo), env=env, stderr=subprocess.PIPE, **options)


@pytest.mark.parametrize("family", ["memory", "guard"])
def test_help_names_every_verb_with_examples(empty: World, family: str) -> None:
    for words in ((family,), (family, "--help"), (family, "help")):
        result = empty.run(*words)
        assert (result.code, result.stdout, result.stderr) == (0, cli.guide(family), "")
    for verb, row in cli.verbs(family).items():
        assert "  %s" % verb in result.stdout
        assert row.what in result.stdout
        page = empty.run(family, verb, "--help")
        assert page.code == 0
        assert "examples:\n  harness %s %s" % (family, verb) in page.stdout
        functions = [each.function.split(".") for each in (row, *row.actions) if each.function != "-"]
        assert all(hasattr(import_module("harness_memory.cli." + name), function) for name, function in functions)


@pytest.mark.parametrize(("words", "message"), support.rows("verbs/wrong_usage.jsonl"))
def test_wrong_usage_is_named_and_exits_2(empty: World, words: tuple[str, ...], message: str) -> None:
    result = empty.run(*words)
    assert (result.code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not [
        name for name in support.snapshot(empty.root) if not name.endswith((".gitignore", "project.json", ".lock"))
    ]


@pytest.mark.parametrize(("words", "code", "said"), support.rows("verbs/empty.jsonl"))
def test_a_memory_without_anything_says_so_and_stays_away(empty: World, words: list[str], code: int, said: str) -> None:
    result = empty.memory(*words)
    assert (result.code, said in result.stdout + result.stderr) == (code, True), result
    assert not empty.root.exists()


def test_version_is_printed_anywhere(empty: World) -> None:
    for words in (("--version",), ("memory", "--version"), ("guard", "--version")):
        assert empty.run(*words).stdout == "harness-memory %s\n" % __version__


@POSIX
def test_it_runs_through_a_link_on_the_path(empty: World, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "harness").symlink_to(HARNESS)
    path = os.pathsep.join([str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    env = support.clean_environment(empty.home, {"PATH": path})
    done = subprocess.run(["harness", "memory", "list"], cwd=str(empty.repo), env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@POSIX
def test_a_closed_or_full_output_ends_in_one_line_at_most(home: Path, repo: Path) -> None:
    world = World(home, repo)
    reader, writer = os.pipe()
    os.close(reader)
    done = run(world, "memory", "list", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = run(world, "memory", "remember", "Totals are in cents", stdout=full)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
        assert done.stderr.startswith(b"harness: cannot write output: No space left on device")
        assert "Totals are in cents" in world.memory("list", "--notes").stdout


@POSIX
def test_a_current_directory_that_is_gone_is_refused(empty: World) -> None:
    command = 'cd "$1" && rmdir "$1" && exec "$2" "$3" memory status'
    words = ["sh", "-c", command, "sh", str(empty.repo), sys.executable, str(HARNESS)]
    done = subprocess.run(words, env=support.clean_environment(empty.home), capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the current directory is gone" in done.stderr


# Output ------------------------------------------------------------------------------------------
def test_tables_align_wide_characters_and_cut_at_the_edge() -> None:
    assert output.table([["你好", "a"], ["x", "b"]]) == ["你好  a", "x     b"]
    assert output.table([["N", "T"], ["1", "a"], ["10", "b"]]) == ["N   T", "1   a", "10  b"]
    assert output.cut("abcdef", 4) == "abc…"
    assert output.cut("你好你好", 5) == "你好…"
    assert output.cut("abc", 0) == "…"
