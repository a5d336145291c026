"""Installing into one settings file and removing it: what changes, and changing it.

An install is our entries in the settings file, a copy of each skill beside it (`skills/<name>/SKILL.md`, with our
command spelt as in the permission rule) and a record in `installs.json` of the store:

    {"schema": 1, "installs": [{settings, scope, interpreter, version, rules, guard, status_line, skills}]}

`rules`: permission rules added. `guard`: false where the user left it out. `skills`: path and hash of each copy; one
that the user has changed is neither overwritten nor removed. A link `harness` in ~/.local/bin goes with the last
install.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Mapping

from .. import __version__
from ..base import files, invocation, settings
from ..base.text import hexdigest
from . import settingsfile
from .settingsfile import Document, Entries

SKILLS_DIR, SKILL_FILE = "skills", "SKILL.md"
_BIN = (".local", "bin")
PLUGIN_COMMAND = "harness memory"  # in the tree itself: the PATH of a plugin has bin/
_OPTIONAL = {"scope?": "text", "rules?": ["text"], "skills?": {"*": "text"}}
_SPEC = {"installs": [{"settings": "text", **_OPTIONAL}]}
_PROJECT = re.compile(r"[a-z0-9-]+-[0-9a-f]{%d}" % settings.ID_HASH_CHARS)


class Installation:
    """A settings file with or without our entries, as it is now; `before` is None without a file."""

    def __init__(self, root: str, scope: str, path: str, store: str) -> None:
        self.root, self.scope, self.path, self.store = root, scope, path, store  # `root`: our tree
        self.backup = path + ".harness-memory.bak"
        self.skills_dir = os.path.join(os.path.dirname(path), SKILLS_DIR)
        self.record = next((item for item in records(store) if item["settings"] == path), {})
        self.before, self.document = settingsfile.load(path)
        self.is_ours = bool(settingsfile.hooks(self.document, root))

    def wanted(self, interpreter: str, guard: bool | None = None, status_line: bool = False) -> Entries:
        """Our entries; what is not asked for stays as it was."""
        auto = (files.load_json(os.path.join(self.store, settings.SYNC_DIR, "config.json"), {}) or {}).get("auto")
        has_guard = self.record.get("guard") is not False if guard is None else guard
        options = {"auto": bool(auto), "status_line": status_line or bool(self.record.get("status_line"))}
        stores = [*dict.fromkeys((self.store, os.path.realpath(self.store)))]
        return settingsfile.entries(self.root, interpreter, stores, os.path.expanduser("~"), guard=has_guard, **options)

    def without(self, wanted: Entries) -> tuple[bytes | None, Document]:
        """The file without our entries, None for no file, and what it holds: the original, if nothing else changed."""
        rules = [*wanted.rules, *(self.record.get("rules") or ())]
        left = settingsfile.strip(self.document, self.root, rules)
        if left == self.document:
            return self.before, left
        backup, original = settingsfile.load(self.backup)
        # Without edits by others the same is left of the original after an install and its removal.
        if backup is not None and left == settingsfile.strip(settingsfile.merge(original, wanted), self.root, rules):
            return backup, original
        return settingsfile.render(left, self.before) if left or backup is not None else None, left

    def installed(self, wanted: Entries) -> bytes | None:
        """The settings file with our entries."""
        merged = settingsfile.merge(self.without(wanted)[1] if self.is_ours else self.document, wanted)
        return self.before if merged == self.document else settingsfile.render(merged, self.before)

    def install(self, wanted: Entries, interpreter: str) -> list[str]:
        """Write the settings file, the skills and the record; the paths of skills that the user has changed."""
        after, recorded = self.installed(wanted), self.record.get("skills") or {}
        files.ensure_private(self.store)
        folder, name = map(glob.escape, os.path.split(self.path))
        _remove(glob.glob("%s/.%s.*%s" % (folder, name, settings.TEMP_SUFFIX)))  # of an installer that was killed
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
        _remove([path for path in self._own_skills() if path not in copies])
        about: Document = {"settings": self.path, "scope": self.scope, "interpreter": interpreter}
        about.update(version=__version__, rules=wanted.rules, guard=wanted.has_guard, skills=ours)
        self._put({**about, "status_line": bool(wanted.status_line)})
        return [path for path in copies if path not in ours]

    def uninstall(self, wanted: Entries, memory: list[str]) -> list[str]:
        """Remove the install and the paths `memory`; the paths of skills that the user has changed, which stay."""
        after, _ = self.without(wanted)
        if after != self.before:
            settingsfile.replace(self.path, self.before, after)
        files.remove(self.backup)
        _remove(self.removable())
        files.remove_temporaries(self.store, float("inf"))
        for path in memory:  # before the record of the install, by which a second attempt knows the memory
            files.remove_tree(path, last=settings.PROJECT_FILE)  # by which it knows a project
        if not self._put():  # what ran later runs as a plugin
            files.remove_tree(os.path.join(self.store, settings.LAST_RUN_DIR))
        if files.names(self.store) == [settings.GITIGNORE_FILE]:
            files.remove(os.path.join(self.store, settings.GITIGNORE_FILE))
        for path in (self.store, self.skills_dir, os.path.dirname(self.path)):
            files.remove_if_empty(path)
        return [path for path in self.record.get("skills") or () if os.path.lexists(path)]

    def removable(self) -> list[str]:
        """What goes beside the entries: skills that the user has not changed, and with the last install the link."""
        link = os.path.expanduser(os.path.join("~", *_BIN, invocation.SCRIPT))
        return self._own_skills() + [link] * (not self._others() and _is_link(link, self.root))

    def _own_skills(self) -> list[str]:
        recorded = (self.record.get("skills") or {}).items()
        return [path for path, digest in recorded if os.path.lexists(path) and not _is_edited(path, digest)]

    def skills(self, interpreter: str) -> dict[str, bytes]:
        """Path and content of each copy of a skill."""
        command = invocation.command(self.root, interpreter)
        copies = {}
        for folder in files.folders(os.path.join(self.root, SKILLS_DIR)):
            text = files.read_text(os.path.join(folder, SKILL_FILE)).replace(PLUGIN_COMMAND, command)
            copies[os.path.join(self.skills_dir, os.path.basename(folder), SKILL_FILE)] = text.encode()
        return copies

    def _put(self, *record: Document) -> list[Document]:
        """Replace our record, by none if there is none; those whose settings file is gone go too."""
        installs = [*self._others(), *record]
        path = os.path.join(self.store, settings.INSTALLS_FILE)
        files.write_json(path, {"schema": settings.SCHEMA, "installs": installs}) if installs else files.remove(path)
        return installs

    def _others(self) -> list[Document]:
        others = [item for item in records(self.store) if item["settings"] != self.path]
        return [item for item in others if os.path.exists(item["settings"])]


def place_on_path(root: str, env: Mapping[str, str]) -> str:
    """The link `harness` in ~/.local/bin, if it is ours, or that is on the PATH and the name is free; else ""."""
    folder, path = os.path.expanduser(os.path.join("~", *_BIN)), env.get("PATH", "")
    link = os.path.join(folder, invocation.SCRIPT)
    if os.name == "nt" or folder not in path.split(os.pathsep) or not os.access(folder, os.W_OK):
        return ""
    is_free = not shutil.which(invocation.SCRIPT, path=path) and not os.path.lexists(link)
    return link if is_free or _is_link(link, root) else ""


def _is_link(path: str, root: str) -> bool:
    return os.path.islink(path) and os.readlink(path) == os.path.join(root, invocation.SCRIPT)


def records(store: str) -> list[Document]:
    """The recorded installs. A damaged record counts as empty: the settings files are the truth."""
    return list((files.load_json(os.path.join(store, settings.INSTALLS_FILE), _SPEC) or {}).get("installs", ()))


def memory(store: str) -> list[str]:
    """The paths of the memory in this folder, which may hold other things too."""
    names = [name for name in files.names(store) if not os.path.islink(os.path.join(store, name))]
    projects = [name for name in names if _PROJECT.fullmatch(name)]
    ours = [name for name in projects if os.path.isfile(os.path.join(store, name, settings.PROJECT_FILE))]
    has_run = os.path.isdir(os.path.join(store, settings.LAST_RUN_DIR))
    if ours or records(store) or has_run:  # else a `config.json` or `user` in this folder is not ours
        ours += [name for name in names if name in settingsfile.OURS]
    return [os.path.join(store, name) for name in ours]


def _remove(paths: list[str]) -> None:
    for path in paths:
        files.remove(path)
        if os.path.basename(path) == SKILL_FILE:
            files.remove_if_empty(os.path.dirname(path))


def _is_edited(path: str, *digests: str | None) -> bool:
    """Whether the user has changed a copy; anything but a plain file is the user's own."""
    parent = os.path.dirname(path)
    try:
        content = files.read(path)
    except OSError:
        return True
    is_linked = os.path.islink(parent) or os.path.islink(os.path.dirname(parent))
    return is_linked or (content is not None and hexdigest(content) not in digests)
