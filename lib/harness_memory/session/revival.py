"""The state of a session of which only its episode is left: its directory was pruned, or its capture lost.

What checkpoints said is nowhere else. The rest is there until the transcript, if it was kept, is read from its start.
"""

from __future__ import annotations

from ..base import clock, settings
from ..base.text import cut
from . import capture, episode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_READ_ANEW = {"offset": -1}  # a place that no transcript continues at
_BLANK: dict[str, Any] = {
    "what_was_done": "",
    "what_remains": [],
    "files_changed": [],
    "skill_used": "",
    "outcome": "",
    "tags": [],
    "learnings": [],
    "task": None,
    "rating": None,
}


def revived(value: object, claude_id: str, has_checkpoints: bool) -> dict[str, Any] | None:
    """The state that an episode tells of, unless it is none, or not this session's.

    Where it `has_checkpoints` in its directory, they will be taken in from there.
    """
    if episode.problem(value) or not isinstance(value, dict) or value.get("session_id") != claude_id:
        return None
    is_fork = value["thread"] != value["id"]
    state = capture.new(since=(clock.parse(value["started"]) or 0.0) if is_fork else 0.0)
    files, fixes = value["files_changed"], value["commands_failed_then_fixed"]
    state.update(
        cursor=dict(_READ_ANEW),
        known=[["", ask] for ask in value["asked"]],
        files=list(files),
        files_total=len(files),
        fixed=[[fix["failed"], fix["fixed"]] for fix in fixes],
        skills=[value["skill_used"]] if value.get("skill_used") else [],
        tools=value.get("tools") or {},
        outside=value.get("taint") or [],
        worked_seconds=value["duration_minutes"] * 60,
        **{key: value.get(key) or "" for key in ("model", "branch", "title", "root", "ended", "thread")},
    )
    remains = [item for item in value["what_remains"] if not item.startswith(episode.UNFINISHED)]
    if value.get("source") != "checkpoint" and value["what_was_done"]:
        # Half of the room is for what comes.
        state["earlier"] = [[cut(value["what_was_done"], settings.DONE_CHARS // 2), len(files)]]
    if not _has_word(value):
        state["todos"] = {"known %d" % number: [item, "pending"] for number, item in enumerate(remains)}
    elif not has_checkpoints:
        state["checkpoints"] = _points(value, remains)
    return capture.restored(state)


def _has_word(value: dict[str, Any]) -> bool:
    """Whether a checkpoint had a say in an episode."""
    return value.get("source") == "checkpoint" or bool(value["tags"] or value["learnings"] or value["tasks"])


def _points(value: dict[str, Any], remains: list[str]) -> dict[str, Any]:
    """The checkpoints, as one that was made when the session ended, and one for each task."""
    points = {str(task.get("artifact")): {**_BLANK, "task": {**task, "artifact": ""}} for task in value["tasks"]}
    is_said = value.get("source") == "checkpoint"
    last = {**_BLANK, "what_remains": remains, "tags": value["tags"], "learnings": value["learnings"]}
    if is_said:
        last.update(what_was_done=value["what_was_done"], skill_used=value.get("skill_used") or "")
        last["outcome"] = "" if value["outcome"] == "interrupted" else value["outcome"]
    name = settings.ARTIFACT_PREFIX + clock.fine_stamp(clock.parse(value["ended"]) or 0.0)
    return {**points, max([name, *points]) + settings.CHECKPOINT_SUFFIX: last}
