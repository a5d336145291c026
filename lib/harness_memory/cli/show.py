"""`list`: sessions or notes, one a line. `show`: one in full. `why`: what it was given. `transcript`: what was said."""

from __future__ import annotations

import os
import textwrap
from typing import Iterator

from ..base import clock, files, redact, settings
from ..base.text import clean
from ..inject.injection import load_receipt
from ..memory import records
from ..memory.archive import Archived
from ..memory.records import Record
from ..notes.note import Note
from ..session import transcript as transcripts
from ..session.capture import is_prompt
from ..session.record import summary
from . import notes
from .call import Call
from .output import WIDE, Fields, Refusal, columns, cut, local, page
from .work import untold

_NEAR = 2  # entries before and after a match
_DETAILS = ("command", "file_path", "notebook_path", "pattern", "query", "url", "skill", "description")
_WHO = {"user": "you", "assistant": "claude"}


def list_all(call: Call) -> int:
    if call.of_notes or call.type or call.scope or call.unused:
        return notes.list_notes(call)
    every = [record for directory in call.dirs for record in records.load_all(directory)]
    every = [each for each in every if call.branch in (None, each.branch) and each.seen >= (call.since or 0.0)]
    every.sort(key=lambda record: (record.started, record.id), reverse=True)
    wide = "MIN=minutes BRANCH FILES " if columns() >= WIDE else ""
    head = "PROJECT=name " * call.all_projects + "ID STARTED STATUS " + wide + "SESSION=headline"
    return call.listing(head, every, "No sessions here. Elsewhere: harness memory list --all-projects", Record.brief)


def show(call: Call) -> int:
    record = call.meant(call.word)
    if isinstance(record, Note):
        return notes.show(call, record)
    if isinstance(record, Archived):
        raise Refusal("session %s is archived. Bring it back: harness memory restore %s" % (record.id, record.id))
    text = "# %s\n\n%s" % (record.headline or "Session %s" % record.id, record.meta.get("summary") or "")
    text += "\n\nIts episode is damaged. See: harness memory verify" * ("episode" in record.paths)
    if record.episode:
        remains = untold(record.episode["what_remains"], record.headline)
        said = {**record.episode, "headline": record.headline, "taint": (), "what_remains": remains}
        text = summary(said, local(record.started))
    ended, reason = record.brief()["ended"], str(record.meta.get("reason") or "").replace("_", " ")
    if record.is_dead:
        ended, reason = clock.iso(record.seen), "its process is gone; the next session start writes its record"
    facts = {
        "Session": "%s (%s)" % (record.id, record.claude_id),
        "Status": record.state + (" (%s)" % reason if reason not in ("", "other") else ""),
        "Time": "%s to %s (local time)" % (local(record.started), local(ended) if ended else "now"),
        "Tags": ", ".join(map(str, (record.episode or {}).get("tags") or ())),
        "Files": [*record.paths.values(), *record.artifacts],
    }
    value: Fields = {"id": record.id, "status": record.state, "meta": record.meta or None, "episode": record.episode}
    value.update(paths=record.paths, artifacts=record.artifacts)
    return call.answer(value, [text.rstrip(), "", *page(facts)])


def why(call: Call) -> int:
    record = call.find_session(call.word or (call.current.id if call.current else "last"))
    directory = record.directory or record.project_dir  # which has no receipt
    page = files.read_text(os.path.join(directory, settings.RECEIPT_FILE)).rstrip()
    return call.answer(load_receipt(directory).log, [page or "Session %s: nothing was injected." % record.id])


def transcript(call: Call) -> int:
    record = call.find_session(call.word)
    path = str(record.meta.get("transcript") or (record.episode or {}).get("transcript") or "")
    if not os.path.isfile(path):
        raise Refusal(f"the transcript of {record.id} is gone. What is left: harness memory show {record.id}")
    reading = transcripts.Reading(path, None)
    with reading.file:
        entries = [each for entry in reading.entries(lambda: True) for each in _said(entry)]
    hits = [at for at, each in enumerate(entries) if call.grep.casefold() in each["text"].casefold()]
    near = {at + step for at in hits for step in range(-_NEAR, _NEAR + 1)}
    shown = sorted(near.intersection(range(len(entries))))
    lines: list[str] = []
    for before, number in zip([-1, *shown], shown):
        at, who, text = entries[number].values()
        lines += ["…", ""] if number > before + 1 else []
        lines += ["%s  %s" % (local(at), who), textwrap.indent(cut(text, 2000), "    "), ""]
    lines.append("%d of %d entries. Its record: harness memory show %s" % (len(shown), len(entries), record.id))
    lines = lines if shown else ["Nothing in this transcript holds that."]
    return call.answer([entries[number] for number in shown], lines, 0 if shown else 1)


def _said(entry: Fields) -> Iterator[dict[str, str]]:
    """What one entry says or does: `who` is "you", "claude" or the name of a tool."""
    who = _WHO.get(str(entry.get("type")), "")
    if not who or entry.get("isMeta") or entry.get("isCompactSummary"):
        return
    for block in transcripts.blocks(entry):
        said = {"at": clean(entry.get("timestamp"), 40), "who": who}
        text = clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS)
        if block.get("type") == "text" and (is_prompt(text) if who == "you" else text.strip()):
            yield {**said, "text": redact.redact(text)}
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            detail = next(filter(None, map(block["input"].get, _DETAILS)), "")
            said["who"] = clean(block.get("name"), settings.SKILL_CHARS)
            yield {**said, "text": redact.redact(clean(detail, settings.PATH_CHARS))}
