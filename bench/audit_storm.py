"""Processes appending to one audit trail at once, some killed: the chain must hold, no acknowledged event be missing.

A quarter of the processes is killed with SIGKILL at a random moment; half of those kill themselves
after half a line. An event is acknowledged once its writer has said the hash that `append` returned.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness_memory.audit import trail

LIB = Path(__file__).resolve().parent.parent / "lib"
WAIT_SECONDS = 120
WRITER = (
    """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from harness_memory.audit import trail as audit
project, who, events, last = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])

write = os.write

def tear(fd, data):
    write(fd, data[: len(data) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

for number in range(events):
    if number == last:
        os.write = tear
    command = "rm -rf ~ # \\u00e9\\n" * (1 + number %% 30)
    fields = {"event": "tool_blocked", "tool": "Bash", "command": command, "session": who, "number": number}
    os.write(1, (audit.append(project, fields, time.time(), %d) + "\\n").encode())
"""
    % WAIT_SECONDS
)


class Writer:
    """One process; a torn one dies by itself in its `last` event, a killed one after `delay` seconds."""

    def __init__(self, command: list[str], said: Path, delay: float | None) -> None:
        self.said = said
        self.delay = delay
        with said.open("wb") as out:
            self.process = subprocess.Popen(command, stdout=out)

    def acknowledged(self) -> list[str]:
        return self.said.read_text("ascii").split("\n")[:-1]


class Storm:
    def __init__(self, directory: Path, *, processes: int, events: int, seed: int, interpreter: str) -> None:
        self.project = directory / "project"
        self.random = random.Random(seed)
        began = time.monotonic()
        victims = self.random.sample(range(processes), processes // 4)
        self.writers = []
        for number in range(processes):
            is_torn = number in victims[::2]
            last = self.random.randrange(events) if is_torn else -1
            words = [str(LIB), str(self.project), str(number), str(events), str(last)]
            delay = self.random.uniform(0.05, 0.02 * events) if number in victims[1::2] else None
            command = [interpreter, "-I", "-S", "-c", WRITER, *words]
            self.writers.append(Writer(command, directory / ("said-%d" % number), delay))
        self._kill(began)
        self.codes = [writer.process.wait() for writer in self.writers]
        self.seconds = time.monotonic() - began

    def _kill(self, began: float) -> None:
        doomed = [(writer.delay, writer) for writer in self.writers if writer.delay is not None]
        for delay, writer in sorted(doomed, key=lambda item: item[0]):
            time.sleep(max(0.0, began + delay - time.monotonic()))
            writer.process.kill()

    @property
    def killed(self) -> int:
        return sum(code != 0 for code in self.codes)

    def problems(self) -> list[str]:
        found = trail.verify(str(self.project), {})
        problems = ["%s:%d: %s" % (found.path, found.line, found.problem)] if found.problem else []
        hashes = {event["hash"] for event in trail.events(str(self.project))}
        for writer in self.writers:
            missing = [digest for digest in writer.acknowledged() if digest not in hashes]
            problems += ["an acknowledged event is missing: %s" % digest for digest in missing]
        if found.count != len(hashes):
            problems.append("%d events are sound, %d are there" % (found.count, len(hashes)))
        return problems


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    counts = {"storms": 0, "events": 0, "killed": 0}
    problems: list[str] = []
    while not counts["storms"] or time.monotonic() < ends:
        place, number = directory / ("audit%d" % counts["storms"]), seed + counts["storms"]
        place.mkdir()
        storm = Storm(place, processes=32, events=500, seed=number, interpreter=sys.executable)
        problems += storm.problems()
        counts["storms"] += 1
        counts["events"] += sum(len(writer.acknowledged()) for writer in storm.writers)
        counts["killed"] += sum(code != 0 for code in storm.codes)
    return {"counts": counts, "problems": problems}
