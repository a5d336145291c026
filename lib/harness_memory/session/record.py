"""Bringing one session's record up to date: checkpoint first, transcript second, payload always.

    transcript + checkpoints + payload → capture.json → episode, summary.md, META, views

Run at every Stop, PreCompact and SessionEnd, by the command line after a checkpoint, and by
recovery for a session that died. The caller holds the session's lock: it gathers, saves META, and
publishes.
Each step can be repeated: a process killed in between leaves nothing that the next run does not
find and finish.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, health, settings
from ..base.text import brief
from . import capture, episode, sessions, transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..project.context import Context
    from .sessions import Session
    from .tombstones import Sieve


class Gathered:
    """What a session's record will say. Its META has it already; `publish` writes the episode."""

    __slots__ = ("claims", "episode", "is_whole", "state")

    def __init__(
        self, state: dict[str, Any], episode: dict[str, Any] | None, claims: list[str], is_whole: bool
    ) -> None:
        self.state = state
        self.episode = episode
        self.claims = claims  # files of checkpoints that it holds
        self.is_whole = is_whole  # False: time ran out before the transcript's end, the next run goes on


def gather(
    place: Context, session: Session, *, message: str = "", title: str = "", now: float = 0.0, is_over: bool = False
) -> Gathered:
    """Take in what is new. `message` is the closing answer a Stop brings, at `now`."""
    state = sessions.load_capture(session)
    seen = state["last"]
    state, is_whole = _read(place, session, state, message)
    message = _allowed(place, session, state, message, now)
    claims = _take_checkpoints(place, session, state)
    if message:
        capture.answered(state, message)
    sieve = _sieve(place) if title else None
    title = sieve.value(title, None) if sieve else title
    if title:
        state["title"] = brief(title, settings.SUMMARY_LINE_CHARS)
    _date(state, seen, session, now)
    with health.noted(place.store_root, "fork"):
        _find_parent(place, session, state)
    sessions.save_capture(session, state)
    if not capture.has_substance(state):
        session.meta["summary"] = next(iter(capture.asks(state)), session.meta.get("summary"))
        return Gathered(state, None, claims, is_whole)
    head = _audit_head(place.project_dir, session.episode_name)
    value = episode.build(session, state, place.root, place.remote, is_over, head)
    session.meta.update(summary=value["what_was_done"], tags=value["tags"], artifacts=value["files_changed"])
    for key in ("branch", "model"):
        session.meta[key] = value[key] or session.meta.get(key)
    return Gathered(state, value, claims, is_whole)


def publish(place: Context, session: Session, gathered: Gathered) -> bool:
    """Write the episode and the summary, after META; True when the episode changed and views are behind."""
    is_changed = False
    if gathered.episode is not None:
        path = os.path.join(place.project_dir, settings.EPISODES_DIR, session.episode_name)
        data = episode.render(gathered.episode)
        is_changed = not files.is_same(path, data)
        if is_changed:
            files.write_text(os.path.join(session.dir, settings.SUMMARY_FILE), episode.summary_page(gathered.episode))
            files.write(path, data, durable=True)
    for claim in gathered.claims:
        files.remove(claim)
    return is_changed


def _read(place: Context, session: Session, state: dict[str, Any], message: str) -> tuple[dict[str, Any], bool]:
    path = str(session.meta.get("transcript") or "")
    if not path:
        return state, True
    state, is_whole = _read_once(place, state, path)
    # Stop fires while the client still writes: give its last lines a moment.
    began = time.monotonic()
    while is_whole and message and not _has_answer(state, message) and not capture.is_left_out(state, message):
        is_behind = state["turn"] != capture.ANSWERED and os.path.exists(path)
        patience = settings.FLUSH_WAIT_SECONDS if is_behind else settings.FLUSH_DOUBT_SECONDS
        if time.monotonic() - began > min(patience, place.left() / 2):
            break
        time.sleep(settings.FLUSH_POLL_SECONDS)
        state, is_whole = _read_once(place, state, path)
    return state, _read_subagents(place, state, path) and is_whole


def _allowed(place: Context, session: Session, state: dict[str, Any], message: str, now: float) -> str:
    """A Stop's answer without what was forgotten since it was given, which its transcript alone can date."""
    if not message or _has_answer(state, message):
        return message
    sieve = _sieve(place)
    if sieve:
        is_kept = os.path.exists(str(session.meta.get("transcript") or ""))
        message = sieve.value(message, None if is_kept else clock.iso(now))
    return "" if capture.is_left_out(state, message) else message


def _has_answer(state: dict[str, Any], message: str) -> bool:
    return bool(state["turn"] == capture.ANSWERED and state["answer"] == capture.answer_text(message))


def _read_subagents(place: Context, state: dict[str, Any], path: str) -> bool:
    """What subagents did is in files of their own, beside the session's."""
    folder = os.path.join(path[: -len(".jsonl")], settings.SUBAGENTS_DIR) if path.endswith(".jsonl") else ""
    sieve = _sieve(place)
    for name in files.names(folder) if folder else []:
        path, known = os.path.join(folder, name), state["subagents"].get(name)
        if not name.endswith(".jsonl") or transcript.is_read(path, known):
            continue
        try:
            reading = transcript.Reading(path, transcript.cursor_of(known))
        except (OSError, ValueError) as error:
            if files.is_passing(error):
                raise
            continue
        try:
            for entry in reading.entries(_has_time(place), is_sidechain=True):
                capture.absorb_subagent(state, sieve.entry(entry) if sieve else entry, place.roots)
            state["subagents"][name] = transcript.place_of(reading.cursor)
        finally:
            reading.close()
    return place.left() > 0


def _read_once(place: Context, state: dict[str, Any], path: str) -> tuple[dict[str, Any], bool]:
    try:
        reading = transcript.Reading(path, state["cursor"])
    except files.Foreign as error:
        health.note_failure(place.store_root, "transcript", error)
        return state, True
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return state, True  # not written yet, cleaned up, or never kept
    try:
        before = state
        if reading.is_restart:
            state = capture.restarted(state)
        sieve = _sieve(place)
        entries = reading.entries(_has_time(place))
        capture.absorb(state, map(sieve.entry, entries) if sieve else entries, place.roots)
        is_whole = place.left() > 0
        if reading.is_restart and not reading.cursor["offset"]:
            return before, is_whole  # emptied, perhaps to be written again
        if is_whole:
            capture.joined(state)
        capture.bound(state, reading.modified)
        state["cursor"] = reading.cursor
        return state, is_whole
    finally:
        reading.close()


def _sieve(place: Context) -> Sieve | None:
    """What takes forgotten texts out of a transcript's entries, where something was forgotten."""
    if not files.is_there(os.path.join(place.project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        return None
    from . import tombstones

    return tombstones.sieve(place.project_dir)


def _has_time(place: Context) -> Callable[[], bool]:
    return lambda: place.left() > 0


def _date(state: dict[str, Any], seen: float | None, session: Session, now: float) -> None:
    if now:
        state["ended"] = max(session.started, clock.iso(now))  # clocks are set back now and then
    elif state["last"] != seen or not state["ended"]:
        state["ended"] = max(session.started, clock.iso(state["last"] or 0.0))


def _take_checkpoints(place: Context, session: Session, state: dict[str, Any]) -> list[str]:
    claims: list[str] = []
    names = [name for folder in place.folders for name in files.names(folder)]
    is_left = any(name.startswith(settings.CHECKPOINT_PREFIX) for name in names)
    if is_left or state["wrote_checkpoint"] or _is_behind(state["checkpoints"], files.names(session.artifacts)):
        with health.noted(place.store_root, "checkpoint"):
            _archive_checkpoints(place, session, state, claims)
    return claims


def _is_behind(known: dict[str, Any], artifacts: list[str]) -> bool:
    """Whether there is an archived checkpoint that is not known, and later than those that are no longer."""
    oldest = min(known) if len(known) >= settings.CHECKPOINTS_KEPT else ""
    found = [name for name in artifacts if name.startswith(settings.ARTIFACT_PREFIX) and name > oldest]
    return any(name.endswith(settings.CHECKPOINT_SUFFIX) and name not in known for name in found)


def _archive_checkpoints(place: Context, session: Session, state: dict[str, Any], claims: list[str]) -> None:
    from . import checkpoint

    is_mine = _ownership(place, session, state)
    found = checkpoint.collect(place, session, is_mine, _sieve(place))
    checkpoint.merge(session.artifacts, state["checkpoints"])
    if not _is_behind(state["checkpoints"], files.names(session.artifacts)):
        claims += found
    # One that could not be taken now is still known to be this session's.
    state["wrote_checkpoint"] = state["wrote_checkpoint"] and checkpoint.is_any_left(place.folders)


def _find_parent(place: Context, session: Session, state: dict[str, Any]) -> None:
    if not state["since"] or state["thread"] or not state["root"]:
        return
    parent = episode.find_by_root(place.project_dir, state["root"], session.episode_name)
    state["thread"] = parent["thread"] if parent else session.id
    session.meta["parent"] = parent["id"] if parent else None


def _audit_head(project_dir: str, name: str) -> str:
    """Known before or found now; nothing is loaded where nothing was ever stopped."""
    known = episode.audit_head(project_dir, name)
    if not known and not os.path.isdir(os.path.join(project_dir, settings.SECURITY_DIR)):
        return ""
    from ..audit import trail

    return trail.next_head(project_dir, known)


def _ownership(place: Context, session: Session, state: dict[str, Any]) -> Callable[[str, dict[str, Any]], bool]:
    """Tells whether an unclaimed checkpoint file was written by this session."""

    from . import checkpoint

    def is_mine(path: str, said: dict[str, Any]) -> bool:
        named = said.get("session_id")
        if isinstance(named, str) and named:
            return named in (session.id, session.meta.get("claude_session"))
        pid = checkpoint.pid_in_name(path)
        if pid and pid == session.meta.get("pid"):
            return True
        others = _others(place, session)
        if pid and any(other.get("process", {}).get("pid") == pid for other in others):
            return False
        if state["wrote_checkpoint"]:
            return True
        return not others and files.modified(path) >= (clock.parse(session.started) or 0.0)

    return is_mine


def _others(place: Context, session: Session) -> list[dict[str, Any]]:
    """Sessions of this project that may be alive, this one left out."""
    from . import liveness

    own = session.meta.get("claude_session")
    markers = [marker for marker in sessions.live_markers(place.project_dir) if marker["claude_session"] != own]
    return [marker for marker in markers if liveness.is_alive(marker.get("process") or {}) is not False]
