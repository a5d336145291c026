"""Where our hooks are registered, whether they can run, and when they last did: for `doctor` and `status`."""

from __future__ import annotations

import os
import shlex
import time

from .. import __version__
from ..base import clock, invocation, jsontext, settings
from ..setup import entries, jsontree, merge, registry, settingsfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECENT_SECONDS = 7 * 86400


class Install:
    """One settings file that has, or should have, our hooks; `trouble` when it cannot serve at all."""

    __slots__ = ("commands", "is_disabled", "known", "matchers", "path", "problems", "trouble")

    def __init__(self, path: str, known: dict[str, Any] | None, trouble: str = "") -> None:
        self.path = path
        self.known = known
        self.trouble = trouble
        self.commands: dict[str, str] = {}
        self.matchers: dict[str, str] = {}
        self.is_disabled = False
        self.problems: list[str] = []

    @property
    def is_well(self) -> bool:
        return not self.trouble and not self.problems


def in_force(directory: str, project_root: str) -> list[str]:
    """The settings files a session here would read, whether they exist or not."""
    home, scopes = os.path.expanduser("~"), settingsfile.SCOPES
    found = [settingsfile.locate(scope, os.environ, home, at) for scope in scopes for at in (directory, project_root)]
    return list(dict.fromkeys(found))


def find(root: str, places: list[str]) -> list[Install]:
    """How each install stands: those on record, and any other in `places`."""
    known = {str(item.get("settings")): item for item in registry.load(root)}
    found = (_install(path, known.get(path)) for path in dict.fromkeys((*known, *places)))
    return [install for install in found if install]


def doubled(found: list[Install]) -> list[str]:
    """Events with more than one command of ours; the client runs equal ones once."""
    events = [event for event, _, _ in entries.HOOKS]
    return [e for e in events if len({install.commands[e] for install in found if e in install.commands}) > 1]


def last_runs(root: str) -> dict[str, str | None]:
    """When each hook last ran."""
    found: dict[str, str | None] = {}
    for event, _, _ in entries.HOOKS:
        try:
            stamp = os.stat(os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR, event)).st_mtime
            found[event] = clock.iso(stamp)
        except OSError:
            found[event] = None
    return found


def have_run_lately(root: str) -> bool:
    times = [clock.parse(when) for when in last_runs(root).values()]
    return any(when is not None and time.time() - when < RECENT_SECONDS for when in times)


def _install(path: str, known: dict[str, Any] | None) -> Install | None:
    """None when the file has nothing to do with us."""
    try:
        data = settingsfile.read(path)
        text = settingsfile.as_document(data)
        commands = merge.commands(text, invocation.tree())
        matchers = merge.matchers(text, invocation.tree())
        is_disabled = bool((jsontext.loads(text) or {}).get("disableAllHooks"))
    except (settingsfile.Refused, jsontree.Invalid, ValueError, AttributeError) as error:
        return Install(path, known, "cannot be used: %s" % error)
    if not commands:
        gone = "is gone" if data is None else "does not hold our hooks any more"
        return Install(path, known, gone) if known else None
    found = Install(path, known)
    found.commands = commands
    found.matchers = matchers
    found.is_disabled = is_disabled
    found.problems = _command_problems(commands)
    if is_disabled:
        found.problems.append('"disableAllHooks" is set in this file')
    if known and known.get("version") != __version__:
        found.problems.append("installed by version %s, this is %s" % (known.get("version"), __version__))
    return found


def is_runnable(command: str) -> bool:
    """Whether the script that a command of ours names is there; without it the command does nothing."""
    return all(os.path.isfile(path) for path in _paths(command) if path.endswith(".py"))


def _command_problems(commands: dict[str, str]) -> list[str]:
    missing = [event for event, _, _ in entries.HOOKS if event not in commands]
    problems = ["no hook for %s" % ", ".join(missing)] if missing else []
    for path in dict.fromkeys(path for command in commands.values() for path in _paths(command)):
        if not os.path.isfile(path):
            problems.append("%s is gone" % path)
        elif not path.endswith(".py") and not os.access(path, os.X_OK):
            problems.append("%s cannot be run" % path)
    return problems


def _paths(command: str) -> list[str]:
    """The interpreter and the script a command of ours names."""
    try:
        words = [word.rstrip(";") for word in shlex.split(command, comments=True)]
    except ValueError:
        return []
    words = [word[2:] if word[:2] in ("p=", "s=") else word for word in words]
    return [word for word in words if os.path.isabs(word)]
