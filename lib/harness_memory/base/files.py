"""Reading and writing files of the store: private, atomic, bounded.

Readers see a whole file or none: every write goes to a temporary name in the same directory and
is renamed over the target. A process killed at any instruction leaves the old file or the new one,
and at worst a `.tmp` that housekeeping removes.

Nothing leads out: once `confine` has told where the store is, whatever lies behind a link below it is
neither read nor written. The store itself may be a link, which is how people keep it elsewhere. A file
that has a second name (a hard link) is never changed in place, and one of another user is not read.
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
    from typing import Any

_O_OURS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
O_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _O_OURS
O_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_OURS
_O_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | _O_OURS


# What another attempt may not meet: a file that fails so is neither missing nor damaged.
_PASSING = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN, errno.ETIMEDOUT)


class Unreadable(OSError):
    """A path that exists but is not a plain file of acceptable size."""


class Foreign(Unreadable):
    """Not ours: a link leads there out of the store, or it belongs to another user."""


def is_passing(error: BaseException) -> bool:
    """Whether an error says nothing of the file itself, so that nothing may be concluded from it."""
    return isinstance(error, OSError) and error.errno in _PASSING


_bounds = ""  # the store's root, with a separator at its end
_plain: set[str] = set()  # folders below it that were seen to be no links


def confine(root: str) -> None:
    """No folder below `root` may be a link, from now on."""
    global _bounds
    _bounds = os.path.join(root, "")
    _plain.clear()


def inside(folder: str) -> str:
    """A folder that is where it seems to be: Foreign when it lies in the store only by a link."""
    if folder not in _plain and _bounds and folder.startswith(_bounds):
        inside(os.path.dirname(folder))
        try:
            mode = os.lstat(folder).st_mode
        except (OSError, ValueError):
            return folder  # whoever uses it will see
        if stat.S_ISLNK(mode):
            raise Foreign(errno.ELOOP, "is a symbolic link", folder)
        _plain.add(folder)
    return folder


def is_trusted(owner: int, folder: str) -> bool:
    """Whether what belongs to a user may be taken for ours.

    Some network drives give all files to one user, the home directory too; root may work in a folder of
    somebody's, as in a container.
    """
    own = os.geteuid() if os.name != "nt" else owner
    return owner in (own, 0) or owner == _owner(os.path.expanduser("~")) or (own == 0 and owner == _owner(folder))


def _owner(path: str) -> int:
    try:
        return os.stat(path).st_uid
    except OSError:
        return -1


def root_from(env: Mapping[str, str]) -> str:
    home = env.get(settings.ENV_HOME)
    if home:
        return os.path.abspath(os.path.expanduser(home))
    config = env.get(settings.ENV_CONFIG_DIR) or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR)
    return os.path.join(os.path.abspath(config), settings.STORE_DIR)


def check_owner(root: str) -> None:
    """Foreign when the store, or a link that stands for it, belongs to another user."""
    try:
        owners = os.lstat(root).st_uid, os.stat(root).st_uid
    except OSError:
        return  # there is none yet
    if not all(is_trusted(owner, os.path.dirname(root)) for owner in owners):
        raise Foreign(errno.EPERM, "belongs to another user", root)


def ensure_dir(path: str) -> None:
    """Make `path` and its missing parents, private to the user."""
    inside(path)
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


def ensure_private(path: str) -> None:
    """Make the store's root and close it to others; if it was open, a sign (see `health`) asks for the rest.

    One that is a link, or has the sticky bit, may be a folder that others use too: `verify` tells of its mode.
    """
    try:
        info = os.stat(path)
    except FileNotFoundError:
        ensure_dir(path)
        info = os.stat(path)
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", path)
    check_owner(path)
    mode = stat.S_IMODE(info.st_mode)
    if os.name == "nt" or not mode & 0o077 or mode & stat.S_ISVTX or os.path.islink(path):
        return
    try:
        os.chmod(path, settings.DIR_MODE)
    except OSError:
        pass
    if os.stat(path).st_mode & 0o077:
        return  # a file system without modes, as exFAT: `verify` tells of it
    text = "others could look into the memory folder %s (mode %04o); it is closed to them now" % (path, mode)
    try:
        write(os.path.join(path, settings.HEALTH_DIR, settings.OPENED_FILE), text.encode("utf-8", "replace"))
    except OSError:
        pass  # that it is closed matters more


def read(path: str, limit: int = settings.FILE_MAX_BYTES, *, of_anyone: bool = False) -> bytes | None:
    """The bytes of a plain file; None when there is none.

    Symbolic links, devices, pipes, files of others and files over `limit` raise Unreadable: nobody but
    us writes here, so they are mistakes or traps.
    """
    try:
        fd = open_plain(path, of_anyone=of_anyone)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        size = os.fstat(fd).st_size
        if size > limit:
            raise Unreadable(errno.EFBIG, "larger than %d bytes" % limit, path)
        data = os.read(fd, size + 1)
        while len(data) != size and len(data) <= limit:  # read in part, or grown under our hands
            more = os.read(fd, limit)
            if not more:
                break
            data += more
        return data
    finally:
        os.close(fd)


def open_plain(path: str, *, of_anyone: bool = False) -> int:
    """A descriptor to read a plain file of ours; Unreadable for anything else that is there."""
    folder = inside(os.path.dirname(path))
    try:
        fd = os.open(path, O_READ)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable(errno.ELOOP, "is a symbolic link", path) from None
        raise
    return _checked(fd, path, folder, of_anyone)


def _checked(fd: int, path: str, folder: str, of_anyone: bool = False) -> int:
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise Unreadable(errno.EINVAL, "not a plain file", path)
        if not of_anyone and not is_trusted(info.st_uid, folder):
            raise Foreign(errno.EPERM, "belongs to another user", path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def read_head(path: str, size: int) -> bytes:
    """The first bytes of a plain file, however long it is; b"" when there is none."""
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError, Unreadable):
        return b""
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)


def read_tail(path: str, size: int) -> bytes:
    """The last whole lines of a plain file, of at most `size` bytes; b"" when there is none."""
    try:
        fd = open_plain(path)
    except (FileNotFoundError, NotADirectoryError, Unreadable):
        return b""
    try:
        end = os.fstat(fd).st_size
        begin = max(0, end - size)
        os.lseek(fd, begin, os.SEEK_SET)
        data = os.read(fd, end - begin)
        return data.partition(b"\n")[2] if begin else data
    finally:
        os.close(fd)


def read_text(path: str, limit: int = settings.FILE_MAX_BYTES) -> str | None:
    data = read(path, limit)
    return None if data is None else data.decode("utf-8", "replace")


def read_json(path: str, spec: Any = None, limit: int = settings.FILE_MAX_BYTES) -> tuple[Any, str]:
    """The value of a JSON file and what is wrong with it: (value, ""), (None, problem), or (None, "") if missing.

    An empty or newer file, text that is not JSON and a value without the shape of `spec` are problems.
    OSError only for what another attempt may not meet (`is_passing`): conclude nothing from it.
    """
    from . import jsontext, shape

    try:
        data = read(path, limit)
        if data is None:
            return None, ""
        value = jsontext.loads(data)
    except OSError as error:
        if is_passing(error):
            raise
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, "not JSON: %s" % error
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, int) and schema > settings.SCHEMA:
        return None, "written by a newer version (schema %d)" % schema
    wrong = shape.problem(value, spec) if spec is not None else ""
    return (None, wrong) if wrong else (value, "")


def load_json(path: str, spec: Any = None, limit: int = settings.FILE_MAX_BYTES) -> Any:
    """The value of a JSON file; None when it is missing or has a problem, which `verify` names."""
    return read_json(path, spec, limit)[0]


def write_json(path: str, value: Any, *, durable: bool = False) -> None:
    from . import jsontext

    write(path, jsontext.pretty(value).encode("utf-8", "replace"), durable=durable)


def write_text(path: str, text: str, *, durable: bool = False) -> None:
    write(path, text.encode("utf-8", "replace"), durable=durable)


def write(path: str, data: bytes, *, durable: bool = False) -> None:
    """Replace `path` by `data`, atomically. `durable` also survives a power cut."""
    directory, name = os.path.split(path)
    inside(directory)
    temporary = os.path.join(directory, ".%s.%d.%x%s" % (name, os.getpid(), time.time_ns(), settings.TEMP_SUFFIX))
    try:
        fd = _create(temporary)
    except OSError as error:
        _name(error, path, temporary)
        raise
    try:
        try:
            write_all(fd, data)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        _replace(temporary, path)
    except OSError as error:
        remove(temporary)
        _name(error, path, temporary)
        raise
    except BaseException:
        remove(temporary)
        raise


def _create(path: str) -> int:
    try:
        return os.open(path, O_CREATE, settings.FILE_MODE)
    except FileNotFoundError:
        ensure_dir(os.path.dirname(path))
        return os.open(path, O_CREATE, settings.FILE_MODE)


def _name(error: OSError, path: str, temporary: str | None = None) -> None:
    """The error of a descriptor, as of a full disk, does not tell which file it is about; nobody knows a temporary."""
    if error.filename in (None, temporary):
        error.filename = path
        del error.filename2


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
    fd = open_to_append(path)
    try:
        end = os.lseek(fd, 0, os.SEEK_END)
        torn = False
        if end:
            # A writer killed (or out of disk) in mid-line must not swallow the next record.
            os.lseek(fd, end - 1, os.SEEK_SET)
            torn = os.read(fd, 1) != b"\n"
        write_all(fd, (b"\n" if torn else b"") + line + b"\n")
    except OSError as error:
        _name(error, path)
        raise
    finally:
        os.close(fd)


def open_to_append(path: str) -> int:
    """A descriptor of a plain file of ours, made if there is none; the caller holds the file's lock."""
    folder = inside(os.path.dirname(path))
    try:
        fd = os.open(path, _O_APPEND, settings.FILE_MODE)
    except FileNotFoundError:
        ensure_dir(folder)
        fd = os.open(path, _O_APPEND, settings.FILE_MODE)
    _checked(fd, path, folder)
    if os.fstat(fd).st_nlink <= 1:
        return fd
    os.close(fd)  # it has a name elsewhere, where nothing may change: from now on it is a copy
    write(path, read(path, settings.ARCHIVE_MAX_BYTES) or b"")
    return os.open(path, _O_APPEND, settings.FILE_MODE)


def move(source: str, target: str) -> None:
    """Rename a file of the store, over another if there is one."""
    inside(os.path.dirname(source))
    inside(os.path.dirname(target))
    os.replace(source, target)


def remove(path: str) -> bool:
    try:
        inside(os.path.dirname(path))
        os.unlink(path)
    except OSError:
        return False
    return True


def erase(path: str) -> None:
    """Remove a file, if there is one; OSError when it is still there."""
    remove(path)
    assert_gone(path)


def assert_gone(path: str) -> None:
    if is_there(path):
        raise OSError(errno.EIO, "could not be removed; run it again", path)


def remove_tree(path: str, last: str = "", kept: str = "") -> None:
    """Delete a directory of ours with all below it, never following a link out of it; of its files `last` goes last,
    and `kept` stays."""
    if os.path.islink(path):
        remove(path)
        return
    try:
        with os.scandir(inside(path)) as entries:
            children = sorted((each for each in entries if each.name != kept), key=lambda child: child.name == last)
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
        return sorted(os.listdir(inside(path)))
    except OSError:
        return []


def listed(path: str) -> list[str]:
    """Sorted names in a directory; none when there is no such directory, and OSError when nobody can tell."""
    try:
        return sorted(os.listdir(inside(path)))
    except (FileNotFoundError, NotADirectoryError, Foreign):
        return []


def folders(path: str) -> list[str]:
    """Paths of the directories in a directory, sorted; none when it is closed to us, OSError when nobody can tell."""
    try:
        with os.scandir(inside(path)) as entries:
            return sorted([entry.path for entry in entries if entry.is_dir(follow_symlinks=False)])
    except OSError as error:
        if is_passing(error):
            raise
        return []


def is_there(path: str) -> bool:
    """Whether there is something of that name; OSError when nobody can tell."""
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        if is_passing(error):
            raise
        return False
    return True


def is_directory(path: str) -> bool:
    """Whether there is such a directory; OSError when nobody can tell."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        if is_passing(error):
            raise
        return False


def modified(path: str) -> float:
    """When a file was last written; 0 when there is none."""
    try:
        return os.lstat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def made(path: str) -> float:
    """As `modified`, of what is made from other files: 0 too when a clock that was set back since has dated it, for
    then nobody can tell what is newer."""
    written = modified(path)
    return written if written <= time.time() + settings.DAY_SECONDS else 0.0


def is_changed_since(directory: str, instant: float) -> bool:
    """Whether a directory, or a file in it, was written after an instant; False when there is none."""
    if modified(directory) > instant:
        return os.path.isdir(directory)
    try:
        with os.scandir(inside(directory)) as entries:
            return any(entry.stat(follow_symlinks=False).st_mtime > instant for entry in entries)
    except OSError:
        return False


def remove_temporaries(directory: str, before: float, of: str = "") -> None:
    """Remove what killed writers left, if last written `before` that time; `of` one file, where others write too."""
    for name in names(directory):
        if name.startswith(".") and name.endswith(settings.TEMP_SUFFIX) and name.lstrip(".").startswith(of):
            path = os.path.join(directory, name)
            written = modified(path)
            # One of tomorrow was written under a clock that was set back since.
            if written and not before <= written <= time.time() + settings.DAY_SECONDS:
                remove(path)


def touch(path: str) -> None:
    """Set the time of an empty file to now; it is made where there is none."""
    folder = inside(os.path.dirname(path))
    try:
        info = os.lstat(path)
        if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
            os.utime(path)
            return
        remove(path)  # a link, or a second name of a file elsewhere
    except FileNotFoundError:
        pass
    try:
        fd = os.open(path, O_CREATE, settings.FILE_MODE)
    except FileNotFoundError:
        ensure_dir(folder)
        fd = os.open(path, O_CREATE, settings.FILE_MODE)
    except FileExistsError:
        return  # another process was quicker
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
