"""A person's permission for one call, given beforehand in a terminal and used up by the first match.

<root>/guard/allowed/<SHA-256 of tool, directory and arguments>   one word; its time is when it was given
"""

from __future__ import annotations

import os
import time

from ..base import files, jsontext, settings, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONTENT = b"once\n"  # so that `touch` gives no permission


def give(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    """Allow a call once; the path of the permission."""
    path = _path(root, tool, given, cwd)
    clear(os.path.dirname(path), settings.ALLOWANCE_SECONDS)
    files.write(path, _CONTENT)
    return path


def take(root: str, tool: str, given: dict[str, Any], cwd: str) -> bool:
    """Use up the permission for a call; False when there is none, or it is too old."""
    path = _path(root, tool, given, cwd)
    clear(os.path.dirname(path), settings.ALLOWANCE_SECONDS)
    # Removal decides: of two calls at once, one goes through.
    return files.is_same(path, _CONTENT) and files.remove(path)


def clear(folder: str, seconds: float) -> None:
    """Remove the marks that are older; so are those of the future."""
    for name in files.names(folder):
        if abs(time.time() - files.modified(os.path.join(folder, name))) > seconds:
            files.remove(os.path.join(folder, name))


def _path(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    about = given.get("command") if isinstance(given.get("command"), str) else jsontext.compact(given)
    name = text.hexdigest("\n".join([tool, os.path.normpath(cwd), str(about).strip()]))
    return os.path.join(root, settings.GUARD_DIR, "allowed", name)
