"""The process of a hook: store, payload, deadline, end. Without `os`: the guard answers before that is loaded."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without its enumerations, a millisecond
import _thread
import sys
import time

from . import jsontext, settings
from .typing import Any, Callable

try:
    import posix as system  # what `os` itself is made of
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef,import-not-found,unused-ignore]

__all__ = ["PIN", "BadPayload", "attempt", "contents", "ignored", "leave", "pin", "read_payload", "system", "watch"]
PIN = "--store="  # in an installed command: the store, or nothing where a plugin runs
ignored: list[str] = []  # names in the environment that said something else than the installed command
_ending = _thread.allocate_lock()  # held by the thread that writes the reply and ends the process
_answered: list[bool] = []  # True when the reply is out: what is left to do may be cut off


class BadPayload(ValueError):
    """Standard input held no usable payload."""


def pin(words: list[str]) -> None:
    """Put the store of the installed command in place of what a project's settings may say."""
    if words[1:] and words[1].startswith(PIN):
        config, plugins, _ = words[0].replace("\\", "/").partition("/plugins/")
        store = words[1][len(PIN) :] or (config + "/" + settings.STORE_DIR if plugins else "")
        os: Any = sys.modules.get("os")  # which copies the environment when it is loaded
        environ: Any = os.environ if os else system.environ
        for name, value in ((settings.ENV_HOME, store), (settings.ENV_SWITCH, "")):
            is_text = bool(os) or system.__name__ == "nt"
            key, new = (name, value) if is_text else (name.encode(), value.encode("utf-8", "surrogateescape"))
            ignored.extend([name] * (environ.get(key, new) not in (new, new[:0])))
            environ[key] = new


def read_payload() -> dict[str, Any]:
    """The payload, as soon as it is whole: the other end may never close the pipe."""
    data = bytearray()
    tried = 0
    while True:
        chunk = system.read(0, 1 << 16)
        data += chunk
        if len(data) > settings.STDIN_MAX_BYTES:
            raise BadPayload("the payload is larger than %d bytes" % settings.STDIN_MAX_BYTES)
        # Each attempt reads everything: try again only when there is twice as much.
        if chunk and (chunk[-1:] not in (b"\n", b"}") or len(data) < 2 * tried):
            continue
        tried = len(data)
        try:
            payload = jsontext.loads(bytes(data))
        except ValueError as error:
            if chunk:
                continue
            raise BadPayload("the payload is not JSON (%d bytes): %s" % (tried, error)) from None
        if not isinstance(payload, dict):
            raise BadPayload("the payload is a JSON %s, not an object" % type(payload).__name__)
        return payload


def contents(path: str, limit: int) -> bytes:
    """The first bytes of a file; none if it cannot be opened."""
    try:
        file = system.open(path, system.O_RDONLY | getattr(system, "O_BINARY", 0))
    except OSError:
        return b""
    data: bytes = system.read(file, limit)
    system.close(file)
    return data


def watch(seconds: float, late: Callable[[], None]) -> None:
    """Call `late`, which ends the process, after so many seconds: by a signal, or a thread where there is no timer."""
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # Ctrl-C stops Claude, not our record

    def alarm(*_: object) -> None:
        if _answered:
            system._exit(0)
        if _ending.locked():  # by the reply that is being written; the client may never read it
            _answered.append(True)
            _signal.setitimer(_signal.ITIMER_REAL, 0.1)
        else:
            late()

    def wait() -> None:
        time.sleep(seconds)
        late()

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, alarm)
        _signal.setitimer(_signal.ITIMER_REAL, max(0.001, seconds))
    else:
        _thread.start_new_thread(wait, ())


def attempt(work: Callable[[], None]) -> None:
    """Do a last piece of work for a moment at most: the file system may be what is stuck."""
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        work()
        done.release()

    _thread.start_new_thread(run, ())
    done.acquire(timeout=0.2)


def leave(reply: bytes, finish: Callable[[], None] = lambda: None, *, is_late: bool = False) -> None:
    """Write the reply and end the process; skipping the interpreter's finalisation saves a tenth of a hook's time."""
    if not _ending.acquire(not is_late):
        time.sleep(0.1)  # for the reply that is being written; the client may never read it
        system._exit(0)
    try:
        while reply:
            reply = reply[system.write(1, reply) :]
        _answered.append(True)
        finish()
    except OSError:
        pass
    finally:
        system._exit(0)
