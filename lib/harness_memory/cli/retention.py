"""Which sessions the memory holds: `backfill` and `adopt` add some, `prune`, `archive` and `restore` move old ones."""

from __future__ import annotations

import collections
import contextlib
import os
import time
from typing import Any

from ..base import clock, config, settings
from ..memory import archive as archives
from ..memory import backfill as backfills
from ..memory import housekeeping, views
from ..memory.records import Record
from ..project import identity
from ..session import sessions
from .call import Call, is_in_session
from .output import Refusal, complain, count, line, short

_PARTS = ("kept", "artifacts_pruned", "archived", "deleted")
_WORK_DAYS = "older than this leave WORK: 30d, 8w (default: config key work_days, %s)" % settings.DEFAULTS["work_days"]


def prune(call: Call) -> int:
    reports, lines, settled = [], [], config.load(call.root)
    if settled.problems:
        complain("%s. Nothing was pruned. Correct the file and try again." % "; ".join(settled.problems))
        return 1
    for project_dir in call.dirs:
        days = float(settled["work_days"])
        days = days if call.older_than is None else (call.now - call.older_than) / settings.DAY_SECONDS
        work_days = [path.split(os.sep)[-2] for path in sessions.all_directories(project_dir)]
        # Someone who names an age is sure of the clock.
        is_plausible = call.older_than is not None or housekeeping.is_clock_plausible(work_days, call.now)
        with contextlib.nullcontext() if call.dry_run else archives.lock(project_dir):
            plan = archives.plan(project_dir, call.now if is_plausible else 0.0, settled["work_whole_days"], days)
            kept, to_archive = len(plan.pop(archives.KEEP)), settled["work_after"] == "archive"
            report, numbers = _retire(project_dir, plan, to_archive, call.dry_run)
        report.update(project=os.path.basename(project_dir), kept=kept, artifacts_pruned=numbers[archives.THIN])
        report["archived" if to_archive else "deleted"] = numbers[archives.RETIRE]
        report["is_clock_plausible"] = is_plausible
        parts = ["%d %s" % (report[key], key.replace("_", " ")) for key in _PARTS if report.get(key)]
        lines += ["%s: sessions: %s" % (report["project"], ", ".join(parts) or "none"), *_details(report)]
        if not is_plausible:
            lines.append("  Nothing pruned: no session for a year, so the clock may be wrong. If not: --older-than 30d")
        reports.append(report)
    lines += ["Nothing was changed (--dry-run)."] * call.dry_run
    return call.answer(reports, lines, 1 if any(report["left"] for report in reports) else 0)


def _retire(
    project_dir: str, plan: dict[str, list[Record]], to_archive: bool = True, is_dry: bool = False
) -> tuple[dict[str, Any], dict[str, int]]:
    """Carry out a plan, unless it is a dry run: what to report, and how many sessions there were of each kind."""
    report: dict[str, Any] = {"archives": [], "left": {}}
    numbers = {}
    for kind, group in plan.items():
        path, reasons = "", {record.id: "" for record in group}
        if not is_dry:
            into_archive = to_archive and kind != archives.THIN
            path, reasons = archives.retire(project_dir, group, kind, time.time(), into_archive)
        report["archives"] += [path] if path else []
        report["left"].update({id: reason for id, reason in reasons.items() if reason})
        numbers[kind] = [*reasons.values()].count("")
    return report, numbers


def _details(report: dict[str, Any]) -> list[str]:
    stays = ["  %s stays: %s" % (id, reason) for id, reason in report["left"].items()]
    return ["  " + short(path) for path in report["archives"]] + stays


def archive(call: Call) -> int:
    project_dir = call.project.dir
    with archives.lock(project_dir):
        old, still_open = archives.before(project_dir, call.before, with_open=call.open)
        report, numbers = _retire(project_dir, {archives.WHOLE: old})
    report.update(sessions=numbers[archives.WHOLE], open=still_open)
    lines = ["Archived %s." % count(report["sessions"], "session"), *_details(report)]
    lines += ["Sessions of open threads that stay: %d (--open archives them too)" % still_open] * bool(still_open)
    return call.answer(report, lines, 1 if report["left"] else 0)


def restore(call: Call) -> int:
    if not call.all and call.what is None:
        head, none = "ARCHIVE ID STARTED SESSION=headline", "Nothing of this project is archived."
        return call.listing(head, call.archived_once, archives.Archived.brief, none) or 2 * bool(call.damaged)
    with archives.lock(call.project.dir):
        names = {os.path.basename(call.what or "").replace(archives.ENDING, "")}
        if not call.all and names.isdisjoint(each.archive for each in call.archived):
            names = {call.find_archived(call.what).id}
        selected = [each for each in call.archived if call.all or not names.isdisjoint((each.archive, each.id))]
        outcome = archives.restore(call.project.dir, selected[::-1])
    kinds = {"restored": archives.RESTORED, "refused": archives.WENT_ON, "forgotten": archives.FORGOTTEN}
    report = {key: [id for id, became in outcome.items() if became == kind] for key, kind in kinds.items()}
    is_present = {*outcome.values()} == {archives.PRESENT}
    done = "Restored %s." % count(len(report["restored"]), "session")
    lines = ["All of it is here already." if is_present else done]
    lines += ["  %s stays archived: it went on here afterwards" % id for id in report["refused"]]
    again = "  {0} was forgotten. To finish that: harness memory forget {0} --yes"
    lines += [again.format(id) for id in report["forgotten"]]
    return call.answer(report, lines, 2 if call.damaged else 1 if report["refused"] or report["forgotten"] else 0)


def backfill(call: Call) -> int:
    root, paths = call.root, backfills.paths(config_dir())
    work = backfills.Backfill(root, "" if call.all_projects else call.project.dir, call.now, config.load(root))
    kinds: collections.Counter[str] = collections.Counter()
    wanted = []
    for source in backfills.sources(root, paths):
        kind = work.verdict(source) if source else backfills.EMPTY
        if source and not kind:
            wanted.append(source)
        else:
            kinds[kind] += 1
    try:
        # A fork begins with its parent's first entry: the one that fell silent first is taken for the parent.
        for source in sorted(wanted, key=lambda source: (source.started, source.modified)):
            try:
                kinds[work.make(source)] += 1
            except (OSError, ValueError) as error:
                if str(getattr(error, "filename", "")).startswith(os.path.join(root, "")):
                    raise  # the memory cannot be written: no other transcript would fare better
                kinds[backfills.UNREADABLE] += 1
    finally:
        for project_dir in work.made:
            views.refresh(project_dir)
    made = kinds.pop(backfills.MADE, 0)
    report = {"to_read": len(wanted), "made": made, "left_alone": dict(sorted(kinds.items()))}
    lines = ["Recorded %s in %s." % (count(made, "session"), count(len(work.made), "project"))]
    if not paths:
        lines = ["No transcripts in %s." % short(os.path.join(config_dir(), backfills.PROJECTS_DIR))]
    skipped = ["%d %s" % (number, kind) for kind, number in sorted(kinds.items())]
    lines += ["Skipped: %s." % ", ".join(skipped)] if skipped else []
    lines += ["What changed just now may go on: a later run takes it."] if backfills.FRESH in kinds else []
    return call.answer(report, lines, 1 if backfills.UNREADABLE in kinds else 0)


def config_dir() -> str:
    """Where the client keeps its transcripts."""
    named = os.environ.get(settings.ENV_CONFIG_DIR)
    return os.path.abspath(named or os.path.join(os.path.expanduser("~"), settings.CLAUDE_DIR))


def adopt(call: Call) -> int:
    """A person says that a folder belongs to the memory of its remote, which its history does not show."""
    project = call.project
    if is_in_session():  # a repository may have told Claude to
        raise Refusal("this is for a person: run it in a terminal of your own. Nothing was changed.")
    if not project.identity.startswith("remote#"):
        raise Refusal("%s already has the memory of its repository. Nothing was changed." % short(project.root))
    call.prepare(with_project=False)
    memory = identity.adopt(call.root, project, clock.iso(call.now))
    text = "%s shares the memory of %s from its next session on." % (short(project.root), line(project.remote))
    left = "What was recorded here before stays in %s." % short(project.dir)
    return call.answer({"memory": memory}, [text, *[left] * os.path.isdir(project.dir)])
