"""Advisory file locks with a deadline: `fcntl` on POSIX, `msvcrt` on Windows.

Locks keep shared views and appended logs tidy; no fact depends on one. A holder that dies releases its lock. Where
the file system has no locks, or the lock file is unusable, the caller goes on without: writes are atomic anyway.
"""

from __future__ import annotations

import errno
import os
import time

from . import files, settings

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_O_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Lock:
    """`with Lock(path, seconds) as held:`; `held` is False when time ran out, or with `busy` an OSError says so."""

    def __init__(self, path: str, seconds: float = settings.LOCK_WAIT_SECONDS, busy: str = "") -> None:
        self.path, self.seconds, self.busy = path, seconds, busy
        self.fd, self.is_discarded = -1, False

    def __enter__(self) -> bool:
        give_up = time.monotonic() + self.seconds
        while True:
            try:
                fd = files.open_plain(self.path, _O_LOCK)
                if _take(fd, self.path):
                    self.fd = fd
                    return True
                os.close(fd)
            except files.Foreign:
                raise
            except OSError as error:
                if os.name != "nt" or error.errno != errno.EACCES:  # there its last holder is removing it
                    return True
            left = give_up - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(0.005, left))
        if self.busy:
            raise OSError(errno.EBUSY, self.busy, os.path.dirname(self.path))
        return False

    def __exit__(self, *exc: object) -> None:
        if self.fd >= 0:
            os.close(self.fd)  # this unlocks
            if self.is_discarded and os.name == "nt":
                files.remove(self.path)  # Windows removes no open file

    def discard(self) -> None:
        """Remove the lock file; only while holding it."""
        self.is_discarded = True
        if self.fd >= 0 and os.name != "nt":
            files.remove(self.path)


def _take(fd: int, path: str) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        # The holder may have removed the file between our open and our lock.
        return os.name == "nt" or os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False
    except OSError as error:
        return error.errno not in _BUSY and os.name != "nt"  # whose error need not say why
