"""The other end of forkserver.py: runs a hook script there and brings back what it left."""

from __future__ import annotations

import array
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SERVER = Path(__file__).resolve().parent / "forkserver.py"
PIPE_BYTES = 60_000  # what any pipe takes without a reader


class ForkServer:
    """One at a time; not for threads."""

    def __init__(self, flags: tuple[str, ...], lib: Path) -> None:
        self._socket, theirs = socket.socketpair()
        self._process = subprocess.Popen([sys.executable, *flags, str(SERVER), str(lib)], stdin=theirs)
        theirs.close()
        self.cpu_seconds = 0.0  # of the process that ended last

    def close(self) -> None:
        self._socket.close()
        self._process.wait(10)

    def run(self, script: Path, data: bytes, env: dict[str, str], cwd: str, timeout: float) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error."""
        stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
        self._ask((str(script), env, cwd, _umask()), [stdin[0], stdout[1], stderr[1]])
        with open(stdin[1], "wb", buffering=0) as pipe:
            try:
                pipe.write(data)
            except BrokenPipeError:  # a hook may leave without reading
                pass
        pid = self._answer()
        try:
            output, errors = _read([stdout[0], stderr[0]], time.monotonic() + timeout)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            status = self._answer()
            self.cpu_seconds = self._answer() / 1e6
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), output, errors

    def _ask(self, request: tuple[Any, ...], streams: list[int]) -> None:
        body = marshal.dumps(request)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))
        self._socket.sendmsg([len(body).to_bytes(4, "little")], [rights])
        self._socket.sendall(body)
        for stream in streams:
            os.close(stream)

    def _answer(self) -> int:
        data = b""
        while len(data) < 4:
            more = self._socket.recv(4 - len(data))
            if not more:
                raise RuntimeError("the fork server is gone")
            data += more
        return int.from_bytes(data, "little")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _read(streams: list[int], ends: float) -> list[bytes]:
    """All that comes out of each until it is closed."""
    data = dict.fromkeys(streams, b"")
    unfinished = set(streams)
    try:
        while unfinished:
            ready = select.select(unfinished, [], [], max(0.0, ends - time.monotonic()))[0]
            if not ready:
                raise TimeoutError("the hook is not done in time")
            for stream in ready:
                more = os.read(stream, 65536)
                data[stream] += more
                if not more:
                    unfinished.remove(stream)
    finally:
        for stream in streams:
            os.close(stream)
    return list(data.values())
