"""The house itself: layers, cycles and weight."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Iterator

import pytest
import support

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
