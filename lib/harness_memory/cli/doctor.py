"""`status` says where a memory stands, `doctor` names problems with their remedies, `verify` every invalid file.

`rebuild` writes the views again.
"""

from __future__ import annotations

import glob
import os
import sys
from typing import Iterator, NamedTuple

from .. import __version__
from ..base import clock, config, files, health, settings
from ..memory import checks, threads, views
from ..memory import sync as syncing
from ..notes import shelf as notebook
from ..recall import cache
from ..session import episode, sessions
from ..setup.settingsfile import GUARD_EVENT, HOOKS
from . import installs
from .call import Call
from .output import Fields, ago, count, findings, line, local, page, short, some, table
from .share import summary as sync_summary
from .work import open_items, shown

_SHOWN = 5


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
        if call.now - at < installs.RECENT_SECONDS:
            details.append("%s: %s (%s)" % (each.get("event"), line(each.get("error"))[:300], ago(at)))
    remedy = "read and then delete the files in " + short(os.path.join(root, settings.FAILURES_DIR))
    yield Check(
        "failures", "%s in the last 7 days" % count(len(details), "failed run"), remedy if details else "", details
    )
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
    every, folder = installs.find(call), os.path.join(call.root, settings.LAST_RUN_DIR)
    runs = {event: files.modified(os.path.join(folder, event)) for event, _ in HOOKS}
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
    if not every and call.now - max(runs.values()) < installs.RECENT_SECONDS:
        yield Check("install", "in no settings file, but hooks have run: probably as a plugin")
    elif not every:
        text = "not installed: no settings file here holds our hooks"
        yield Check("install", text, installs.INSTALL, is_fatal=True)
    text, remedy, commands = installs.guard(call, every)
    asked = "last asked %s" % ago(runs[GUARD_EVENT]) if runs[GUARD_EVENT] else "not asked yet"
    how = ", %s (to test it: harness guard test)" % asked if commands else ""
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
