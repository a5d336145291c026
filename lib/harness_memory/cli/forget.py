"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Dict, Union

from ..audit import trail
from ..base import clock, files, settings
from ..memory import archive, backfill, merge
from ..memory import forget as forgetting
from ..memory.archive import Archived
from ..memory.forget import Matcher
from ..memory.records import Record
from ..notes import binding
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from .call import Call, is_person, named
from .notes import described, select
from .output import Refusal, count, cut, line, short, some
from .retention import config_dir

Thing = Union[Record, Archived, Note, Dict[str, Any]]  # a session here or in an archive, a note, or a file with a text

_NOUNS = {Record: "session", Note: "note", Archived: "archived session", dict: "file"}
_SHOWN = 12
_LEAST_CHARS = 3  # a shorter text is in half of all sentences


def forget(call: Call) -> int:
    tops = [call.project.dir, notebook.user_shelf(call.root).home, os.path.join(call.root, settings.HEALTH_DIR)]
    with archive.lock(call.project.dir) if call.yes else contextlib.nullcontext():
        is_hit = None if call.text is None else forgetting.matcher(call.text)
        things = _choose(call, tops, is_hit)
        report, lines = _shown(things, call.root)  # while the sessions can still be read
        going = [each["file"] if isinstance(each, dict) else getattr(each, "path", "") for each in things]
        bound = [note for note in notebook.read_all(call.shelves) if note.path in going]
        bound = [note for note in bound if binding.is_looser(note, None)]
        if call.yes and bound and not is_person():
            raise Refusal("%s: %s" % (", ".join(note.ref for note in bound), binding.PERSON))
        if call.yes and (things or is_hit):
            _carry_out(call, things, tops, is_hit)
    left = [*forgetting.holding(tops, is_hit)] if is_hit and call.yes else []
    in_trail = [*forgetting.holding([os.path.join(call.project.dir, settings.SECURITY_DIR)], is_hit)] if is_hit else []
    end = "Forgotten." if call.yes else "Nothing was changed. To forget all this: the same again with --yes"
    lines = [*lines, "", end] if things else ["Nothing that is remembered here matches."]
    if call.yes and any(not isinstance(each, Note) for each in things):
        transcripts = os.path.join(config_dir(), backfill.PROJECTS_DIR)
        lines.append("Claude Code's own transcripts stay as they are, in %s" % short(transcripts))
    lines += ["Left in %s: in a name or path that the record is found by" % short(path) for path in left]
    lines += ["Stays in %s: the audit trail is tamper-evident" % short(path) for path in in_trail]
    if call.yes and things and files.exists(os.path.join(call.root, settings.VERSIONS_FILE)):
        merge.record_versions(call.root, call.now)
        lines += ["Stays in the history of the sync until: harness memory sync purge-history"]
    value = {"forgotten": call.yes and bool(things), **report, "left": left, "audit_trail": in_trail}
    return call.answer(value, lines, 2 if call.damaged else 0 if things else 1)


def _choose(call: Call, tops: list[str], is_hit: Matcher | None) -> list[Thing]:
    is_span = call.since is not None or call.until is not None
    if sum((bool(call.words), call.text is not None, is_span)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or --since and --until; one of the three")
    archived = call.archived
    if is_hit:
        if len("".join(call.text.split())) < _LEAST_CHARS and call.text.isascii():
            raise Refusal("--text is too short: it would strike half the memory")
        hit = [each for each in archived if forgetting.struck(each, is_hit) != each.files]
        return [*forgetting.find_text(tops, is_hit), *hit]
    if is_span:
        since = clock.iso(call.since) if call.since else ""
        until = clock.iso(call.until) if call.until else "later than any date"
        sessions: list[Record | Archived] = [*call.records, *{each.id: each for each in archived}.values()]
        own = [note for note in select(call) if note.scope != settings.TEAM_SCOPE]
        return [*own, *(each for each in sessions if since <= each.started < until)]
    things = [call.meant(word) for word in call.words]
    for note in [each for each in things if isinstance(each, Note) and each.scope == settings.TEAM_SCOPE]:
        raise Refusal("%s is in the repository. Remove it there: harness memory team unshare NAME" % note.ref)
    return [*things]


def _shown(things: list[Thing], root: str) -> tuple[dict[str, list[Any]], list[str]]:
    """What goes: for scripts, and for a person."""
    report: dict[str, list[Any]] = {"sessions": [], "notes": [], "archived": [], "files": []}
    lines: list[str] = []
    for (kind, noun), values in zip(_NOUNS.items(), report.values()):
        texts = []
        for thing in [each for each in things if isinstance(each, kind)]:
            value: Any = thing
            if isinstance(thing, dict):
                name = os.path.relpath(thing["file"], root) + "  (the whole file)" * thing["removed"]
                rows = [name, *thing["passages"][:3]]
            elif isinstance(thing, Note):
                rows, value = ["%s  %s" % (thing.ref, thing.description)], described(thing)
            else:
                rows, value = [named(thing)], thing.brief() if isinstance(thing, Record) else thing.id
            values.append(value)
            texts.append("  " + "\n    ".join([cut(line(text), 100) for text in rows]))
        lines += [count(len(texts), noun) + ":", *some(texts, _SHOWN, "  ")] if texts else []
    return report, lines


def _carry_out(call: Call, things: list[Thing], tops: list[str], is_hit: Matcher | None) -> None:
    identity.record(call.project, clock.iso(call.now))
    project_dir, notes = call.project.dir, [each for each in things if isinstance(each, Note)]
    sessions = [each for each in things if isinstance(each, Record)]
    archived = [each for each in things if isinstance(each, Archived)]
    try:
        if is_hit:
            ids = {os.environ.get(settings.ENV_SESSION_ID, "")} - {""}
            sources = filter(None, backfill.sources(call.root, backfill.paths(config_dir())))
            for source in (each for each in sources if each.project.dir == project_dir):
                with open(source.path, "rb") as file:
                    if any(is_hit(text) for row in file for text in forgetting.passages(source.path, row)):
                        ids.add(source.session_id)
            forgetting.forget_text(project_dir, tops, is_hit, ids, time.time())
        elif sessions or archived:
            forgetting.forget_sessions(project_dir, sessions, archived, call.now)
        for note in notes:
            dirs = call.all_dirs if note.scope == "user" else [project_dir]
            forgetting.forget_note(call.shelf(note.scope), note, call.shelves, dirs)
    finally:  # a damaged archive does not keep the rest from being done
        gone = ", ".join(sorted({*(each.id for each in sessions), *(each.id for each in archived)}))
        numbers = {"notes": len(notes), "files": sum(isinstance(each, dict) for each in things), "sessions": gone}
        event = {"event": "memory_forgotten", "session": call.present}
        event["reason"] = "forget --text" if is_hit else "forget"
        trail.append(project_dir, {**event, **numbers}, call.now, settings.LOCK_WAIT_SECONDS)
