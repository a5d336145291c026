"""`installs.json` in the store root: the installs, for `doctor` and for removal.

    {"schema": 1, "installs": [{settings, scope, root, interpreter, version, when, rules, guard, skills}]}

`rules`: permission rules added. `guard`: false where the user left it out. `skills`: path and hash of each copy.
"""

from __future__ import annotations

import os

from ..base import files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INSTALL = {"settings": "text", "scope?": "text", "rules?": ["text"], "skills?": {"*": "text"}}


def load(store_root: str) -> list[dict[str, Any]]:
    """The recorded installs. A damaged record counts as empty: the settings files are the truth."""
    record = files.load_json(_path(store_root), {"installs": [_INSTALL]})
    return list(record["installs"]) if record else []


def find(store_root: str, settings_path: str) -> dict[str, Any]:
    return next((item for item in load(store_root) if item["settings"] == settings_path), {})


def put(store_root: str, install: dict[str, Any]) -> None:
    others = [item for item in load(store_root) if item["settings"] != install["settings"]]
    _save(store_root, [*others, install])


def drop(store_root: str, settings_path: str) -> None:
    """Remove an install, and those whose settings file is gone."""
    others = [item for item in load(store_root) if item["settings"] != settings_path]
    _save(store_root, [item for item in others if os.path.exists(item["settings"])])


def _save(store_root: str, installs: list[dict[str, Any]]) -> None:
    if installs:
        files.write_json(_path(store_root), {"schema": settings.SCHEMA, "installs": installs})
    else:
        files.remove(_path(store_root))


def _path(store_root: str) -> str:
    return os.path.join(store_root, settings.INSTALLS_FILE)
