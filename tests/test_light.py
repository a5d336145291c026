"""The light `os` of hooks becomes the standard one when a hook asks for more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import support

CODE = """
import sys
sys.path.insert(0, sys.argv[1] + "/harness_memory/base")
from bundle import Bundle
Bundle("none")
import os, os.path
assert "_collections_abc" not in sys.modules and os.environ["X"] == "1" and os.path.exists(os.getcwd())
os.environ["X"] = "2"
from os import fsencode
import json, tempfile, subprocess
assert os.getenv("X") == os.environ["X"] == "2" and sys.modules["os"].getenv is os.getenv and os.path.relpath("/a", "/")
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_a_hook_that_needs_more_gets_the_standard_module() -> None:
    command = [sys.executable, "-I", "-S", "-c", CODE, str(support.LIB)]
    result = subprocess.run(command, env={"X": "1"}, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


LOAD = """
import sys
sys.path.insert(0, sys.argv[1] + "/harness_memory/base")
import bundle
made = bundle.Bundle("stop")
from harness_memory.hook import runner
import os
assert os.supports_dir_fd
"""
SPLIT = """
import marshal
root = "harness_memory"
groups = {root: [root, root + ".hook.lightos"], root + ".hook": [root + ".hook", root + ".hook.runner"]}
with open(made.path, "wb") as file:
    file.seek(bundle._INDEX_BYTES)
    codes = {head: marshal.dumps([bundle._compiled(name) for name in names]) for head, names in groups.items()}
    places = {head: ({}, file.tell(), file.write(code)) for head, code in codes.items()}
    file.seek(0)
    file.write(marshal.dumps(places))
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_a_module_that_its_parent_loads_too_is_loaded_once(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    shutil.copytree(str(support.LIB), str(lib), ignore=shutil.ignore_patterns("__pycache__"))
    (lib / "harness_memory" / "__pycache__").mkdir()
    for code in (LOAD + SPLIT, LOAD):  # the bundle that an update may leave, then a hook that uses it
        command = [sys.executable, *support.FLAGS, "-c", code, str(lib)]
        result = subprocess.run(command, capture_output=True, check=False)
        assert (result.returncode, result.stderr) == (0, b"")
