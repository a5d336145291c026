"""Installing into one settings file and taking it back: what would change, and changing it."""

from __future__ import annotations

import os
import time

from .. import __version__, store
from . import merge, registry, settingsfile
from .settingsfile import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries


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


def plan_install(place: Place, wanted: Entries) -> Change:
    before = settingsfile.read(place.settings)
    text = _checked(place.settings, before)
    try:
        after = merge.merge(text, wanted, place.root, _former_rules(place))
        return Change(before, settingsfile.encode(after) if after != text else before or settingsfile.encode(after))
    except merge.WrongShape as error:
        raise Refused("%s: %s. Correct it there and try again." % (place.settings, error)) from None


def install(place: Place, wanted: Entries, interpreter: str, change: Change) -> None:
    settingsfile.check_writable(place.settings)
    try:
        store.ensure_private(place.store)
    except OSError as error:
        raise Refused("the memory folder %s cannot be made (%s)." % (place.store, error.strerror)) from None
    known = registry.find(place.store, place.settings)
    if not change.is_nothing:
        _back_up(place, change.before)
        settingsfile.write(place.settings, change.after or b"")
    record = {
        "settings": place.settings,
        "scope": place.scope,
        "root": place.root,
        "interpreter": interpreter,
        "version": __version__,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "created": change.before is None or bool(known.get("created")),
        "rules": wanted.rules,
    }
    registry.put(place.store, record)


def plan_uninstall(place: Place, wanted: Entries) -> Change:
    before = settingsfile.read(place.settings)
    if before is None:
        return Change(None, None)
    text = _checked(place.settings, before)
    backup = settingsfile.read(place.backup)
    if backup is not None and _is_untouched(place, wanted, text, backup):
        return Change(before, backup)
    original = settingsfile.decode(backup) if backup is not None and _parses(backup) else None
    rules = tuple(wanted.rules) + _former_rules(place)
    left = merge.strip(text, place.root, rules, original)
    if left == text:
        return Change(before, before)
    if registry.find(place.store, place.settings).get("created") and left.split() == ["{}"]:
        return Change(before, None)
    return Change(before, settingsfile.encode(left))


def uninstall(place: Place, change: Change) -> None:
    if not change.is_nothing:
        settingsfile.check_writable(place.settings)
        if change.after is None:
            os.unlink(os.path.realpath(place.settings))
        else:
            settingsfile.write(place.settings, change.after)
    store.remove(place.backup)
    registry.drop(place.store, place.settings)
    try:
        os.rmdir(place.store)  # only if nothing was ever remembered
    except OSError:
        pass


def _is_untouched(place: Place, wanted: Entries, text: str, backup: bytes) -> bool:
    """Whether the file is the backup plus our entries, of whichever version, and nothing else."""
    if not _parses(backup):
        return False
    original = settingsfile.as_document(backup)
    if merge.holds_ours(original, place.root):
        return False
    former = _former_rules(place)
    try:
        return merge.merge(original, wanted, place.root, former) == merge.merge(text, wanted, place.root, former)
    except merge.WrongShape:
        return False


def _back_up(place: Place, before: bytes | None) -> None:
    """Keep the file as it was before us. One with our entries in it is no original: then the first backup stays."""
    if before is None:
        store.remove(place.backup)
    elif not merge.holds_ours(settingsfile.as_document(before), place.root):
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


def _former_rules(place: Place) -> tuple[str, ...]:
    rules = registry.find(place.store, place.settings).get("rules")
    return tuple(rule for rule in rules if isinstance(rule, str)) if isinstance(rules, list) else ()
