"""A hook ends by itself when something holds it up: a read, a lock, a file system, a pattern that never ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from life import Life, failures

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and pipes")
SCRIPT = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from harness_memory.base.process import watch
watch(0.1, lambda: (os.write(1, b"late\\n"), time.sleep(0.2), os._exit(0)))
%s
"""
HELD_UP = {
    "a pipe without a writer": "os.read(os.pipe()[0], 1)",
    "work": "while True: pass",
    "a pattern that keeps the interpreter to itself": "import re; re.match('(a|aa)+$', 'a' * 60 + 'b')",
}
HASTE = """
import os, time
from harness_memory.base import process, settings
settings.SESSION_END_DEADLINE_SECONDS = settings.GUARD_DEADLINE_SECONDS = 0.1
"""
# File systems that do not answer any more.
STUCK = {
    "reading": HASTE + "process._LAST_WORD_SECONDS = 2\nos.listdir = lambda *given: time.sleep(60)\n",
    "replacing": HASTE + "os.replace = lambda *given: time.sleep(60)\n",
    "writing": HASTE + "os.write = lambda *given: time.sleep(60)\n",
}


@posix
@pytest.mark.parametrize("what", HELD_UP)
def test_a_process_that_is_held_up_ends_once(what: str) -> None:
    command = [sys.executable, "-I", "-S", "-c", SCRIPT % HELD_UP[what], str(support.LIB)]
    done = subprocess.run(command, capture_output=True, timeout=support.HANG_SECONDS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"late\n", b"")


@pytest.mark.parametrize("what", STUCK)
def test_a_hook_that_is_stuck_leaves_without_an_answer(life: Life, what: str) -> None:
    life.start()
    life.under = STUCK[what]
    assert life.end().stdout == ""
    assert what != "reading" or "not done within its deadline" in failures(life.store)[0]


def test_the_guard_answers_when_the_disk_does_not(life: Life) -> None:
    life.start()
    call = life.session.tool_call("Bash", {"command": "rm -rf ~"})
    life.under = HASTE + "os.fsync = os.replace = lambda *given: time.sleep(60)\n"
    answer = life.run("pre_tool_use", call).stdout
    assert '"ask"' in answer or '"deny"' in answer


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_ctrl_c_stops_claude_but_not_our_record(life: Life) -> None:
    life.start()
    life.prompt("Round the totals")
    data = support.encode(life.session.stop("Totals are rounded once."))
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(support.hook_command("stop"), env=env, cwd=str(life.cwd), **pipes)
    status = Path("/proc/%d/status" % process.pid)
    while not int(status.read_text().partition("SigIgn:")[2].split()[0], 16) & 1 << signal.SIGINT - 1:
        time.sleep(0.01)  # it still starts
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(data, timeout=support.HANG_SECONDS)
    assert (process.returncode, output, errors) == (0, b"", b"")
    assert life.episode["what_was_done"] == "Totals are rounded once."
