"""`status` says where a memory stands, `doctor` names problems with their remedies, `verify` every invalid file.

`rebuild` writes the views again.
"""

from __future__ import annotations

import glob
import os
import shlex
import sys
from typing import Iterator, NamedTuple

from .. import __version__
from ..base import clock, config, files, health, invocation, settings
from ..base.process import PIN
from ..guard import policy
from ..memory import checks, threads, views
from ..memory import sync as syncing
from ..notes import shelf as notebook
from ..recall import cache
from ..session import episode, sessions
from ..setup import installation, settingsfile
from .call import Call
from .output import Fields, Refusal, ago, count, findings, line, local, page, short, some, table
from .share import summary as sync_summary
from .work import open_items, shown

_SHOWN = 5
_RECENT_SECONDS = 7 * 86400
INSTALL = "run: " + invocation.script_command(invocation.tree(), "install.py", sys.executable)
_PLUGIN = "harness-memory@"  # and the name of the marketplace: a key of the client's `enabledPlugins`


class Check(NamedTuple):
    """One thing examined; it is ok without a remedy."""

    topic: str
    text: str
    remedy: str = ""
    details: list[str] = []  # noqa: RUF012  (never changed)
    is_fatal: bool = False

    @property
    def mark(self) -> str:
        return ("FAIL" if self.is_fatal else "warn") if self.remedy else "ok"


def doctor(call: Call) -> int:
    rows: list[Fields] = []
    lines = []
    for check in _checks(call):
        rows.append({"mark": check.mark.lower(), **check._asdict(), "remedy": check.remedy or None})
        lines.append("%-4s  %-9s %s" % (check.mark, check.topic, check.text))
        details = some(check.details, _SHOWN) + ["-> " + check.remedy] * bool(check.remedy)
        lines += [" " * 16 + detail for detail in details]
    problems = sum(row["mark"] != "ok" for row in rows)
    lines += ["", "%s found." % count(problems, "problem") if problems else "All well."]
    return call.answer({"healthy": not problems, "version": __version__, "checks": rows}, lines, min(problems, 1))


def _checks(call: Call) -> Iterator[Check]:
    root = call.root
    python = "%d.%d.%d" % sys.version_info[:3]
    yield Check("version", "Harness Memory %s, Python %s (%s)" % (__version__, python, sys.executable))
    yield from health_checks(call)
    is_usable = not os.path.lexists(root) or (os.path.isdir(root) and os.access(root, os.W_OK | os.X_OK))
    text = count(len(call.all_dirs), "project") if is_usable else "cannot be written"
    remedy = "" if is_usable else "make it a folder of yours: chown, chmod u+rwx"
    yield Check("store", "%s: %s" % (short(root), text), remedy, is_fatal=True)
    for problem in config.load(root).problems:
        yield Check("config", problem, "correct or delete the file")
    details = []
    for each in reversed(health.failures(root)):
        at = clock.parse(each.get("at")) or 0.0
        if call.now - at < _RECENT_SECONDS:
            details.append("%s: %s (%s)" % (each.get("event"), line(each.get("error"))[:300], ago(at)))
    text = "%s in the last 7 days" % count(len(details), "failed run")
    remedy = "read and then delete the files in " + short(os.path.join(root, settings.FAILURES_DIR))
    yield Check("failures", text, remedy if details else "", details)
    # Settings have checks of their own.
    wrong = [*checks.check(root, call.all_dirs)]
    wrong = [each for each in wrong if not each.file.endswith((settings.CONFIG_FILE, settings.GUARD_FILE))]
    details = ["%s: %s (%s)" % (short(each.file), each.what, each.remedy) for each in wrong]
    remedy = "as each line says; all of them: harness memory verify --all-projects" if wrong else ""
    text = "%s damaged, newer than this version, or readable by others" % count(len(wrong), "file")
    yield Check("files", text if wrong else "all readable, and private", remedy, details, is_fatal=True)
    claude = os.path.join(glob.escape(call.project.root), settings.CLAUDE_DIR)
    artifacts = os.path.join(glob.escape(root), "*", settings.WORK_DIR, "*", "*", settings.ARTIFACTS_DIR)
    left = glob.glob(os.path.join(artifacts, "*" + settings.MALFORMED_SUFFIX))
    left += glob.glob(os.path.join(claude, settings.CHECKPOINT_PREFIX + "*"))
    if left:
        text = "%s could not be understood, or no session here wrote it" % count(len({*left}), "checkpoint")
        remedy = "record it again with: harness memory checkpoint; then delete the file"
        yield Check("leftovers", text, remedy, sorted({*map(short, left)}))


def health_checks(call: Call) -> Iterator[Check]:
    """Are the hooks in, is the guard on, when did they run, how did the last sync end."""
    every, folder = find_installs(call), os.path.join(call.root, settings.LAST_RUN_DIR)
    runs = {event: files.modified(os.path.join(folder, event)) for event, _ in settingsfile.HOOKS}
    for install in every:
        version, path = install.record.get("version"), short(install.path)
        how = "plugin" if install.is_plugin else count(len(install.hooks), "hook")
        text = "%s, %s" % (how, "version %s" % version if version else "entered by hand")
        text = "%s: %s" % (path, install.problems[0] if install.problems else text)
        text = "not on here, only in " * (not install.is_read_here) + text
        yield Check("install", text, install.remedy if install.problems else "", install.problems, is_fatal=True)
    here = [install for install in every if install.is_read_here and install.hooks]
    if len(here) > 1 and any(install.is_plugin for install in here):
        text = "installed twice, as a plugin and in %s; the plugin's hooks stand back" % short(here[0].path)
        remedy = "keep one: claude plugin uninstall harness-memory, or python3 install.py --uninstall"
        yield Check("install", text, remedy)
    if not every and call.now - max(runs.values()) < _RECENT_SECONDS:
        yield Check("install", "in no settings file, but hooks have run: probably as a plugin")
    elif not every:
        text = "not installed: no settings file here holds our hooks"
        yield Check("install", text, INSTALL, is_fatal=True)
    text, remedy, commands = guard_state(call, every)
    asked = "last asked %s" % ago(runs[settingsfile.GUARD_EVENT]) if runs[settingsfile.GUARD_EVENT] else "not asked yet"
    how = ", %s (to test it: harness guard test)" % asked if commands else ", " + asked if not every else ""
    yield Check("guard", text + how, remedy)
    times = ["%s %s" % (event, ago(instant)) for event, instant in runs.items() if instant]
    yield Check("runs", ", ".join(times) or "no hook has run yet: start claude in a project")
    if text := sync_summary(call.root):
        is_well = syncing.configuration(call.root)["last"].get("is_well", True)
        yield Check("sync", text, "" if is_well else "run: harness memory sync")


def rebuild(call: Call) -> int:
    rows = []
    for shelf in [*(notebook.Shelf("project", path) for path in call.dirs), notebook.user_shelf(call.root)]:
        changed = views.rebuild(shelf.home, 10.0)
        if os.path.isdir(shelf.folder):
            with shelf:
                changed += [settings.NOTES_INDEX_FILE] * shelf.refresh()
        if os.path.isdir(shelf.home):
            rows.append({"project": os.path.basename(shelf.home), "changed": changed})
    for path in filter(os.path.isdir, call.dirs):
        cache.drop(path)
        cache.open_source(call.root, path, call.now, float("inf"), is_whole=True)
    return call.answer(rows, None if rows else ["Nothing is remembered here yet, so there is nothing to rebuild."])


def verify(call: Call) -> int:
    dirs, found = call.dirs, [*checks.check(call.root, call.dirs)]
    lines = ["%s: every file is valid." % (short(dirs[0]) if len(dirs) == 1 else count(len(dirs), "project"))]
    lines = findings(found, os.path.realpath(call.root)) if found else lines
    value = {"store": call.root, "projects": [*map(os.path.basename, dirs)]}
    return call.answer({**value, "findings": [each._asdict() for each in found]}, lines, min(len(found), 1))


def status(call: Call) -> int:
    project, last, checks = call.project, call.last, [*health_checks(call)]
    running = {sessions.safe_id(marker["claude_session"])[:8] for marker in sessions.live_markers(project.dir)}
    facts: Fields = {
        "project": {"id": project.id, "name": project.name, "root": project.root, "branch": project.branch},
        "memory": project.dir,
        "sessions": len(call.records),
        "episodes": len(episode.names(project.dir)),
        "open_threads": sum(thread.is_open for thread in threads.load(project.dir)),
        "in_progress": open_items(project.dir),
        "live": [each.brief() for each in call.records if each.id[:8] in running],
        "last": last.brief() if last else None,
        "health": [{"mark": check.mark, "topic": check.topic, "text": check.text} for check in checks],
    }
    counts = [count(facts["sessions"], "session"), count(facts["open_threads"], "open thread")]
    work = [" · ".join(map(line, shown(item)[:2])) for item in facts["in_progress"]]
    about = {
        "Project": " on ".join(filter(None, [project.name, project.branch])),
        "Folder": project.root,
        "Memory": project.dir,
        "": ", ".join(counts) if os.path.isdir(project.dir) else "nothing yet: it begins with the next session",
        "Now": [_line_of(each) for each in facts["live"]] or "no session is running here",
        "In progress": some(work, _SHOWN) or None,
        "Last session": [_line_of(facts["last"]), last.headline] if last else None,
    }
    health = [[each.mark, each.topic, line("; ".join(filter(None, each[1:3])))] for each in checks]
    return call.answer(facts, [*page(about), "", *table(health)])


def _line_of(session: Fields) -> str:
    return "%s %s, started %s" % (session["id"], session["status"], local(session["started"]))


# Our hooks: where they are registered, and whether they can run --------------------------------------
class Install:
    """A settings file, or the plugin's folder, with our hooks; it works when it has no problems."""

    def __init__(self, path: str, record: Fields, *, is_plugin: bool = False, is_read_here: bool = True) -> None:
        self.path, self.record, self.is_plugin, self.is_read_here = path, record, is_plugin, is_read_here
        self.hooks: list[settingsfile.Hook] = []
        self.problems: list[str] = []
        self.is_disabled = False
        self.remedy = INSTALL + (" --scope %s" % record["scope"] if record.get("scope", "user") != "user" else "")


def find_installs(call: Call) -> list[Install]:
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


def guard_state(call: Call, installs: list[Install]) -> tuple[str, str, list[str]]:
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
    where = "off: left out of %s (install.py --guard adds it)" % short(hooks[0][0].path) if hooks else ""
    return where or "in no settings file here", "", []
