"""Which Python runs the hooks: outside any virtual environment, by a path that survives upgrades."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_PROBE = "import sys; print(sys.version_info >= (3, 8) and sys.prefix == sys.base_prefix)"


def find() -> str:
    """The path of the base interpreter that runs us, proved by running it; "" without one.

    Links are not followed: `/usr/bin/python3` and `/opt/homebrew/bin/python3` outlive an upgrade, their targets do not.
    """
    version = "python%d.%d" % sys.version_info[:2]
    folders = (os.path.join(sys.base_prefix, "bin"), sys.base_prefix)
    candidates = [sys.executable] if sys.prefix == sys.base_prefix else []
    candidates.append(getattr(sys, "_base_executable", None) or "")  # in an environment, from 3.11 on
    candidates += [os.path.join(folder, name) for folder in folders for name in (version, "python3", "python.exe")]
    candidates += [shutil.which(name) or "" for name in (version, "python3", "python")]
    return next((path for path in candidates if _is_usable(path)), "")


def _is_usable(path: str) -> bool:
    if not os.path.isabs(path) or not os.access(path, os.X_OK):
        return False
    try:
        # Without -S: `site` is what sets the prefix of a virtual environment.
        result = subprocess.run([path, "-I", "-c", _PROBE], capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return False
    return result.stdout.strip() == b"True"
