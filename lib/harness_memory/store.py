"""Reading and writing files of the store: private, atomic, bounded.

Readers see a whole file or none: every write goes to a temporary name in the same directory and
is renamed over the target. A process killed at any instruction leaves the old file or the new one,
and at worst a `.tmp` that housekeeping removes.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from . import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_O_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_O_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_O_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _O_BINARY


class Unreadable(OSError):
    """A path that exists but is not a plain file of acceptable size."""


def root_from(env: Mapping[str, str]) -> str:
    home = env.get(settings.ENV_HOME)
    if home:
        return os.path.abspath(os.path.expanduser(home))
    config = env.get(settings.ENV_CONFIG_DIR) or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR)
    return os.path.join(os.path.abspath(config), settings.STORE_DIR)


def ensure_dir(path: str) -> None:
    """Make `path` and its missing parents, private to the user."""
    try:
        os.mkdir(path, settings.DIR_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path) from None
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path or os.path.isdir(parent):
            raise  # nothing can be made there, as in /proc
        ensure_dir(parent)
        ensure_dir(path)


def ensure_private(path: str) -> bool:
    """Make the directory and close it to others; True when its mode had to be repaired."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        ensure_dir(path)
        mode = os.stat(path).st_mode
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
    if os.name == "nt" or not mode & 0o077:
        return False
    os.chmod(path, settings.DIR_MODE)
    return True


def read(path: str, limit: int = settings.FILE_MAX_BYTES) -> bytes | None:
    """The bytes of a plain file; None when there is none.

    Symbolic links, devices, pipes and files over `limit` raise Unreadable: nobody but us writes
    here, so they are mistakes or traps.
    """
    try:
        fd = os.open(path, _O_READ | _O_BINARY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable(errno.ELOOP, "is a symbolic link", path) from None
        raise
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise Unreadable(errno.EINVAL, "not a plain file", path)
        if info.st_size > limit:
            raise Unreadable(errno.EFBIG, "larger than %d bytes" % limit, path)
        data = os.read(fd, info.st_size + 1)
        while len(data) != info.st_size and len(data) <= limit:  # read in part, or grown under our hands
            more = os.read(fd, limit)
            if not more:
                break
            data += more
        return data
    finally:
        os.close(fd)


def read_head(path: str, size: int) -> bytes:
    """The first bytes of a plain file, however long it is; b"" when there is none."""
    try:
        fd = os.open(path, _O_READ | _O_BINARY)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    try:
        return os.read(fd, size) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)


def read_tail(path: str, size: int) -> bytes:
    """The last whole lines of a plain file, of at most `size` bytes; b"" when there is none."""
    try:
        fd = os.open(path, _O_READ | _O_BINARY)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            return b""
        begin = max(0, info.st_size - size)
        os.lseek(fd, begin, os.SEEK_SET)
        data = os.read(fd, info.st_size - begin)
        return data.partition(b"\n")[2] if begin else data
    finally:
        os.close(fd)


def read_text(path: str, limit: int = settings.FILE_MAX_BYTES) -> str | None:
    data = read(path, limit)
    return None if data is None else data.decode("utf-8", "replace")


def write(path: str, data: bytes, *, durable: bool = False) -> None:
    """Replace `path` by `data`, atomically. `durable` also survives a power cut."""
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, ".%s.%d.%x%s" % (name, os.getpid(), time.time_ns(), settings.TEMP_SUFFIX))
    try:
        fd = os.open(temporary, _O_CREATE, settings.FILE_MODE)
    except FileNotFoundError:
        ensure_dir(directory)
        fd = os.open(temporary, _O_CREATE, settings.FILE_MODE)
    try:
        try:
            write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        _replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def write_if_changed(path: str, data: bytes) -> bool:
    if is_same(path, data):
        return False
    write(path, data)
    return True


def is_same(path: str, data: bytes) -> bool:
    try:
        return read(path) == data
    except OSError:
        return False


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def append_line(path: str, line: bytes) -> None:
    """Append one line in one write; the caller holds the file's lock."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | _O_BINARY
    try:
        fd = os.open(path, flags, settings.FILE_MODE)
    except FileNotFoundError:
        ensure_dir(os.path.dirname(path))
        fd = os.open(path, flags, settings.FILE_MODE)
    try:
        end = os.lseek(fd, 0, os.SEEK_END)
        torn = False
        if end:
            # A writer killed (or out of disk) in mid-line must not swallow the next record.
            os.lseek(fd, end - 1, os.SEEK_SET)
            torn = os.read(fd, 1) != b"\n"
        write_all(fd, (b"\n" if torn else b"") + line + b"\n")
    finally:
        os.close(fd)


def remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def remove_tree(path: str, last: str = "") -> None:
    """Delete a directory of ours with all below it, never following a link out of it; of its files `last` goes last."""
    if os.path.islink(path):
        remove(path)
        return
    try:
        with os.scandir(path) as entries:
            children = sorted(entries, key=lambda child: child.name == last)
    except OSError:
        return
    for child in children:
        if child.is_dir(follow_symlinks=False):
            remove_tree(child.path)
        else:
            remove(child.path)
    try:
        os.rmdir(path)
    except OSError:
        pass


def names(path: str) -> list[str]:
    """Sorted names in a directory; none when it cannot be listed."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def folders(path: str) -> list[str]:
    """Paths of the directories in a directory, sorted; none when it cannot be listed."""
    try:
        with os.scandir(path) as entries:
            return sorted([entry.path for entry in entries if entry.is_dir()])
    except OSError:
        return []


def modified(path: str) -> float:
    """When a file was last written; 0 when there is none."""
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def is_changed_since(directory: str, instant: float) -> bool:
    """Whether a directory, or a file in it, was written after an instant; False when there is none."""
    if modified(directory) > instant:
        return os.path.isdir(directory)
    try:
        with os.scandir(directory) as entries:
            return any(entry.stat(follow_symlinks=False).st_mtime > instant for entry in entries)
    except OSError:
        return False


def remove_temporaries(directory: str, before: float) -> None:
    """Remove what killed writers left, if last written `before` that time."""
    for name in names(directory) if not os.path.islink(directory) else []:
        path = os.path.join(directory, name)
        if name.startswith(".") and name.endswith(settings.TEMP_SUFFIX) and modified(path) < before:
            remove(path)


def touch(path: str) -> None:
    """Set a file's time to now; an empty one is made where there is none."""
    try:
        os.utime(path)
    except FileNotFoundError:
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | _O_BINARY
        try:
            fd = os.open(path, flags, settings.FILE_MODE)
        except FileNotFoundError:
            ensure_dir(os.path.dirname(path))
            fd = os.open(path, flags, settings.FILE_MODE)
        os.close(fd)


def _replace(source: str, target: str) -> None:
    # Windows refuses to replace a file while a reader has it open: give the reader a moment.
    for attempt in range(50):
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if os.name != "nt" or attempt == 49:
                raise
            time.sleep(0.01)
