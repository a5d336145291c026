"""What the store holds of us: the record of installs, for `doctor` and for removal, and all that `--purge` deletes.

`installs.json` in the store root:

    {"schema": 1, "installs": [{settings, scope, root, interpreter, version, when, rules, guard, skills, folders}]}

`rules`: permission rules added. `guard`: false where the user left it out. `skills`: path and hash of each copy.
`folders`: those that the install made.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..base import files, settings
from ..cli.output import count

_OPTIONAL = {"scope?": "text", "rules?": ["text"], "skills?": {"*": "text"}, "folders?": ["text"]}
_SPEC = {"installs": [{"settings": "text", **_OPTIONAL}]}
_PROJECT = re.compile(r"[a-z0-9-]+-[0-9a-f]{%d}" % settings.ID_HASH_CHARS)
_LOCKS = (settings.CONFIG_FILE + settings.LOCK_SUFFIX, settings.INSTALLS_FILE + settings.LOCK_SUFFIX)  # of old versions
_FILES = (settings.CONFIG_FILE, settings.GUARD_FILE, settings.TRIGGERS_MARK, *_LOCKS)
_FOLDERS = (settings.HEALTH_DIR, settings.USER_DIR, settings.GUARD_DIR, settings.ARCHIVE_DIR)


def load(store_root: str) -> list[dict[str, Any]]:
    """The recorded installs. A damaged record counts as empty: the settings files are the truth."""
    record = files.load_json(os.path.join(store_root, settings.INSTALLS_FILE), _SPEC)
    return list(record["installs"]) if record else []


def put(store_root: str, settings_path: str, install: dict[str, Any] | None) -> None:
    """Record an install, or remove it (None); those whose settings file is gone go too."""
    others = [item for item in load(store_root) if item["settings"] != settings_path]
    installs = [*(item for item in others if os.path.exists(item["settings"])), *([install] if install else [])]
    path = os.path.join(store_root, settings.INSTALLS_FILE)
    if installs:
        files.write_json(path, {"schema": settings.SCHEMA, "installs": installs})
    else:
        files.remove(path)


def memory(store_root: str) -> tuple[list[str], str]:
    """The paths of the memory in this folder, which may hold other things too, and what they are."""
    projects, others = [], []
    for name in files.names(store_root):
        path = os.path.join(store_root, name)
        is_temporary = name.startswith(".") and name.endswith(settings.TEMP_SUFFIX)
        if os.path.islink(path):
            continue
        if _PROJECT.fullmatch(name) and os.path.isfile(os.path.join(path, settings.PROJECT_FILE)):
            projects.append(path)
        elif name in _FOLDERS if os.path.isdir(path) else is_temporary or name in _FILES:
            others.append(path)
    runs = os.path.join(store_root, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    if not projects and not load(store_root) and not os.path.isdir(runs):
        return [], ""  # a `config.json` or `user` in this folder is not ours
    shown = [name for name in map(os.path.basename, others) if name[0] != "."]
    return projects + others, ", ".join([count(len(projects), "project"), *shown])
