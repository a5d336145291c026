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


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_a_hook_that_needs_more_gets_the_standard_module() -> None:
    command = [sys.executable, "-I", "-S", "-c", CODE, str(support.LIB)]
    result = subprocess.run(command, env={"X": "1"}, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
