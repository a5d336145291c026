"""`checkpoint`: what was done and what remains, from the model through its shell, or from a person."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ..base import config, jsontext, settings
from ..base.lock import Busy
from ..base.text import first_sentence
from ..memory import briefing, ratings, views
from ..project import Context, identity
from ..session import checkpoint as checkpoints
from ..session import liveness, record, sessions
from ..session.sessions import Session
from .call import Call
from .output import Refusal, read_input, short

_FIELDS = {"done": "what_was_done", "remains": "what_remains", "learned": "learnings", "tag": "tags"}  # by option
_FIELDS.update(file="files_changed", skill="skill_used", outcome="outcome", rating="rating")
_SEE = "See: harness memory checkpoint --help"


def checkpoint(call: Call) -> int:
    if config.is_off(os.environ):
        raise Refusal("%s is set to off here. Nothing was recorded." % settings.ENV_SWITCH)
    value: Any = {name: getattr(call, name) for name in _FIELDS if getattr(call, name) is not None} or _from_stdin()
    value = {_FIELDS.get(key, key): item for key, item in value.items()} if isinstance(value, dict) else value
    point = checkpoints.normalize(value)
    if point is None:
        raise Refusal("it is empty, or not a checkpoint. Nothing was recorded. " + _SEE)
    name, session = _record(call, value)
    # A rating in a checkpoint rates the skill it names.
    skill, rating = briefing.skill_name(point["skill_used"]), point["rating"]
    if skill and rating and 1 <= rating <= 5:
        note = first_sentence(point["what_was_done"], settings.ITEM_CHARS)
        ratings.append(session.dir.rsplit(os.sep, 3)[0], session.id, skill, round(rating), note, time.time())
    path = os.path.join(session.artifacts, name)
    value = {"session": session.id, "artifact": path, "episode": session.episode_name}
    return call.answer(value, ["Recorded for session %s in %s" % (session.id, short(path))])


def _from_stdin() -> Any:
    data = read_input(settings.CHECKPOINT_MAX_BYTES, _SEE)
    try:
        value = json.loads(data.decode("utf-8-sig"), strict=False)
        jsontext.pretty(value)  # refuses what could not be written
    except (RecursionError, ValueError) as error:
        raise Refusal("standard input is not valid JSON: %s. Nothing was recorded. %s" % (error, _SEE)) from None
    return value


def _record(call: Call, value: dict[str, Any]) -> tuple[str, Session]:
    """Archive under the session's lock, as its hooks do; the artifact's name and the session."""
    claude_id, project, directory = call.running(call.session), call.project, call.directory
    if call.file:
        value["files_changed"] = [call.relative(file) for file in call.file]
    call.prepare(with_project=False)
    now, ends = time.time(), time.monotonic() + settings.DEADLINE_SECONDS
    context = Context(call.root, project.dir, project.root, project.remote, ends, (directory,))
    try:
        with sessions.lock(project.dir, claude_id, settings.LOCK_WAIT_SECONDS, is_needed=True):
            session = sessions.open_session(project.dir, claude_id, now, project.name)
            is_over = not session.is_new and not sessions.read_marker(project.dir, claude_id)
            if session.is_new:
                identity.record(project, session.started)
                # Our ancestors are its process only when we run inside it.
                is_inside = os.environ.get(settings.ENV_SESSION_ID) == claude_id
                process = liveness.client_process(0) if is_inside else {}
                sessions.activate(project, session, process, directory, {}, branch=project.branch)
            name = checkpoints.save(session.artifacts, value, now)
            is_active = session.meta["status"] == settings.ACTIVE
            if record.update(context, session, now=now if is_active else 0.0, is_over=is_over).is_changed:
                views.refresh(project.dir)
    except Busy:
        raise Refusal("a hook of this session holds its lock. Nothing was recorded. Try again.") from None
    return name, session
