"""Deleting the memory: what is ours in its folder goes, whatever else somebody keeps there stays."""

from __future__ import annotations

import os

from ..base import files, settings
from ..project import identity
from . import registry

_LOCKS = tuple(name + settings.LOCK_SUFFIX for name in (settings.CONFIG_FILE, settings.INSTALLS_FILE))
_FILES = (settings.CONFIG_FILE, settings.GUARD_FILE, settings.TRIGGERS_MARK, *_LOCKS)
_FOLDERS = (settings.HEALTH_DIR, settings.USER_DIR, settings.GUARD_DIR, settings.ARCHIVE_DIR)
_SIGNS = (settings.FAILURES_DIR, settings.LAST_RUN_DIR)  # in the health folder: hooks have run with this memory
_ALIAS = b'"alias_of"'
_HEAD_BYTES = 512


class Memory:
    """What of the folder `root` is ours. The list of installs is not in it: the registry looks after that."""

    __slots__ = ("paths", "root", "summary")

    def __init__(self, root: str, names: list[str], summary: str) -> None:
        self.root = root
        self.paths = [os.path.join(root, name) for name in names]
        self.summary = summary

    def delete(self) -> None:
        for path in self.paths:
            if _is_folder(path):
                files.remove_tree(path, last=settings.PROJECT_FILE)  # by which what is left is known to be ours
            else:
                files.remove(path)
        registry.drop_dead(self.root)


def survey(root: str) -> Memory:
    """Without a sign that this folder was ever a memory, a `config.json` or `user` in it is somebody else's."""
    names = files.names(root)
    projects = [name for name in names if identity.is_project_id(name) and _is_project(os.path.join(root, name))]
    health = os.path.join(root, settings.HEALTH_DIR)
    if not projects and not registry.load(root) and not any(_is_folder(os.path.join(health, sign)) for sign in _SIGNS):
        return Memory(root, [], "")
    rest = [name for name in names if _is_ours(name, os.path.join(root, name))]
    number = sum(not _is_alias(os.path.join(root, name)) for name in projects)
    summary = ["%d project%s" % (number, "" if number == 1 else "s"), *(name for name in rest if name[0] != ".")]
    return Memory(root, projects + rest, ", ".join(summary))


def _is_ours(name: str, path: str) -> bool:
    if name in _FOLDERS:
        return _is_folder(path)
    is_temporary = name.startswith(".") and name.endswith(settings.TEMP_SUFFIX)
    return (name in _FILES or is_temporary) and _is_file(path)


def _is_project(path: str) -> bool:
    return _is_folder(path) and _is_file(os.path.join(path, settings.PROJECT_FILE))


def _is_alias(path: str) -> bool:
    return _ALIAS in files.read_head(os.path.join(path, settings.PROJECT_FILE), _HEAD_BYTES)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)
