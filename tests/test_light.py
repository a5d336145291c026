"""The light `os` of hooks becomes the standard one when a hook asks for more."""

from __future__ import annotations

import os
import subprocess
import sys

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
# What an update may leave: a module in one group, its parent in another that loads it too.
SPLIT = """
import sys
sys.path.insert(0, sys.argv[1] + "/harness_memory/base")
import bundle
made, root = bundle.Bundle("none"), "harness_memory"
import harness_memory.hook.runner
names = {root: [root, root + ".hook.lightos"], root + ".hook": [root + ".hook", root + ".hook.runner"]}
codes = {head: [bundle._compiled(name) for name in group] for head, group in names.items()}
for name in [name for name in sys.modules if name == "os" or name.startswith(root)]:
    del sys.modules[name]
made.groups, made._read = {head: ([], [], head, 1) for head in codes}, lambda head, size: codes[head]
import harness_memory.hook.runner
from os import supports_dir_fd
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
@pytest.mark.parametrize("code", [CODE, SPLIT], ids=["alone", "bundled"])
def test_a_hook_that_needs_more_gets_the_standard_module(code: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", code, str(support.LIB)]
    result = subprocess.run(command, env={"X": "1"}, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
