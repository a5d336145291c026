"""Where our hooks are registered, whether they can run, when they last ran, and whether the guard is on."""

from __future__ import annotations

import os
import shlex
import time
from typing import Any, NamedTuple

from .. import __version__
from ..base import clock, config, files, invocation, settings
from ..guard import policy
from ..setup import entries, registry, settingsfile
from .output import Refusal

RECENT_SECONDS = 7 * 86400
INSTALL = "run: python3 %s" % invocation.quote(os.path.join(invocation.tree(), "install.py"))
ON, OFF, DEGRADED = "on", "off", "degraded"


class Install:
    """One settings file that has, or should have, our hooks; it works when it has no problems."""

    __slots__ = ("hooks", "is_disabled", "path", "problems", "record", "remedy")

    def __init__(self, path: str, record: dict[str, Any]) -> None:
        self.path = path
        self.record = record
        self.hooks: list[settingsfile.Hook] = []
        self.is_disabled = False
        self.problems: list[str] = []
        self.remedy = INSTALL + (" --scope %s" % record["scope"] if record.get("scope", "user") != "user" else "")
        try:
            data, text = settingsfile.load(path)
        except Refusal as error:
            self.problems = ["cannot be used: %s" % error]
            return
        self.hooks = settingsfile.hooks(text, invocation.tree())
        if not self.hooks:
            gone = "is gone" if data is None else "does not hold our hooks any more"
            self.problems = [gone] if record else []
            return
        missing = [event for event, _, _ in entries.HOOKS if event not in {hook.event for hook in self.hooks}]
        self.problems += ["no hook for %s" % ", ".join(missing)] if missing else []
        paths = dict.fromkeys(path for hook in self.hooks for path in _paths_in(hook.command))
        self.problems += ["%s is gone" % path for path in paths if not os.path.isfile(path)]
        if settingsfile.disables_hooks(text):
            self.is_disabled = True
            self.problems.append('"disableAllHooks" is set in this file')
            self.remedy = 'remove "disableAllHooks" from the file'
        version = record.get("version", __version__)
        if version != __version__:
            self.problems.append("installed by version %s, this is %s" % (version, __version__))


class Guard(NamedTuple):
    """Whether the guard is on; `why` names what is wrong, `problems` those of its rule files."""

    state: str
    why: list[str]
    problems: list[str]
    is_lost: bool = False  # left out, but not by the user's choice
    commands: tuple[str, ...] = ()

    def line(self) -> str:
        more = ", and %d more" % (len(self.why) - 1) if self.why[1:] else ""
        hint = " (see: harness memory doctor)" if self.state == DEGRADED else ""
        return (self.state.upper() if hint else self.state) + (": " + self.why[0] + more if self.why else "") + hint

    def as_json(self) -> dict[str, Any]:
        return {"state": self.state, "why": self.why, "line": self.line()}


def in_force(directory: str, project_root: str) -> list[str]:
    """The settings files that a session here reads, whether they exist or not."""
    home, scopes = os.path.expanduser("~"), settingsfile.SCOPES
    paths = [settingsfile.locate(scope, os.environ, home, at) for scope in scopes for at in (directory, project_root)]
    return list(dict.fromkeys(paths))


def find(root: str, paths: list[str]) -> list[Install]:
    """The recorded installs, and any other in `paths`."""
    records = {item["settings"]: item for item in registry.load(root)}
    installs = [Install(path, records.get(path, {})) for path in dict.fromkeys((*records, *paths))]
    return [install for install in installs if install.record or install.hooks or install.problems]


def guard(root: str, paths: list[str], directory: str) -> Guard:
    """The guard's state in a session that starts in `directory` and reads the settings files `paths`."""
    problems = policy.load(root, directory).problems
    if config.is_off(os.environ):
        return Guard(OFF, ["%s is set to off here" % settings.ENV_SWITCH], problems)
    installs = find(root, paths)
    if not installs and have_run_lately(root):
        return Guard(DEGRADED if problems else ON, problems or ["probably as a plugin"], problems)
    hooks = [(each, hook) for each in installs if each.path in paths for hook in each.hooks]
    hooks = [(each, hook) for each, hook in hooks if hook.event == entries.GUARD_EVENT]
    if not hooks:
        return Guard(OFF, ["not installed here"], problems)
    guarded = [(each, hook) for each, hook in hooks if hook.matcher != entries.UNGUARDED]
    if not guarded:
        is_lost = all(each.record.get("guard") is not False for each, _ in hooks)
        return Guard(OFF, ["left out of %s (install.py --guard adds it)" % hooks[0][0].path], problems, is_lost)
    able = []
    for each, hook in guarded:
        scripts = [path for path in _paths_in(hook.command) if path.endswith(".py")]
        able += [(each, hook)] if not each.is_disabled and all(map(os.path.isfile, scripts)) else []
    if not able:
        return Guard(OFF, ["its hook in %s cannot run" % each.path for each, _ in guarded], problems)
    narrow = ['it sees only "%s" in %s' % (hook.matcher, each.path) for each, hook in able]
    why = [*(narrow if all(hook.matcher for _, hook in able) else []), *problems]
    commands = tuple(dict.fromkeys(hook.command for _, hook in able))
    return Guard(DEGRADED if why else ON, why, problems, commands=commands)


def last_runs(root: str) -> dict[str, str | None]:
    folder = os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    times = {event: files.modified(os.path.join(folder, event)) for event, _, _ in entries.HOOKS}
    return {event: clock.iso(instant) if instant else None for event, instant in times.items()}


def have_run_lately(root: str) -> bool:
    return any(time.time() - (clock.parse(when) or 0.0) < RECENT_SECONDS for when in last_runs(root).values())


def _paths_in(command: str) -> list[str]:
    """The interpreter and the script that a command of ours names."""
    try:
        words = [word.rstrip(";") for word in shlex.split(command, comments=True)]
    except ValueError:
        return []
    words = [word[2:] if word[:2] in ("p=", "s=") else word for word in words]
    return [word for word in words if os.path.isabs(word)]
