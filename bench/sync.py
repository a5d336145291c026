#!/usr/bin/env python3
"""How long a sync takes, through a bare repository on this machine: wall seconds of the whole command.

    python3 bench/sync.py [--sessions 1000]

A session is six files. Neighbours on the machine count too: run it when nothing else runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lib")]

import support  # noqa: E402
from machines import Machine  # noqa: E402


def seconds(machine: Machine, *words: str) -> float:
    command = [sys.executable, str(ROOT / "harness"), "memory", "sync", *words]
    began = time.monotonic()
    done = support.run(command, b"", support.clean_environment(machine.home), machine.repo)
    assert done.code == 0, done
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=1000)
    count = parser.parse_args().sessions
    with tempfile.TemporaryDirectory() as folder:
        one, two = (Machine(Path(folder), name) for name in ("one", "two"))
        one.live(2)
        for machine in (one, two):
            seconds(machine, "init", str(one.remote))
        one.live(count, day=2)
        print("send %d sessions       %.2f s" % (count, seconds(one)))
        print("take %d sessions over  %.2f s" % (count, seconds(two)))
        print("nothing to do          %.2f s" % min(seconds(machine) for machine in (one, two, one, two)))


if __name__ == "__main__":
    main()
