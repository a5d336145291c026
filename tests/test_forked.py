"""The fork server of the tests: what it starts is a process like any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import support

TELL = """
import json, os, sys
system = sys.modules[os.name]
mask = os.umask(0)
streams = [os.fstat(number).st_mode >> 12 for number in range(3)]
found = [os.getcwd(), dict(os.environ), mask, sys.argv, __name__, __file__, list(sys.flags), sys.path, streams]
found += [sorted(map(os.fsdecode, system.environ)), sorted(os.listdir("/dev/fd"))[:4]]
print(json.dumps([*found, sys.stdin.read()]))
"""


def fork(script: Path, data: bytes = b"", timeout: float = 20, **env: str) -> tuple[int, bytes, bytes]:
    if not support.FORK_SERVERS:
        pytest.skip("nothing is forked here")
    return support.FORK_SERVERS[-1].run(script, data, env, str(script.parent), timeout)


def script(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_finds_what_a_fresh_process_finds(tmp_path: Path) -> None:
    path = script(tmp_path, TELL)
    env = support.clean_environment(tmp_path, {"LC_CTYPE": "C.UTF-8"})  # which an interpreter sets by itself
    command = [sys.executable, *support.FLAGS, str(path)]
    fresh = subprocess.run(command, input=b"given", capture_output=True, env=env, cwd=str(tmp_path), check=True)
    code, out, err = fork(path, b"given", **env)
    assert (code, json.loads(out), err) == (0, json.loads(fresh.stdout), b"")


def test_siblings_share_nothing(tmp_path: Path) -> None:
    path = script(tmp_path, "import sys; print(sys.modules.get('x')); sys.modules['x'] = 1")
    assert [fork(path) for _ in range(2)] == [(0, b"None\n", b"")] * 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit", 0),
        ("import os; os._exit(4)", 4),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_how_it_ended_is_told(tmp_path: Path, text: str, code: int) -> None:
    assert fork(script(tmp_path, "print('x', flush=True)\n" + text)) == (code, b"x\n", b"")


def test_a_script_that_fails_says_so(tmp_path: Path) -> None:
    code, out, err = fork(script(tmp_path, "print('x')\n1 / 0"))
    assert (code, out, b"ZeroDivisionError" in err) == (1, b"x\n", True)


def test_a_script_that_hangs_is_killed(tmp_path: Path) -> None:
    path = script(tmp_path, "import time; time.sleep(60)")
    with pytest.raises(TimeoutError):
        fork(path, timeout=0.1)
    assert fork(script(tmp_path, "print('next')")) == (0, b"next\n", b"")
