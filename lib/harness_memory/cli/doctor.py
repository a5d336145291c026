"""`doctor`: is it installed, does it run, is the store sound; each problem with its remedy."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time

from .. import __version__
from ..audit import verify as chain
from ..base import clock, config, health, invocation, jsontext, settings
from ..base import files as store
from ..memory import checks as integrity
from ..memory.file_rules import DAMAGED
from ..recall import cache
from ..session import sessions
from ..setup import entries
from . import arguments, guarding, installs
from .maintain import listing
from .output import ago, count, emit_json, line, passage, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..project.identity import Project
    from .guarding import Guarding
    from .installs import Install

OK, WARN, FAIL = "ok", "warn", "FAIL"
_FREE_LOW_BYTES = 50 * 1024 * 1024
_GROUPS_SHOWN = 5
_REINSTALL = "run: python3 %s" % invocation.quote(os.path.join(invocation.tree(), "install.py"))


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
    try:
        checks = list(examine(arguments.root(), arguments.directory(args), arguments.locate(args)))
    except store.Foreign as error:
        checks = [_foreign(error)]
    problems = sum(1 for check in checks if check.mark != OK)
    if args.json:
        emit_json({"healthy": not problems, "version": __version__, "checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            print("\n".join(_lines(check)))
        print("\n" + ("%s found." % count(problems, "problem") if problems else "All well."))
    return 1 if problems else 0


def examine(root: str, directory: str, project: Project) -> Iterator[Check]:
    python = "%d.%d.%d" % sys.version_info[:3]
    yield Check(OK, "version", "Harness Memory %s, Python %s (%s)" % (__version__, python, sys.executable))
    if config.is_off(os.environ):
        setting = "%s=%s" % (settings.ENV_SWITCH, os.environ[settings.ENV_SWITCH])
        yield Check(WARN, "switch", "%s in the environment: every hook is switched off here" % setting, "unset it")
    yield from _installs(root, directory, project.root)
    guard = guarding.look(root, installs.in_force(directory, project.root), directory)
    yield from _guard(root, guard)
    yield from _store(root)
    settled = config.load(root)
    for problem in settled.problems:
        yield Check(WARN, "config", problem, "correct or delete the file")
    yield _runs(root)
    yield _failures(root)
    reported = [settings.CONFIG_FILE] * bool(settled.problems) + [settings.GUARD_FILE] * bool(guard.problems)
    yield from _files(root, [os.path.join(root, name) for name in reported])
    yield _audit(project.dir)
    yield from _leftovers(project.root)
    yield _recall(arguments.all_dirs())


def _foreign(error: OSError) -> Check:
    text = "%s %s: nothing is remembered, and nothing of it believed" % (short(str(error.filename)), error.strerror)
    return Check(FAIL, "store", text, "make it yours (chown -R), or name another place in %s" % settings.ENV_HOME)


def _lines(check: Check) -> list[str]:
    lines = ["%-4s  %-9s %s" % (check.mark, check.topic, line(check.text))]
    lines += ["%16s%s" % ("", passage(detail)) for detail in check.details]
    return [*lines, "%16s-> %s" % ("", line(check.remedy))] if check.remedy and check.mark != OK else lines


# Installs ------------------------------------------------------------------------------------------


def _installs(root: str, directory: str, project_root: str) -> Iterator[Check]:
    places = installs.in_force(directory, project_root)
    found = installs.find(root, places)
    for install in found:
        yield _install(install)
    doubled = installs.doubled([install for install in found if install.path in places])
    if doubled:
        files = [short(install.path) for install in found if install.path in places and install.commands]
        text = "different commands of ours for %s: each would run" % ", ".join(doubled)
        yield Check(WARN, "install", text, "keep one: install.py --uninstall with the --scope of the other", files)
    if not found and installs.have_run_lately(root):
        yield Check(OK, "install", "in no settings file of this machine, but hooks have run: as a plugin, probably")
    elif not found:
        yield Check(FAIL, "install", "not installed: no settings file here holds our hooks", _REINSTALL)


def _install(install: Install) -> Check:
    """How one settings file stands."""
    where, known = short(install.path), install.known
    if install.trouble.startswith("cannot"):
        return Check(FAIL, "install", "%s %s" % (where, install.trouble), "correct the file, for Claude Code too")
    if install.trouble:
        remedy = _REINSTALL + " (or --uninstall, to forget this install)"
        return Check(FAIL, "install", "%s %s" % (where, install.trouble), remedy)
    if install.problems:
        return Check(FAIL, "install", where, _remedy(known, install.is_disabled), install.problems)
    how = "version %s" % known.get("version") if known else "entered by hand"
    return Check(OK, "install", "%s: %s, %s" % (where, count(len(install.commands), "hook"), how))


def _remedy(known: dict[str, Any] | None, is_disabled: bool) -> str:
    if is_disabled:
        return 'remove "disableAllHooks" from the file'
    scope = str((known or {}).get("scope") or "user")
    return _REINSTALL + ("" if scope == "user" else " --scope %s" % scope)


# Guard ---------------------------------------------------------------------------------------------


def _guard(root: str, found: Guarding) -> Iterator[Check]:
    for problem in found.problems:
        remedy = "correct or delete the file; the rules in force: harness guard rules"
        yield Check(WARN, "guard", problem, remedy)
    others = [reason for reason in found.why if reason not in found.problems]
    if found.state == guarding.DEGRADED and others:
        yield Check(WARN, "guard", "degraded", guarding.INSTALL, others)
    elif found.state != guarding.DEGRADED:
        is_lost = found.is_left_out and not found.is_chosen
        asked = clock.parse(installs.last_runs(root)[entries.GUARD_EVENT])
        how = ", last asked %s" % ago(asked) if asked else ", not asked yet"
        how = "" if found.state == guarding.OFF else how + " (to see it answer: harness guard test)"
        yield Check(WARN if is_lost else OK, "guard", found.line() + how, guarding.INSTALL)


def _audit(project_dir: str) -> Check:
    try:
        found = chain.verify(project_dir)
    except OSError as error:
        text = "the trail of this project cannot be read (%s)" % error.strerror
        return Check(FAIL, "audit", text, "make it a plain file that you may read")
    if found.broken:
        text = "the trail of this project is not as it was written"
        return Check(FAIL, "audit", text, "see: harness memory audit verify")
    events = "%s of this project, the chain is whole" % count(found.count, "event")
    return Check(OK, "audit", events if found.count else "nothing recorded in this project yet")


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
    while not os.path.lexists(path) and os.path.dirname(path) != path:  # there may be a fault at the root itself
        path = os.path.dirname(path)
    return path


def _runs(root: str) -> Check:
    runs = {event: when for event, when in installs.last_runs(root).items() if when}
    told = ["%s %s" % (event, ago(clock.parse(when) or 0.0)) for event, when in runs.items()]
    return Check(OK, "runs", ", ".join(told) or "no hook has run yet: start claude in a project")


def _failures(root: str) -> Check:
    """Alike ones together, the newest first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in reversed(store.names(health.failures_dir(root))):
        record = _failure(os.path.join(health.failures_dir(root), name))
        if record and _age(record.get("at")) < installs.RECENT_SECONDS:
            groups.setdefault((str(record.get("event")), str(record.get("error"))), []).append(name)
    if not groups:
        return Check(OK, "failures", "none in the last %d days" % (installs.RECENT_SECONDS // 86400))
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
    return Check(
        WARN, "failures", "%s in the last %d days" % (total, installs.RECENT_SECONDS // 86400), remedy, details
    )


def _failure(path: str) -> dict[str, Any]:
    try:
        record = jsontext.loads(store.read(path) or b"{}")
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _files(root: str, reported: list[str]) -> Iterator[Check]:
    """Files that cannot be read as what they should be, but for those `reported`, and those that others can read."""
    dirs = arguments.all_dirs()
    findings = [*integrity.check_store(root)] if os.path.isdir(root) else []
    for path in dirs:
        findings += integrity.check_files(path)
    damaged = [finding for finding in findings if finding.kind == DAMAGED and finding.path not in reported]
    opened = sum(1 for finding in findings if finding.kind == integrity.MODE)
    if opened:
        what = "file or folder" if opened == 1 else "files or folders"
        text = "%d %s of the memory not closed to others" % (opened, what)
        yield Check(WARN, "modes", text, "close them: chmod -R go-rwx %s" % invocation.quote(root))
    if not damaged:
        yield Check(OK, "files", "all readable")
        return
    text = "%s damaged, unreadable or newer than this version" % count(len(damaged), "file")
    remedy = "as said above; every other rule: harness memory verify --all-projects"
    yield Check(FAIL, "files", text, remedy, [row for row in listing(damaged, root)[1:] if row])


def _leftovers(project_root: str) -> Iterator[Check]:
    folder = os.path.join(project_root, settings.CLAUDE_DIR)
    malformed = _named(folder, settings.REJECT_SUFFIX)
    for path in arguments.all_dirs():
        for session in _session_directories(path):
            malformed += _named(os.path.join(session, settings.ARTIFACTS_DIR), settings.MALFORMED_SUFFIX)
    if malformed:
        text = "%s could not be understood" % count(len(malformed), "checkpoint")
        remedy = "say it again with: harness memory checkpoint; then delete the file"
        yield Check(WARN, "leftovers", text, remedy, _some(malformed))


def _session_directories(project_dir: str) -> list[str]:
    try:
        return sessions.all_directories(project_dir)
    except OSError:
        return []  # told among the files


def _recall(project_dirs: list[str]) -> Check:
    """What recall searches in; where there is none, the next start of a session makes it."""
    known = size = 0
    for path in project_dirs:
        with contextlib.suppress(OSError, *cache.DAMAGE):
            source = cache.open_source(arguments.root(), path, time.time(), time.monotonic() + 1, is_whole=False)
            known += source.count if source else 0
            size += sum(
                os.path.getsize(os.path.join(cache.folder(path), name)) for name in store.names(cache.folder(path))
            )
            if source:
                source.close()
    return Check(OK, "recall", "%s indexed, %d KB" % (count(known, "document"), size >> 10))


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
