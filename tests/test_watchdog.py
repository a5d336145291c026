"""A hook ends on time, whatever holds it up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from life import Life

SCRIPT = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from harness_memory.watchdog import watch
watch(0.3, lambda: (os.write(1, b"late\\n"), time.sleep(0.2), os._exit(0)))
%s
"""
HELD_UP = {
    "a pipe that nobody writes to": "os.read(os.pipe()[0], 1)",
    "sleep": "time.sleep(30)",
    "work": "while True: pass",
    "a pattern that keeps the interpreter to itself": "import re; re.match('(a|aa)+$', 'a' * 60 + 'b')",
}


@pytest.mark.parametrize("what", HELD_UP)
def test_once_and_on_time(what: str) -> None:
    if "pattern" in what and os.name == "nt":
        pytest.skip("no timer that sends a signal there")
    began = time.monotonic()
    command = [sys.executable, "-I", "-S", "-c", SCRIPT % HELD_UP[what], str(support.LIB)]
    done = subprocess.run(command, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"late\n", b"")
    assert time.monotonic() - began < 5


ENDLESS = "-----BEGIN " + "PRIVATE KEY-----" + " Abc: x" * 40


def test_a_key_that_goes_on_with_headers_holds_nobody_up(home: Path, repo: Path, client: support.Client) -> None:
    life = Life(home, repo, pid=client.pid)
    life.start()
    life.turn("What is this? " + ENDLESS, ENDLESS)
    asked = life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~/ # " + ENDLESS}))
    assert '"deny"' in asked.stdout
    assert support.failures(life.store) == []
