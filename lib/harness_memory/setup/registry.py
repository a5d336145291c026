"""`installs.json` in the store root: the installs, for `doctor` and for removal.

    {"schema": 1, "installs": [{settings, scope, root, interpreter, version, when, rules, guard, skills, folders}]}

`rules`: permission rules added. `guard`: false where the user left it out. `skills`: path and hash of each copy.
`folders`: those that the install made.
"""

from __future__ import annotations

import os

from ..base import files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPTIONAL = {"scope?": "text", "rules?": ["text"], "skills?": {"*": "text"}, "folders?": ["text"]}
_SPEC = {"installs": [{"settings": "text", **_OPTIONAL}]}


def load(store_root: str) -> list[dict[str, Any]]:
    """The recorded installs. A damaged record counts as empty: the settings files are the truth."""
    record = files.load_json(os.path.join(store_root, settings.INSTALLS_FILE), _SPEC)
    return list(record["installs"]) if record else []


def find(store_root: str, settings_path: str) -> dict[str, Any]:
    return next((item for item in load(store_root) if item["settings"] == settings_path), {})


def put(store_root: str, settings_path: str, install: dict[str, Any] | None) -> None:
    """Record an install, or remove it (None); those whose settings file is gone go too."""
    others = [item for item in load(store_root) if item["settings"] != settings_path]
    installs = [*(item for item in others if os.path.exists(item["settings"])), *([install] if install else [])]
    path = os.path.join(store_root, settings.INSTALLS_FILE)
    if installs:
        files.write_json(path, {"schema": settings.SCHEMA, "installs": installs})
    else:
        files.remove(path)
