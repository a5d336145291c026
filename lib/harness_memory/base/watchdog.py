"""Ending a hook on time, whatever holds it up: a read, a lock, a file system, a pattern that never ends."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without its enumerations, a millisecond
import _thread
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

ending = _thread.allocate_lock()  # of whoever writes the answer and ends the process
_SECOND_TRY_SECONDS = 0.05
_LAST_WORD_SECONDS = 0.2
_ANSWER_SECONDS = 0.1


def give_way() -> None:
    """To an answer that is being written: a moment, for whoever should read it may never do so."""
    time.sleep(_ANSWER_SECONDS)


def watch(seconds: float, late: Callable[[], None]) -> None:
    """Call `late`, which ends the process, after so many seconds.

    A thread does, unless one long step of the interpreter keeps it from running: such a step, as that of `re`,
    looks for signals at least."""
    turn = _thread.allocate_lock()

    def alarm(*_: object) -> None:
        with turn:  # whoever comes second waits here for the end
            late()

    def wait() -> None:
        time.sleep(max(0.0, seconds))
        alarm()

    try:
        _thread.start_new_thread(wait, ())
    except RuntimeError:  # no more threads
        pass
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, alarm)
        _signal.setitimer(_signal.ITIMER_REAL, max(0.0, seconds) + _SECOND_TRY_SECONDS)


def attempt(work: Callable[[], None]) -> None:
    """Do something on the way out, unless it takes long: the file system may be what holds us up."""
    done = _thread.allocate_lock()
    done.acquire()

    def try_it() -> None:
        try:
            work()
        finally:
            done.release()

    try:
        _thread.start_new_thread(try_it, ())
    except RuntimeError:  # no more threads
        return
    done.acquire(timeout=_LAST_WORD_SECONDS)
