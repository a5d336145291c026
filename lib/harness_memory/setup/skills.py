"""Our skills as the user's own: copies beside the settings file, our command line spelt as in the permission rule.

    <folder of the settings file>/skills/<name>/SKILL.md

A copy that somebody has changed since is theirs: it is neither overwritten nor removed. Which ones are as we left
them is told by the hash of each in the registry of installs: {"skills": {path: sha256}}.
"""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..base.sha256 import hexdigest
from . import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .installation import Place

SKILLS_DIR = "skills"
SKILL_FILE = "SKILL.md"
PLUGIN_COMMAND = 'python3 "${CLAUDE_SKILL_DIR}/../../harness" memory'  # in the tree itself, for use as a plugin


def folder(settings_path: str) -> str:
    return os.path.join(os.path.dirname(settings_path), SKILLS_DIR)


def wanted(place: Place, words: str) -> dict[str, bytes]:
    """Path and content of each copy; `words` start our command line."""
    top = os.path.join(place.root, SKILLS_DIR)
    found = {}
    for name in files.names(top):
        text = files.read_text(os.path.join(top, name, SKILL_FILE))
        if text is not None:
            copy = os.path.join(folder(place.settings), name, SKILL_FILE)
            found[copy] = text.replace(PLUGIN_COMMAND, words).encode("utf-8")
    return found


def missing(place: Place, words: str) -> list[str]:
    """The copies that are not there yet."""
    return [path for path in wanted(place, words) if not os.path.lexists(path)]


def install(place: Place, words: str) -> list[str]:
    """Write the copies that are ours to write; the paths of those that are somebody's own."""
    record = registry.find(place.store, place.settings)
    known = _known(record)
    ours, kept = {}, []
    for path, data in wanted(place, words).items():
        _tidy(path)
        there = _content(path)
        if there is None or hexdigest(there) in (hexdigest(data), known.get(path)):
            if there != data:
                files.write(path, data)
            ours[path] = hexdigest(data)
        else:
            kept.append(path)
    for path in known:
        if path not in ours and path not in kept:
            _remove(path, known[path])  # a skill that is no longer part of us
    if record and record.get("skills") != ours:
        registry.put(place.store, {**record, "skills": ours})
    return kept


def uninstall(store_root: str, settings_path: str) -> list[str]:
    """Remove the copies that are as we left them; the paths of the others."""
    known = _known(registry.find(store_root, settings_path))
    return [path for path, digest in known.items() if not _remove(path, digest)]


def _known(record: dict[str, object]) -> dict[str, str]:
    known = record.get("skills")
    return {str(path): str(digest) for path, digest in known.items()} if isinstance(known, dict) else {}


def _content(path: str) -> bytes | None:
    """What is there; b"" for what is no plain file, or lies behind a link: somebody's own arrangement."""
    if os.path.islink(os.path.dirname(path)) or os.path.islink(os.path.dirname(os.path.dirname(path))):
        return b""
    try:
        return files.read(path)
    except OSError:
        return b""


def _tidy(path: str) -> None:
    """Remove what a killed installer left beside a copy."""
    files.remove_temporaries(os.path.dirname(path), time.time() - settings.STRAY_FILE_SECONDS, of=SKILL_FILE)


def _remove(path: str, digest: str) -> bool:
    _tidy(path)
    there = _content(path)
    if there is None:
        return True
    if hexdigest(there) != digest:
        return False
    files.remove(path)
    try:
        os.rmdir(os.path.dirname(path))
    except OSError:
        pass
    return True
