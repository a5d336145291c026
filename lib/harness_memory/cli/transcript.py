"""`transcript`: what was said in a session, from the client's own file while it exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base import redact, settings
from ..base.text import clean
from ..memory import records
from ..session import transcript as transcripts
from ..session.capture import is_prompt
from . import arguments, resolve
from .output import Refusal, answer, count, cut, line, local, passage, short

_SAID_CHARS = 2000
_TOOL_CHARS = 160
_DETAILS = ("command", "file_path", "notebook_path", "pattern", "query", "url", "skill", "description")
_WHO = {"user": "you", "assistant": "claude"}


def transcript(argv: list[str]) -> int:
    parser = arguments.parser("transcript", examples="transcript last\ntranscript a1b2c3d4 --grep rounding --context 3")
    parser.add_argument("session", metavar="SESSION", help='an id or its beginning, or "last"')
    parser.add_argument("--grep", metavar="TEXT", help="only around entries that hold this text, in any case")
    context = "entries before and after a hit (default: %(default)d)"
    parser.add_argument("--context", type=int, default=2, metavar="N", help=context)
    args = parser.parse_args(argv)
    if args.context < 0:
        raise Refusal("--context must be 0 or more")
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
    near = {at + step for at in hits for step in range(-args.context, args.context + 1)} if args.grep else {*hits}
    shown = sorted(near.intersection(range(len(entries))))
    lines: list[str] = []
    for before, number in zip([-1, *shown], shown):
        each = entries[number]
        lines += ["…", ""] if number > before + 1 else []
        if each["who"] in _WHO.values():
            text = passage(cut(each["text"], _SAID_CHARS)).replace("\n", "\n    ")
            lines += ["%s  %s" % (local(each["at"]), each["who"]), "    " + text, ""]
        else:
            lines += ["    [%s] %s" % (line(each["who"]), cut(line(each["text"]), _TOOL_CHARS)), ""]
    total = count(len(entries), "entrie")
    lines.append("%d of %s. Its record: harness memory show %s" % (len(shown), total, record.id))
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
