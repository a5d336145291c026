"""`doctor`: is it installed, does it run, is the store sound; each problem with its remedy."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time

from .. import __version__, clock, config, health, jsontext, runner, settings, store
from .. import session as sessions
from ..setup import entries, jsontree, merge, registry, settingsfile
from . import arguments, integrity
from .look import last_runs
from .maintain import listing
from .output import ago, count, emit_json, line, passage, short
from .rules import DAMAGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
OK, WARN, FAIL = "ok", "warn", "FAIL"
_FREE_LOW_BYTES = 50 * 1024 * 1024
_RECENT_SECONDS = 7 * 86400
_GROUPS_SHOWN = 5
_REINSTALL = "run: python3 %s" % entries.quote(os.path.join(ROOT, "install.py"))


class Check:
    """One thing looked at: how it stands, and what to do unless it is well."""

    __slots__ = ("details", "mark", "remedy", "text", "topic")

    def __init__(self, mark: str, topic: str, text: str, remedy: str = "", details: list[str] | None = None) -> None:
        self.mark = mark
        self.topic = topic
        self.text = text
        self.remedy = remedy
        self.details = details or []

    def as_json(self) -> dict[str, Any]:
        told = {"mark": self.mark.lower(), "topic": self.topic, "text": self.text}
        return {**told, "remedy": self.remedy or None, "details": self.details}


def doctor(argv: list[str]) -> int:
    about = "Look everything over: installs, hooks, store, failures, damaged files. Exit code 0: all well, 1: problems."
    args = arguments.parser("doctor", about, "doctor\ndoctor --json").parse_args(argv)
    checks = list(examine(arguments.root(), arguments.directory(args), arguments.locate(args).root))
    problems = sum(1 for check in checks if check.mark != OK)
    if args.json:
        emit_json({"healthy": not problems, "version": __version__, "checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            print("\n".join(_lines(check)))
        print("\n" + ("%s found." % count(problems, "problem") if problems else "All well."))
    return 1 if problems else 0


def examine(root: str, directory: str, project_root: str) -> Iterator[Check]:
    python = "%d.%d.%d" % sys.version_info[:3]
    yield Check(OK, "version", "Harness Memory %s, Python %s (%s)" % (__version__, python, sys.executable))
    if runner.is_off(os.environ):
        setting = "%s=%s" % (settings.ENV_SWITCH, os.environ[settings.ENV_SWITCH])
        yield Check(WARN, "switch", "%s in the environment: every hook is switched off here" % setting, "unset it")
    yield from _installs(root, directory, project_root)
    yield from _store(root)
    for problem in config.load(root).problems:
        yield Check(WARN, "config", problem, "correct or delete the file")
    yield _runs(root)
    yield _failures(root)
    yield _files(root)
    yield from _leftovers(project_root)


def _lines(check: Check) -> list[str]:
    lines = ["%-4s  %-9s %s" % (check.mark, check.topic, line(check.text))]
    lines += ["%16s%s" % ("", passage(detail)) for detail in check.details]
    return [*lines, "%16s-> %s" % ("", line(check.remedy))] if check.remedy and check.mark != OK else lines


# Installs ------------------------------------------------------------------------------------------


def _installs(root: str, directory: str, project_root: str) -> Iterator[Check]:
    known = {str(item.get("settings")): item for item in registry.load(root)}
    home, scopes = os.path.expanduser("~"), settingsfile.SCOPES
    places = [settingsfile.locate(scope, os.environ, home, at) for scope in scopes for at in (directory, project_root)]
    found = False
    for path in dict.fromkeys((*known, *places)):
        check = _install(path, known.get(path))
        if check:
            found = True
            yield check
    if not found:
        seen = [event for event, when in last_runs(root).items() if when and _age(when) < _RECENT_SECONDS]
        if seen:
            yield Check(OK, "install", "in no settings file of this machine, but hooks have run: as a plugin, probably")
        else:
            yield Check(FAIL, "install", "not installed: no settings file here holds our hooks", _REINSTALL)


def _install(path: str, known: dict[str, Any] | None) -> Check | None:
    """How one settings file stands; None when it has nothing to do with us."""
    where = short(path)
    try:
        data = settingsfile.read(path)
        text = settingsfile.as_document(data)
        commands = merge.commands(text, ROOT)
        is_disabled = bool((jsontext.loads(text) or {}).get("disableAllHooks"))
    except (settingsfile.Refused, jsontree.Invalid, ValueError, AttributeError) as error:
        return Check(FAIL, "install", "%s cannot be used: %s" % (where, error), "correct the file, for Claude Code too")
    if not commands:
        if known is None:
            return None
        gone = "is gone" if data is None else "does not hold our hooks any more"
        return Check(FAIL, "install", "%s %s" % (where, gone), _REINSTALL + " (or --uninstall, to forget this install)")
    problems = _command_problems(commands)
    if is_disabled:
        problems.append('"disableAllHooks" is set in this file')
    if known and known.get("version") != __version__:
        problems.append("installed by version %s, this is %s" % (known.get("version"), __version__))
    if problems:
        return Check(FAIL, "install", where, _remedy(known, is_disabled), problems)
    how = "version %s" % known.get("version") if known else "entered by hand"
    return Check(OK, "install", "%s: %s, %s" % (where, count(len(commands), "hook"), how))


def _remedy(known: dict[str, Any] | None, is_disabled: bool) -> str:
    if is_disabled:
        return 'remove "disableAllHooks" from the file'
    scope = str((known or {}).get("scope") or "user")
    return _REINSTALL + ("" if scope == "user" else " --scope %s" % scope)


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


# Store ---------------------------------------------------------------------------------------------


def _store(root: str) -> Iterator[Check]:
    if not os.path.lexists(root):
        parent = _standing(root)
        if os.path.isdir(parent) and os.access(parent, os.W_OK | os.X_OK):
            yield Check(OK, "store", "%s: made with the first session" % short(root))
        else:
            yield Check(FAIL, "store", "%s cannot be made in %s" % (short(root), short(parent)), "make that yours")
        return
    if not os.path.isdir(root):
        yield Check(FAIL, "store", "%s is no directory: nothing can be remembered" % short(root), "move the file away")
        return
    try:
        with tempfile.NamedTemporaryFile(prefix=".doctor-", suffix=settings.TEMP_SUFFIX, dir=root) as file:
            file.write(b"can this be written?")
            file.flush()
        free = shutil.disk_usage(root).free
    except OSError as error:
        text = "%s cannot be written (%s)" % (short(root), error.strerror)
        yield Check(FAIL, "store", text, "make room, or make it yours: chown, chmod u+rwx")
        return
    text = "%s: %s, %d MB free" % (short(root), count(len(arguments.all_dirs()), "project"), free >> 20)
    if free < _FREE_LOW_BYTES:
        yield Check(WARN, "store", text, "make room on this disk")
    else:
        yield Check(OK, "store", text)


def _standing(path: str) -> str:
    """The nearest of its parents that is there."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def _runs(root: str) -> Check:
    runs = {event: when for event, when in last_runs(root).items() if when}
    told = ["%s %s" % (event, ago(clock.parse(when) or 0.0)) for event, when in runs.items()]
    return Check(OK, "runs", ", ".join(told) or "no hook has run yet: start claude in a project")


def _failures(root: str) -> Check:
    """Alike ones together, the newest first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in reversed(store.names(health.failures_dir(root))):
        record = _failure(os.path.join(health.failures_dir(root), name))
        if record and _age(record.get("at")) < _RECENT_SECONDS:
            groups.setdefault((str(record.get("event")), str(record.get("error"))), []).append(name)
    if not groups:
        return Check(OK, "failures", "none in the last %d days" % (_RECENT_SECONDS // 86400))
    details = []
    for (event, error), names in [*groups.items()][:_GROUPS_SHOWN]:
        path = os.path.join(health.failures_dir(root), names[0])
        newest = _failure(path).get("at")
        times = "" if len(names) == 1 else ", %d times" % len(names)
        when = ago(clock.parse(newest) or 0.0)
        details += ["%s, %s%s: %s" % (event, when, times, line(error)[:300]), "  in " + short(path)]
    details += ["and %d other kinds" % (len(groups) - _GROUPS_SHOWN)] if len(groups) > _GROUPS_SHOWN else []
    total = count(sum(len(names) for names in groups.values()), "failed run")
    remedy = "read the newest; when it is settled, delete the files in %s" % short(health.failures_dir(root))
    return Check(WARN, "failures", "%s in the last %d days" % (total, _RECENT_SECONDS // 86400), remedy, details)


def _failure(path: str) -> dict[str, Any]:
    try:
        record = jsontext.loads(store.read(path) or b"{}")
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _files(root: str) -> Check:
    """Files that cannot be read as what they should be; `verify` knows all the other rules."""
    dirs = arguments.all_dirs()
    findings = [*integrity.check_store(root)] if os.path.isdir(root) else []
    for path in dirs:
        findings += integrity.check_files(path)
    damaged = [finding for finding in findings if finding.kind == DAMAGED]
    if not damaged:
        return Check(OK, "files", "all readable")
    text = "%s damaged, unreadable or newer than this version" % count(len(damaged), "file")
    remedy = "as said above; every other rule: harness memory verify --all-projects"
    return Check(FAIL, "files", text, remedy, [row for row in listing(damaged, root)[1:] if row])


def _leftovers(project_root: str) -> Iterator[Check]:
    folder = os.path.join(project_root, settings.CLAUDE_DIR)
    malformed = _named(folder, settings.REJECT_SUFFIX)
    waiting = []
    for path in arguments.all_dirs():
        for session in sessions.all_directories(path):
            malformed += _named(os.path.join(session, settings.ARTIFACTS_DIR), settings.MALFORMED_SUFFIX)
        waiting += _named(os.path.join(path, settings.STATE_DIR, settings.DIRTY_DIR), ".json")
    waiting = [path for path in waiting if _modified(path) < time.time() - settings.CLAIM_STALE_SECONDS]
    if malformed:
        text = "%s could not be understood" % count(len(malformed), "checkpoint")
        remedy = "say it again with: harness memory checkpoint; then delete the file"
        yield Check(WARN, "leftovers", text, remedy, _some(malformed))
    if waiting:
        text = "%s not shown in the views yet" % count(len(waiting), "episode")
        yield Check(WARN, "views", text, "run: harness memory rebuild --all-projects", _some(waiting))


def _named(folder: str, ending: str) -> list[str]:
    return [os.path.join(folder, name) for name in store.names(folder) if name.endswith(ending)]


def _some(paths: list[str]) -> list[str]:
    more = ["and %d more" % (len(paths) - _GROUPS_SHOWN)] if len(paths) > _GROUPS_SHOWN else []
    return [short(path) for path in paths[:_GROUPS_SHOWN]] + more


def _age(when: object) -> float:
    seconds = clock.parse(when)
    return float("inf") if seconds is None else time.time() - seconds


def _modified(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return float("inf")
