"""Bringing one session's record up to date.

    transcript + checkpoints + payload → capture.json → summary.md, episode, META

Run at every Stop, PreCompact and SessionEnd, by the command line after a checkpoint, and by the sweep for a session
that died. The caller holds the session's lock. Each step can be repeated: the next run completes what a killed
process left.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..base.text import brief
from . import capture, digest, episode, transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.context import Context
    from .capture import Capture
    from .sessions import Session


class Update:
    """What came of it."""

    __slots__ = ("episode", "is_changed", "is_whole", "state")

    def __init__(self, state: Capture, is_whole: bool) -> None:
        self.state = state
        self.is_whole = is_whole  # False: time ran out before the transcript's end, the next run goes on
        self.episode: dict[str, Any] | None = None  # None for a session without substance
        self.is_changed = False  # the episode was written and views are behind


def update(
    context: Context, session: Session, *, message: str = "", title: str = "", now: float = 0.0, is_over: bool = False
) -> Update:
    """Take in what is new, then write it. `message` is the closing answer a Stop brings, at `now`.

    The caller refreshes the views.
    """
    project_dir, meta, claims = context.project_dir, session.meta, []
    state = capture.load(session.dir, is_owner=True)
    last, forgotten = state.last, 0.0
    if files.exists(os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        from . import tombstones

        forgotten = tombstones.since(project_dir, session.claude_id, clock.parse(session.started) or 0.0)
        state.since = max(state.since, forgotten)
    updated = Update(state, _read(context, str(meta.get("transcript") or ""), state, message))
    if context.checkpoints() or state.wrote_checkpoint or files.names(session.artifacts):
        from ..base import health
        from . import checkpoint

        with health.noted(context.store_root, "checkpoint"):
            claims = checkpoint.collect(context, session, state)
    state.answer_with(message)
    if not forgotten:  # nothing dates a title
        state.title = brief(title, settings.SUMMARY_LINE_CHARS) or state.title
    if now or state.last != last or not state.ended:
        state.ended = max(session.started, clock.iso(now or state.last or 0.0))  # clocks are set back now and then
    if state.since and state.root and not state.thread:
        parent = episode.find_by_root(project_dir, state.root, session.episode_name) or {}
        state.thread, meta["parent"] = parent.get("thread") or session.id, parent.get("id")
    capture.save(session.dir, state)
    if state.has_substance():
        _publish(context, session, updated, is_over)
    else:
        meta["summary"] = next(iter(state.prompts()), meta.get("summary"))
    if is_over and not meta.get("ended"):
        meta["ended"] = state.ended
    session.save(durable=is_over)  # last: backfill reads a session without META again
    for claim in claims:
        files.remove(claim)
    return updated


def _publish(context: Context, session: Session, updated: Update, is_over: bool) -> None:
    """Write the episode and its summary, and into META what they say."""
    head, path = "", episode.path_of(context.project_dir, session.episode_name)
    if os.path.isdir(os.path.join(context.project_dir, settings.SECURITY_DIR)):
        from ..audit import trail

        vouched = (episode.load(context.project_dir, session.episode_name) or {}).get("audit_head") or ""
        head = trail.next_head(context.project_dir, vouched)
    value = updated.episode = digest.build(session, updated.state, context.root, context.remote, is_over, head)
    session.meta.update(summary=value["what_was_done"], tags=value["tags"], artifacts=value["files_changed"])
    session.meta.update({key: value[key] for key in ("branch", "model") if value[key]})
    data = episode.render(value)
    updated.is_changed = not files.is_same(path, data)
    if updated.is_changed:
        files.write(os.path.join(session.dir, settings.SUMMARY_FILE), digest.summary_page(value))
        files.write(path, data, durable=True)


def _read(context: Context, path: str, state: Capture, message: str) -> bool:
    """Take in what the transcripts say now, the session's and its subagents'; False when time ran out."""
    if not path:
        return True
    began = time.monotonic()
    while _read_new(context, path, state) and message and not state.has_answer(message):
        # Stop fires while the client still writes: wait a moment for its last lines.
        is_behind = state.turn != capture.ANSWERED and os.path.exists(path)
        patience = settings.FLUSH_WAIT_SECONDS if is_behind else settings.FLUSH_DOUBT_SECONDS
        if time.monotonic() - began > min(patience, context.left() / 2):
            break
        time.sleep(0.02)
    folder = os.path.join(os.path.splitext(path)[0], "subagents")
    for name in files.names(folder):
        if name.endswith(".jsonl"):
            _read_new(context, os.path.join(folder, name), state, name)
    return context.left() > 0


def _read_new(context: Context, path: str, state: Capture, subagent: str = "") -> bool:
    try:
        reading = transcript.Reading(path, state.subagents.get(subagent) if subagent else state.cursor)
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise
        return True  # not written yet, cleaned up, or another user's
    with reading.file:
        if reading.is_restart and not reading.size:
            return True  # emptied, perhaps to be written again
        entries = reading.entries(lambda: context.left() > 0, is_sidechain=bool(subagent))
        if subagent:
            transcript.absorb_subagent(state, entries, context.roots)
            state.subagents[subagent] = reading.place
        else:
            if reading.is_restart:
                state.restart()
            transcript.absorb(state, entries, context.roots)
            state.cursor = reading.place
    return context.left() > 0
