"""Installing into one settings file and removing it: what changes, and changing it.

An install is our entries in the settings file, a copy of each skill beside it (`skills/<name>/SKILL.md`, with our
command spelt as in the permission rule) and a record (see `registry`). A copy that the user has changed is neither
overwritten nor removed.
"""

from __future__ import annotations

import os
import time

from .. import __version__
from ..base import clock, files, invocation, settings
from ..base.text import hexdigest
from ..cli.output import Refusal
from . import registry, settingsfile
from .entries import Entries

SKILLS_DIR, SKILL_FILE = "skills", "SKILL.md"
PLUGIN_COMMAND = 'python3 "${CLAUDE_SKILL_DIR}/../../harness" memory'  # in the tree itself, for use as a plugin


class Installation:
    """A settings file with or without our entries, as it is now; `before` is None without a file."""

    def __init__(self, root: str, scope: str, path: str, store: str) -> None:
        self.root = root  # our tree
        self.scope = scope
        self.path = path
        self.store = store
        self.backup = path + ".harness-memory.bak"
        # Those that an install may make, the inner one first.
        self.folders = [os.path.join(os.path.dirname(path), SKILLS_DIR), os.path.dirname(path)]
        self.record = next((item for item in registry.load(store) if item["settings"] == path), {})
        self.before, self.text = settingsfile.load(path)
        self.is_ours = bool(settingsfile.hooks(self.text, root))
        try:
            backup, text = settingsfile.load(self.backup)
        except Refusal:
            backup = None
        self.original = text if backup is not None else None  # the text before the install

    def installed(self, wanted: Entries) -> bytes | None:
        """The settings file with our entries."""
        original = self.original if self.is_ours else self.text
        rules = tuple(self.record.get("rules") or ())
        text = settingsfile.merge(self.text, wanted, self.root, rules, original)
        return self.before if self.before and text == self.text else text.encode("utf-8", "surrogateescape")

    def install(self, wanted: Entries, interpreter: str) -> list[str]:
        """Write the settings file, the skills and the record; the paths of skills that the user has changed."""
        after, recorded = self.installed(wanted), self.record.get("skills") or {}
        folders = [path for path in self.folders if path in self.record.get("folders", ()) or not os.path.exists(path)]
        files.ensure_private(self.store)
        if self.before is None:
            files.remove(self.backup)
        if after != self.before:
            # A file that holds our hooks is not the original: then the first backup stays.
            settingsfile.replace(self.path, self.before, after, "" if self.is_ours else self.backup)
        copies, ours = self.skills(interpreter), {}
        for path, data in copies.items():
            if not _is_edited(path, hexdigest(data), recorded.get(path)):
                ours[path] = hexdigest(data)
                files.write_if_changed(path, data)
        _remove_skills({path: digest for path, digest in recorded.items() if path not in copies})
        record = {
            "settings": self.path,
            "scope": self.scope,
            "root": self.root,
            "interpreter": interpreter,
            "version": __version__,
            "when": clock.iso(time.time()),
            "rules": wanted.rules,
            "guard": wanted.has_guard,
            "skills": ours,
            "folders": folders,
        }
        registry.put(self.store, self.path, record)
        return [path for path in copies if path not in ours]

    def removed(self, wanted: Entries) -> bytes | None:
        """The settings file without our entries: the original, if nothing else was changed since; None for no file."""
        rules = (*wanted.rules, *(self.record.get("rules") or ()))
        left = settingsfile.strip(self.text, self.root, rules, self.original)
        if self.before is None or left == self.text:
            return self.before
        if self.original is None:
            return None if left.split() == ["{}"] else left.encode("utf-8", "surrogateescape")
        # Without edits by others the same is left of the original after an install and its removal.
        installed = settingsfile.merge(self.original, wanted, self.root, (), self.original)
        is_edited = left != settingsfile.strip(installed, self.root, rules, self.original)
        return left.encode("utf-8", "surrogateescape") if is_edited else settingsfile.read(self.backup)

    def uninstall(self, wanted: Entries, memory: list[str]) -> list[str]:
        """Remove the install and the paths `memory`; the paths of skills that the user has changed, which stay."""
        after = self.removed(wanted)
        if after != self.before:
            settingsfile.replace(self.path, self.before, after)
        files.remove(self.backup)
        edited = _remove_skills(self.record.get("skills") or {})
        for path in memory:  # before the record of the install, by which a second attempt knows the memory
            files.remove_tree(path, last=settings.PROJECT_FILE)  # by which it knows a project
        registry.put(self.store, self.path, None)
        if not registry.load(self.store):
            runs = os.path.join(self.store, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
            for name in files.names(runs):  # else they would look like a plugin's
                files.remove(os.path.join(runs, name))
        for path in (self.store, *self.record.get("folders", ())):
            files.remove_if_empty(path)
        return edited

    def skills(self, interpreter: str) -> dict[str, bytes]:
        """Path and content of each copy of a skill."""
        command = invocation.command(self.root, interpreter, windows=os.name == "nt")
        source, copies = os.path.join(self.root, SKILLS_DIR), {}
        for name in files.names(source):
            text = files.read_text(os.path.join(source, name, SKILL_FILE))
            if text:
                copies[os.path.join(self.folders[0], name, SKILL_FILE)] = text.replace(PLUGIN_COMMAND, command).encode()
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
