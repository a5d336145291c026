"""Where our hooks are registered, whether they can run, when they last ran, and whether the guard is on."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Iterator

from .. import __version__
from ..base import files, invocation
from ..base.process import PIN
from ..guard import policy
from ..setup import installation, settingsfile
from .call import Call
from .output import Fields, Refusal, short

RECENT_SECONDS = 7 * 86400
INSTALL = "run: " + invocation.script_command(invocation.tree(), "install.py", sys.executable, windows=os.name == "nt")
_PLUGIN = "harness-memory@"  # and the name of the marketplace: a key of the client's `enabledPlugins`


class Install:
    """A settings file, or the plugin's folder, with our hooks; it works when it has no problems."""

    def __init__(self, path: str, record: Fields, *, is_plugin: bool = False, is_read_here: bool = True) -> None:
        self.path, self.record, self.is_plugin, self.is_read_here = path, record, is_plugin, is_read_here
        self.hooks: list[settingsfile.Hook] = []
        self.problems: list[str] = []
        self.is_disabled = False
        self.remedy = INSTALL + (" --scope %s" % record["scope"] if record.get("scope", "user") != "user" else "")


def find(call: Call) -> list[Install]:
    """The recorded installs, any other in the settings files that a session here reads, and the plugin."""
    home, records = os.path.expanduser("~"), {item["settings"]: item for item in installation.records(call.root)}
    places = [(scope, cwd) for scope in settingsfile.SCOPES for cwd in (call.directory, call.project.root)]
    here = [*dict.fromkeys(settingsfile.locate(scope, os.environ, home, cwd) for scope, cwd in places)]
    installs: list[Install] = []
    plugins: Fields = {}
    off, remedy = settingsfile.forbidden(), "ask the administrator of this computer to allow them"
    for path in dict.fromkeys((*records, *here)):
        install = Install(path, records.get(path, {}), is_read_here=path in here)
        try:
            data, document = settingsfile.load(path)
            install.hooks = settingsfile.hooks(document, invocation.tree())
            install.problems += _problems(install, call.root, is_missing=data is None)
        except (OSError, Refusal, ValueError) as error:
            document = {}
            install.problems.append("cannot be used: %s" % error)
        installs += [install] if install.record or install.hooks or install.problems else []
        if install.is_read_here:  # of plugins, the last file that mentions one decides
            plugins.update(document.get("enabledPlugins") or {})
            if settingsfile.disables_hooks(document):
                off, remedy = '"disableAllHooks" is set in %s' % path, 'remove "disableAllHooks" from that file'
    installs += [_plugin(key) for key, is_on in plugins.items() if key.startswith(_PLUGIN) and is_on]
    for install in installs:
        if off and install.hooks and install.is_read_here:
            install.problems.append(off)
            install.is_disabled, install.remedy = True, remedy
    return installs


def _problems(install: Install, root: str, *, is_missing: bool) -> Iterator[str]:
    """What is wrong with our hooks in a settings file."""
    missing = {event for event, _ in settingsfile.HOOKS} - {hook.event for hook in install.hooks}
    if not install.hooks:
        yield from ["is gone" if is_missing else "does not hold our hooks any more"] * bool(install.record)
        return
    if missing:
        yield "no hook for %s" % ", ".join(sorted(missing))
    words = {word.rstrip(";") for hook in install.hooks for word in shlex.split(hook.command, comments=True)}
    for word in sorted(words):
        name, _, value = word.partition("=") if word[1:2] == "=" or word.startswith(PIN) else ("", "", word)
        if name in ("", "p", "s") and os.path.isabs(value) and not os.path.isfile(value):
            install.is_disabled |= value.endswith(".py")  # without its Python, it takes another
            yield "%s is gone" % value
        elif name in ("m", PIN[:-1]) and value != "$m" and os.path.realpath(value) != os.path.realpath(root):
            yield "hooks keep the memory in %s, commands read %s" % (value, root)
    version = install.record.get("version", __version__)
    if version != __version__:
        yield "installed by version %s, this is %s" % (version, __version__)


def _plugin(key: str) -> Install:
    """Our plugin as the client has installed it."""
    path = os.path.join(files.config_dir(os.environ), "plugins", "installed_plugins.json")
    installed = files.load_json(path, {"plugins": {"*": [{}]}})
    place: Fields = [{}, *(installed or {"plugins": {}})["plugins"].get(key, ())][-1]
    plugin = Install(str(place.get("installPath") or key), {"version": place.get("version")}, is_plugin=True)
    start = "sh %s " % invocation.quote(os.path.join(plugin.path, "hooks", "launch.sh"))
    plugin.hooks = [settingsfile.Hook(event, "", start + name[:-3]) for event, name in settingsfile.HOOKS]
    return plugin


def guard(call: Call, installs: list[Install]) -> tuple[str, str, list[str]]:
    """Of a session that starts here: whether the guard is on, what to do about that, and the commands that run it."""
    hooks = [(each, hook) for each in installs if each.is_read_here for hook in each.hooks]
    hooks = [(each, hook) for each, hook in hooks if hook.event == settingsfile.GUARD_EVENT]
    guarded = [(each, hook) for each, hook in hooks if hook.matcher != settingsfile.UNGUARDED]
    commands = [*dict.fromkeys(hook.command for each, hook in guarded if not each.is_disabled)]
    problems = policy.load(call.root, call.directory).problems
    if commands and problems:
        mend = "correct or delete the file; the rules in force: harness guard rules"
        return "DEGRADED: " + "; ".join(problems), mend, commands
    if commands:
        return "on", "", commands
    if guarded:
        return "off: its hook in %s cannot run" % short(guarded[0][0].path), INSTALL + " --guard", []
    where = "left out of %s (install.py --guard adds it)" % short(hooks[0][0].path) if hooks else ""
    return "off: " + (where or "no settings file here has its hook"), "", []
