"""The modes of what is in the store, made private again after it was open to others."""

from __future__ import annotations

import os
import stat
import time

from . import files, health


def repair(root: str, ends: float) -> str:
    """Close what lies below a root that was found open, as far as time allows; what is to be told of it, once."""
    told = health.opened(root)
    if told is None:
        return ""
    sign = health.opened_file(root)
    if close_to_others(root, ends):
        files.remove(sign)
    elif told:
        try:
            files.write(sign, b"")
        except OSError:
            pass  # it is told twice then
    return told


def close_to_others(top: str, ends: float) -> bool:
    """Take from others what they may do with the files below `top`, following no link; whether time sufficed."""
    for directory, folders, names in os.walk(top):
        for name in (*folders, *names):
            if time.monotonic() > ends:
                return False
            _close(os.path.join(directory, name))
    return True


def _close(path: str) -> None:
    if os.name == "nt":
        return  # modes say nothing there
    try:
        fd = os.open(path, files.O_READ)
    except OSError:
        return
    try:
        info = os.fstat(fd)
        is_ours = stat.S_ISDIR(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_nlink == 1)
        if is_ours and info.st_mode & 0o077:
            os.fchmod(fd, info.st_mode & 0o700)
    except OSError:
        pass
    finally:
        os.close(fd)
