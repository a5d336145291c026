"""The name of this machine in a store that is synced: `sync/machine.json`, {"schema", "id", "host", "root"}.

A copy of the store on another host, or at another path, is another machine: two machines never write one file.
"""

from __future__ import annotations

import os

from . import files, settings

_FILE = os.path.join(settings.SYNC_DIR, "machine.json")


def own_id(root: str) -> str:
    """ "" where the store is not synced."""
    value = files.load_json(os.path.join(root, _FILE), {"id": "text", "host": "text", "root": "text"})
    is_ours = value is not None and (value["host"], value["root"]) == _place(root)
    return str(value["id"]) if is_ours and value["id"].isalnum() else ""


def name(root: str) -> str:
    """The id; made when there is none yet."""
    if not own_id(root):
        host, place = _place(root)
        value = {"schema": settings.SCHEMA, "id": "m" + os.urandom(4).hex(), "host": host, "root": place}
        files.write_json(os.path.join(root, _FILE), value, durable=True)
    return own_id(root)


def _place(root: str) -> tuple[str, str]:
    return os.environ.get("COMPUTERNAME", "") if os.name == "nt" else os.uname().nodename, os.path.realpath(root)
