"""A hook ends on time, whatever holds it up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import circumstances
import pytest
import support
from life import Life, failures

from harness_memory.base import settings

SCRIPT = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from harness_memory.base.watchdog import watch
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


# Processes and file systems that do not answer any more.
STUCK = {
    "reading": "import os, time\nos.listdir = lambda *given: time.sleep(60)\n",
    "replacing": "import os, time\nos.replace = lambda *given: time.sleep(60)\n",
    "writing": "import os, time\nos.write = lambda *given: time.sleep(60)\n",
}


@pytest.mark.parametrize(("script", "what"), [*(("session_end", what) for what in STUCK), ("stop", "replacing")])
def test_a_hook_that_is_stuck_leaves(life: Life, script: str, what: str) -> None:
    life.start()
    payload = life.session.stop("Done.") if script == "stop" else life.session.end()
    env = life.session.environment(pid=life.pid)
    result = circumstances.run_hook(script, payload, STUCK[what], home=life.home, env=env)
    assert (result.code, result.stdout, result.stderr) == (0, "", "")
    limit = settings.SESSION_END_DEADLINE_SECONDS if script == "session_end" else settings.DEADLINE_SECONDS
    assert limit < result.seconds < limit + settings.WATCHDOG_GRACE_SECONDS + 1
    assert what != "reading" or "not done within its deadline" in failures(life.store)[0]


def test_the_guard_asks_when_the_disk_does_not_answer(life: Life) -> None:
    life.start()
    call = life.session.tool_call("Bash", {"command": "rm -rf ~"})
    under = "import os, time\nos.fsync = lambda *given: time.sleep(60)\nos.replace = os.fsync\n"
    result = circumstances.run_hook(
        "pre_tool_use", call, under, home=life.home, env=life.session.environment(pid=life.pid)
    )
    assert result.code == 0
    assert '"ask"' in result.stdout or '"deny"' in result.stdout
    assert result.seconds < settings.GUARD_DEADLINE_SECONDS + 1


ENDLESS = "-----BEGIN " + "PRIVATE KEY-----" + " Abc: x" * 40


def test_a_key_that_goes_on_with_headers_holds_nobody_up(home: Path, repo: Path, client: support.Client) -> None:
    life = Life(home, repo, pid=client.pid)
    life.start()
    life.turn("What is this? " + ENDLESS, ENDLESS)
    asked = life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "rm -rf ~/ # " + ENDLESS}))
    assert '"deny"' in asked.stdout
    assert support.failures(life.store) == []


def fill(pipe: int, size: int) -> None:
    try:
        while True:
            os.write(pipe, bytes(size))
    except BlockingIOError:
        pass


@pytest.mark.skipif(os.name == "nt", reason="pipes are not filled like that there")
@pytest.mark.parametrize("script", ["pre_tool_use", "session_start"])
def test_nobody_reads_the_answer(home: Path, repo: Path, client: support.Client, script: str) -> None:
    life = Life(home, repo, pid=client.pid)
    session = life.session
    payload = {
        "pre_tool_use": session.tool_call("Bash", {"command": "rm -rf ~"}),
        "session_start": session.start(),
    }[script]
    life.start()
    read, write = os.pipe()
    try:
        os.set_blocking(write, False)
        for size in (1024, 1):
            fill(write, size)
        os.set_blocking(write, True)
        began = time.monotonic()
        done = subprocess.run(
            support.hook_command(script),
            input=support.encode(payload),
            stdout=write,
            stderr=subprocess.PIPE,
            env=support.clean_environment(home, session.environment(pid=client.pid)),
            cwd=str(repo),
            timeout=20,
            check=False,
        )
    finally:
        os.close(read)
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - began < 8


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupted_client_does_not_interrupt_the_record(home: Path, repo: Path, client: support.Client) -> None:
    life = Life(home, repo, pid=client.pid)
    life.start()
    life.prompt("Round the totals")
    process = subprocess.Popen(
        support.hook_command("stop"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=support.clean_environment(home, life.session.environment(pid=client.pid)),
        cwd=str(repo),
    )
    time.sleep(0.5)  # it waits for its payload
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(support.encode(life.session.stop("Totals are rounded once.")), timeout=20)
    assert (process.returncode, output, errors) == (0, b"", b"")
    assert life.episode["what_was_done"] == "Totals are rounded once."
