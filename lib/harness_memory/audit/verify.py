"""Verification of an audit trail: the first line that is not as it was written, and what became of it.

    changed     its hash is not that of its content, or not the one that the next event names
    removed     events are missing before it
    inserted    it is no part of the chain
    reordered   it stands before events that it follows
    malformed   an event stood there, and can no longer be read
    truncated   the trail ends earlier than it did: an episode knows a head that is gone

Without a secret key no chain can show that all of it was written anew, or its end cut off. For that
each episode keeps the head of its time. Nothing here writes.
"""

from __future__ import annotations

import os

from ..base import settings
from ..base.sha256 import hexdigest
from ..session import episode
from . import trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Place = tuple[str, int]

CHANGED = "changed"
REMOVED = "removed"
INSERTED = "inserted"
REORDERED = "reordered"
MALFORMED = "malformed"
TRUNCATED = "truncated"


class Broken(Exception):
    """The first broken line. `what` goes on where the line's name ends: "was changed: …"."""

    def __init__(self, kind: str, place: Place, what: str) -> None:
        super().__init__(what)
        self.kind = kind
        self.path, self.line = place
        self.what = what


class Findings:
    """`count` events are sound, up to `head`; `torn` times a writer was killed in mid-line."""

    __slots__ = ("broken", "count", "head", "torn")

    def __init__(self) -> None:
        self.broken: Broken | None = None
        self.count = 0
        self.head = ""
        self.torn = 0


def verify(project_dir: str) -> Findings:
    walk = _Walk(project_dir, _heads(project_dir))
    findings = Findings()
    try:
        walk.run()
    except Broken as broken:
        findings.broken = broken
    findings.count, findings.torn = walk.seq, walk.torn
    findings.head = "%d:%s" % (walk.seq, walk.hash) if walk.seq else ""
    return findings


def _heads(project_dir: str) -> dict[int, tuple[str, str]]:
    """What episodes know: number → hash, and the session that saw it. Read before the trail, which may grow."""
    known: dict[int, tuple[str, str]] = {}
    for name in episode.names(project_dir):
        seq, _, digest = episode.audit_head(project_dir, name).partition(":")
        if seq.isdecimal() and len(seq) < 16:
            known.setdefault(int(seq), (digest, name))
    return known


class _Walk:
    """The chain as far as it was found sound: its last event, and the bytes since that hold none."""

    def __init__(self, project_dir: str, heads: dict[int, tuple[str, str]]) -> None:
        self.lines = trail.lines(project_dir)
        self.heads = heads
        self.place: Place = (os.path.join(project_dir, settings.SECURITY_DIR), 0)
        self.seq = self.torn = 0
        self.hash = self.prev = ""
        self.loose = b""
        self.loose_place = self.place

    def run(self) -> None:
        for path, number, line in self.lines:
            event = trail.parse(line)
            if event is None:
                self._set_aside(line, (path, number))
            else:
                self._pass_loose(line, event, (path, number))
                self._follow(event, (path, number))
        if self.loose and not trail.is_torn(self.loose):
            raise Broken(MALFORMED, self.loose_place, "is malformed: no event can be read from it")
        self.torn += bool(self.loose)
        last = max(self.heads, default=0)
        if last > self.seq:
            what = "is where the trail ends, at event %d" % self.seq if self.seq else "holds no event"
            seen = "session %s has seen event %d: the end was cut off" % (_session(self.heads[last][1]), last)
            raise Broken(TRUNCATED, self.place, "%s, but %s" % (what, seen))

    def _set_aside(self, line: bytes, place: Place) -> None:
        if not self.loose:
            self.loose_place = place
        self.loose += line
        if len(line) == settings.AUDIT_LINE_MAX_BYTES:
            raise Broken(MALFORMED, place, "is malformed: it is longer than an event can be")

    def _pass_loose(self, line: bytes, event: dict[str, Any], place: Place) -> None:
        """What stood before this event must be what its `torn` says, or nothing."""
        is_sealed = trail.is_sealed(line, event)
        torn = event.get("torn", "")
        if self.loose and not (is_sealed and torn == hexdigest(self.loose)):
            if is_sealed and torn:
                raise Broken(
                    CHANGED, self.loose_place, "was changed: the next event names other bytes for this torn line"
                )
            if event["seq"] == self.seq + 1:
                raise Broken(INSERTED, self.loose_place, "was inserted: it is no event, and the chain goes on after it")
            raise Broken(MALFORMED, self.loose_place, "is malformed: the event that stood there cannot be read")
        if not is_sealed:
            raise Broken(CHANGED, place, "was changed: its hash is not that of its content")
        if torn and not self.loose:
            raise Broken(REMOVED, place, "names a torn line before it, which was removed")
        self.torn += bool(self.loose)
        self.loose = b""

    def _follow(self, event: dict[str, Any], place: Place) -> None:
        if event["seq"] != self.seq + 1 or event["prev"] != self.hash:
            raise self._breach(event, place)
        self.seq, self.hash, self.prev, self.place = event["seq"], event["hash"], event["prev"], place
        digest, name = self.heads.get(self.seq, (self.hash, ""))
        if digest != self.hash:
            what = "is not the event %d that session %s has seen: the end was cut off, and the trail went on"
            raise Broken(TRUNCATED, place, what % (self.seq, _session(name)))

    def _breach(self, event: dict[str, Any], place: Place) -> Broken:
        """Why a sound line does not follow the one before: told by what comes after it."""
        prevs, hashes = _rest(self.lines)
        seq, due = event["seq"], self.seq + 1
        if self.hash in prevs:  # the event that is due comes later
            if event["prev"] in hashes and event["hash"] not in hashes:
                return Broken(REORDERED, place, "was moved: event %d stands before event %d" % (seq, due))
            return Broken(INSERTED, place, "was inserted: event %d is no part of the chain here" % seq)
        if seq > due:
            missing = "event %d was" % due if seq == due + 1 else "events %d to %d were" % (due, seq - 1)
            return Broken(REMOVED, place, "is event %d, but %s removed before it" % (seq, missing))
        if seq == due:
            what = "was changed and given a new hash: the next event names another"
            return Broken(CHANGED, self.place if self.seq else place, what)
        is_twin = event["prev"] == self.prev and event["hash"] in prevs  # the chain goes on from this one of the two
        return Broken(
            INSERTED, self.place if is_twin else place, "was inserted: there is another event %d" % min(seq, self.seq)
        )


def _rest(lines: Iterator[tuple[str, int, bytes]]) -> tuple[set[str], set[str]]:
    """The `prev` and the `hash` of every event that is left."""
    prevs, hashes = set(), set()
    for _, _, line in lines:
        event = trail.parse(line)
        if event:
            prevs.add(event["prev"])
            hashes.add(event["hash"])
    return prevs, hashes


def _session(episode_name: str) -> str:
    from ..session.sessions import day_and_id

    return day_and_id(episode_name)[1]
