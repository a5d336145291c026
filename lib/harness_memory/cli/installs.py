"""Where our hooks are registered, whether they can run, when they last ran, and whether the guard is on."""

from __future__ import annotations

import os
import shlex
import time
from typing import Any, NamedTuple

from .. import __version__
from ..base import files, invocation, settings
from ..base.pinned import PIN
from ..guard import policy
from ..setup import installation, jsonedit, settingsfile
from .output import Refusal

RECENT_SECONDS = 7 * 86400
INSTALL = "run: python3 %s" % invocation.quote(os.path.join(invocation.tree(), "install.py"))
ON, OFF, DEGRADED = "on", "off", "degraded"
_PLUGIN = "harness-memory@"  # and the name of the marketplace: a key of the client's `enabledPlugins`


class Install:
    """One settings file that has, or should have, our hooks; it works when it has no problems."""

    is_plugin = False

    def __init__(self, path: str, record: dict[str, Any], store: str = "", *, is_read_here: bool) -> None:
        self.path, self.record, self.store, self.is_read_here = path, record, store, is_read_here
        self.hooks: list[settingsfile.Hook] = []
        self.is_disabled = False
        self.problems: list[str] = []
        self._examine(path, record)

    def _examine(self, path: str, record: dict[str, Any]) -> None:
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
        missing = [event for event, _, _ in settingsfile.HOOKS if event not in {hook.event for hook in self.hooks}]
        self.problems += ["no hook for %s" % ", ".join(missing)] if missing else []
        paths = dict.fromkeys(path for hook in self.hooks for path in _paths_in(hook.command))
        self.problems += ["%s is gone" % path for path in paths if not os.path.isfile(path)]
        words = {word for hook in self.hooks for word in _words(hook.command) if word.startswith(("m=", PIN))}
        for store in {word.partition("=")[2] for word in words} - {"$m"}:
            if os.path.realpath(store) != os.path.realpath(self.store):
                self.problems.append("hooks keep the memory in %s, commands read %s" % (store, self.store))
        if settingsfile.disables_hooks(text):
            self.is_disabled = True
            self.problems.append('"disableAllHooks" is set in this file')
            self.remedy = 'remove "disableAllHooks" from the file'
        if forbidden := settingsfile.forbidden():
            self.is_disabled = True
            self.problems.append(forbidden)
            self.remedy = "ask whoever manages this computer to allow them"
        version = record.get("version", __version__)
        if version != __version__:
            self.problems.append("installed by version %s, this is %s" % (version, __version__))


class Plugin(Install):
    """Our plugin as the client has installed it; `path` is its folder."""

    is_plugin = True

    def _examine(self, path: str, record: dict[str, Any]) -> None:
        self.remedy = "run: claude plugin install harness-memory --marketplace %s" % record["marketplace"]
        launcher = os.path.join(path, "hooks", "launch.sh")
        if not os.path.isfile(launcher):
            self.problems = ["the plugin is enabled, but %s is missing" % launcher]
        node = jsonedit.parse("{}")
        for event, script, _ in settingsfile.HOOKS:
            command = "sh %s %s" % (invocation.quote(launcher), script[: -len(".py")])
            self.hooks.append(settingsfile.Hook(event, "", command, node))


def _plugins(paths: list[str]) -> list[Install]:
    """Our plugin, if the last of these settings files that mentions it enables it. `--plugin-dir` leaves no trace."""
    config = os.path.dirname(settingsfile.locate("user", os.environ, os.path.expanduser("~"), ""))
    installed = files.load_json(os.path.join(config, "plugins", "installed_plugins.json"), {"plugins": {}}) or {}
    enabled: dict[str, bool] = {}
    switches = []
    for path in paths:
        try:
            text = settingsfile.load(path)[1]
        except Refusal:
            continue
        switches += [path] if settingsfile.disables_hooks(text) else []
        mentioned = jsonedit.parse(text).below("enabledPlugins")
        enabled.update({node.key: node.kind == "t" for node in mentioned if node.key.startswith(_PLUGIN)})
    plugins: list[Install] = []
    for key, is_on in enabled.items():
        places = installed.get("plugins", {}).get(key)
        place = places[-1] if isinstance(places, list) and places and isinstance(places[-1], dict) else {}
        record = {"marketplace": key[len(_PLUGIN) :], "version": place.get("version")}
        plugins += [Plugin(str(place.get("installPath") or key), record, is_read_here=True)] if is_on else []
    for plugin in plugins if switches else ():
        plugin.is_disabled = True
        plugin.problems.append('"disableAllHooks" is set in %s' % switches[0])
        plugin.remedy = 'remove "disableAllHooks" from that file'
    return plugins


def find(root: str, directory: str, project_root: str) -> list[Install]:
    """The recorded installs, any other in the settings files that a session in `directory` reads, and the plugin."""
    home, records = os.path.expanduser("~"), {item["settings"]: item for item in installation.records(root)}
    places = [(scope, cwd) for scope in settingsfile.SCOPES for cwd in (directory, project_root)]
    here = [settingsfile.locate(scope, os.environ, home, cwd) for scope, cwd in places]
    paths = dict.fromkeys((*records, *here))
    installs = [Install(path, records.get(path, {}), root, is_read_here=path in here) for path in paths]
    installs = [install for install in installs if install.record or install.hooks or install.problems]
    return [*installs, *_plugins([*dict.fromkeys(here)])]


class Guard(NamedTuple):
    """Whether the guard is on; `why` names what is wrong, `problems` those of its rule files."""

    state: str
    why: list[str]
    problems: list[str]
    is_lost: bool  # left out, but not by the user's choice
    commands: tuple[str, ...]

    def line(self) -> str:
        more = ", and %d more" % (len(self.why) - 1) if self.why[1:] else ""
        hint = " (see: harness memory doctor)" if self.state == DEGRADED else ""
        return (self.state.upper() if hint else self.state) + (": " + self.why[0] + more if self.why else "") + hint


def guard(root: str, installs: list[Install], directory: str) -> Guard:
    """The guard's state in a session that starts in `directory`."""
    problems = policy.load(root, directory).problems
    hooks = [(each, hook) for each in installs if each.is_read_here for hook in each.hooks]
    hooks = [(each, hook) for each, hook in hooks if hook.event == settingsfile.GUARD_EVENT]
    guarded = [(each, hook) for each, hook in hooks if hook.matcher != settingsfile.UNGUARDED]
    able = []
    for each, hook in guarded:
        scripts = [path for path in _paths_in(hook.command) if path.endswith((".py", ".sh"))]
        able += [(each, hook)] if not each.is_disabled and all(map(os.path.isfile, scripts)) else []
    state, is_lost = OFF, False
    why: list[str] = []
    if not installs and have_run_lately(root):
        state, why = (DEGRADED, problems) if problems else (ON, ["probably as a plugin"])
    elif not hooks:
        why = ["not installed here"]
    elif not guarded:
        is_lost = all(each.record.get("guard") is not False for each, _ in hooks)
        why = ["left out of %s (install.py --guard adds it)" % hooks[0][0].path]
    elif not able:
        why = ["its hook in %s cannot run" % each.path for each, _ in guarded]
    else:
        narrow = ['it sees only "%s" in %s' % (hook.matcher, each.path) for each, hook in able]
        why = [*(narrow if all(hook.matcher for _, hook in able) else []), *problems]
        state = DEGRADED if why else ON
    commands = () if state == OFF else tuple(dict.fromkeys(hook.command for _, hook in able))
    return Guard(state, why, problems, is_lost, commands)


def last_runs(root: str) -> dict[str, float]:
    """When each hook last ran; 0.0 for never."""
    folder = os.path.join(root, settings.HEALTH_DIR, settings.LAST_RUN_DIR)
    return {event: files.modified(os.path.join(folder, event)) for event, _, _ in settingsfile.HOOKS}


def have_run_lately(root: str) -> bool:
    return time.time() - max(last_runs(root).values()) < RECENT_SECONDS


def _words(command: str) -> list[str]:
    try:
        return [word.rstrip(";") for word in shlex.split(command, comments=True)]
    except ValueError:
        return []


def _paths_in(command: str) -> list[str]:
    """The interpreter and the script that a command of ours names."""
    words = [word[2:] if word[:2] in ("p=", "s=") else word for word in _words(command)]
    return [word for word in words if os.path.isabs(word)]
