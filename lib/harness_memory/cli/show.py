"""`list` shows sessions or notes, one a line; `show` one in full, `transcript` what was said in it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from ..base import redact, settings
from ..base.text import clean
from ..memory import records
from ..memory.archive import Archived
from ..memory.records import Record
from ..notes.note import Note
from ..session import episode
from ..session import transcript as transcripts
from ..session.capture import is_prompt
from . import arguments, notes, resolve
from .output import Refusal, answer, columns, cut, line, listing, local, short, table
from .scopes import Scopes, add_scope

_LIMIT = 20
_NEAR = 2  # entries before and after a match
_DETAILS = ("command", "file_path", "notebook_path", "pattern", "query", "url", "skill", "description")
_WHO = {"user": "you", "assistant": "claude"}


def list_all(argv: list[str]) -> int:
    parser = arguments.parser("list", examples="list --since 7d\nlist --notes --type feedback", has_all=True)
    add = parser.add_argument
    add("--limit", type=arguments.positive, metavar="N", help="at most N (default: %d sessions, all notes)" % _LIMIT)
    add("--branch", metavar="B", help="only sessions on this git branch")
    add("--since", type=arguments.instant, metavar="DATE", help="active since 2026-11-16, today, yesterday, 36h or 7d")
    add("--notes", action="store_true", help="list notes")
    add("--type", choices=settings.NOTE_TYPES, help="only notes of this type")
    add_scope(parser)
    add("--unused", action="store_true", help="only notes neither used nor verified for a long time")
    args = parser.parse_args(argv)
    if not (args.notes or args.type or args.scope or args.unused):
        return _list_sessions(args)
    if args.all_projects or args.branch:
        raise Refusal("notes have no branch, and are listed for one project")
    return notes.list_notes(Scopes(args), args)


def _list_sessions(args: argparse.Namespace) -> int:
    every = [record for directory in arguments.project_dirs(args) for record in records.load_all(directory)]
    if args.branch is not None:
        every = [record for record in every if record.branch == args.branch]
    if args.since is not None:
        every = [record for record in every if record.seen >= args.since]
    every.sort(key=lambda record: (record.started, record.id), reverse=True)
    is_narrowed = args.since is not None or args.branch is not None
    none = "No sessions%s." % (" that match" if is_narrowed else " are remembered here yet")
    is_wide = columns() >= 100
    args.limit, head = args.limit or _LIMIT, "ID STARTED STATUS #MIN BRANCH #FILES SESSION"
    head = head if is_wide else "ID STARTED STATUS SESSION"
    first = "PROJECT " if args.all_projects else ""

    def row(record: Record) -> tuple[Any, list[Any]]:
        value = record.brief()
        project = [arguments.project_name(record.project_dir)] if first else []
        minutes = "-" if value["minutes"] is None else str(value["minutes"])
        cells = [record.id, local(record.started), record.end, minutes, record.branch, str(value["files"])]
        cells = cells if is_wide else [record.id, local(record.started)[5:], record.end]
        return value, [*project, *cells, value["headline"] or "(nothing asked yet)"]

    return listing(args, first + head, every, row, none)


def show(argv: list[str]) -> int:
    parser = arguments.parser("show", examples="show last\nshow a1b2c3d4\nshow cart-totals")
    words = 'an id or its beginning, an episode\'s file name, "last", or the name of a note'
    parser.add_argument("session", metavar="ID", help=words)
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    record = scopes.meant(args.session, records.load_all(scopes.project.dir))
    if isinstance(record, Note):
        return notes.show_note(scopes, record, args.json)
    if isinstance(record, Archived):
        raise Refusal("session %s is archived. Bring it back: harness memory restore %s" % (record.id, record.id))
    page = "# %s\n\n%s" % (record.headline or "Session %s" % record.id, record.meta.get("summary") or "")
    if record.episode:
        page = episode.summary_page(record.episode)
    elif "episode" in record.paths:
        page += "\n\nIts episode is damaged. See: harness memory verify"
    value = {"id": record.id, "status": record.state, "meta": record.meta or None, "episode": record.episode}
    paths = {"paths": record.paths, "artifacts": record.artifacts}
    return answer(args.json, {**value, **paths}, [page.rstrip(), "", *table(_fact_rows(record))])


def _fact_rows(record: Record) -> list[list[str]]:
    meta, value = record.meta, record.episode or {}
    ended = meta.get("ended") or value.get("ended")
    tags = value.get("tags") or meta.get("tags")
    reason = str(meta.get("reason") or "").replace("_", " ")
    if record.state == settings.DIED:
        reason = "its process is gone; the next session start archives it"
    rows = [
        ["Session", "%s  (%s)" % (record.id, record.claude_id)],
        ["Status", record.state + (" (%s)" % reason if reason else "")],
        ["Time", "%s to %s (local time)" % (local(record.started), local(ended) if ended else "now")],
        ["Branch", record.branch],
        ["Tags", ", ".join(map(str, tags)) if isinstance(tags, list) else ""],
        ["Thread", value["thread"] if value and value["thread"] != record.id else ""],
    ]
    paths = [*record.paths.values(), *record.artifacts]
    files_rows = [["" if at else "Files", short(path)] for at, path in enumerate(paths)]
    return [*(row for row in rows if row[1]), *files_rows]


def transcript(argv: list[str]) -> int:
    parser = arguments.parser("transcript", examples="transcript last\ntranscript a1b2c3d4 --grep rounding")
    parser.add_argument("session", metavar="SESSION", help='an id or its beginning, or "last"')
    parser.add_argument("--grep", metavar="TEXT", help="only around entries that hold this text, in any case")
    args = parser.parse_args(argv)
    record = resolve.session(records.load_all(arguments.locate(args).dir), args.session)
    path = str(record.meta.get("transcript") or (record.episode or {}).get("transcript") or "")
    rest = "What is left: harness memory show %s" % record.id
    if not path:
        raise Refusal("session %s has no transcript. %s" % (record.id, rest))
    try:
        reading = transcripts.Reading(path, None)
    except OSError as error:
        raise Refusal("cannot read the transcript: %s: %s. %s" % (short(path), error.strerror, rest)) from None
    with reading.file:
        entries = [each for entry in reading.entries(lambda: True) for each in _said(entry)]
    hits = [at for at, each in enumerate(entries) if (args.grep or "").casefold() in each["text"].casefold()]
    near = {at + step for at in hits for step in range(-_NEAR, _NEAR + 1)} if args.grep else {*hits}
    shown = sorted(near.intersection(range(len(entries))))
    lines: list[str] = []
    for before, number in zip([-1, *shown], shown):
        each = entries[number]
        lines += ["…", ""] if number > before + 1 else []
        if each["who"] in _WHO.values():
            text = cut(each["text"], 2000).replace("\n", "\n    ")
            lines += ["%s  %s" % (local(each["at"]), each["who"]), "    " + text, ""]
        else:
            lines += ["    [%s] %s" % (each["who"], cut(line(each["text"]), 160)), ""]
    lines.append("%d of %d entries. Its record: harness memory show %s" % (len(shown), len(entries), record.id))
    lines = lines if shown else ["Nothing in this transcript holds that."]
    answer(args.json, [entries[number] for number in shown], lines)
    return 0 if shown else 1


def _said(entry: dict[str, Any]) -> Iterator[dict[str, str]]:
    """What one entry says or does: `who` is "you", "claude" or the name of a tool."""
    who = _WHO.get(str(entry.get("type")), "")
    if not who or entry.get("isMeta") or entry.get("isCompactSummary"):
        return
    at = clean(entry.get("timestamp"), 40)
    for block in transcripts.blocks(entry):
        text = redact.redact(clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS))
        if block.get("type") == "text" and (is_prompt(text) if who == "you" else text.strip()):
            yield {"who": who, "at": at, "text": text}
        elif block.get("type") == "tool_use":
            options = block.get("input")
            options = options if isinstance(options, dict) else {}
            detail = next((options[key] for key in _DETAILS if isinstance(options.get(key), str)), "")
            text = redact.redact(clean(detail, settings.PATH_CHARS))
            yield {"who": clean(block.get("name"), settings.SKILL_CHARS), "at": at, "text": text}
