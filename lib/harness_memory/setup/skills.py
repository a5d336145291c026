"""Our skills as the user's own: copies beside the settings file, with our command spelt as in the permission rule.

    <folder of the settings file>/skills/<name>/SKILL.md

A copy that the user has changed is neither overwritten nor removed. The registry holds the hash of each copy.
"""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..base.sha256 import hexdigest
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .settingsfile import Target

SKILLS_DIR = "skills"
SKILL_FILE = "SKILL.md"
PLUGIN_COMMAND = 'python3 "${CLAUDE_SKILL_DIR}/../../harness" memory'  # in the tree itself, for use as a plugin


def folder(settings_path: str) -> str:
    return os.path.join(os.path.dirname(settings_path), SKILLS_DIR)


def copies(target: Target, command: str) -> dict[str, bytes]:
    """Path and content of each copy; `command` starts our command line."""
    source = os.path.join(target.root, SKILLS_DIR)
    texts = {name: files.read_text(os.path.join(source, name, SKILL_FILE)) for name in files.names(source)}
    return {
        os.path.join(folder(target.settings), name, SKILL_FILE): text.replace(PLUGIN_COMMAND, command).encode("utf-8")
        for name, text in texts.items()
        if text is not None
    }


def install(target: Target, command: str) -> list[str]:
    """Write our copies; the paths of those that the user has changed."""
    record = registry.find(target.store, target.settings)
    earlier, current, edited = record.get("skills") or {}, {}, []
    wanted = copies(target, command)
    for path, data in wanted.items():
        content = _content(path)
        if content is not None and hexdigest(content) not in (hexdigest(data), earlier.get(path)):
            edited.append(path)
            continue
        if content != data:
            files.write(path, data)
        current[path] = hexdigest(data)
    uninstall({path: digest for path, digest in earlier.items() if path not in wanted})
    if record:
        registry.put(target.store, {**record, "skills": current})
    return edited


def uninstall(recorded: dict[str, str]) -> list[str]:
    """Remove the copies; the paths of those that the user has changed, which stay."""
    edited = []
    for path, digest in recorded.items():
        content = _content(path)
        if content is not None and hexdigest(content) != digest:
            edited.append(path)
        elif content is not None:
            files.remove(path)
            try:
                os.rmdir(os.path.dirname(path))
            except OSError:
                pass  # not empty
    return edited


def _content(path: str) -> bytes | None:
    """The content of a copy; b"" for anything but a plain file, which is the user's own."""
    parent = os.path.dirname(path)
    files.remove_temporaries(parent, time.time() - settings.STRAY_FILE_SECONDS, of=SKILL_FILE)
    if os.path.islink(parent) or os.path.islink(os.path.dirname(parent)):
        return b""
    try:
        return files.read(path)
    except OSError:
        return b""
