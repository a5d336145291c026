"""Installing into one settings file and removing it: what changes, and changing it."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from .. import __version__
from ..base import files, settings
from . import merge, registry, settingsfile, skills
from .jsonedit import Invalid, parse
from .settingsfile import Refused, Target, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries
    from .purge import Memory


class Change(NamedTuple):
    """The bytes of a settings file before and after; None without a file."""

    before: bytes | None
    after: bytes | None

    @property
    def is_empty(self) -> bool:
        return self.before == self.after


def plan_install(target: Target, wanted: Entries) -> Change:
    before = settingsfile.read(target.settings)
    text = _checked(target.settings, before)
    rules = tuple(registry.find(target.store, target.settings).get("rules") or ())
    try:
        original = _original(target) if merge.hooks(text, target.root) else text
        after = merge.merge(text, wanted, target.root, rules, original)
    except merge.WrongShape as error:
        raise Refused("%s: %s. Correct it and try again." % (target.settings, error)) from None
    return Change(before, before if before and after == text else after.encode("utf-8", "surrogateescape"))


def install(target: Target, wanted: Entries, interpreter: str, change: Change) -> None:
    record = registry.find(target.store, target.settings)
    try:
        files.ensure_private(target.store)
    except OSError as error:
        raise Refused("the memory folder %s: cannot be made (%s)." % (target.store, error.strerror)) from None
    if not change.is_empty:
        _back_up(target, change.before)
        settingsfile.replace(target.settings, change.before, change.after)
    made = {
        "settings": target.settings,
        "scope": target.scope,
        "root": target.root,
        "interpreter": interpreter,
        "version": __version__,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "rules": wanted.rules,
        "guard": wanted.has_guard,
        "skills": record.get("skills") or {},
    }
    registry.put(target.store, made)


def plan_uninstall(target: Target, wanted: Entries) -> Change:
    before = settingsfile.read(target.settings)
    text = _checked(target.settings, before)
    if before is None:
        return Change(None, None)
    record = registry.find(target.store, target.settings)
    rules = (*wanted.rules, *(record.get("rules") or ()))
    original = _original(target)
    left = merge.strip(text, target.root, rules, original)
    if left == text:
        return Change(before, before)
    if original is not None and left == _round_trip(target, wanted, rules, original):
        return Change(before, settingsfile.read(target.backup))
    after = left.encode("utf-8", "surrogateescape")
    is_ours = after.split() == [b"{}"] and original is None  # a file that existed before has a backup
    return Change(before, None if is_ours else after)


def uninstall(target: Target, removal: Change, memory: Memory | None = None) -> list[str]:
    """Remove the install, and `memory` if given; the paths of skills that the user has changed, which stay."""
    record = registry.find(target.store, target.settings)
    if not removal.is_empty:
        settingsfile.replace(target.settings, removal.before, removal.after)
    files.remove(target.backup)
    edited = skills.uninstall(record.get("skills") or {})
    if memory is not None:
        memory.delete()  # before the record of the install, by which a second attempt knows the memory
    registry.drop(target.store, target.settings)
    if not registry.load(target.store):
        runs = os.path.join(target.store, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
        for name in files.names(runs):  # else they would look like a plugin's
            files.remove(os.path.join(runs, name))
    for path in (target.store, skills.folder(target.settings), os.path.dirname(target.settings)):
        try:
            os.rmdir(path)
        except OSError:
            pass  # not empty
    return edited


def _round_trip(target: Target, wanted: Entries, rules: tuple[str, ...], original: str) -> str | None:
    """What is left of `original` after an install and its removal: the same as of a file without other edits."""
    try:
        installed = merge.merge(original, wanted, target.root, (), original)
    except merge.WrongShape:
        return None
    return merge.strip(installed, target.root, rules, original)


def _original(target: Target) -> str | None:
    """The text before the install; None without a usable backup."""
    try:
        data = settingsfile.read(target.backup)
        return None if data is None else _checked(target.backup, data)
    except Refused:
        return None


def _back_up(target: Target, before: bytes | None) -> None:
    """Keep the file as it was. One that holds our hooks is not the original: then the first backup stays."""
    if before is not None and merge.hooks(document(before), target.root):
        return
    files.remove(target.backup)  # it may be a link that a repository brought along
    if before is not None:
        settingsfile.replace(target.backup, None, before, like=os.path.realpath(target.settings))


def _checked(path: str, data: bytes | None) -> str:
    text = document(data)
    try:
        parse(text)
    except Invalid as error:
        where = "%s:%d:%d" % (path, error.line, error.column)
        raise Refused("%s: not valid JSON: %s. Correct it and try again." % (where, error.message)) from None
    return text
