"""Which Python the hooks are run with: a real one, by a path that lives long."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 8)
_PROBE = "import sys; print(sys.version_info >= %r and sys.prefix == sys.base_prefix)" % (OLDEST,)


def find() -> str | None:
    """The path of the base interpreter that we run on, proved by running it; None if there is none.

    Links are not followed: `/usr/bin/python3` and `/opt/homebrew/bin/python3` outlive an upgrade,
    what they point to does not. A shim needs no thought: a running Python knows where it really is.
    """
    return next((path for path in _candidates() if _is_good(path)), None)


def _candidates() -> Iterator[str]:
    if sys.prefix == sys.base_prefix:
        yield sys.executable
    # In a virtual environment: up to 3.10 `_base_executable` is the environment's own on POSIX.
    yield getattr(sys, "_base_executable", None) or ""
    version = "python%d.%d" % sys.version_info[:2]
    for folder in (os.path.join(sys.base_prefix, "bin"), sys.base_prefix):
        for name in (version, "python3", "python", "python.exe"):
            yield os.path.join(folder, name)
    for name in (version, "python3", "python"):
        yield shutil.which(name) or ""


def _is_good(path: str) -> bool:
    if not os.path.isabs(path) or not os.access(path, os.X_OK):
        return False
    try:
        # Not with -S: it is `site` that tells a virtual environment from its base.
        result = subprocess.run([path, "-I", "-c", _PROBE], capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return False
    return result.stdout.strip() == b"True"
