"""A settings file of the client on disk: read as it is, replaced as a whole, its links, mode and owner kept."""

from __future__ import annotations

import os
import stat
import time
from typing import Mapping, NamedTuple

from ..base import files, settings
from . import jsonedit

SCOPES = ("user", "project", "local")


class Refused(Exception):
    """Nothing was changed; the message names the path, the reason and what to do."""


class Target(NamedTuple):
    """Where an install goes: from which tree, into which settings file, with which memory."""

    root: str
    scope: str
    settings: str
    store: str

    @property
    def backup(self) -> str:
        return self.settings + ".harness-memory.bak"


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


def replace(path: str, before: bytes | None, after: bytes | None, like: str = "") -> None:
    """Replace `before` by `after` (None: no file), with the mode and owner of `before`, or of `like`."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, ".%s.%d%s" % (name, os.getpid(), settings.TEMP_SUFFIX))
    files.remove_temporaries(folder, time.time() - settings.STRAY_FILE_SECONDS, of=name)
    try:
        status = os.stat(like or target) if os.path.exists(like or target) else None
        # Replacing a file needs no right to write it, but a read-only file is meant to stay.
        if status is not None and not (status.st_mode & 0o222 and os.access(like or target, os.W_OK)):
            raise Refused("%s: read-only. Make it writable and try again." % path)
        if after is not None:
            files.write(temporary, after, durable=True)
        if after is not None and status is not None:
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if read(path) != before:  # the client writes its settings at any time
            raise Refused("%s: another program has changed it. Run it again." % path)
        if after is None:
            os.unlink(target)
        else:
            os.replace(temporary, target)
    except OSError as error:
        raise Refused("%s: cannot be written (%s)." % (path, error.strerror)) from None
    finally:
        files.remove(temporary)
