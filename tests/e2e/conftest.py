"""One client and one installed world for the end-to-end tests of a file; each test works in a project of its own."""

from __future__ import annotations

import sys
from typing import Iterator

import client
import pytest
from world import REPOSITORY, World

sys.path.insert(0, str(REPOSITORY / "lib"))


@pytest.fixture(scope="session")
def binary() -> str:
    """Found before a test changes HOME, below which the cache is."""
    return client.binary()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, binary: str) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("e2e"), binary)
    try:
        yield made
    finally:
        made.close()
