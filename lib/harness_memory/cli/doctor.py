"""`doctor` names problems with their remedies, `verify` every invalid file; `rebuild` writes the views again."""

from __future__ import annotations

import glob
import os
import sys
import time
from typing import Any, Iterator, NamedTuple

from .. import __version__
from ..base import clock, config, files, health, invocation, settings
from ..memory import backfill, checks, views
from ..memory import sync as syncing
from ..notes import shelf as notebook
from ..recall import cache
from . import arguments, installs
from .output import ago, answer, by_remedy, count, line, short, some
from .sync import summary as sync_summary

OK, WARN, FAIL = "ok", "warn", "FAIL"
_SHOWN = 5


class Check(NamedTuple):
    """One thing examined: its state, and what to do unless it is ok."""

    mark: str
    topic: str
    text: str
    remedy: str = ""
    details: list[str] = []  # noqa: RUF012  (never changed)


def doctor(argv: list[str]) -> int:
    args = arguments.parser("doctor").parse_args(argv)
    try:
        examined = list(_checks(arguments.root(), arguments.directory(args), arguments.locate(args)))
    except files.Foreign as error:
        text = "%s: %s; nothing is remembered or read" % (short(str(error.filename)), error.strerror)
        remedy = "make it yours (chown -R), or name another folder in %s" % settings.ENV_HOME
        examined = [Check(FAIL, "store", text, remedy)]
    problems = sum(check.mark != OK for check in examined)
    rows, lines = [], []
    for check in examined:
        remedy = check.remedy if check.mark != OK else ""
        rows.append({**check._asdict(), "mark": check.mark.lower(), "remedy": remedy or None})
        lines.append("%-4s  %-9s %s" % (check.mark, check.topic, check.text))
        lines += ["%16s%s" % ("", detail) for detail in some(check.details, _SHOWN)]
        lines += ["%16s-> %s" % ("", remedy)] if remedy else []
    lines += ["", "%s found." % count(problems, "problem") if problems else "All well."]
    answer(args.json, {"healthy": not problems, "version": __version__, "checks": rows}, lines)
    return 1 if problems else 0


def _checks(root: str, directory: str, project: Any) -> Iterator[Check]:
    python = "%d.%d.%d" % sys.version_info[:3]
    yield Check(OK, "version", "Harness Memory %s, Python %s (%s)" % (__version__, python, sys.executable))
    if config.is_off(os.environ):
        setting = "%s=%s" % (settings.ENV_SWITCH, os.environ[settings.ENV_SWITCH])
        yield Check(WARN, "switch", "%s in the environment: checkpoints are refused, hooks run" % setting, "unset it")
    every = installs.find(root, directory, project.root)
    yield from _installs(root, every)
    runs = installs.last_runs(root)
    guard = installs.guard(root, every, directory)
    for problem in guard.problems:
        yield Check(WARN, "guard", problem, "correct or delete the file; the rules in force: harness guard rules")
    others = [reason for reason in guard.why if reason not in guard.problems]
    if guard.state == installs.DEGRADED and others:
        yield Check(WARN, "guard", "degraded: %s" % others[0], installs.INSTALL + " --guard", others)
    elif guard.state != installs.DEGRADED:
        asked = ago(runs["PreToolUse"]) if runs["PreToolUse"] else "never"
        how = ", last asked %s (to test it: harness guard test)" % asked if guard.state == installs.ON else ""
        yield Check(WARN if guard.is_lost else OK, "guard", guard.line() + how, installs.INSTALL + " --guard")
    yield _store(root)
    for problem in config.load(root).problems:
        yield Check(WARN, "config", problem, "correct or delete the file")
    times = ["%s %s" % (event, ago(instant)) for event, instant in runs.items() if instant]
    yield Check(OK, "runs", ", ".join(times) or "no hook has run yet: start claude in a project")
    yield _failures(root)
    if sync_summary(root):
        is_well = syncing.last(root).get("is_well", True)
        yield Check(OK if is_well else WARN, "sync", sync_summary(root), "run: harness memory sync")
    yield from _files(root)
    artifacts = os.path.join(glob.escape(root), "*", settings.WORK_DIR, "*", "*", settings.ARTIFACTS_DIR)
    left = glob.glob(os.path.join(artifacts, "*" + settings.MALFORMED_SUFFIX))
    left += glob.glob(os.path.join(glob.escape(project.root), settings.CLAUDE_DIR, "*" + settings.REJECT_SUFFIX))
    if left:
        text = "%s could not be understood" % count(len(left), "checkpoint")
        remedy = "record it again with: harness memory checkpoint; then delete the file"
        yield Check(WARN, "leftovers", text, remedy, [short(path) for path in left])
    claude = os.path.join(glob.escape(project.root), settings.CLAUDE_DIR, settings.CHECKPOINT_PREFIX + "*")
    if ignored := [path for path in glob.glob(claude) if not path.endswith(settings.REJECT_SUFFIX)]:
        text = "%s that no session here is known to have written" % count(len(ignored), "checkpoint file")
        yield Check(WARN, "ignored", text, "delete it, or see who did", [short(path) for path in ignored])


def _installs(root: str, every: list[installs.Install]) -> Iterator[Check]:
    for install in every:
        path = short(install.path)
        if install.is_plugin and not install.problems:
            yield Check(OK, "install", "%s: plugin, version %s" % (path, install.record["version"]))
        elif install.problems:
            yield Check(FAIL, "install", "%s: %s" % (path, install.problems[0]), install.remedy, install.problems)
        else:
            how = "version %s" % install.record["version"] if install.record.get("version") else "entered by hand"
            yield Check(OK, "install", "%s: %s, %s" % (path, count(len(install.hooks), "hook"), how))
    here = [install for install in every if install.is_read_here and install.hooks]
    if len(here) > 1 and any(install.is_plugin for install in here):
        text = "installed twice, as a plugin and in %s; the plugin's hooks stand back" % short(here[0].path)
        remedy = "keep one: claude plugin uninstall harness-memory, or python3 install.py --uninstall"
        yield Check(WARN, "install", text, remedy)
    if not every and installs.have_run_lately(root):
        yield Check(OK, "install", "in no settings file, but hooks have run: probably as a plugin")
    elif not every:
        yield Check(FAIL, "install", "not installed: no settings file here holds our hooks", installs.INSTALL)


def _store(root: str) -> Check:
    path = root
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    if not os.path.isdir(path) or not os.access(path, os.W_OK | os.X_OK):
        text = "%s: cannot be written" % short(root)
        return Check(FAIL, "store", text, "make it a folder of yours: chown, chmod u+rwx")
    text = count(len(arguments.all_dirs()), "project") if path == root else "made with the first session"
    return Check(OK, "store", "%s: %s" % (short(root), text))


def _failures(root: str) -> Check:
    """Recent failures, the newest first."""
    recent = [(each, clock.parse(each.get("at")) or 0.0) for each in reversed(health.failures(root))]
    recent = [(each, at) for each, at in recent if time.time() - at < installs.RECENT_SECONDS]
    details = ["%s: %s (%s)" % (each.get("event"), line(each.get("error"))[:300], ago(at)) for each, at in recent]
    remedy = "read and then delete the files in %s" % short(health.failures_dir(root))
    total = count(len(recent), "failed run") if recent else "none"
    text = "%s in the last %d days" % (total, installs.RECENT_SECONDS // 86400)
    return Check(WARN if recent else OK, "failures", text, remedy, details)


def _files(root: str) -> Iterator[Check]:
    """Damaged files but for settings, which have a check of their own, and files that others can read."""
    reported = (settings.CONFIG_FILE, settings.GUARD_FILE)
    findings = [*checks.check_store(root, time.time())] if os.path.isdir(root) else []
    for path in arguments.all_dirs():
        findings += checks.check_project(path, time.time(), with_views=False)
    opened = sum(finding.kind == checks.MODE for finding in findings)
    if opened:
        text = "%s of the memory can be read by others" % count(opened, "file")
        yield Check(WARN, "modes", text, "close them: chmod -R go-rwx %s" % invocation.quote(root))
    damaged = [each for each in findings if each.kind == checks.DAMAGED and os.path.basename(each.file) not in reported]
    text = "%s damaged, unreadable or newer than this version" % count(len(damaged), "file")
    details = ["%s: %s (%s)" % (short(each.file), each.what, each.remedy) for each in damaged]
    remedy = "as each line says; for all rules: harness memory verify --all-projects"
    yield Check(FAIL, "files", text, remedy, details) if damaged else Check(OK, "files", "all readable")


def rebuild(argv: list[str]) -> int:
    args = arguments.parser("rebuild", has_all=True).parse_args(argv)
    root, now = arguments.root(), time.time()
    dirs = [path for path in arguments.project_dirs(args) if os.path.isdir(path)]
    changed: dict[str, list[str]] = {}
    for path in dirs:
        again = [each for each in backfill.lost(path, now) if backfill.record_again(root, path, each)]
        changed[path] = [os.path.join(settings.EPISODES_DIR, session.episode_name) for session in again]
        changed[path] += views.rebuild(path, 10.0)
    for shelf in (*(notebook.Shelf("project", path) for path in dirs), notebook.user_shelf(root)):
        if os.path.isdir(shelf.folder):
            with shelf:
                changed.setdefault(shelf.home, []).extend([settings.NOTES_INDEX_FILE] * shelf.refresh())
    for path in dirs:
        cache.drop(path)
        cache.open_source(root, path, now, float("inf"), is_whole=True)
    rows = {os.path.basename(path): names for path, names in changed.items()}
    texts = {name: "rebuilt: " + ", ".join(each) if each else "nothing to change" for name, each in rows.items()}
    lines = ["%s: %s" % row for row in texts.items()]
    lines = lines or ["Nothing is remembered here yet, so there is nothing to rebuild."]
    return answer(args.json, [{"project": name, "changed": each} for name, each in rows.items()], lines)


def verify(argv: list[str]) -> int:
    args = arguments.parser("verify", has_all=True).parse_args(argv)
    root, dirs, now = arguments.root(), arguments.project_dirs(args), time.time()
    findings = [*checks.check_store(root, now), *(each for path in dirs for each in checks.check_project(path, now))]
    what = short(dirs[0]) if len(dirs) == 1 else count(len(dirs), "project")
    lines = ["%s: every file is valid." % what]
    if not any(os.path.isdir(path) for path in dirs):
        lines = ["Nothing is remembered here yet, so there is nothing to verify."]
    if findings:
        places = ["%s %s" % (os.path.relpath(each.file, os.path.realpath(root)), each.what) for each in findings]
        lines = ["%s in %s" % (count(len(findings), "finding"), short(root))]
        lines += by_remedy(zip(places, [each.remedy for each in findings]), _SHOWN)
    value = {"store": root, "projects": [*map(os.path.basename, dirs)]}
    answer(args.json, {**value, "findings": [each._asdict() for each in findings]}, lines)
    return 1 if findings else 0
