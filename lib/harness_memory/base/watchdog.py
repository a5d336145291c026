"""Ends a hook on time, also one that waits for a read, a lock, a file system or a pattern."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without its enumerations, a millisecond
import _thread
import time

from .payload import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

_ending = _thread.allocate_lock()  # held by the thread that writes the answer and ends the process
_SECOND_TRY_SECONDS = 0.05
_LAST_WORD_SECONDS = 0.2
_ANSWER_SECONDS = 0.1


def leave(reply: bytes, *, is_late: bool = False) -> None:
    """Write the reply and end the process; skipping the interpreter's finalisation saves a tenth of a hook's time."""
    if not _ending.acquire(not is_late):
        time.sleep(_ANSWER_SECONDS)  # for the reply that is being written; the client may never read it
        system._exit(0)
    try:
        while reply:
            reply = reply[system.write(1, reply) :]
    except OSError:
        pass
    system._exit(0)


def watch(seconds: float, late: Callable[[], None]) -> None:
    """Call `late`, which ends the process, after so many seconds: a thread, or a signal while `re` blocks threads."""
    turn = _thread.allocate_lock()

    def alarm(*_: object) -> None:
        with turn:  # the second call waits here for the end
            late()

    def wait() -> None:
        time.sleep(max(0.0, seconds))
        alarm()

    _start(wait)
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, alarm)
        _signal.setitimer(_signal.ITIMER_REAL, max(0.0, seconds) + _SECOND_TRY_SECONDS)


def attempt(work: Callable[[], None]) -> None:
    """Do a last piece of work for a moment at most: the file system may be what is stuck."""
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        work()
        done.release()

    _start(run)
    done.acquire(timeout=_LAST_WORD_SECONDS)


def _start(work: Callable[[], None]) -> None:
    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:  # no more threads
        pass
