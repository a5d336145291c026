"""Installing into one settings file and removing it: what changes, and changing it.

An install is our entries in the settings file, a copy of each skill beside it (`skills/<name>/SKILL.md`, with our
command spelt as in the permission rule) and a record in `installs.json` of the store:

    {"schema": 1, "installs": [{settings, scope, interpreter, version, rules, guard, status_line, skills, folders}]}

`rules`: permission rules added. `guard`: false where the user left it out. `skills`: path and hash of each copy; one
that the user has changed is neither overwritten nor removed. `folders`: those that the install made. A link `harness`
in ~/.local/bin goes with the last install.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..base import files, invocation, settings
from ..base.text import hexdigest
from ..cli.output import count
from . import settingsfile
from .settingsfile import Entries

SKILLS_DIR, SKILL_FILE = "skills", "SKILL.md"
_BIN = (".local", "bin")
PLUGIN_COMMAND = "harness memory"  # in the tree itself: the PATH of a plugin has bin/
_OPTIONAL = {"scope?": "text", "rules?": ["text"], "skills?": {"*": "text"}, "folders?": ["text"]}
_SPEC = {"installs": [{"settings": "text", **_OPTIONAL}]}
_PROJECT = re.compile(r"[a-z0-9-]+-[0-9a-f]{%d}" % settings.ID_HASH_CHARS)
_LOCKS = (settings.CONFIG_FILE + settings.LOCK_SUFFIX, settings.INSTALLS_FILE + settings.LOCK_SUFFIX)  # of old versions
_SHARED = (settings.GITIGNORE_FILE, settings.VERSIONS_FILE, settings.VIEW_FILE)
_FILES = (settings.CONFIG_FILE, settings.GUARD_FILE, settings.TRIGGERS_MARK, *_LOCKS, *_SHARED)
_FOLDERS = (settings.HEALTH_DIR, settings.USER_DIR, settings.GUARD_DIR, settings.ARCHIVE_DIR, settings.SYNC_DIR, ".git")


class Installation:
    """A settings file with or without our entries, as it is now; `before` is None without a file."""

    def __init__(self, root: str, scope: str, path: str, store: str) -> None:
        self.root, self.scope, self.path, self.store = root, scope, path, store  # `root`: our tree
        self.backup = path + ".harness-memory.bak"
        # Those that an install may make, the inner one first.
        self.folders = [os.path.join(os.path.dirname(path), SKILLS_DIR), os.path.dirname(path)]
        self.record = next((item for item in records(store) if item["settings"] == path), {})
        self.before, self.text = settingsfile.load(path)
        self.is_ours = bool(settingsfile.hooks(self.text, root))

    def wanted(self, interpreter: str, guard: bool | None = None, status_line: bool = False) -> Entries:
        """Our entries; what is not asked for stays as it was."""
        auto = (files.load_json(os.path.join(self.store, settings.SYNC_DIR, "config.json"), {}) or {}).get("auto")
        options = {"guard": self.record.get("guard") is not False if guard is None else guard, "auto": bool(auto)}
        options.update(windows=os.name == "nt", status_line=status_line or bool(self.record.get("status_line")))
        stores = list(dict.fromkeys([self.store, os.path.realpath(self.store)]))
        return settingsfile.entries(self.root, interpreter, stores, os.path.expanduser("~"), **options)

    def without(self, wanted: Entries) -> tuple[bytes | None, str]:
        """The file (None for no file) and its text without our entries: the backup, if nothing else was changed."""
        rules = [*wanted.rules, *(self.record.get("rules") or ())]
        left = settingsfile.strip(self.text, self.root, rules)
        if self.before is None or left == self.text:
            return self.before, left
        data = left.encode("utf-8", "surrogateescape")
        backup, original = settingsfile.load(self.backup)
        if backup is None:
            return None if data.split() == [b"{}"] else data, left
        # Without edits by others the same is left of the original after an install and its removal.
        is_edited = left != settingsfile.strip(settingsfile.merge(original, wanted), self.root, rules)
        return (data, left) if is_edited else (backup, original)

    def installed(self, wanted: Entries) -> bytes:
        """The settings file with our entries."""
        text = self.without(wanted)[1] if self.is_ours else self.text
        return settingsfile.merge(text, wanted).encode("utf-8", "surrogateescape")

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
        about: dict[str, Any] = {"settings": self.path, "scope": self.scope, "interpreter": interpreter}
        about.update(version=__version__, rules=wanted.rules, guard=wanted.has_guard, skills=ours, folders=folders)
        self._put({**about, "status_line": bool(wanted.status_line)})
        return [path for path in copies if path not in ours]

    def uninstall(self, wanted: Entries, memory: list[str]) -> list[str]:
        """Remove the install and the paths `memory`; the paths of skills that the user has changed, which stay."""
        after = self.without(wanted)[0]
        if after != self.before:
            settingsfile.replace(self.path, self.before, after)
        files.remove(self.backup)
        edited = _remove_skills(self.record.get("skills") or {})
        for path in memory:  # before the record of the install, by which a second attempt knows the memory
            files.remove_tree(path, last=settings.PROJECT_FILE)  # by which it knows a project
        for link in self.removable():  # the skills are gone
            files.remove(link)
        if not self._put():  # what ran later runs as a plugin
            files.remove_tree(os.path.join(self.store, settings.HEALTH_DIR, settings.LAST_RUN_DIR))
        if files.names(self.store) == [settings.GITIGNORE_FILE]:
            files.remove(os.path.join(self.store, settings.GITIGNORE_FILE))
        for path in (self.store, *self.record.get("folders", ())):
            files.remove_if_empty(path)
        return edited

    def removable(self) -> list[str]:
        """What goes beside the entries: skills that the user has not changed, and with the last install the link."""
        recorded = (self.record.get("skills") or {}).items()
        paths = [path for path, digest in recorded if os.path.lexists(path) and not _is_edited(path, digest)]
        link = os.path.expanduser(os.path.join("~", *_BIN, invocation.SCRIPT))
        return paths + [link] * (not self._others() and _is_link(link, self.root))

    def skills(self, interpreter: str) -> dict[str, bytes]:
        """Path and content of each copy of a skill."""
        command = invocation.command(self.root, interpreter, windows=os.name == "nt")
        copies = {}
        for folder in files.folders(os.path.join(self.root, SKILLS_DIR)):
            text = files.read_text(os.path.join(folder, SKILL_FILE)).replace(PLUGIN_COMMAND, command)
            copies[os.path.join(self.folders[0], os.path.basename(folder), SKILL_FILE)] = text.encode()
        return copies

    def _put(self, *record: dict[str, Any]) -> list[dict[str, Any]]:
        """Replace our record, by none if there is none; those whose settings file is gone go too."""
        installs = [*self._others(), *record]
        path = os.path.join(self.store, settings.INSTALLS_FILE)
        files.write_json(path, {"schema": settings.SCHEMA, "installs": installs}) if installs else files.remove(path)
        return installs

    def _others(self) -> list[dict[str, Any]]:
        others = [item for item in records(self.store) if item["settings"] != self.path]
        return [item for item in others if os.path.exists(item["settings"])]


def put_on_path(root: str, env: Mapping[str, str], *, is_trial: bool = False) -> str:
    """Link `harness` into ~/.local/bin if that is on the PATH and the name is free; the link, or ""."""
    folder = os.path.expanduser(os.path.join("~", *_BIN))
    link, target = os.path.join(folder, invocation.SCRIPT), os.path.join(root, invocation.SCRIPT)
    if os.name == "nt" or folder not in env.get("PATH", "").split(os.pathsep) or not os.path.isdir(folder):
        return ""
    try:
        if not shutil.which(invocation.SCRIPT, path=env["PATH"]) and not os.path.lexists(link):
            if is_trial:
                return link
            os.symlink(target, link)
    except OSError:
        return ""
    return link if _is_link(link, root) else ""


def _is_link(path: str, root: str) -> bool:
    return os.path.islink(path) and os.readlink(path) == os.path.join(root, invocation.SCRIPT)


def records(store: str) -> list[dict[str, Any]]:
    """The recorded installs. A damaged record counts as empty: the settings files are the truth."""
    return list((files.load_json(os.path.join(store, settings.INSTALLS_FILE), _SPEC) or {}).get("installs", ()))


def memory(store: str) -> tuple[list[str], str]:
    """The paths of the memory in this folder, which may hold other things too, and what they are."""
    projects: list[str] = []
    others: list[str] = []
    for name in files.names(store):
        path = os.path.join(store, name)
        is_temporary = name.startswith(".") and name.endswith(settings.TEMP_SUFFIX)
        is_other = name in _FOLDERS if os.path.isdir(path) else is_temporary or name in _FILES
        is_project = _PROJECT.fullmatch(name) and os.path.isfile(os.path.join(path, settings.PROJECT_FILE))
        if (is_project or is_other) and not os.path.islink(path):
            (projects if is_project else others).append(path)
    runs = os.path.join(store, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    if not projects and not records(store) and not os.path.isdir(runs):
        return [], ""  # a `config.json` or `user` in this folder is not ours
    shown = [name for name in map(os.path.basename, others) if name[0] != "."]
    return projects + others, ", ".join([count(len(projects), "project"), *shown])


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
    try:
        content = files.read(path)
    except OSError:
        return True
    is_linked = os.path.islink(parent) or os.path.islink(os.path.dirname(parent))
    return is_linked or (content is not None and hexdigest(content) not in digests)
