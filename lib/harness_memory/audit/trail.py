"""The audit trail of a project: what was stopped, chained so that a later change shows.

    SECURITY/YYYY/MM/audit.jsonl             one event a line, months in UTC, only ever appended to
    SECURITY/<machine>/YYYY/MM/audit.jsonl   the same in a store that is synced: each machine has a chain of its own
    SECURITY/audit.lock                      held while a line is appended; one for all months

A line is `jsontext.compact` of one object, in UTF-8, with its fields in this order:

    ts, event               when (UTC), and what happened: `tool_blocked`, `memory_forgotten` and so on
    tool, command, path     what it was about, where there is one; secrets redacted first, then cut
    command_chars           after `command`: its whole length, when that is more than is kept
    reason, session, rule   why, Claude's id of the session, the rule's id; "" where there is none
    …                       further fields of an event, sorted by name
    seq                     1, 2, 3 and so on through all months
    prev                    the `hash` of the event before; "" in the first
    hash                    SHA-256 (hex) of the line's bytes as they are without this field

A writer that is killed, or out of disk, leaves a torn line: the next writer ends it and goes on from the last whole
event. The event of a torn line was never acknowledged.

Without a secret key a chain cannot show that all of it was rewritten, or its end cut off. For that each episode keeps
the head of its time, and `verify` gets these heads.
"""

from __future__ import annotations

import os

from ..base import clock, files, jsontext, machine, settings, shape
from ..base.lock import Lock
from ..base.text import brief_of, clean, hexdigest, passage
from ..base.typing import Any, Iterator, Mapping

_HASH_KEY = b', "hash": "'
_SEAL_BYTES = len(_HASH_KEY) + 64 + len(b'"}')
_SPEC = {"ts": "text", "event": "text", "seq": "count", "prev": "text", "hash": "text"}
_CHARS = {"tool": 300, "command": 500, "path": 1000, "reason": 300, "session": 300, "rule": 300}
_OURS = {*_CHARS, "ts", "event", "command_chars", "seq", "prev", "torn", "hash"}
REMEDY = "Trust only the events before it, compare with a backup, and leave the file as it is"


def append(project_dir: str, fields: dict[str, Any], now: float, wait: float = settings.LOCK_WAIT_SECONDS) -> str:
    """Record an event, on disk for good when this returns its hash. OSError: it may not be recorded."""
    ts = clock.iso(now)
    event: dict[str, Any] = {"ts": ts, "event": fields["event"]}
    for key, chars in _CHARS.items():
        value = fields.get(key)
        is_command = key == "command"
        text = passage(clean(value, settings.TEXT_FIELD_MAX_CHARS), chars) if is_command else brief_of(value, chars)
        if text or key in ("reason", "session", "rule"):
            event[key] = text
        if is_command and isinstance(value, str) and len(value) > chars:
            event["command_chars"] = len(value)
    for key in sorted(set(fields) - _OURS):
        value = fields[key]
        event[key] = value if isinstance(value, (bool, int)) else brief_of(value, _CHARS["reason"])
    top = os.path.join(project_dir, settings.SECURITY_DIR)
    month = os.path.join(top, machine.own_id(os.path.dirname(project_dir)), ts[:4], ts[5:7], "audit.jsonl")
    with lock(project_dir, wait):
        seq, prev = _end(project_dir)
        body = jsontext.compact({**event, "seq": seq + 1, "prev": prev}).encode("utf-8", "replace")
        digest = hexdigest(body)
        line = body[:-1] + _HASH_KEY + digest.encode() + b'"}'
        # A later month than this one is there when the clock was set back: the trail goes on in it.
        files.append_line(max([*paths(project_dir), month], key=_month), line, durable=True)
    return digest


def lock(project_dir: str, wait: float = settings.LOCK_WAIT_SECONDS) -> Lock:
    path = os.path.join(project_dir, settings.SECURITY_DIR, "audit.lock")
    return Lock(path, wait, "another process holds the lock of the audit trail")


def next_head(project_dir: str, before: str) -> str:
    """The head to keep after `before`: `<seq>:<hash>` of the last whole event, if the trail shows that it grew."""
    try:
        ends = [files.read_part(path, settings.AUDIT_TAIL_BYTES, from_end=True) for path in paths(project_dir)[-2:]]
        is_grown = not before or before.partition(":")[2].encode("utf-8", "replace") in b"".join(ends)
        seq, digest = _end(project_dir) if is_grown else (0, "")
    except OSError:
        return before
    return "%d:%s" % (seq, digest) if seq else before


def events(project_dir: str) -> Iterator[dict[str, Any]]:
    """Every event that can be read, oldest first; `verify` says whether it is true."""
    from heapq import merge

    chains = [filter(None, (parse(line) for _, _, line in lines(project_dir, name))) for name in names(project_dir)]
    return merge(*chains, key=lambda event: event["ts"])


def names(project_dir: str) -> list[str]:
    """The chains of a project: "" is this machine's own, others came by a sync."""
    top = os.path.join(project_dir, settings.SECURITY_DIR)
    machines = [os.path.basename(path) for path in files.folders(top) if not os.path.basename(path).isdecimal()]
    own = machine.own_id(os.path.dirname(project_dir))
    return ["", *(name for name in machines if name != own)]


def paths(project_dir: str, name: str = "") -> list[str]:
    """The files of a chain, oldest first. The own one may begin where it was before the store was synced."""
    top, own = os.path.join(project_dir, settings.SECURITY_DIR), machine.own_id(os.path.dirname(project_dir))
    tops = [os.path.join(top, name)] if name else [top, os.path.join(top, own)] if own else [top]
    months = [month for folder in tops for year in files.folders(folder) for month in files.folders(year)]
    listed = [os.path.join(month, "audit.jsonl") for month in months]
    return sorted((path for path in listed if "".join(_month(path)).isdecimal() and files.exists(path)), key=_month)


def _month(path: str) -> list[str]:
    return path.split(os.sep)[-3:-1]


def lines(project_dir: str, name: str = "") -> Iterator[tuple[str, int, bytes]]:
    """File, number and bytes of every line of a chain; the last one may be without its end."""
    for path in paths(project_dir, name):
        with os.fdopen(files.open_plain(path), "rb") as file:
            for number, line in enumerate(file, 1):
                yield path, number, line


def parse(line: bytes) -> dict[str, Any] | None:
    """The event of a whole line; None for anything else."""
    line = line.rstrip(b"\n")
    if line[-_SEAL_BYTES:][: len(_HASH_KEY)] != _HASH_KEY:
        return None
    try:
        event: dict[str, Any] = jsontext.loads(line)
    except ValueError:
        return None
    return None if shape.problem(event, _SPEC) or not event["seq"] else event


def _end(project_dir: str) -> tuple[int, str]:
    """Number and hash of the last whole event."""
    for path in reversed(paths(project_dir)):
        data = files.read_part(path, settings.AUDIT_TAIL_BYTES, from_end=True)
        event = next(filter(None, map(parse, reversed(data.split(b"\n")))), None)
        if event:
            return event["seq"], event["hash"]
    return 0, ""


class Findings:
    """`count` events are sound, up to `head`; `torn` writers were killed in mid-line.

    `problem` is what is wrong with the first broken line, at `path` and `line` (0: the trail as a whole).
    """

    path = problem = head = ""
    line = count = torn = 0


def verify(project_dir: str, heads: Mapping[str, str]) -> Findings:
    """`heads` are those that episodes keep: the id of a session to `<seq>:<hash>`. Read them before the trail."""
    passed: set[str] = set()  # at last also those of other machines' chains, which their sessions have seen
    for name in [*names(project_dir)[1:], ""]:
        own = {session: head for session, head in heads.items() if head not in passed} if not name else {}
        findings = _verify(project_dir, name, own, passed)
        if findings.problem:
            break
    findings.count = len(passed)
    return findings


def _verify(project_dir: str, name: str, heads: Mapping[str, str], passed: set[str]) -> Findings:
    """One chain, whose heads are added to `passed`."""
    rows = [(*head.partition(":"), session) for session, head in heads.items()]
    seen = {int(seq): (digest, session) for seq, _, digest, session in rows if seq.isdecimal() and len(seq) < 16}
    findings = Findings()
    findings.path = os.path.join(project_dir, settings.SECURITY_DIR, name)
    digest, torn = "", b""
    for path, number, line in lines(project_dir, name):
        event = parse(line)
        if event is None:
            torn = line
            findings.torn += 1
            continue
        seq = event["seq"]
        if hexdigest(line.rstrip(b"\n")[:-_SEAL_BYTES] + b"}") != event["hash"]:
            findings.problem = "its hash does not match its content"
        elif seq != findings.count + 1:
            findings.problem = "it is event %d, but event %d must follow here" % (seq, findings.count + 1)
        elif event["prev"] != digest:
            findings.problem = "it does not follow event %d as it is now" % findings.count
        elif seen.get(seq, (event["hash"],))[0] != event["hash"]:
            findings.problem = "session %s has seen another event %d" % (seen[seq][1], seq)
        findings.path, findings.line, torn = path, number, b""
        if findings.problem:
            return findings
        findings.count, digest = seq, event["hash"]
        findings.head = "%d:%s" % (seq, digest)
        passed.add(findings.head)
    last = max(seen, default=0)
    if torn.endswith(b"\n"):
        findings.problem = "a line after it cannot be read"
    elif last > findings.count:
        ends = (findings.count, seen[last][1], last)
        findings.problem = "the trail ends at event %d, but session %s has seen event %d" % ends
    return findings
