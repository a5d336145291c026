"""A person's permission for one call, given beforehand in a terminal and used up by the first match.

<root>/guard/allowed/<SHA-256 of tool, directory and arguments>   one word; its time is when it was given
"""

from __future__ import annotations

import os
import time

from .. import digest, jsontext, settings, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTENT = b"once\n"  # so that `touch` gives no permission


def give(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    """Allow a call once; the path of the permission."""
    path = _path(root, tool, given, cwd)
    folder = os.path.dirname(path)
    for other in store.names(folder):
        if abs(time.time() - store.modified(os.path.join(folder, other))) > settings.ALLOWANCE_SECONDS:
            store.remove(os.path.join(folder, other))
    store.write(path, _CONTENT)
    return path


def take(root: str, tool: str, given: dict[str, Any], cwd: str, now: float) -> bool:
    """Use up the permission for a call; False when there is none, or it is too old."""
    path = _path(root, tool, given, cwd)
    written = store.modified(path)
    if not written or not store.is_same(path, _CONTENT):
        return False
    # Removal decides: of two calls at once, one goes through.
    return store.remove(path) and abs(now - written) < settings.ALLOWANCE_SECONDS


def _path(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    about = given.get("command") if isinstance(given.get("command"), str) else jsontext.compact(given)
    name = digest.hexdigest("\n".join([tool, os.path.normpath(cwd), str(about).strip()]))
    return os.path.join(root, settings.GUARD_DIR, settings.ALLOWED_DIR, name)
