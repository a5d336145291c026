"""`transcript`: what was said in a session, from the client's own file while it is kept."""

from __future__ import annotations

from ..base import redact, settings
from ..base.text import clean
from ..session import capture, transcript
from . import arguments, records
from .output import count, cut, emit_json, line, local, passage, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_CONTEXT = 2
_SAID_CHARS = 2000
_TOOL_CHARS = 160
_DETAILS = ("command", "file_path", "notebook_path", "pattern", "query", "url", "skill", "description")


class Said:
    """One thing said or done: who is "you", "claude" or the name of a tool."""

    __slots__ = ("at", "text", "who")

    def __init__(self, who: str, at: str, text: str) -> None:
        self.who = who
        self.at = at
        self.text = text


def show(argv: list[str]) -> int:
    about = (
        "What was said in a session, in order: prompts, answers and tool calls, secrets removed. Claude Code keeps\n"
        "transcripts for some weeks only; when a session's is gone, its record is what is left."
    )
    parser = arguments.parser("transcript", about, "transcript last\ntranscript a1b2c3d4 --grep rounding --context 3")
    parser.add_argument("session", metavar="SESSION", help='an id or its beginning, or "last"')
    parser.add_argument("--grep", metavar="TEXT", help="only around what holds this text, in whatever case")
    parser.add_argument(
        "--context", type=int, metavar="N", help="so many before and after a hit (default: %d)" % _CONTEXT
    )
    args = parser.parse_args(argv)
    if args.context is not None and args.context < 0:
        raise Refusal("--context must be 0 or more")
    record = records.chosen(records.load_all(arguments.locate(args).dir), args.session)
    said = _read(record)
    around = _CONTEXT if args.context is None else args.context
    shown = _around(said, args.grep, around) if args.grep else [*range(len(said))]
    if args.json:
        emit_json([{"who": said[n].who, "at": said[n].at, "text": said[n].text} for n in shown])
    elif shown:
        print("\n".join(_page(said, shown)))
        print("\n%d of %s. Its record: harness memory show %s" % (len(shown), count(len(said), "entrie"), record.id))
    else:
        print("Nothing in this transcript holds that.")
    return 0 if shown else 1


def _read(record: records.Record) -> list[Said]:
    path = str(record.meta.get("transcript") or (record.episode or {}).get("transcript") or "")
    rest = "What is left of it: harness memory show %s" % record.id
    if not path:
        raise Refusal("no transcript is known of session %s. %s" % (record.id, rest))
    try:
        reading = transcript.Reading(path, {})
    except OSError:
        told = "the transcript of session %s is gone: Claude Code no longer keeps %s. %s"
        raise Refusal(told % (record.id, short(path), rest)) from None
    try:
        return [said for entry in reading.entries(lambda: True) for said in _said(entry)]
    finally:
        reading.close()


def _said(entry: dict[str, Any]) -> Iterator[Said]:
    if entry.get("isSidechain") or entry.get("isMeta") or entry.get("isCompactSummary"):
        return
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    at = clean(entry.get("timestamp"), 40)
    who = {"user": "you", "assistant": "claude"}.get(str(entry.get("type")), "")
    for block in blocks if isinstance(blocks, list) and who else ():
        if not isinstance(block, dict):
            continue
        text = redact.redact(clean(block.get("text"), settings.TEXT_FIELD_MAX_CHARS))
        if block.get("type") == "text" and (capture.is_prompt(text) if who == "you" else text.strip()):
            yield Said(who, at, text)
        elif block.get("type") == "tool_use":
            yield Said(clean(block.get("name"), settings.SKILL_CHARS), at, _detail(block.get("input")))


def _detail(given: object) -> str:
    told = [given[key] for key in _DETAILS if isinstance(given.get(key), str)] if isinstance(given, dict) else []
    return redact.redact(clean(told[0], settings.PATH_CHARS)) if told else ""


def _around(said: list[Said], text: str, context: int) -> list[int]:
    hits = [number for number, each in enumerate(said) if text.casefold() in each.text.casefold()]
    return sorted({near for n in hits for near in range(max(0, n - context), min(len(said), n + context + 1))})


def _page(said: list[Said], shown: list[int]) -> list[str]:
    lines: list[str] = []
    for before, number in zip([-1, *shown], shown):
        each = said[number]
        lines += ["…", ""] if number > before + 1 else []
        if each.who in ("you", "claude"):
            text = passage(cut(each.text, _SAID_CHARS)).replace("\n", "\n    ")
            lines += ["%s  %s" % (local(each.at), each.who), "    " + text, ""]
        else:
            lines += ["    [%s] %s" % (line(each.who), cut(line(each.text), _TOOL_CHARS)), ""]
    return lines[:-1]
