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
from .output import Refusal, count, short

_STAYS = {archives.WENT_ON: "it went on here afterwards", archives.FORGOTTEN: "to finish that: forget ID --yes"}
_STOP = "no session for a year, so the clock may be wrong. If not: --older-than 30d"


def prune(call: Call) -> int:
    settled, reports = config.load(call.root), []
    if settled.problems:
        raise Refusal("%s. Nothing was pruned. Correct the file and try again." % "; ".join(settled.problems))
    age = float(settled["work_days"]) * settings.DAY_SECONDS
    age = age if call.older_than is None else call.now - call.older_than
    to_archive = settled["work_after"] == "archive"
    for project_dir in call.dirs:
        days = [path.split(os.sep)[-2] for path in sessions.all_directories(project_dir)]
        # Someone who names an age is sure of the clock.
        is_plausible = call.older_than is not None or housekeeping.is_clock_plausible(days, call.now)
        with contextlib.nullcontext() if call.dry_run else archives.lock(project_dir):
            now = call.now if is_plausible else 0.0
            plan = archives.plan(project_dir, now, settled["work_whole_days"], age / settings.DAY_SECONDS)
            kept = len(plan.pop(archives.KEEP))
            numbers, made, left = _retire(project_dir, plan, to_archive, call.dry_run)
        report = {"project": os.path.basename(project_dir), "kept": kept, "artifacts_pruned": numbers[archives.THIN]}
        report["archived" if to_archive else "deleted"] = numbers[archives.RETIRE]
        note = "Nothing was changed (--dry-run)." if call.dry_run else None if is_plausible else _STOP
        reports.append({**report, "archives": made, "left": left, "note": note})
    return call.answer(reports, code=1 if any(report["left"] for report in reports) else 0)


def _retire(
    project_dir: str, plan: dict[str, list[Record]], to_archive: bool = True, is_dry: bool = False
) -> tuple[dict[str, int], list[str], dict[str, str]]:
    """Carry out a plan, unless it is a dry run: how many sessions of each kind, archives made, why a session stays."""
    numbers, made, left = {}, [], {}
    for kind, group in plan.items():
        path, reasons = "", {record.id: "" for record in group}
        if not is_dry:
            into_archive = to_archive and kind != archives.THIN
            path, reasons = archives.retire(project_dir, group, kind, time.time(), into_archive)
        made += [path] if path else []
        left.update({id: reason for id, reason in reasons.items() if reason})
        numbers[kind] = [*reasons.values()].count("")
    return numbers, made, left


def archive(call: Call) -> int:
    project_dir = call.project.dir
    with archives.lock(project_dir):
        old, still_open = archives.before(project_dir, call.before, with_open=call.open)
        numbers, made, left = _retire(project_dir, {archives.WHOLE: old})
    report = {"sessions": numbers[archives.WHOLE], "archives": made, "left": left, "open": still_open}
    note = "sessions of open threads stay; --open archives them too" if still_open else None
    return call.answer({**report, "note": note}, code=1 if left else 0)


def restore(call: Call) -> int:
    if not call.all and call.what is None:
        head, none = "ARCHIVE ID STARTED SESSION=headline", "Nothing of this project is archived."
        return call.listing(head, call.archived_once, archives.Archived.brief, none) or 2 * bool(call.damaged)
    with archives.lock(call.project.dir):
        names = {os.path.basename(call.what or "").replace(settings.ARCHIVE_SUFFIX, "")}
        if not call.all and names.isdisjoint(each.archive for each in call.archived):
            names = {call.find_archived(call.what).id}
        selected = [each for each in call.archived if call.all or not names.isdisjoint((each.archive, each.id))]
        outcome = archives.restore(call.project.dir, selected[::-1])
    report: dict[str, Any] = {
        kind: [id for id, became in outcome.items() if became == kind] for kind in (archives.RESTORED, archives.PRESENT)
    }
    report["left"] = {id: _STAYS[became] for id, became in outcome.items() if became in _STAYS}
    return call.answer(report, code=2 if call.damaged else 1 if report["left"] else 0)


def backfill(call: Call) -> int:
    root, paths = call.root, backfills.paths(config_dir())
    work = backfills.Backfill(root, "" if call.all_projects else call.project.dir, call.now, config.load(root))
    kinds: collections.Counter[str] = collections.Counter()
    wanted = []
    for source in (*backfills.sources(root, paths), *(each for path in call.dirs for each in work.kept(path, paths))):
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
    if not paths and not made:
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
    left = project.dir if os.path.isdir(project.dir) else None
    identity.adopt(call.root, project, clock.iso(call.now))
    value = {"memory": project.id, "remote": project.remote, "left": left}
    return call.answer({**value, "note": "This folder shares that memory from its next session on."})
