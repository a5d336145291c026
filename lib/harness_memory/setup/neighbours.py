"""Other settings files with our hooks in them that count in the same sessions: then a hook may run twice."""

from __future__ import annotations

import os

from . import jsontree, merge, registry, settingsfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .installation import Place


def neighbours(place: Place, env: Mapping[str, str], home: str, cwd: str) -> dict[str, bool]:
    """Their paths, each with whether its commands are the same: the client runs equal commands once."""
    known = {str(item.get("settings")): str(item.get("scope")) for item in registry.load(place.store)}
    known.update({settingsfile.locate(scope, env, home, cwd): scope for scope in reversed(settingsfile.SCOPES)})
    own = _commands(place.settings, place.root)
    found = {}
    for path, scope in known.items():
        commands = _commands(path, place.root) if _counts_with(place, path, scope) else {}
        if commands:
            found[path] = commands == own
    return found


def _counts_with(place: Place, path: str, scope: str) -> bool:
    if os.path.realpath(path) == os.path.realpath(place.settings):
        return False
    if scope != "user" and place.scope != "user":
        return os.path.dirname(path) == os.path.dirname(place.settings)
    return scope != place.scope  # another user's configuration never counts here


def _commands(path: str, root: str) -> dict[str, str]:
    try:
        return merge.commands(settingsfile.as_document(settingsfile.read(path)), root)
    except (settingsfile.Refused, jsontree.Invalid):
        return {}
