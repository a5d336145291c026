"""The name of this machine in a store that is synced: `sync/machine.json`, which no sync carries.

    {"schema", "id": 8 hex, "host", "root"}

A copy of the store on another host, or at another path, is another machine: two machines never write one file.
"""

from __future__ import annotations

import os

from . import files, settings


def own_id(root: str) -> str:
    """ "" where the store is not synced."""
    value = files.load_json(_path(root), {"id": "text", "host": "text", "root": "text"})
    is_ours = value is not None and (value["host"], value["root"]) == (host(), os.path.realpath(root))
    return str(value["id"]) if is_ours and value["id"].isalnum() else ""


def name(root: str) -> str:
    """The id; made when there is none yet."""
    if not own_id(root):
        value = {"schema": settings.SCHEMA, "id": "m" + os.urandom(4).hex()}
        files.write_json(_path(root), {**value, "host": host(), "root": os.path.realpath(root)}, durable=True)
    return own_id(root)


def _path(root: str) -> str:
    return os.path.join(root, settings.SYNC_DIR, settings.MACHINE_FILE)


def host() -> str:
    return os.environ.get("COMPUTERNAME", "") if os.name == "nt" else os.uname().nodename
