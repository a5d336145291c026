"""Installing into one settings file and removing it: what changes, and changing it.

An install is our entries in the settings file, a copy of each skill beside it (`skills/<name>/SKILL.md`, with our
command spelt as in the permission rule) and a record (see `registry`). A copy that the user has changed is neither
overwritten nor removed.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from .. import __version__
from ..base import clock, files, invocation, settings
from ..base.sha256 import hexdigest
from ..cli.output import Refusal
from . import registry, settingsfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries

SKILLS_DIR, SKILL_FILE = "skills", "SKILL.md"
PLUGIN_COMMAND = 'python3 "${CLAUDE_SKILL_DIR}/../../harness" memory'  # in the tree itself, for use as a plugin


class Target(NamedTuple):
    """Where an install goes: from which tree, into which settings file, with which memory."""

    root: str
    scope: str
    settings: str
    store: str

    @property
    def backup(self) -> str:
        return self.settings + ".harness-memory.bak"

    @property
    def folders(self) -> list[str]:
        """The folders that an install may make, the inner one first."""
        return [os.path.join(os.path.dirname(self.settings), SKILLS_DIR), os.path.dirname(self.settings)]


class Change(NamedTuple):
    """The bytes of a settings file before and after; None without a file."""

    before: bytes | None
    after: bytes | None
    is_first: bool = False  # none of our hooks was in it

    @property
    def is_empty(self) -> bool:
        return self.before == self.after


def plan_install(target: Target, wanted: Entries) -> Change:
    before, text = settingsfile.load(target.settings)
    rules = tuple(registry.find(target.store, target.settings).get("rules") or ())
    is_first = not settingsfile.hooks(text, target.root)
    after = settingsfile.merge(text, wanted, target.root, rules, text if is_first else _original(target))
    return Change(before, before if before and after == text else after.encode("utf-8", "surrogateescape"), is_first)


def install(target: Target, wanted: Entries, interpreter: str, change: Change) -> list[str]:
    """Make the change, write the skills and the record; the paths of skills that the user has changed."""
    record = registry.find(target.store, target.settings)
    folders = [path for path in target.folders if path in record.get("folders", ()) or not os.path.exists(path)]
    files.ensure_private(target.store)
    if change.before is None:
        files.remove(target.backup)
    if not change.is_empty:
        # A file that holds our hooks is not the original: then the first backup stays.
        backup = target.backup if change.is_first else ""
        settingsfile.replace(target.settings, change.before, change.after, backup)
    copies, recorded = skills(target, interpreter), record.get("skills") or {}
    ours = {}
    for path, data in copies.items():
        if not _is_edited(path, hexdigest(data), recorded.get(path)):
            ours[path] = hexdigest(data)
            files.write_if_changed(path, data)
    _remove_skills({path: digest for path, digest in recorded.items() if path not in copies})
    made = {
        "settings": target.settings,
        "scope": target.scope,
        "root": target.root,
        "interpreter": interpreter,
        "version": __version__,
        "when": clock.iso(time.time()),
        "rules": wanted.rules,
        "guard": wanted.has_guard,
        "skills": ours,
        "folders": folders,
    }
    registry.put(target.store, target.settings, made)
    return [path for path in copies if path not in ours]


def plan_uninstall(target: Target, wanted: Entries) -> Change:
    before, text = settingsfile.load(target.settings)
    rules = (*wanted.rules, *(registry.find(target.store, target.settings).get("rules") or ()))
    original = _original(target)
    left = settingsfile.strip(text, target.root, rules, original)
    after = left.encode("utf-8", "surrogateescape")
    if before is None or left == text:
        return Change(before, before)
    if original is None:  # a file that existed before has a backup
        return Change(before, None if after.split() == [b"{}"] else after)
    # Without edits by others the same is left of the original after an install and its removal.
    installed = settingsfile.merge(original, wanted, target.root, (), original)
    is_edited = left != settingsfile.strip(installed, target.root, rules, original)
    return Change(before, after if is_edited else settingsfile.read(target.backup))


def uninstall(target: Target, removal: Change, memory: list[str]) -> list[str]:
    """Remove the install and the paths `memory`; the paths of skills that the user has changed, which stay."""
    record = registry.find(target.store, target.settings)
    if not removal.is_empty:
        settingsfile.replace(target.settings, removal.before, removal.after)
    files.remove(target.backup)
    edited = _remove_skills(record.get("skills") or {})
    for path in memory:  # before the record of the install, by which a second attempt knows the memory
        files.remove_tree(path, last=settings.PROJECT_FILE)  # by which it knows a project
    registry.put(target.store, target.settings, None)
    if not registry.load(target.store):
        runs = os.path.join(target.store, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
        for name in files.names(runs):  # else they would look like a plugin's
            files.remove(os.path.join(runs, name))
    for path in (target.store, *record.get("folders", ())):
        files.remove_if_empty(path)
    return edited


def skills(target: Target, interpreter: str) -> dict[str, bytes]:
    """Path and content of each copy of a skill."""
    command = invocation.command(target.root, interpreter, windows=os.name == "nt")
    source, copies = os.path.join(target.root, SKILLS_DIR), {}
    for name in files.names(source):
        text = files.read_text(os.path.join(source, name, SKILL_FILE))
        if text:
            copies[os.path.join(target.folders[0], name, SKILL_FILE)] = text.replace(PLUGIN_COMMAND, command).encode()
    return copies


def _remove_skills(recorded: dict[str, str]) -> list[str]:
    edited = [path for path, digest in recorded.items() if _is_edited(path, digest)]
    for path in recorded:
        if path not in edited:
            files.remove(path)
            files.remove_if_empty(os.path.dirname(path))
    return edited


def _is_edited(path: str, *digests: str | None) -> bool:
    """Whether the user has changed a copy; anything but a plain file is the user's own."""
    parent = os.path.dirname(path)
    if os.path.islink(parent) or os.path.islink(os.path.dirname(parent)):
        return True
    try:
        content = files.read(path)
    except OSError:
        return True
    return content is not None and hexdigest(content) not in digests


def _original(target: Target) -> str | None:
    """The text before the install; None without a usable backup."""
    try:
        data, text = settingsfile.load(target.backup)
        return None if data is None else text
    except Refusal:
        return None
