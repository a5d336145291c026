"""Installing into one settings file and taking it back: what would change, and changing it."""

from __future__ import annotations

import os
import time

from .. import __version__
from ..base import files, health
from . import entries, merge, registry, settingsfile, skills
from .settingsfile import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries
    from .purge import Memory


class Place:
    """Where we install: from which tree, into which settings file, with which memory."""

    __slots__ = ("root", "scope", "settings", "store")

    def __init__(self, root: str, scope: str, settings: str, store: str) -> None:
        self.root = root
        self.scope = scope
        self.settings = settings
        self.store = store

    @property
    def backup(self) -> str:
        return settingsfile.backup_path(self.settings)


class Change:
    """The bytes of a settings file before and after; None where there is no file."""

    __slots__ = ("after", "before")

    def __init__(self, before: bytes | None, after: bytes | None) -> None:
        self.before = before
        self.after = after

    @property
    def is_nothing(self) -> bool:
        return self.before == self.after


class Removal(Change):
    """Taking us out: the memories that have the install on record, and the folders that go if nothing is in them."""

    __slots__ = ("folders", "stores")

    def __init__(self, before: bytes | None, after: bytes | None, stores: list[str], folders: list[str]) -> None:
        super().__init__(before, after)
        self.stores = stores
        self.folders = folders


def plan_install(place: Place, wanted: Entries) -> Change:
    before = settingsfile.read(place.settings)
    text = _checked(place.settings, before)
    try:
        former = registry.texts(registry.find(place.store, place.settings), "rules")
        after = merge.merge(text, wanted, place.root, tuple(former))
        return Change(before, settingsfile.encode(after) if after != text else before or settingsfile.encode(after))
    except merge.WrongShape as error:
        raise Refused("%s: %s. Correct it there and try again." % (place.settings, error)) from None


def install(place: Place, wanted: Entries, interpreter: str, change: Change) -> None:
    settingsfile.check_writable(place.settings)
    settingsfile.check_unchanged(place.settings, change.before)
    folders = _own_folders(place)
    try:
        files.ensure_private(place.store)
    except OSError as error:
        raise Refused("the memory folder %s cannot be made (%s)." % (place.store, error.strerror)) from None
    known = registry.find(place.store, place.settings)
    if not change.is_nothing:
        _back_up(place, change.before)
        settingsfile.replace(place.settings, change.before, change.after or b"")
    record = {
        "settings": place.settings,
        "scope": place.scope,
        "root": place.root,
        "interpreter": interpreter,
        "version": __version__,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "created": change.before is None or bool(known.get("created") and not os.path.exists(place.backup)),
        "folders": folders,
        "rules": wanted.rules,
        "guard": wanted.has_guard,
        "skills": known.get("skills", {}),
    }
    registry.put(place.store, record)


def plan_uninstall(place: Place, wanted: Entries) -> Removal:
    before = settingsfile.read(place.settings)
    text = _checked(place.settings, before)
    claimed = _claimed_rules(place, text)
    stores = list({os.path.realpath(path): path for path in [*claimed.values(), place.store]}.values())
    records = [registry.find(path, place.settings) for path in stores]
    rules = (*wanted.rules, *claimed, *(rule for record in records for rule in registry.texts(record, "rules")))
    after = before
    if before is not None:
        after = _without_us(place, wanted, rules, before)
        if after != before and after.split() == [b"{}"] and any(record.get("created") for record in records):
            after = None
    folders = [path for record in records for path in registry.texts(record, "folders")]
    return Removal(before, after, stores, stores + folders)


def uninstall(place: Place, removal: Removal, memory: Memory | None = None) -> list[str]:
    """`memory` is deleted too; without it, only folders in which nothing was ever remembered.

    Returns the skills that somebody has made their own, which stay.
    """
    if not removal.is_nothing:
        settingsfile.check_writable(place.settings)
        settingsfile.replace(place.settings, removal.before, removal.after)
    files.remove(place.backup)
    own = [path for root in removal.stores for path in skills.uninstall(root, place.settings)]
    if memory is not None:
        memory.delete()  # while the record of the install tells, should this be cut short, that it is a memory
    for path in removal.stores:
        registry.drop(path, place.settings)
        if not registry.load(path):
            health.forget_runs(path)  # or they would seem to be a plugin's
    for path in removal.folders:
        try:
            os.rmdir(path)
        except OSError:
            pass
    return own


def _without_us(place: Place, wanted: Entries, rules: tuple[str, ...], before: bytes) -> bytes:
    text, backup = settingsfile.as_document(before), settingsfile.read(place.backup)
    original = settingsfile.as_document(backup) if backup is not None and _parses(backup) else None
    left = merge.strip(text, place.root, rules, original)
    if left == text:
        return before
    if backup is not None and original is not None and left == _there_and_back(place, wanted, rules, original):
        return backup
    return settingsfile.encode(left)


def _there_and_back(place: Place, wanted: Entries, rules: tuple[str, ...], original: str) -> str | None:
    """What is left of `original` when we have come and gone: the same is left of a file nobody else has touched."""
    if merge.holds_ours(original, place.root):
        return None
    try:
        installed = merge.merge(original, wanted, place.root)
    except merge.WrongShape:
        return None
    return merge.strip(installed, place.root, rules, original)


def _back_up(place: Place, before: bytes | None) -> None:
    """Keep the file as it was before us. One with our entries in it is no original: then the first backup stays."""
    if before is None:
        files.remove(place.backup)
    elif not merge.holds_ours(settingsfile.as_document(before), place.root):
        if os.path.islink(place.backup):
            files.remove(place.backup)  # a repository may bring such a link along, to have us write elsewhere
        settingsfile.write(place.backup, before, like=os.path.realpath(place.settings))


def _checked(path: str, data: bytes | None) -> str:
    text = settingsfile.as_document(data)
    settingsfile.check_document(path, text)
    return text


def _parses(data: bytes) -> bool:
    try:
        settingsfile.check_document("", settingsfile.as_document(data))
    except Refused:
        return False
    return True


def _claimed_rules(place: Place, text: str) -> dict[str, str]:
    """The rules that open a memory which has this install on record, with that memory's folder."""
    opened = {rule: entries.opened_folder(rule) for rule in merge.allowed(text)}
    return {rule: path for rule, path in opened.items() if path and registry.find(path, place.settings)}


def _own_folders(place: Place) -> list[str]:
    """Of the folders that hold the settings file, the skills and the memory, those that an install made or makes."""
    made = {path for item in registry.load(place.store) for path in registry.texts(item, "folders")}
    # The innermost first, as they have to go.
    needed = dict.fromkeys((skills.folder(place.settings), *map(os.path.dirname, (place.settings, place.store))))
    return [path for path in needed if path in made or not os.path.isdir(path)]
