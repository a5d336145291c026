"""`forget`: sessions, notes or a text, shown first, then removed from everywhere."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

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
from .call import Call, is_person
from .notes import described
from .output import Refusal, page, short, some
from .retention import config_dir

_SHOWN = 30
_LEAST_CHARS = 3  # a shorter text is in half of all sentences


def forget(call: Call) -> int:
    tops = [call.project.dir, notebook.user_shelf(call.root).home, os.path.join(call.root, settings.HEALTH_DIR)]
    with archive.lock(call.project.dir) if call.yes else contextlib.nullcontext():
        is_hit = None if call.text is None else forgetting.matcher(call.text)
        sessions, notes, archived, held = _choose(call, tops, is_hit)
        report: dict[str, list[dict[str, Any]]] = {  # while they can still be read
            "sessions": [record.brief() for record in sessions],
            "notes": [described(note) for note in notes],
            "archived": [each.brief() for each in archived],
            "files": held,
        }
        is_any, going = any(report.values()), [row["file"] for row in report["notes"] + held]
        bound = [note for note in notebook.read_all(call.shelves) if note.path in going]
        bound = [note for note in bound if binding.is_looser(note, None)]
        if call.yes and bound and not is_person():
            raise Refusal("%s: %s" % (", ".join(note.ref for note in bound), binding.PERSON))
        if call.yes and (is_any or is_hit):
            event = {"event": "memory_forgotten", "session": call.present, "notes": len(notes), "files": len(held)}
            ids = {each["id"] for each in report["sessions"] + report["archived"]}
            event.update(sessions=", ".join(sorted(ids)), reason="forget --text" if is_hit else "forget")
            try:
                _carry_out(call, sessions, notes, archived, tops, is_hit)
            finally:  # a damaged archive does not keep the rest from being done
                trail.append(call.project.dir, event, call.now, settings.LOCK_WAIT_SECONDS)
    left = [*forgetting.holding(tops, is_hit)] if is_hit and call.yes else []
    in_trail = [*forgetting.holding([os.path.join(call.project.dir, settings.SECURITY_DIR)], is_hit)] if is_hit else []
    end = "Forgotten." if call.yes else "Nothing was changed. To forget all this: the same again with --yes"
    texts = {kind: [text for row in rows for text in _texts(row)] for kind, rows in report.items() if rows}
    shown = page({kind: some(each, _SHOWN) for kind, each in texts.items()})
    lines = [*shown, "", end] if is_any else ["Nothing that is remembered here matches."]
    if call.yes and (sessions or archived or held):
        transcripts = os.path.join(config_dir(), backfill.PROJECTS_DIR)
        lines.append("Claude Code's own transcripts stay as they are, in %s" % short(transcripts))
    lines += ["Left in %s: in a name or path that the record is found by" % short(path) for path in left]
    lines += ["Stays in %s: the audit trail is tamper-evident" % short(path) for path in in_trail]
    if call.yes and is_any and files.exists(os.path.join(call.root, settings.VERSIONS_FILE)):
        merge.record_versions(call.root, call.now)
        lines += ["Stays in the history of the sync until: harness memory sync purge-history"]
    value = {"forgotten": call.yes and is_any, **report, "left": left, "audit_trail": in_trail}
    return call.answer(value, lines, 2 if call.damaged else 0 if is_any else 1)


def _choose(
    call: Call, tops: list[str], is_hit: Matcher | None
) -> tuple[list[Record], list[Note], list[Archived], list[dict[str, Any]]]:
    """Sessions, notes and archived sessions that are named, or archived sessions and files with a text."""
    if bool(call.words) is bool(is_hit):
        raise Refusal("say what to forget: IDs, or --text")
    if is_hit:
        if len("".join(call.text.split())) < _LEAST_CHARS and call.text.isascii():
            raise Refusal("--text is too short: it would strike half the memory")
        hit = [each for each in call.archived if forgetting.struck(each, is_hit) != each.files]
        return [], [], hit, [*forgetting.find_text(tops, is_hit)]
    things = [call.meant(word) for word in call.words]
    notes = [each for each in things if isinstance(each, Note)]
    for note in notes:
        if note.scope == settings.TEAM_SCOPE:
            raise Refusal("%s is in the repository. Remove it there: harness memory team unshare NAME" % note.ref)
    archived = [each for each in things if isinstance(each, Archived)]
    return [each for each in things if isinstance(each, Record)], notes, archived, []


def _texts(row: dict[str, Any]) -> list[str]:
    """What goes, for a person: a session or note by name, or a file and what holds the text in it."""
    parts = [row.get("id"), row.get("started"), row.get("headline"), row.get("note"), row.get("description")]
    name = " ".join(filter(None, parts)) or short(row["file"]) + " (the whole file)" * row["removed"]
    return [name, *("  " + text for text in row.get("passages", ())[:3])]


def _carry_out(
    call: Call,
    sessions: list[Record],
    notes: list[Note],
    archived: list[Archived],
    tops: list[str],
    is_hit: Matcher | None,
) -> None:
    project_dir = call.project.dir
    identity.record(call.project, clock.iso(call.now))
    if is_hit:
        ids = {os.environ.get(settings.ENV_SESSION_ID, ""), *(each.claude_id for each in archived)} - {""}
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
