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
from ..base import files, invocation, settings
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

    @property
    def is_empty(self) -> bool:
        return self.before == self.after


def plan_install(target: Target, wanted: Entries) -> Change:
    before, text = settingsfile.load(target.settings)
    settingsfile.check_shape(target.settings, text)
    rules = tuple(registry.find(target.store, target.settings).get("rules") or ())
    original = _original(target) if settingsfile.hooks(text, target.root) else text
    after = settingsfile.merge(text, wanted, target.root, rules, original)
    return Change(before, before if before and after == text else after.encode("utf-8", "surrogateescape"))


def install(target: Target, wanted: Entries, interpreter: str, change: Change) -> list[str]:
    """Make the change, write the skills and the record; the paths of skills that the user has changed."""
    record = registry.find(target.store, target.settings)
    folders = record.get("folders", target.folders if record else [])  # an older record does not name them
    folders = [path for path in target.folders if path in folders or not os.path.exists(path)]
    try:
        files.ensure_private(target.store)
    except OSError as error:
        raise Refusal("the memory folder %s: cannot be made (%s)." % (target.store, error.strerror)) from None
    if not change.is_empty:
        # A file that holds our hooks is not the original: then the first backup stays.
        if change.before is None or not settingsfile.hooks(settingsfile.load(target.settings)[1], target.root):
            files.remove(target.backup)  # it may be a link that a repository brought along
            if change.before is not None:
                real = os.path.realpath(target.settings)
                settingsfile.replace(target.backup, None, change.before, like=real)
        settingsfile.replace(target.settings, change.before, change.after)
    copies, recorded = skills(target, interpreter), record.get("skills") or {}
    edited = [path for path, data in copies.items() if _is_edited(path, hexdigest(data), recorded.get(path))]
    ours = {path: data for path, data in copies.items() if path not in edited}
    for path, data in ours.items():
        files.write_if_changed(path, data)
    _remove_skills({path: digest for path, digest in recorded.items() if path not in copies})
    made = {
        "settings": target.settings,
        "scope": target.scope,
        "root": target.root,
        "interpreter": interpreter,
        "version": __version__,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "rules": wanted.rules,
        "guard": wanted.has_guard,
        "skills": {path: hexdigest(data) for path, data in ours.items()},
        "folders": folders,
    }
    registry.put(target.store, target.settings, made)
    return edited


def plan_uninstall(target: Target, wanted: Entries) -> Change:
    before, text = settingsfile.load(target.settings)
    rules = (*wanted.rules, *(registry.find(target.store, target.settings).get("rules") or ()))
    original = _original(target)
    left = settingsfile.strip(text, target.root, rules, original)
    if before is None or left == text:
        return Change(before, before)
    if original is not None:
        # Without edits by others the same is left of the original after an install and its removal.
        installed = settingsfile.merge(original, wanted, target.root, (), original)
        if left == settingsfile.strip(installed, target.root, rules, original):
            return Change(before, settingsfile.read(target.backup))
    after = left.encode("utf-8", "surrogateescape")
    is_ours = after.split() == [b"{}"] and original is None  # a file that existed before has a backup
    return Change(before, None if is_ours else after)


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
    for path in (target.store, *record.get("folders", target.folders)):
        files.remove_if_empty(path)
    return edited


def skills(target: Target, interpreter: str) -> dict[str, bytes]:
    """Path and content of each copy of a skill."""
    command = invocation.command(target.root, interpreter, windows=os.name == "nt")
    source = os.path.join(target.root, SKILLS_DIR)
    texts = {name: files.read_text(os.path.join(source, name, SKILL_FILE)) for name in files.names(source)}
    return {
        os.path.join(target.folders[0], name, SKILL_FILE): text.replace(PLUGIN_COMMAND, command).encode("utf-8")
        for name, text in texts.items()
        if text
    }


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
    files.remove_temporaries(parent, time.time() - settings.STRAY_FILE_SECONDS, of=SKILL_FILE)
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
        settingsfile.check_shape(target.backup, text)
        return None if data is None else text
    except Refusal:
        return None
