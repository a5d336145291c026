"""Indexes of archives, made anew from what the archives hold."""

from __future__ import annotations

import os

from ..base import files as store
from ..base import jsontext, settings, yaml
from ..session import episode, sessions
from . import archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def lacking(root: str, project_dir: str) -> list[str]:
    """The archives without an index that tells of them."""
    place = archive.folder(root, project_dir)
    stems = [name[: -len(archive.ENDING)] for name in store.listed(place) if name.endswith(archive.ENDING)]
    return [stem for stem in stems if not is_whole(os.path.join(place, stem + archive.INDEX_ENDING))]


def is_whole(path: str) -> bool:
    """Whether an index tells of something, and every line of it can be read."""
    try:
        data = store.read(path, settings.ARCHIVE_MAX_BYTES) or b""
    except store.Unreadable:
        return False
    lines = data.split(b"\n")
    return len(lines) > 1 and not lines[-1] and all(map(archive.entry_of, lines[:-1]))


def remake(root: str, project_dir: str) -> list[str]:
    """Make the indexes anew that are lacking, and name them; that of a damaged archive stays as it is."""
    if not lacking(root, project_dir):
        return []
    with archive.Alone(root, project_dir):
        return [name for stem in lacking(root, project_dir) for name in _remade(root, project_dir, stem)]


def _remade(root: str, project_dir: str, stem: str) -> list[str]:
    found: dict[str, dict[str, bytes]] = {}
    try:
        for path, data in archive.files(root, project_dir, stem, lambda _: True):
            found.setdefault(_key(path), {})[path] = data
    except store.Unreadable:
        return []
    index = os.path.join(archive.folder(root, project_dir), stem + archive.INDEX_ENDING)
    archive.write_index(index, [_entry(files) for files in found.values()])
    return [os.path.relpath(index, root)]


def _key(path: str) -> str:
    """What the files of one session have in common: `<day>/<id>`."""
    owner = archive.owner_of(path)
    return "/".join(sessions.day_and_id(owner)) if sessions.is_episode_name(owner) else owner


def _entry(files: dict[str, bytes]) -> dict[str, Any]:
    work = name = ""
    meta: dict[str, Any] = {}
    value = None
    for path, data in files.items():
        owner = archive.owner_of(path)
        if sessions.is_episode_name(owner):
            name, value = owner, _episode(data)
        else:
            work = owner
            meta = _record(data) if path == "%s/%s/%s" % (settings.WORK_DIR, work, settings.META_FILE) else meta
    return archive.describe(work, name, meta, value, files)


def _episode(data: bytes) -> dict[str, Any] | None:
    try:
        value = jsontext.loads(data)
    except ValueError:
        return None
    return value if not episode.problem(value) else None


def _record(data: bytes) -> dict[str, Any]:
    try:
        return dict(yaml.load(data.decode("utf-8")))
    except ValueError:
        return {}
