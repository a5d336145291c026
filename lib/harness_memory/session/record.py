"""Bringing one session's record up to date.

    transcript + checkpoints + payload → capture.json → META, summary.md, episode

Run at every Stop, PreCompact and SessionEnd, by the command line after a checkpoint, and by the sweep for a session
that died. The caller holds the session's lock. Each step can be repeated: the next run completes what a killed
process left.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.text import brief
from . import absorb, capture, episode, transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.context import Context
    from .capture import Capture
    from .sessions import Session


class Gathered:
    """What a session's record will say. Its META has it already; `publish` writes the episode."""

    __slots__ = ("claims", "episode", "is_changed", "is_whole", "state")

    def __init__(self, state: Capture, episode: dict[str, Any] | None, claims: list[str], is_whole: bool) -> None:
        self.state = state
        self.episode = episode  # None for a session without substance
        self.claims = claims  # files of checkpoints that it holds
        self.is_whole = is_whole  # False: time ran out before the transcript's end, the next run goes on
        self.is_changed = False  # the episode was written and views are behind


def update(
    context: Context, session: Session, *, message: str = "", title: str = "", now: float = 0.0, is_over: bool = False
) -> Gathered:
    """Gather, save META, publish; the caller refreshes the views."""
    gathered = gather(context, session, message=message, title=title, now=now, is_over=is_over)
    session.save(durable=is_over)
    publish(context, session, gathered)
    return gathered


def gather(
    context: Context, session: Session, *, message: str = "", title: str = "", now: float = 0.0, is_over: bool = False
) -> Gathered:
    """Take in what is new. `message` is the closing answer a Stop brings, at `now`."""
    state = capture.load(session.dir, is_owner=True)
    last = state.last
    is_whole = _read(context, session, state, message)
    claims = _collect(context, session, state)
    state.answer_with(message)
    if not _forgotten_until(session, context.project_dir):  # nothing dates a title
        state.title = brief(title, settings.SUMMARY_LINE_CHARS) or state.title
    if now or state.last != last or not state.ended:
        state.ended = max(session.started, clock.iso(now or state.last or 0.0))  # clocks are set back now and then
    if state.since and state.root and not state.thread:
        parent = episode.find_by_root(context.project_dir, state.root, session.episode_name)
        state.thread = parent["thread"] if parent else session.id
        session.meta["parent"] = parent["id"] if parent else None
    capture.save(session.dir, state)
    if not state.has_substance():
        session.meta["summary"] = next(iter(state.prompts()), session.meta.get("summary"))
        return Gathered(state, None, claims, is_whole)
    head = _audit_head(context.project_dir, session.episode_name)
    value = episode.build(session, state, context.root, context.remote, is_over, head)
    session.meta.update(summary=value["what_was_done"], tags=value["tags"], artifacts=value["files_changed"])
    session.meta.update({key: value[key] for key in ("branch", "model") if value[key]})
    return Gathered(state, value, claims, is_whole)


def publish(context: Context, session: Session, gathered: Gathered) -> None:
    """Write the summary and the episode, after META."""
    if gathered.episode is not None:
        path = episode.path_of(context.project_dir, session.episode_name)
        data = episode.render(gathered.episode)
        gathered.is_changed = not files.is_same(path, data)
        if gathered.is_changed:
            files.write_text(os.path.join(session.dir, settings.SUMMARY_FILE), episode.summary_page(gathered.episode))
            files.write(path, data, durable=True)
    for claim in gathered.claims:
        files.remove(claim)


def _read(context: Context, session: Session, state: Capture, message: str) -> bool:
    """Take in what the transcripts say now; False when time ran out."""
    path = str(session.meta.get("transcript") or "")
    if not path:
        return True
    is_whole = _read_new(context, session, state, path)
    # Stop fires while the client still writes: wait a moment for its last lines.
    began = time.monotonic()
    while is_whole and message and not state.has_answer(message):
        is_behind = state.turn != capture.ANSWERED and os.path.exists(path)
        patience = settings.FLUSH_WAIT_SECONDS if is_behind else settings.FLUSH_DOUBT_SECONDS
        if time.monotonic() - began > min(patience, context.left() / 2):
            break
        time.sleep(settings.FLUSH_POLL_SECONDS)
        is_whole = _read_new(context, session, state, path)
    folder = os.path.join(path[: -len(".jsonl")], settings.SUBAGENTS_DIR) if path.endswith(".jsonl") else ""
    for name in files.names(folder) if folder else []:
        own = os.path.join(folder, name)
        if name.endswith(".jsonl") and not transcript.is_read(own, state.subagents.get(name)):
            is_whole = _read_new(context, session, state, own, name) and is_whole
    return is_whole


def _read_new(context: Context, session: Session, state: Capture, path: str, subagent: str = "") -> bool:
    """Absorb what was appended to a transcript, the session's or a subagent's; False when time ran out."""
    try:
        reading = transcript.Reading(path, state.subagents.get(subagent) if subagent else state.cursor)
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return True  # not written yet, cleaned up, or another user's
    try:
        if reading.is_restart and not reading.size:
            return True  # emptied, perhaps to be written again
        entries = reading.entries(lambda: context.left() > 0, is_sidechain=bool(subagent))
        if subagent:
            absorb.absorb_subagent(state, entries, context.roots)
            state.subagents[subagent] = reading.place
        else:
            if reading.is_restart:
                state.restart()
            state.since = max(state.since, _forgotten_until(session, context.project_dir))
            absorb.absorb(state, entries, context.roots)
            state.cursor = reading.place
    finally:
        reading.close()
    return context.left() > 0


def _forgotten_until(session: Session, project_dir: str) -> float:
    """What the session said before this instant was forgotten and is not read again; 0 for most sessions."""
    if not files.exists(os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        return 0.0
    from . import tombstones

    return tombstones.since(project_dir, session.claude_id, clock.parse(session.started) or 0.0)


def _collect(context: Context, session: Session, state: Capture) -> list[str]:
    """Take in checkpoints; nothing is loaded for it where there are none."""
    waiting = [name for folder in context.folders for name in files.names(folder)]
    is_waiting = any(name.startswith(settings.CHECKPOINT_PREFIX) for name in waiting)
    claims: list[str] = []
    if is_waiting or state.wrote_checkpoint or files.names(session.artifacts):
        from ..base import health
        from . import checkpoint

        with health.noted(context.store_root, "checkpoint"):
            claims = checkpoint.collect(context, session, state)
    return claims


def _audit_head(project_dir: str, name: str) -> str:
    """The newest audit event the episode may vouch for; nothing is loaded where nothing was audited."""
    if not os.path.isdir(os.path.join(project_dir, settings.SECURITY_DIR)):
        return ""
    from ..audit import trail

    return trail.next_head(project_dir, (episode.load(project_dir, name) or {}).get("audit_head") or "")
