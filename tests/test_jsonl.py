"""Shared logs: whole lines, however many write at once and whoever is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import support

from harness_memory.base import jsonl

WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from harness_memory import jsonl
for number in range(int(sys.argv[4])):
    assert jsonl.append(sys.argv[2], {"who": sys.argv[3], "number": number, "text": "line\\n\\u2028 " * 50}, 30)
    print(number, flush=True)
"""


def test_many_writers_and_some_killed(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    command = [sys.executable, "-I", "-S", "-c", WRITER, str(support.LIB), str(path)]
    writers = [subprocess.Popen([*command, str(who), "60"], stdout=subprocess.PIPE) for who in range(6)]
    for victim in writers[:2]:
        assert victim.stdout is not None
        victim.stdout.readline()
        victim.kill()
    acknowledged = {str(who): len(writer.communicate()[0].split()) for who, writer in enumerate(writers)}
    records = [
        json.loads(line)
        for line in path.read_text("utf-8").split("\n")
        if line.startswith('{"who"') and line.endswith("}")
    ]
    for who, count in acknowledged.items():
        numbers = [record["number"] for record in records if record["who"] == who]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= count
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_held_lock_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with support.hold_lock(Path(str(path) + ".lock")) as holder:
        assert not jsonl.append(str(path), {"a": 1}, 0.05)
        holder.kill()
    assert jsonl.append(str(path), {"a": 1})
    assert path.read_bytes() == b'{"a": 1}\n'
