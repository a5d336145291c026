"""Reading and writing files of the store: private, atomic, bounded.

Readers see a whole file or none: a write goes to a temporary name in the same directory and is renamed over the
target. A process killed at any instruction leaves the old file or the new one, and at worst a `.tmp`. After `confine`,
no link below the store's root is followed; the root itself may be a link.

One policy for errors: what is missing or unusable reads as nothing; an OSError that another attempt may not meet
(`raise_passing`) is raised, and nothing may be concluded from it.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from . import jsontext, settings, shape
from .typing import Any, Mapping

_O_OURS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_O_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _O_OURS
O_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_OURS
O_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | _O_OURS
_PASSING = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN, errno.ETIMEDOUT)
MISSING = (FileNotFoundError, NotADirectoryError)

_bounds = ""  # the store's root, with a separator at its end
_plain: set[str] = set()  # folders below it that are not links


class Unreadable(OSError):
    """A path that exists but is not a plain file of acceptable size."""


class Foreign(Unreadable):
    """Not ours: a link leads there out of the store, or it belongs to another user."""

    remedy = "Nothing is remembered or read. Make it yours (chown -R), or set HARNESS_MEMORY_HOME to another folder."


def raise_passing(error: BaseException) -> None:
    if isinstance(error, OSError) and error.errno in _PASSING:
        raise error


def root_from(env: Mapping[str, str]) -> str:
    home = env.get(settings.ENV_HOME)
    return os.path.abspath(os.path.expanduser(home)) if home else os.path.join(config_dir(env), settings.STORE_DIR)


def config_dir(env: Mapping[str, str]) -> str:
    """Where the client keeps its settings and transcripts."""
    return os.path.abspath(env.get(settings.ENV_CONFIG_DIR) or os.path.expanduser("~/" + settings.CLAUDE_DIR))


def confine(root: str) -> None:
    """From now on no folder below `root` may be a link."""
    global _bounds
    _bounds = os.path.join(root, "")
    _plain.clear()


def inside(folder: str) -> str:
    """The folder; Foreign when it lies in the store only by a link."""
    if folder not in _plain and _bounds and folder.startswith(_bounds):
        inside(os.path.dirname(folder))
        info = _status(folder)
        if info is None:
            return folder
        if not stat.S_ISDIR(info.st_mode):
            raise Foreign(errno.ENOTDIR, "is a link or a file: put the folder itself there", folder)
        _plain.add(folder)
    return folder


def is_trusted(owner: int, folder: str) -> bool:
    own = os.geteuid() if os.name != "nt" else owner
    if owner in (own, 0):
        return True
    # Some network drives give all files to one user; in a container root works in a folder of another user.
    home = _status(os.path.expanduser("~") if own else folder, follow=True)
    return home is not None and owner == home.st_uid


def check_owner(root: str) -> None:
    """Foreign when the store, or a link that stands for it, belongs to another user."""
    for info in (_status(root), _status(root, follow=True)):
        if info is not None and not is_trusted(info.st_uid, os.path.dirname(root)):
            raise Foreign(errno.EPERM, "belongs to another user", root)


def ensure_private(root: str) -> str:
    """Make the store's root and close it to other users; a sentence for the person if it was open."""
    info, above = _status(root), os.path.dirname(root)
    if info is not None and stat.S_ISDIR(info.st_mode) and not info.st_mode & 0o077 and is_trusted(info.st_uid, above):
        return ""
    ensure_dir(root)
    check_owner(root)
    if info is None:
        write_gitignore(root)
    mode = stat.S_IMODE(os.stat(root).st_mode)
    # A link, or a folder with the sticky bit, may be shared on purpose: `verify` reports its mode.
    if os.name != "nt" and mode & 0o077 and not mode & stat.S_ISVTX and not os.path.islink(root):
        try:
            os.chmod(root, settings.DIR_MODE)
        except OSError:
            return ""  # FAT, and drives that give all files to one user
        if not os.stat(root).st_mode & 0o077:  # exFAT has no modes
            return "other users could read the memory folder: %s: its mode was %04o. It is private now" % (root, mode)
    return ""


def write_gitignore(root: str) -> None:
    with open(os.path.join(os.path.dirname(__file__), "gitignore.txt"), "rb") as file:
        write_if_changed(os.path.join(root, settings.GITIGNORE_FILE), file.read())


def ensure_dir(path: str) -> None:
    if os.path.isdir(inside(path)):
        return
    if not os.path.isdir(os.path.dirname(path)):
        ensure_dir(os.path.dirname(path))
    try:
        os.mkdir(path, settings.DIR_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path) from None


def open_plain(path: str, flags: int = _O_READ, *, of_anyone: bool = False) -> int:
    """A descriptor of a plain file of ours, made with its folder where `flags` say so; Unreadable for anything else."""
    folder = inside(os.path.dirname(path))
    if flags & os.O_CREAT:
        ensure_dir(folder)
    try:
        fd = os.open(path, flags, settings.FILE_MODE)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise Unreadable(errno.ELOOP, "is a symbolic link", path) from None
    info = os.fstat(fd)
    is_plain = stat.S_ISREG(info.st_mode)
    if is_plain and (of_anyone or is_trusted(info.st_uid, folder)):
        return fd
    os.close(fd)
    if is_plain:
        raise Foreign(errno.EPERM, "belongs to another user", path)
    raise Unreadable(errno.EINVAL, "not a plain file", path)


def read(path: str, limit: int = settings.FILE_MAX_BYTES, *, of_anyone: bool = False) -> bytes | None:
    """The bytes of a plain file; None when it is missing. Anything else, or more than `limit`, is Unreadable."""
    try:
        fd = open_plain(path, of_anyone=of_anyone)
    except MISSING:
        return None
    data = drain(fd, limit + 1)
    if len(data) > limit:
        raise Unreadable(errno.EFBIG, "larger than %d bytes" % limit, path)
    return data


def read_part(path: str, size: int, *, start: int = 0, from_end: bool = False) -> bytes:
    """Bytes from `start` on, or the last whole lines, of a plain file of any length; b"" when it is missing."""
    try:
        fd = open_plain(path)
    except (*MISSING, Unreadable):
        return b""
    start = os.lseek(fd, max(0, os.fstat(fd).st_size - size) if from_end else start, 0)
    data = drain(fd, size)
    return data.partition(b"\n")[2] if from_end and start else data


def drain(fd: int, limit: int) -> bytes:
    """The next bytes of a file, at most `limit`; closes it."""
    try:
        return os.read(fd, min(os.fstat(fd).st_size, limit))
    finally:
        os.close(fd)


def read_text(path: str) -> str:
    return (read(path) or b"").decode("utf-8", "replace")


def read_json(path: str, spec: Any) -> tuple[Any, str]:
    """The value of a JSON file and what is wrong with it: (value, ""), (None, problem), or (None, "") if missing."""
    try:
        data = read(path)
        if data is None:
            return None, ""
        value = jsontext.loads(data)
    except OSError as error:
        raise_passing(error)
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, "not JSON: %s" % error
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, int) and schema > settings.SCHEMA:
        return None, "written by a newer version (schema %d)" % schema
    wrong = shape.problem(value, spec)
    return (None, wrong) if wrong else (value, "")


def load_json(path: str, spec: Any = "any") -> Any:
    """The value of a JSON file; None when it is missing or has a problem, which `verify` names."""
    return read_json(path, spec)[0]


def is_same(path: str, data: bytes) -> bool:
    try:
        return read(path) == data
    except OSError:
        return False


def write(path: str, data: bytes | str, *, durable: bool = False) -> None:
    """Replace `path` by `data`, atomically. `durable` also survives a power cut."""
    directory, name = os.path.split(path)
    content = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    temporary = os.path.join(directory, ".%s.%d.%x%s" % (name, os.getpid(), time.time_ns(), settings.TEMP_SUFFIX))
    try:
        _write_all(open_plain(temporary, O_CREATE), content, durable)
        move(temporary, path)
    except BaseException as error:
        remove(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = path  # the person never sees a temporary name
            del error.filename2
        raise


def _write_all(fd: int, data: bytes, durable: bool) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)


def write_json(path: str, value: Any, *, durable: bool = False) -> None:
    write(path, jsontext.encoded(value), durable=durable)


def write_if_changed(path: str, data: bytes) -> bool:
    if is_same(path, data):
        return False
    write(path, data)
    return True


def append_line(path: str, line: bytes, *, durable: bool = False) -> None:
    """Append one line in one write, after the end of a line that a killed writer left; the caller holds a lock."""
    fd = open_plain(path, O_APPEND)
    os.lseek(fd, max(0, os.fstat(fd).st_size - 1), os.SEEK_SET)
    gap = b"\n" if os.read(fd, 1) not in (b"", b"\n") else b""
    try:
        _write_all(fd, gap + line + b"\n", durable)
    except OSError as error:
        error.filename = path
        raise


def move(source: str, target: str, tries: int = 50) -> None:
    inside(os.path.dirname(source))
    inside(os.path.dirname(target))
    try:
        os.replace(source, target)
    except PermissionError:  # Windows replaces no file that a reader has open: wait half a second for it
        if os.name != "nt" or not tries:
            raise
        time.sleep(0.01)
        move(source, target, tries - 1)


def remove(path: str) -> bool:
    try:
        inside(os.path.dirname(path))
        os.unlink(path)
    except OSError:
        return False
    return True


def erase(path: str) -> None:
    """Remove a file, if there is one; OSError when it, or a folder of that name, is still there."""
    if not remove(path) and exists(path):
        raise OSError(errno.EIO, "could not be removed. Run the command again", path)


def remove_tree(path: str, last: str = "", kept: str = "") -> None:
    """Delete a directory of ours and follow no link out of it; its file `last` goes last, and `kept` stays."""
    if not remove(path):  # a link, or a file
        children = [name for name in names(path) if name != kept]
        for name in sorted(children, key=lambda name: name == last):
            remove_tree(os.path.join(path, name))
        remove_if_empty(path)


def remove_if_empty(path: str) -> None:
    try:
        os.rmdir(inside(path))
    except OSError:
        pass


def remove_temporaries(directory: str, before: float) -> None:
    """Remove what killed writers left `before` that time."""
    left = [name for name in names(directory) if name[0] == "." and name.endswith(settings.TEMP_SUFFIX)]
    for path in [os.path.join(directory, name) for name in left]:
        if made(path) < before:
            remove(path)


def names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(inside(path)))
    except OSError as error:
        raise_passing(error)
        return []


def folders(path: str) -> list[str]:
    stats = [(child, _status(child)) for child in (os.path.join(path, name) for name in names(path))]
    return [child for child, info in stats if info is not None and stat.S_ISDIR(info.st_mode)]


def exists(path: str) -> bool:
    return _status(path) is not None


def modified(path: str) -> float:
    info = _status(path)
    return info.st_mtime if info else 0.0


def made(path: str) -> float:
    """When a derived file was written; 0 when it is missing or lies in the future (the clock was set back)."""
    written = modified(path)
    return written if written <= time.time() + settings.DAY_SECONDS else 0.0


def _status(path: str, *, follow: bool = False) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        raise_passing(error)
        return None
