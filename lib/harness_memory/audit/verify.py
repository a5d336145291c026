"""Verification of an audit trail: the first line that is not as it was written, and what is wrong with it.

Without a secret key a chain cannot show that all of it was rewritten, or its end cut off. For that each episode keeps
the head of its time; the caller passes these heads in. Nothing here writes.
"""

from __future__ import annotations

import os

from ..base import settings
from . import trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

REMEDY = "Trust only the events before it, compare with a backup, and leave the file as it is"


class Findings:
    """`count` events are sound, up to `head`; `torn` writers were killed in mid-line.

    `problem` is what is wrong with the first broken line, at `path` and `line` (0: the trail as a whole).
    """

    __slots__ = ("count", "head", "line", "path", "problem", "torn")

    def __init__(self, path: str) -> None:
        self.path = path
        self.line = self.count = self.torn = 0
        self.problem = self.head = ""


def verify(project_dir: str, heads: Mapping[str, str]) -> Findings:
    """`heads` are those that episodes keep: the id of a session to `<seq>:<hash>`. Read them before the trail."""
    rows = [(*head.partition(":"), session) for session, head in heads.items()]
    seen = {int(seq): (digest, session) for seq, _, digest, session in rows if seq.isdecimal() and len(seq) < 16}
    findings = Findings(os.path.join(project_dir, settings.SECURITY_DIR))
    digest, torn = "", b""
    for path, number, line in trail.lines(project_dir):
        event = trail.parse(line)
        if event is None:
            torn = line
            findings.torn += 1
            continue
        seq = event["seq"]
        if not trail.is_sealed(line, event):
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
    last = max(seen, default=0)
    if torn.endswith(b"\n"):
        findings.problem = "a line after it cannot be read"
    elif last > findings.count:
        ends = (findings.count, seen[last][1], last)
        findings.problem = "the trail ends at event %d, but session %s has seen event %d" % ends
    return findings
