"""The house itself: layers, cycles and weight."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
import support
from life import Life

LIB = support.LIB / "harness_memory"
ORDER = ("base", "project", "audit", "session", "notes", "memory", "recall", "inject")
MAY_IMPORT = {name: {*ORDER[: place + 1]} for place, name in enumerate(ORDER)}
MAY_IMPORT["guard"] = {"guard", "base", "project", "audit"}
MAY_IMPORT["hook"] = {*ORDER, "guard", "hook"}
MAY_IMPORT["cli"] = {*ORDER, "guard", "setup", "cli"}
MAY_IMPORT["setup"] = {"base", "setup", "cli"}


def imports(path: Path) -> Iterator[list[str]]:
    """Every module of ours that a file imports, lazily or not, as the parts of its name."""
    here = list(path.relative_to(LIB).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                full = [*base, alias.name]
                yield full if LIB.joinpath(*full).with_suffix(".py").exists() else base


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_a_package_imports_only_those_below_it(package: str) -> None:
    crossed = [
        "%s imports %s" % (path.relative_to(LIB), ".".join(target))
        for path in sorted((LIB / package).glob("*.py"))
        for target in imports(path)
        if target and target[0] not in MAY_IMPORT[package] and target[0] != "__init__"
    ]
    assert crossed == []


@pytest.mark.parametrize("package", sorted({*MAY_IMPORT} - {"guard"}))
def test_no_cycle_inside_a_package(package: str) -> None:
    graph = {
        path.stem: {target[1] for target in imports(path) if len(target) == 2 and target[0] == package} - {path.stem}
        for path in (LIB / package).glob("*.py")
    }
    while True:
        leaves = {name for name, targets in graph.items() if not targets & graph.keys()}
        if not leaves:
            break
        graph = {name: targets for name, targets in graph.items() if name not in leaves}
    assert graph == {}


def test_nothing_lies_beside_the_packages() -> None:
    assert sorted(path.name for path in LIB.glob("*.py")) == ["__init__.py"]
    assert {path.parent.name for path in LIB.glob("*/__init__.py")} == {*MAY_IMPORT}


# Lines at most. These numbers only go down: whoever makes a part lighter lowers its number.
PACKAGES = {
    "base": 2268,
    "project": 548,
    "audit": 201,
    "session": 2206,
    "notes": 805,
    "memory": 2494,
    "recall": 1126,
    "inject": 442,
    "guard": 3730,
    "hook": 959,
    "cli": 2721,
    "setup": 698,
}
FOLDERS = {"hooks": 133, "tests": 14813, "bench": 2496}
LOADED = {"session_start": 3520, "user_prompt_submit": 3900, "stop": 4000, "pre_tool_use": 790}


def lines(*paths: Path) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in paths)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_weighs_no_more_than_its_number(package: str) -> None:
    assert lines(*(LIB / package).rglob("*.py")) <= PACKAGES[package]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_weighs_no_more_than_its_number(folder: str) -> None:
    assert lines(*(support.ROOT / folder).rglob("*.py")) <= FOLDERS[folder]


def test_a_hook_loads_no_more_than_its_number(life: Life) -> None:
    life.start()
    life.turn("Why does the parser fail on empty input?", "The parser handles empty input now.", "parser.py")
    life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "git status"}))  # leaves a stamp
    life.end()
    next_life = life.another()
    session = next_life.session
    next_life.transcript.turn("Fix the parser for empty input", "Fixed the parser; a test covers the empty case.")
    payloads = {
        "session_start": session.start(),
        "user_prompt_submit": session.prompt("Why does the parser fail on empty input?"),
        "pre_tool_use": session.tool_call("Bash", {"command": "git status"}),
        "stop": session.stop("Fixed the parser; a test covers the empty case."),
    }
    for script, payload in payloads.items():
        names = [name for name in next_life.modules_loaded(script, payload) if name.startswith("harness_memory")]
        stems = [support.LIB.joinpath(*name.split(".")) for name in names]
        paths = [path for stem in stems for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()]
        assert 0 < lines(*paths) <= LOADED[script], script


def test_a_bundle_of_modules_changes_nothing_but_time(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for folder in ("lib", "hooks"):
        shutil.copytree(support.ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    cache = checkout / "lib" / "harness_memory" / "__pycache__"
    life = Life(tmp_path / "home", support.make_repo(tmp_path / "repo"))
    command = [sys.executable, *support.FLAGS, str(checkout / "hooks" / "stop.py")]
    env = support.clean_environment(life.home, life.session.environment())

    def stop() -> tuple[int, bytes, bytes]:
        payload = support.encode(life.session.stop("Done."))
        result = subprocess.run(command, input=payload, env=env, capture_output=True, check=False)
        return result.returncode, result.stdout, result.stderr

    assert stop() == (0, b"", b"")
    (bundle,) = cache.glob("stop.*.modules")
    whole = bundle.read_bytes()
    assert stop() == (0, b"", b"")
    assert bundle.read_bytes() == whole
    for damaged in (b"", whole[:1000], whole[:100_000], whole[: 1 << 15] + bytes(90_000), b"i\x07\x00\x00\x00"):
        bundle.write_bytes(damaged)
        assert stop() == (0, b"", b"")
        assert len(bundle.read_bytes()) > 150_000
    source = checkout / "lib" / "harness_memory" / "hook" / "stop.py"
    source.write_text(source.read_text("utf-8") + "\n\ndef handle(run):\n    return 'changed'\n", "utf-8")
    assert [stop(), stop()] == [(0, b"changed", b"")] * 2
