"""`installs.json` in the store root: where we are installed, for `doctor` and for taking it out again.

    {"schema": 1, "installs": [{settings, scope, root, interpreter, version, when, created, folders, rules, guard,
                                skills}]}

`created` tells that the settings file was ours from the start; `folders` were made for it and the memory to lie in;
`rules` are the permission rules added; `guard` is false where a person left it out; `skills` are the copies of skills
with the hash of each (see `skills`).
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load(store_root: str) -> list[dict[str, Any]]:
    """The installs on record; an unreadable registry is an empty one, the settings files are the truth."""
    try:
        record = jsontext.loads(files.read(_path(store_root)) or b"{}")
    except (OSError, ValueError):
        return []
    installs = record.get("installs") if isinstance(record, dict) else None
    return [item for item in installs if isinstance(item, dict)] if isinstance(installs, list) else []


def find(store_root: str, settings_path: str) -> dict[str, Any]:
    return next((item for item in load(store_root) if item.get("settings") == settings_path), {})


def texts(install: dict[str, Any], key: str) -> list[str]:
    value = install.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def put(store_root: str, install: dict[str, Any]) -> None:
    others = [item for item in load(store_root) if item.get("settings") != install["settings"]]
    _save(store_root, [*others, install])


def drop(store_root: str, settings_path: str) -> None:
    _save(store_root, [item for item in load(store_root) if item.get("settings") != settings_path])


def drop_dead(store_root: str) -> None:
    """Forget the installs whose settings file is gone."""
    _save(store_root, [item for item in load(store_root) if os.path.exists(str(item.get("settings")))])


def _save(store_root: str, installs: list[dict[str, Any]]) -> None:
    if not installs:
        files.remove(_path(store_root))
        return
    record = {"schema": settings.SCHEMA, "installs": installs}
    files.write(_path(store_root), jsontext.pretty(record).encode("utf-8", "surrogateescape"))


def _path(store_root: str) -> str:
    return os.path.join(store_root, settings.INSTALLS_FILE)
