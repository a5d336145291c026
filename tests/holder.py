"""Holds locks until its standard input ends: `python holder.py LIB LOCKFILE…`."""

import sys

sys.path.insert(0, sys.argv[1])

from harness_memory.base.lock import Lock

held = [Lock(path).__enter__() for path in sys.argv[2:]]
print("held" if all(held) else "busy", flush=True)
sys.stdin.read()
