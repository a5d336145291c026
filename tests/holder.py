"""Holds a lock until its standard input ends: `python holder.py LIB LOCKFILE`."""

import sys

sys.path.insert(0, sys.argv[1])

from harness_memory.base.lock import Lock

with Lock(sys.argv[2]) as held:
    print("held" if held else "busy", flush=True)
    sys.stdin.read()
