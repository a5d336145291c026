"""A hook process in a third of the time: forked from an interpreter that is up and has loaded the handlers.

    python -I -S -X utf8 forkserver.py LIB     with a UNIX socket as its standard input

A request is four bytes of length and that many of marshal (script, environment, directory, umask), with
the descriptors of the hook's stdin, stdout and stderr; the answer is the pid and, once it is over, the wait
status and the microseconds of processor time it took, four bytes each. The script is read and run as `__main__`,
in a process of its own.
"""

from __future__ import annotations

import _socket
import gc
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    Request = tuple[str, dict[str, str], str, int]


def load(lib: str) -> None:
    """What a hook loads before it looks at its event; the rest each process loads for itself."""
    gc.disable()
    sys.path.insert(0, lib)
    for name in ("session_start", "stop", "subagent_start", "tool_failure", "trigger", "user_prompt_submit"):
        __import__("harness_memory.hook." + name)
    del sys.path[0]  # the script will put it there
    os.fsync = lambda descriptor: None  # what outlives a power cut no test can see


def requests(client: _socket.socket) -> Iterator[tuple[Request, list[int]]]:
    while True:
        head, extra, _, _ = client.recvmsg(4, _socket.CMSG_SPACE(12))
        if not head:
            return
        data = b""
        while len(data) < int.from_bytes(head, "little"):
            data += client.recv(int.from_bytes(head, "little") - len(data))
        yield marshal.loads(data), memoryview(extra[0][2]).cast("i").tolist()


def become(request: Request, streams: list[int]) -> None:
    script, environment, directory, umask = request
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.umask(umask)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = [script]
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": script, "__builtins__": __builtins__})


def live(request: Request, streams: list[int]) -> None:
    """End as an interpreter does, for a script that does not leave by itself."""
    code = 0
    try:
        become(request, streams)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001  (it may be anything)
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    os._exit(code)


def main() -> None:
    load(sys.argv[1])
    client = _socket.socket(fileno=0)
    for request, streams in requests(client):
        pid = os.fork()
        if not pid:
            live(request, streams)
        for stream in streams:
            os.close(stream)
        client.sendall(pid.to_bytes(4, "little"))
        _, status, usage = os.wait4(pid, 0)
        took = int((usage.ru_utime + usage.ru_stime) * 1e6)
        client.sendall(status.to_bytes(4, "little") + took.to_bytes(4, "little"))


main()
