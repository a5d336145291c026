"""Bringing one session's record up to date: checkpoint first, transcript second, payload always.

    transcript + checkpoints + payload → capture.json → episode, summary.md, META, views

Run at every Stop, PreCompact and SessionEnd, by the command line after a checkpoint, and by
recovery for a session that died. The caller holds the session's lock and saves META afterwards.
Each step can be repeated: a process killed in between leaves nothing that the next run does not
find and finish.
"""

from __future__ import annotations

import os
import time

from . import capture, checkpoint, clock, episode, jsontext, liveness, settings, store, transcript, views
from . import session as sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .place import Place
    from .session import Session


def update(
    place: Place, session: Session, *, message: str = "", title: str = "", now: float = 0.0, is_over: bool = False
) -> bool:
    """Archive what is new. `message` is the closing answer a Stop brings, at `now`.

    False when time ran out before the transcript was read to its end: what was read is saved, the
    next run goes on from there.
    """
    before = sessions.load_capture(session)
    state, is_whole = _read(place, session, jsontext.loads(jsontext.compact(before)), message)
    checkpoint.collect(
        place.folders, session.artifacts, session.id, _ownership(place, session, state), place.store_root
    )
    checkpoint.merge(session.artifacts, state["checkpoints"])
    if message:
        capture.answered(state, message)
    if title:
        state["title"] = title
    _date(state, before, session, now)
    _find_parent(place, session, state)
    if state != before:
        sessions.save_capture(session, state)
    if capture.has_substance(state):
        _publish(place, session, state, is_over)
    elif capture.asks(state):
        session.meta["summary"] = capture.asks(state)[0]
    return is_whole


def _read(place: Place, session: Session, state: dict[str, Any], message: str) -> tuple[dict[str, Any], bool]:
    path = str(session.meta.get("transcript") or "")
    if not path:
        return state, True
    state, is_whole = _read_once(place, state, path)
    # Stop fires while the client still writes: give its last lines a moment.
    began = time.monotonic()
    while is_whole and message and state["answer"] != capture.answer_text(message):
        is_behind = state["turn"] != capture.ANSWERED and os.path.exists(path)
        patience = settings.FLUSH_WAIT_SECONDS if is_behind else settings.FLUSH_DOUBT_SECONDS
        if time.monotonic() - began > min(patience, place.left() / 2):
            break
        time.sleep(settings.FLUSH_POLL_SECONDS)
        state, is_whole = _read_once(place, state, path)
    return state, is_whole


def _read_once(place: Place, state: dict[str, Any], path: str) -> tuple[dict[str, Any], bool]:
    try:
        reading = transcript.Reading(path, state["cursor"])
    except (OSError, ValueError):
        return state, True  # not written yet, cleaned up, or never kept
    try:
        if reading.is_restart:
            state = capture.restarted(state)
        for entry in reading.entries(_has_time(place)):
            capture.absorb(state, entry, (place.root,))
        state["cursor"] = reading.cursor
        return state, place.left() > 0
    finally:
        reading.close()


def _has_time(place: Place) -> Callable[[], bool]:
    return lambda: place.left() > 0


def _date(state: dict[str, Any], before: dict[str, Any], session: Session, now: float) -> None:
    if now:
        state["ended"] = clock.iso(now)
    elif state["last"] != before["last"] or not state["ended"]:
        state["ended"] = max(session.started, clock.iso(state["last"] or 0.0))


def _find_parent(place: Place, session: Session, state: dict[str, Any]) -> None:
    if not state["since"] or state["thread"] or not state["root"]:
        return
    parent = episode.find_by_root(place.project_dir, state["root"], session.episode_name)
    if parent:
        state["thread"] = parent["thread"]
        session.meta["parent"] = parent["id"]


def _publish(place: Place, session: Session, state: dict[str, Any], is_over: bool) -> None:
    value = episode.build(session, state, place.root, place.remote, is_over)
    data = episode.render(value)
    path = os.path.join(place.project_dir, settings.EPISODES_DIR, session.episode_name)
    if store.read(path) != data:
        page = episode.summary_page(value)
        store.write(os.path.join(session.dir, settings.SUMMARY_FILE), page.encode("utf-8", "replace"))
        views.publish(
            place.project_dir, session.episode_name, data, min(settings.LOCK_WAIT_SECONDS, max(0.0, place.left() / 2))
        )
    session.meta.update(summary=value["what_was_done"], tags=value["tags"], artifacts=value["files_changed"])
    for key in ("branch", "model"):
        session.meta[key] = value[key] or session.meta.get(key)


def _ownership(place: Place, session: Session, state: dict[str, Any]) -> Callable[[str, dict[str, Any]], bool]:
    """Tells whether an unclaimed checkpoint file was written by this session."""

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
        return not others and _written(path) >= (clock.parse(session.started) or 0.0)

    return is_mine


def _others(place: Place, session: Session) -> list[dict[str, Any]]:
    """Sessions of this project that may be alive, this one left out."""
    own = session.meta.get("claude_session")
    markers = [marker for marker in sessions.live_markers(place.project_dir) if marker["claude_session"] != own]
    return [marker for marker in markers if liveness.is_alive(marker.get("process") or {}) is not False]


def _written(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0
