"""Deleting the memory: our part of its folder, and nothing else that lies there."""

from __future__ import annotations

import os
import re

from ..base import files, settings
from ..cli.output import Refusal, count
from . import registry

_PROJECT = re.compile(r"[a-z0-9-]+-[0-9a-f]{%d}" % settings.ID_HASH_CHARS)
_LOCKS = tuple(name + settings.LOCK_SUFFIX for name in (settings.CONFIG_FILE, settings.INSTALLS_FILE))
_FILES = (settings.CONFIG_FILE, settings.GUARD_FILE, settings.TRIGGERS_MARK, *_LOCKS)
_FOLDERS = (settings.HEALTH_DIR, settings.USER_DIR, settings.GUARD_DIR, settings.ARCHIVE_DIR)


def survey(root: str) -> tuple[list[str], str]:
    """The paths of our part of the folder `root`, without the record of installs, and what they are."""
    plain = [name for name in files.names(root) if not os.path.islink(os.path.join(root, name))]
    projects = [name for name in plain if _PROJECT.fullmatch(name)]
    projects = [name for name in projects if os.path.isfile(os.path.join(root, name, settings.PROJECT_FILE))]
    runs = os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    if not projects and not registry.load(root) and not os.path.isdir(runs):
        return [], ""  # a `config.json` or `user` in this folder is not ours
    others = []
    for name in plain:
        is_temporary = name.startswith(".") and name.endswith(settings.TEMP_SUFFIX)
        is_folder = os.path.isdir(os.path.join(root, name))
        if name in _FOLDERS if is_folder else is_temporary or name in _FILES:
            others.append(name)
    summary = ", ".join([count(len(projects), "project"), *(name for name in others if name[0] != ".")])
    return [os.path.join(root, name) for name in projects + others], summary


def check(paths: list[str], precious: list[str]) -> None:
    """A mistyped HARNESS_MEMORY_HOME must not cost more than a memory: /home may hold a folder `user`."""
    for path in map(os.path.realpath, paths):
        for folder in precious:
            if (os.path.realpath(folder) + os.sep).startswith(path + os.sep):
                raise Refusal("%s: contains %s and will not be deleted." % (path, folder))


def delete(paths: list[str]) -> None:
    for path in paths:
        if os.path.isdir(path):
            files.remove_tree(path, last=settings.PROJECT_FILE)  # by which a second attempt knows that it is ours
        else:
            files.remove(path)
