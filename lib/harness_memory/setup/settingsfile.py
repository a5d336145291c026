"""A settings file of the client on disk: read as it is, replaced as a whole, its links, mode and owner kept."""

from __future__ import annotations

import os
import stat
import time

from ..base import files, settings
from . import jsonedit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SCOPES = ("user", "project", "local")


class Refused(Exception):
    """Nothing was changed; the message names the path, the reason and what to do."""


def locate(scope: str, env: Mapping[str, str], home: str, cwd: str) -> str:
    if scope == "user":
        config = env.get(settings.ENV_CONFIG_DIR) or os.path.join(home, settings.CLAUDE_DIR)
        return os.path.join(os.path.abspath(config), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(cwd, settings.CLAUDE_DIR, name)


def read(path: str) -> bytes | None:
    """The bytes of the file; None without one."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refused("%s: not a plain file." % path)  # reading a pipe would block
        with open(path, "rb") as file:
            data = file.read(settings.FILE_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused("%s: cannot be read (%s)." % (path, error.strerror)) from None
    if len(data) > settings.FILE_MAX_BYTES:
        raise Refused("%s: larger than %d MB." % (path, settings.FILE_MAX_BYTES >> 20))
    return data


def document(data: bytes | None) -> str:
    """The text to edit. An empty file counts as an empty object, as it does for the client."""
    text = (data or b"").decode("utf-8", "surrogateescape")  # other bytes pass through unchanged
    return text if text.strip(" \t\r\n" + jsonedit.BOM) else text.rstrip(" \t\r\n") + "{}\n"


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def replace(path: str, before: bytes | None, after: bytes | None, like: str = "") -> None:
    """Put `after` in the place of `before`, whose mode and owner it takes, or those of `like`; None is no file."""
    target = os.path.realpath(path)
    model = like or target
    try:
        status = os.stat(model) if os.path.exists(model) else None
        # Replacing a file needs no right to write it, but a read-only file is meant to stay.
        if status is not None and not (status.st_mode & 0o222 and os.access(model, os.W_OK)):
            raise Refused("%s: read-only. Make it writable and try again." % model)
        if after is None:
            _check_unchanged(path, before)
            os.unlink(target)
        else:
            _write(path, target, before, after, status)
    except OSError as error:
        raise Refused("%s: cannot be written (%s)." % (path, error.strerror)) from None


def _write(path: str, target: str, before: bytes | None, after: bytes, status: os.stat_result | None) -> None:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, ".%s.%d%s" % (name, os.getpid(), settings.TEMP_SUFFIX))
    files.remove_temporaries(folder, time.time() - settings.STRAY_FILE_SECONDS, of=name)
    try:
        files.write(temporary, after, durable=True)
        if status is not None:
            if hasattr(os, "chown") and os.geteuid() == 0:
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        _check_unchanged(path, before)
        os.replace(temporary, target)
    finally:
        files.remove(temporary)


def _check_unchanged(path: str, before: bytes | None) -> None:
    """The client writes its settings at any time; what it has written since stays."""
    if read(path) != before:
        raise Refused("%s: another program has changed it. Run it again." % path)
