"""A settings file of the client on disk: read as it is, replaced as a whole, its links, mode and owner kept."""

from __future__ import annotations

import os
import stat
import time

from ..base import files, settings
from . import jsontree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BACKUP_SUFFIX = ".harness-memory.bak"
SCOPES = ("user", "project", "local")


class Refused(Exception):
    """Nothing was changed; the message says what is wrong, where, and what to do."""


def locate(scope: str, env: Mapping[str, str], home: str, cwd: str) -> str:
    if scope == "user":
        config = env.get(settings.ENV_CONFIG_DIR) or os.path.join(home, settings.CLAUDE_DIR)
        return os.path.join(os.path.abspath(config), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(cwd, settings.CLAUDE_DIR, name)


def read(path: str) -> bytes | None:
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refused("%s is not a plain file." % path)  # a pipe would keep us waiting
        with open(path, "rb") as file:
            data = file.read(settings.FILE_MAX_BYTES + 1)
        if len(data) > settings.FILE_MAX_BYTES:
            raise Refused("%s is larger than %d MB." % (path, settings.FILE_MAX_BYTES >> 20))
        return data
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused("%s cannot be read (%s)." % (path, error.strerror)) from None


def decode(data: bytes) -> str:
    # Bytes that are not UTF-8 pass through as they are.
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def as_document(data: bytes | None) -> str:
    """The text to edit: an empty file counts as an empty object, as it does for the client."""
    text = decode(data or b"")
    return text if text.strip(" \t\r\n" + jsontree.BOM) else text.rstrip(" \t\r\n") + "{}\n"


def check_document(path: str, text: str) -> None:
    try:
        jsontree.parse(text)
    except jsontree.Invalid as error:
        where = "%s:%d:%d" % (path, error.line, error.column)
        raise Refused("%s: not valid JSON: %s. Correct it there and try again." % (where, error.message)) from None


def check_writable(path: str) -> None:
    """Replacing a file needs no right to write into it: ask for it all the same, a read-only file is meant so."""
    target = os.path.realpath(path)
    if os.path.exists(target):
        if not os.path.isfile(target):
            raise Refused("%s is not a plain file." % path)
        if not os.stat(target).st_mode & 0o222 or not os.access(target, os.W_OK):
            raise Refused("%s is read-only%s. Make it writable and try again." % (path, _pointing_to(path)))
    folder = os.path.dirname(target)
    while not os.path.lexists(folder) and os.path.dirname(folder) != folder:  # there may be a fault at the root itself
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise Refused("%s is not a folder." % folder)
    if not os.stat(folder).st_mode & 0o222 or not os.access(folder, os.W_OK | os.X_OK):
        raise Refused("the folder %s is read-only. Make it writable and try again." % folder)


def check_unchanged(path: str, before: bytes | None) -> None:
    """The client writes its settings whenever somebody chooses something: what it has written since stays."""
    if read(path) != before:
        raise Refused("%s has been changed meanwhile by another program. Run it again." % path)


def replace(path: str, before: bytes | None, after: bytes | None) -> None:
    """Put `after` in the place of `before`; None is no file."""
    if after is not None:
        write(path, after, check=lambda: check_unchanged(path, before))
        return
    check_unchanged(path, before)
    os.unlink(os.path.realpath(path))


def write(path: str, data: bytes, like: str | None = None, check: Callable[[], None] | None = None) -> None:
    """Replace what `path` finally points to; mode and owner as before, or as those of `like`.

    `check` has the last word, when all but the replacing itself is done.
    """
    target = os.path.realpath(path)
    model = like or target
    status = os.stat(model) if os.path.exists(model) else None
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, ".%s.%d%s" % (name, os.getpid(), settings.TEMP_SUFFIX))
    files.remove_temporaries(folder, time.time() - settings.STRAY_FILE_SECONDS, of=name)
    try:
        files.ensure_dir(folder)
        files.write(temporary, data, durable=True)
        if status is not None:
            _dress(temporary, status)
        if check is not None:
            check()
        os.replace(temporary, target)
    except OSError as error:
        raise Refused("%s cannot be written (%s)." % (path, error.strerror)) from None
    finally:
        files.remove(temporary)


def backup_path(path: str) -> str:
    return path + BACKUP_SUFFIX


def _dress(path: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        try:
            os.chown(path, status.st_uid, status.st_gid)
        except OSError:
            pass
    os.chmod(path, stat.S_IMODE(status.st_mode))


def _pointing_to(path: str) -> str:
    return " (it is a link to %s)" % os.path.realpath(path) if os.path.islink(path) else ""
