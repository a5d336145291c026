"""The watcher sees what leaves its place, and nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import watch

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors are passed on")


def watched(tmp_path: Path, code: str, allowed: list[str]) -> list[str]:
    """The events a script is reported for, by their paths below `tmp_path`."""
    script = tmp_path / "script.py"
    script.write_text("import os\nhere = %r\n%s" % (str(tmp_path), code), "utf-8")
    ends, report = os.pipe()
    done = subprocess.run(watch.command(str(script), allowed, report), pass_fds=[report], check=False)
    os.close(report)
    with open(ends, "rb") as file:
        found = watch.strays(file.read())
    assert done.returncode == 0
    return ["%s %s" % (event, detail.replace(str(tmp_path), "")) for event, detail in found]


SEEN = """
open(here + "/new", "w").close()
os.rename(here + "/in/a", here + "/moved")
os.chmod(here + "/moved", 0o600)
os.utime(here + "/moved")
os.truncate(here + "/moved", 0)
fd = os.open(here + "/moved", os.O_RDWR)
os.ftruncate(fd, 0)
os.mkdir(here + "/folder")
os.rmdir(here + "/folder")
os.symlink("x", here + "/link")
os.link(here + "/moved", here + "/hard")
os.unlink(here + "/hard")
os.mkfifo(here + "/pipe")
open(here + "/in/out/through", "w").close()
open(here + "/in/out-file", "a").close()
open(here + "/in/../climbed", "w").close()
os.system("true")
import socket
socket.socket()
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""
EVENTS = [
    "open /new", "os.rename /moved", "os.chmod /moved", "os.utime /moved", "os.truncate /moved", "open /moved",
    "os.truncate /moved", "os.mkdir /folder", "os.rmdir /folder", "os.symlink /link",
    "os.link /hard", "os.remove /hard", "os.mkfifo /pipe", "open /out/through", "open /out/file", "open /climbed",
    "os.system", "socket.__new__", "os.posix_spawn",
]  # fmt: skip


def test_what_is_seen(tmp_path: Path) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "in" / "a").write_text("x", "utf-8")
    (tmp_path / "out" / "file").write_text("x", "utf-8")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "out", target_is_directory=True)
    (tmp_path / "in" / "out-file").symlink_to(tmp_path / "out" / "file")
    found = watched(tmp_path, SEEN, [str(tmp_path / "in")])
    found = [line for line in found if not line.startswith("socket.") or "__new__" in line]
    assert len(found) == len(EVENTS), found
    assert all(line.startswith(event) for line, event in zip(found, EVENTS)), found


def test_what_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    code = """
open(here + "/in/a", "w").close()
os.replace(here + "/in/a", here + "/in/.b.tmp")
os.utime(here + "/in/.b.tmp")
os.symlink("/etc", here + "/in/link")
os.unlink(here + "/in/link")
open(here + "/cp-1.json", "w").close()
open(here + "/script.py").close()
open(os.devnull, "w").close()
os.listdir("/")
os.kill(os.getpid(), 0)
"""
    assert watched(tmp_path, code, [str(tmp_path / "in"), str(tmp_path / "cp-*")]) == []


def test_with_nothing_allowed_all_is_seen(tmp_path: Path) -> None:
    assert watched(tmp_path, 'open(here + "/a", "w").close()', []) == ["open /a"]
