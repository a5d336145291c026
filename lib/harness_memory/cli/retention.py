"""Which sessions the memory holds: `backfill` and `adopt` add some, `prune`, `archive` and `restore` move old ones.

`forget` removes sessions, notes or a text, shown first, from everywhere.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import time
from typing import Union

from ..audit import trail
from ..base import clock, config, files, settings
from ..memory import archive as archives
from ..memory import backfill as backfills
from ..memory import forget as forgetting
from ..memory import housekeeping, merge, views
from ..memory.archive import Archived
from ..memory.records import Record
from ..notes import binding
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from .call import Call, is_in_session, is_person
from .notes import described
from .output import Fields, Refusal, complain, count, local, page, short, some

_STAYS = {archives.WENT_ON: "it went on here afterwards", archives.FORGOTTEN: "to finish that: forget ID --yes"}
_STOP = "No session for a year, so the clock may be wrong. If not: harness memory prune --older-than 30d"
_SHOWN = 30
_RECENT_DAYS = 14  # of which a session closes what others left hours before, not only days
_LEAST_CHARS = 3  # a shorter text is in half of all sentences
Thing = Union[Record, Note, Archived]  # what can be forgotten


def prune(call: Call) -> int:
    settled, reports = config.load(call.root), []
    if settled.problems:
        complain("%s. Nothing was pruned. Correct the file and try again." % "; ".join(settled.problems))
        return 1
    age = settled["work_days"] * settings.DAY_SECONDS if call.older_than is None else call.now - call.older_than
    to_archive = settled["work_after"] == "archive"
    retired = "archived" if to_archive else "deleted"
    for project_dir in call.dirs:
        # Someone who names an age is sure of the clock.
        is_plausible = call.older_than is not None or housekeeping.is_clock_plausible(project_dir, call.now)
        made: list[str] = []
        with contextlib.nullcontext() if call.dry_run else archives.lock(project_dir):
            now = call.now if is_plausible else 0.0
            plan = archives.plan(project_dir, now, settled["work_whole_days"], age / settings.DAY_SECONDS)
            kept = len(plan.pop(archives.KEEP))
            for kind, group in plan.items() if not call.dry_run else ():
                made += archives.retire(project_dir, group, kind, time.time(), to_archive)
        thin, gone = map(len, plan.values())
        report = {"project": os.path.basename(project_dir), "kept": kept, "artifacts_pruned": thin, retired: gone}
        note = "Nothing was changed (--dry-run)." if call.dry_run else None if is_plausible else _STOP
        reports.append({**report, "archives": made, "note": note})
    return call.answer(reports)


def archive(call: Call) -> int:
    with archives.lock(call.dir):
        old, still_open = archives.before(call.dir, call.before, with_open=call.open)
        made = archives.retire(call.dir, old, archives.WHOLE, time.time())
    note = "Sessions of open threads stay; --open archives them too." if still_open else None
    return call.answer({"sessions": len(old), "archives": made, "open": still_open, "note": note})


def restore(call: Call) -> int:
    if call.what is None and not (call.all and call.archived):
        head, none = "ARCHIVE ID STARTED SESSION=headline", "Nothing of this project is archived."
        return call.listing(head, call.archived_once, none, Archived.brief) or 2 * bool(call.damaged)
    with archives.lock(call.dir):
        name = os.path.basename(call.what or "").replace(settings.ARCHIVE_SUFFIX, "")
        selected = [each for each in call.archived if call.all or each.archive == name]
        if not call.all and not selected:
            meant = call.find_archived(call.what)
            selected = [each for each in call.archived if each.id == meant.id]
        outcome = archives.restore(call.dir, selected[::-1])
    kinds = (archives.RESTORED, archives.PRESENT)
    value: Fields = {kind: [id for id in outcome if outcome[id] == kind] for kind in kinds}
    left = value["left"] = {id: _STAYS[kind] for id, kind in outcome.items() if kind in _STAYS}
    return call.answer(value, code=2 if call.damaged else 1 if left else 0)


def backfill(call: Call) -> int:
    root, paths = call.root, backfills.paths(files.config_dir(os.environ))
    work = backfills.Backfill(root, "" if call.all_projects else call.dir, call.now, config.load(root))
    sources = [*backfills.sources(root, paths)]
    kinds = +collections.Counter({backfills.EMPTY: len(paths) - len(sources)})
    sources += [each for path in call.dirs for each in work.kept(path, paths)]
    # A fork begins with its parent's first entry: the one that fell silent first is taken for the parent.
    every = sorted(sources, key=lambda source: (source.started, source.modified))
    recent = call.now - _RECENT_DAYS * settings.DAY_SECONDS
    for _, group in itertools.groupby(every, lambda each: each.started // (3600 if each.started > recent else 86400)):
        together = [*group]
        kinds.update(map(work.make, together))
        for project_dir in work.made.intersection(source.project.dir for source in together):
            views.refresh(project_dir)  # so that later sessions close what these left
    made = kinds.pop(backfills.MADE, 0)
    report = {"made": made, "left_alone": dict(sorted(kinds.items()))}
    lines = ["Recorded %s in %s." % (count(made, "session"), count(len(work.made), "project"))]
    if not paths and not made:
        lines = ["No transcripts in %s." % short(_transcripts())]
    skipped = ["%d %s" % (number, kind) for kind, number in sorted(kinds.items())]
    lines += ["Skipped: %s." % ", ".join(skipped)] if skipped else []
    lines += ["What changed just now may go on: a later run takes it."] if backfills.FRESH in kinds else []
    return call.answer(report, lines)


def adopt(call: Call) -> int:
    """A person says that a folder belongs to the memory of its remote, which its history does not show."""
    project = call.project
    if is_in_session():  # a repository may have asked Claude to
        raise Refusal("this is for a person: run it in a terminal of your own. Nothing was changed.")
    if not project.identity.startswith("remote#"):
        raise Refusal("%s already has the memory of its repository. Nothing was changed." % short(project.root))
    call.prepare(with_project=False)
    identity.adopt(call.root, project, clock.iso(call.now))
    note = "This folder shares that memory from its next session on."
    return call.answer({"memory": project.id, "remote": project.remote, "note": note})


def forget(call: Call) -> int:
    if (call.text is None) is not bool(call.words):
        raise Refusal("say what to forget: IDs, or --text")
    if call.text is not None and len("".join(call.text.split())) < _LEAST_CHARS and call.text.isascii():
        raise Refusal("--text is too short: it would strike half the memory")
    is_hit = None if call.text is None else forgetting.matcher(call.text)
    tops = [call.dir, notebook.user_shelf(call.root).home, os.path.join(call.root, settings.HEALTH_DIR)]
    with archives.lock(call.dir) if call.yes else contextlib.nullcontext():
        things: list[Thing] = [call.meant(word) for word in call.words]
        if is_hit:
            things += [each for each in call.archived if forgetting.struck(each, is_hit) != each.files]
        report: dict[str, list[Fields]] = {"notes": [described(each) for each in things if isinstance(each, Note)]}
        report["sessions"] = [each.brief() for each in things if not isinstance(each, Note)]
        report["files"] = [*forgetting.find_text(tops, is_hit)] if is_hit else []
        places, is_any = _places(call, report, is_hit), any(report.values())
        _refuse_what_stays(call, {row["file"] for row in report["notes"] + report["files"]})
        if call.yes and (is_any or is_hit):
            _carry_out(call, things, is_hit, tops)
    left = [*forgetting.holding(tops, is_hit)] if is_hit and call.yes else []
    in_trail = [*forgetting.holding([os.path.join(call.dir, settings.SECURITY_DIR)], is_hit)] if is_hit else []
    end = "Forgotten." if call.yes else "Nothing was changed. To forget all this: the same again with --yes"
    lines = [*page(places), "", end] if is_any else ["Nothing that is remembered here matches."]
    if call.yes and is_any:
        lines.append("Claude Code's own transcripts stay as they are, in %s" % short(_transcripts()))
    lines += ["Left in %s: in a name or path that the record is found by" % short(path) for path in left]
    lines += ["Stays in %s: the audit trail is tamper-evident" % short(path) for path in in_trail]
    if call.yes and is_any and files.exists(os.path.join(call.root, settings.VERSIONS_FILE)):
        merge.record_versions(call.root, call.now)
        lines += ["Stays in the history of the sync until: harness memory sync purge-history"]
    value = {"forgotten": call.yes and is_any, **report, "left": left, "audit_trail": in_trail}
    return call.answer(value, lines, 2 if call.damaged else 0 if is_any else 1)


def _places(call: Call, report: dict[str, list[Fields]], is_hit: forgetting.Matcher | None) -> dict[str, list[str]]:
    """What goes, for a person: sessions and notes by name; of a text the sentences, and where they stand."""
    places = [_named(row) for row in report["notes"] + report["sessions"]]
    said: set[str] = set()
    names = {each.owner: _named(each.brief()) for each in call.records if is_hit}
    names.update((note.path, note.ref) for note in notebook.read_all(call.shelves))
    for row in report["files"]:
        owner = archives.owner(os.path.relpath(row["file"], call.dir).replace(os.sep, "/"))
        name = names.get(owner) or names.get(row["file"]) or short(row["file"])
        places.append(name + " (the whole of it)" * (row["removed"] and not owner))
        sentences = [each for text in row["passages"] for each in forgetting.split(text)]
        said.update(each.replace("description: ", "").strip(" -*#>") for each in sentences if is_hit and is_hit(each))
    shown = [each for each in sorted(said) if not any(other in each for other in said - {each})]  # views frame them
    every = {"goes": shown, "from": [*dict.fromkeys(places)]} if is_hit else {"goes": places}
    return {kind: some(rows, _SHOWN) for kind, rows in every.items() if rows}


def _named(row: Fields) -> str:
    what = ("note", "description") if "note" in row else ("id", "started", "headline")
    return "  ".join(local(row[key]) for key in what)


def _refuse_what_stays(call: Call, paths: set[str]) -> None:
    """A note of the team goes in the repository, and only a person removes one that binds."""
    for note in [note for note in notebook.read_all(call.shelves) if note.path in paths]:
        if note.scope == settings.TEAM_SCOPE:
            raise Refusal("%s is in the repository. Remove it there: harness memory team unshare NAME" % note.ref)
        if call.yes and binding.is_looser(note, None) and not is_person():
            raise Refusal("%s: %s" % (note.ref, binding.PERSON))


def _transcripts() -> str:
    return os.path.join(files.config_dir(os.environ), backfills.PROJECTS_DIR)


def _carry_out(call: Call, things: list[Thing], is_hit: forgetting.Matcher | None, tops: list[str]) -> None:
    identity.record(call.project, clock.iso(call.now))
    notes = [each for each in things if isinstance(each, Note)]
    chosen = [each for each in things if not isinstance(each, Note)]
    try:
        if is_hit:
            ids = {call.caller, *(each.claude_id for each in chosen)} - {""}
            sources = backfills.sources(call.root, backfills.paths(files.config_dir(os.environ)))
            for source in (each for each in sources if each.project.dir == call.dir):
                with open(source.path, "rb") as file:
                    if any(is_hit(text) for row in file for text in forgetting.passages(source.path, row)):
                        ids.add(source.session_id)
            forgetting.forget_text(call.dir, tops, is_hit, ids, time.time())
        elif chosen:
            forgetting.forget_sessions(call.dir, chosen, call.now)
        for note in notes:
            dirs = call.all_dirs if note.scope == "user" else [call.dir]
            forgetting.forget_note(call.shelf(note.scope), note, call.shelves, dirs)
    finally:  # a damaged archive does not keep the rest from being done
        event = {"event": "memory_forgotten", "session": call.present, "reason": "forget" + " --text" * bool(is_hit)}
        event["sessions"] = ", ".join(sorted({each.id for each in chosen}))
        trail.append(call.dir, event, call.now, settings.LOCK_WAIT_SECONDS)
